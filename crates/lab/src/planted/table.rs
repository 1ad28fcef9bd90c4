//! What the checkers made of the corpus: a row for each case, sums by kind, times.

use super::corpus::Case;
use super::times::Time;
use super::verdict::Verdict;
use serde::Serialize;
use std::fmt::Write;
use wb_sanitize::Kind;

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Row {
    pub case: String,
    pub file: &'static str,
    /// Null: the kernel is right.
    pub planted: Option<&'static str>,
    /// Lines of the file at which a report is right.
    pub lines: Vec<u32>,
    /// Why a checker of machine code cannot tell.
    pub known: Option<String>,
    pub ours: Verdict,
    pub oclgrind: Verdict,
}

impl Row {
    pub(super) fn new(case: &Case, ours: Verdict, oclgrind: Verdict) -> Row {
        Row {
            case: case.name.clone(),
            file: case.file,
            planted: case.planted.map(Kind::name),
            lines: case.lines.clone(),
            known: case.known.clone(),
            ours,
            oclgrind,
        }
    }

    /// Whether our checker is wrong, and not for the reason that the case names.
    fn bad(&self) -> bool {
        let explained = matches!(self.ours, Verdict::Missed | Verdict::False(_)) && self.known.is_some();
        !self.ours.good() && !explained
    }
}

/// How often a checker said what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Tally {
    /// Right: found at its line, or a right kernel without a report.
    pub right: usize,
    /// Missed, or reported as something else or somewhere else.
    pub missed: usize,
    /// Reports about right kernels.
    pub wrong: usize,
    /// Crashed or hung.
    pub failed: usize,
    /// Not run.
    pub skipped: usize,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Found | Verdict::Clean => self.right += 1,
            Verdict::Missed | Verdict::WrongLine | Verdict::WrongKind(_) => self.missed += 1,
            Verdict::False(_) => self.wrong += 1,
            Verdict::Failed(_) | Verdict::Hung => self.failed += 1,
            Verdict::NotComparable | Verdict::NotRun => self.skipped += 1,
        }
    }
}

/// The cases of one kind.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Sum {
    /// `clean` for right kernels.
    pub kind: &'static str,
    pub cases: usize,
    pub ours: Tally,
    pub oclgrind: Tally,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Report {
    pub version: u32,
    /// Cases with which our checker did not do as it should.
    pub bad: usize,
    pub sums: Vec<Sum>,
    pub rows: Vec<Row>,
    pub times: Vec<Time>,
}

const CLEAN: &str = "clean";

impl Report {
    pub(super) fn new(rows: Vec<Row>, times: Vec<Time>) -> Report {
        let kinds = Kind::ALL.map(Kind::name).into_iter().chain([CLEAN]);
        let sum = |kind: &'static str| {
            let mut sum = Sum { kind, cases: 0, ours: Tally::default(), oclgrind: Tally::default() };
            for row in rows.iter().filter(|r| r.planted.unwrap_or(CLEAN) == kind) {
                sum.cases += 1;
                sum.ours.add(&row.ours);
                sum.oclgrind.add(&row.oclgrind);
            }
            sum
        };
        let sums = kinds.map(sum).filter(|s| s.cases > 0).collect();
        Report { version: 1, bad: rows.iter().filter(|r| r.bad()).count(), sums, rows, times }
    }
}

/// The tables that people read.
pub fn text(report: &Report) -> String {
    let mut out = format!("{:<28} {:<24} {:<24} oclgrind\n", "case", "planted", "ours");
    for r in &report.rows {
        let note = r.known.as_ref().map_or(String::new(), |why| format!("  ({why})"));
        let (ours, theirs) = (r.ours.text(), r.oclgrind.text());
        let _ = writeln!(out, "{:<28} {:<24} {ours:<24} {theirs}{note}", r.case, r.planted.unwrap_or(CLEAN));
    }
    let _ = writeln!(out, "\n{:<24} {:>5}   {:<34} oclgrind", "kind", "cases", "ours");
    let tally = |t: &Tally| {
        let parts = [
            (t.right, "right"),
            (t.missed, "missed"),
            (t.wrong, "false"),
            (t.failed, "failed"),
            (t.skipped, "not run"),
        ];
        let shown = parts.iter().filter(|p| p.0 > 0).map(|(n, what)| format!("{n} {what}"));
        shown.collect::<Vec<_>>().join(", ")
    };
    for s in &report.sums {
        let _ =
            writeln!(out, "{:<24} {:>5}   {:<34} {}", s.kind, s.cases, tally(&s.ours), tally(&s.oclgrind));
    }
    if !report.times.is_empty() {
        let _ = writeln!(
            out,
            "\n{:<18} {:>10} {:>10} {:>10} {:>10} {:>14}",
            "user time, s", "untimed", "sanitize", "oclgrind", "slow-down", "oclgrind/ours"
        );
    }
    let number =
        |value: Option<f64>, digits: usize| value.map_or("-".to_owned(), |v| format!("{v:.digits$}"));
    for t in &report.times {
        let _ = writeln!(
            out,
            "{:<18} {:>10} {:>10} {:>10} {:>10} {:>14}",
            t.case,
            number(t.untimed, 4),
            number(t.sanitized, 4),
            number(t.oclgrind, 2),
            number(t.slowdown, 2),
            number(t.factor, 1)
        );
    }
    out
}
