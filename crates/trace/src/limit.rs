//! Limited traces: the events of some cycles and waves, and those before them that a reader needs to make sense of them.

use std::collections::BTreeMap;

use crate::{Event, Kind, TraceLimit};

/// `0-3,8` as ranges with both ends.
pub fn parse_waves(text: &str) -> Result<Vec<(u32, u32)>, String> {
    let wrong = || format!("`{text}` is not a list of waves, for example 0-3,8");
    let number = |t: &str| t.trim().parse::<u32>().map_err(|_| wrong());
    let range = |part: &str| match part.split_once('-') {
        Some((from, to)) => Ok((number(from)?, number(to)?)),
        None => number(part).map(|n| (n, n)),
    };
    let ranges: Vec<(u32, u32)> = text.split(',').map(range).collect::<Result<_, _>>()?;
    if ranges.iter().any(|r| r.0 > r.1) { Err(wrong()) } else { Ok(ranges) }
}

impl TraceLimit {
    /// Whether anything is left out.
    pub fn is_limit(&self) -> bool {
        *self != TraceLimit::default()
    }

    fn has_wave(&self, wave: u32) -> bool {
        self.waves.is_empty() || self.waves.iter().any(|w| w.0 <= wave && wave <= w.1)
    }

    /// Whether the event, or a part of a stall, lies in the cycles.
    fn has_cycle(&self, event: &Event) -> bool {
        let over = match event.kind {
            Kind::Stall { cycles, .. } => event.cycle.saturating_add(cycles.into()),
            _ => event.cycle.saturating_add(1),
        };
        over > self.from && self.to.is_none_or(|to| event.cycle < to)
    }
}

/// What is known of the wave in a slot before the first cycle that is wanted.
#[derive(Default)]
struct Before {
    wave: Option<u32>,
    /// Its start, the starts of its paths, and their newest masks, in that order for each path.
    events: Vec<Event>,
}

/// Chooses the events of a limited trace.
pub(crate) struct Limiter {
    limit: TraceLimit,
    slots: BTreeMap<(u16, u16), Before>,
}

impl Limiter {
    pub fn new(limit: TraceLimit) -> Limiter {
        Limiter { limit, slots: BTreeMap::new() }
    }

    /// Gives the event if it is wanted; the first of a wave comes after those that say how the wave got there.
    pub fn choose(&mut self, event: &Event, out: &mut Vec<Event>) {
        if !self.limit.has_wave(event.wave) {
            return;
        }
        let before = self.slots.entry((event.core, event.slot)).or_default();
        if before.wave != Some(event.wave) {
            *before = Before { wave: Some(event.wave), events: Vec::new() };
        }
        if self.limit.has_cycle(event) {
            out.append(&mut before.events);
            out.push(*event);
            return;
        }
        let path = event.path;
        match event.kind {
            Kind::WaveStart { .. } => before.events = vec![*event],
            Kind::PathStart { .. } => before.events.push(*event),
            Kind::Mask { .. } => {
                before.events.retain(|e| e.path != path || !matches!(e.kind, Kind::Mask { .. }));
                before.events.push(*event);
            }
            Kind::PathEnd { .. } => {
                before.events.retain(|e| e.path != path || matches!(e.kind, Kind::WaveStart { .. }));
            }
            Kind::WaveEnd => before.events.clear(),
            Kind::Issue { .. }
            | Kind::Nop
            | Kind::Stall { .. }
            | Kind::Split { .. }
            | Kind::PathNew { .. }
            | Kind::PathMerge { .. }
            | Kind::SplitRefused { .. }
            | Kind::Memory { .. }
            | Kind::Barrier { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MaskCause, NO_PC, StallReason};

    #[test]
    fn lists_of_waves() {
        assert_eq!(parse_waves("0-3,8"), Ok(vec![(0, 3), (8, 8)]));
        for wrong in ["", "a", "3-1", "1,,2", "-1"] {
            assert!(parse_waves(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_wave_comes_with_its_start_and_its_mask() {
        let event = |cycle, wave, kind| Event {
            cycle,
            core: 0,
            slot: wave as u16,
            wave,
            path: 0,
            pc: 0,
            mask: 1,
            kind,
        };
        let issue = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
        let mask = |new| Kind::Mask { new, live: 3, origin: NO_PC, cause: MaskCause::Diverge };
        let stall = |cycles| Kind::Stall { cycles, reason: StallReason::Unit };
        let run = [
            event(0, 0, Kind::WaveStart { lanes: 3 }),
            event(0, 1, Kind::WaveStart { lanes: 3 }),
            event(1, 0, issue),
            event(2, 0, mask(1)),
            event(3, 0, mask(2)),
            event(3, 2, Kind::WaveStart { lanes: 3 }),
            event(4, 2, Kind::WaveEnd),
            event(4, 0, stall(6)),
            event(9, 1, stall(1)),
            event(10, 0, issue),
            event(11, 1, issue),
            event(20, 0, issue),
        ];
        let chosen = |limit: TraceLimit| {
            let (mut limiter, mut out) = (Limiter::new(limit), Vec::new());
            run.iter().for_each(|e| limiter.choose(e, &mut out));
            out
        };
        let window = TraceLimit { from: 10, to: Some(20), waves: vec![] };
        assert!(window.is_limit() && !TraceLimit::default().is_limit());
        assert_eq!(chosen(window), [run[0], run[4], run[9], run[1], run[10]]);
        // A stall is in it if a part of it is.
        let early = TraceLimit { from: 9, to: Some(10), waves: vec![(0, 0)] };
        assert_eq!(chosen(early), [run[0], run[4], run[7]]);
        assert_eq!(chosen(TraceLimit::default()), run);
    }
}
