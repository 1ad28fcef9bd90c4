//! Ways that a proof excludes for the launches at hand: a branch on an argument whose value is known goes one way only.
//! Such a step is no gap, is on no worst way, and needs no measurement.

use super::plan::{Plan, PlanEdge};
use super::times::Times;
use std::collections::BTreeSet;
use wb_isa::Pc;

/// Steps from piece to piece that are never taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Never {
    pub steps: BTreeSet<(usize, usize)>,
}

impl Plan {
    /// The steps of these ways, given as the last instruction before and the first one behind.
    pub fn never(&self, ways: impl IntoIterator<Item = (Pc, Pc)>) -> Never {
        let mut steps = BTreeSet::new();
        for (from, to) in ways {
            let last = |p: &usize| self.pieces[*p].last == from;
            let pieces = (0..self.pieces.len()).filter(last);
            if let Some(to) = self.piece_at(to) {
                steps.extend(pieces.filter(|&p| self.pieces[p].succs.contains(&to)).map(|p| (p, to)));
            }
        }
        Never { steps }
    }

    /// A step that is never taken, and was: (last instruction, first instruction).
    pub fn refuted(&self, times: &Times, never: &Never) -> Option<(Pc, Pc)> {
        never.steps.iter().find_map(|&(p, s)| {
            let at = self.pieces[p].succs.iter().position(|&t| t == s)?;
            (times.taken[p][at] > 0).then(|| (self.pieces[p].last, self.pieces[s].first))
        })
    }

    /// Some way of this edge takes no step that is never taken.
    pub fn possible(&self, edge: usize, never: &Never) -> bool {
        let PlanEdge { from, via, to } = self.edges[edge];
        let (Some(via), false) = (via, never.steps.is_empty()) else { return true };
        if self.piece_at(self.nodes[from]).is_some_and(|own| never.steps.contains(&(own, via))) {
            return false;
        }
        let mut seen = BTreeSet::new();
        let mut work = vec![via];
        while let Some(p) = work.pop() {
            if !seen.insert(p) {
                continue;
            }
            let piece = &self.pieces[p];
            match piece.node {
                Some(node) if node == to => return true,
                Some(_) => {}
                None if piece.ends && to == super::plan::END => return true,
                None => work.extend(piece.succs.iter().filter(|&&s| !never.steps.contains(&(p, s)))),
            }
        }
        false
    }
}
