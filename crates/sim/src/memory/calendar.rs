//! Who gets a resource when: so much of it in every cycle, and a request that arrives takes what is left from then on.
//!
//! Requests are known when they are issued, long before they arrive, and not in the order in which they arrive: those of other
//! cores or of instructions with longer ways come in between. A resource that served in the order of issue would idle until the
//! arrival of one request while another one, which has arrived, waits. This one never idles while somebody waits who has arrived
//! (docs/ARCHITECTURE.md, "A timed cycle").

/// Cycles that are kept at first; more are added when somebody arrives later than that.
const CYCLES: usize = 256;

/// What is taken of a resource in each cycle from `first` on.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// What there is in a cycle; 0: any amount.
    capacity: u32,
    /// Taken in cycle c, at c modulo the length; a power of two.
    taken: Vec<u32>,
    first: u64,
    /// All of these cycles are full.
    full: std::ops::Range<u64>,
}

impl Calendar {
    pub fn new(capacity: u32) -> Calendar {
        let cycles = if capacity == 0 { 0 } else { CYCLES };
        Calendar { capacity, taken: vec![0; cycles], first: 0, full: 0..0 }
    }

    /// Takes `amount` from the cycle of arrival on; returns the first cycle in which there was some left. Nobody arrives before
    /// `now` any more.
    #[inline]
    pub fn take(&mut self, arrival: u64, mut amount: u32, now: u64) -> u64 {
        if self.capacity == 0 {
            return arrival;
        }
        let mut cycle = self.free_from(arrival, now);
        let start = cycle;
        loop {
            if cycle - self.first >= self.taken.len() as u64 {
                self.make_room(cycle, now);
            }
            let at = self.place(cycle);
            let part = amount.min(self.capacity - self.taken[at]);
            self.taken[at] += part;
            amount -= part;
            if amount == 0 {
                return start;
            }
            cycle += 1;
        }
    }

    #[inline(always)]
    fn place(&self, cycle: u64) -> usize {
        cycle as usize & (self.taken.len() - 1)
    }

    /// The first cycle from `arrival` on that is not full.
    #[inline]
    fn free_from(&mut self, arrival: u64, now: u64) -> u64 {
        let mut cycle = arrival.max(self.first);
        let skipped = self.full.contains(&cycle);
        let from = cycle;
        if skipped {
            cycle = self.full.end;
        }
        loop {
            if cycle - self.first >= self.taken.len() as u64 {
                self.make_room(cycle, now);
            }
            if self.taken[self.place(cycle)] < self.capacity {
                break;
            }
            cycle += 1;
        }
        if skipped {
            self.full.end = cycle;
        } else if cycle - from > self.full.end - self.full.start {
            self.full = from..cycle;
        }
        cycle
    }

    /// Forgets what is over, and keeps more cycles if that is not enough for `cycle`.
    #[cold]
    fn make_room(&mut self, cycle: u64, now: u64) {
        let length = self.taken.len() as u64;
        let over = now.max(self.first).min(cycle);
        if over - self.first >= length {
            self.taken.fill(0);
        } else {
            for c in self.first..over {
                let at = self.place(c);
                self.taken[at] = 0;
            }
        }
        self.first = over;
        self.full.start = self.full.start.max(over);
        self.full.end = self.full.end.max(self.full.start);
        while cycle - self.first >= self.taken.len() as u64 {
            let old = self.taken.len();
            let mut longer = vec![0; 2 * old];
            for c in self.first..self.first + old as u64 {
                longer[c as usize & (2 * old - 1)] = self.taken[c as usize & (old - 1)];
            }
            self.taken = longer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn nobody_waits_while_there_is_room() {
        let mut c = Calendar::new(1);
        let late: Vec<u64> = (0..8).map(|i| c.take(100 + i, 1, 0)).collect();
        assert_eq!(late, (100..108).collect::<Vec<_>>());
        assert_eq!(c.take(3, 1, 0), 3, "issued later, arrives earlier");
        assert_eq!(c.take(99, 1, 0), 99);
        assert_eq!(c.take(99, 1, 0), 108, "the first that is free");
    }

    #[test]
    fn parts_of_cycles_are_used() {
        let mut c = Calendar::new(48);
        assert_eq!([0, 0, 0, 0].map(|a| c.take(a, 64, 0)), [0, 1, 2, 4]);
        assert_eq!(Calendar::new(0).take(7, 64, 0), 7);
    }

    /// The same as looking at every cycle.
    #[test]
    fn as_a_table_of_all_cycles() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for capacity in [1, 3, 64, 100] {
            let mut c = Calendar::new(capacity);
            let mut table: BTreeMap<u64, u32> = BTreeMap::new();
            let mut now = 0;
            for _ in 0..4000 {
                now += if random(50) == 0 { random(2000) } else { random(3) };
                let arrival = now + if random(9) == 0 { random(3000) } else { random(60) };
                let mut amount = 1 + random(u64::from(2 * capacity)) as u32;
                let found = c.take(arrival, amount, now);
                let mut first = None;
                for cycle in arrival.. {
                    let taken = table.entry(cycle).or_default();
                    let part = amount.min(capacity - *taken);
                    if part > 0 {
                        first = first.or(Some(cycle));
                    }
                    *taken += part;
                    amount -= part;
                    if amount == 0 {
                        break;
                    }
                }
                assert_eq!(Some(found), first);
            }
        }
    }
}
