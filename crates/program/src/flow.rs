//! Control flow per instruction: it tells mechanisms about control flow without telling them about instructions.

use crate::region::Region;
use wb_isa::{FlowKind, Pc};

/// Control flow as mechanisms see it, indexed by pc.
#[derive(Clone, Debug, Default)]
pub struct FlowMap {
    pub kind: Vec<FlowKind>,
    pub next: Vec<Pc>,
    /// Reconvergence pc: first instruction of the immediate post-dominator of the block, [`wb_isa::NO_PC`] if none.
    pub rpc: Vec<Pc>,
    /// True for a `split` whose jump stays in a loop that its fall-through side leaves (PDOM's loop split).
    pub loop_split: Vec<bool>,
    /// Branches on the execution mask, by pc.
    pub regions: Vec<Region>,
    /// Scalar data lives in lanes of vector registers: waves cannot be split.
    pub spills: bool,
}

impl FlowMap {
    /// The region of the mask branch at `pc`.
    pub fn region(&self, pc: Pc) -> Option<&Region> {
        self.regions.binary_search_by_key(&pc, |r| r.branch).ok().map(|i| &self.regions[i])
    }

    /// The region of the mask branch that the instructions from `pc` on come to without another branch.
    pub fn region_behind(&self, mut pc: Pc) -> Option<&Region> {
        while matches!(self.kind.get(pc as usize)?, FlowKind::Next | FlowKind::SplitLanes { .. }) {
            pc = self.next[pc as usize];
        }
        self.region(pc)
    }
}
