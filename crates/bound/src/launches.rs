//! The launches of a kernel: every one once, however often it was measured, and the bound of a launch from that of a wave
//! (docs/wcet.md, from waves to the kernel).

use crate::error::BoundError;
use crate::launched::Launched;
use crate::result::LaunchRow;
use crate::shape::Shape;
use wb_sim::Launch;
use wb_wcet::kernel::sound_kernel;
use wb_wcet::paper::thesis::PathTime;
use wb_wcet::wave::WaveBound;

/// The group of each wave.
pub(crate) fn groups(launched: &Launched) -> Vec<u32> {
    let lanes = launched.machine.core.lanes.max(1);
    let waves: Vec<u32> = match launched.launch {
        Launch::Groups(g) => (0..g.count).map(|i| g.threads(i).div_ceil(lanes)).collect(),
        Launch::Grid { threads, group } => {
            let group = group.max(1);
            let size = |i: u32| (threads - i * group).min(group);
            (0..threads.div_ceil(group)).map(|i| size(i).div_ceil(lanes)).collect()
        }
        Launch::Boot | Launch::Cores { .. } => Vec::new(),
    };
    waves.iter().zip(0..).flat_map(|(&n, i)| std::iter::repeat_n(i, n as usize)).collect()
}

/// Adds a measurement of a launch. The same launch measured again stays one launch: what is kept is the longest run and
/// the shape with the most rounds, and all inputs.
pub(crate) fn add(launches: &mut Vec<LaunchRow>, launched: &Launched, observed: u64) {
    let shape = Shape::of(launched);
    let data = launched.data.to_owned();
    let Some(row) = launches.iter_mut().find(|l| l.number == launched.number) else {
        launches.push(row(launched, shape, data, observed));
        return;
    };
    row.runs += 1;
    row.observed = row.observed.max(observed);
    let rounds = |s: &Shape| s.groups.div_ceil(s.at_once().max(1));
    if rounds(&shape) > rounds(&row.shapes[0].0) {
        let shapes = std::mem::take(&mut row.shapes);
        let (runs, longest) = (row.runs, row.observed);
        *row = self::row(launched, shape, data, longest);
        row.runs = runs;
        row.shapes.extend(shapes);
        return;
    }
    match row.shapes.iter_mut().find(|s| s.0 == shape) {
        Some((_, inputs)) if inputs.contains(&data) => {}
        Some((_, inputs)) => inputs.push(data),
        None => row.shapes.push((shape, vec![data])),
    }
}

fn row(launched: &Launched, shape: Shape, data: String, observed: u64) -> LaunchRow {
    let group_threads = match launched.launch {
        Launch::Groups(g) => g.size,
        _ => launched.machine.core.lanes,
    };
    LaunchRow {
        number: launched.number,
        groups: shape.groups,
        waves_per_group: shape.needs.waves_per_group,
        group_threads,
        seats: shape.seats,
        at_once: shape.at_once(),
        limit: shape.limit.into(),
        rounds: 0,
        bound: 0,
        observed,
        runs: 1,
        shapes: vec![(shape, vec![data])],
    }
}

/// Puts the waves of every launch together; returns the sum.
pub(crate) fn compose(launches: &mut [LaunchRow], bound: &WaveBound) -> Result<u64, BoundError> {
    let mut sum = 0u64;
    for launch in launches {
        let wave = PathTime { start: 0, cycles: bound.cycles };
        let composed = sound_kernel(launch.groups, launch.seats, &[wave])?;
        (launch.rounds, launch.bound) = (composed.rounds, composed.cycles);
        sum = sum.saturating_add(composed.cycles);
    }
    Ok(sum)
}
