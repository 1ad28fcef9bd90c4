//! How far a wave had come when: cycles at which it had issued so many lane-instructions. Two runs of a kernel under different
//! mechanisms issue different instructions for different lanes, but the same lane-instructions, so that this compares them.

use std::collections::BTreeMap;
use wb_trace::Event;

/// Marks kept of a wave; when there are more, every second one goes.
const MARKS: usize = 64;
/// Waves whose marks are kept.
const WAVES: usize = 50_000;

#[derive(Clone, Debug, Default)]
struct Wave {
    /// Lane-instructions so far.
    done: u64,
    step: u64,
    /// Lane-instructions, and the cycle they were reached at.
    marks: Vec<(u64, u64)>,
}

#[derive(Clone, Debug, Default)]
pub struct Progress {
    waves: BTreeMap<u32, Wave>,
}

impl Progress {
    /// An instruction issued.
    pub fn issue(&mut self, event: &Event) {
        if self.waves.len() >= WAVES && !self.waves.contains_key(&event.wave) {
            return;
        }
        let wave = self.waves.entry(event.wave).or_default();
        wave.done += u64::from(event.mask.count_ones());
        let last = wave.marks.last().map_or(0, |m| m.0);
        if wave.marks.is_empty() || wave.done >= last + wave.step {
            wave.marks.push((wave.done, event.cycle));
        }
        if wave.marks.len() > MARKS {
            let mut even = false;
            wave.marks.retain(|_| {
                even = !even;
                even
            });
            wave.step = wave.done.div_ceil(MARKS as u64 / 2);
        }
    }

    /// Where both runs of a wave had issued equally much: (cycle here, cycle there).
    pub fn pairs(&self, other: &Progress, wave: u32) -> Vec<(u64, u64)> {
        let (Some(a), Some(b)) = (self.waves.get(&wave), other.waves.get(&wave)) else { return Vec::new() };
        let reached = |marks: &[(u64, u64)], done: u64| {
            let i = marks.partition_point(|m| m.0 < done);
            let (after, before) = (marks.get(i)?, i.checked_sub(1).and_then(|i| marks.get(i)));
            let (low, high) = (before.copied().unwrap_or(*after), *after);
            let part = (done.saturating_sub(low.0)) as f64 / (high.0 - low.0).max(1) as f64;
            Some(low.1 + ((high.1.saturating_sub(low.1)) as f64 * part).round() as u64)
        };
        let pair = |&(done, cycle): &(u64, u64)| Some((cycle, reached(&b.marks, done)?));
        a.marks.iter().filter_map(pair).collect()
    }

    pub fn waves(&self) -> impl Iterator<Item = u32> {
        self.waves.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_trace::Kind;

    fn run(step: u64) -> Progress {
        let mut progress = Progress::default();
        for i in 0..1000u64 {
            let kind = Kind::Issue { unit: 0, instance: 0, class: 0, busy: 1 };
            progress.issue(&Event {
                cycle: 10 + i * step,
                core: 0,
                slot: 0,
                wave: 3,
                path: 0,
                pc: 0,
                mask: 0xf,
                kind,
            });
        }
        progress
    }

    #[test]
    fn twice_as_slow_is_twice_as_late() {
        let pairs = run(2).pairs(&run(4), 3);
        assert!(pairs.len() > MARKS / 4 && pairs.len() <= MARKS, "{}", pairs.len());
        for (here, there) in pairs {
            assert!(there.abs_diff(10 + (here - 10) * 2) <= 4, "{here} {there}");
        }
        assert!(run(1).pairs(&run(1), 4).is_empty());
    }
}
