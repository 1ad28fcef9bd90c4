//! Fewer points, tighter bounds, and not one path less covered: a point with one measured way in, or one out, can go,
//! because every way through it was measured as a whole. Adding up maxima of its two halves would only be looser.

use super::plan::{END, Plan, Points, START};
use super::times::Times;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Pc;

impl Plan {
    /// The points that are needed: those of `keep`, loop headers, and those where ways cross that were never seen
    /// together. `times` were taken with this plan, which has a point at every block. A loop that can only be run in
    /// one way and went round exactly `rounds` times whenever it was entered is passed as a whole.
    pub fn needed_points(&self, times: &Times, keep: &BTreeSet<Pc>, rounds: &BTreeMap<Pc, u64>) -> Points {
        let mut ends: Vec<(usize, usize)> = Vec::new();
        let mut into: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.nodes.len()];
        let mut out: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.nodes.len()];
        for (edge, _) in self.edges.iter().zip(&times.edges).filter(|(_, t)| t.count > 0) {
            into[edge.to].insert(ends.len());
            out[edge.from].insert(ends.len());
            ends.push((edge.from, edge.to));
        }
        let mut headers: BTreeMap<usize, usize> =
            self.loops.iter().enumerate().filter_map(|(i, l)| Some((l.node?, i))).collect();
        let fixed = |n: usize| n == START || n == END || keep.contains(&self.nodes[n]);
        let mut left: BTreeSet<usize> = (0..self.nodes.len()).filter(|&n| !fixed(n)).collect();
        let mut whole = BTreeSet::new();
        let mut work: BTreeSet<usize> = left.clone();
        while let Some(n) = work.pop_first() {
            if !left.contains(&n) {
                continue;
            }
            let turns: Vec<usize> = into[n].intersection(&out[n]).copied().collect();
            if let Some(&l) = headers.get(&n) {
                // One way round, everything else in the loop gone, and always the same number of rounds.
                let same =
                    times.rounds[l].is_none_or(|(a, b)| a == b && rounds.get(&self.nodes[n]) == Some(&b));
                let inside = |&(from, to): &(usize, usize)| {
                    let within = |m: usize| {
                        self.piece_at(self.nodes[m]).is_some_and(|p| self.loops[l].pieces.contains(&p))
                    };
                    from != n && from > END && within(from) || to != n && to > END && within(to)
                };
                let alive = into.iter().flatten().map(|&e| &ends[e]);
                if turns.len() > 1 || !same || alive.into_iter().any(inside) {
                    continue;
                }
                for &t in &turns {
                    into[n].remove(&t);
                    out[n].remove(&t);
                }
                headers.remove(&n);
                whole.insert(self.nodes[n]);
            }
            let (ins, outs) = (into[n].clone(), out[n].clone());
            if ins.len() != 1 && outs.len() != 1 {
                continue;
            }
            left.remove(&n);
            for &i in &ins {
                out[ends[i].0].remove(&i);
            }
            for &o in &outs {
                into[ends[o].1].remove(&o);
            }
            for &i in &ins {
                for &o in &outs {
                    let (from, to) = (ends[i].0, ends[o].1);
                    out[from].insert(ends.len());
                    into[to].insert(ends.len());
                    ends.push((from, to));
                }
            }
            let near = ins.iter().map(|&i| ends[i].0).chain(outs.iter().map(|&o| ends[o].1));
            work.extend(near.filter(|m| left.contains(m)));
        }
        let seen = |n: usize| !into[n].is_empty() || !out[n].is_empty();
        let kept = (END + 1..self.nodes.len()).filter(|&n| fixed(n) || left.contains(&n) && seen(n));
        let points = kept.map(|n| self.nodes[n]).chain(keep.iter().copied()).collect();
        Points::At { points, whole }
    }
}
