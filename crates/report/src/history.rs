//! The execution history of the GUPPY document ("Diagram legend"), for any machine: what each lane of
//! each slot did in each cycle, which wave each unit worked for, and what the caches answered.
//! Kept as run-length spans, only for the cycles asked for.

use wb_trace::spans::{self, State, Take, Tracker};
use wb_trace::{Event, Kind, Mask, Observer, PortKind, SlotTable, StallReason, TraceInfo};

/// What a lane does in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cell {
    /// No wave in the slot.
    Empty,
    /// The wave is there, the lane has exited or was never launched.
    Ended,
    /// Live but not in the mask of any running path.
    Masked,
    /// An instruction was issued for the lane.
    Dispatched,
    /// Waits for an arithmetic result.
    Dependency,
    /// Waits for memory.
    Memory,
    /// Could go on but did not: unit busy, not selected, no instruction fetched, barrier, merge.
    NotDispatched,
}

impl Cell {
    pub const ALL: [Cell; 7] = [
        Cell::Empty,
        Cell::Ended,
        Cell::Masked,
        Cell::Dispatched,
        Cell::Dependency,
        Cell::Memory,
        Cell::NotDispatched,
    ];

    fn of(state: State) -> Cell {
        match state.reason() {
            None if state == State::WORK => Cell::Dispatched,
            Some(StallReason::Dependency) => Cell::Dependency,
            Some(StallReason::Memory) => Cell::Memory,
            None | Some(_) => Cell::NotDispatched,
        }
    }
}

/// The lanes of `mask` are in state `cell` from cycle `from` up to, not including, `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: u64,
    pub to: u64,
    pub mask: Mask,
    pub cell: Cell,
    /// Path of the wave, 0 unless it is split.
    pub path: u16,
}

/// A wave holds a slot with these live lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    pub from: u64,
    pub to: u64,
    pub live: Mask,
    pub wave: u32,
}

/// A unit works for a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    pub from: u64,
    pub to: u64,
    pub wave: u32,
}

/// What a cache answered in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    pub cycle: u64,
    pub hits: u32,
    pub misses: u32,
    pub evictions: u32,
}

#[derive(Default)]
struct SlotHistory {
    residents: Vec<Resident>,
    spans: Vec<Span>,
    /// The wave in the slot now; `to` is not known yet.
    now: Option<Resident>,
}

/// How many records are kept unless told otherwise (about 130 MB).
const LIMIT: usize = 4_000_000;
/// Neighbours searched for a span to prolong; more than the paths that usually run side by side.
const MERGE_WINDOW: usize = 4;

/// Collects the history while it listens.
pub struct History {
    info: TraceInfo,
    window: Window,
    tracker: Tracker,
    slots: SlotTable<SlotHistory>,
    units: Vec<Vec<Vec<Busy>>>,
    unit_first: Vec<usize>,
    unit_total: usize,
    ports: Vec<[Vec<Access>; 2]>,
    lanes_seen: Mask,
    /// A wave was split.
    split: bool,
    after_last: u64,
    end: Option<u64>,
}

/// The cycles that are kept, and how much of them there is room for.
struct Window {
    from: u64,
    to: u64,
    records: usize,
    limit: usize,
    cut: Option<u64>,
}

impl Window {
    /// The part of `from..to` to keep.
    fn clip(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let (from, to) = (from.max(self.from), to.min(self.to));
        (from < to && self.records < self.limit.saturating_mul(2)).then_some((from, to))
    }

    /// Counts a record; when there are too many the window closes at `at`.
    fn count(&mut self, at: u64) {
        self.records += 1;
        if self.records > self.limit && self.cut.is_none() {
            self.to = self.to.min(at.saturating_add(1));
            self.cut = Some(self.to);
        }
    }
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// Keeps the whole run, as far as memory for it is allowed.
    pub fn new() -> Self {
        Self::range(0, None)
    }

    /// Keeps the cycles `from..to` only.
    pub fn range(from: u64, to: Option<u64>) -> Self {
        let to = to.unwrap_or(u64::MAX).max(from);
        History {
            info: TraceInfo::default(),
            window: Window { from, to, records: 0, limit: LIMIT, cut: None },
            tracker: Tracker::default(),
            slots: SlotTable::default(),
            units: Vec::new(),
            unit_first: Vec::new(),
            unit_total: 0,
            ports: Vec::new(),
            lanes_seen: 0,
            split: false,
            after_last: 0,
            end: None,
        }
    }

    /// Changes how many records (32 bytes each) are kept before the history is cut off.
    pub fn with_limit(mut self, records: usize) -> Self {
        self.window.limit = records.max(1);
        self
    }

    pub fn info(&self) -> &TraceInfo {
        &self.info
    }

    /// First cycle kept and the cycle after the last.
    pub fn cycles(&self) -> (u64, u64) {
        let end = self.end.unwrap_or(self.after_last).min(self.window.to);
        (self.window.from, end.max(self.window.from))
    }

    /// Where the history was cut off because there was too much of it.
    pub fn cut(&self) -> Option<u64> {
        self.window.cut
    }

    /// Lanes of a wave: as the machine says, or as far as masks reached.
    pub fn lanes(&self) -> u32 {
        match self.info.lanes {
            0 => (64 - self.lanes_seen.leading_zeros()).max(1),
            lanes => lanes.min(64),
        }
    }

    /// Cores and slots that were ever mentioned, and whether a wave was in them in the kept cycles.
    pub fn slots(&self) -> Vec<(u16, u16, bool)> {
        let used = |slot: &SlotHistory| !slot.residents.is_empty() || slot.now.is_some();
        self.slots.iter().map(|(core, slot, history)| (core, slot, used(history))).collect()
    }

    /// Whether a wave ever had more than one path.
    pub fn is_split(&self) -> bool {
        self.split
    }

    /// Who was in a slot, in order.
    pub fn residents(&self, core: u16, slot: u16) -> Vec<Resident> {
        let Some(history) = self.slots.get(core, slot) else { return Vec::new() };
        let mut all = history.residents.clone();
        if let Some(now) = history.now
            && let Some((from, to)) = self.window.clip(now.from, self.cycles().1)
        {
            all.push(Resident { from, to, ..now });
        }
        all
    }

    /// What the lanes in running paths did; lanes in no span are masked off.
    pub fn spans(&self, core: u16, slot: u16) -> &[Span] {
        self.slots.get(core, slot).map_or(&[], |history| &history.spans)
    }

    /// Work of copy `instance` of unit `unit`.
    pub fn unit(&self, core: u16, unit: usize, instance: u32) -> &[Busy] {
        let Some(&first) = self.unit_first.get(unit) else { return &[] };
        let Some(info) = self.info.units.get(unit).filter(|u| instance < u.instances) else { return &[] };
        debug_assert!(instance < info.instances);
        let core = self.units.get(core as usize);
        core.and_then(|units| units.get(first + instance as usize)).map_or(&[], Vec::as_slice)
    }

    /// Accesses of the sampler or data port; other ports are not kept.
    pub fn accesses(&self, core: u16, port: PortKind) -> &[Access] {
        let ports = self.ports.get(core as usize);
        match (ports, port_index(port)) {
            (Some(ports), Some(i)) => &ports[i],
            _ => &[],
        }
    }

    /// The port the cache bar shows: the sampler where there is one, else data.
    pub fn bar_port(&self) -> Option<PortKind> {
        let used = |i: usize| self.ports.iter().any(|ports| !ports[i].is_empty());
        if used(0) {
            Some(PortKind::Sampler)
        } else if used(1) {
            Some(PortKind::Data)
        } else {
            None
        }
    }

    /// What one lane did in one cycle. Slow: it searches; pictures paint whole spans instead.
    pub fn cell(&self, core: u16, slot: u16, lane: u32, cycle: u64) -> Cell {
        let bit = 1u64.checked_shl(lane).unwrap_or(0);
        let residents = self.residents(core, slot);
        let Some(resident) = residents.iter().find(|r| r.from <= cycle && cycle < r.to) else {
            return Cell::Empty;
        };
        let spans = self.spans(core, slot);
        match spans.iter().rev().find(|s| s.from <= cycle && cycle < s.to && s.mask & bit != 0) {
            Some(span) => span.cell,
            None if resident.live & bit != 0 => Cell::Masked,
            None => Cell::Ended,
        }
    }

    fn one(&mut self, event: &Event) {
        self.after_last = self.after_last.max(event.cycle.saturating_add(1));
        self.lanes_seen |= event.mask;
        self.slots.get_mut(event.core, event.slot);
        self.tracker.event(event, &mut Kept { slots: &mut self.slots, window: &mut self.window });
        match event.kind {
            Kind::WaveStart { lanes } => self.lanes_seen |= lanes,
            Kind::Issue { unit, instance, busy, .. } => {
                self.work(event, unit, instance, event.cycle.saturating_add(u64::from(busy)));
            }
            Kind::Stall { cycles, .. } => {
                self.after_last = self.after_last.max(event.cycle.saturating_add(cycles.into()));
            }
            Kind::PathStart { .. } => self.split = true,
            Kind::Memory { port, hits, misses, evictions, .. } => {
                self.access(event, port, [hits, misses, evictions]);
            }
            Kind::WaveEnd
            | Kind::Mask { .. }
            | Kind::Split { .. }
            | Kind::PathNew { .. }
            | Kind::PathMerge { .. }
            | Kind::PathEnd { .. }
            | Kind::SplitRefused { .. }
            | Kind::Barrier { .. }
            | Kind::Nop => {}
        }
    }

    fn work(&mut self, event: &Event, unit: u8, instance: u8, until: u64) {
        let Some(info) = self.info.units.get(unit as usize) else { return };
        if u32::from(instance) >= info.instances {
            return;
        }
        let until = until.max(event.cycle.saturating_add(1));
        let Some((from, to)) = self.window.clip(event.cycle, until) else { return };
        let core = event.core as usize;
        if self.units.len() <= core {
            self.units.resize(core + 1, Vec::new());
        }
        let units = &mut self.units[core];
        units.resize(self.unit_total, Vec::new());
        let list = &mut units[self.unit_first[unit as usize] + instance as usize];
        match list.last_mut() {
            Some(last) if last.wave == event.wave && last.to >= from => last.to = last.to.max(to),
            _ => {
                list.push(Busy { from, to, wave: event.wave });
                self.window.count(from);
            }
        }
    }

    fn access(&mut self, event: &Event, port: PortKind, counts: [u16; 3]) {
        let Some(port) = port_index(port) else { return };
        let cycle = event.cycle;
        if self.window.clip(cycle, cycle.saturating_add(1)).is_none() {
            return;
        }
        let core = event.core as usize;
        if self.ports.len() <= core {
            self.ports.resize_with(core + 1, Default::default);
        }
        let list = &mut self.ports[core][port];
        if list.last().is_none_or(|last| last.cycle != cycle) {
            list.push(Access { cycle, ..Access::default() });
            self.window.count(cycle);
        }
        if let Some(last) = list.last_mut() {
            last.hits += u32::from(counts[0]);
            last.misses += u32::from(counts[1]);
            last.evictions += u32::from(counts[2]);
        }
    }
}

fn port_index(port: PortKind) -> Option<usize> {
    match port {
        PortKind::Sampler => Some(0),
        PortKind::Data => Some(1),
        _ => None,
    }
}

/// Keeps what the tracker finds, as far as it lies in the window.
struct Kept<'a> {
    slots: &'a mut SlotTable<SlotHistory>,
    window: &'a mut Window,
}

impl Take for Kept<'_> {
    fn span(&mut self, core: u16, slot: u16, span: spans::Span) {
        let spans::Span { from, to, mask, path, state, .. } = span;
        let span = Span { from, to, mask, cell: Cell::of(state), path };
        self.slots.get_mut(core, slot).add(self.window, span);
    }

    fn arrived(&mut self, core: u16, slot: u16, resident: spans::Resident) {
        let spans::Resident { from, to, wave, lanes } = resident;
        self.slots.get_mut(core, slot).now = Some(Resident { from, to, live: lanes, wave });
    }

    fn resident(&mut self, core: u16, slot: u16, resident: spans::Resident) {
        let slot = self.slots.get_mut(core, slot);
        if let Some(now) = slot.now.take() {
            slot.leave(self.window, now, resident.to);
        }
    }

    fn live(&mut self, core: u16, slot: u16, at: u64, live: Mask) {
        let slot = self.slots.get_mut(core, slot);
        if let Some(now) = slot.now.filter(|now| now.live != live) {
            slot.leave(self.window, now, at);
            slot.now = Some(Resident { from: at.max(now.from), live, ..now });
        }
    }
}

impl SlotHistory {
    /// The wave was there with these live lanes up to cycle `to`.
    fn leave(&mut self, window: &mut Window, now: Resident, to: u64) {
        if let Some((from, to)) = window.clip(now.from, to) {
            self.residents.push(Resident { from, to, ..now });
            window.count(from);
        }
    }

    fn add(&mut self, window: &mut Window, span: Span) {
        let Some((from, to)) = window.clip(span.from, span.to) else { return };
        if span.mask == 0 {
            return;
        }
        let start = self.spans.len().saturating_sub(MERGE_WINDOW);
        let near = self.spans[start..].iter_mut().rev();
        for old in near {
            if old.to == from && old.mask == span.mask && old.cell == span.cell && old.path == span.path {
                old.to = to;
                return;
            }
        }
        self.spans.push(Span { from, to, ..span });
        window.count(from);
    }
}

impl Observer for History {
    fn begin(&mut self, info: &TraceInfo) {
        let (from, to, limit) = (self.window.from, self.window.to, self.window.limit);
        *self = History::range(from, Some(to)).with_limit(limit);
        for unit in &info.units {
            self.unit_first.push(self.unit_total);
            self.unit_total += unit.instances as usize;
        }
        self.info = info.clone();
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            self.one(event);
        }
    }

    fn end(&mut self, cycles: u64) {
        self.end = Some(cycles);
    }
}
