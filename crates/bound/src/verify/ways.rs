//! The ways of a program between the points of a certificate, found again from its control-flow graph alone, and compared
//! with the graph of the proof: nothing invented, nothing missing, no loop without a limit.

use std::collections::{BTreeMap, BTreeSet};
use wb_check::Report;
use wb_check::binding::Binding;
use wb_facts as facts;
use wb_isa::{FlowKind, Isa, Pc};
use wb_program::Program;

/// From a point (none: the start), by way of the first instruction behind the next branch (none: it ends before one), to
/// a point (none: the end).
pub(super) type Way = (Option<Pc>, Option<Pc>, Option<Pc>);

/// What can happen on a way.
#[derive(Default)]
struct Passed {
    /// Headers of loops that are no points, and are reached by steps that runs took.
    loops: BTreeSet<Pc>,
    /// It can go past a side of a branch on the mask.
    skips: bool,
}

struct Walk<'a, I: Isa> {
    program: &'a Program<I>,
    points: &'a BTreeSet<Pc>,
    headers: BTreeSet<Pc>,
    /// Steps that no run took: what lies behind them is not in the times.
    untaken: BTreeSet<(Pc, Pc)>,
    /// Steps that cannot be taken: as if they were not there.
    never: BTreeSet<(Pc, Pc)>,
}

impl<I: Isa> Walk<'_, I> {
    fn pcs(&self, block: usize) -> Vec<Pc> {
        self.program.cfg.pcs(block, &self.program.flow)
    }

    fn ends(&self, block: usize) -> bool {
        let last = self.program.cfg.blocks[block].last;
        matches!(self.program.flow.kind[last as usize], FlowKind::Exit { .. })
            || self.program.cfg.blocks[block].succs.is_empty()
    }

    /// Blocks that a block can lead to.
    fn after(&self, block: usize) -> impl Iterator<Item = usize> {
        let b = &self.program.cfg.blocks[block];
        b.succs.iter().copied().filter(move |&s| !self.never.contains(&(b.last, self.first(s))))
    }

    fn first(&self, block: usize) -> Pc {
        self.program.cfg.blocks[block].first
    }

    /// Where a step out of `block` to the block at `to` goes when no lane takes the side.
    fn skips(&self, block: usize, to: Pc) -> bool {
        let last = self.program.cfg.blocks[block].last as usize;
        match self.program.flow.kind[last] {
            FlowKind::MaskBranch { target, when_empty } => {
                to == if when_empty { target } else { self.program.flow.next[last] }
            }
            _ => false,
        }
    }

    fn taken(&self, from: usize, to: usize) -> bool {
        !self.untaken.contains(&(self.program.cfg.blocks[from].last, self.first(to)))
    }

    /// Headers on the way from the start of `block` to one of `last` that a run can have passed.
    fn loops_before(
        &self,
        block: usize,
        last: &BTreeSet<usize>,
        before: &BTreeMap<usize, BTreeSet<usize>>,
    ) -> BTreeSet<usize> {
        let mut after = BTreeSet::from([block]);
        loop {
            let steps = before.iter().flat_map(|(&to, from)| from.iter().map(move |&f| (f, to)));
            let next: BTreeSet<usize> =
                steps.filter(|&(f, to)| after.contains(&f) && self.taken(f, to)).map(|(_, to)| to).collect();
            if next.is_subset(&after) {
                break;
            }
            after.extend(next);
        }
        let mut found: BTreeSet<usize> = last.intersection(&after).copied().collect();
        let mut work: Vec<usize> = found.iter().copied().collect();
        while let Some(b) = work.pop() {
            for &p in before.get(&b).into_iter().flatten() {
                if self.taken(p, b) && after.contains(&p) && found.insert(p) {
                    work.push(p);
                }
            }
        }
        found
    }

    /// Points that are reached from the start of `block` without passing another one, with what can lie between.
    fn reach(&self, block: usize) -> BTreeMap<Option<Pc>, Passed> {
        let mut found: BTreeMap<Option<Pc>, Passed> = BTreeMap::new();
        let mut open: BTreeSet<usize> = BTreeSet::new();
        let mut work = vec![block];
        let mut before: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut ends: BTreeMap<Option<Pc>, BTreeSet<usize>> = BTreeMap::new();
        while let Some(b) = work.pop() {
            if !open.insert(b) {
                continue;
            }
            if let Some(point) = self.pcs(b).into_iter().find(|pc| self.points.contains(pc)) {
                ends.entry(Some(point)).or_default().insert(b);
                continue;
            }
            if self.ends(b) {
                ends.entry(None).or_default().insert(b);
            }
            for s in self.after(b) {
                before.entry(s).or_default().insert(b);
                work.push(s);
            }
        }
        // What lies between is what leads to the end.
        for (to, last) in ends {
            let mut between: BTreeSet<usize> = BTreeSet::new();
            let mut passed = Passed::default();
            let mut work: Vec<usize> = last.iter().copied().collect();
            while let Some(b) = work.pop() {
                for &p in before.get(&b).into_iter().flatten() {
                    passed.skips |= self.skips(p, self.first(b));
                    if between.insert(p) {
                        work.push(p);
                    }
                }
            }
            // The block of the point itself is behind the way, unless the way ends in it or a loop leads back to it.
            let inner = self.loops_before(block, &last, &before);
            let inside = inner.iter().filter(|b| to.is_none() || between.contains(b));
            passed.loops.extend(inside.map(|&b| self.first(b)).filter(|pc| self.headers.contains(pc)));
            found.insert(to, passed);
        }
        found
    }

    fn ways(&self) -> BTreeMap<Way, Passed> {
        let cfg = &self.program.cfg;
        let mut ways = BTreeMap::new();
        let Some(entry) = cfg.block_at(self.program.entry) else { return ways };
        for (to, passed) in self.reach(entry) {
            ways.insert((None, Some(self.program.entry), to), passed);
        }
        for b in cfg.reachable(Some(entry)) {
            let points: Vec<Pc> = self.pcs(b).into_iter().filter(|pc| self.points.contains(pc)).collect();
            for pair in points.windows(2) {
                ways.insert((Some(pair[0]), Some(pair[1]), Some(pair[1])), Passed::default());
            }
            let Some(&last) = points.last() else { continue };
            if self.ends(b) {
                ways.insert((Some(last), None, None), Passed::default());
            }
            for s in self.after(b) {
                let via = self.first(s);
                for (to, mut passed) in self.reach(s) {
                    passed.skips |= self.skips(b, via);
                    ways.insert((Some(last), Some(via), to), passed);
                }
            }
        }
        ways
    }
}

fn show((from, via, to): Way) -> String {
    let place = |pc: Option<Pc>, otherwise: &str| pc.map_or(otherwise.to_owned(), |pc| format!("pc {pc}"));
    let via = via.map_or(String::new(), |pc| format!(" by way of pc {pc}"));
    format!("from {} to {}{via}", place(from, "the start"), place(to, "the end"))
}

/// The graph of the proof is that of the program. `never`: steps that are proven not to be taken by the launches.
pub(super) fn check<I: Isa>(
    program: &Program<I>,
    report: &Report,
    binding: &Binding,
    never: &BTreeSet<(Pc, Pc)>,
) -> Result<(), String> {
    facts::analysable(program).map_err(|e| e.to_string())?;
    let reached = program.cfg.reachable(program.cfg.block_at(program.entry));
    let headers: BTreeSet<Pc> = program
        .cfg
        .loops
        .iter()
        .filter(|l| reached.contains(&l.header))
        .map(|l| program.cfg.blocks[l.header].first)
        .collect();
    let code: BTreeSet<Pc> = reached.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow)).collect();
    let points: BTreeSet<Pc> = binding.graph.points.iter().copied().collect();
    let masks = binding.homogeneous.iter().map(|h| &h.pc);
    let places = points.iter().chain(&binding.splits).chain(&binding.calls).chain(masks);
    if let Some(pc) = places.into_iter().find(|pc| !code.contains(pc)) {
        return Err(format!("pc {pc} is no instruction that the kernel reaches"));
    }
    if let Some(s) =
        binding.untaken.iter().find(|s| !code.contains(&s.from) || s.to.is_some_and(|pc| !code.contains(&pc)))
    {
        return Err(format!("the program has no step from pc {}", s.from));
    }
    if let Some(l) = binding.limits.iter().find(|l| !headers.contains(&l.pc)) {
        return Err(format!("there is no loop at pc {}", l.pc));
    }
    calls(program, binding, &code)?;
    let untaken: BTreeSet<(Pc, Pc)> =
        binding.untaken.iter().filter_map(|s| Some((s.from, s.to?))).chain(never.iter().copied()).collect();
    let mut walk = Walk { program, points: &points, headers, untaken, never: BTreeSet::new() };
    let ways = walk.ways();
    walk.never = never.clone();
    let feasible = walk.ways();
    let pc = |node: usize| binding.graph.pcs[node];
    let there: BTreeSet<Way> =
        report.ways.iter().zip(&binding.graph.via).map(|(e, &via)| (pc(e.0), via, pc(e.1))).collect();
    if let Some(way) = there.iter().find(|w| !ways.contains_key(w)) {
        return Err(format!("the program has no way {}", show(*way)));
    }
    let left_out: BTreeMap<Way, &str> =
        binding.left_out.iter().map(|w| ((w.from, w.via, w.to), w.reason.as_str())).collect();
    for (way, reason) in &left_out {
        let Some(passed) = ways.get(way) else {
            return Err(format!("a way is left out that the program does not have, {}", show(*way)));
        };
        if *reason == "infeasible" && feasible.contains_key(way) {
            return Err(format!(
                "the way {} is called infeasible, but no proof of that is found",
                show(*way)
            ));
        }
        if *reason == "skip" && !passed.skips {
            return Err(format!("the way {} does not lead past a side of a branch on the mask", show(*way)));
        }
    }
    // Points that the proof reaches, and everything that goes on from there.
    let mut known: BTreeSet<Option<Pc>> = BTreeSet::from([None]);
    loop {
        let more: BTreeSet<Option<Pc>> =
            there.iter().filter(|w| known.contains(&w.0) && w.2.is_some()).map(|w| w.2).collect();
        if more.is_subset(&known) {
            break;
        }
        known.extend(more);
    }
    for (way, passed) in ways.iter().filter(|(w, _)| known.contains(&w.0)) {
        if !there.contains(way) {
            if !left_out.contains_key(way) {
                return Err(format!("the proof does not contain the way {}, and says no reason", show(*way)));
            }
            continue;
        }
        let limited = |pc: &Pc| binding.limits.iter().any(|l| l.pc == *pc && l.whole);
        if let Some(header) = passed.loops.iter().find(|pc| !limited(pc)) {
            return Err(format!("the loop at pc {header} has no limit"));
        }
    }
    Ok(())
}

/// Calls of code that branches are all listed: their status depends on it.
fn calls<I: Isa>(program: &Program<I>, binding: &Binding, code: &BTreeSet<Pc>) -> Result<(), String> {
    let winding = crate::kernel::winding(program);
    let winds = |pc: &&Pc| match program.flow.kind[**pc as usize] {
        FlowKind::Call { target, .. } => target.is_none_or(|t| winding.contains(&t)),
        _ => false,
    };
    let found: Vec<Pc> = code.iter().filter(winds).copied().collect();
    let mut listed = binding.calls.clone();
    listed.sort_unstable();
    if found == listed {
        Ok(())
    } else {
        Err(format!("calls of code that branches: {found:?}, listed {listed:?}"))
    }
}
