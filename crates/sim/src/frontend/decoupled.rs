//! The ordinary GPU front end (SWAS sections IV-A and V-B): a fetch policy fills a small instruction queue per wave,
//! independently of issue. Branches are predicted not taken: instructions behind one are fetched, and a jump that goes
//! elsewhere empties the queue and what is under way.

use super::fetch::{Breaks, Excuse, Fetch, Pending, fetch_view, jumps};
use crate::sched::{self, Policy, View};
use std::collections::VecDeque;
use wb_hw::{AfterMiss, Machine, Unresolved};
use wb_isa::lanes::bits;
use wb_isa::{NO_PC, Pc};
use wb_trace::PortKind;

#[derive(Clone, Debug, Default)]
struct Buffer {
    /// Instructions decoded and waiting.
    ready: u32,
    /// Arrival cycles of requests under way, in order.
    coming: VecDeque<u64>,
    /// Next pc to request.
    pc: Pc,
    /// Its last request missed; it requests nothing before this cycle.
    blocked: u64,
    /// A jump that is not known yet, and whether one has been requested behind which nothing is.
    pending: Option<Pending>,
    stalled: bool,
    excuse: Excuse,
}

/// The slots of one partition, one bit each.
struct Side {
    policy: Box<dyn Policy>,
    /// The first cycle of [`Decoupled::clock`] that the policy has not been told of.
    since: u64,
    occupied: u64,
    /// Has room for another instruction.
    wants: u64,
    /// Has an instruction to issue.
    ready: u64,
    /// Has requests under way.
    coming: u64,
    /// Waits for a line before it requests again.
    blocked: u64,
    /// Has a jump that is not known yet; and what it has to issue is on the wrong path.
    pending: u64,
    wrong: u64,
    /// Instructions fetched or under way.
    queued: Vec<u32>,
    /// Instructions requested since the wave started.
    requested: Vec<u32>,
}

impl Side {
    /// Tells the policy of the cycles before `clock` in which nobody wanted anything.
    #[inline]
    fn catch_up(&mut self, clock: u64) {
        if self.since < clock {
            let slots = self.queued.len() as u32;
            self.policy.idle(&fetch_view(0, self.occupied, &[], slots), clock - self.since);
            self.since = clock;
        }
    }
}

pub struct Decoupled {
    /// Cycles in which the core had waves.
    clock: u64,
    buffers: Vec<Buffer>,
    sides: Vec<Side>,
    ports: u32,
    capacity: u32,
    latency: u64,
    /// Cycles the instruction cache adds on a hit.
    hit: u64,
    /// A wave that missed waits.
    wait: bool,
    /// Requests a wave can have under way.
    requests: usize,
    /// Cycles until a jump is known, and what the wave does meanwhile.
    resolution: u64,
    unresolved: Unresolved,
    /// Earliest cycle in which a jump is known.
    next_known: u64,
    /// Earliest cycle at which a wave that missed requests again.
    next_unblock: u64,
    pub breaks: Breaks,
    /// Earliest arrival of anything under way.
    next_arrival: u64,
    /// Instructions arrived in the last tick: their waves may issue in the next cycle.
    delivered: bool,
}

impl Decoupled {
    pub fn new(machine: &Machine, issuers: usize) -> Self {
        let f = &machine.frontend;
        let seats = (machine.core.waves / machine.core.partitions) as usize;
        let side = |_| Side {
            policy: sched::policy(f.policy),
            since: 0,
            occupied: 0,
            wants: 0,
            ready: 0,
            coming: 0,
            blocked: 0,
            pending: 0,
            wrong: 0,
            queued: vec![0; seats],
            requested: vec![0; seats],
        };
        let latency = (u64::from(f.fetch_latency) + u64::from(f.decode_latency)).max(1);
        Decoupled {
            clock: 0,
            buffers: vec![Buffer::default(); seats * issuers],
            sides: (0..issuers).map(side).collect(),
            ports: f.ports,
            capacity: f.buffer,
            latency,
            hit: machine.instruction_hit(),
            wait: f.after_miss == AfterMiss::Wait,
            requests: if f.requests == 0 { usize::MAX } else { f.requests as usize },
            resolution: f.resolution.into(),
            unresolved: f.unresolved,
            next_known: u64::MAX,
            next_unblock: u64::MAX,
            breaks: Breaks::default(),
            next_arrival: u64::MAX,
            delivered: false,
        }
    }

    #[inline(always)]
    pub fn has(&self, slot: usize) -> bool {
        let n = self.sides.len();
        self.sides[slot % n].ready >> (slot / n) & 1 == 1
    }

    #[inline(always)]
    pub fn ready(&self, p: usize) -> u64 {
        self.sides[p].ready
    }

    /// The slots of partition `p` that have instructions of the wrong path to issue.
    #[inline(always)]
    pub fn wrong(&self, p: usize) -> u64 {
        self.sides[p].wrong
    }

    pub fn is_wrong(&self, slot: usize) -> bool {
        let n = self.sides.len();
        self.sides[slot % n].wrong >> (slot / n) & 1 == 1
    }

    /// An instruction of the wrong path issues: its place is free, nothing else happens.
    pub fn drop_one(&mut self, slot: usize) {
        let b = &mut self.buffers[slot];
        b.ready = b.ready.saturating_sub(1);
        self.breaks.discarded += 1;
        self.update(slot);
    }

    pub fn excuse(&self, slot: usize) -> Excuse {
        self.buffers[slot].excuse
    }

    pub fn issued(&mut self, slot: usize, pc: Pc, straight: bool, jump: bool, now: u64) {
        let b = &mut self.buffers[slot];
        b.ready = b.ready.saturating_sub(1);
        let waits = jump && self.unresolved != Unresolved::GoOn;
        if self.resolution > 0 && (!straight || waits) {
            let known = now + self.resolution;
            b.pending = Some(Pending { known, target: (!straight).then_some(pc) });
            b.excuse.branch = known + if straight { 1 } else { self.hit + self.latency };
            self.next_known = self.next_known.min(known);
        } else if !straight {
            b.excuse.branch = now + self.hit + self.latency;
            self.redirect(slot, pc);
        } else if jump {
            b.stalled = false;
        }
        self.update(slot);
    }

    /// The wave goes on at `pc`: what it has and what is under way was for nothing.
    fn redirect(&mut self, slot: usize, pc: Pc) {
        let b = &mut self.buffers[slot];
        self.breaks.discarded += u64::from(b.ready) + b.coming.len() as u64;
        self.breaks.redirects += 1;
        b.ready = 0;
        b.coming.clear();
        (b.pc, b.blocked, b.stalled) = (pc, 0, false);
    }

    /// Jumps that are known by cycle `now`.
    fn resolve(&mut self, now: u64) {
        self.next_known = u64::MAX;
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].pending) {
                let slot = local as usize * n + p;
                let Some(Pending { known, target }) = self.buffers[slot].pending else { continue };
                if known > now {
                    self.next_known = self.next_known.min(known);
                    continue;
                }
                self.buffers[slot].pending = None;
                self.buffers[slot].stalled = false;
                match target {
                    Some(pc) => self.redirect(slot, pc),
                    // What waits in the queue may issue in the next cycle.
                    None => self.delivered = true,
                }
                self.update(slot);
            }
        }
    }

    pub fn start(&mut self, slot: usize, pc: Pc, now: u64) {
        // The first instruction of a wave takes as long as one behind a jump.
        let excuse = Excuse { branch: now + self.hit + self.latency, ..Excuse::default() };
        self.buffers[slot] = Buffer { pc, excuse, ..Buffer::default() };
        let n = self.sides.len();
        let side = &mut self.sides[slot % n];
        side.catch_up(self.clock);
        side.occupied |= 1 << (slot / n);
        side.requested[slot / n] = 0;
        self.update(slot);
    }

    pub fn stop(&mut self, slot: usize) {
        self.buffers[slot] = Buffer::default();
        let n = self.sides.len();
        let side = &mut self.sides[slot % n];
        side.catch_up(self.clock);
        side.occupied &= !(1 << (slot / n));
        self.update(slot);
    }

    /// Keeps the bits that say whether the slot wants an instruction, has one, and waits for some.
    fn update(&mut self, slot: usize) {
        let n = self.sides.len();
        let (side, bit) = (&mut self.sides[slot % n], 1 << (slot / n));
        let b = &self.buffers[slot];
        let queued = b.ready + b.coming.len() as u32;
        side.queued[slot / n] = queued;
        let room = queued < self.capacity && b.blocked == 0 && !b.stalled && b.coming.len() < self.requests;
        let set = |mask: u64, on: bool| if on { mask | bit } else { mask & !bit };
        side.wants = set(side.wants, side.occupied & bit != 0 && b.pc != NO_PC && room);
        side.blocked = set(side.blocked, b.blocked != 0);
        // Behind the end of the program nothing comes: what issues there is the error.
        let lost = side.occupied & bit != 0 && b.pc == NO_PC && queued == 0;
        let held = b.pending.is_some() && self.unresolved != Unresolved::GoOn;
        side.ready = set(side.ready, (b.ready > 0 || lost) && !held);
        side.pending = set(side.pending, b.pending.is_some());
        let wrong = b.pending.is_some_and(|p| p.target.is_some()) && !held;
        side.wrong = set(side.wrong, wrong && b.ready > 0);
        side.coming = set(side.coming, !b.coming.is_empty());
    }

    /// Delivered by the end of cycle `now`: usable in the next one.
    fn deliver(&mut self, now: u64) {
        self.delivered = false;
        if self.next_arrival > now + 1 {
            return;
        }
        self.next_arrival = u64::MAX;
        let n = self.sides.len();
        for (p, side) in self.sides.iter_mut().enumerate() {
            for local in bits(side.coming) {
                let b = &mut self.buffers[local as usize * n + p];
                while b.coming.front().is_some_and(|&t| t <= now + 1) {
                    b.coming.pop_front();
                    b.ready += 1;
                    self.delivered = true;
                    match (b.pending, self.unresolved) {
                        (None, _) => side.ready |= 1 << local,
                        (Some(p), Unresolved::GoOn) => {
                            side.ready |= 1 << local;
                            side.wrong |= u64::from(p.target.is_some()) << local;
                        }
                        (Some(_), Unresolved::Wait | Unresolved::Stall) => {}
                    }
                }
                match b.coming.front() {
                    Some(&t) => self.next_arrival = self.next_arrival.min(t),
                    None => side.coming &= !(1 << local),
                }
            }
        }
        // What has arrived is not under way any more: its wave may request again.
        if self.delivered && self.requests != usize::MAX {
            (0..self.buffers.len()).for_each(|slot| self.update(slot));
        }
    }

    /// Waves whose line is there by cycle `now` may request again.
    fn unblock(&mut self, now: u64) {
        self.next_unblock = u64::MAX;
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].blocked) {
                let slot = local as usize * n + p;
                if self.buffers[slot].blocked <= now {
                    self.buffers[slot].blocked = 0;
                    self.update(slot);
                } else {
                    self.next_unblock = self.next_unblock.min(self.buffers[slot].blocked);
                }
            }
        }
    }

    pub fn tick<'a>(&mut self, now: u64, ages: impl Fn(usize) -> &'a [u64], fetch: &mut Fetch) {
        self.deliver(now);
        if self.next_known <= now {
            self.resolve(now);
        }
        if self.next_unblock <= now {
            self.unblock(now);
        }
        let n = self.sides.len();
        for p in 0..n {
            if self.sides[p].wants == 0 {
                continue;
            }
            self.sides[p].catch_up(self.clock);
            self.sides[p].since = self.clock + 1;
            for _ in 0..self.ports {
                let side = &mut self.sides[p];
                let age = ages(p);
                let view = View {
                    queued: &side.queued,
                    progress: &side.requested,
                    ..fetch_view(side.wants, side.occupied, age, age.len() as u32)
                };
                let Some(local) = side.policy.pick(&view) else { break };
                side.requested[local as usize] += 1;
                let slot = local as usize * n + p;
                let b = &mut self.buffers[slot];
                let line = std::iter::once((fetch.addr)(b.pc));
                let request = fetch.memory.access(PortKind::Fetch, fetch.core, line, false, now);
                let arrival = request.done.max(now) + self.latency;
                let arrival = arrival.max(b.coming.back().copied().unwrap_or(0));
                b.coming.push_back(arrival);
                // The cache tells a miss one cycle after the request: from then on the wave may have to wait.
                let line = request.done.saturating_sub(self.hit);
                if line > now {
                    self.breaks.misses += 1;
                    b.excuse.miss = line + self.hit + self.latency;
                    if self.wait {
                        b.blocked = line;
                        self.next_unblock = self.next_unblock.min(line);
                    }
                }
                if self.unresolved == Unresolved::Stall {
                    b.stalled = fetch.kind.get(b.pc as usize).is_some_and(jumps);
                }
                b.pc = fetch.next.get(b.pc as usize).copied().unwrap_or(NO_PC);
                self.next_arrival = self.next_arrival.min(arrival);
                self.update(slot);
            }
        }
        self.clock += 1;
    }

    /// Cycles pass in which nobody wants anything.
    pub fn pass(&mut self, cycles: u64) {
        self.clock += cycles;
    }

    pub fn next_event(&self, now: u64) -> u64 {
        if self.delivered || self.sides.iter().any(|s| s.wants != 0) {
            return now + 1;
        }
        // A delivery at t is seen by the tick of cycle t - 1.
        let arrival = match self.next_arrival {
            u64::MAX => u64::MAX,
            t => (t - 1).max(now + 1),
        };
        // A wave without room needs nothing, but a stale entry costs only a cycle that is looked at.
        arrival.min(self.next_unblock.max(now + 1)).min(self.next_known.max(now + 1))
    }
}
