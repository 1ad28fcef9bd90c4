//! What is kept of branches whose mask is said to be homogeneous (THESIS 5.2.4): which they are, and what paths did there.

use wb_facts::BranchSide;
use wb_isa::Pc;
use wb_trace::Mask;

/// A branch to watch, in terms of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    pub branch: Pc,
    /// The instruction that switches lanes off before it; [`NO_PC`] if it is elsewhere.
    pub(super) narrow: Pc,
    pub(super) side: Option<BranchSide>,
    /// Piece that ends with the branch, and pieces behind it.
    pub(super) at: Option<usize>,
    pub(super) first: Option<usize>,
    /// The step into the second side; none if there is none.
    pub(super) second: Option<(usize, usize)>,
}

/// What a path did at a watched branch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// Lanes before some were switched off.
    pub(super) before: Option<Mask>,
    /// It went into the first side when it passed the branch last.
    pub ran_first: bool,
}

/// A path that did what a homogeneous mask does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mixed {
    pub branch: Pc,
    pub wave: u32,
    pub cycle: u64,
    /// It took this side, which is said to be taken by none; otherwise its lanes disagreed.
    pub side: Option<BranchSide>,
}
