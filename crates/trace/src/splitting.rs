//! What splitting did in a run: contexts in use over time, lanes of each path, splits that were refused and why.

use crate::{Event, Kind, Mask, RefusedReason, SlotTable};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// Split contexts of a run, all cores together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ContextStats {
    /// Paths that got a context of their own.
    pub started: u64,
    /// Most contexts in use at once, and on average over the run.
    pub most: u32,
    pub mean: f64,
    /// Refused splits by reason.
    #[serde(deserialize_with = "by_reason")]
    pub refused: BTreeMap<&'static str, u64>,
    /// Mean contexts in use in each stretch of `cycles_per_bucket` cycles.
    pub cycles_per_bucket: u64,
    pub timeline: Vec<f64>,
}

/// Names of reasons are ours; others are left out.
fn by_reason<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<&'static str, u64>, D::Error> {
    let all: BTreeMap<String, u64> = BTreeMap::deserialize(from)?;
    let known = RefusedReason::ALL.map(RefusedReason::name);
    Ok(known.into_iter().filter_map(|name| Some((name, *all.get(name)?))).collect())
}

const BUCKETS: usize = 64;

/// Context-cycles per bucket; buckets grow with the run.
#[derive(Clone, Debug)]
struct Timeline {
    width: u64,
    buckets: Vec<u64>,
}

impl Default for Timeline {
    fn default() -> Self {
        Timeline { width: 1, buckets: Vec::new() }
    }
}

impl Timeline {
    /// `live` contexts were in use in the cycles `from..to`.
    fn add(&mut self, mut from: u64, to: u64, live: u64) {
        while to.saturating_sub(1) / self.width >= BUCKETS as u64 {
            self.width *= 2;
            let sum = |pair: &[u64]| pair.iter().fold(0, |a: u64, b| a.saturating_add(*b));
            self.buckets = self.buckets.chunks(2).map(sum).collect();
        }
        while from < to {
            let bucket = (from / self.width) as usize;
            let end = (bucket as u64 + 1).saturating_mul(self.width).min(to);
            if self.buckets.len() <= bucket {
                self.buckets.resize(bucket + 1, 0);
            }
            let add = live.saturating_mul(end - from);
            self.buckets[bucket] = self.buckets[bucket].saturating_add(add);
            from = end;
        }
    }
}

/// Follows paths while a run goes on.
#[derive(Default)]
pub(crate) struct Contexts {
    /// Lanes of the split paths of the wave in each slot; the rest belongs to path 0.
    lanes: SlotTable<Vec<(u16, Mask)>>,
    timeline: Timeline,
    live: u64,
    since: u64,
    total: u64,
    stats: ContextStats,
}

impl Contexts {
    pub fn one(&mut self, event: &Event) {
        match event.kind {
            Kind::PathStart { lanes } => {
                self.advance(event.cycle);
                self.live += 1;
                self.stats.started += 1;
                self.stats.most = self.stats.most.max(self.live as u32);
                let paths = self.lanes.get_mut(event.core, event.slot);
                paths.iter_mut().for_each(|p| p.1 &= !lanes);
                paths.push((event.path, lanes));
            }
            Kind::PathEnd { into } => {
                let paths = self.lanes.get_mut(event.core, event.slot);
                let gone = paths.iter().position(|p| p.0 == event.path).map(|i| paths.remove(i).1);
                if let (Some(lanes), Some(path)) = (gone, paths.iter_mut().find(|p| p.0 == into)) {
                    path.1 |= lanes;
                }
                if gone.is_some() {
                    self.advance(event.cycle);
                    self.live -= 1;
                }
            }
            Kind::WaveStart { .. } | Kind::WaveEnd => {
                let paths = self.lanes.get_mut(event.core, event.slot);
                if !paths.is_empty() {
                    let gone = std::mem::take(paths).len() as u64;
                    self.advance(event.cycle);
                    self.live -= gone;
                }
            }
            Kind::SplitRefused { reason, .. } => *self.stats.refused.entry(reason.name()).or_insert(0) += 1,
            _ => {}
        }
    }

    /// The lanes of the event's path, of `live` ones.
    pub fn lanes(&mut self, event: &Event, live: Mask) -> Mask {
        let paths = self.lanes.get_mut(event.core, event.slot);
        match event.path {
            0 if paths.is_empty() => live,
            0 => live & !paths.iter().fold(0, |all, p| all | p.1),
            path => paths.iter().find(|p| p.0 == path).map_or(live, |p| p.1 & live),
        }
    }

    fn advance(&mut self, cycle: u64) {
        if cycle > self.since {
            if self.live > 0 {
                self.timeline.add(self.since, cycle, self.live);
                self.total = self.total.saturating_add(self.live.saturating_mul(cycle - self.since));
            }
            self.since = cycle;
        }
    }

    pub fn stats(&self, cycles: u64) -> ContextStats {
        let mut stats = self.stats.clone();
        if stats.started == 0 {
            return stats;
        }
        let width = self.timeline.width;
        stats.mean = if cycles == 0 { 0.0 } else { self.total as f64 / cycles as f64 };
        stats.cycles_per_bucket = width;
        let part = |(i, &n): (usize, &u64)| {
            let covered = cycles.saturating_sub(i as u64 * width).clamp(1, width);
            n as f64 / covered as f64
        };
        stats.timeline = self.timeline.buckets.iter().enumerate().map(part).collect();
        stats
    }
}

impl ContextStats {
    /// Adds another launch, run after this one; time lines are kept only for single launches.
    pub(crate) fn add(&mut self, other: &ContextStats, cycles: [u64; 2]) {
        let total = (cycles[0] + cycles[1]).max(1) as f64;
        self.mean = (self.mean * cycles[0] as f64 + other.mean * cycles[1] as f64) / total;
        self.started += other.started;
        self.most = self.most.max(other.most);
        for (reason, n) in &other.refused {
            *self.refused.entry(reason).or_insert(0) += n;
        }
        self.cycles_per_bucket = 0;
        self.timeline.clear();
    }

    pub fn refused(&self, reason: RefusedReason) -> u64 {
        self.refused.get(reason.name()).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_counted_over_time() {
        let mut c = Contexts::default();
        let mut event = |cycle, path, kind| {
            c.one(&Event { cycle, core: 0, slot: 0, wave: 0, path, pc: 0, mask: 0, kind });
        };
        event(0, 0, Kind::WaveStart { lanes: 0b1111 });
        event(100, 1, Kind::PathStart { lanes: 0b1100 });
        event(150, 2, Kind::PathStart { lanes: 0b1000 });
        event(150, 1, Kind::SplitRefused { reason: RefusedReason::NoContext, lanes: 1 });
        event(180, 2, Kind::PathEnd { into: 1 });
        let at =
            |path| Event { cycle: 190, core: 0, slot: 0, wave: 0, path, pc: 0, mask: 0, kind: Kind::WaveEnd };
        assert_eq!((c.lanes(&at(0), 0b1111), c.lanes(&at(1), 0b1111)), (0b0011, 0b1100));
        c.one(&Event { cycle: 200, path: 1, kind: Kind::PathEnd { into: 0 }, ..at(1) });
        let stats = c.stats(400);
        assert_eq!((stats.started, stats.most, stats.refused(RefusedReason::NoContext)), (2, 2, 1));
        assert_eq!(stats.mean, 130.0 / 400.0);
        assert_eq!(stats.cycles_per_bucket, 4);
        assert_eq!((stats.timeline[24], stats.timeline[25], stats.timeline[38]), (0.0, 1.0, 2.0));
    }
}
