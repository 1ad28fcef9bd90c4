//! The model that split placement works on: as measured without splitting, but a path of a split wave skips sides that
//! no whole wave ever skipped. What a skip takes is estimated until a run with the splits has measured it.

use super::model::Measured;
use super::plan::Plan;
use super::times::Times;
use crate::graph::{NodeId, Region};
use crate::split::{self, Placement, SplitError};

impl Plan {
    /// Mean cycles of an instruction of one path, waits included.
    pub fn pace(&self, times: &Times) -> u64 {
        let cycles: u64 = times.edges.iter().map(|e| e.sum).sum();
        cycles.div_ceil(times.instructions.max(1)).max(1)
    }

    /// Adds ways past sides that were never skipped: the branch, and what it takes to go on behind it.
    pub fn with_skips(&self, mut measured: Measured, times: &Times) -> Measured {
        let pace = self.pace(times);
        for &e in &self.skips {
            let edge = self.edges[e];
            let graph = &mut measured.model.graph;
            let reached = |n: NodeId| graph.edges.iter().any(|e| e.to == n);
            if times.edges[e].count == 0 && reached(edge.from) && reached(edge.to) {
                let own = self.piece_at(self.nodes[edge.from]).map_or(1, |p| self.pieces[p].instructions);
                graph.edge(edge.from, edge.to, pace * u64::from(own));
                measured.edge_of.push(e);
                measured.jumps.push(0);
            }
        }
        measured
    }

    /// The same with mean times: on a full machine the longest time of a segment is mostly that of a wave that had to let
    /// others go first, and says little about which side of a branch is the longer one.
    pub fn with_means(&self, mut measured: Measured, times: &Times) -> Measured {
        for (edge, &e) in measured.model.graph.edges.iter_mut().zip(&measured.edge_of) {
            let time = &times.edges[e];
            if time.count > 0 {
                edge.cost = time.sum.div_ceil(time.count);
            }
        }
        measured
    }

    /// The best places for splits with `slots` contexts among the regions that can be marked, as numbers of
    /// [`Plan::regions`]. Split and merge instructions cost what the machine says and their own issue.
    pub fn best_places(
        &self,
        measured: &Measured,
        slots: u32,
        costs: (u64, u64),
    ) -> Result<(Vec<usize>, Placement), SplitError> {
        let mut list: Vec<usize> =
            (0..measured.regions.len()).filter(|&i| self.regions[measured.regions[i].0].markable).collect();
        loop {
            let regions: Vec<Region> = list
                .iter()
                .map(|&i| Region {
                    split_cost: costs.0,
                    merge_cost: costs.1,
                    ..measured.regions[i].1.clone()
                })
                .collect();
            let branch = match split::optimal(&measured.model, &regions, slots) {
                Ok(placement) => {
                    let chosen = placement.chosen.iter().map(|&k| measured.regions[list[k]].0).collect();
                    return Ok((chosen, placement));
                }
                // Such a region cannot be reasoned about: it stays as it is.
                Err(
                    SplitError::NoSide { branch, .. }
                    | SplitError::Leaves { branch, .. }
                    | SplitError::Entered { branch, .. }
                    | SplitError::Side { branch, .. }
                    | SplitError::SameBranch { branch }
                    | SplitError::Overlap { second: branch, .. },
                ) => branch,
                Err(other) => return Err(other),
            };
            let before = list.len();
            let name = |i: &usize| &measured.model.graph.nodes[measured.regions[*i].1.branch].name;
            list.retain(|i| *name(i) != branch);
            if list.len() == before {
                return Err(SplitError::SameBranch { branch });
            }
        }
    }
}
