//! Divergent regions as data: what is known about a branch on the execution mask.

use wb_isa::Pc;

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
    /// Why there is no place to reconverge, or none to mark.
    pub why: &'static str,
}
