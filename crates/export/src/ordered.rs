//! Records in the order of time. Stalls are told when they end, so a trace is not in that order: records wait until nothing
//! earlier can come.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use wb_trace::{Event, Kind};

/// More records are not kept: the earliest go out, and one that comes later still is moved to their time.
const MOST: usize = 4 << 20;

/// Records that wait for their turn.
pub(crate) struct Ordered<T> {
    heap: BinaryHeap<Reverse<(u64, u64, Slot<T>)>>,
    count: u64,
    /// Time of the last record that went out.
    time: u64,
}

/// A record; it does not take part in comparisons.
struct Slot<T>(T);

impl<T> PartialEq for Slot<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Slot<T> {}

impl<T> PartialOrd for Slot<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Slot<T> {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl<T> Ordered<T> {
    pub fn new() -> Self {
        Ordered { heap: BinaryHeap::new(), count: 0, time: 0 }
    }

    /// Records of one time keep their order.
    pub fn push(&mut self, time: u64, record: T) {
        self.heap.push(Reverse((time.max(self.time), self.count, Slot(record))));
        self.count += 1;
    }

    /// The next record that is before `until`.
    pub fn pop(&mut self, until: u64) -> Option<(u64, T)> {
        let Reverse((time, ..)) = self.heap.peek()?;
        if *time >= until && self.heap.len() <= MOST {
            return None;
        }
        let Reverse((time, _, Slot(record))) = self.heap.pop()?;
        self.time = time;
        Some((time, record))
    }
}

/// Up to when everything is known: each path was heard of until then.
#[derive(Default)]
pub(crate) struct Known {
    paths: BTreeMap<(u16, u16, u16), u64>,
    last: u64,
}

impl Known {
    pub fn note(&mut self, event: &Event) {
        let key = (event.core, event.slot, event.path);
        let over = match event.kind {
            Kind::Stall { cycles, .. } => event.cycle.saturating_add(cycles.into()),
            _ => event.cycle,
        };
        self.last = self.last.max(event.cycle);
        match event.kind {
            Kind::WaveEnd => self.paths.retain(|k, _| (k.0, k.1) != (event.core, event.slot)),
            Kind::PathEnd { .. } => _ = self.paths.remove(&key),
            _ => _ = self.paths.insert(key, over),
        }
    }

    /// Nothing earlier can come.
    pub fn until(&self) -> u64 {
        self.paths.values().copied().min().unwrap_or(self.last).min(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_go_out_in_the_order_of_time() {
        let mut ordered = Ordered::new();
        for (time, record) in [(5, 'a'), (3, 'b'), (5, 'c'), (9, 'd')] {
            ordered.push(time, record);
        }
        assert_eq!(ordered.pop(5), Some((3, 'b')));
        assert_eq!(ordered.pop(5), None);
        ordered.push(1, 'e');
        let rest: Vec<_> = std::iter::from_fn(|| ordered.pop(u64::MAX)).collect();
        assert_eq!(rest, [(3, 'e'), (5, 'a'), (5, 'c'), (9, 'd')]);
    }
}
