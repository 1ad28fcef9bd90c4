//! What one pass over a trace leaves behind, so that every later question looks at a small part of it: rows of buckets in several
//! widths, the state of all waves at some blocks, what is told long after it began, which instructions each block has, and how far
//! each wave had come when.

use crate::cells::{Buckets, Cell};
use crate::progress::Progress;
use std::collections::BTreeMap;
use std::sync::Arc;
use wb_trace::spans::{Resident, Span, Take, Tracker};
use wb_trace::{Block, BlockInfo, Event, Kind, PcIndex, TraceInfo};

/// Buckets of all rows together in the finest level, and the fewest of a row.
const BUCKETS: usize = 2 << 20;
const FEWEST: usize = 2048;
/// A level with so few buckets is the last.
const COARSEST: usize = 512;
/// Events between kept states.
const KEEP: u64 = 150_000;

/// A wave: where it ran, from when to when, and what it issued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Wave {
    pub core: u16,
    pub slot: u16,
    pub from: u64,
    pub to: u64,
    pub instructions: u64,
}

/// A span that is told late: a wait is told when it is over, which may be many blocks after the one in which it began.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    pub core: u16,
    pub slot: u16,
    pub span: Span,
    /// The block that tells it.
    pub told: usize,
}

/// One width of buckets of all rows.
#[derive(Debug)]
pub struct Level {
    pub width: u64,
    /// By row.
    pub rows: Vec<Vec<Option<Cell>>>,
}

#[derive(Debug, Default)]
pub struct Index {
    /// Core and slot of each row.
    pub rows: Vec<(u16, u16)>,
    /// From fine to coarse.
    pub levels: Vec<Level>,
    pub waves: BTreeMap<u32, Wave>,
    pub progress: Progress,
    /// Unit of each instruction, by place in the listing; 255 = none seen.
    pub units: Vec<u8>,
    pub cycles: u64,
    pub events: u64,
    /// By block: everything that later blocks tell was over at this cycle or later.
    told: Vec<u64>,
    /// Spans that began before the block that is two before the one that tells them, by that one.
    late: Vec<Late>,
    /// State before a block.
    kept: Vec<(usize, Tracker)>,
    /// Instructions in each block: a bit for each place in the listing.
    pcs: Vec<Vec<u64>>,
    /// Least and greatest line touched in each block.
    lines: Vec<(u64, u64)>,
}

impl Index {
    /// The blocks that say something about the cycles `from..to`, first and the one after the last, if they do not say it late.
    pub fn range(&self, from: u64, to: u64) -> (usize, usize) {
        let before = |cycle: u64| self.told.partition_point(|t| *t < cycle);
        // What the block after that tells may have begun inside, and is not late.
        let last = (before(to) + 2).min(self.told.len());
        (before(from).min(last), last)
    }

    /// What is told in this block or a later one, and is late.
    pub fn late(&self, block: usize) -> &[Late] {
        &self.late[self.late.partition_point(|l| l.told < block)..]
    }

    /// The latest kept state at or before a block: the block to read from, and the state before it.
    pub fn state(&self, block: usize) -> (usize, Tracker) {
        let after = self.kept.partition_point(|k| k.0 <= block);
        match after.checked_sub(1).and_then(|i| self.kept.get(i)) {
            Some((first, tracker)) => (*first, tracker.clone()),
            None => (0, Tracker::default()),
        }
    }

    /// Follows all waves through a range of blocks, and tells what was under way then and is told behind it.
    pub fn follow<E>(
        &self,
        (first, last): (usize, usize),
        mut read: impl FnMut(usize) -> Result<Arc<Block>, E>,
        take: &mut impl Take,
    ) -> Result<(), E> {
        let (start, mut tracker) = self.state(first);
        for number in start..last {
            let block = read(number)?;
            if number < first {
                block.events.iter().for_each(|e| tracker.event(e, &mut Nobody));
            } else {
                block.events.iter().for_each(|e| tracker.event(e, take));
            }
        }
        tracker.open(self.cycles, take);
        self.late(last).iter().for_each(|l| take.span(l.core, l.slot, l.span));
        Ok(())
    }

    /// Whether a block has one of these instructions (places in the listing).
    pub fn has(&self, block: usize, wanted: &[u64]) -> bool {
        self.pcs.get(block).is_some_and(|have| have.iter().zip(wanted).any(|(a, b)| a & b != 0))
    }

    /// Whether a block may touch an address of `first..=last`.
    pub fn touches(&self, block: usize, first: u64, last: u64) -> bool {
        self.lines.get(block).is_some_and(|&(low, high)| low <= last && first <= high)
    }

    pub fn row(&self, core: u16, slot: u16) -> Option<usize> {
        self.rows.binary_search(&(core, slot)).ok()
    }
}

/// Makes an index from the blocks of a trace, in order.
pub struct Builder {
    tracker: Tracker,
    rows: Rows,
    index: Index,
    places: PcIndex,
    lanes: u32,
    since: u64,
}

/// Buckets by core and slot.
struct Rows {
    rows: BTreeMap<(u16, u16), Buckets>,
    empty: Buckets,
    waves: BTreeMap<u32, Wave>,
    /// The block that is read, and before when a span begins that it tells late.
    number: usize,
    behind: u64,
    late: Vec<Late>,
}

impl Take for Rows {
    fn span(&mut self, core: u16, slot: u16, span: Span) {
        self.rows.entry((core, slot)).or_insert_with(|| self.empty.clone()).add(&span);
        if span.from < self.behind {
            self.late.push(Late { core, slot, span, told: self.number });
        }
    }

    fn resident(&mut self, core: u16, slot: u16, resident: Resident) {
        let wave = self.waves.entry(resident.wave).or_default();
        (wave.core, wave.slot, wave.from, wave.to) = (core, slot, resident.from, resident.to);
    }
}

impl Builder {
    /// `cycles`: after the last event.
    pub fn new(info: &TraceInfo, cycles: u64) -> Builder {
        let rows = (info.cores as usize * info.slots as usize).max(1);
        let empty = Buckets::new(0, cycles, (BUCKETS / rows).max(FEWEST));
        Builder {
            tracker: Tracker::default(),
            rows: Rows {
                rows: BTreeMap::new(),
                empty,
                waves: BTreeMap::new(),
                number: 0,
                behind: 0,
                late: Vec::new(),
            },
            index: Index { units: vec![u8::MAX; info.code.len()], cycles, ..Index::default() },
            places: PcIndex::new(&info.code),
            lanes: info.lanes.clamp(1, 64),
            since: KEEP,
        }
    }

    pub fn block(&mut self, number: usize, info: &BlockInfo, events: &[Event], lines: Option<(u64, u64)>) {
        if self.since >= KEEP {
            self.index.kept.push((number, self.tracker.clone()));
            self.since = 0;
        }
        self.since += u64::from(info.events);
        self.index.events += events.len() as u64;
        self.rows.number = number;
        self.rows.behind = number.checked_sub(2).and_then(|b| self.index.told.get(b)).copied().unwrap_or(0);
        let mut told = self.index.told.last().copied().unwrap_or(0);
        let mut pcs = vec![0u64; self.index.units.len().div_ceil(64)];
        for event in events {
            self.tracker.event(event, &mut self.rows);
            told = told.max(over(event));
            let place = self.places.find(event.pc);
            if let Some(bits) = place.and_then(|i| pcs.get_mut(i / 64).map(|w| (w, 1 << (i % 64)))) {
                *bits.0 |= bits.1;
            }
            if let Kind::Issue { unit, .. } = event.kind {
                if let Some(i) = place {
                    self.index.units[i] = unit;
                }
                self.rows.waves.entry(event.wave).or_default().instructions += 1;
                self.index.progress.issue(event);
            }
        }
        self.index.told.push(told);
        self.index.pcs.push(pcs);
        self.index.lines.push(lines.unwrap_or((u64::MAX, 0)));
    }

    pub fn finish(mut self) -> Index {
        self.tracker.open(self.index.cycles, &mut self.rows);
        let mut index = self.index;
        index.waves = self.rows.waves;
        index.late = self.rows.late;
        index.rows = self.rows.rows.keys().copied().collect();
        let mut rows: Vec<Buckets> = self.rows.rows.into_values().collect();
        loop {
            let width = rows.first().map_or(1, |b| b.width);
            let cells = rows.iter().map(|b| b.cells(self.lanes)).collect();
            index.levels.push(Level { width, rows: cells });
            if rows.first().is_none_or(|b| b.sums.len() <= COARSEST) {
                return index;
            }
            rows = rows.iter().map(Buckets::coarser).collect();
        }
    }
}

/// The cycle at which an event was told, or a little before.
fn over(event: &Event) -> u64 {
    match event.kind {
        Kind::Stall { cycles, .. } => event.cycle.saturating_add(cycles.into()),
        Kind::WaveStart { .. }
        | Kind::WaveEnd
        | Kind::Issue { .. }
        | Kind::Nop
        | Kind::Mask { .. }
        | Kind::Split { .. }
        | Kind::PathNew { .. }
        | Kind::PathStart { .. }
        | Kind::PathEnd { .. }
        | Kind::PathMerge { .. }
        | Kind::SplitRefused { .. }
        | Kind::Memory { .. }
        | Kind::Barrier { .. } => event.cycle,
    }
}

/// Takes nothing.
struct Nobody;

impl Take for Nobody {
    fn span(&mut self, _: u16, _: u16, _: Span) {}
    fn resident(&mut self, _: u16, _: u16, _: Resident) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_trace::StallReason;

    #[derive(Default)]
    struct All(Vec<(u16, u16, Span)>);

    impl Take for All {
        fn span(&mut self, core: u16, slot: u16, span: Span) {
            self.0.push((core, slot, span));
        }
        fn resident(&mut self, _: u16, _: u16, _: Resident) {}
    }

    impl All {
        /// What overlaps a window, in one order.
        fn within(&self, from: u64, to: u64) -> Vec<String> {
            let inside = self.0.iter().filter(|s| s.2.from < to && s.2.to > from);
            let mut texts: Vec<String> = inside.map(|s| format!("{s:?}")).collect();
            texts.sort();
            texts
        }
    }

    /// Waves that issue, and wait for 1 to 2,000 cycles; a wait is told when it is over.
    fn blocks(seed: u64, each: usize) -> Vec<Arc<Block>> {
        let mut state = seed;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let slots = 6;
        let event = |slot: usize, cycle, kind| Event {
            cycle,
            core: 0,
            slot: slot as u16,
            wave: slot as u32,
            path: 0,
            pc: 0,
            mask: 0xf,
            kind,
        };
        let mut events: Vec<Event> =
            (0..slots).map(|s| event(s, 0, Kind::WaveStart { lanes: 0xf })).collect();
        // When each wave issued last, and issues next.
        let mut waves: Vec<(u64, u64)> = vec![(0, 1); slots];
        for _ in 0..600 {
            let Some(slot) = (0..slots).min_by_key(|s| waves[*s].1) else { break };
            let (last, now) = waves[slot];
            let cycles = (now - last - 1) as u32;
            if last > 0 && cycles > 0 && random(8) > 0 {
                events.push(event(slot, last + 1, Kind::Stall { cycles, reason: StallReason::Memory }));
            }
            events.push(event(slot, now, Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 }));
            let most = [3, 3, 3, 40, 2000][random(5) as usize];
            waves[slot] = (now, now + 1 + random(most));
        }
        let block = |e: &[Event]| Arc::new(Block { events: e.to_vec(), ..Block::default() });
        events.chunks(each).map(block).collect()
    }

    fn index(blocks: &[Arc<Block>]) -> Index {
        let info = TraceInfo { cores: 1, slots: 6, lanes: 4, ..TraceInfo::default() };
        let mut builder = Builder::new(&info, 100_000);
        let mut first_event = 0;
        for (i, block) in blocks.iter().enumerate() {
            // So many that every block's state is kept, and some are not.
            let events = if i % 3 == 0 { KEEP as u32 } else { 1 };
            builder.block(i, &BlockInfo { events, first_event, ..BlockInfo::default() }, &block.events, None);
            first_event += block.events.len() as u64;
        }
        builder.finish()
    }

    fn whole(blocks: &[Arc<Block>]) -> All {
        let (mut tracker, mut all) = (Tracker::default(), All::default());
        blocks.iter().flat_map(|b| &b.events).for_each(|e| tracker.event(e, &mut all));
        all
    }

    /// Few blocks and what is told late are as good as the whole trace.
    #[test]
    fn a_window_has_all_its_spans() {
        let (mut late, mut read) = (0, 0);
        for seed in 1..25 {
            let blocks = blocks(seed, 1 + seed as usize % 23);
            let (index, all) = (index(&blocks), whole(&blocks));
            late += index.late.len();
            for n in 0..40 {
                let from = n * 137 % 3000;
                let to = from + 1 + n % 50;
                let (first, last) = index.range(from, to);
                let mut found = All::default();
                let block = |i: usize| Ok::<_, ()>(Arc::clone(&blocks[i]));
                assert_eq!(index.follow((first, last), block, &mut found), Ok(()));
                assert_eq!(found.within(from, to), all.within(from, to), "seed {seed}, {from}..{to}");
                read += last - first;
            }
        }
        assert!(late > 500 && read < 25 * 40 * 60, "{late} are late, {read} blocks were read");
    }

    /// The test above sees it when what is late is forgotten.
    #[test]
    fn a_window_without_what_is_late_misses_spans() {
        let blocks = blocks(7, 4);
        let (mut index, all) = (index(&blocks), whole(&blocks));
        index.late.clear();
        let missed = (0..40).filter(|n| {
            let (from, to) = (n * 137 % 3000, n * 137 % 3000 + 20);
            let mut found = All::default();
            let block = |i: usize| Ok::<_, ()>(Arc::clone(&blocks[i]));
            index.follow(index.range(from, to), block, &mut found) == Ok(())
                && found.within(from, to) != all.within(from, to)
        });
        assert!(missed.count() > 5);
    }
}
