//! The scoreboard of a wave: which registers are not ready yet, for which lanes. Exact for any mechanism
//! ("keyed by wave, register, lane mask"): disjoint lanes of one register do not wait for each other.

use crate::memory::{Times, is_known};
use wb_isa::{COUNTERS, Mask};

#[derive(Clone, Copy, Debug, PartialEq)]
struct Pending {
    register: u16,
    lanes: Mask,
    ready: u64,
    memory: bool,
}

/// Pending writes from which it pays to drop those that are done.
const TIDY: usize = 24;

/// The writes of a register that are outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Register {
    /// When the last of them is ready.
    ready: u64,
    write: Write,
}

/// What is outstanding of a register.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Write {
    /// Its lanes, and whether memory is what it waits for; with `several`, they are in the list.
    lanes: Mask,
    memory: bool,
    several: bool,
}

const SEVERAL: Write = Write { lanes: 0, memory: false, several: true };

#[derive(Clone, Debug)]
pub struct Board {
    /// By register, when the last of its writes is ready: most questions are answered by that alone. And what it is.
    ready: Vec<u64>,
    writes: Vec<Write>,
    /// Writes of registers that have several outstanding.
    pending: Vec<Pending>,
    /// When all writes are done that were entered, and their registers, each as the bit of its lowest digits.
    pub latest: u64,
    pub bits: u64,
    /// When nothing of the wave is outstanding any more.
    pub all: u64,
    pub all_memory: bool,
    /// When the operations behind each explicit counter are done.
    counters: [Vec<u64>; COUNTERS],
    /// Times among all these that are not known yet; `all` leaves them out.
    unknown: Vec<u64>,
}

impl Board {
    pub fn new(registers: usize) -> Self {
        Board {
            ready: vec![0; registers],
            writes: vec![Write::default(); registers],
            pending: Vec::new(),
            latest: 0,
            bits: 0,
            all: 0,
            all_memory: false,
            counters: Default::default(),
            unknown: Vec::new(),
        }
    }

    /// Nothing is outstanding. What was ready by cycle `now` is for everybody from then on: it need not be cleared.
    pub fn clear(&mut self, now: u64) {
        if self.latest > now {
            self.ready.fill(0);
        }
        self.pending.clear();
        self.counters.iter_mut().for_each(Vec::clear);
        self.unknown.clear();
        (self.latest, self.bits, self.all) = (0, 0, 0);
    }

    /// Something is outstanding until `time`.
    #[inline(always)]
    pub fn outstanding(&mut self, time: u64, memory: bool) {
        if !is_known(time) {
            self.unknown.push(time);
        } else if self.all < time {
            (self.all, self.all_memory) = (time, memory);
        }
    }

    /// Some of what is outstanding is so until a time that is not known yet.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// When nothing is outstanding any more, perhaps unknown.
    #[inline(always)]
    pub fn all_done(&self) -> u64 {
        self.unknown.last().copied().unwrap_or(self.all)
    }

    /// Times that were unknown are known.
    pub fn tell(&mut self, times: &Times) {
        if !self.is_open() {
            return;
        }
        for time in std::mem::take(&mut self.unknown) {
            self.outstanding(times.of(time), true);
        }
        self.pending.iter_mut().for_each(|p| p.ready = times.of(p.ready));
        for (register, ready) in self.ready.iter_mut().enumerate().filter(|(_, ready)| !is_known(**ready)) {
            let of = |p: &&Pending| usize::from(p.register) == register;
            *ready = match self.writes[register].several {
                true => self.pending.iter().filter(of).map(|p| p.ready).max().unwrap_or(0),
                false => times.of(*ready),
            };
        }
        self.latest = self.ready.iter().copied().max().unwrap_or(0);
        for done in &mut self.counters {
            done.iter_mut().for_each(|t| *t = times.of(*t));
            done.sort_unstable();
        }
    }

    /// Takes over what is outstanding for a path that merged into this one in cycle `now`.
    pub fn absorb(&mut self, other: &Board, now: u64) {
        // What was outstanding before the split is in both lists; without this they would double with every merge.
        self.pending.retain(|p| p.ready > now);
        for theirs in other.pending.iter().filter(|p| p.ready > now) {
            if !self.pending.contains(theirs) {
                self.pending.push(*theirs);
            }
        }
        for i in 0..self.ready.len().min(other.ready.len()) {
            if other.ready[i] <= now {
                continue;
            }
            let (mine, theirs) = (self.register(i), other.register(i));
            if mine == theirs {
                continue;
            }
            if mine.ready <= now {
                self.set(i, theirs);
                continue;
            }
            self.list(i, mine);
            self.list(i, theirs);
            self.set(i, Register { ready: mine.ready.max(theirs.ready), write: SEVERAL });
        }
        for (mine, theirs) in self.counters.iter_mut().zip(&other.counters) {
            // What was outstanding before the split is in both.
            let new: Vec<u64> = theirs.iter().copied().filter(|t| mine.binary_search(t).is_err()).collect();
            mine.extend(new);
            mine.sort_unstable();
        }
        self.unknown.extend(&other.unknown);
        (self.latest, self.bits) = (self.latest.max(other.latest), self.bits | other.bits);
        if self.all < other.all {
            (self.all, self.all_memory) = (other.all, other.all_memory);
        }
    }

    fn register(&self, i: usize) -> Register {
        Register { ready: self.ready[i], write: self.writes[i] }
    }

    fn set(&mut self, i: usize, register: Register) {
        (self.ready[i], self.writes[i]) = (register.ready, register.write);
    }

    /// The only outstanding write of a register goes to the list.
    fn list(&mut self, register: usize, only: Register) {
        let Register { ready, write: Write { lanes, memory, several } } = only;
        let only = Pending { register: register as u16, lanes, ready, memory };
        if !several && !self.pending.contains(&only) {
            self.pending.push(only);
        }
    }

    /// `register` is written in `lanes` and usable from cycle `ready` on.
    #[inline(always)]
    pub fn write(&mut self, register: u16, lanes: Mask, now: u64, ready: u64, memory: bool) {
        self.outstanding(ready, memory);
        // Nothing can issue before now + 1 anyway.
        if ready <= now + 1 {
            return;
        }
        self.bits = if self.latest <= now + 1 { 0 } else { self.bits } | 1 << (register % 64);
        self.latest = self.latest.max(ready);
        let old = &mut self.ready[register as usize];
        if *old <= now + 1 {
            *old = ready;
            self.writes[register as usize] = Write { lanes, memory, several: false };
        } else {
            self.write_again(register, lanes, now, ready, memory);
        }
    }

    /// The same for a register that is not ready yet.
    #[inline(never)]
    fn write_again(&mut self, register: u16, lanes: Mask, now: u64, ready: u64, memory: bool) {
        let old = self.register(register.into());
        // Whether an unknown time is later than another one nobody can say.
        let covered = !old.write.several && old.write.lanes & !lanes == 0;
        if covered && old.ready <= ready && is_known(ready) {
            let write = Write { lanes, memory, several: false };
            return self.set(register.into(), Register { ready, write });
        }
        // What is done only takes room: `wait` does not look at it.
        if self.pending.len() >= TIDY {
            self.pending.retain(|p| p.ready > now);
        }
        self.list(register.into(), old);
        self.pending.push(Pending { register, lanes, ready, memory });
        self.set(register.into(), Register { ready: old.ready.max(ready), write: SEVERAL });
    }

    /// An operation behind `counter` is done at `done`.
    pub fn raise(&mut self, counter: usize, now: u64, done: u64) {
        let times = &mut self.counters[counter];
        // What is done only takes room: it lies before all that is not, and counts are counted from the other end.
        if times.len() >= TIDY {
            times.retain(|&t| t > now);
        }
        // Mostly operations are done in order.
        if times.last().is_none_or(|&last| last <= done) {
            times.push(done);
        } else {
            let at = times.partition_point(|&t| t <= done);
            times.insert(at, done);
        }
        self.outstanding(done, true);
    }

    /// What was to be done at `done` is done at `early` for the lanes of this path.
    pub fn hasten(&mut self, done: u64, early: u64) {
        for p in self.pending.iter_mut().filter(|p| p.memory && p.ready == done) {
            p.ready = early;
        }
        for (ready, write) in self.ready.iter_mut().zip(&self.writes) {
            if *ready == done && write.memory && !write.several {
                *ready = early;
            }
        }
        for times in &mut self.counters {
            times.iter_mut().filter(|t| **t == done).for_each(|t| *t = early);
            times.sort_unstable();
        }
    }

    /// The first cycle at which every counter is at most what is asked.
    pub fn counters_at_most(&self, until: [u8; COUNTERS]) -> u64 {
        let ready = |(times, most): (&Vec<u64>, u8)| match times.len().checked_sub(usize::from(most) + 1) {
            Some(last) => times[last],
            None => 0,
        };
        self.counters.iter().zip(until).map(ready).max().unwrap_or(0)
    }

    /// Whether an instruction with such registers may have to wait beyond cycle `from` for a write.
    #[inline(always)]
    pub fn may_wait(&self, registers: u64, from: u64) -> bool {
        self.latest > from && self.bits & registers != 0
    }

    /// The cycle from which `register` may be used in `lanes`, if later than `from`.
    #[inline(always)]
    pub fn wait(&self, register: u16, lanes: Mask, from: u64) -> Option<(u64, bool)> {
        if self.ready[register as usize] <= from { None } else { self.wait_for(register, lanes, from) }
    }

    /// The cycle from which all these registers may be used in `lanes`, at least `from`.
    #[inline(always)]
    pub fn wait_all(&self, registers: &[u16], lanes: Mask, mut from: u64) -> u64 {
        for &register in registers {
            if self.ready[register as usize] > from {
                from = self.wait_for(register, lanes, from).map_or(from, |(ready, _)| ready);
            }
        }
        from
    }

    /// The same for a register of which something is outstanding then.
    #[inline(always)]
    fn wait_for(&self, register: u16, lanes: Mask, from: u64) -> Option<(u64, bool)> {
        let Write { lanes: written, memory, several } = self.writes[register as usize];
        if several {
            return self.wait_for_several(register, lanes, from);
        }
        (written & lanes != 0).then_some((self.ready[register as usize], memory))
    }

    #[inline(never)]
    fn wait_for_several(&self, register: u16, lanes: Mask, from: u64) -> Option<(u64, bool)> {
        self.pending
            .iter()
            .filter(|p| p.register == register && p.lanes & lanes != 0 && p.ready > from)
            .map(|p| (p.ready, p.memory))
            .max_by_key(|p| p.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_fall_as_operations_finish() {
        let mut b = Board::new(1);
        for done in [40, 20, 30] {
            b.raise(0, 5, done);
        }
        assert_eq!(b.counters_at_most([0, u8::MAX]), 40);
        assert_eq!(b.counters_at_most([1, 0]), 30);
        assert_eq!(b.counters_at_most([2, 0]), 20);
        assert_eq!(b.counters_at_most([3, 0]), 0);
        b.raise(0, 25, 50);
        assert_eq!(b.counters_at_most([1, 0]), 40);
    }

    /// The same as counting what is not done in each cycle, in order or not; what the board says of cycles that are over makes no
    /// difference. So it is for a board that served another wave.
    #[test]
    fn counters_are_what_is_not_done() {
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut b = Board::new(2);
        let mut now = 0;
        for _ in 0..60 {
            b.clear(now);
            assert!(b.ready.iter().all(|&ready| ready <= now) && b.all_done() == 0);
            let mut all = Vec::new();
            let (often, spread) = (1 + random(20), 1 + random(200));
            for _ in 0..200 {
                now += random(often);
                let done = now + 1 + random(spread);
                all.push(done);
                b.raise(1, now, done);
                b.write(random(2) as u16, 1, now, done, true);
                let most = random(40) as u8;
                let left = |cycle: u64| all.iter().filter(|&&t| t > cycle).count();
                let want = (now..).find(|&cycle| left(cycle) <= usize::from(most));
                assert_eq!(Some(b.counters_at_most([u8::MAX, most]).max(now)), want);
            }
            // A wave ends when all is done; a board may be cleared before.
            now = if random(3) == 0 { now + 1 } else { b.all_done() };
        }
    }

    /// Splits and merges again and again while something is outstanding.
    #[test]
    fn what_both_paths_wait_for_is_there_once() {
        let mut b = Board::new(4);
        b.write(1, 0b0011, 0, 1000, true);
        b.write(1, 0b1100, 1, 900, true);
        for round in 2..200 {
            let mut other = b.clone();
            other.write(2, 0b0011, round, round + 20, false);
            b.write(2, 0b1100, round, round + 10, false);
            b.absorb(&other, round + 1);
            assert!(b.pending.len() < 50, "{} in round {round}", b.pending.len());
            assert_eq!(b.wait(1, 0b0100, round), Some((900, true)));
            assert_eq!(b.wait(2, 0b0001, round), Some((round + 20, false)));
        }
    }

    #[test]
    fn disjoint_lanes_do_not_wait() {
        let mut b = Board::new(4);
        b.write(2, 0b0011, 10, 20, true);
        b.write(2, 0b1100, 11, 15, false);
        assert_eq!(b.wait(2, 0b0001, 12), Some((20, true)));
        assert_eq!(b.wait(2, 0b0100, 12), Some((15, false)));
        assert_eq!(b.wait(2, 0b0100, 15), None);
        assert_eq!(b.wait(1, 0b1111, 12), None);
        assert_eq!(b.all, 20);
    }
}
