//! What a run leaves idle where waves are divergent, from its trace: lanes of issued instructions, cycles in which a core with a divergent
//! wave issues nothing, cycles in which a wave has several paths, and how long paths wait for each other. Filling lanes alone, or
//! overlapping sides alone, wins about this; a mechanism that also overlaps waits of waves may win more.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wb_trace::{Event, Kind, Observer, StallReason, TraceInfo};

/// Sums over all cores and launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Idle {
    /// Cycles times cores.
    pub core_cycles: u64,
    pub issues: u64,
    /// Lanes of issued instructions, and how many of them were active.
    pub lanes: u64,
    pub active: u64,
    /// Cycles in which a core issued nothing while one of its waves was divergent.
    pub divergent_waits: u64,
    /// Cycles in which a wave of a core had several paths.
    pub split_cycles: u64,
    /// Cycles from start to end of all waves, and those of their paths that waited for other paths.
    pub wave_cycles: u64,
    pub merge_waits: u64,
    #[serde(skip)]
    now: Now,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Now {
    width: u64,
    cores: Vec<Core>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Core {
    /// The cycle behind the last issue.
    since: u64,
    waves: BTreeMap<u32, Wave>,
    divergent: u32,
    /// Waves with several paths, and since when there is one.
    split: u32,
    split_since: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Wave {
    start: u64,
    /// Lanes that it started with, and whether the last instruction was for less.
    lanes: u64,
    divergent: bool,
    /// Paths beside the first one.
    paths: u32,
}

impl Idle {
    /// Issue slots that would be left over if every instruction had all lanes.
    pub fn empty_slots(&self) -> f64 {
        (self.lanes - self.active) as f64 * self.issues as f64 / self.lanes.max(1) as f64
    }

    fn issue(&mut self, e: &Event) {
        let core = &mut self.now.cores[usize::from(e.core)];
        let waited = e.cycle.saturating_sub(core.since);
        if core.divergent > 0 {
            self.divergent_waits += waited;
        }
        core.since = core.since.max(e.cycle + 1);
        let active = u64::from(e.mask.count_ones());
        (self.issues, self.lanes, self.active) =
            (self.issues + 1, self.lanes + self.now.width, self.active + active);
        if let Some(wave) = core.waves.get_mut(&e.wave) {
            let is = active < wave.lanes;
            core.divergent = core.divergent + u32::from(is) - u32::from(wave.divergent);
            wave.divergent = is;
        }
    }

    /// A wave has a path more or one less.
    fn paths(&mut self, e: &Event, more: bool) {
        let core = &mut self.now.cores[usize::from(e.core)];
        let Some(wave) = core.waves.get_mut(&e.wave) else { return };
        let was = wave.paths;
        wave.paths = if more { was + 1 } else { was.saturating_sub(1) };
        match (was, wave.paths) {
            (0, 1) => {
                core.split += 1;
                if core.split == 1 {
                    core.split_since = e.cycle;
                }
            }
            (1, 0) => {
                core.split -= 1;
                if core.split == 0 {
                    self.split_cycles += e.cycle.saturating_sub(core.split_since);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, e: &Event) {
        while self.now.cores[usize::from(e.core)].waves.get(&e.wave).is_some_and(|w| w.paths > 0) {
            self.paths(e, false);
        }
        let core = &mut self.now.cores[usize::from(e.core)];
        if let Some(wave) = core.waves.remove(&e.wave) {
            core.divergent -= u32::from(wave.divergent);
            self.wave_cycles += e.cycle.saturating_sub(wave.start);
        }
    }
}

impl Observer for Idle {
    fn begin(&mut self, info: &TraceInfo) {
        let cores = vec![Core::default(); info.cores as usize];
        self.now = Now { width: info.lanes.into(), cores };
    }

    fn events(&mut self, batch: &[Event]) {
        for e in batch {
            match e.kind {
                Kind::WaveStart { lanes } => {
                    let wave = Wave { start: e.cycle, lanes: lanes.count_ones().into(), ..Wave::default() };
                    self.now.cores[usize::from(e.core)].waves.insert(e.wave, wave);
                }
                Kind::WaveEnd => self.ended(e),
                Kind::PathStart { .. } => self.paths(e, true),
                Kind::PathEnd { .. } => self.paths(e, false),
                Kind::Stall { cycles, reason: StallReason::Merge } => self.merge_waits += u64::from(cycles),
                Kind::Issue { .. } => self.issue(e),
                _ => {}
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.core_cycles += cycles * self.now.cores.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_count_while_a_wave_is_divergent() {
        let issue = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
        let event =
            |cycle, mask, kind| Event { cycle, core: 0, slot: 0, wave: 7, path: 0, pc: 0, mask, kind };
        let mut idle = Idle { now: Now { width: 4, cores: vec![Core::default()] }, ..Idle::default() };
        idle.events(&[
            event(0, 15, Kind::WaveStart { lanes: 15 }),
            event(2, 15, issue),
            event(8, 3, issue),
            event(18, 3, issue),
            event(20, 15, issue),
            event(24, 15, Kind::PathStart { lanes: 3 }),
            event(29, 15, Kind::PathEnd { into: 0 }),
            event(30, 15, issue),
            event(33, 15, Kind::PathStart { lanes: 3 }),
            event(40, 15, Kind::WaveEnd),
        ]);
        idle.end(40);
        // 9 cycles between the two for half of the lanes, one before the next; others wait with all lanes.
        assert_eq!((idle.divergent_waits, idle.issues, idle.core_cycles), (9 + 1, 5, 40));
        assert_eq!((idle.lanes, idle.active), (20, 16));
        assert_eq!((idle.split_cycles, idle.wave_cycles), (5 + 7, 40));
        assert_eq!(idle.empty_slots(), 1.0);
    }
}
