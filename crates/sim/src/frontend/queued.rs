//! The ordinary GPU front end (SWAS sections IV-A and V-B) as it mostly is: jumps are known when they issue, and a wave has as many
//! requests under way as its queue has room for. A fetch policy fills the queues, independently of issue; a jump that goes elsewhere
//! empties the queue and what is under way. Where jumps are known late or requests are limited, [`super::Decoupled`] does it.
//!
//! When an instruction arrives is known when it is requested. So nothing is followed: whoever issues is told when its next
//! instruction is there, and a wave that has none is told when its request is made.
//!
//! Where fetches may go in any order ([`Queued::put_off`]), requests of lines that are at hand are put off: one in every cycle, for
//! waves that have something to issue meanwhile. They are made up for when something happens to one of the waves of their side.

use super::code::Code;
use super::fetch::{Breaks, Desk, Excuse, Fetch, NEVER, Seat, Sides, fetch_view};
use crate::memory::{Times, is_known};
use crate::sched::{self, Ages, Choice, Policy, View, next_behind};
use wb_hw::{AfterMiss, Machine, Policy as PolicyName};
use wb_isa::lanes::bits;
use wb_isa::{NO_PC, Pc};

/// What is fetched for one wave. In this order: the first line of the host's cache has what short queues need.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Queue {
    /// Next pc to request.
    pc: Pc,
    /// Number of its first instruction, whose place is in [`Queue::times`], and how many are fetched or under way.
    first: u32,
    queued: u32,
    /// It is full, and each of its instructions is there before it can issue: none of the times matters, and none is kept.
    steady: bool,
    /// Its last request missed; it requests nothing before this cycle.
    blocked: u64,
    /// A ring of as many as the queue has room for, or more: when each instruction that is fetched or under way arrives.
    times: [u64; Queued::MOST],
    excuse: Excuse,
}

const IDLE: Queue = Queue {
    pc: 0,
    first: 0,
    queued: 0,
    steady: false,
    blocked: 0,
    excuse: Excuse { miss: 0, branch: 0 },
    times: [0; Queued::MOST],
};

impl Queue {
    /// An instruction is requested that arrives at `arrival`, but not before those in front of it.
    #[inline(always)]
    fn enter(&mut self, mut arrival: u64, ring: usize) {
        let queued = self.queued;
        if queued > 0 {
            let before = *self.time(queued - 1, ring);
            arrival = if is_known(before) && is_known(arrival) { arrival.max(before) } else { arrival };
        }
        *self.time(queued, ring) = arrival;
        self.queued = queued + 1;
    }

    /// The same of one in each cycle from `cycle` on until `end` or the end of the program, all at hand: each arrives after `through` cycles.
    /// Returns the cycle after the last one.
    #[inline(always)]
    fn enter_from(&mut self, mut cycle: u64, end: u64, through: u64, ring: usize, code: &Code) -> u64 {
        let mut before = if self.queued > 0 { *self.time(self.queued - 1, ring) } else { 0 };
        while cycle < end && self.pc != NO_PC {
            before = if is_known(before) { before.max(cycle + through) } else { cycle + through };
            *self.time(self.queued, ring) = before;
            self.queued += 1;
            self.pc = code.next(self.pc);
            cycle += 1;
        }
        cycle
    }

    /// When its instruction `number` arrives.
    #[inline(always)]
    fn time(&mut self, number: u32, ring: usize) -> &mut u64 {
        &mut self.times[self.first.wrapping_add(number) as usize & ring & (Queued::MOST - 1)]
    }
}

/// Who requests next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Oldest,
    /// Loose round robin: the next one behind this slot.
    Behind(u32),
    /// Whom the policy picks.
    Picked(Choice),
}

/// The slots of one partition, one bit each.
struct Side {
    /// The first cycle whose request has been put off; [`NEVER`]: none is, and the end of each cycle makes them.
    put_off: u64,
    order: Order,
    policy: Box<dyn Policy>,
    /// The first cycle of [`Queued::clock`] that the policy has not been told of.
    since: u64,
    occupied: u64,
    /// Has room for another instruction.
    wants: u64,
    /// Waits for a line before it requests again.
    blocked: u64,
    queues: Vec<Queue>,
    /// For policies that are asked: instructions fetched or under way, and requested since the wave started.
    queued: Vec<u32>,
    requested: Vec<u32>,
}

impl Side {
    /// Keeps what a policy sees, if one is asked.
    #[inline(always)]
    fn show(&mut self, local: usize, requested: u32) {
        if let Order::Picked(_) = self.order {
            self.queued[local] = self.queues[local].queued;
            self.requested[local] += requested;
        }
    }

    /// The policy has to be told of every cycle.
    #[inline(always)]
    fn is_asked(&self) -> bool {
        self.order == Order::Picked(Choice::Asked)
    }

    /// Tells the policy of the cycles before `clock` in which nobody wanted anything.
    #[inline(always)]
    fn catch_up(&mut self, clock: u64) {
        if self.is_asked() && self.since < clock {
            let slots = self.queues.len() as u32;
            self.policy.idle(&fetch_view(0, self.occupied, &[], slots), clock - self.since);
            self.since = clock;
        }
    }

    /// The slot that requests an instruction now.
    #[inline(always)]
    fn pick(&mut self, ages: &Ages) -> Option<u32> {
        match &mut self.order {
            Order::Oldest => return ages.oldest(self.wants),
            Order::Behind(last) => {
                *last = next_behind(self.wants, *last)?;
                return Some(*last);
            }
            Order::Picked(Choice::AmongSeveral) if self.wants.is_power_of_two() => {
                return Some(self.wants.trailing_zeros());
            }
            Order::Picked(_) => {}
        }
        let age = ages.list();
        let view = View {
            queued: &self.queued,
            progress: &self.requested,
            ..fetch_view(self.wants, self.occupied, age, age.len() as u32)
        };
        self.policy.pick(&view)
    }
}

pub struct Queued {
    /// Cycles in which the core had waves.
    clock: u64,
    sides: Vec<Side>,
    /// Sides with a wave that wants an instruction.
    wanting: Sides,
    seats: usize,
    ports: u32,
    capacity: u32,
    /// The last place of the rings.
    ring: usize,
    latency: u64,
    /// Cycles the instruction cache adds on a hit.
    hit: u64,
    /// Both together: an instruction at hand arrives so long after its request.
    through: u64,
    /// A wave that missed waits.
    wait: bool,
    /// Earliest cycle at which a wave that missed requests again.
    next_unblock: u64,
    pub breaks: Breaks,
    /// Seats with something under way that arrives at a time which is not known yet.
    open: Vec<Seat>,
    /// The program, where requests can be made at once; and whether they can be put off.
    code: Option<Code>,
    puts_off: bool,
}

impl Queued {
    /// Places that the queue of a wave can have.
    pub const MOST: usize = 16;

    pub fn new(machine: &Machine, issuers: usize, fetch: u32) -> Self {
        let f = &machine.frontend;
        let side = |_| {
            let policy = sched::policy(f.policy);
            let order = match policy.choice() {
                Choice::Oldest => Order::Oldest,
                _ if f.policy == PolicyName::LooseRoundRobin => Order::Behind(63),
                choice => Order::Picked(choice),
            };
            Side {
                put_off: NEVER,
                order,
                policy,
                since: 0,
                occupied: 0,
                wants: 0,
                blocked: 0,
                queues: Vec::new(),
                queued: Vec::new(),
                requested: Vec::new(),
            }
        };
        let latency = (u64::from(f.fetch_latency) + u64::from(f.decode_latency)).max(1);
        let hit = machine.instruction_hit();
        Queued {
            clock: 0,
            sides: (0..issuers).map(side).collect(),
            wanting: Sides::new(issuers),
            seats: (machine.core.waves / machine.core.partitions) as usize,
            ports: f.ports.saturating_mul(fetch),
            capacity: f.buffer,
            ring: (f.buffer as usize).next_power_of_two() - 1,
            latency,
            hit,
            through: hit + latency,
            wait: f.after_miss == AfterMiss::Wait,
            next_unblock: u64::MAX,
            breaks: Breaks::default(),
            open: Vec::new(),
            code: None,
            puts_off: false,
        }
    }

    /// Fetches may go in any order, and a side issues one instruction a cycle, the last that happens to it in that cycle: requests may
    /// be made at once, and put off if the oldest wave goes first and one is made in a cycle.
    pub fn put_off(&mut self, code: Code) {
        self.puts_off = self.ports == 1 && self.sides.iter().all(|side| side.order == Order::Oldest);
        self.code = Some(code);
    }

    /// Makes up for the requests of side `p` that were put off before cycle `to`.
    #[inline(always)]
    pub fn make_up(&mut self, p: usize, to: u64, ages: &Ages) {
        if self.sides[p].put_off < to {
            self.make_requests(p, to, ages);
        }
    }

    #[inline(never)]
    fn make_requests(&mut self, p: usize, to: u64, ages: &Ages) {
        let Some(code) = &self.code else { return };
        let side = &mut self.sides[p];
        let mut cycle = side.put_off;
        while cycle < to {
            let Some(local) = ages.oldest(side.wants) else { break };
            let Some(queue) = side.queues.get_mut(local as usize) else { break };
            // The oldest one requests until its queue is full.
            let end = to.min(cycle + u64::from(self.capacity - queue.queued));
            cycle = queue.enter_from(cycle, end, self.through, self.ring, code);
            if queue.queued >= self.capacity || queue.pc == NO_PC {
                side.wants &= !(1 << local);
            }
        }
        side.put_off = if side.wants == 0 { NEVER } else { cycle };
    }

    /// The requests of a side from cycle `from` on are put off, if they can be: they are of lines at hand, and each of its waves has
    /// something to issue. `new`: those of its waves of which that has to be found out.
    #[inline(always)]
    fn try_to_put_off(&mut self, p: usize, from: u64, new: u64) {
        let side = &mut self.sides[p];
        let put_off = side.wants != 0
            && side.blocked == 0
            && self.code.as_mut().is_some_and(|code| {
                bits(new & side.wants).all(|local| {
                    let queue = &side.queues[local as usize];
                    queue.queued > 0
                        && code.are_at_hand(queue.pc, self.capacity - queue.queued, self.capacity)
                })
            });
        side.put_off = if put_off { from } else { NEVER };
        self.wanting.set(p, side.wants != 0 && !put_off);
    }

    /// Whether the end of cycle `now` has something to do.
    #[inline(always)]
    pub fn has_to_act(&self, now: u64) -> bool {
        !self.wanting.is_empty() || self.next_unblock <= now
    }

    pub fn excuse(&self, slot: Seat) -> Excuse {
        self.sides[slot.side].queues.get(slot.local).map_or(IDLE.excuse, |q| q.excuse)
    }

    /// The slot issued its instruction and goes on at `pc`; `straight` if that is the next one in memory. Returns when the next
    /// instruction is there, as far as that is known.
    #[inline(always)]
    pub fn issued(&mut self, slot: Seat, pc: Pc, straight: bool, now: u64, ages: &Ages) -> u64 {
        self.make_up(slot.side, now, ages);
        self.issued_now(slot, pc, straight, now, ages)
    }

    #[inline(always)]
    fn issued_now(&mut self, slot: Seat, pc: Pc, straight: bool, now: u64, ages: &Ages) -> u64 {
        let side = &mut self.sides[slot.side];
        let queue = &mut side.queues[slot.local];
        // What times were kept when it became full is past long ago, whichever instructions they were of.
        queue.steady = false;
        if queue.queued > 0 {
            queue.queued -= 1;
            queue.first = queue.first.wrapping_add(1);
        }
        if !straight {
            return self.turn(slot, pc, now, ages);
        }
        let there = if queue.queued == 0 { awaited(queue.pc) } else { *queue.time(0, self.ring) };
        let bit = 1 << slot.local;
        if queue.pc != NO_PC && queue.blocked == 0 {
            // Those that wanted something before either had their requests put off or not.
            let put_off = side.put_off != NEVER || side.wants == 0;
            side.wants |= bit;
            if put_off && self.puts_off {
                self.try_to_put_off(slot.side, now, bit);
            } else {
                self.wanting.set(slot.side, true);
            }
        }
        self.sides[slot.side].show(slot.local, 0);
        there
    }

    /// [`Queued::issued`], and at once what the end of the cycle would do, if that is to fill the queue of this wave with one request that is
    /// at hand, because nobody else of its side wants anything. `told`: the end of the cycle has something to do.
    #[inline(always)]
    pub fn goes_on(
        &mut self,
        slot: Seat,
        pc: Pc,
        straight: bool,
        now: u64,
        ages: &Ages,
        told: &mut bool,
    ) -> u64 {
        self.make_up(slot.side, now, ages);
        if straight && let Some(there) = self.goes_on_at_once(slot, now) {
            return there;
        }
        let there = self.issued_now(slot, pc, straight, now, ages);
        *told |= self.has_to_act(now);
        there
    }

    /// None: nothing was done.
    #[inline(always)]
    fn goes_on_at_once(&mut self, slot: Seat, now: u64) -> Option<u64> {
        let code = self.code.as_ref()?;
        let side = self.sides.get_mut(slot.side)?;
        let queue = side.queues.get_mut(slot.local)?;
        // Beyond the end of the program there is nothing to fetch.
        if side.wants | side.blocked != 0 || queue.queued != self.capacity {
            return None;
        }
        let next = code.next_at_hand(queue.pc)?;
        match &mut side.order {
            Order::Oldest => {}
            Order::Behind(last) => *last = slot.local as u32,
            Order::Picked(_) => return None,
        }
        queue.pc = next;
        if queue.steady {
            return Some(0);
        }
        queue.first = queue.first.wrapping_add(1);
        let mut arrival = now + self.through;
        if self.capacity == 1 {
            // What is requested in this cycle is seen two cycles later at the soonest.
            *queue.time(0, self.ring) = arrival;
            return Some(arrival.max(now + 2));
        }
        // They arrive in order.
        let before = *queue.time(self.capacity - 2, self.ring);
        arrival = if is_known(before) { arrival.max(before) } else { arrival };
        *queue.time(self.capacity - 1, self.ring) = arrival;
        // Instruction k of the queue issues k cycles after the first one at the soonest, and so does what is requested from now on.
        queue.steady = before <= now + 1 && self.through <= u64::from(self.capacity);
        Some(*queue.time(0, self.ring))
    }

    /// The wave goes on at `pc`: what it has and what is under way was for nothing. Returns when its next instruction is there.
    pub fn turn(&mut self, slot: Seat, pc: Pc, now: u64, ages: &Ages) -> u64 {
        self.make_up(slot.side, now, ages);
        let put_off = self.sides[slot.side].put_off != NEVER || self.sides[slot.side].wants == 0;
        let side = &mut self.sides[slot.side];
        let queue = &mut side.queues[slot.local];
        queue.excuse.branch = now + self.through;
        self.breaks.discarded += u64::from(queue.queued);
        self.breaks.redirects += 1;
        (queue.pc, queue.queued, queue.steady, queue.blocked) = (pc, 0, false, 0);
        side.show(slot.local, 0);
        self.update(slot);
        if put_off && self.puts_off {
            if let Some(there) = self.turn_at_once(slot, now, ages) {
                return there;
            }
            let side = &mut self.sides[slot.side];
            side.put_off = NEVER;
            self.wanting.set(slot.side, side.wants != 0);
        }
        awaited(pc)
    }

    /// What a wave that has nothing requests in cycle `now`, if the requests of its side have been put off until then and it is the one
    /// that requests. None: they are not put off any more.
    #[inline(always)]
    fn turn_at_once(&mut self, slot: Seat, now: u64, ages: &Ages) -> Option<u64> {
        let (side, bit) = (&mut self.sides[slot.side], 1 << slot.local);
        let code = self.code.as_mut()?;
        let queue = &mut side.queues[slot.local];
        let mine = ages.oldest(side.wants) == Some(slot.local as u32) && side.blocked == 0;
        if !mine || !code.are_at_hand(queue.pc, self.capacity, self.capacity) {
            return None;
        }
        let arrival = now + self.through;
        queue.enter(arrival, self.ring);
        queue.pc = code.next(queue.pc);
        if queue.queued >= self.capacity || queue.pc == NO_PC {
            side.wants &= !bit;
        }
        side.put_off = if side.wants == 0 { NEVER } else { now + 1 };
        self.wanting.set(slot.side, false);
        Some(arrival.max(now + 2))
    }

    /// A wave starts at `pc`. Returns when its first instruction is there.
    pub fn start(&mut self, slot: Seat, pc: Pc, now: u64, ages: &Ages) -> u64 {
        self.make_up(slot.side, now, ages);
        let side = &mut self.sides[slot.side];
        side.put_off = NEVER;
        if side.queues.is_empty() {
            side.queues = vec![IDLE; self.seats];
            (side.queued, side.requested) = (vec![0; self.seats], vec![0; self.seats]);
        }
        side.catch_up(self.clock);
        // The first instruction of a wave takes as long as one behind a jump.
        let excuse = Excuse { branch: now + self.through, ..Excuse::default() };
        side.queues[slot.local] = Queue { pc, excuse, ..IDLE };
        (side.queued[slot.local], side.requested[slot.local]) = (0, 0);
        side.occupied |= 1 << slot.local;
        self.update(slot);
        awaited(pc)
    }

    pub fn stop(&mut self, slot: Seat, now: u64, ages: &Ages) {
        self.make_up(slot.side, now, ages);
        let side = &mut self.sides[slot.side];
        if side.queues.is_empty() {
            return;
        }
        side.catch_up(self.clock);
        side.queues[slot.local] = IDLE;
        side.show(slot.local, 0);
        side.occupied &= !(1 << slot.local);
        self.update(slot);
    }

    /// Keeps the bits that say whether the slot wants an instruction, and whether it waits for a line.
    fn update(&mut self, slot: Seat) {
        let (side, bit) = (&mut self.sides[slot.side], 1 << slot.local);
        let queue = &side.queues[slot.local];
        let room = queue.queued < self.capacity && queue.blocked == 0;
        let wants = side.occupied & bit != 0 && queue.pc != NO_PC && room;
        let set = |mask: u64, on: bool| if on { mask | bit } else { mask & !bit };
        (side.wants, side.blocked) = (set(side.wants, wants), set(side.blocked, queue.blocked != 0));
        if side.wants == 0 {
            side.put_off = NEVER;
        }
        self.wanting.set(slot.side, side.wants != 0 && side.put_off == NEVER);
    }

    /// Waves whose line is there by cycle `now` may request again.
    fn unblock(&mut self, now: u64) {
        self.next_unblock = u64::MAX;
        let n = self.sides.len();
        for p in 0..n {
            for local in bits(self.sides[p].blocked) {
                let queue = &mut self.sides[p].queues[local as usize];
                if queue.blocked <= now {
                    queue.blocked = 0;
                    self.update(Seat::new(p, local as usize, n));
                } else {
                    self.next_unblock = self.next_unblock.min(queue.blocked);
                }
            }
        }
    }

    /// The end of cycle `now`: requests. Those who had nothing are told when it comes. Returns the next cycle at which it does something
    /// by itself.
    #[inline(always)]
    pub fn tick(&mut self, now: u64, desk: &mut impl Desk, fetch: &mut Fetch<impl Fn(Pc) -> u64>) -> u64 {
        if self.next_unblock <= now {
            self.unblock(now);
        }
        for word in 0..self.wanting.words() {
            for p in self.wanting.of(word) {
                let side = &mut self.sides[p];
                if side.is_asked() {
                    side.catch_up(self.clock);
                    side.since = self.clock + 1;
                }
                for _ in 0..self.ports {
                    if !self.request(p, now, desk, fetch) {
                        break;
                    }
                }
                let wants = self.sides[p].wants;
                if wants == 0 {
                    self.wanting.set(p, false);
                } else if self.puts_off {
                    self.try_to_put_off(p, now + 1, wants);
                }
            }
        }
        self.clock += 1;
        self.next_event(now)
    }

    /// Requests an instruction for a wave of side `p`; false if nobody wants another one. If the wave had nothing, it is told when
    /// that comes.
    #[inline(always)]
    fn request(
        &mut self,
        p: usize,
        now: u64,
        desk: &mut impl Desk,
        fetch: &mut Fetch<impl Fn(Pc) -> u64>,
    ) -> bool {
        let side = &mut self.sides[p];
        let Some(slot) = side.pick(desk.ages(p)) else { return false };
        let (local, bit) = (slot as usize, 1u64 << (slot & 63));
        let Some(queue) = side.queues.get_mut(local) else { return false };
        let there = fetch.memory.fetch(fetch.core, (fetch.addr)(queue.pc), now);
        if there == now + self.hit
            && let Some(code) = &mut self.code
        {
            code.found(queue.pc);
        }
        let arrival = there.max(now) + self.latency;
        if queue.queued == 0 {
            // What is requested in this cycle is seen two cycles later at the soonest.
            desk.comes(p, local, arrival.max(now + 2));
        }
        queue.enter(arrival, self.ring);
        queue.pc = fetch.next.get(queue.pc as usize).copied().unwrap_or(NO_PC);
        if queue.queued >= self.capacity || queue.pc == NO_PC {
            side.wants &= !bit;
        }
        side.show(local, 1);
        // The cache tells a miss one cycle after the request: from then on the wave may have to wait.
        let line = there.saturating_sub(self.hit);
        if line > now {
            self.missed(p, local, line, is_known(there));
        }
        // A policy that is asked in every cycle has something to say even if nobody wants anything.
        self.sides[p].wants != 0 || self.sides[p].is_asked()
    }

    /// What a wave of side `p` requested missed, and its line comes in a cycle that may not be known.
    #[inline(never)]
    fn missed(&mut self, p: usize, local: usize, line: u64, known: bool) {
        let side = &mut self.sides[p];
        let queue = &mut side.queues[local];
        self.breaks.misses += 1;
        queue.excuse.miss = line + self.through;
        if self.wait {
            queue.blocked = line;
            (side.blocked, side.wants) = (side.blocked | 1 << local, side.wants & !(1 << local));
            self.next_unblock = self.next_unblock.min(line);
        }
        if !known {
            self.open.push(Seat::new(p, local, 1));
        }
    }

    /// Times that were unknown are known: tells of each seat with something under way when its next instruction is there. Returns
    /// whether anything waited for them.
    pub fn tell(&mut self, times: &Times, mut comes: impl FnMut(usize, usize, u64)) -> bool {
        let open = std::mem::take(&mut self.open);
        for &slot in &open {
            let side = &mut self.sides[slot.side];
            let queue = &mut side.queues[slot.local];
            if !is_known(queue.blocked) {
                queue.blocked = times.of(queue.blocked);
                self.next_unblock = self.next_unblock.min(queue.blocked);
            }
            let mut last = 0;
            for number in 0..queue.queued {
                // They arrive in order.
                let arrival = queue.time(number, self.ring);
                last = times.of(*arrival).max(last);
                *arrival = last;
                if number == 0 {
                    comes(slot.side, slot.local, last);
                }
            }
        }
        !open.is_empty()
    }

    /// A policy has to be asked or told in every cycle.
    pub fn counts_cycles(&self) -> bool {
        self.sides.iter().any(Side::is_asked)
    }

    /// Cycles pass in which nobody wants anything.
    pub fn pass(&mut self, cycles: u64) {
        self.clock += cycles;
    }

    /// The next cycle at which it does something by itself.
    #[inline(always)]
    pub fn next_event(&self, now: u64) -> u64 {
        if self.wanting.is_empty() { self.next_unblock.max(now + 1) } else { now + 1 }
    }
}

/// When the next instruction of a wave without any is there: behind the end of the program nothing comes, and what issues there is
/// the error.
fn awaited(pc: Pc) -> u64 {
    if pc == NO_PC { 0 } else { NEVER }
}
