//! A labelling: what can depend on the contents of buffers before every block, and what one run of the launch showed.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wb_isa::Pc;

/// What a run of the launch showed of one instruction. As long as nothing that decides time depends on contents, it is the
/// same in every run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Seen {
    /// It was executed while no lane was on.
    pub idle: bool,
    /// It touched memory that is part of the launch: arguments, the dispatch packet, buffers declared fixed.
    pub fixed: bool,
    /// Any other global memory.
    pub global: bool,
    /// Local memory of its group.
    pub local: bool,
    /// Private memory.
    pub private: bool,
}

/// What one run showed: instructions that are not listed were never executed.
pub type Witness = BTreeMap<Pc, Seen>;

/// One kind of lane at a block: the bits that the lane has in the masks, in two runs with different contents, and the vector
/// registers in which the two runs may differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneCase {
    /// Bit i: the lane's bit in `masks[i]`, in one run and in the other.
    pub bits: [u64; 2],
    /// Vector registers that may differ.
    pub vectors: Vec<u8>,
}

/// What holds before a block, for two runs that differ in the contents of buffers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labels {
    pub pc: Pc,
    /// Scalar registers that may differ, by their number.
    pub scalars: Vec<u8>,
    /// SCC may differ.
    pub scc: bool,
    /// Register pairs that are followed lane by lane, by their first register; EXEC (126) is always one.
    pub masks: Vec<u8>,
    /// Every kind of lane there can be.
    pub lanes: Vec<LaneCase>,
}

/// The labelling of a kernel for one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Labelling {
    pub blocks: Vec<Labels>,
    /// Local memory, private memory may hold what depends on contents.
    pub local: bool,
    pub private: bool,
}

/// What an instruction lets time depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUse {
    /// Whether a branch is taken.
    Branch,
    /// Where a jump or call through registers goes.
    Jump,
    /// Which addresses a global access has.
    Address,
    /// Which banks of local memory an access meets.
    LocalAddress,
    /// Which lanes take part in an access.
    Lanes,
    /// Which lanes a split separates.
    Split,
    /// A mode that later instructions obey, an index of registers, or a message to the host.
    Mode,
}

impl TimeUse {
    /// What depends on contents, for messages.
    pub fn text(self) -> &'static str {
        match self {
            TimeUse::Branch => "whether the branch is taken",
            TimeUse::Jump => "where the jump goes",
            TimeUse::Address => "the addresses of the access",
            TimeUse::LocalAddress => "the banks of local memory that are accessed",
            TimeUse::Lanes => "which lanes take part in the access",
            TimeUse::Split => "which lanes are separated",
            TimeUse::Mode => "a mode, an index or a message",
        }
    }
}
