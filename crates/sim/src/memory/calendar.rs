//! Who gets a resource when: so much of it in every cycle, and a request that arrives takes what is left from then on.
//!
//! Requests are known when they are issued, long before they arrive, and not in the order in which they arrive: those of other
//! cores or of instructions with longer ways come in between. A resource that served in the order of issue would idle until the
//! arrival of one request while another one, which has arrived, waits. This one never idles while somebody waits who has arrived
//! (docs/ARCHITECTURE.md, "A timed cycle").

use std::collections::VecDeque;

/// Cycles in a row in each of which the same amount is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    from: u64,
    to: u64,
    taken: u32,
}

/// From so many spans before the last one on, those that are over are forgotten.
const MANY: usize = 7;

/// What is taken of a resource, as spans in order. A backlog is one span however long it is, so the calendar is as large as the
/// requests under way are scattered, not as far as they reach.
#[derive(Clone, Debug)]
pub struct Calendar {
    /// What there is in a cycle; 0: any amount.
    capacity: u32,
    /// The last span, by itself: most requests look at nothing else. Before the first request it is an empty one.
    last: Span,
    spans: VecDeque<Span>,
}

impl Calendar {
    pub fn new(capacity: u32) -> Calendar {
        Calendar { capacity, last: Span { from: 0, to: 0, taken: 0 }, spans: VecDeque::new() }
    }

    /// Takes `amount` from the cycle of arrival on; returns the first cycle in which there was some left. Nobody arrives before
    /// `now` any more.
    #[inline(always)]
    pub fn take(&mut self, arrival: u64, amount: u32, now: u64) -> u64 {
        if self.capacity == 0 { arrival } else { self.enter(arrival, amount, now) }
    }

    fn enter(&mut self, arrival: u64, amount: u32, now: u64) -> u64 {
        // What is over makes no difference, but takes room.
        if self.spans.len() >= MANY {
            while self.spans.front().is_some_and(|s| s.to <= now) {
                self.spans.pop_front();
            }
        }
        match self.at_the_end(arrival, amount) {
            Some(start) => start,
            None => self.among_all(arrival, amount),
        }
    }

    #[inline(never)]
    fn among_all(&mut self, arrival: u64, amount: u32) -> u64 {
        self.spans.push_back(self.last);
        let start = self.between(arrival, amount);
        self.last = self.spans.pop_back().unwrap_or(self.last);
        start
    }

    /// Anywhere among the spans, with which the last one is.
    fn between(&mut self, arrival: u64, amount: u32) -> u64 {
        // The first span that ends later than the cycle looked at; most requests arrive near the end.
        let mut next = self.spans.len();
        while next > 0 && self.spans[next - 1].to > arrival {
            next -= 1;
        }
        let (mut cycle, mut left, mut start) = (arrival, amount, None);
        loop {
            let (to, part) = match self.spans.get(next).copied() {
                Some(s) if s.from <= cycle && s.taken == self.capacity => {
                    (cycle, next) = (s.to, next + 1);
                    continue;
                }
                Some(s) if s.from <= cycle => {
                    let part = left.min(self.capacity - s.taken);
                    self.divide(next, cycle);
                    (cycle + 1, part)
                }
                later => {
                    let room = later.map_or(u64::MAX, |s| s.from) - cycle;
                    let whole = u64::from(left / self.capacity).min(room);
                    match whole {
                        0 => (cycle + 1, left),
                        n => (cycle + n, self.capacity * n as u32),
                    }
                }
            };
            start = start.or(Some(cycle));
            next = self.add(next, cycle, to, part);
            (cycle, left) = (to, left - part);
            if left == 0 {
                return start.unwrap_or(arrival);
            }
        }
    }

    /// The same for most requests: they fit into one cycle, behind all others or in the last span.
    #[inline(always)]
    fn at_the_end(&mut self, arrival: u64, amount: u32) -> Option<u64> {
        if amount > self.capacity {
            return None;
        }
        let last = &mut self.last;
        let behind = if last.to <= arrival {
            arrival
        } else if last.from <= arrival && last.taken == self.capacity {
            last.to
        } else if (last.from, last.to) == (arrival, arrival + 1) && amount <= self.capacity - last.taken {
            last.taken += amount;
            if let Some(before) = self.spans.back()
                && before.to == arrival
                && before.taken == last.taken
            {
                last.from = before.from;
                self.spans.pop_back();
            }
            return Some(arrival);
        } else {
            return None;
        };
        if last.to == behind && last.taken == amount {
            last.to += 1;
        } else {
            self.spans.push_back(*last);
            *last = Span { from: behind, to: behind + 1, taken: amount };
        }
        Some(behind)
    }

    /// Divides a span so that `cycle` is one of its own.
    fn divide(&mut self, at: usize, cycle: u64) {
        let s = self.spans[at];
        if cycle + 1 < s.to {
            self.spans.insert(at + 1, Span { from: cycle + 1, ..s });
        }
        self.spans[at].to = cycle + 1;
        if s.from < cycle {
            self.spans[at].from = cycle;
            self.spans.insert(at, Span { to: cycle, ..s });
        }
    }

    /// Adds `part` in all to the cycles `from..to`, which are a span or in none. Returns the first span that ends later.
    fn add(&mut self, next: usize, from: u64, to: u64, part: u32) -> usize {
        let each = (u64::from(part) / (to - from)) as u32;
        // The cycle that was divided off lies behind what was before it.
        let at = match self.spans.get(next) {
            Some(s) if s.to <= from => next + 1,
            _ => next,
        };
        match self.spans.get_mut(at) {
            Some(s) if s.from == from => s.taken += each,
            _ => self.spans.insert(at, Span { from, to, taken: each }),
        }
        self.join(at, to)
    }

    /// Joins a span with its neighbours where they are one; returns the first span that ends later than `to`.
    fn join(&mut self, mut at: usize, to: u64) -> usize {
        let one = |a: Span, b: Span| a.to == b.from && a.taken == b.taken;
        if at > 0 && one(self.spans[at - 1], self.spans[at]) {
            self.spans[at - 1].to = self.spans[at].to;
            self.spans.remove(at);
            at -= 1;
        }
        if at + 1 < self.spans.len() && one(self.spans[at], self.spans[at + 1]) {
            self.spans[at].to = self.spans[at + 1].to;
            self.spans.remove(at + 1);
        }
        at + usize::from(self.spans[at].to <= to)
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

    /// A cycle that is full like the one before it makes one span with it.
    #[test]
    fn what_lies_before_the_last_span_stays_taken() {
        let mut c = Calendar::new(2);
        assert_eq!([(5, 2), (6, 1), (6, 1)].map(|(at, amount)| c.take(at, amount, 0)), [5, 6, 6]);
        assert_eq!(c.last, Span { from: 5, to: 7, taken: 2 });
        assert_eq!([5, 6, 3].map(|at| c.take(at, 1, 0)), [7, 7, 3]);
    }

    /// Requests that reach far, or many that wait, need no more room than one.
    #[test]
    fn a_backlog_is_one_span() {
        let mut c = Calendar::new(1);
        (0..100_000).for_each(|i| assert_eq!(c.take(7, 64, 0), 7 + 64 * i));
        assert_eq!(c.take(1 << 40, 1, 0), 1 << 40);
        assert!(c.spans.len() <= 2);
        assert_eq!(c.take(9_000_000, 1, 8_000_000), 9_000_000, "the backlog is over");
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
                let mut amount = 1 + random(u64::from(5 * capacity)) as u32;
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
