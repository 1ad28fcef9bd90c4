//! Divergent regions as data: what is known about a branch on the execution mask.

use wb_isa::{NO_PC, Pc};

/// What the branch skips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionKind {
    /// The first side of an if.
    If,
    /// The second side: the branch stands in a serialisation block.
    Else,
    /// Lanes leave a loop, or a loop goes round for those that are left.
    Loop,
    /// Lanes were switched off without saving the mask.
    Unsaved,
}

/// A branch on the execution mask and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    pub branch: Pc,
    pub kind: RegionKind,
    /// The instruction that switched lanes off, [`wb_isa::NO_PC`] if it is not in the branch's block.
    pub narrow: Pc,
    /// Where the second side begins, if there is one.
    pub serialise: Option<Pc>,
    /// First instruction with all lanes on again; [`wb_isa::NO_PC`] = unknown, see `why`.
    pub reconverge: Pc,
    /// Instructions of the block in which that is, from there on (DWS threshold).
    pub tail: u32,
    /// The branch runs exactly once for each time `reconverge` is passed: split and merge may stand there.
    pub structured: bool,
    /// Code after the branch counts on lanes running together: cross-lane instructions, or local memory without
    /// barriers. A split that never ends would change what it does.
    pub hazard: bool,
    /// The lanes never come together again, and nothing behind the branch counts on it: first instruction of the block
    /// in which every path ends the kernel. Paths may part for good at the branch (`split_end`).
    pub ends: Option<Pc>,
    /// Why there is no place to reconverge, or none to mark.
    pub why: &'static str,
}

impl Region {
    /// `split` and `merge`, or `split_end`, may stand there.
    pub fn markable(&self) -> bool {
        self.structured || self.ends.is_some()
    }

    /// Lanes that are off at the branch have nothing left to do but to end: a path of their own gains nothing.
    pub fn only_ends(&self) -> bool {
        self.ends.is_some() && self.serialise.is_none()
    }

    /// Where the paths of a split are one again, or come to the block in which they end.
    pub fn join(&self) -> Option<Pc> {
        Some(self.reconverge).filter(|&pc| pc != NO_PC).or(self.ends)
    }
}
