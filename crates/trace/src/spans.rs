//! From events to spans: what the lanes of every path did from one cycle to another. The tracker's state is small and can be
//! kept, so that any window of a long trace is drawn without reading the trace from its beginning. Pictures and the viewer
//! follow waves by it.

use crate::{Event, Kind, Mask, NO_PC, Pc, SlotTable, StallReason};

/// What the lanes of a path do: work, wait for one of the [`StallReason`]s, or wait without a reason in the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State(u8);

impl State {
    pub const WORK: State = State(0);
    pub const OTHER: State = State(StallReason::ALL.len() as u8 + 1);
    pub const COUNT: usize = StallReason::ALL.len() + 2;

    pub fn of(reason: StallReason) -> State {
        State(reason as u8 + 1)
    }

    /// What it waits for; none: it works, or the trace has no reason.
    pub fn reason(self) -> Option<StallReason> {
        self.index().checked_sub(1).and_then(|i| StallReason::ALL.get(i)).copied()
    }

    /// Its place in [`State::names`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn at(index: usize) -> State {
        State(index.min(Self::COUNT - 1) as u8)
    }

    pub fn names() -> Vec<&'static str> {
        let waits = StallReason::ALL.iter().map(|r| r.name());
        std::iter::once("work").chain(waits).chain(std::iter::once("other")).collect()
    }
}

/// The lanes of `mask` were in `state` from cycle `from` up to, not including, `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: u64,
    pub to: u64,
    pub mask: Mask,
    /// The instruction that was issued, or that waited to be.
    pub pc: Pc,
    pub wave: u32,
    pub path: u16,
    pub state: State,
}

/// A wave held a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    pub from: u64,
    pub to: u64,
    pub wave: u32,
    /// Lanes that were launched.
    pub lanes: Mask,
}

/// Takes what the tracker finds.
pub trait Take {
    fn span(&mut self, core: u16, slot: u16, span: Span);
    /// A wave left its slot.
    fn resident(&mut self, core: u16, slot: u16, resident: Resident);
    /// A wave came; `to` is not known yet.
    fn arrived(&mut self, _core: u16, _slot: u16, _resident: Resident) {}
    /// The lanes of the slot's wave that have not ended, from cycle `at` on.
    fn live(&mut self, _core: u16, _slot: u16, _at: u64, _lanes: Mask) {}
}

/// A path as of its last event.
#[derive(Clone, Copy, Debug)]
struct PathNow {
    path: u16,
    mask: Mask,
    /// First cycle not accounted for.
    next: u64,
    /// The last instruction keeps its unit until here.
    busy: u64,
    pc: Pc,
}

#[derive(Clone, Debug, Default)]
struct SlotNow {
    now: Option<Resident>,
    paths: Vec<PathNow>,
}

/// Follows the waves of a trace.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    slots: SlotTable<SlotNow>,
}

impl Tracker {
    pub fn event(&mut self, event: &Event, take: &mut impl Take) {
        let (core, id) = (event.core, event.slot);
        let slot = self.slots.get_mut(core, id);
        let span = |from, to, pc, state| Span {
            from,
            to,
            mask: event.mask,
            pc,
            wave: event.wave,
            path: event.path,
            state,
        };
        match event.kind {
            Kind::WaveStart { lanes } => {
                slot.close(core, id, event.cycle, take);
                let from = event.cycle;
                let resident = Resident { from, to: from, wave: event.wave, lanes };
                slot.now = Some(resident);
                take.arrived(core, id, resident);
                let path = event.path;
                slot.paths = vec![PathNow { path, mask: lanes, next: from, busy: from, pc: NO_PC }];
            }
            Kind::WaveEnd => slot.close(core, id, event.cycle, take),
            Kind::Issue { busy, .. } => {
                slot.catch_up(event, take);
                let (from, to) = (event.cycle, event.cycle.saturating_add(1));
                take.span(core, id, span(from, to, event.pc, State::WORK));
                slot.advance(event, to, from.saturating_add(u64::from(busy)), event.pc);
            }
            Kind::Stall { cycles, reason } => {
                slot.catch_up(event, take);
                let (from, to) = (event.cycle, event.cycle.saturating_add(cycles.into()));
                take.span(core, id, span(from, to, event.pc, State::of(reason)));
                slot.advance(event, to, to, event.pc);
            }
            Kind::Mask { new, live, .. } => {
                slot.catch_up(event, take);
                let at = slot.advance(event, event.cycle, event.cycle, event.pc);
                take.live(core, id, at, live);
                if let Some(path) = slot.paths.iter_mut().find(|p| p.path == event.path) {
                    path.mask = new;
                }
            }
            Kind::PathStart { lanes } => {
                let next = event.cycle.saturating_add(1);
                slot.paths.retain(|p| p.path != event.path);
                slot.paths.push(PathNow { path: event.path, mask: lanes, next, busy: next, pc: event.pc });
            }
            Kind::PathEnd { .. } => slot.paths.retain(|p| p.path != event.path),
            Kind::PathMerge { lanes } => {
                slot.paths.retain(|p| p.path == event.path || p.mask & !lanes != 0);
            }
            Kind::Split { .. }
            | Kind::PathNew { .. }
            | Kind::SplitRefused { .. }
            | Kind::Memory { .. }
            | Kind::Barrier { .. }
            | Kind::Nop => {}
        }
    }

    /// The waves that are in their slots now, up to cycle `to`.
    pub fn open(&self, to: u64, take: &mut impl Take) {
        for (core, id, slot) in self.slots.iter() {
            if let Some(now) = slot.now {
                take.resident(core, id, Resident { to: to.max(now.from), ..now });
            }
        }
    }
}

impl SlotNow {
    fn close(&mut self, core: u16, id: u16, cycle: u64, take: &mut impl Take) {
        let to = self.paths.iter().map(|p| p.next).fold(cycle, u64::max);
        if let Some(now) = self.now.take() {
            take.resident(core, id, Resident { to, ..now });
        }
        self.paths.clear();
    }

    /// Accounts for the cycles between the path's last event and this one: its unit still takes the instruction in, then it waits.
    fn catch_up(&mut self, event: &Event, take: &mut impl Take) {
        let Some(path) = self.paths.iter().find(|p| p.path == event.path).copied() else { return };
        // Another mask means that the number was given to other lanes meanwhile.
        if event.cycle <= path.next || event.mask != path.mask {
            return;
        }
        let busy = path.busy.clamp(path.next, event.cycle);
        let part = |from, to, pc, state| Span {
            from,
            to,
            mask: path.mask,
            pc,
            wave: event.wave,
            path: path.path,
            state,
        };
        if path.next < busy {
            take.span(event.core, event.slot, part(path.next, busy, path.pc, State::WORK));
        }
        if busy < event.cycle {
            take.span(event.core, event.slot, part(busy, event.cycle, event.pc, State::OTHER));
        }
    }

    /// Notes that the path is accounted for up to `next`; returns the first cycle that is not.
    fn advance(&mut self, event: &Event, next: u64, busy: u64, pc: Pc) -> u64 {
        let now = PathNow { path: event.path, mask: event.mask, next, busy, pc };
        match self.paths.iter_mut().find(|p| p.path == event.path) {
            Some(path) => {
                *path = PathNow { next: path.next.max(next), busy: path.busy.max(busy), ..now };
                path.next
            }
            None => {
                self.paths.push(now);
                next
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct All(Vec<Span>, Vec<Resident>);

    impl Take for All {
        fn span(&mut self, _: u16, _: u16, span: Span) {
            self.0.push(span);
        }
        fn resident(&mut self, _: u16, _: u16, resident: Resident) {
            self.1.push(resident);
        }
    }

    fn event(cycle: u64, pc: Pc, kind: Kind) -> Event {
        Event { cycle, core: 0, slot: 0, wave: 7, path: 0, pc, mask: 0xf, kind }
    }

    #[test]
    fn every_cycle_of_a_wave_is_accounted_for_once() {
        let issue = |busy| Kind::Issue { unit: 0, instance: 0, class: 0, busy };
        let events = [
            event(2, 0, Kind::WaveStart { lanes: 0xf }),
            event(2, 0, issue(4)),
            event(8, 1, Kind::Stall { cycles: 3, reason: StallReason::Memory }),
            event(11, 1, issue(1)),
            event(12, 1, Kind::WaveEnd),
        ];
        let (mut tracker, mut all) = (Tracker::default(), All::default());
        events.iter().for_each(|e| tracker.event(e, &mut all));
        let mut at = 2;
        for span in &all.0 {
            assert_eq!(span.from, at);
            at = span.to;
        }
        assert_eq!(at, 12);
        let work: u64 = all.0.iter().filter(|s| s.state == State::WORK).map(|s| s.to - s.from).sum();
        assert_eq!(work, 5, "four cycles of the first instruction, one of the second");
        assert_eq!(all.1, [Resident { from: 2, to: 12, wave: 7, lanes: 0xf }]);
    }
}
