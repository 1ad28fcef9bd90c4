//! What is proven about loops and ways, as data.

use super::range::Range;
use super::state::Side;
use crate::facts::LoopFact;
use std::collections::BTreeMap;
use wb_flowproof::{Rule, Witness};
use wb_isa::Pc;

/// A register that gets `lo` to `hi` more from header to header, and where it is at the header in every round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub(super) register: Side,
    pub(super) lo: i64,
    pub(super) hi: i64,
    pub(super) within: Range,
}

/// What is proven about one loop.
pub(super) struct Found {
    pub(super) fact: LoopFact,
    pub(super) rule: Rule,
    pub(super) witnesses: Vec<(Pc, Option<Witness>)>,
    pub(super) dead: Vec<(Pc, Pc, Witness)>,
    pub(super) moved: Vec<Moved>,
}

/// Ranges of registers at headers (by block) in every round.
pub(crate) type Clamps = BTreeMap<(usize, Side), Range>;

/// A way that no wave of the launch takes: an edge of the control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverTaken {
    /// Last instruction of the block it leaves.
    pub from: Pc,
    /// First instruction of the block it leads to.
    pub to: Pc,
    /// The proof in words.
    pub why: String,
}

/// What follows from the code and the launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// Limits of the kernel's loops and of those in functions it calls, by header. Loops that are not in the list have no
    /// proof.
    pub loops: Vec<LoopFact>,
    /// Ways out of blocks that can be reached which are never taken.
    pub never: Vec<NeverTaken>,
    /// The proof of all of it, for [`wb_flowproof::check`].
    pub proof: Option<wb_flowproof::Proof>,
    /// What the checker refused, and why: a fault of the prover or of the checker.
    pub refused: Vec<String>,
    /// Ranges of registers at headers that follow; none if the checker refused something.
    pub(crate) clamps: Option<Clamps>,
}

impl Inferred {
    /// What somebody says, with nothing that follows from it.
    pub fn said(loops: Vec<LoopFact>, never: Vec<NeverTaken>) -> Inferred {
        Inferred { loops, never, ..Inferred::default() }
    }
}
