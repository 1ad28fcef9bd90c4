//! What every path of every wave did, cycle by cycle, with the instruction and the reason: the data of a page's timeline. Kept
//! up to a number of records; how much of what there was over time is kept for the whole run, in stretches of equal length.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wb_trace::{Event, Kind, Mask, Observer, Pc, SlotTable, StallReason, TraceInfo};

/// What a path can do in a cycle: issue an instruction, or stand for one of the reasons.
pub const STATES: usize = StallReason::ALL.len() + 1;

/// Its place among the states: 0 is an issued instruction, reasons follow in their order.
pub fn state_of(reason: StallReason) -> u8 {
    reason as u8 + 1
}

/// The name of a state.
pub fn state_name(state: usize) -> &'static str {
    match state.checked_sub(1).and_then(|i| StallReason::ALL.get(i)) {
        Some(reason) => reason.name(),
        None => "issued",
    }
}

/// A path in one state for some cycles: first cycle, cycles, state, instruction, place of its lanes in
/// [`Timeline::masks`], path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment(pub u64, pub u32, pub u8, pub Pc, pub u32, pub u16);

/// A slot of a core: which waves were in it (first cycle, the cycle after the last, number), and what their paths did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlotLine {
    pub core: u16,
    pub slot: u16,
    pub waves: Vec<(u64, u64, u32)>,
    pub moments: Vec<Moment>,
}

/// What is known of a run over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Cycles of the run, and the cycle in front of which moments were kept.
    pub cycles: u64,
    pub to: u64,
    pub lanes: u32,
    pub slots: Vec<SlotLine>,
    pub masks: Vec<Mask>,
    /// Path-cycles in each state, in stretches of `width` cycles over the whole run.
    pub width: u64,
    pub buckets: Vec<[u64; STATES]>,
}

impl Timeline {
    /// Whether moments of the run are missing.
    pub fn is_cut(&self) -> bool {
        self.to < self.cycles
    }

    /// Records that are kept.
    pub fn records(&self) -> usize {
        self.slots.iter().map(|s| s.moments.len() + s.waves.len()).sum()
    }

    /// Keeps the first cycles only, with about so many records.
    pub fn shorten(&mut self, records: usize) {
        if self.records() <= records {
            return;
        }
        let mut starts: Vec<u64> = self.slots.iter().flat_map(|s| s.moments.iter().map(|m| m.0)).collect();
        starts.sort_unstable();
        let Some(&to) = starts.get(records).or(starts.last()) else { return };
        self.to = self.to.min(to.max(1));
        for slot in &mut self.slots {
            slot.moments.retain(|m| m.0 < to);
            slot.waves.retain(|w| w.0 < to);
        }
        self.slots.retain(|s| !s.waves.is_empty());
    }
}

/// Most stretches; they grow with the run.
const BUCKETS: usize = 240;
/// Records that are kept unless told otherwise.
const LIMIT: usize = 60_000;

#[derive(Default)]
struct Slot {
    line: SlotLine,
    /// The wave that is in the slot now: since when, and its number.
    now: Option<(u64, u32)>,
}

/// Collects a [`Timeline`] while it listens.
pub struct TimelineObserver {
    slots: SlotTable<Slot>,
    masks: BTreeMap<Mask, u32>,
    lanes: u32,
    timed: bool,
    limit: usize,
    records: usize,
    /// Nothing from this cycle on is kept.
    to: u64,
    last: u64,
    width: u64,
    buckets: Vec<[u64; STATES]>,
}

impl Default for TimelineObserver {
    fn default() -> Self {
        TimelineObserver::with_limit(LIMIT)
    }
}

impl TimelineObserver {
    /// Keeps about so many records.
    pub fn with_limit(limit: usize) -> Self {
        TimelineObserver {
            slots: SlotTable::default(),
            masks: BTreeMap::new(),
            lanes: 0,
            timed: false,
            limit: limit.max(1),
            records: 0,
            to: u64::MAX,
            last: 0,
            width: 1,
            buckets: Vec::new(),
        }
    }

    /// What was seen; nothing of an untimed run, which has no cycles.
    pub fn finish(self) -> Option<Timeline> {
        if !self.timed {
            return None;
        }
        let (last, to) = (self.last, self.to.min(self.last));
        let mut masks: Vec<(Mask, u32)> = self.masks.into_iter().collect();
        masks.sort_by_key(|m| m.1);
        let close = |(core, slot, s): (u16, u16, &Slot)| {
            let mut line = SlotLine { core, slot, ..s.line.clone() };
            line.waves.extend(s.now.filter(|n| n.0 < to).map(|(from, wave)| (from, last, wave)));
            line.moments.retain(|m| m.0 < to);
            line
        };
        let mut slots: Vec<SlotLine> = self.slots.iter().map(close).collect();
        slots.retain(|s| !s.waves.is_empty());
        Some(Timeline {
            cycles: last,
            to,
            lanes: self.lanes,
            slots,
            masks: masks.into_iter().map(|m| m.0).collect(),
            width: self.width,
            buckets: self.buckets,
        })
    }

    fn moment(&mut self, event: &Event, cycles: u32, state: u8) {
        self.last = self.last.max(event.cycle.saturating_add(cycles.into()));
        self.fill(event.cycle, u64::from(cycles), state);
        if event.cycle >= self.to || event.mask == 0 {
            return;
        }
        let fresh = self.masks.len() as u32;
        let mask = *self.masks.entry(event.mask).or_insert(fresh);
        let slot = self.slots.get_mut(event.core, event.slot);
        slot.line.moments.push(Moment(event.cycle, cycles, state, event.pc, mask, event.path));
        self.count(event.cycle);
    }

    fn count(&mut self, cycle: u64) {
        self.records += 1;
        if self.records > self.limit && self.to == u64::MAX {
            self.to = cycle.saturating_add(1);
        }
    }

    /// Adds the cycles to the stretches they lie in.
    fn fill(&mut self, from: u64, cycles: u64, state: u8) {
        let to = from.saturating_add(cycles);
        while to.saturating_sub(1) / self.width >= BUCKETS as u64 {
            self.width = self.width.saturating_mul(2);
            let pair = |pair: &[[u64; STATES]]| {
                let mut sum = pair[0];
                for more in &pair[1..] {
                    sum.iter_mut().zip(more).for_each(|(a, b)| *a += b);
                }
                sum
            };
            self.buckets = self.buckets.chunks(2).map(pair).collect();
        }
        let mut at = from;
        while at < to {
            let bucket = (at / self.width) as usize;
            let end = (bucket as u64 + 1).saturating_mul(self.width).min(to);
            if self.buckets.len() <= bucket {
                self.buckets.resize(bucket + 1, [0; STATES]);
            }
            self.buckets[bucket][usize::from(state)] += end - at;
            at = end;
        }
    }
}

impl Observer for TimelineObserver {
    fn wants_code(&self) -> bool {
        false
    }

    fn begin(&mut self, info: &TraceInfo) {
        *self = TimelineObserver::with_limit(self.limit);
        (self.lanes, self.timed) = (info.lanes.clamp(1, 64), info.timed);
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            match event.kind {
                Kind::Issue { .. } => self.moment(event, 1, 0),
                Kind::Stall { cycles, reason } => self.moment(event, cycles, state_of(reason)),
                Kind::WaveStart { .. } | Kind::WaveEnd => {
                    let (to, keeps) = (self.to, matches!(event.kind, Kind::WaveStart { .. }));
                    let slot = self.slots.get_mut(event.core, event.slot);
                    if let Some((from, wave)) = slot.now.take().filter(|n| n.0 < to) {
                        slot.line.waves.push((from, event.cycle, wave));
                        self.count(event.cycle);
                    }
                    let slot = self.slots.get_mut(event.core, event.slot);
                    slot.now = keeps.then_some((event.cycle, event.wave));
                }
                Kind::Nop
                | Kind::Split { .. }
                | Kind::Mask { .. }
                | Kind::PathNew { .. }
                | Kind::PathMerge { .. }
                | Kind::PathStart { .. }
                | Kind::PathEnd { .. }
                | Kind::SplitRefused { .. }
                | Kind::Memory { .. }
                | Kind::Barrier { .. } => {}
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.last = cycles;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(limit: usize, issues: u64) -> Timeline {
        let mut seen = TimelineObserver::with_limit(limit);
        seen.begin(&TraceInfo { timed: true, lanes: 4, ..TraceInfo::default() });
        let at = |cycle, kind| Event { cycle, core: 0, slot: 1, wave: 7, path: 0, pc: 3, mask: 0b1111, kind };
        let mut events = vec![at(0, Kind::WaveStart { lanes: 0b1111 })];
        for i in 0..issues {
            events.push(at(i * 4, Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 }));
            events.push(at(i * 4 + 1, Kind::Stall { cycles: 3, reason: StallReason::Memory }));
        }
        events.push(at(issues * 4, Kind::WaveEnd));
        seen.events(&events);
        seen.end(issues * 4);
        seen.finish().expect("a timed run")
    }

    #[test]
    fn moments_are_kept_and_all_cycles_counted() {
        let whole = run(1000, 2);
        assert_eq!((whole.cycles, whole.to, whole.is_cut()), (8, 8, false));
        assert_eq!(whole.slots.len(), 1);
        assert_eq!(whole.slots[0].waves, [(0, 8, 7)]);
        assert_eq!(whole.slots[0].moments[1], Moment(1, 3, state_of(StallReason::Memory), 3, 0, 0));
        let sums = |t: &Timeline| {
            t.buckets
                .iter()
                .fold((0, 0), |s, b| (s.0 + b[0], s.1 + b[usize::from(state_of(StallReason::Memory))]))
        };
        assert_eq!(sums(&whole), (2, 6));
        let mut cut = run(10, 1000);
        assert!(cut.is_cut() && cut.records() <= 13, "{} records", cut.records());
        assert_eq!(sums(&cut), (1000, 3000), "the overview has the whole run");
        assert_eq!((cut.width, cut.buckets.len()), (32, 125));
        cut.shorten(4);
        assert!(cut.records() <= 6 && cut.to < 20, "{} records up to {}", cut.records(), cut.to);
    }
}
