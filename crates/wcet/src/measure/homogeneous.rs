//! Branches whose mask is said to be homogeneous (THESIS 5.2.4): a path takes one of their sides, never both. Runs cannot
//! show that it is so, but that it is not: a mask of which some lanes are on and some off, a split, or a path that runs
//! both sides. One such path is enough.

use super::meter::{Clock, Meter};
use super::plan::{Plan, if_of, side_of};
use super::watched::{Mixed, Watched};
use wb_facts::{BranchSide, HomogeneousFact};
use wb_isa::{Isa, NO_PC, Pc};
use wb_program::Program;
use wb_trace::Event;

impl Plan {
    /// Watches these branches from now on.
    pub fn watch<I: Isa>(&mut self, program: &Program<I>, facts: &[HomogeneousFact]) {
        for fact in facts {
            let Some(region) = program.flow.region(fact.branch) else { continue };
            let piece = |pc: Option<Pc>| pc.and_then(|pc| self.piece_at(pc));
            let ends = |pc: Pc| self.pieces.iter().position(|p| p.last == pc);
            let other = second_of(program, fact.branch);
            let second = other.and_then(|pc| ends(pc).zip(piece(side_of(program, pc, true))));
            let (at, first) = (ends(fact.branch), piece(side_of(program, fact.branch, true)));
            let (branch, side) = (fact.branch, fact.side);
            self.watched.push(Watched { branch, narrow: region.narrow, side, at, first, second });
        }
    }

    /// The path issues an instruction: its lanes before some are switched off, and those at the branch.
    pub(super) fn watch_mask(&self, clock: &mut Clock, event: &Event) -> Option<Mixed> {
        let mut mixed = None;
        for (w, seen) in self.watched.iter().zip(&mut clock.masks) {
            if event.pc == w.narrow && w.narrow != NO_PC {
                seen.before = Some(event.mask);
            }
            if event.pc == w.branch
                && let Some(before) = seen.before.take()
                && event.mask != 0
                && event.mask != before
            {
                mixed = Some(Mixed { branch: w.branch, wave: event.wave, cycle: event.cycle, side: None });
            }
        }
        mixed
    }
}

impl Meter<'_> {
    /// The path goes from one piece to the next.
    pub(super) fn watch_step(&mut self, clock: &mut Clock, step: (usize, usize), cycle: u64, wave: u32) {
        for (w, seen) in self.plan.watched.iter().zip(&mut clock.masks) {
            let mut found = None;
            if w.at == Some(step.0) {
                seen.ran_first = w.first == Some(step.1);
                if seen.ran_first && w.side == Some(BranchSide::Second) {
                    found = Some(Some(BranchSide::First));
                }
            }
            if w.second == Some(step) {
                if w.side == Some(BranchSide::First) {
                    found = Some(Some(BranchSide::Second));
                } else if seen.ran_first {
                    found = Some(None);
                }
            }
            if let Some(side) = found {
                self.times.mixed.get_or_insert(Mixed { branch: w.branch, wave, cycle, side });
            }
        }
    }
}

/// The branch in front of the second side of an if.
pub(super) fn second_of<I: Isa>(program: &Program<I>, branch: Pc) -> Option<Pc> {
    let second = |r: &&wb_program::Region| if_of(program, r).is_some_and(|first| first.branch == branch);
    program.flow.regions.iter().find(second).map(|r| r.branch)
}

/// First instruction of each side of a branch.
pub fn sides<I: Isa>(program: &Program<I>, branch: Pc) -> (Option<Pc>, Option<Pc>) {
    let second = second_of(program, branch).and_then(|pc| side_of(program, pc, true));
    (side_of(program, branch, true), second)
}
