//! The launches of a kernel: groups, how many of them fit on the machine at once, and the bound of a launch from that of
//! a wave (docs/wcet.md, from waves to the kernel).

use super::kernel::needs;
use super::result::LaunchRow;
use super::runs::Launched;
use miette::{IntoDiagnostic, Report};
use wb_hw::Limit;
use wb_sim::Launch;
use wb_wcet::kernel::{Seats, sound_kernel};
use wb_wcet::paper::thesis::PathTime;
use wb_wcet::wave::WaveBound;

/// The group of each wave.
pub(super) fn groups(launched: &Launched) -> Vec<u32> {
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

pub(super) fn launch_row(launched: &Launched, observed: u64) -> LaunchRow {
    let (needs, groups) = needs(launched.launch, launched.machine);
    let seats = Seats::of(launched.machine, needs);
    let at_once = seats.cores * seats.groups_per_core;
    let limit = match launched.machine.occupancy(needs).limit {
        Limit::Slots => "wave slots",
        Limit::VectorRegisters => "vector registers",
        Limit::ScalarRegisters => "scalar registers",
        Limit::LocalMemory => "local memory",
        Limit::Barriers => "barriers",
    };
    let group_threads = match launched.launch {
        Launch::Groups(g) => g.size,
        _ => launched.machine.core.lanes,
    };
    LaunchRow {
        groups,
        waves_per_group: needs.waves_per_group,
        group_threads,
        seats,
        at_once,
        limit: limit.into(),
        rounds: 0,
        bound: 0,
        observed,
    }
}

/// Puts the waves of every launch together; returns the sum.
pub(super) fn compose(launches: &mut [LaunchRow], bound: &WaveBound) -> Result<u64, Report> {
    let mut sum = 0u64;
    for launch in launches {
        let wave = PathTime { start: 0, cycles: bound.cycles };
        let composed = sound_kernel(launch.groups, launch.seats, &[wave]).into_diagnostic()?;
        (launch.rounds, launch.bound) = (composed.rounds, composed.cycles);
        sum = sum.saturating_add(composed.cycles);
    }
    Ok(sum)
}
