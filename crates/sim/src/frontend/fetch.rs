//! What fetching needs and what it tells.

use crate::memory::Hierarchy;
use crate::sched::{Ages, View};
use wb_isa::lanes::bits;
use wb_isa::{FlowKind, Pc};

/// A seat as the front end numbers it: the side it is on, its number there, and its place among all queues. All three, since a
/// division for each question would cost more than the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    pub side: usize,
    pub local: usize,
    pub at: usize,
}

impl Seat {
    /// Of `sides` sides.
    #[inline(always)]
    pub fn new(side: usize, local: usize, sides: usize) -> Seat {
        Seat { side, local, at: local * sides + side }
    }
}

/// No instruction has been requested: nobody knows when one is there. Later than every time, known or not.
pub const NEVER: u64 = u64::MAX;

/// Sides, one bit each: with many contexts there are more than a word has.
#[derive(Default)]
pub(super) struct Sides(Vec<u64>);

impl Sides {
    pub fn new(sides: usize) -> Sides {
        Sides(vec![0; sides.div_ceil(64)])
    }

    #[inline(always)]
    pub fn set(&mut self, side: usize, on: bool) {
        let (word, bit) = (&mut self.0[side / 64], 1 << (side % 64));
        *word = if on { *word | bit } else { *word & !bit };
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline(always)]
    pub fn words(&self) -> usize {
        self.0.len()
    }

    /// Those of word `word`.
    #[inline(always)]
    pub fn of(&self, word: usize) -> impl Iterator<Item = usize> + use<> {
        bits(self.0[word]).map(move |bit| word * 64 + bit as usize)
    }

    /// Those of word `word`, which has none any more.
    pub fn take(&mut self, word: usize) -> impl Iterator<Item = usize> + use<> {
        let all = self.of(word);
        self.0[word] = 0;
        all
    }
}

/// Until when an empty queue is no surprise (SWAS section VI-A4): after a miss of the instruction cache and after a
/// taken branch, as long as the instruction takes to arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excuse {
    pub miss: u64,
    pub branch: u64,
}

/// How often the flow of instructions broke so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breaks {
    /// Requests that missed the instruction cache.
    pub misses: u64,
    /// Times that a wave left the straight line, and what had been fetched behind and was thrown away.
    pub redirects: u64,
    pub discarded: u64,
}

/// A jump that has issued and is not known yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// The cycle in which it is.
    pub known: u64,
    /// Where it goes; none if straight on.
    pub target: Option<Pc>,
}

/// The issue ports, as a front end sees them at the end of a cycle.
pub trait Desk {
    /// The launch orders of the slots of a side.
    fn ages(&self, side: usize) -> &Ages;
    /// The slot, which had nothing, has its next instruction from cycle `there` on.
    fn comes(&mut self, side: usize, local: usize, there: u64);
    /// A side has got something to issue of which nobody told when.
    fn news(&mut self, side: usize);
}

/// What fetching needs to know of program and memory.
pub struct Fetch<'a, A> {
    pub core: usize,
    /// Next pc in program order.
    pub next: &'a [Pc],
    /// What each instruction can do to control flow.
    pub kind: &'a [FlowKind],
    /// The address of each pc.
    pub addr: A,
    pub memory: &'a mut Hierarchy,
}

/// Whether control flow can go elsewhere than to the next instruction in memory, or the wave's lanes change: Vortex holds the wave at
/// each of these (`VX_decode.sv`), but for barriers, which hold it anyway.
pub fn jumps(kind: &FlowKind) -> bool {
    match kind {
        FlowKind::Next | FlowKind::Barrier | FlowKind::Exit { conditional: false } => false,
        FlowKind::Jump(_)
        | FlowKind::Branch(_)
        | FlowKind::MaskBranch { .. }
        | FlowKind::SplitLanes { .. }
        | FlowKind::Merge
        | FlowKind::Call { .. }
        | FlowKind::Indirect { .. }
        | FlowKind::Split
        | FlowKind::Join
        | FlowKind::PushMask(_)
        | FlowKind::PopMask
        | FlowKind::MaskNonZero
        | FlowKind::BranchPush { .. }
        | FlowKind::Spawn
        | FlowKind::Exit { conditional: true } => true,
    }
}

/// A view for fetch policies: ready = may request.
pub(super) fn fetch_view(ready: u64, occupied: u64, age: &[u64], slots: u32) -> View<'_> {
    View {
        ready,
        stalled: occupied & !ready,
        occupied,
        active: occupied,
        age,
        queued: &[],
        progress: &[],
        slots,
    }
}
