//! Proofs about the flow of a GCN3 kernel as data (docs/facts.md, "The calculus"): what holds before every block, and for
//! every loop why it ends. The prover writes them, certificates carry them, this crate checks them.

use crate::interval::Interval;
use serde::{Deserialize, Serialize};
use wb_isa::Pc;

/// Everything that is claimed about one kernel and one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// What holds before each block that can be reached, by its first instruction. Blocks that are not listed are never
    /// reached.
    pub blocks: Vec<Invariant>,
    pub loops: Vec<LoopProof>,
    /// Ways that are never taken: last instruction of one block, first of the next.
    pub never: Vec<(Pc, Pc)>,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reg {
    S(u8),
    V(u8),
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    S(u8),
    V(u8),
    Number(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rel {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// `a rel b`, read with or without sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    pub rel: Rel,
    pub signed: bool,
    pub a: Side,
    pub b: Side,
}

/// Memory whose contents the launch decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    Arguments,
    Packet,
}

/// Half of an address: the base of the space plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    pub space: Space,
    pub offset: i64,
    pub high: bool,
}

/// What a mask says: where a bit is set and where it is not, for lanes that are on; `…_anywhere`: for lanes that are off, too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    pub yes: Vec<Comparison>,
    pub no: Vec<Comparison>,
    pub yes_anywhere: bool,
    pub no_anywhere: bool,
}

/// What holds whenever a wave is about to run the instruction at `pc`. What is not listed is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    pub pc: Pc,
    pub scalars: Vec<(u8, Interval)>,
    pub addresses: Vec<(u8, Address)>,
    /// Vector registers of lanes that are on, and of lanes that are off.
    pub on: Vec<(u8, Interval)>,
    pub off: Vec<(u8, Interval)>,
    /// Registers for which no lane can be off.
    pub never_off: Vec<u8>,
    /// Pairs, by their first register, that have bits of existing lanes only, that are not zero, and that are.
    pub clean: Vec<u8>,
    pub some: Vec<u8>,
    pub none: Vec<u8>,
    pub scc: Option<Comparison>,
    /// SCC is the carry out of the low half of this address.
    pub carry: Option<Address>,
    pub masks: Vec<(u8, Said)>,
}

/// A lane of which something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Witness {
    /// The branch at this place went the way it goes when some lane has its bit set: such a lane.
    Branch(Pc),
    /// Some lane is on before the instruction at this place: such a lane.
    On(Pc),
}

/// Why a loop goes back to its header at most `max` times each time it is entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoopProof {
    /// First instruction of the header.
    pub header: Pc,
    pub max: u64,
    pub rule: Rule,
    /// For each edge back, by its last instruction, the lane of which the rule speaks; none: all lanes.
    pub witnesses: Vec<(Pc, Option<Witness>)>,
    /// Ways inside the loop that are not taken in any round, because the lane that must exist cannot be there.
    pub dead: Vec<(Pc, Pc, Witness)>,
    /// Registers that move by a known step, and where they are at the header in every round because of `max`.
    pub moves: Vec<Moves>,
}

/// A register that gets `lo` to `hi` more from header to header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moves {
    pub register: Reg,
    pub lo: i64,
    pub hi: i64,
    pub within: Interval,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// No edge back can be taken.
    Straight,
    /// A counted loop.
    Counted(Counted),
    /// Each round takes the lowest bit out of a mask, and goes on while one is left.
    Bits(Bits),
}

/// On every edge back the comparison at `test` came out as `truth`, with the counter as `tested`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    pub counter: Reg,
    pub test: Pc,
    pub truth: bool,
    /// The counter is the second side of the comparison.
    pub second: bool,
    /// What is compared, made of the counter at the header.
    pub tested: Form,
    /// The counter at the next header, made of the counter at the header.
    pub step: Form,
    /// The other side is the same in all rounds.
    pub fixed: bool,
}

/// A value made of what a register held at the loop's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Plus something in this interval, modulo 2³².
    Plus(i64, i64),
    /// Shifted left, or right without sign; bits that fall off are lost.
    Left(u32),
    Right(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bits {
    /// First register of the mask.
    pub pair: u8,
    /// `s_ff1_i32_b64`, `s_lshl_b64` and `s_andn2_b64`, in one block.
    pub find: Pc,
    pub shift: Pc,
    pub clear: Pc,
}
