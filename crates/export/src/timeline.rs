//! Events as spans on tracks, for formats that show a timeline: waves on their slots, instructions and stalls within them, units,
//! ports with their counters, and flows from where something begins to where it ends.

use std::collections::BTreeMap;
use wb_trace::{Event, Kind, Pc, PortKind, SlotTable, StallReason};

/// A row of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Track {
    /// Path 0 shares it with its wave.
    Path {
        core: u16,
        slot: u16,
        path: u16,
    },
    Unit {
        core: u16,
        unit: u8,
        instance: u8,
    },
    Port {
        core: u16,
        port: PortKind,
    },
}

impl Track {
    pub fn core(self) -> u16 {
        match self {
            Track::Path { core, .. } | Track::Unit { core, .. } | Track::Port { core, .. } => core,
        }
    }
}

/// What a span or a mark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Wave(u32),
    Issue(Pc),
    Stall(StallReason),
    Unit(Pc),
    /// A path that was split off.
    Path(u16),
    Memory(PortKind),
    Done(Pc),
    Arrived,
    Released,
}

impl What {
    /// Categories by which tools filter and colour.
    pub fn category(self) -> &'static str {
        match self {
            What::Wave(_) => "wave",
            What::Issue(_) => "issue",
            What::Stall(_) => "stall",
            What::Unit(_) => "unit",
            What::Path(_) => "path",
            What::Memory(_) | What::Done(_) => "memory",
            What::Arrived | What::Released => "barrier",
        }
    }
}

/// A piece of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    /// A span that others lie within begins or ends.
    Begin {
        track: Track,
        at: u64,
        what: What,
    },
    End {
        track: Track,
        at: u64,
    },
    Span {
        track: Track,
        from: u64,
        to: u64,
        what: What,
        event: &'a Event,
    },
    /// `starts` and `ends` are flows.
    Mark {
        track: Track,
        at: u64,
        what: What,
        event: &'a Event,
        starts: Vec<u64>,
        ends: Vec<u64>,
    },
    /// Hits and misses of a port so far.
    Counts {
        track: Track,
        at: u64,
        hits: u64,
        misses: u64,
    },
}

#[derive(Default)]
struct Slot {
    wave: Option<u32>,
    /// End of the last span.
    over: u64,
}

/// Makes items of events.
#[derive(Default)]
pub(crate) struct Timeline {
    slots: SlotTable<Slot>,
    counts: BTreeMap<(u16, PortKind), (u64, u64)>,
    barriers: BTreeMap<u64, Vec<u64>>,
    flows: u64,
    last: u64,
}

impl Timeline {
    /// The items of one event.
    pub fn event<E>(&mut self, event: &Event, mut out: impl FnMut(Item) -> Result<(), E>) -> Result<(), E> {
        let Event { cycle, core, slot, wave, path, .. } = *event;
        let (main, track) = (Track::Path { core, slot, path: 0 }, Track::Path { core, slot, path });
        self.last = self.last.max(cycle);
        let place = self.slots.get_mut(core, slot);
        if place.wave != Some(wave) {
            // The beginning of the wave may lie before what was asked for, the end of another one, too.
            if place.wave.is_some() {
                out(Item::End { track: main, at: place.over.max(cycle) })?;
            }
            *place = Slot { wave: Some(wave), over: cycle };
            out(Item::Begin { track: main, at: cycle, what: What::Wave(wave) })?;
        }
        let mut span = |from: u64, to: u64, what: What| {
            place.over = place.over.max(to);
            out(Item::Span { track, from, to, what, event })
        };
        match event.kind {
            Kind::Issue { unit, instance, busy, .. } => {
                span(cycle, cycle.saturating_add(1), What::Issue(event.pc))?;
                if unit != u8::MAX {
                    let track = Track::Unit { core, unit, instance };
                    let to = cycle.saturating_add(u64::from(busy).max(1));
                    out(Item::Span { track, from: cycle, to, what: What::Unit(event.pc), event })?;
                }
            }
            Kind::Stall { cycles, reason } => {
                span(cycle, cycle.saturating_add(cycles.into()), What::Stall(reason))?;
            }
            Kind::WaveEnd => {
                let at = place.over.max(cycle);
                *place = Slot::default();
                out(Item::End { track: main, at })?;
            }
            Kind::PathStart { .. } if path != 0 => {
                out(Item::Begin { track, at: cycle, what: What::Path(path) })?;
            }
            Kind::PathEnd { .. } if path != 0 => {
                out(Item::End { track, at: place.over.max(cycle) })?;
            }
            Kind::Memory { port, hits, misses, done, .. } => {
                self.flows += 1;
                let flow = vec![self.flows];
                let what = What::Memory(port);
                out(Item::Mark { track, at: cycle, what, event, starts: flow.clone(), ends: vec![] })?;
                let track = Track::Port { core, port };
                let what = What::Done(event.pc);
                out(Item::Mark { track, at: done, what, event, starts: vec![], ends: flow })?;
                let sums = self.counts.entry((core, port)).or_default();
                *sums = (sums.0 + u64::from(hits), sums.1 + u64::from(misses));
                out(Item::Counts { track, at: cycle, hits: sums.0, misses: sums.1 })?;
            }
            Kind::Barrier { id, arrived, needed } => {
                self.flows += 1;
                let flow = self.flows;
                let waiting = self.barriers.entry(id).or_default();
                waiting.push(flow);
                let (starts, ends) = (vec![flow], vec![]);
                out(Item::Mark { track, at: cycle, what: What::Arrived, event, starts, ends })?;
                if arrived >= needed {
                    let ends = self.barriers.remove(&id).unwrap_or_default();
                    out(Item::Mark { track, at: cycle, what: What::Released, event, starts: vec![], ends })?;
                }
            }
            Kind::WaveStart { .. }
            | Kind::Nop
            | Kind::Split { .. }
            | Kind::Mask { .. }
            | Kind::PathNew { .. }
            | Kind::PathMerge { .. }
            | Kind::PathStart { .. }
            | Kind::PathEnd { .. }
            | Kind::SplitRefused { .. } => {}
        }
        Ok(())
    }

    /// Ends what is still open.
    pub fn finish<E>(&mut self, mut out: impl FnMut(Item) -> Result<(), E>) -> Result<(), E> {
        let open = self.slots.iter().filter(|(.., s)| s.wave.is_some());
        for (core, slot, place) in open {
            out(Item::End { track: Track::Path { core, slot, path: 0 }, at: place.over.max(self.last) })?;
        }
        Ok(())
    }
}
