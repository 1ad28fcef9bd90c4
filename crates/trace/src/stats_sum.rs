//! Statistics of several launches of one program, added up.

use crate::stats::{BranchStats, PcStats, Stats};

/// The mean of two means with their weights.
fn mean(a: f64, weight_a: u64, b: f64, weight_b: u64) -> f64 {
    let total = weight_a + weight_b;
    if total == 0 { 0.0 } else { (a * weight_a as f64 + b * weight_b as f64) / total as f64 }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl Stats {
    /// Adds another launch of the same program on the same machine, run after this one.
    pub fn add(&mut self, other: &Stats) {
        self.lane_utilisation = mean(
            self.lane_utilisation,
            self.wave_instructions,
            other.lane_utilisation,
            other.wave_instructions,
        );
        self.contexts.add(&other.contexts, [self.cycles, other.cycles]);
        self.cycles += other.cycles;
        self.waves += other.waves;
        self.wave_instructions += other.wave_instructions;
        self.lane_instructions += other.lane_instructions;
        self.ipc = ratio(self.wave_instructions, self.cycles);
        self.nops += other.nops;
        self.lane_cycles_lost += other.lane_cycles_lost;
        self.stall_cycles.add_all(&other.stall_cycles);
        self.splits += other.splits;
        self.merges += other.merges;
        self.max_paths = self.max_paths.max(other.max_paths);
        self.barrier_arrivals += other.barrier_arrivals;
        for (a, b) in self.memory.iter_mut().zip(&other.memory) {
            a.accesses += b.accesses;
            a.writes += b.writes;
            a.lines += b.lines;
            a.hits += b.hits;
            a.misses += b.misses;
            a.evictions += b.evictions;
        }
        for b in &other.units {
            let same = |a: &&mut crate::stats::UnitStats| {
                (a.core, a.unit.as_str(), a.instance) == (b.core, b.unit.as_str(), b.instance)
            };
            match self.units.iter_mut().find(same) {
                Some(a) => {
                    a.mean_active_lanes =
                        mean(a.mean_active_lanes, a.instructions, b.mean_active_lanes, b.instructions);
                    a.instructions += b.instructions;
                    a.busy_cycles += b.busy_cycles;
                }
                None => self.units.push(b.clone()),
            }
        }
        for unit in &mut self.units {
            unit.utilisation = ratio(unit.busy_cycles, self.cycles);
        }
        add_branches(&mut self.branches, &other.branches);
        add_pcs(&mut self.pcs, &other.pcs);
    }
}

fn add_branches(all: &mut Vec<BranchStats>, more: &[BranchStats]) {
    for b in more {
        match all.iter_mut().find(|a| a.pc == b.pc) {
            Some(a) => {
                a.mean_active_lanes = mean(a.mean_active_lanes, a.executed, b.mean_active_lanes, b.executed);
                a.executed += b.executed;
                a.diverged += b.diverged;
                a.lane_cycles_lost += b.lane_cycles_lost;
            }
            None => all.push(b.clone()),
        }
    }
    all.sort_by_key(|b| b.pc);
}

fn add_pcs(all: &mut Vec<PcStats>, more: &[PcStats]) {
    let old = all.len();
    for b in more {
        match all[..old].binary_search_by_key(&b.pc, |a| a.pc) {
            Ok(i) => {
                let a = &mut all[i];
                a.mean_active_lanes = mean(a.mean_active_lanes, a.executed, b.mean_active_lanes, b.executed);
                a.executed += b.executed;
                a.lane_cycles_lost += b.lane_cycles_lost;
                a.stall_cycles += b.stall_cycles;
                a.cycles += b.cycles;
                a.stalls.add_all(&b.stalls);
                a.busy_cycles += b.busy_cycles;
                match (&mut a.memory, &b.memory) {
                    (Some(sum), Some(more)) => sum.add(more),
                    (sum @ None, more) => sum.clone_from(more),
                    (Some(_), None) => {}
                }
            }
            Err(_) => all.push(b.clone()),
        }
    }
    all.sort_by_key(|b| b.pc);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_and_means_are_weighted() {
        let pc =
            |pc, executed, lanes| PcStats { pc, executed, mean_active_lanes: lanes, ..PcStats::default() };
        let one = |cycles, pcs| Stats {
            cycles,
            wave_instructions: cycles / 2,
            lane_utilisation: if cycles == 10 { 1.0 } else { 0.5 },
            pcs,
            ..Stats::default()
        };
        let mut sum = one(10, vec![pc(1, 1, 8.0), pc(4, 0, 0.0)]);
        sum.add(&one(30, vec![pc(1, 3, 4.0), pc(2, 5, 1.0)]));
        assert_eq!((sum.cycles, sum.wave_instructions, sum.ipc), (40, 20, 0.5));
        assert_eq!(sum.lane_utilisation, 0.625);
        let pcs: Vec<(u32, u64, f64)> =
            sum.pcs.iter().map(|p| (p.pc, p.executed, p.mean_active_lanes)).collect();
        assert_eq!(pcs, [(1, 4, 5.0), (2, 5, 1.0), (4, 0, 0.0)]);
    }
}
