//! What came of a run, printed: totals, statistics, memory, registers.

use super::{print, print_line};
use serde::Serialize;
use std::collections::BTreeMap;
use wavebound::sim::{Estimate, Outcome};
use wavebound::trace::Stats;

#[derive(Clone, Default, Serialize, schemars::JsonSchema)]
pub struct Totals {
    pub cycles: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    pub nops: u64,
    pub waves: u32,
    pub max_stack_depth: usize,
    /// The cycles are an estimate (`--sample`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimated>,
}

/// Cycles that were estimated from a sample of the groups.
#[derive(Clone, Serialize, schemars::JsonSchema)]
pub struct Estimated {
    cycles: f64,
    /// In between with 95 % confidence.
    low: f64,
    high: f64,
    batches: u32,
    groups_per_batch: u32,
    /// Part of the groups that was timed.
    timed: f64,
    seed: u64,
}

impl From<&Estimate> for Estimated {
    fn from(e: &Estimate) -> Estimated {
        Estimated {
            cycles: e.cycles,
            low: (e.cycles - e.plus_minus).max(0.0),
            high: e.cycles + e.plus_minus,
            batches: e.batches,
            groups_per_batch: e.groups,
            timed: e.timed,
            seed: e.seed,
        }
    }
}

/// What the number of a run counts.
pub fn unit(untimed: bool, outcome: &Outcome) -> &'static str {
    match (untimed, &outcome.estimate) {
        (true, _) => "wave-instructions",
        (false, Some(_)) => "cycles (estimate)",
        (false, None) => "cycles",
    }
}

/// A line about an estimate, if it is one.
pub fn print_estimate(outcome: &Outcome) {
    if let Some(e) = &outcome.estimate {
        let Estimated { low, high, .. } = Estimated::from(e);
        print_line(&format!(
            "estimate: {:.0} cycles, between {low:.0} and {high:.0} (95 %), from {} batches of {} groups ({:.1} % of the groups), \
             seed {}; not for bounds",
            e.cycles,
            e.batches,
            e.groups,
            100.0 * e.timed,
            e.seed
        ));
    }
}

impl From<&Outcome> for Totals {
    fn from(o: &Outcome) -> Totals {
        Totals {
            cycles: o.cycles,
            wave_instructions: o.wave_instructions,
            lane_instructions: o.lane_instructions,
            nops: o.nops,
            waves: o.waves,
            max_stack_depth: o.max_stack_depth,
            estimate: o.estimate.as_ref().map(Estimated::from),
        }
    }
}

pub type Registers = BTreeMap<u32, Vec<BTreeMap<String, u64>>>;

pub fn registers(outcome: &Outcome) -> Registers {
    let lanes =
        |w: &wavebound::sim::WaveRegisters| w.lanes.iter().map(|l| l.iter().cloned().collect()).collect();
    outcome.registers.iter().map(|w| (w.wave, lanes(w))).collect()
}

pub fn print_stats(stats: Option<&Stats>, per_pc: bool) {
    if let Some(stats) = stats {
        print(&stats.table());
        if per_pc {
            print(&stats.pc_table());
        }
    }
}

pub fn print_memory(memory: &BTreeMap<String, Vec<String>>) {
    for (name, values) in memory {
        print_line(&format!("{name} = {}", values.join(" ")));
    }
}

pub fn print_registers(outcome: &Outcome) {
    for wave in &outcome.registers {
        print_line(&format!("registers of wave {}:", wave.wave));
        let Some(first) = wave.lanes.first() else { continue };
        for (r, (name, _)) in first.iter().enumerate() {
            let row: Vec<u64> = wave.lanes.iter().map(|l| l[r].1).collect();
            if row.iter().any(|&v| v != 0) {
                let row: Vec<String> = row.iter().map(|v| format!("{v:x}")).collect();
                print_line(&format!("  {name:>6} {}", row.join(" ")));
            }
        }
    }
}

/// `16x16`; dimensions of one at the end are left out.
pub fn size(size: [u32; 3]) -> String {
    let used = size.iter().rposition(|&n| n > 1).unwrap_or(0);
    size[..=used].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}
