//! HIP programs: `wavebound hip` runs them, and its report says what their launches cost.

use super::totals::{Failure, Totals};
use super::{Measure, STATS};
use crate::point::Point;
use crate::value::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use wb_trace::StallReason;

static NUMBER: AtomicU64 = AtomicU64::new(0);

pub(super) fn measure(
    wavebound: Option<&Path>,
    program: &Path,
    args: &[String],
    point: &Point,
    measure: &Measure,
) -> Result<Vec<Value>, Failure> {
    let text = |what: String| Failure::Text(what);
    let wavebound = wavebound.ok_or_else(|| text("HIP programs need the command wavebound".to_owned()))?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let report = std::env::temp_dir().join(format!("wavebound-sweep-{}-{number}.json", std::process::id()));
    let mut command = Command::new(wavebound);
    command.args(["hip", "--json", "--report"]).arg(&report);
    if !point.machine.is_empty() {
        command.args(["--machine", &point.machine]);
    }
    for set in &point.sets {
        command.args(["--set", set]);
    }
    for place in &point.split_at {
        command.args(["--split-at", place]);
    }
    if point.split_all {
        command.arg("--split-all");
    }
    match measure {
        Measure::Cycles => _ = command.arg("--no-stats"),
        Measure::Stats => {}
        Measure::Bound { unmeasured, facts_from_trace, hybrid, .. } => {
            command.args(["--no-stats", "--wcet", "--unmeasured", unmeasured]);
            command.args(facts_from_trace.then_some("--facts-from-trace"));
            command.args(hybrid.then_some("--hybrid"));
        }
        Measure::Proved | Measure::Worst { .. } => {
            return Err(text(format!("`{}` does not go with HIP programs", measure.name())));
        }
    }
    let absolute = std::path::absolute(program).unwrap_or_else(|_| program.to_owned());
    command.arg("--").arg(absolute).args(args).stdin(Stdio::null()).stdout(Stdio::null());
    let ran = command.stderr(Stdio::piped()).output();
    let json = wb_files::read_text(&report, wb_files::Kind::Kept);
    let _ = std::fs::remove_file(&report);
    let ran =
        ran.map_err(|e| text(format!("cannot start {}: {}", wavebound.display(), wb_files::words(&e))))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().rev().find(|l| !l.trim().is_empty()).unwrap_or("").trim().to_owned();
        return Err(text(format!("the program ended with {}: {last}", ran.status)));
    }
    let json = json.map_err(|e| text(e.to_string()))?;
    let json: serde_json::Value =
        serde_json::from_str(&json).map_err(|e| text(format!("the report of wavebound hip: {e}")))?;
    values(&json, measure)
        .ok_or_else(|| text("the report of wavebound hip lacks what was asked for".to_owned()))
}

fn values(json: &serde_json::Value, measure: &Measure) -> Option<Vec<Value>> {
    let totals = &json["totals"];
    let number = |name: &str| totals[name].as_u64();
    if let Measure::Bound { .. } = measure {
        let bounds = json["bounds"].as_array()?;
        let sum = |name: &str| bounds.iter().map(|b| b[name].as_u64()).sum::<Option<u64>>();
        // From the most to the least that a bound rests on.
        let order = ["exact", "proved", "hybrid", "given", "observed"];
        let rank = |b: &serde_json::Value| order.iter().position(|o| b["status"] == *o);
        let status = bounds.iter().map(rank).collect::<Option<Vec<_>>>()?.into_iter().max();
        let status = status.map_or(String::new(), |s| order[s].to_owned());
        return Some(vec![sum("bound")?.into(), sum("observed")?.into(), Value::Text(status)]);
    }
    let run = Totals {
        launches: number("launches")?,
        cycles: number("cycles")?,
        waves: number("waves")?,
        wave_instructions: number("wave_instructions")?,
        lane_instructions: number("lane_instructions")?,
        nops: 0,
    };
    let mut values = run.values();
    if *measure == Measure::Stats {
        // What the report does not have stays empty.
        let none = || Value::Text(String::new());
        let float = |name: &str| totals[name].as_f64().map_or_else(none, Value::Float);
        for (name, _) in STATS {
            values.push(match name {
                "ipc" | "lane_utilisation" => float(name),
                "splits" => number(name).map_or_else(none, Value::from),
                _ => none(),
            });
        }
        values.extend(StallReason::ALL.map(|_| none()));
    }
    Some(values)
}
