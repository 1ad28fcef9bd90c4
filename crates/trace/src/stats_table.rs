//! Statistics as a short table for people; programs read the JSON instead.

use std::fmt::Write;

use crate::{BranchStats, StallReason, Stats};

const TOP_BRANCHES: usize = 10;
const TEXT_WIDTH: usize = 40;

impl Stats {
    /// Aligned plain text: totals, stalls by reason, memory, units, the most expensive branches.
    pub fn table(&self) -> String {
        let mut out = String::new();
        self.totals(&mut out);
        self.contexts(&mut out);
        self.stalls(&mut out);
        self.ports(&mut out);
        self.unit_lines(&mut out);
        self.top_branches(&mut out);
        out
    }

    /// Every executed instruction: how often, with how many lanes, what it cost.
    pub fn pc_table(&self) -> String {
        let mut out = String::from("\ninstructions\n");
        let _ = writeln!(
            out,
            "  {:>10} {:>6} {:>10} {:>7} {:>12} {:>10}  instruction",
            "address", "line", "executed", "lanes", "lost", "stalled"
        );
        for p in self.pcs.iter().filter(|p| p.executed > 0) {
            if !p.label.is_empty() {
                let _ = writeln!(out, "{}:", p.label);
            }
            let line = if p.line == 0 { "-".to_string() } else { p.line.to_string() };
            let _ = writeln!(
                out,
                "  {:>#10x} {line:>6} {:>10} {:>7.1} {:>12} {:>10}  {}",
                p.addr, p.executed, p.mean_active_lanes, p.lane_cycles_lost, p.stall_cycles, p.text
            );
        }
        out
    }

    fn totals(&self, out: &mut String) {
        if !self.program.is_empty() {
            let parts = [&self.machine, &self.isa, &self.mechanism];
            let parts: Vec<_> = parts.into_iter().filter(|p| !p.is_empty()).map(String::as_str).collect();
            let _ = writeln!(out, "{}  ({})", self.program, parts.join(", "));
        }
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "{name:<20}{value:>14}");
        };
        line(if self.timed { "cycles" } else { "steps (untimed)" }, self.cycles.to_string());
        line("waves", self.waves.to_string());
        line("wave instructions", self.wave_instructions.to_string());
        line("lane instructions", self.lane_instructions.to_string());
        line("IPC", format!("{:.3}", self.ipc));
        line("lane use", percent(self.lane_utilisation));
        if self.nops > 0 {
            line("NOPs", self.nops.to_string());
        }
        line("lane-cycles lost", self.lane_cycles_lost.to_string());
        line("splits", self.splits.to_string());
        line("merges", self.merges.to_string());
        line("most paths per wave", self.max_paths.to_string());
    }

    /// Only where waves were split, or could have been.
    fn contexts(&self, out: &mut String) {
        let c = &self.contexts;
        if c.started == 0 && c.refused.is_empty() {
            return;
        }
        let _ = writeln!(out, "\nsplit contexts");
        let mut line = |name: &str, value: String| {
            let _ = writeln!(out, "  {name:<18}{value:>14}");
        };
        line("started", c.started.to_string());
        line("most at once", c.most.to_string());
        line("mean in use", format!("{:.2}", c.mean));
        for (reason, n) in &c.refused {
            line(&format!("refused {reason}"), n.to_string());
        }
        line("waiting to merge", format!("{} cycles", self.stall_cycles.get(StallReason::Merge)));
    }

    fn stalls(&self, out: &mut String) {
        let total = self.stall_cycles.total();
        if total == 0 {
            return;
        }
        let _ = writeln!(out, "\nstall cycles of paths by reason");
        for reason in StallReason::ALL {
            let cycles = self.stall_cycles.get(reason);
            if cycles > 0 {
                let share = percent(cycles as f64 / total as f64);
                let _ = writeln!(out, "  {:<18}{cycles:>14}{share:>10}", reason.name());
            }
        }
        let _ = writeln!(out, "  {:<18}{total:>14}", "total");
    }

    fn ports(&self, out: &mut String) {
        let used: Vec<_> = self.memory.iter().filter(|p| p.accesses > 0).collect();
        if used.is_empty() {
            return;
        }
        let heads = ["accesses", "lines", "hits", "misses", "evictions"];
        let heads: String = heads.iter().map(|head| format!("{head:>11}")).collect();
        let _ = writeln!(out, "\n{:<10}{heads}", "memory");
        for port in used {
            let numbers = [port.accesses, port.lines, port.hits, port.misses, port.evictions];
            let numbers: String = numbers.iter().map(|n| format!("{n:>11}")).collect();
            let name = format!("{:?}", port.port).to_lowercase();
            let _ = writeln!(out, "  {name:<8}{numbers}");
        }
    }

    /// Units summed over cores, so that large machines stay readable.
    fn unit_lines(&self, out: &mut String) {
        let mut sums: Vec<(String, u64, u64, f64, f64, f64)> = Vec::new();
        for unit in &self.units {
            let name = format!("{}.{}", unit.unit, unit.instance);
            let i = sums.iter().position(|s| s.0 == name).unwrap_or_else(|| {
                sums.push((name, 0, 0, 0.0, 0.0, 0.0));
                sums.len() - 1
            });
            sums[i].1 += unit.instructions;
            sums[i].2 += unit.busy_cycles;
            sums[i].3 += unit.utilisation;
            sums[i].4 += 1.0;
            sums[i].5 += unit.mean_active_lanes * unit.instructions as f64;
        }
        sums.retain(|s| s.1 > 0);
        if sums.is_empty() {
            return;
        }
        let _ =
            writeln!(out, "\n{:<18}{:>14}{:>14}{:>10}{:>8}", "units", "instructions", "busy", "use", "lanes");
        for (name, instructions, busy, use_sum, cores, lanes) in sums {
            let share = percent(use_sum / cores);
            let lanes = lanes / instructions as f64;
            let _ = writeln!(out, "  {name:<16}{instructions:>14}{busy:>14}{share:>10}{lanes:>8.1}");
        }
    }

    fn top_branches(&self, out: &mut String) {
        let mut worst: Vec<&BranchStats> = self.branches.iter().filter(|b| b.lane_cycles_lost > 0).collect();
        if worst.is_empty() {
            return;
        }
        worst.sort_by_key(|b| (std::cmp::Reverse(b.lane_cycles_lost), b.pc));
        let _ = writeln!(out, "\nbranches by lost lane-cycles");
        let _ = writeln!(
            out,
            "  {:>10} {:>6} {:>10} {:>10} {:>7} {:>12}  instruction",
            "address", "line", "executed", "diverged", "lanes", "lost"
        );
        for b in worst.iter().take(TOP_BRANCHES) {
            let addr = format!("{:#x}", b.addr);
            let line = if b.line == 0 { "-".to_string() } else { b.line.to_string() };
            let text: String = b.text.chars().take(TEXT_WIDTH).collect();
            let (executed, diverged, lost) = (b.executed, b.diverged, b.lane_cycles_lost);
            let _ = writeln!(
                out,
                "  {addr:>10} {line:>6} {executed:>10} {diverged:>10} {:>7.1} {lost:>12}  {}",
                b.mean_active_lanes,
                text.trim_end()
            );
        }
        if worst.len() > TOP_BRANCHES {
            let _ = writeln!(out, "  and {} more", worst.len() - TOP_BRANCHES);
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
