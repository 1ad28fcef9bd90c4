//! Why splitting gains or does not, from the trace: both sides of a split take as long as the longer one, so what can be
//! saved is the time of the shorter one. PWS 7 explains figure 11 by words; this counts.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wb_trace::{Event, Kind, Observer, StallReason, TraceInfo};

/// Sums over all splits of all launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    pub splits: u64,
    /// Instructions that new paths issued.
    pub child_instructions: u64,
    /// Cycles from each split until the first, and until the last of its two sides was through.
    pub shorter: u64,
    pub longer: u64,
    /// Cycles from start to end of all waves.
    pub wave_cycles: u64,
    #[serde(skip)]
    running: Running,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Running {
    waves: BTreeMap<u32, u64>,
    /// By wave and path.
    paths: BTreeMap<(u32, u16), Path>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Path {
    born: u64,
    /// Cycles it waited for its sibling, ever.
    waited: u64,
    /// What each other path of the wave had waited when it was born.
    before: Vec<(u16, u64)>,
}

impl Overlap {
    /// Share of the waves' time that a perfect overlap saves, in percent.
    pub fn saved_percent(&self) -> f64 {
        100.0 * self.shorter as f64 / self.wave_cycles.max(1) as f64
    }

    pub fn instructions_per_split(&self) -> f64 {
        self.child_instructions as f64 / self.splits.max(1) as f64
    }

    fn born(&mut self, e: &Event) {
        let others = self.running.paths.range((e.wave, 0)..=(e.wave, u16::MAX));
        let before = others.map(|(&(_, p), path)| (p, path.waited)).collect();
        let path = Path { born: e.cycle, waited: 0, before };
        self.running.paths.insert((e.wave, e.path), path);
        self.splits += 1;
    }

    fn merged(&mut self, e: &Event, into: u16) {
        let Some(child) = self.running.paths.remove(&(e.wave, e.path)) else { return };
        let total = e.cycle.saturating_sub(child.born);
        let other = self.running.paths.get(&(e.wave, into)).map_or(0, |p| p.waited);
        let before = child.before.iter().find(|b| b.0 == into).map_or(0, |b| b.1);
        let sides = [total.saturating_sub(child.waited), total.saturating_sub(other - before.min(other))];
        self.shorter += sides[0].min(sides[1]);
        self.longer += sides[0].max(sides[1]);
    }
}

impl Observer for Overlap {
    fn begin(&mut self, _: &TraceInfo) {
        self.running = Running::default();
    }

    fn events(&mut self, batch: &[Event]) {
        for e in batch {
            match e.kind {
                Kind::WaveStart { .. } => {
                    self.running.waves.insert(e.wave, e.cycle);
                    self.running.paths.insert((e.wave, 0), Path { born: e.cycle, ..Path::default() });
                }
                Kind::WaveEnd => {
                    let start = self.running.waves.remove(&e.wave).unwrap_or(e.cycle);
                    self.wave_cycles += e.cycle - start.min(e.cycle);
                    self.running.paths.retain(|&(wave, _), _| wave != e.wave);
                }
                Kind::PathStart { .. } => self.born(e),
                Kind::PathEnd { into } => self.merged(e, into),
                Kind::Issue { .. } if e.path != 0 => self.child_instructions += 1,
                Kind::Stall { cycles, reason: StallReason::Merge } => {
                    if let Some(path) = self.running.paths.get_mut(&(e.wave, e.path)) {
                        path.waited += u64::from(cycles);
                    }
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(cycle: u64, path: u16, kind: Kind) -> Event {
        Event { cycle, core: 0, slot: 0, wave: 3, path, pc: 0, mask: 1, kind }
    }

    #[test]
    fn the_shorter_side_is_what_can_be_saved() {
        let issue = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
        let wait = |cycles| Kind::Stall { cycles, reason: StallReason::Merge };
        let mut overlap = Overlap::default();
        // 10 to 50: the child is through after 15 cycles and waits for 25. 60 to 90: the parent waits for 20 of 30.
        overlap.events(&[
            event(0, 0, Kind::WaveStart { lanes: 3 }),
            event(10, 1, Kind::PathStart { lanes: 1 }),
            event(12, 1, issue),
            event(13, 0, issue),
            event(25, 1, wait(25)),
            event(50, 1, Kind::PathEnd { into: 0 }),
            event(60, 1, Kind::PathStart { lanes: 1 }),
            event(70, 0, wait(20)),
            event(90, 1, Kind::PathEnd { into: 0 }),
            event(100, 0, Kind::WaveEnd),
        ]);
        assert_eq!((overlap.splits, overlap.child_instructions), (2, 1));
        assert_eq!((overlap.shorter, overlap.longer, overlap.wave_cycles), (15 + 10, 40 + 30, 100));
        assert_eq!(overlap.saved_percent(), 25.0);
    }
}
