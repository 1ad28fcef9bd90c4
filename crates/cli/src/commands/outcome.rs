//! What came of a run, printed: totals, statistics, memory, registers.

use super::{print, print_line};
use serde::Serialize;
use std::collections::BTreeMap;
use wavebound::sim::Outcome;
use wavebound::trace::Stats;

#[derive(Clone, Default, Serialize, schemars::JsonSchema)]
pub struct Totals {
    pub cycles: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    pub nops: u64,
    pub waves: u32,
    pub max_stack_depth: usize,
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
