//! A comparison as text, JSON and a table of cells (CSV, Parquet).

use super::result::{Compared, Outcome, Row};
use crate::commands::Printed;
use serde::Serialize;
use std::fmt::Write;
use wavebound::trace::{StallReason, Stats};

/// The stable result of `compare --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct CompareJson<'a> {
    version: u32,
    program: &'a str,
    machine: &'a str,
    /// Results of all variants are equal, and what was compared.
    equal: bool,
    compared: &'a [String],
    variants: Vec<VariantJson<'a>>,
}

impl Printed for CompareJson<'_> {
    const NAME: &'static str = "compare";
}

#[derive(Serialize, schemars::JsonSchema)]
struct VariantJson<'a> {
    name: &'a str,
    mechanism: &'static str,
    contexts: Option<u32>,
    policy: Option<&'a str>,
    fields: serde_json::Map<String, serde_json::Value>,
    refused: Option<&'a str>,
    failed: Option<&'a str>,
    /// Against the first variant that ran.
    speed_up: Option<f64>,
    /// Bits of state that the mechanism adds to a core.
    state_bits: Option<u64>,
    differs: Option<&'a str>,
    stats: Option<&'a Stats>,
}

/// Cycles, or steps of an untimed run.
fn cost(stats: &Stats) -> u64 {
    if stats.timed { stats.cycles } else { stats.wave_instructions }
}

impl Compared {
    fn speed_up(&self, row: &Row) -> Option<f64> {
        let first = self.rows.iter().find_map(|r| r.outcome.ran())?;
        Some(cost(&first.stats) as f64 / cost(&row.outcome.ran()?.stats).max(1) as f64)
    }

    fn reasons(&self) -> Vec<StallReason> {
        let ran: Vec<&Stats> = self.rows.iter().filter_map(|r| Some(&r.outcome.ran()?.stats)).collect();
        let used = |r: &StallReason| ran.iter().any(|s| s.stall_cycles.get(*r) > 0);
        StallReason::ALL.into_iter().filter(used).collect()
    }

    pub fn json(&self) -> CompareJson<'_> {
        let variant = |row| VariantJson::of(row, self.speed_up(row));
        CompareJson {
            version: 1,
            program: &self.what,
            machine: &self.machine,
            equal: self.equal(),
            compared: &self.names,
            variants: self.rows.iter().map(variant).collect(),
        }
    }

    /// Aligned text.
    pub fn table(&self) -> String {
        let reasons = self.reasons();
        let timed = self.rows.iter().filter_map(|r| r.outcome.ran()).all(|r| r.stats.timed);
        let mut head: Vec<String> =
            ["variant", if timed { "cycles" } else { "steps" }, "speed-up", "lanes", "splits", "state bits"]
                .map(str::to_owned)
                .to_vec();
        head.extend(reasons.iter().map(|r| r.name().to_owned()));
        let mut rows = vec![(head, String::new())];
        for row in &self.rows {
            let name = row.variant.name.clone();
            let Some(ran) = row.outcome.ran() else {
                let (word, why) = match &row.outcome {
                    Outcome::Failed(why) => ("failed", why.as_str()),
                    Outcome::Refused(why) => ("refused", why.as_str()),
                    Outcome::Ran(_) => ("", ""),
                };
                rows.push((vec![name], format!("{word}: {why}")));
                continue;
            };
            let s = &ran.stats;
            let mut cells = vec![
                name,
                cost(s).to_string(),
                self.speed_up(row).map_or(String::new(), |n| format!("{n:.3}")),
                format!("{:.1}%", 100.0 * s.lane_utilisation),
                s.contexts.started.to_string(),
                ran.state_bits.to_string(),
            ];
            cells.extend(reasons.iter().map(|&r| s.stall_cycles.get(r).to_string()));
            rows.push((cells, row.differs.clone().unwrap_or_default()));
        }
        let mut out = format!("{} on {}; stalls are cycles of paths, by cause\n", self.what, self.machine);
        let columns = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
        let width =
            |c: usize| rows.iter().filter_map(|r| Some(r.0.get(c)?.chars().count())).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for (cells, note) in &rows {
            let mut line = String::new();
            for (c, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                let _ =
                    if c == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
            }
            let gap = if note.is_empty() { "" } else { "  " };
            let _ = writeln!(out, "{}", format!("{line}{gap}{note}").trim_end());
        }
        let ran = self.rows.iter().filter(|r| r.outcome.ran().is_some()).count();
        let _ = match self.equal() {
            true if self.names.is_empty() => writeln!(out, "memory: {}", self.memory()),
            true => {
                writeln!(out, "memory: results of all {ran} variants that ran are equal ({})", self.memory())
            }
            false => writeln!(out, "memory: results DIFFER ({})", self.memory()),
        };
        out
    }

    pub fn csv(&self) -> String {
        let (head, rows) = self.cells();
        rows.iter().fold(line(&head), |text, row| text + &line(row))
    }

    /// The names of columns, and a row for each variant.
    pub fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let fields: Vec<&str> =
            self.rows.first().map_or(Vec::new(), |r| r.variant.fields.iter().map(|f| f.0.as_str()).collect());
        let mut head: Vec<String> =
            ["variant", "mechanism", "contexts", "policy"].map(str::to_owned).to_vec();
        head.extend(fields.iter().map(|f| (*f).to_owned()));
        head.extend(
            ["cycles", "speed_up", "lane_use", "ipc", "wave_instructions", "splits", "state_bits"]
                .map(str::to_owned),
        );
        head.extend(StallReason::ALL.map(|r| format!("stall_{}", r.name())));
        head.extend(["differs", "refused"].map(str::to_owned));
        let mut rows = Vec::new();
        for row in &self.rows {
            let v = &row.variant;
            let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
            let mut cells = vec![
                v.name.clone(),
                v.mechanism.name().to_owned(),
                number(v.contexts),
                v.policy.clone().unwrap_or_default(),
            ];
            cells.extend(v.fields.iter().map(|f| f.1.clone()));
            match row.outcome.ran() {
                Some(ran) => {
                    let s = &ran.stats;
                    cells.push(cost(s).to_string());
                    cells.push(self.speed_up(row).map_or(String::new(), |n| format!("{n:.6}")));
                    cells.push(format!("{:.6}", s.lane_utilisation));
                    cells.push(format!("{:.6}", s.ipc));
                    cells.push(s.wave_instructions.to_string());
                    cells.push(s.contexts.started.to_string());
                    cells.push(ran.state_bits.to_string());
                    cells.extend(StallReason::ALL.map(|r| s.stall_cycles.get(r).to_string()));
                }
                None => cells.extend(std::iter::repeat_n(String::new(), 7 + StallReason::ALL.len())),
            }
            cells.push(row.differs.clone().unwrap_or_default());
            cells.push(row.outcome.why().unwrap_or_default().to_owned());
            rows.push(cells);
        }
        (head, rows)
    }
}

impl<'a> VariantJson<'a> {
    fn of(row: &'a Row, speed_up: Option<f64>) -> VariantJson<'a> {
        let v = &row.variant;
        let (refused, failed) = match &row.outcome {
            Outcome::Ran(_) => (None, None),
            Outcome::Refused(why) => (Some(why.as_str()), None),
            Outcome::Failed(why) => (None, Some(why.as_str())),
        };
        VariantJson {
            name: &v.name,
            mechanism: v.mechanism.name(),
            contexts: v.contexts,
            policy: v.policy.as_deref(),
            fields: v.fields.iter().map(|(f, value)| (f.clone(), value.clone().into())).collect(),
            refused,
            failed,
            speed_up,
            state_bits: row.outcome.ran().map(|r| r.state_bits),
            differs: row.differs.as_deref(),
            stats: row.outcome.ran().map(|r| &r.stats),
        }
    }
}

/// Cells with commas or quotes stand in quotes.
fn line(cells: &[String]) -> String {
    let quoted = |cell: &String| match cell.contains([',', '"', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}
