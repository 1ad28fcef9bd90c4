//! Sides of divergent branches that no run skipped. THESIS 5.2.4 takes skipping a side to be no slower than running it.
//! That is false where a taken jump costs something: the jump empties the instruction queue. So a way that runs such a
//! side is charged the jump too: it then bounds the way that skips, which lies beside it and was never measured.

use super::never::Never;
use super::plan::{Plan, PlanEdge};
use super::times::Times;
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{Counted, LinearFact};
use wb_isa::Pc;

impl Plan {
    /// Steps past a side that no run took, or not to every point behind it, although their branch was reached, and that
    /// the ways through the side bound: whoever runs the side comes to where the step leads. Others are ways like any
    /// other that no run took.
    pub(super) fn unskipped(
        &self,
        times: &Times,
        reached: &BTreeSet<usize>,
        never: &Never,
    ) -> BTreeSet<(usize, usize)> {
        let mut steps: BTreeSet<(usize, usize)> = BTreeSet::new();
        for &(p, s) in self.skip_steps.iter().filter(|(p, _)| reached.contains(p)) {
            let at = self.pieces[p].succs.iter().position(|&t| t == s);
            if at.is_some_and(|i| times.taken[p][i] == 0) {
                steps.insert((p, s));
            }
        }
        for &e in self.skips.iter().filter(|&&e| times.edges[e].count == 0) {
            let step = self.piece_at(self.nodes[self.edges[e].from]).zip(self.edges[e].via);
            steps.extend(step.filter(|(p, _)| reached.contains(p)));
        }
        steps.retain(|&(p, s)| !never.steps.contains(&(p, s)) && self.comes_to(p, s));
        steps
    }

    /// Every way that leaves `branch` and ends passes `over` first.
    fn comes_to(&self, branch: usize, over: usize) -> bool {
        let mut seen = BTreeSet::from([over]);
        let mut work: Vec<usize> = self.pieces[branch].succs.clone();
        while let Some(p) = work.pop() {
            if !seen.insert(p) {
                continue;
            }
            // A way back to the branch has left the side without passing `over`.
            if self.pieces[p].ends || p == branch {
                return false;
            }
            work.extend(&self.pieces[p].succs);
        }
        true
    }

    /// Facts count something on the ways past which the step leads: they may forbid to run the side as often as the
    /// branch is passed, so the way through the side does not bound the one past it.
    pub(super) fn counted_beside(&self, (branch, over): (usize, usize), facts: &[LinearFact]) -> bool {
        let terms = facts.iter().flat_map(|f| &f.terms);
        let counted: BTreeSet<Pc> = terms.map(|&(_, Counted::Block(pc) | Counted::Rounds(pc))| pc).collect();
        if counted.is_empty() {
            return false;
        }
        let mut seen = BTreeSet::from([over]);
        let mut work: Vec<usize> = self.pieces[branch].succs.clone();
        while let Some(p) = work.pop() {
            if seen.insert(p) {
                if counted.iter().any(|&pc| self.pieces[p].first <= pc && pc <= self.pieces[p].last) {
                    return true;
                }
                work.extend(&self.pieces[p].succs);
            }
        }
        false
    }

    /// How often a way of this edge passes one of these branches and goes on into its side. Loops that are passed as a
    /// whole go round as often as `rounds` says.
    pub(super) fn passes(
        &self,
        edge: usize,
        unskipped: &BTreeSet<(usize, usize)>,
        rounds: &BTreeMap<Pc, u64>,
    ) -> u64 {
        if unskipped.is_empty() {
            return 0;
        }
        let PlanEdge { from, via, .. } = self.edges[edge];
        let own = self.piece_at(self.nodes[from]);
        let between = self.pieces_of(edge);
        let mut sum = 0u64;
        for &(branch, over) in unskipped {
            if between.contains(&branch) {
                let around = self.loops.iter().filter(|l| l.node.is_none() && l.pieces.contains(&branch));
                let turns = around.map(|l| rounds.get(&l.header).copied().unwrap_or(0).saturating_add(1));
                sum = sum.saturating_add(turns.fold(1, u64::saturating_mul));
            } else if own == Some(branch) && via != Some(over) {
                sum = sum.saturating_add(1);
            }
        }
        sum
    }
}
