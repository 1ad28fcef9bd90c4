//! The report of a bound as text: first what a user asked for, then what it rests on.

use crate::composed::OWN_TIME;
use crate::result::{BranchRow, CodePlace, KernelBound, Status};
use std::fmt::Write;

/// `1 loop`, `2 loops`, `3 branches`.
pub fn count(n: impl TryInto<u64>, what: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    let end = match n {
        1 => "",
        _ if what.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{n} {what}{end}")
}

/// Steps and blocks that are shown.
const SHOWN: usize = 12;

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Exact => "exact",
            Status::Proved => "proved",
            Status::Hybrid => "hybrid",
            Status::Given => "given",
            Status::Observed => "observed",
        }
    }

    /// What it says about loops and ways; [`KernelBound::meaning`] adds the times.
    pub fn meaning(self) -> &'static str {
        match self {
            Status::Exact => {
                "the time is the same for all contents of buffers: nothing that decides time depends on them, so one run shows it"
            }
            Status::Proved => {
                "follows from the code, the launch and the hardware's latencies, for all contents of buffers; nothing is measured"
            }
            Status::Hybrid | Status::Given => "loop limits are proven or given",
            Status::Observed => {
                "rests on loop limits or calls that were only observed, or leaves out ways no run took"
            }
        }
    }
}

impl BranchRow {
    /// What is known about its split, in a few words.
    pub fn state(&self) -> &'static str {
        match (self.sure, self.marked, self.markable) {
            (true, ..) => "splits, counted on",
            (_, true, _) => "marked, not counted on",
            (_, _, true) => "not marked",
            _ => "cannot be marked",
        }
    }
}

impl KernelBound {
    /// `paper`: also what the published formulas say.
    pub fn text(&self, paper: bool) -> String {
        let mut out = String::new();
        let contexts = if self.contexts > 0 { format!(", S = {}", self.contexts) } else { String::new() };
        let _ = writeln!(
            out,
            "kernel {} of {} on {} ({}{contexts})",
            self.kernel, self.file, self.machine, self.mechanism
        );
        for warning in &self.warnings {
            let _ = writeln!(out, "  WARNING: {warning}");
        }
        let _ = writeln!(out, "  bound      {:>12} cycles", self.bound);
        if self.nothing_ran() {
            let why = if self.given() { "times of blocks are given" } else { "a proof needs no run" };
            let _ = writeln!(out, "  observed   {:>12}: {why}", "nothing");
        } else {
            let _ = writeln!(out, "  observed   {:>12} cycles", self.observed);
            let _ = writeln!(out, "  ratio      {:>12.3} ({})", self.ratio, self.behind());
        }
        let _ = writeln!(out, "  status     {:>12}: {}", self.status.name(), self.meaning());
        if let Some(hybrid) = self.hybrid_bound {
            let how = match self.hybrid_by == OWN_TIME {
                true => "own time of the longest way, and waits as measured",
                false => "what the longest measured times add up to",
            };
            let _ = writeln!(out, "  hybrid     {hybrid:>12} cycles: {how}");
        }
        self.composed_text(&mut out);
        self.wave_text(&mut out);
        self.proved_text(&mut out);
        for (i, l) in self.launches.iter().enumerate() {
            if i >= SHOWN {
                let _ = writeln!(out, "  … {} more launches", self.launches.len() - SHOWN);
                break;
            }
            let _ = writeln!(
                out,
                "  launch {:<4} {} of {}, {} at once ({}): {}, bound {}{}",
                i + 1,
                count(l.groups, "group"),
                count(l.waves_per_group, "wave"),
                l.at_once,
                l.limit,
                count(l.rounds, "round"),
                l.bound,
                match (self.nothing_ran(), l.runs) {
                    (true, _) => String::new(),
                    (false, 1) => format!(", observed {}", l.observed),
                    (false, n) => format!(", observed {} (longest of {n} runs)", l.observed),
                }
            );
        }
        if self.splits + self.refused > 0 {
            let _ = writeln!(
                out,
                "  splits     {} in the runs, {} refused, up to {} paths of a wave at once",
                self.splits, self.refused, self.most_paths
            );
        }
        self.contents_text(&mut out);
        self.loops_text(&mut out);
        self.never_text(&mut out);
        self.worst_text(&mut out);
        self.blocks_text(&mut out);
        self.branches_text(&mut out);
        if paper {
            self.paper_text(&mut out);
        }
        self.rest_text(&mut out);
        out
    }

    /// What a proved bound is made of, or why there is none.
    fn proved_text(&self, out: &mut String) {
        let row = &self.proved;
        let Some(bound) = row.bound else {
            if let Some(why) = &row.why_not {
                let _ = writeln!(out, "  no proof   {why}");
            }
            return;
        };
        let _ = writeln!(out, "  proved     {bound:>12} cycles, without any measurement:");
        for t in row.terms.iter().filter(|t| t.cycles > 0) {
            let waves = if t.waves > 0 { format!(" ({})", count(t.waves, "wave")) } else { String::new() };
            let share = 100.0 * t.cycles as f64 / bound.max(1) as f64;
            let _ = writeln!(out, "             {:>12} {share:>5.1} %  {}{waves}", t.cycles, t.name);
        }
        if !row.demand.is_empty() {
            let asked: Vec<String> = row.demand.iter().map(|(name, n)| format!("{name} {n}")).collect();
            let _ = writeln!(out, "             a wave alone {}; asks of {}", row.wave, asked.join(", "));
        }
        for u in row.unknown.iter().take(SHOWN) {
            let what = if u.local { "passes" } else { "lines" };
            let _ = writeln!(
                out,
                "             {} {what} assumed at {}: {} ({})",
                u.lines, u.place, u.text, u.why
            );
        }
        if row.unknown.len() > SHOWN {
            let _ = writeln!(out, "             … {} more", row.unknown.len() - SHOWN);
        }
    }

    /// The hybrid bound by own time and waits, and that by segments beside it.
    fn composed_text(&self, out: &mut String) {
        let row = &self.composed;
        let hybrid = matches!(self.status, Status::Hybrid | Status::Observed);
        let Some(bound) = row.bound.filter(|_| hybrid) else { return };
        let _ = writeln!(out, "  segments   {:>12} cycles: the longest measured times", self.segment_bound);
        let _ = writeln!(
            out,
            "  own, waits {bound:>12} cycles: own time of the longest way, and waits as measured:"
        );
        for t in row.terms.iter().filter(|t| t.cycles > 0) {
            let share = 100.0 * t.cycles as f64 / bound.max(1) as f64;
            let _ = writeln!(out, "             {:>12} {share:>5.1} %  {}", t.cycles, t.name);
        }
        if let Some(heaviest) = row.heaviest.filter(|h| *h > bound) {
            let _ = writeln!(out, "             {heaviest:>12} if each wave takes its heaviest way");
        }
    }

    /// The bound of a wave, where there is one.
    fn wave_text(&self, out: &mut String) {
        if self.wave_bound == 0 {
            return;
        }
        let observed = match self.given() {
            true => String::new(),
            false => format!(
                ", longest observed {}; {} with a segment for every block",
                self.wave_observed, self.wave_bound_by_blocks
            ),
        };
        let _ = writeln!(out, "  wave       {:>12} cycles{observed}", self.wave_bound);
    }

    /// Where time depends on contents, and what to do about it.
    fn contents_text(&self, out: &mut String) {
        for (name, hash) in &self.exact.fixed {
            let _ = writeln!(out, "  fixed      {name}: contents {hash}");
        }
        if let Some(why) = &self.exact.why_not {
            let _ = writeln!(out, "not exact: {why}");
        }
        if self.exact.uses.is_empty() {
            return;
        }
        let _ = writeln!(out, "the time depends on the contents of buffers, because they decide");
        // One line of source is many instructions.
        let mut lines: Vec<(String, usize)> = Vec::new();
        for u in &self.exact.uses {
            let at = if u.place.source.is_empty() { u.place.to_string() } else { u.place.source.clone() };
            let from = u.from.as_ref().map_or(String::new(), |f| format!(", from the load at {}", f.short()));
            let line = format!("{at}: {}{from}", u.what);
            match lines.iter_mut().find(|l| l.0 == line) {
                Some(known) => known.1 += 1,
                None => lines.push((line, 1)),
            }
        }
        for (line, count) in lines.iter().take(SHOWN) {
            let times = if *count > 1 { format!(" ({count} instructions)") } else { String::new() };
            let _ = writeln!(out, "  {line}{times}");
        }
        if lines.len() > SHOWN {
            let _ = writeln!(out, "  … {} more lines", lines.len() - SHOWN);
        }
        let _ = writeln!(
            out,
            "  (make a branch a select, take an index from the work-item instead of from memory, or declare a buffer that \
             never changes with --fixed: then the bound is the time itself)"
        );
    }

    fn loops_text(&self, out: &mut String) {
        if !self.loops.is_empty() {
            let _ = writeln!(out, "loops");
        }
        for l in &self.loops {
            let seen = match l.observed {
                Some(n) => format!(", seen {n}"),
                None if self.nothing_ran() => String::new(),
                None => ", never entered".into(),
            };
            let whole = if l.whole { ", measured as a whole" } else { "" };
            let _ = writeln!(
                out,
                "  {}: at most {} ({}){seen}{whole}",
                l.header,
                count(l.max, "round"),
                l.origin
            );
            if !l.why.is_empty() {
                let _ = writeln!(out, "      {}", l.why);
            }
        }
    }

    fn never_text(&self, out: &mut String) {
        if !self.never.is_empty() {
            let _ = writeln!(out, "ways that cannot be taken");
        }
        for n in self.never.iter().take(SHOWN) {
            let _ = writeln!(out, "  {} → {}: {}", n.from, n.to, n.why);
        }
        if self.never.len() > SHOWN {
            let _ = writeln!(out, "  … {} more", self.never.len() - SHOWN);
        }
    }

    fn worst_text(&self, out: &mut String) {
        if self.worst.is_empty() {
            return;
        }
        let _ = writeln!(out, "worst way of a wave");
        let _ = writeln!(out, "       times    cycles      mean  samples       total  share  from → to");
        let mut steps: Vec<_> = self.worst.iter().collect();
        if steps.len() > SHOWN {
            steps.sort_by_key(|s| std::cmp::Reverse(s.total));
        }
        let name = |p: &Option<CodePlace>, end: &str| p.as_ref().map_or(end.to_owned(), CodePlace::to_string);
        for s in steps.iter().take(SHOWN) {
            let _ = writeln!(
                out,
                "  {:>10} {:>9} {:>9.0} {:>8} {:>11} {:>5.1}%  {} → {}",
                s.count,
                s.cycles,
                s.mean,
                s.samples,
                s.total,
                100.0 * s.total as f64 / self.wave_bound.max(1) as f64,
                name(&s.from, "start"),
                name(&s.to, "end")
            );
        }
        if steps.len() > SHOWN {
            let _ = writeln!(out, "  … {} more, the longest first", steps.len() - SHOWN);
        }
    }

    fn blocks_text(&self, out: &mut String) {
        let mut blocks: Vec<_> = self.blocks.iter().filter(|b| b.percent >= 0.05).collect();
        blocks.sort_by(|a, b| b.cycles.total_cmp(&a.cycles));
        if blocks.is_empty() {
            return;
        }
        let _ = writeln!(out, "blocks by what they add to the bound");
        for b in blocks.iter().take(SHOWN) {
            let _ = writeln!(
                out,
                "  {:>5.1}%  {:>12.0} cycles  block {:<4} {:>4} instructions  {} to {:#x}",
                b.percent, b.cycles, b.block, b.instructions, b.first, b.last.addr
            );
        }
        if blocks.len() > SHOWN {
            let _ = writeln!(out, "  … {} more", blocks.len() - SHOWN);
        }
    }

    fn branches_text(&self, out: &mut String) {
        if self.branches.is_empty() {
            return;
        }
        let _ = writeln!(out, "divergent branches");
        for b in &self.branches {
            let state = b.state();
            let other = match (b.with, b.without) {
                (Some(with), Some(without)) if b.sure => {
                    format!("; by blocks, wave bound {with} with it, {without} without")
                }
                (Some(with), Some(without)) => {
                    format!("; by blocks, wave bound {with} with a split here, {without} now")
                }
                _ => String::new(),
            };
            let note = if b.note.is_empty() { String::new() } else { format!(" ({})", b.note) };
            let _ = writeln!(out, "  {}: {state}{other}{note}", b.branch);
        }
    }

    fn paper_text(&self, out: &mut String) {
        let _ = writeln!(out, "as published (not repaired: docs/wcet.md says what is wrong with each)");
        for p in &self.paper {
            let computed = p.note.is_empty();
            let cycles = |n: u64| if computed { n.to_string() } else { "-".to_owned() };
            let note = if computed { String::new() } else { format!("; {}", p.note) };
            let _ = writeln!(
                out,
                "  {:<24} {:>12} cycles, wave {:>10}  {}{note}",
                p.rule,
                cycles(p.kernel),
                cycles(p.wave),
                p.source
            );
        }
    }

    fn rest_text(&self, out: &mut String) {
        if !self.given() && self.coverage.launches > 0 {
            self.coverage_text(out);
        }
        let _ = writeln!(out, "assumptions");
        for a in &self.assumptions {
            let _ = writeln!(out, "  - {a}");
        }
        let _ = writeln!(out, "inputs");
        for (name, hash) in &self.inputs {
            let _ = writeln!(out, "  {hash}  {name}");
        }
    }

    /// Times are what a table says.
    fn given(&self) -> bool {
        self.times == "given"
    }

    /// Nothing was observed: times are given, or a proof needed none.
    pub fn nothing_ran(&self) -> bool {
        self.given() || self.runs == 0 && self.times == "none"
    }

    fn coverage_text(&self, out: &mut String) {
        let c = &self.coverage;
        let _ = writeln!(
            out,
            "coverage: {}, {} measured, {}; {} of {} ways measured, {} of {} steps taken, {} never skipped; {} of {} needed",
            count(c.runs, "run"),
            count(c.launches, "launch"),
            count(c.waves, "wave"),
            c.ways.0,
            c.ways.1,
            c.steps.0,
            c.steps.1,
            count(c.never_skipped, "side"),
            count(c.points.1, "point"),
            count(c.points.0, "block")
        );
    }
}
