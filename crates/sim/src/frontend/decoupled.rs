//! The ordinary GPU front end (SWAS sections IV-A and V-B) where jumps are known late, or a wave has few requests under way
//! (`frontend.resolution`, `unresolved`, `requests`): a fetch policy fills a small instruction queue per wave, independently of issue.
//! Branches are predicted not taken: instructions behind one are fetched, and a jump that goes elsewhere empties the queue and what is
//! under way. [`super::Queued`] is the usual case.

use super::fetch::{Breaks, Desk, Excuse, Fetch, Pending, Seat, Sides, fetch_view, jumps};
use crate::memory::{Times, is_known};
use crate::sched::{self, Policy, View};
use std::collections::VecDeque;
use wb_hw::{AfterMiss, Machine, Unresolved};
use wb_isa::lanes::bits;
use wb_isa::{NO_PC, Pc};

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

/// Cycles ahead that arrivals are sorted by; those that are further away are looked for.
const RING: usize = 64;

/// The slots of one partition, one bit each.
struct Side {
    policy: Box<dyn Policy>,
    /// It takes whoever is the only one that wants something.
    only: bool,
    /// The first cycle of [`Decoupled::clock`] that the policy has not been told of.
    since: u64,
    occupied: u64,
    /// Has room for another instruction.
    wants: u64,
    /// Has requests under way; and, by cycle modulo [`RING`], who may get something then (bits that are left over do no harm).
    coming: u64,
    arrivals: [u64; RING],
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
    /// By side, the slots that have an instruction to issue: schedulers look at them in every cycle.
    ready: Vec<u64>,
    /// Sides with a wave that wants an instruction, and those with requests under way: the others need not be looked at.
    wanting: Sides,
    expecting: Sides,
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
    /// Nothing of what is under way arrives before this cycle; and those that arrive in this one or earlier are delivered.
    next_arrival: u64,
    delivered_to: u64,
    /// Instructions arrived in the last tick: their waves may issue in the next cycle.
    delivered: bool,
    /// Sides that have something to issue which they had not when last asked.
    news: Sides,
    /// Seats that may wait for what arrives at a time that is not known yet.
    open: Vec<Seat>,
}

impl Decoupled {
    pub fn new(machine: &Machine, issuers: usize, fetch: u32) -> Self {
        let f = &machine.frontend;
        let seats = (machine.core.waves / machine.core.partitions) as usize;
        let side = |_| Side {
            policy: sched::policy(f.policy),
            only: sched::policy(f.policy).choice().takes_the_only_one(),
            since: 0,
            occupied: 0,
            wants: 0,
            coming: 0,
            arrivals: [0; RING],
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
            ready: vec![0; issuers],
            wanting: Sides::new(issuers),
            expecting: Sides::new(issuers),
            ports: f.ports.saturating_mul(fetch),
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
            delivered_to: 0,
            delivered: false,
            news: Sides::new(issuers),
            open: Vec::new(),
        }
    }

    /// Times that were unknown are known. Returns whether anything waited for them.
    pub fn tell(&mut self, times: &Times) -> bool {
        let open = std::mem::take(&mut self.open);
        for &slot in &open {
            let b = &mut self.buffers[slot.at];
            if !is_known(b.blocked) {
                b.blocked = times.of(b.blocked);
                self.next_unblock = self.next_unblock.min(b.blocked);
            }
            if b.coming.iter().all(|t| is_known(*t)) {
                continue;
            }
            // They arrive in order.
            let mut last = 0;
            for arrival in &mut b.coming {
                last = times.of(*arrival).max(last);
                *arrival = last;
            }
            for arrival in b.coming.iter().copied().collect::<Vec<u64>>() {
                self.expect(slot, arrival);
            }
        }
        !open.is_empty()
    }

    pub fn sides(&self) -> usize {
        self.sides.len()
    }

    /// Tells of each side that has got something to issue since it was asked last.
    #[inline]
    pub fn news(&mut self, mut tell: impl FnMut(usize)) {
        for word in 0..self.news.words() {
            self.news.take(word).for_each(&mut tell);
        }
    }

    #[inline(always)]
    pub fn has(&self, slot: Seat) -> bool {
        self.ready[slot.side] >> slot.local & 1 == 1
    }

    #[inline(always)]
    pub fn ready(&self, p: usize) -> u64 {
        self.ready[p]
    }

    /// The slots of partition `p` that have instructions of the wrong path to issue.
    #[inline(always)]
    pub fn wrong(&self, p: usize) -> u64 {
        self.sides[p].wrong
    }

    pub fn is_wrong(&self, slot: Seat) -> bool {
        self.sides[slot.side].wrong >> slot.local & 1 == 1
    }

    /// An instruction of the wrong path issues: its place is free, nothing else happens.
    pub fn drop_one(&mut self, slot: Seat) {
        let b = &mut self.buffers[slot.at];
        b.ready = b.ready.saturating_sub(1);
        self.breaks.discarded += 1;
        self.update(slot);
    }

    pub fn excuse(&self, slot: Seat) -> Excuse {
        self.buffers[slot.at].excuse
    }

    pub fn issued(&mut self, slot: Seat, pc: Pc, straight: bool, jump: bool, now: u64) {
        let b = &mut self.buffers[slot.at];
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

    /// The slot, which has nothing to issue, gets something in cycle `arrival`.
    #[inline]
    fn expect(&mut self, slot: Seat, arrival: u64) {
        let (side, bit) = (&mut self.sides[slot.side], 1 << slot.local);
        // What comes by the cycle that is delivered already is seen by the next tick.
        side.arrivals[arrival.max(self.delivered_to + 1) as usize % RING] |= bit;
        side.coming |= bit;
        self.expecting.set(slot.side, true);
        self.next_arrival = self.next_arrival.min(arrival);
    }

    /// The wave goes on at `pc`: what it has and what is under way was for nothing.
    fn redirect(&mut self, slot: Seat, pc: Pc) {
        let b = &mut self.buffers[slot.at];
        self.breaks.discarded += u64::from(b.ready) + b.coming.len() as u64;
        self.breaks.redirects += 1;
        b.ready = 0;
        b.coming.clear();
        (b.pc, b.blocked, b.stalled) = (pc, 0, false);
    }

    /// The path goes on at `pc` after it has waited behind a branch.
    pub fn turn(&mut self, slot: Seat, pc: Pc, now: u64) {
        self.buffers[slot.at].excuse.branch = now + self.hit + self.latency;
        self.redirect(slot, pc);
        self.update(slot);
    }

    /// Jumps that are known by cycle `now`.
    fn resolve(&mut self, now: u64) {
        self.next_known = u64::MAX;
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].pending) {
                let slot = Seat::new(p, local as usize, n);
                let Some(Pending { known, target }) = self.buffers[slot.at].pending else { continue };
                if known > now {
                    self.next_known = self.next_known.min(known);
                    continue;
                }
                self.buffers[slot.at].pending = None;
                self.buffers[slot.at].stalled = false;
                match target {
                    Some(pc) => self.redirect(slot, pc),
                    // What waits in the queue may issue in the next cycle.
                    None => self.delivered = true,
                }
                self.update(slot);
            }
        }
    }

    pub fn start(&mut self, slot: Seat, pc: Pc, now: u64) {
        // The first instruction of a wave takes as long as one behind a jump.
        let excuse = Excuse { branch: now + self.hit + self.latency, ..Excuse::default() };
        self.buffers[slot.at] = Buffer { pc, excuse, ..Buffer::default() };
        let side = &mut self.sides[slot.side];
        side.catch_up(self.clock);
        side.occupied |= 1 << slot.local;
        side.requested[slot.local] = 0;
        self.update(slot);
    }

    pub fn stop(&mut self, slot: Seat) {
        self.buffers[slot.at] = Buffer::default();
        let side = &mut self.sides[slot.side];
        side.catch_up(self.clock);
        side.occupied &= !(1 << slot.local);
        self.update(slot);
    }

    /// Keeps the bits that say whether the slot wants an instruction, has one, and waits for some.
    fn update(&mut self, slot: Seat) {
        let (side, bit) = (&mut self.sides[slot.side], 1 << slot.local);
        let b = &self.buffers[slot.at];
        let queued = b.ready + b.coming.len() as u32;
        side.queued[slot.local] = queued;
        let room = queued < self.capacity && b.blocked == 0 && !b.stalled && b.coming.len() < self.requests;
        let set = |mask: u64, on: bool| if on { mask | bit } else { mask & !bit };
        side.wants = set(side.wants, side.occupied & bit != 0 && b.pc != NO_PC && room);
        side.blocked = set(side.blocked, b.blocked != 0);
        // Behind the end of the program nothing comes: what issues there is the error.
        let lost = side.occupied & bit != 0 && b.pc == NO_PC && queued == 0;
        let held = b.pending.is_some() && self.unresolved != Unresolved::GoOn;
        let ready = &mut self.ready[slot.side];
        let before = (*ready, side.wrong);
        *ready = set(*ready, (b.ready > 0 || lost) && !held);
        side.pending = set(side.pending, b.pending.is_some());
        let wrong = b.pending.is_some_and(|p| p.target.is_some()) && !held;
        side.wrong = set(side.wrong, wrong && b.ready > 0);
        if before != (*ready, side.wrong) {
            self.news.set(slot.side, true);
        }
        side.coming = set(side.coming, !b.coming.is_empty());
        self.wanting.set(slot.side, side.wants != 0);
        self.expecting.set(slot.side, side.coming != 0);
    }

    /// Delivered by the end of cycle `now`: usable in the next one.
    fn deliver(&mut self, now: u64) {
        self.delivered = false;
        let (from, to) = (self.delivered_to + 1, now + 1);
        self.delivered_to = to;
        if self.next_arrival > to {
            return;
        }
        let n = self.sides.len();
        let far = to.saturating_sub(from) >= RING as u64;
        for word in 0..self.expecting.words() {
            for p in self.expecting.of(word) {
                let side = &mut self.sides[p];
                let mut due = 0;
                if far {
                    due = side.coming;
                } else {
                    for cycle in from..=to {
                        due |= std::mem::take(&mut side.arrivals[cycle as usize % RING]);
                    }
                }
                for local in bits(due & side.coming) {
                    self.arrive(Seat::new(p, local as usize, n), to);
                }
            }
        }
        // What has arrived is not under way any more: its wave may request again.
        if self.delivered && self.requests != usize::MAX {
            let seats = self.buffers.len() / n;
            for side in 0..n {
                (0..seats).for_each(|local| self.update(Seat::new(side, local, n)));
            }
        }
    }

    /// What arrives at a seat by cycle `to`.
    #[inline]
    fn arrive(&mut self, slot: Seat, to: u64) {
        let (b, side) = (&mut self.buffers[slot.at], &mut self.sides[slot.side]);
        while b.coming.front().is_some_and(|&t| t <= to) {
            b.coming.pop_front();
            b.ready += 1;
            self.delivered = true;
            if self.ready[slot.side] >> slot.local & 1 == 0 || b.pending.is_some() {
                self.news.set(slot.side, true);
            }
            match (b.pending, self.unresolved) {
                (None, _) => self.ready[slot.side] |= 1 << slot.local,
                (Some(p), Unresolved::GoOn) => {
                    self.ready[slot.side] |= 1 << slot.local;
                    side.wrong |= u64::from(p.target.is_some()) << slot.local;
                }
                (Some(_), Unresolved::Wait | Unresolved::Stall) => {}
            }
        }
        match b.coming.front() {
            // Further away than the ring reaches: it comes up once more when the ring has gone round.
            Some(&t) => side.arrivals[t as usize % RING] |= 1 << slot.local,
            None => {
                side.coming &= !(1 << slot.local);
                self.expecting.set(slot.side, side.coming != 0);
            }
        }
    }

    /// The first arrival of anything under way.
    fn first_arrival(&self) -> u64 {
        let n = self.sides.len();
        let sides = (0..self.expecting.words()).flat_map(|word| self.expecting.of(word));
        let seats = sides.flat_map(|p| bits(self.sides[p].coming).map(move |local| local as usize * n + p));
        seats.filter_map(|at| self.buffers[at].coming.front().copied()).min().unwrap_or(u64::MAX)
    }

    /// Waves whose line is there by cycle `now` may request again.
    fn unblock(&mut self, now: u64) {
        self.next_unblock = u64::MAX;
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].blocked) {
                let slot = Seat::new(p, local as usize, n);
                if self.buffers[slot.at].blocked <= now {
                    self.buffers[slot.at].blocked = 0;
                    self.update(slot);
                } else {
                    self.next_unblock = self.next_unblock.min(self.buffers[slot.at].blocked);
                }
            }
        }
    }

    pub fn tick(&mut self, now: u64, desk: &mut impl Desk, fetch: &mut Fetch<impl Fn(Pc) -> u64>) {
        self.deliver(now);
        if self.next_known <= now {
            self.resolve(now);
        }
        if self.next_unblock <= now {
            self.unblock(now);
        }
        for word in 0..self.wanting.words() {
            for p in self.wanting.of(word) {
                self.request(p, now, desk.ages(p).list(), fetch);
            }
        }
        self.clock += 1;
    }

    /// Requests instructions for the waves of side `p`, as many as there are ports.
    #[inline]
    fn request(&mut self, p: usize, now: u64, age: &[u64], fetch: &mut Fetch<impl Fn(Pc) -> u64>) {
        self.sides[p].catch_up(self.clock);
        self.sides[p].since = self.clock + 1;
        for _ in 0..self.ports {
            if !self.request_one(p, now, age, fetch) {
                break;
            }
        }
        self.wanting.set(p, self.sides[p].wants != 0);
    }

    /// Requests an instruction for a wave of side `p`; false if none wants one. Not inlined: what it needs would be made ready before
    /// the loop over ports, of which there mostly is one.
    #[inline(never)]
    fn request_one(
        &mut self,
        p: usize,
        now: u64,
        age: &[u64],
        fetch: &mut Fetch<impl Fn(Pc) -> u64>,
    ) -> bool {
        let sides = self.sides.len();
        let side = &mut self.sides[p];
        let local = if side.only && side.wants.is_power_of_two() {
            side.wants.trailing_zeros()
        } else {
            let view = View {
                queued: &side.queued,
                progress: &side.requested,
                ..fetch_view(side.wants, side.occupied, age, age.len() as u32)
            };
            let Some(local) = side.policy.pick(&view) else { return false };
            local
        };
        side.requested[local as usize] += 1;
        let slot = Seat::new(p, local as usize, sides);
        let b = &mut self.buffers[slot.at];
        let there = fetch.memory.fetch(fetch.core, (fetch.addr)(b.pc), now);
        let arrival = there.max(now) + self.latency;
        let before = b.coming.back().copied().unwrap_or(0);
        let arrival = if is_known(before) && is_known(arrival) { arrival.max(before) } else { arrival };
        b.coming.push_back(arrival);
        if !is_known(there) {
            self.open.push(slot);
        }
        // The cache tells a miss one cycle after the request: from then on the wave may have to wait.
        let line = there.saturating_sub(self.hit);
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
        self.expect(slot, arrival);
        self.update(slot);
        true
    }

    /// Cycles pass in which nobody wants anything.
    pub fn pass(&mut self, cycles: u64) {
        self.clock += cycles;
    }

    /// The next cycle at which it does something by itself.
    pub fn next_event(&mut self, now: u64) -> u64 {
        if self.delivered || !self.wanting.is_empty() {
            return now + 1;
        }
        if self.next_arrival <= now + 1 {
            self.next_arrival = self.first_arrival();
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
