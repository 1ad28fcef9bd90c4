//! The front end of SWAS section IV-B: one scheduler for fetch and issue. The wave that issues the head of its queue
//! requests one instruction in the same cycle, so a queue as long as the fetch takes is always full. Where the flow breaks
//! (a miss, a taken branch), NOPs fill the places; they issue like instructions but are none.

use super::fetch::{Breaks, Excuse, Fetch, Pending, Seat};
use crate::memory::Access;
use std::collections::VecDeque;
use wb_hw::{Machine, Unresolved};
use wb_isa::lanes::bits;
use wb_isa::{NO_PC, Pc};
use wb_trace::PortKind;

/// A place of a queue; `pc` is [`NO_PC`] for a NOP.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: Pc,
    /// First cycle in which it can issue.
    arrives: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    /// Decoded, or on the way: the wave cannot be faster than the fetch.
    entries: VecDeque<Entry>,
    /// Next pc to request.
    pc: Pc,
    /// The request of `pc` missed; the line that comes serves it, whatever happens to the cache meanwhile.
    filled: bool,
    /// Suspended: the line is there in this cycle.
    until: u64,
    /// A jump that is not known yet: until then what is in the queue behind a taken one issues as NOPs do.
    pending: Option<Pending>,
    excuse: Excuse,
}

/// The slots of one partition, one bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    occupied: u64,
    suspended: u64,
    /// Has a jump that is not known yet.
    pending: u64,
}

pub struct Coordinated {
    queues: Vec<Queue>,
    sides: Vec<Side>,
    places: u64,
    /// Cycles the instruction cache adds on a hit.
    hit: u64,
    /// Cycles until a jump is known, and whether the wave is suspended meanwhile.
    resolution: u64,
    waits: bool,
    /// Earliest end of a suspension, or of not knowing a jump.
    next_resume: u64,
    pub breaks: Breaks,
}

impl Coordinated {
    pub fn new(machine: &Machine, issuers: usize) -> Self {
        let seats = (machine.core.waves / machine.core.partitions) as usize;
        Coordinated {
            queues: vec![Queue::default(); seats * issuers],
            sides: vec![Side::default(); issuers],
            places: machine.queue_places(),
            hit: machine.instruction_hit(),
            resolution: machine.frontend.resolution.into(),
            waits: machine.frontend.unresolved != Unresolved::GoOn,
            next_resume: u64::MAX,
            breaks: Breaks::default(),
        }
    }

    /// Not suspended. There is always something to issue then.
    pub fn has(&self, slot: Seat) -> bool {
        self.sides[slot.side].suspended >> slot.local & 1 == 0
    }

    #[inline(always)]
    pub fn ready(&mut self, p: usize, now: u64) -> u64 {
        if self.next_resume <= now {
            self.resume(now);
        }
        !self.sides[p].suspended
    }

    /// Ends the suspensions whose line is there.
    fn resume(&mut self, now: u64) {
        self.next_resume = u64::MAX;
        self.resolve(now);
        let n = self.sides.len();
        for (p, side) in self.sides.iter_mut().enumerate() {
            for local in bits(side.suspended) {
                let until = self.queues[local as usize * n + p].until;
                if until <= now {
                    side.suspended &= !(1 << local);
                } else {
                    self.next_resume = self.next_resume.min(until);
                }
            }
        }
    }

    /// Jumps that were known by the end of the cycle before `now`.
    fn resolve(&mut self, now: u64) {
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].pending) {
                let slot = Seat::new(p, local as usize, n);
                let Some(Pending { known, target }) = self.queues[slot.at].pending else { continue };
                if known >= now {
                    self.next_resume = self.next_resume.min(known + 1);
                    continue;
                }
                self.queues[slot.at].pending = None;
                self.sides[p].pending &= !(1 << local);
                if let Some(pc) = target {
                    self.redirect(slot, pc, known);
                }
            }
        }
    }

    /// The slot issued its instruction and goes on at `pc`.
    pub fn issued(&mut self, slot: Seat, pc: Pc, straight: bool, jump: bool, now: u64) {
        if self.resolution == 0 {
            if !straight {
                self.redirect(slot, pc, now);
            }
            return;
        }
        if straight && !(jump && self.waits) {
            return;
        }
        let known = now + self.resolution;
        let q = &mut self.queues[slot.at];
        q.pending = Some(Pending { known, target: (!straight).then_some(pc) });
        q.excuse.branch = known + if straight { 1 } else { self.places };
        let bit = 1 << slot.local;
        self.sides[slot.side].pending |= bit;
        if self.waits {
            q.until = q.until.max(known + 1);
            self.sides[slot.side].suspended |= bit;
        }
        self.next_resume = self.next_resume.min(known + 1);
    }

    #[inline(always)]
    pub fn nop_next(&self, slot: Seat) -> bool {
        let q = &self.queues[slot.at];
        q.entries.front().is_none_or(|e| e.pc == NO_PC) || q.pending.is_some_and(|p| p.target.is_some())
    }

    /// The pc of the first instruction in the queue, or of the one that is requested next.
    pub fn next_pc(&self, slot: Seat) -> Pc {
        let q = &self.queues[slot.at];
        if let Some(pc) = q.pending.and_then(|p| p.target) {
            return pc;
        }
        q.entries.iter().map(|e| e.pc).find(|&pc| pc != NO_PC).unwrap_or(q.pc)
    }

    pub fn excuse(&self, slot: Seat) -> Excuse {
        self.queues[slot.at].excuse
    }

    pub fn next_event(&self) -> u64 {
        self.next_resume
    }

    /// The slot is chosen: its head leaves, and one instruction is requested in its place.
    pub fn select(&mut self, slot: Seat, now: u64, fetch: &mut Fetch<impl Fn(Pc) -> u64>) {
        let q = &mut self.queues[slot.at];
        q.entries.pop_front();
        let mut entry = Entry { pc: NO_PC, arrives: now + self.places };
        if q.pc != NO_PC {
            let line = if q.filled {
                now
            } else {
                let line = std::iter::once((fetch.addr)(q.pc));
                let (to, met) = ((PortKind::Fetch, fetch.core), &mut Access::default());
                fetch.memory.access(to, line, false, now, met).saturating_sub(self.hit)
            };
            q.filled = line > now;
            if q.filled {
                // A NOP goes to decode; the wave is not chosen again before the line is there.
                self.breaks.misses += 1;
                q.until = line;
                q.excuse.miss = line + self.places;
                self.next_resume = self.next_resume.min(line);
                self.sides[slot.side].suspended |= 1 << slot.local;
            } else {
                entry.pc = q.pc;
                q.pc = fetch.next.get(q.pc as usize).copied().unwrap_or(NO_PC);
            }
        }
        q.entries.push_back(entry);
    }

    /// The wave goes on at `pc`: what is in the queue, also what was requested in this cycle, becomes NOPs.
    pub fn redirect(&mut self, slot: Seat, pc: Pc, now: u64) {
        self.breaks.redirects += 1;
        let q = &mut self.queues[slot.at];
        for entry in &mut q.entries {
            self.breaks.discarded += u64::from(entry.pc != NO_PC);
            entry.pc = NO_PC;
        }
        (q.pc, q.filled) = (pc, false);
        q.excuse.branch = now + self.places;
        self.sides[slot.side].suspended &= !(1 << slot.local);
    }

    /// A wave starts with a queue of NOPs.
    pub fn start(&mut self, slot: Seat, pc: Pc, now: u64) {
        let q = &mut self.queues[slot.at];
        q.entries.clear();
        q.entries.extend((0..self.places).map(|_| Entry { pc: NO_PC, arrives: now }));
        (q.pc, q.filled, q.until, q.excuse, q.pending) = (pc, false, 0, Excuse::default(), None);
        self.sides[slot.side].occupied |= 1 << slot.local;
        self.sides[slot.side].suspended &= !(1 << slot.local);
        self.sides[slot.side].pending &= !(1 << slot.local);
    }

    pub fn stop(&mut self, slot: Seat) {
        self.sides[slot.side].occupied &= !(1 << slot.local);
        self.sides[slot.side].suspended &= !(1 << slot.local);
        self.sides[slot.side].pending &= !(1 << slot.local);
        self.queues[slot.at].pending = None;
    }

    /// Every queue of a wave is full, and its head is there: nobody ever waits for an instruction.
    pub fn is_full(&self, now: u64) -> bool {
        let n = self.sides.len();
        self.sides.iter().enumerate().all(|(p, side)| {
            bits(side.occupied).all(|local| {
                let q = &self.queues[local as usize * n + p];
                q.entries.len() as u64 == self.places && q.entries.front().is_some_and(|e| e.arrives <= now)
            })
        })
    }
}
