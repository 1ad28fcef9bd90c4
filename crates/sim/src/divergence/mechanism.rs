//! What a mechanism is: it sees control flow ([`Flow`], [`FlowMap`]), never an instruction, and answers what becomes of the
//! path ([`Change`]). Also what several mechanisms do alike.

use std::fmt::Debug;
use thiserror::Error;
use wb_hw::Mechanism;
use wb_isa::{EnterWhy, Flow, Mask, NO_PC, Pc};
use wb_program::{Ahead, FlowMap};
use wb_trace::{Kind, MaskCause};

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

/// Where a path stands that could run.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    pub id: usize,
    pub pc: Pc,
}

/// Who issues in one cycle of a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// As many as the machine's issue width; where paths run in parallel, each on units of its own.
    One,
    /// As many as have disjoint lanes, each on units of its own (THESIS 4.4.2).
    Disjoint,
    /// At most so many with disjoint lanes, on one row of lanes: together they take a unit once (SBI, SWI).
    /// `slice`: so many neighbouring lanes are taken as one (VWS).
    Fused { most: u32, waves: Waves, slice: u32 },
}

/// Whose instructions join the one that the scheduler picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waves {
    Same,
    Other,
    /// Any wave whose path stands at the same pc.
    SamePc,
    /// Paths of the same [warp](Divergence::warp), all of them or none. `in_step`: no warp of a block is an instruction ahead (LWM).
    Warp {
        in_step: bool,
    },
    /// Whoever fits.
    Any,
}

/// What becomes of the paths of a wave where a block of waves has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakeOver {
    /// All of them go on at `pc`.
    GoOn { pc: Pc },
    /// Instead of them there are new ones at `pc`, with these lanes each.
    New { pc: Pc, lanes: Vec<Mask>, origin: Pc },
    /// No lane of the wave runs now.
    Wait,
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
    /// The cycle, where the run has cycles.
    pub clock: u64,
    /// Where the path [arrives](Divergence::arrive): paths that wait at the same pc and disagree with it about a scalar that both
    /// wrote, one bit each; only for mechanisms that [ask](Divergence::goes_apart).
    pub disagree: u64,
}

/// Path `from` ends, its lanes belong to `into`, which continues at `pc` or waits there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merge {
    pub into: usize,
    pub from: usize,
    pub pc: Pc,
    /// Lanes of both that are live; 0 where paths [meet](Divergence::meet): those that run.
    pub mask: Mask,
    pub continues: bool,
    pub origin: Pc,
}

/// What becomes of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// At `pc` with `mask` (never empty). `cause` tells why lanes changed, if they did.
    Continue { pc: Pc, mask: Mask, origin: Pc, cause: Option<MaskCause> },
    /// The path goes on with `keep`; the lanes of `new` get context `id`.
    Split { keep: (Pc, Mask), new: (Pc, Mask), id: usize, origin: Pc },
    /// The path waits for a sibling and will go on at `pc`.
    Park { pc: Pc },
    /// Two paths become one.
    Merge(Merge),
    /// The path goes on where it stands, without those it was to meet; `wake` waited only for it.
    Pass { wake: Option<usize> },
    /// No lane of the path is left; `wake` waited only for it.
    Leave { wake: Option<usize> },
    /// No lane of the wave is left.
    End,
}

impl Change {
    pub(super) fn on(at: PathView, pc: Pc) -> Change {
        Change::Continue { pc, mask: at.mask, origin: at.origin, cause: None }
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

/// Which paths a wave has: one implementation per mechanism, one value per wave. It is asked only where control flow is not
/// plain, so the executor can call it through a pointer and is compiled once for all of them.
pub trait Divergence: Send + Debug {
    /// What `flow` does to the path. Lanes that exit are taken out of `live`.
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal>;

    /// The path reached [`Divergence::watch`].
    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(Change::on(cx.at, cx.at.pc))
    }

    /// The pc at which the mechanism wants to be asked before path `id` goes on.
    fn watch(&self, _id: usize) -> Pc {
        NO_PC
    }

    /// Lanes may disagree about plain branches.
    fn may_diverge(&self) -> bool {
        false
    }

    /// A branch on the execution mask means nothing to it: the path goes where the branch goes.
    fn follows_masks(&self) -> bool {
        false
    }

    /// Who may issue in the same cycle of a partition.
    fn together(&self) -> Together {
        Together::One
    }

    /// A wave stays with the path that issued last while that is ready.
    fn sticky(&self) -> bool {
        false
    }

    /// Lanes have pcs of their own: a path that [leaves](Change::Leave) may bring another one to the next place where it has to be asked.
    fn forks(&self) -> bool {
        false
    }

    /// Some paths of a wave may have to wait although nobody they wait for is missing: [`Divergence::held`] is asked after every change. Of
    /// mechanisms whose paths [meet](Divergence::meets) it is so by their pcs: it is asked, too, when a path comes past one that is held.
    fn holds(&self) -> bool {
        false
    }

    /// The paths that do not run now, one bit each. `paths` are those that wait neither for a sibling nor at a barrier; at least one of
    /// them runs.
    fn held(&mut self, _paths: &[Standing]) -> u64 {
        0
    }

    /// Paths of a wave that stand at the same pc may become one: [`Divergence::meet`] is asked.
    fn meets(&self) -> bool {
        false
    }

    /// The path and path `other` of its wave stand at the same pc and could go on as one.
    fn meet(&mut self, _other: usize, _cx: &mut Context) -> Option<Change> {
        None
    }

    /// Paths that disagree about a scalar where they meet may go on apart: [`Context::disagree`] is filled in.
    fn goes_apart(&self) -> bool {
        false
    }

    /// A load of the path, which now stands behind it or waits for it, has data for `hits` and for the rest of its lanes from cycle `until`
    /// on: a [`Change::Split`] lets those lanes go on by themselves. `ahead`: how far they may.
    fn divide(&mut self, _hits: Mask, _until: u64, _ahead: &Ahead, _cx: &mut Context) -> Option<Change> {
        None
    }

    /// The base execution mask of the path has changed to `base` (THESIS 4.3.4); asked only of mechanisms that keep split masks.
    fn restored(&mut self, _base: Mask, _cx: &mut Context) -> Option<Change> {
        None
    }

    /// Paths that wait and need not any more, one bit each, because nobody they wait for can come. `stands`: paths that wait for a sibling
    /// or at a barrier.
    fn give_up(&mut self, _stands: u64, _live: Mask) -> u64 {
        0
    }

    /// It is asked at every branch and every jump through a register, whether lanes disagree there or not.
    fn waits_at_branches(&self) -> bool {
        false
    }

    /// The block of the wave has decided, and the wave has not [taken over](Divergence::take_over) what its paths are now.
    fn decided(&self) -> bool {
        false
    }

    fn take_over(&mut self) -> TakeOver {
        TakeOver::Wait
    }

    /// Number of the warp that path `id` belongs to: the number of its block, and in the last eight bits that of the warp in the block.
    fn warp(&self, _id: usize) -> u64 {
        0
    }

    /// Stack entries in use.
    fn depth(&self) -> usize;

    /// Masks set aside to run later from another pc; disjoint from each other and from the path.
    fn set_aside(&self, _each: &mut dyn FnMut(Mask)) {}

    /// Masks that will be restored; each contains what was set aside above it.
    fn restores(&self, _each: &mut dyn FnMut(Mask)) {}
}

/// The stack with its limit: an overflow is a reported error, never silent.
pub(super) fn push<T>(stack: &mut Vec<T>, limit: usize, entry: T) -> Result<(), Refusal> {
    if stack.len() >= limit {
        return Err(Refusal::Overflow(limit));
    }
    stack.push(entry);
    Ok(())
}

/// Lanes exit: the path goes on with the rest of its lanes, or `pop` finds the next entry, or the wave ends.
pub(super) fn exit(
    lanes: Mask,
    cx: &mut Context,
    pop: impl FnOnce(&mut Context) -> Option<Change>,
) -> Change {
    *cx.live &= !lanes;
    let at = cx.at;
    match at.mask & !lanes {
        0 => pop(cx).unwrap_or(Change::End),
        mask => Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) },
    }
}

pub(super) fn unsupported(flow: Flow, mechanism: Mechanism) -> Refusal {
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
pub(super) fn plain(at: PathView, flow: Flow) -> Option<Change> {
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
            Some(Change::Continue { pc, mask, origin, cause: Some(enter_cause(why)) })
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
