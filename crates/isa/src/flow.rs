//! What an instruction does to control flow: statically ([`FlowKind`]) and when executed ([`Flow`]).
//! One vocabulary for every ISA, so that mechanisms and the analyser never look at an instruction.

use crate::{Mask, MemFault, Pc};
use thiserror::Error;

/// What an issued instruction did to control flow; the divergence mechanism turns it into paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Next,
    Jump(Pc),
    /// A conditional jump; lanes outside `taken` fall through.
    Branch {
        taken: Mask,
        target: Pc,
    },
    /// A jump through a register on which lanes disagree: those of `taken` go to `target`, the others execute it again (RISC-V).
    Scatter {
        taken: Mask,
        target: Pc,
    },
    /// A branch on "no lane is active" (GCN `s_cbranch_execz`): the path goes one way as a whole. `active` are
    /// its lanes that are on; `marked`: the program asked for a split here (THESIS 4.5.1).
    MaskBranch {
        active: Mask,
        jump: bool,
        target: Pc,
        marked: bool,
    },
    /// PWS `split`: lanes in `keep` stay, the others may get a context of their own. `apart`: the two never merge.
    SplitLanes {
        keep: Mask,
        apart: bool,
    },
    /// PWS `merge`.
    Merge,
    /// HARP `split`: `taken` lanes are those whose predicate is true.
    Split {
        taken: Mask,
    },
    /// HARP `join`.
    Join,
    /// Vortex `join`: back to a stack of `depth` entries, nothing if it has as many.
    JoinTo {
        depth: u32,
    },
    /// Vortex `pred`: go on with the lanes of `keep`, or with those of `restore` if there are none.
    Predicate {
        keep: Mask,
        restore: Mask,
    },
    /// GUPPY `push_mask`: remember the mask and where to reconverge.
    PushMask {
        reconverge: Pc,
    },
    /// GUPPY `pop_mask`.
    PopMask,
    /// GUPPY `mask_nz`: keep the lanes whose register is not zero.
    MaskNonZero {
        keep: Mask,
    },
    /// GUPPY `br_push`.
    BranchPush {
        taken: Mask,
        other: Pc,
        reconverge: Pc,
    },
    /// Continue at `pc` with exactly these lanes (HARP `jalis`, `jmprt`, interrupts, `reti`).
    Enter {
        pc: Pc,
        mask: Mask,
        why: EnterWhy,
    },
    /// Start another wave at `pc` with one lane, register `reg` holding `value`; then continue.
    Spawn {
        pc: Pc,
        reg: u16,
        value: u64,
    },
    /// Once this is the only wave of the core, start waves 1 to `count` − 1 at `pc` with one lane each; then continue
    /// (Vortex `wspawn`).
    SpawnWaves {
        pc: Pc,
        count: u32,
    },
    /// Wait until `count` waves have arrived at barrier `id`; then continue.
    Barrier {
        id: u64,
        count: u64,
    },
    /// These lanes are done.
    Exit {
        lanes: Mask,
    },
}

/// Why an instruction replaced the path's lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnterWhy {
    /// The program chose how many lanes run (HARP `jalis`, `jalrs`, `jmprt`).
    Lanes,
    /// An interrupt handler starts (HARP `trap`, faults).
    Interrupt,
    /// It returns to what it interrupted (HARP `reti`).
    Return,
}

/// The same, known before execution; feeds the control-flow graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowKind {
    #[default]
    Next,
    Jump(Pc),
    /// Falls through or goes to the target.
    Branch(Pc),
    /// The same, on whether any lane is active; jumps when none is (`when_empty`) or when one is.
    MaskBranch {
        target: Pc,
        when_empty: bool,
    },
    /// PWS `split` (`apart`: `split_end`, whose paths never merge) and `merge`.
    SplitLanes {
        apart: bool,
    },
    Merge,
    /// Goes to the target and comes back to the next instruction; `conditional` may skip it.
    Call {
        target: Option<Pc>,
        conditional: bool,
    },
    /// Jump through a register: a return or a computed jump.
    Indirect {
        conditional: bool,
    },
    Split,
    Join,
    PushMask(Pc),
    PopMask,
    MaskNonZero,
    BranchPush {
        other: Pc,
        reconverge: Pc,
    },
    Spawn,
    Barrier,
    Exit {
        conditional: bool,
    },
}

/// Static facts about one instruction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Index into [`crate::Isa::classes`].
    pub class: u8,
    pub flow: FlowKind,
    /// Register ids read and written (scoreboard, liveness).
    pub reads: Vec<u16>,
    pub writes: Vec<u16>,
    /// Registers read whose 64 bits count as lane masks whatever becomes of the result (liveness of merges).
    pub mask_reads: Vec<u16>,
    /// The result is a lane mask if it is used as one: reads are masks exactly when the writes are.
    pub mask_flow: bool,
    pub lanes: LaneEffect,
    /// Lanes see each other's registers here: code relies on which of them run together.
    pub cross_lane: bool,
    /// May only issue when nothing of the wave is outstanding (GUPPY `ret`).
    pub waits_for_all: bool,
}

/// What an instruction does to the execution mask; registers are ids of the low half of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneEffect {
    #[default]
    Keep,
    /// The mask goes to `dst`, then is combined with `src` (`s_and_saveexec`).
    Save { dst: u16, src: Option<u16>, op: MaskOp },
    /// The mask is combined with `src`.
    Apply { src: Option<u16>, op: MaskOp },
    /// The mask is `src`.
    Set { src: Option<u16> },
    /// The mask is copied to `dst`.
    Copy { dst: u16 },
    /// Scalar data is kept in a lane of a vector register (`v_writelane`): paths would overwrite each other's.
    Spill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaskOp {
    And,
    /// mask ∧ ¬source
    AndNot,
    /// source ∧ ¬mask
    NotAnd,
    Or,
    Xor,
    Other,
}

/// Why an instruction could not execute. The machine adds wave, pc and source line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Trap {
    #[error(transparent)]
    Memory(#[from] MemFault),
    #[error("lanes of one wave disagree about this control instruction")]
    Divergent,
    #[error("interrupt {number} ({name}) and no handler can take it")]
    Interrupt { number: u32, name: &'static str },
    #[error("the program goes on at address {addr:#x}, where there is no instruction")]
    BadTarget { addr: u64 },
    #[error("{0}")]
    Other(String),
}

impl Trap {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Trap::Memory(fault) if fault.why.starts_with("not aligned") => {
                format!("an access of {0} bytes needs an address that is a multiple of {0}: check the offset, or the type the pointer was cast from", fault.bytes)
            }
            Trap::Memory(fault) if fault.why.starts_with("outside every buffer") => {
                "check the index against the size of the buffer".into()
            }
            Trap::Memory(_) => "check the address computation; device memory can be enlarged with --set limits.memory=…".into(),
            Trap::Divergent => "put split/join around the branch, or run with --mechanism simt-stack, where lanes may disagree".into(),
            Trap::Interrupt { .. } => "install a handler with skep and enable interrupts with ei, or end the program with halt".into(),
            Trap::BadTarget { .. } => "a jump into data, an overwritten return address, or the end of the program without ret or halt".into(),
            Trap::Other(_) => return None,
        })
    }
}
