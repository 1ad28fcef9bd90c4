//! What one pass over a trace leaves behind, so that every later question looks at a small part of it: rows of buckets in several
//! widths, the state of all waves at some blocks, which instructions each block has, and how far each wave had come when.

use crate::cells::{Buckets, Cell};
use crate::progress::Progress;
use std::collections::BTreeMap;
use wb_trace::spans::{Resident, Span, Take, Tracker};
use wb_trace::{BlockInfo, Event, Kind, PcIndex, TraceInfo};

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
    /// State before a block.
    kept: Vec<(usize, Tracker)>,
    /// Instructions in each block: a bit for each place in the listing.
    pcs: Vec<Vec<u64>>,
    /// Least and greatest line touched in each block.
    lines: Vec<(u64, u64)>,
}

impl Index {
    /// The latest kept state at or before a block: the block to read from, and the state before it.
    pub fn state(&self, block: usize) -> (usize, Tracker) {
        let after = self.kept.partition_point(|k| k.0 <= block);
        match after.checked_sub(1).and_then(|i| self.kept.get(i)) {
            Some((first, tracker)) => (*first, tracker.clone()),
            None => (0, Tracker::default()),
        }
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
}

impl Take for Rows {
    fn span(&mut self, core: u16, slot: u16, span: Span) {
        self.rows.entry((core, slot)).or_insert_with(|| self.empty.clone()).add(&span);
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
            rows: Rows { rows: BTreeMap::new(), empty, waves: BTreeMap::new() },
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
        let mut pcs = vec![0u64; self.index.units.len().div_ceil(64)];
        for event in events {
            self.tracker.event(event, &mut self.rows);
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
        self.index.pcs.push(pcs);
        self.index.lines.push(lines.unwrap_or((u64::MAX, 0)));
    }

    pub fn finish(mut self) -> Index {
        self.tracker.open(self.index.cycles, &mut self.rows);
        let mut index = self.index;
        index.waves = self.rows.waves;
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
