//! Front ends: when the next instruction of a path is there. `perfect` always has it (a taken jump may cost
//! a penalty); `decoupled` fetches into per-wave buffers with a policy of its own.

mod decoupled;

pub use decoupled::Decoupled;

use crate::memory::Hierarchy;
use crate::sched::View;
use wb_hw::{FrontEndKind, Machine};
use wb_isa::Pc;

/// The front end of one core. An enum rather than `dyn`: `has` is asked per slot and cycle.
pub enum FrontEnd {
    Perfect,
    Decoupled(Box<Decoupled>),
}

impl FrontEnd {
    /// `issuers` issue ports, each with a fetch port and the slots of a partition.
    pub fn new(machine: &Machine, issuers: usize) -> Self {
        match machine.frontend.kind {
            FrontEndKind::Perfect => FrontEnd::Perfect,
            FrontEndKind::Decoupled | FrontEndKind::Coordinated => {
                FrontEnd::Decoupled(Box::new(Decoupled::new(machine, issuers)))
            }
        }
    }

    /// Whether slot `slot` of the core has an instruction to issue at `now`.
    #[inline(always)]
    pub fn has(&self, slot: usize) -> bool {
        match self {
            FrontEnd::Perfect => true,
            FrontEnd::Decoupled(d) => d.has(slot),
        }
    }

    /// The slots of partition `p` that have an instruction to issue.
    #[inline(always)]
    pub fn ready(&self, p: usize) -> u64 {
        match self {
            FrontEnd::Perfect => u64::MAX,
            FrontEnd::Decoupled(d) => d.ready(p),
        }
    }

    /// The slot issued its instruction and goes on at `pc`; `straight` if that is the next one in memory.
    #[inline(always)]
    pub fn issued(&mut self, slot: usize, pc: Pc, straight: bool) {
        if let FrontEnd::Decoupled(d) = self {
            d.issued(slot, pc, straight);
        }
    }

    /// A wave starts in the slot at `pc`, or leaves it.
    pub fn start(&mut self, slot: usize, pc: Pc) {
        if let FrontEnd::Decoupled(d) = self {
            d.start(slot, pc);
        }
    }

    pub fn stop(&mut self, slot: usize) {
        if let FrontEnd::Decoupled(d) = self {
            d.stop(slot);
        }
    }

    /// End of cycle `now`: deliveries, then requests. `ages` are the launch orders of a partition's slots.
    pub fn tick<'a>(&mut self, now: u64, ages: impl Fn(usize) -> &'a [u64], fetch: &mut Fetch) {
        if let FrontEnd::Decoupled(d) = self {
            d.tick(now, ages, fetch);
        }
    }

    /// `cycles` cycles pass in which no slot wants an instruction.
    pub fn idle(&mut self, cycles: u64) {
        if let FrontEnd::Decoupled(d) = self {
            d.idle(cycles);
        }
    }

    /// The next cycle at which the front end does something by itself.
    pub fn next_event(&self, now: u64) -> u64 {
        match self {
            FrontEnd::Perfect => u64::MAX,
            FrontEnd::Decoupled(d) => d.next_event(now),
        }
    }
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
fn fetch_view(ready: u64, occupied: u64, age: &[u64], slots: u32) -> View<'_> {
    View { ready, stalled: occupied & !ready, occupied, age, slots }
}
