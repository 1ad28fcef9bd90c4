//! Front ends: when the next instruction of a path is there. `perfect` always has it (a taken jump may cost
//! a penalty); `decoupled` fetches into per-wave queues with a policy of its own ([`Queued`], or [`Decoupled`] where jumps are known
//! late); `coordinated` fetches for the wave that issues.

mod code;
mod coordinated;
mod decoupled;
mod fetch;
mod queued;
#[cfg(test)]
mod queued_tests;

pub use code::Code;
pub use coordinated::Coordinated;
pub use decoupled::Decoupled;
pub use fetch::{Breaks, Desk, Excuse, Fetch, Seat, jumps};
pub use queued::Queued;

use crate::memory::Times;
use crate::sched::Ages;
use wb_hw::{FrontEndKind, Machine, Unresolved};
use wb_isa::Pc;

/// The front end of one core. An enum rather than `dyn`: it is asked per slot and cycle.
pub enum FrontEnd {
    Perfect,
    Queued(Box<Queued>),
    Decoupled(Box<Decoupled>),
    Coordinated(Box<Coordinated>),
}

impl FrontEnd {
    /// `issuers` issue ports, each with the machine's fetch ports times `fetch`, and the slots of a partition.
    pub fn new(machine: &Machine, issuers: usize, fetch: u32) -> Self {
        let f = &machine.frontend;
        let early = f.resolution == 0 && f.unresolved == Unresolved::GoOn && f.requests == 0;
        let early = early && f.buffer as usize <= Queued::MOST;
        match f.kind {
            FrontEndKind::Perfect => FrontEnd::Perfect,
            FrontEndKind::Decoupled if early => {
                FrontEnd::Queued(Box::new(Queued::new(machine, issuers, fetch)))
            }
            FrontEndKind::Decoupled => FrontEnd::Decoupled(Box::new(Decoupled::new(machine, issuers, fetch))),
            FrontEndKind::Coordinated => FrontEnd::Coordinated(Box::new(Coordinated::new(machine, issuers))),
        }
    }

    /// Whether slot `slot` of the core has something to issue, if the time is past that it was told of.
    #[inline(always)]
    pub fn has(&self, slot: Seat) -> bool {
        match self {
            FrontEnd::Perfect | FrontEnd::Queued(_) => true,
            FrontEnd::Decoupled(d) => d.has(slot),
            FrontEnd::Coordinated(f) => f.has(slot),
        }
    }

    /// The slots of partition `p` that have something to issue in cycle `now`, if the time is past that they were told of.
    #[inline(always)]
    pub fn ready(&mut self, p: usize, now: u64) -> u64 {
        match self {
            FrontEnd::Perfect | FrontEnd::Queued(_) => u64::MAX,
            FrontEnd::Decoupled(d) => d.ready(p),
            FrontEnd::Coordinated(f) => f.ready(p, now),
        }
    }

    /// Whether the slot issues a NOP next.
    #[inline(always)]
    pub fn nop_next(&self, slot: Seat) -> bool {
        match self {
            FrontEnd::Coordinated(f) => f.nop_next(slot),
            FrontEnd::Decoupled(d) => d.is_wrong(slot),
            FrontEnd::Perfect | FrontEnd::Queued(_) => false,
        }
    }

    /// The slots of partition `p` that have instructions of the wrong path to issue, whatever the wave waits for.
    #[inline(always)]
    pub fn wrong(&self, p: usize) -> u64 {
        match self {
            FrontEnd::Decoupled(d) => d.wrong(p),
            FrontEnd::Perfect | FrontEnd::Queued(_) | FrontEnd::Coordinated(_) => 0,
        }
    }

    /// An instruction of the wrong path issues.
    pub fn drop_one(&mut self, slot: Seat) {
        if let FrontEnd::Decoupled(d) = self {
            d.drop_one(slot);
        }
    }

    /// The slot issued its instruction and goes on at `pc`; `straight` if that is the next one in memory; `jump` if it could have
    /// gone elsewhere (asked for only where jumps are known late). Returns when its next instruction is there; 0 if [`FrontEnd::ready`]
    /// will tell.
    #[inline(always)]
    pub fn issued(
        &mut self,
        slot: Seat,
        pc: Pc,
        (straight, jump): (bool, bool),
        now: u64,
        ages: &Ages,
    ) -> u64 {
        match self {
            FrontEnd::Queued(q) => return q.issued(slot, pc, straight, now, ages),
            FrontEnd::Perfect => {}
            FrontEnd::Decoupled(d) => d.issued(slot, pc, straight, jump, now),
            FrontEnd::Coordinated(f) => f.issued(slot, pc, straight, jump, now),
        }
        0
    }

    /// [`FrontEnd::issued`] where jumps are known at once, and what the front end does of itself at the end of the cycle, if that is nothing
    /// but to request one instruction that is at hand. Not of a coordinated one. `told`: it has to act at the end of the cycle.
    #[inline(always)]
    pub fn goes_on(
        &mut self,
        (side, local): (usize, usize),
        pc: Pc,
        straight: bool,
        now: u64,
        ages: &Ages,
        told: &mut bool,
    ) -> u64 {
        let sides = match self {
            FrontEnd::Queued(q) => {
                return q.goes_on(Seat { side, local, at: 0 }, pc, straight, now, ages, told);
            }
            FrontEnd::Decoupled(d) => d.sides(),
            FrontEnd::Perfect | FrontEnd::Coordinated(_) => 1,
        };
        *told = true;
        self.issued(Seat::new(side, local, sides), pc, (straight, false), now, ages)
    }

    /// A path that waited goes on at `pc`, which may be elsewhere.
    pub fn resume(&mut self, slot: Seat, pc: Pc, now: u64) {
        if let FrontEnd::Coordinated(f) = self
            && f.next_pc(slot) != pc
        {
            f.redirect(slot, pc, now);
        }
    }

    /// A path that waited behind a branch goes on at `pc`; what was fetched behind the branch is good if that is where it goes on.
    /// Returns when its next instruction is there, as [`FrontEnd::issued`] does.
    pub fn turn(&mut self, slot: Seat, pc: Pc, now: u64, ages: &Ages) -> u64 {
        match self {
            FrontEnd::Queued(q) => return q.turn(slot, pc, now, ages),
            FrontEnd::Perfect => {}
            FrontEnd::Decoupled(d) => d.turn(slot, pc, now),
            FrontEnd::Coordinated(f) => {
                if f.next_pc(slot) != pc {
                    f.redirect(slot, pc, now);
                }
            }
        }
        0
    }

    /// A wave starts in the slot at `pc`: when its first instruction is there, as [`FrontEnd::issued`] does.
    pub fn start(&mut self, slot: Seat, pc: Pc, now: u64, ages: &Ages) -> u64 {
        match self {
            FrontEnd::Queued(q) => return q.start(slot, pc, now, ages),
            FrontEnd::Perfect => {}
            FrontEnd::Decoupled(d) => d.start(slot, pc, now),
            FrontEnd::Coordinated(f) => f.start(slot, pc, now),
        }
        0
    }

    /// A wave leaves the slot.
    pub fn stop(&mut self, slot: Seat, now: u64, ages: &Ages) {
        match self {
            FrontEnd::Perfect => {}
            FrontEnd::Queued(q) => q.stop(slot, now, ages),
            FrontEnd::Decoupled(d) => d.stop(slot),
            FrontEnd::Coordinated(f) => f.stop(slot),
        }
    }

    /// End of cycle `now`: deliveries, then requests. Returns the next cycle at which the front end does something by itself.
    #[inline(always)]
    pub fn tick(&mut self, now: u64, desk: &mut impl Desk, fetch: &mut Fetch<impl Fn(Pc) -> u64>) -> u64 {
        match self {
            FrontEnd::Queued(q) => q.tick(now, desk, fetch),
            FrontEnd::Decoupled(d) => {
                d.tick(now, desk, fetch);
                d.news(|side| desk.news(side));
                d.next_event(now)
            }
            FrontEnd::Perfect | FrontEnd::Coordinated(_) => self.next_event(now),
        }
    }

    /// Whether the end of cycle `now` has something to do, if anything happened in it.
    #[inline(always)]
    pub fn has_to_act(&self, now: u64) -> bool {
        match self {
            FrontEnd::Queued(q) => q.has_to_act(now),
            FrontEnd::Perfect | FrontEnd::Decoupled(_) | FrontEnd::Coordinated(_) => true,
        }
    }

    /// Requests may be put off, and made up for later.
    pub fn put_off(&mut self, code: &Code) {
        if let FrontEnd::Queued(q) = self {
            q.put_off(code.clone());
        }
    }

    /// Whether it has to hear of every cycle that begins or passes.
    pub fn counts_cycles(&self) -> bool {
        match self {
            FrontEnd::Queued(q) => q.counts_cycles(),
            FrontEnd::Perfect | FrontEnd::Decoupled(_) | FrontEnd::Coordinated(_) => true,
        }
    }

    /// `cycles` cycles pass in which no slot wants an instruction.
    #[inline(always)]
    pub fn pass(&mut self, cycles: u64) {
        match self {
            FrontEnd::Queued(q) => q.pass(cycles),
            FrontEnd::Decoupled(d) => d.pass(cycles),
            FrontEnd::Perfect | FrontEnd::Coordinated(_) => {}
        }
    }

    /// Times that were unknown are known; `comes` hears of slots with something under way. Returns whether anything waited for them.
    pub fn tell(&mut self, times: &Times, comes: impl FnMut(usize, usize, u64)) -> bool {
        match self {
            FrontEnd::Queued(q) => q.tell(times, comes),
            FrontEnd::Decoupled(d) => d.tell(times),
            FrontEnd::Perfect | FrontEnd::Coordinated(_) => false,
        }
    }

    /// The next cycle at which the front end does something by itself.
    #[inline(always)]
    pub fn next_event(&mut self, now: u64) -> u64 {
        match self {
            FrontEnd::Perfect => u64::MAX,
            FrontEnd::Queued(q) => q.next_event(now),
            FrontEnd::Decoupled(d) => d.next_event(now),
            FrontEnd::Coordinated(f) => f.next_event(),
        }
    }

    pub fn excuse(&self, slot: Seat) -> Excuse {
        match self {
            FrontEnd::Perfect => Excuse::default(),
            FrontEnd::Queued(q) => q.excuse(slot),
            FrontEnd::Decoupled(d) => d.excuse(slot),
            FrontEnd::Coordinated(f) => f.excuse(slot),
        }
    }

    pub fn breaks(&self) -> Breaks {
        match self {
            FrontEnd::Perfect => Breaks::default(),
            FrontEnd::Queued(q) => q.breaks,
            FrontEnd::Decoupled(d) => d.breaks,
            FrontEnd::Coordinated(f) => f.breaks,
        }
    }
}
