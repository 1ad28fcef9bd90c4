//! Timed runs of huge grids by sample: a stated part of the groups is timed, the rest is executed without time, and the cycles of the
//! whole are estimated with an interval. The estimate is never used for a bound.
//!
//! The launch is cut into as many strata as there are batches; in each, one batch at a place that the seed decides is timed. A batch
//! is long enough to fill every slot of the machine ten times: what counts is how fast waves end between the moment when caches are
//! warm and the moment when the last wave starts. Filling and draining, which the whole launch has once, are counted once.

use crate::error::SimError;
use crate::estimate::{Estimate, Sample, Times};
use crate::exec::Exec;
use crate::launch::{Groups, Launch, Outcome, Part, RunOptions};
use crate::memory::DeviceMemory;
use crate::residency::occupancy;
use crate::sink::Sink;
use crate::sofar::Sofar;
use crate::{functional, timed};
use std::ops::ControlFlow;
use wb_hw::Machine;
use wb_isa::Isa;

/// Fewer batches say nothing about how they differ.
const FEWEST: u32 = 5;
const MOST: u32 = 100;
/// A batch has so many times the groups that the machine holds; after so many of them it counts as warm.
const FILLS: u32 = 10;
const WARM: u32 = 4;

/// What batches cannot show, because waves of a long launch get into another step than those of a short one: as part of the cycles.
/// More than on any launch that was tried (docs/commands.md, `run`).
const UNSEEN: f64 = 0.03;

/// How a launch is cut.
struct Plan {
    groups: Groups,
    batches: u32,
    /// Groups of a batch, and what the machine holds of them.
    batch: u32,
    resident: u32,
}

fn plan(machine: &Machine, launch: Launch, sample: Sample) -> Option<Plan> {
    let Launch::Groups(groups) = launch else { return None };
    let resident = occupancy(machine, &groups).groups_per_core.saturating_mul(machine.cores).max(1);
    let batch = resident.saturating_mul(FILLS);
    let wanted = (f64::from(groups.count) * sample.fraction / f64::from(batch)).round() as u32;
    let batches = wanted.clamp(FEWEST, MOST);
    // Where more batches fit than are allowed they become longer.
    let batch = batch.max((f64::from(groups.count) * sample.fraction / f64::from(batches)) as u32);
    (groups.count / batches > batch).then_some(Plan { groups, batches, batch, resident })
}

/// What became of a launch.
pub(crate) enum Sampled {
    Done(Result<Box<Outcome>, Box<SimError>>),
    /// It is too small for a sample, or none was asked for.
    Not(DeviceMemory),
}

/// Runs a launch by sample.
pub(crate) fn run<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    memory: DeviceMemory,
    options: &mut RunOptions,
) -> Sampled {
    let Some((sample, plan)) = options.sample.and_then(|s| Some((s, plan(machine, launch, s)?))) else {
        return Sampled::Not(memory);
    };
    let mut run =
        Run { exec, machine, launch, options, total: Outcome::new(memory), first_wave: 0, group: 0 };
    let lanes = machine.core.lanes;
    let waves =
        |from: u32, to: u32| (from..to).map(|g| u64::from(plan.groups.threads(g).div_ceil(lanes))).sum();
    let mut seen = Vec::new();
    for stratum in 0..plan.batches {
        let bound = |n: u32| (u64::from(plan.groups.count) * u64::from(n) / u64::from(plan.batches)) as u32;
        let (from, to) = (bound(stratum), bound(stratum + 1));
        let start = from + (random(sample.seed, stratum) % u64::from(to - from - plan.batch + 1)) as u32;
        let parts = [(start, false), (start + plan.batch, true), (to, false)];
        for (until, timed) in parts {
            match run.stretch(until, timed, &waves) {
                Ok(Some(times)) => seen.push(times),
                Ok(None) => {}
                Err(error) => return Sampled::Done(Err(error)),
            }
        }
    }
    let resident = u64::from(plan.resident) * u64::from(plan.groups.waves(lanes));
    let all = waves(0, plan.groups.count);
    let mut outcome = run.total;
    let (cycles, plus_minus) = estimate(&seen, resident as usize, all);
    outcome.cycles = cycles.round() as u64;
    outcome.estimate = Some(Estimate {
        cycles,
        plus_minus,
        batches: plan.batches,
        groups: plan.batch,
        timed: f64::from(plan.batches) * f64::from(plan.batch) / f64::from(plan.groups.count),
        seed: sample.seed,
    });
    Sampled::Done(Ok(Box::new(outcome)))
}

/// A number for each seed and stratum (splitmix64).
fn random(seed: u64, stratum: u32) -> u64 {
    let mut z = seed.wrapping_add((u64::from(stratum) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A run by sample under way.
struct Run<'r, 'a, 'o, I: Isa> {
    exec: &'r Exec<'a, I>,
    machine: &'r Machine,
    launch: Launch,
    options: &'r mut RunOptions<'o>,
    total: Outcome,
    first_wave: u64,
    group: u32,
}

impl<I: Isa> Run<'_, '_, '_, I> {
    /// The groups up to `until`; when its waves ended, if they are timed.
    fn stretch(
        &mut self,
        until: u32,
        timed: bool,
        waves: &dyn Fn(u32, u32) -> u64,
    ) -> Result<Option<(Times, u64)>, Box<SimError>> {
        if until <= self.group {
            return Ok(None);
        }
        let part = Part::Range { from: self.group, to: until, first_wave: self.first_wave as u32 };
        let memory = std::mem::replace(&mut self.total.memory, DeviceMemory::new(0));
        let (before, ended) = (self.total.wave_instructions, self.first_wave);
        let progress = &mut self.options.progress;
        let mut told = |sofar: Sofar| match progress {
            Some(progress) => progress(Sofar {
                instructions: before + sofar.instructions,
                ended: ended + sofar.ended,
                ..sofar
            }),
            None => ControlFlow::Continue(()),
        };
        let options = RunOptions {
            timed,
            check: self.options.check,
            progress: Some(&mut told),
            ..RunOptions::default()
        };
        let sink = Sink::new(None);
        let ran = match timed {
            true => timed::run(self.exec, self.machine, self.launch, Some(part), memory, options, sink),
            false => functional::run(self.exec, self.machine, self.launch, Some(part), memory, options, sink),
        };
        let outcome = ran?;
        self.first_wave += waves(self.group, until);
        self.group = until;
        self.total.wave_instructions += outcome.wave_instructions;
        self.total.lane_instructions += outcome.lane_instructions;
        self.total.nops += outcome.nops;
        self.total.waves = self.total.waves.max(outcome.waves);
        self.total.max_stack_depth = self.total.max_stack_depth.max(outcome.max_stack_depth);
        self.total.memory = outcome.memory;
        Ok(outcome.times.map(|times| (*times, outcome.cycles)))
    }
}

/// Cycles of `all` waves and half of their interval, from batches (when waves ended, and cycles in all) on a machine that holds
/// `resident` waves. Every batch begins with cold caches, as the launch does once: what counts is its last part, and how much that
/// differs from the part before it is part of the interval.
fn estimate(batches: &[(Times, u64)], resident: usize, all: u64) -> (f64, f64) {
    let (mut fill, mut each, mut drift, mut drain) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let warm = resident * WARM as usize;
    for (times, cycles) in batches {
        let mut ends = times.ends.clone();
        ends.sort_unstable();
        ends.retain(|&e| e <= times.last_start);
        let whole = *cycles as f64 / times.ends.len().max(1) as f64;
        // The batch never was in a steady state: all of it counts.
        let (mut first, mut rates) = (whole * warm as f64, [whole, whole]);
        if let Some(steady) = ends.get(warm..).filter(|steady| steady.len() >= 4) {
            let middle = steady.len() / 2;
            let rate = |part: &[u64]| match part {
                [from, .., to] => (to - from) as f64 / (part.len() - 1) as f64,
                _ => whole,
            };
            first = steady[0] as f64;
            rates = [rate(&steady[..=middle]), rate(&steady[middle..])];
        }
        fill.push(first);
        each.push(rates[1]);
        drift.push((rates[1] - rates[0]).abs());
        drain.push(cycles.saturating_sub(times.last_start) as f64);
    }
    let steady = all.saturating_sub((warm + resident) as u64) as f64;
    let ((fill, a), (each, b), (drift, _), (drain, c)) =
        (mean(&fill), mean(&each), mean(&drift), mean(&drain));
    let error = (a * a + (steady * b) * (steady * b) + c * c).sqrt();
    let plus_minus = student(batches.len().saturating_sub(1)) * error + steady * drift;
    let cycles = fill + steady * each + drain;
    (cycles, plus_minus + UNSEEN * cycles)
}

/// Mean, and its standard error.
fn mean(of: &[f64]) -> (f64, f64) {
    let n = of.len().max(1) as f64;
    let mean = of.iter().sum::<f64>() / n;
    let squares: f64 = of.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// Student's t for 95 %, two-sided, by degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    match freedom {
        0 => f64::INFINITY,
        n => TABLE.get(n - 1).copied().unwrap_or(1.984),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that holds four waves of 100 cycles each ends one every 25 cycles.
    #[test]
    fn filling_and_draining_count_once() {
        let batch = |waves: u64| {
            let ends: Vec<u64> = (0..waves).map(|w| (w % 4) * 25 + 100 * (w / 4 + 1)).collect();
            let last_start = ends[waves as usize - 5];
            let cycles = ends.iter().copied().max().unwrap_or(0);
            (Times { ends, last_start }, cycles)
        };
        let (_, whole) = batch(4000);
        let sample: Vec<(Times, u64)> = (0..5).map(|_| batch(40)).collect();
        let (cycles, plus_minus) = estimate(&sample, 4, 4000);
        assert!((cycles - whole as f64).abs() < 0.005 * whole as f64, "{cycles} of {whole}");
        assert!(plus_minus < (UNSEEN + 0.01) * cycles, "all batches are alike: {plus_minus}");
    }

    /// Caches that get warm: waves end faster and faster. The interval must reach what the launch takes.
    #[test]
    fn what_gets_faster_is_in_the_interval() {
        let batch = |waves: u32| {
            let mut now = 0.0;
            let times = (0..waves).map(|w| {
                now += 25.0 + 50.0 * (-f64::from(w) / 15.0).exp();
                now as u64
            });
            let ends: Vec<u64> = times.collect();
            let (last_start, cycles) = (ends[waves as usize - 5], ends[waves as usize - 1]);
            (Times { ends, last_start }, cycles)
        };
        let (_, whole) = batch(4000);
        let sample: Vec<(Times, u64)> = (0..5).map(|_| batch(40)).collect();
        let (cycles, plus_minus) = estimate(&sample, 4, 4000);
        assert!((cycles - whole as f64).abs() <= plus_minus, "{cycles} ± {plus_minus} of {whole}");
    }

    #[test]
    fn what_differs_widens_the_interval() {
        let batch = |each: u64| {
            let ends: Vec<u64> = (1..=40).map(|w| w * each).collect();
            (Times { last_start: ends[35], ends }, 40 * each)
        };
        let alike: Vec<_> = [25, 25, 26, 25, 25].map(batch).into();
        let apart: Vec<_> = [10, 25, 40, 25, 25].map(batch).into();
        let own = |of: &[(Times, u64)]| {
            let (cycles, plus_minus) = estimate(of, 4, 4000);
            plus_minus - UNSEEN * cycles
        };
        assert!(own(&apart) > 5.0 * own(&alike));
        assert!(student(4) > student(30) && student(1000) > 1.96);
    }
}
