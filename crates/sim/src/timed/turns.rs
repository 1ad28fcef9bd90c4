//! When a core and its issue ports have to be looked at. Each knows the next cycle in which something of it can change; what lies
//! before is skipped, and policies that count cycles are told of it when they are asked again. A run that looks at every cycle
//! ([`crate::RunOptions::every_cycle`]) comes to the same result.

use super::core::Core;
use super::issuer::Issuer;
use crate::frontend::{Desk, Fetch};
use crate::memory::Hierarchy;
use crate::sched::{Ages, Choice, View};
use wb_isa::Isa;
use wb_isa::lanes::bits;
use wb_program::Program;

impl<I: Isa> Core<I> {
    /// Cycle `now` begins for the core, or something is done to it in that cycle. Before, nothing of it changed.
    #[inline(always)]
    pub fn begin(&mut self, now: u64) {
        if self.counts {
            return self.begin_counted(now);
        }
        if self.now != now {
            (self.now, self.turns) = (now, 0);
        }
    }

    /// The same if the front end has to be told of every cycle.
    #[inline(never)]
    fn begin_counted(&mut self, now: u64) {
        if self.now == now && self.fetched >= now {
            return;
        }
        (self.now, self.turns) = (now, 0);
        if self.occupied > 0 {
            self.frontend.pass(now.saturating_sub(self.fetched));
        }
        self.fetched = self.fetched.max(now);
        if !self.decoupled && self.fetch_due <= now {
            // Waves may be resumed, whichever scheduler asks first.
            let ports = self.ports();
            self.dues[..ports].fill(0);
        }
    }

    /// The first issuer from `q` on that has to be looked at in this cycle, or one of the contexts that share its port. The turns of
    /// those before it pass.
    #[inline(always)]
    pub fn next_to_take_turn(&mut self, q: usize) -> Option<usize> {
        // An instruction that issued may have been the first that needs a context.
        let all = self.ports();
        for q in q..all {
            if self.dues[q] > self.now {
                continue;
            }
            if self.issuers[q].occupied == 0 {
                self.dues[q] = u64::MAX;
                continue;
            }
            self.turns = q + 1;
            self.catch_up(q, self.now);
            self.issuers[q].told(self.now);
            return Some(q);
        }
        self.turns = all;
        None
    }

    /// Issuers in use that have a port of their own.
    #[inline(always)]
    fn ports(&self) -> usize {
        if self.shared { self.partitions } else { self.issuers() }
    }

    /// Tells the scheduler of issuer `q` of the cycles before `to` in which nobody was ready.
    #[inline]
    pub(super) fn catch_up(&mut self, q: usize, to: u64) {
        let q = if self.shared { self.partition(q) } else { q };
        if self.issuers[q].choice != Choice::Asked {
            return;
        }
        let cycles = self.issuers[q].untold(to);
        if cycles == 0 {
            return;
        }
        let (stalled, active) = self.together(q);
        let part = &mut self.issuers[q];
        let view = View {
            ready: 0,
            stalled,
            occupied: part.occupied,
            active,
            age: part.ages.list(),
            queued: &[],
            progress: &part.progress[..self.seats],
            slots: self.seats as u32,
        };
        part.policy.idle(&view, cycles);
    }

    /// Seats of issuer `q` that stall, and that are active; of all contexts that share its port.
    pub(super) fn together(&self, q: usize) -> (u64, u64) {
        if !self.shared {
            return (self.issuers[q].stalled, self.issuers[q].active);
        }
        bits(self.in_use[q]).fold((0, 0), |(stalled, active), k| {
            let i = &self.issuers[k as usize * self.partitions + q];
            (stalled | i.stalled, active | i.active)
        })
    }

    /// Something is done to a seat of issuer `q`: it has to be looked at again, in this cycle if its turn is still to come.
    pub(super) fn touch(&mut self, q: usize) {
        let turn = if self.shared { self.partition(q) } else { q };
        self.issuers[q].quiet_to = 0;
        self.catch_up(q, self.now + u64::from(turn < self.turns));
        self.dues[turn] = 0;
    }

    /// Issuer `q` is looked at again from cycle `due` on. Where contexts share a port, the issuer of context 0 stands for all of them.
    #[inline(always)]
    pub fn set_due(&mut self, q: usize, due: u64) {
        self.dues[q] = due;
    }

    /// The next cycle in which the core has to be looked at.
    #[inline(always)]
    pub fn due(&self) -> u64 {
        match self.occupied {
            0 => u64::MAX,
            _ => self.first_due.min(self.fetch_due).max(self.now + 1),
        }
    }

    /// All ports had their turn: when the first of them has to be looked at again.
    #[inline(always)]
    pub fn find_first_due(&mut self) {
        // Of issuers that are not used, nobody has to be looked at.
        let fours = self.dues.as_chunks::<4>().0;
        if let [[a, b, c, d]] = fours {
            self.first_due = (*a).min(*b).min((*c).min(*d));
            return;
        }
        let fours = fours.iter().take(self.ports().div_ceil(4));
        self.first_due =
            fours.fold(u64::MAX, |first, four| first.min(four[0].min(four[1])).min(four[2].min(four[3])));
    }

    /// The end of the cycle: the front end requests and delivers, if it has anything to do.
    #[inline(always)]
    pub fn tick_front_end(
        &mut self,
        core: usize,
        program: &Program<I>,
        memory: &mut Hierarchy,
        always: bool,
    ) {
        let now = self.now;
        if !self.decoupled {
            self.fetch_due = self.frontend.next_event(now);
            return;
        }
        if !self.told && self.fetch_due > now && !always {
            return;
        }
        self.told = false;
        let addr = |pc| program.isa.addr_of(pc);
        let (next, kind) = (&program.flow.next, &program.flow.kind);
        let mut fetch = Fetch { core, next, kind, addr, memory };
        let mut desk = PortDesk {
            issuers: &mut self.issuers,
            dues: &mut self.dues,
            first_due: self.first_due,
            partitions: self.partitions,
            shared: self.shared,
        };
        self.fetch_due = self.frontend.tick(now, &mut desk, &mut fetch);
        self.first_due = desk.first_due;
        self.fetched = now + 1;
    }
}

/// Issue ports as the front end sees them.
struct PortDesk<'a> {
    issuers: &'a mut [Issuer],
    dues: &'a mut [u64],
    first_due: u64,
    partitions: usize,
    shared: bool,
}

impl PortDesk<'_> {
    /// The port that is looked at for issuer `q`.
    #[inline(always)]
    fn port(&self, q: usize) -> usize {
        if self.shared { q % self.partitions } else { q }
    }
}

impl Desk for PortDesk<'_> {
    #[inline(always)]
    fn ages(&self, q: usize) -> &Ages {
        &self.issuers[q].ages
    }

    #[inline(always)]
    fn comes(&mut self, q: usize, local: usize, there: u64) {
        let goes = self.issuers[q].comes(local, there);
        let due = &mut self.dues[self.port(q)];
        *due = goes.min(*due);
        self.first_due = self.first_due.min(goes);
    }

    fn news(&mut self, q: usize) {
        self.issuers[q].quiet_to = 0;
        self.dues[self.port(q)] = 0;
        self.first_due = 0;
    }
}
