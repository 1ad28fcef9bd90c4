//! Rounds of loops that lanes leave one after the other (`for (i = id; i < n; i += size)`), told apart while they are few: what
//! is known lane by lane in each round would be lost where rounds meet.

use wb_isa::gcn3::Op;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;
use wb_program::cfg::Loop;

/// Rounds from this one on are not told apart.
pub const MOST: u32 = 4;

/// A block, in one of the first rounds of the loop around it that is followed so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub block: usize,
    pub round: u32,
}

impl Place {
    /// Where a way leads to another block.
    pub fn next(self, block: usize, loops: &[&Loop]) -> Place {
        // A block is in one of the loops at most.
        let around = loops.iter().find(|l| l.blocks.contains(&block));
        let round = match around.filter(|l| l.blocks.contains(&self.block)) {
            None => 0,
            Some(l) if l.header == block => (self.round + 1).min(MOST),
            Some(_) => self.round,
        };
        Place { block, round }
    }
}

/// Loops that end when a mask is empty, unless another such loop is around them.
pub fn apart(program: &Program<Gcn3>) -> Vec<&Loop> {
    let cfg = &program.cfg;
    let by_mask = |b: usize| {
        let op = program.ops[cfg.blocks[b].last as usize].inst.as_ref().map(|i| i.op);
        matches!(op, Some(Op::SCbranchExecz | Op::SCbranchExecnz | Op::SCbranchVccz | Op::SCbranchVccnz))
    };
    let leaves = |l: &Loop, b: usize| cfg.blocks[b].succs.iter().any(|s| !l.blocks.contains(s));
    let all: Vec<&Loop> =
        cfg.loops.iter().filter(|l| l.blocks.iter().any(|&b| by_mask(b) && leaves(l, b))).collect();
    let outer = |l: &Loop| {
        let apart = |o: &Loop| o.blocks.is_disjoint(&l.blocks) || o.blocks.is_subset(&l.blocks);
        all.iter().all(|o| o.header == l.header || apart(o))
    };
    all.iter().copied().filter(|l| outer(l)).collect()
}
