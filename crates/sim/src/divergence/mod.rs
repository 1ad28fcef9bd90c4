//! Divergence mechanisms: which paths a wave has now. One file per mechanism; a mechanism sees control
//! flow ([`Flow`], [`FlowMap`]), never an instruction, and knows nothing of the pipeline.

mod dws;
mod exec_mask;
mod groups;
mod harptool;
mod mask_stack;
mod pdom;
mod pws;
mod simt_stack;
mod thesis;
mod vortex;

pub use dws::Dws;
pub use exec_mask::ExecMask;
pub use harptool::Harptool;
pub use mask_stack::MaskStack;
pub use pdom::Pdom;
pub use pws::Pws;
pub use simt_stack::SimtStack;
pub use thesis::Thesis;
pub use vortex::VortexStack;

use thiserror::Error;
use wb_hw::{Mechanism, MechanismInfo};
use wb_isa::{EnterWhy, Flow, Mask, NO_PC, Pc};
use wb_program::FlowMap;
use wb_trace::{Kind, MaskCause, RefusedReason};

/// The path an instruction just executed on.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    pub pc: Pc,
    pub next: Pc,
    pub mask: Mask,
    /// Pc of the instruction that narrowed the mask, [`NO_PC`] when no live lane is missing.
    pub origin: Pc,
    /// Number of the path in its wave.
    pub id: usize,
}

/// What a mechanism may look at and change besides its own state.
pub struct Context<'a> {
    pub at: PathView,
    /// The wave's lanes that have not exited.
    pub live: &'a mut Mask,
    pub map: &'a FlowMap,
    pub notes: &'a mut Notes,
    /// Contexts that are free for a split, one bit each.
    pub free: u64,
}

/// What becomes of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Continue at `pc` with `mask` (never empty). `cause` tells why lanes changed, if they did.
    Go { pc: Pc, mask: Mask, origin: Pc, cause: Option<MaskCause> },
    /// The path goes on with `keep`; the lanes of `new` get context `id`.
    Split { keep: (Pc, Mask), new: (Pc, Mask), id: usize, origin: Pc },
    /// The path waits for a sibling and will go on at `pc`.
    Park { pc: Pc },
    /// Path `from` ends, its lanes belong to `into`, which goes on at `pc` or, without `go`, waits there.
    Merge { into: usize, from: usize, pc: Pc, mask: Mask, go: bool, origin: Pc },
    /// No lane of the path is left; `wake` waited only for it.
    Leave { wake: Option<usize> },
    /// No lane of the wave is left.
    End,
}

impl Change {
    fn on(at: PathView, pc: Pc) -> Change {
        Change::Go { pc, mask: at.mask, origin: at.origin, cause: None }
    }
}

/// Why a mechanism cannot do what the instruction asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("lanes disagree about a control instruction")]
    Divergent,
    #[error("{what} is not something the mechanism {mechanism} understands")]
    Unsupported { what: &'static str, mechanism: Mechanism },
    #[error("the divergence stack is full (limit {0})")]
    Overflow(usize),
    #[error("{0}")]
    Malformed(&'static str),
}

impl Refusal {
    pub fn hint(self) -> Option<&'static str> {
        Some(match self {
            Refusal::Divergent => return None,
            Refusal::Unsupported { .. } => "`wavebound mechanisms` lists which mechanism goes with which ISA",
            Refusal::Overflow(_) => {
                "a push without its pop in a loop, or nesting deeper than the machine: raise limits.stack_depth with --set"
            }
            Refusal::Malformed(_) => {
                "every split needs exactly one join on each side, every push_mask one pop; \
                 under the mechanism pdom a split comes right before its predicated jump"
            }
        })
    }
}

/// Stack events for observers; nothing is built when nobody listens.
pub struct Notes {
    pub on: bool,
    pub list: Vec<Kind>,
}

impl Notes {
    #[inline]
    pub(crate) fn add(&mut self, kind: impl FnOnce() -> Kind) {
        if self.on {
            self.list.push(kind());
        }
    }
}

/// Which paths a wave has; one implementation per mechanism.
pub trait Divergence: Send + Sync + 'static {
    /// Stacks and tables of one wave.
    type State: Default + Send + std::fmt::Debug;
    const MECHANISM: Mechanism;
    /// A constant, so that what is asked per instruction costs nothing.
    const INFO: MechanismInfo = Self::MECHANISM.info();
    /// Lanes may disagree about plain branches.
    const MAY_DIVERGE: bool = false;
    /// Paths that issue in the same cycle in one partition must have disjoint lanes, whatever their waves.
    const DISJOINT: bool = false;

    /// What `flow` does to the path. Lanes that exit are taken out of `live`.
    fn step(&self, state: &mut Self::State, flow: Flow, cx: &mut Context) -> Result<Change, Refusal>;

    /// The path reached [`Divergence::watch`].
    fn arrive(&self, _state: &mut Self::State, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(Change::on(cx.at, cx.at.pc))
    }

    /// The pc at which the mechanism wants to be asked before the path goes on.
    fn watch(&self, _state: &Self::State, _id: usize) -> Pc {
        NO_PC
    }

    /// Paths of a wave that stand at the same pc may become one: [`Divergence::meet`] is asked.
    fn meets(&self) -> bool {
        false
    }

    /// The path and path `other` of its wave stand at the same pc and could go on as one.
    fn meet(&self, _state: &mut Self::State, _other: usize, _cx: &mut Context) -> Option<Change> {
        None
    }

    /// Stack entries in use.
    fn depth(&self, state: &Self::State) -> usize;

    /// Masks set aside to run later from another pc; disjoint from each other and from the path.
    fn set_aside(&self, _state: &Self::State, _each: &mut dyn FnMut(Mask)) {}

    /// Masks that will be restored; each contains what was set aside above it.
    fn restores(&self, _state: &Self::State, _each: &mut dyn FnMut(Mask)) {}
}

/// The stack with its limit: an overflow is a reported error, never silent.
fn push<T>(stack: &mut Vec<T>, limit: usize, entry: T) -> Result<(), Refusal> {
    if stack.len() >= limit {
        return Err(Refusal::Overflow(limit));
    }
    stack.push(entry);
    Ok(())
}

/// Lanes exit: the path goes on with the rest of its lanes, or `pop` finds the next entry, or the wave ends.
fn exit(lanes: Mask, cx: &mut Context, pop: impl FnOnce(&mut Context) -> Option<Change>) -> Change {
    *cx.live &= !lanes;
    let at = cx.at;
    match at.mask & !lanes {
        0 => pop(cx).unwrap_or(Change::End),
        mask => Change::Go { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) },
    }
}

/// A branch on the execution mask under a mechanism that splits there: with some lanes on and some off the wave
/// parts, lanes that are on stay (THESIS 4.3.2; nested splits part the path's own lanes only).
fn mask_split(
    state: &mut groups::Groups,
    active: Mask,
    jump: bool,
    target: Pc,
    rpc: Pc,
    cx: &mut Context,
) -> Change {
    let at = cx.at;
    let on = active & at.mask;
    let off = at.mask & !on;
    let (goes, other) = if jump { (target, at.next) } else { (at.next, target) };
    let refused = match () {
        () if on == 0 || off == 0 => return Change::on(at, goes),
        () if cx.map.spills => RefusedReason::Spills,
        () if cx.free == 0 => RefusedReason::NoContext,
        () if rpc == NO_PC && cx.map.region(at.pc).is_none_or(|r| r.hazard) => RefusedReason::Convergent,
        // One side would wait before its first instruction.
        () if goes == rpc || other == rpc => RefusedReason::OneSided,
        () => {
            cx.notes.add(|| Kind::Split { taken: on, other: off });
            return state.split(on, goes, other, rpc, cx);
        }
    };
    cx.notes.add(|| Kind::SplitRefused { reason: refused, lanes: off });
    Change::on(at, goes)
}

/// Lanes of a path exit under a mechanism with [`groups::Groups`].
fn leave(state: &mut groups::Groups, lanes: Mask, cx: &mut Context) -> Change {
    *cx.live &= !lanes;
    let at = cx.at;
    match at.mask & !lanes {
        0 => state.leave(cx),
        mask => {
            state.set_mask(at.id, mask);
            Change::Go { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
        }
    }
}

fn unsupported(flow: Flow, mechanism: Mechanism) -> Refusal {
    let what = match flow {
        Flow::Split { .. } => "split",
        Flow::Join | Flow::JoinTo { .. } => "join",
        Flow::Predicate { .. } => "pred",
        Flow::PushMask { .. } => "push_mask",
        Flow::PopMask => "pop_mask",
        Flow::MaskNonZero { .. } => "mask_nz",
        Flow::BranchPush { .. } => "br_push",
        _ => "this control flow",
    };
    Refusal::Unsupported { what, mechanism }
}

/// Flows every mechanism treats alike; a branch whose lanes disagree is left to the caller.
#[inline]
fn plain(at: PathView, flow: Flow) -> Option<Change> {
    match flow {
        Flow::Next => Some(Change::on(at, at.next)),
        Flow::Jump(pc) => Some(Change::on(at, pc)),
        Flow::Branch { taken, target } if taken == at.mask => Some(Change::on(at, target)),
        Flow::Branch { taken: 0, .. } => Some(Change::on(at, at.next)),
        Flow::MaskBranch { jump, target, .. } => Some(Change::on(at, if jump { target } else { at.next })),
        // Marks mean nothing to mechanisms that split elsewhere or not at all.
        Flow::SplitLanes { .. } | Flow::Merge => Some(Change::on(at, at.next)),
        Flow::Enter { pc, mask, why } => {
            let origin = if mask == at.mask { at.origin } else { NO_PC };
            Some(Change::Go { pc, mask, origin, cause: Some(enter_cause(why)) })
        }
        _ => None,
    }
}

fn enter_cause(why: EnterWhy) -> MaskCause {
    match why {
        EnterWhy::Lanes => MaskCause::Lanes,
        EnterWhy::Interrupt | EnterWhy::Return => MaskCause::Interrupt,
    }
}
