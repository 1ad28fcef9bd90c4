//! What fetching needs and what it tells.

use crate::memory::Hierarchy;
use crate::sched::View;
use wb_isa::Pc;

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

/// What fetching needs to know of program and memory.
pub struct Fetch<'a> {
    pub core: usize,
    /// Next pc in program order.
    pub next: &'a [Pc],
    pub addr: &'a dyn Fn(Pc) -> u64,
    pub memory: &'a mut Hierarchy,
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
