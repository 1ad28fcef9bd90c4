//! What `wavebound hip` and `wavebound cl` print when the program has ended: a row for each launch or kernel, totals, bounds; as text or JSON.

use super::args::HostArgs;
use super::run::Run;
use super::told::{Checked, Missing, Start, Told};
use crate::commands::outcome::size;
use crate::commands::sanitize::summary;
use crate::commands::{Printed, json, print};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitStatus;
use wb_host::{Counts, LaunchRecord, short_name};

/// Launches beyond which kernels are shown once, with sums.
const MANY: usize = 30;

/// The stable result of `hip --json` and `cl --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct ProgramJson<'a> {
    version: u32,
    machine: Option<&'a Start>,
    /// The program's exit code, if it was not ended by a signal.
    exit: Option<i32>,
    /// Processes that used the library.
    processes: u32,
    totals: Sum,
    launches: Vec<LaunchJson<'a>>,
    bounds: Vec<&'a serde_json::Value>,
    /// Kernels without a bound, if bounds were asked for.
    missing: &'a [Missing],
    errors: &'a [String],
    /// Launch files that `--capture` wrote.
    captured: &'a [String],
    /// What `--sanitize` found.
    #[serde(skip_serializing_if = "Option::is_none")]
    sanitizer: Option<&'a Checked>,
}

impl Printed for ProgramJson<'_> {
    const NAME: &'static str = "hip";
}

#[derive(Serialize, schemars::JsonSchema)]
struct LaunchJson<'a> {
    process: u32,
    number: usize,
    kernel: &'a str,
    name: String,
    grid: [u32; 3],
    block: [u32; 3],
    /// A signal ended the program during this launch: these are its numbers so far.
    interrupted: bool,
    #[serde(flatten)]
    sum: Sum,
}

/// What one or several launches cost.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
struct Sum {
    launches: usize,
    cycles: u64,
    wave_instructions: u64,
    lane_instructions: u64,
    waves: u64,
    ipc: f64,
    /// Active lanes per instruction over the machine's lanes.
    lane_utilisation: Option<f64>,
    /// Live lanes that sat out over live lanes.
    divergence: Option<f64>,
    splits: Option<u64>,
    refused: Option<u64>,
    /// Seconds the simulation took.
    seconds: f64,
}

fn sum<'a>(launches: impl Iterator<Item = &'a LaunchRecord>, lanes: u32) -> Sum {
    let (mut sum, mut counts, mut counted) = (Sum::default(), Counts::default(), true);
    for l in launches {
        sum.launches += 1;
        sum.cycles += l.cycles;
        sum.wave_instructions += l.wave_instructions;
        sum.lane_instructions += l.lane_instructions;
        sum.waves += u64::from(l.waves);
        sum.seconds += l.seconds;
        match &l.counts {
            Some(c) => {
                counts.instructions += c.instructions;
                counts.lanes += c.lanes;
                counts.lost += c.lost;
                counts.splits += c.splits;
                counts.refused += c.refused;
            }
            None => counted = false,
        }
    }
    let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    sum.ipc = share(sum.wave_instructions, sum.cycles);
    if counted {
        sum.lane_utilisation = Some(share(counts.lanes, counts.instructions * u64::from(lanes)));
        sum.divergence = Some(share(counts.lost, counts.lost + counts.lanes));
        sum.splits = Some(counts.splits);
        sum.refused = Some(counts.refused);
    }
    sum
}

pub(super) fn report(run: &Run, told: &Told, status: ExitStatus) -> miette::Result<()> {
    let text = if run.args.json { json(told, status)? } else { table(run.args, told) };
    match &run.args.report {
        Some(path) => wavebound::files::write(path, text)?,
        None => print(&text),
    }
    if run.args.report.is_some() || run.args.json {
        for missing in &told.missing {
            eprintln!("wavebound: no bound of {}: {}", missing.name, missing.why);
        }
    }
    if told.start.is_none() {
        super::super::tell(&format!("wavebound: {}", run.api.unused));
    }
    Ok(())
}

fn json(told: &Told, status: ExitStatus) -> miette::Result<String> {
    let lanes = told.start.as_ref().map_or(1, |s| s.lanes);
    let report = ProgramJson {
        version: 1,
        machine: told.start.as_ref(),
        exit: status.code(),
        processes: told.processes,
        totals: sum(told.launches.iter(), lanes),
        launches: told.launches.iter().map(|l| launch_json(l, lanes)).collect(),
        bounds: told.bounds.iter().map(|b| &b.report).collect(),
        missing: &told.missing,
        errors: &told.errors,
        captured: &told.captured,
        sanitizer: told.checked.as_ref(),
    };
    Ok(json::pretty(&report)? + "\n")
}

fn launch_json(l: &LaunchRecord, lanes: u32) -> LaunchJson<'_> {
    LaunchJson {
        process: l.process,
        number: l.number,
        kernel: &l.kernel,
        name: short_name(&l.kernel),
        grid: l.grid,
        block: l.block,
        interrupted: l.interrupted,
        sum: sum(std::iter::once(l), lanes),
    }
}

struct Row {
    first: String,
    kernel: String,
    grid: String,
    block: String,
    sum: Sum,
}

fn table(args: &HostArgs, told: &Told) -> String {
    let Some(start) = &told.start else { return String::new() };
    let mut out = String::new();
    let unit = if start.timed { "cycles" } else { "wave-instructions, untimed" };
    let _ = writeln!(
        out,
        "\n{} launches{} on {} ({}), {unit}:",
        told.launches.len(),
        if told.processes > 1 { format!(" of {} processes", told.processes) } else { String::new() },
        start.machine,
        start.mechanism
    );
    let per_launch = args.all || told.launches.len() <= MANY;
    let rows = if per_launch { by_launch(told, start.lanes) } else { by_kernel(told, start.lanes) };
    write_rows(&mut out, &rows, if per_launch { "#" } else { "launches" }, start.timed);
    let total = sum(told.launches.iter(), start.lanes);
    let milliseconds = total.cycles as f64 / (f64::from(start.clock_mhz.max(1)) * 1000.0);
    if start.timed {
        let _ = writeln!(
            out,
            "total {} cycles = {milliseconds:.3} ms at {} MHz, {} wave-instructions; simulated in {:.2} s",
            total.cycles, start.clock_mhz, total.wave_instructions, total.seconds
        );
    } else {
        let _ = writeln!(
            out,
            "total {} wave-instructions; simulated in {:.2} s",
            total.wave_instructions, total.seconds
        );
    }
    if let Some(cut) = told.launches.iter().find(|l| l.interrupted) {
        let _ = writeln!(out, "launch {} was interrupted: its numbers so far", cut.number);
    }
    if !told.launches.is_empty() {
        let _ = writeln!(
            out,
            "times the program itself measured with the host's clock are times of the simulation"
        );
    }
    for file in &told.captured {
        let _ = writeln!(out, "captured: {file}");
    }
    if let Some(checked) = &told.checked {
        let line = summary(checked.reports.len(), checked.left_out, checked.suppressed);
        let _ = writeln!(out, "{line}");
        for report in checked.reports.iter().filter(|r| r.count > 1) {
            let _ = writeln!(out, "  {} times: {} at {}", report.count, report.kind, report.place);
        }
    }
    for bound in &told.bounds {
        let _ = write!(out, "\n{}", bound.text);
    }
    for missing in &told.missing {
        let _ = writeln!(out, "\nno bound of {}: {}", missing.name, missing.why);
    }
    out
}

fn by_launch(told: &Told, lanes: u32) -> Vec<Row> {
    let row = |l: &LaunchRecord| Row {
        // With several processes, launch 2 of the third is 3.2.
        first: if told.processes > 1 { format!("{}.{}", l.process, l.number) } else { l.number.to_string() },
        kernel: short_name(&l.kernel),
        grid: size(l.grid),
        block: size(l.block),
        sum: sum(std::iter::once(l), lanes),
    };
    told.launches.iter().map(row).collect()
}

/// Kernels in the order of their names, each with all of its launches.
fn by_kernel(told: &Told, lanes: u32) -> Vec<Row> {
    let mut kernels: BTreeMap<&str, Vec<&LaunchRecord>> = BTreeMap::new();
    for l in &told.launches {
        kernels.entry(&l.kernel).or_default().push(l);
    }
    let same = |list: &[&LaunchRecord], of: fn(&LaunchRecord) -> [u32; 3]| {
        let first = list.first().map_or([1; 3], |l| of(l));
        if list.iter().all(|l| of(l) == first) { size(first) } else { "various".to_owned() }
    };
    let row = |(kernel, list): (&&str, &Vec<&LaunchRecord>)| Row {
        first: list.len().to_string(),
        kernel: short_name(kernel),
        grid: same(list, |l| l.grid),
        block: same(list, |l| l.block),
        sum: sum(list.iter().copied(), lanes),
    };
    kernels.iter().map(row).collect()
}

fn write_rows(out: &mut String, rows: &[Row], first: &str, timed: bool) {
    if rows.is_empty() {
        return;
    }
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |s| format!("{:.1}%", 100.0 * s));
    let number = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
    let mut cells: Vec<Vec<String>> = vec![
        [first, "kernel", "grid", "block", "cycles", "instructions", "IPC", "lanes", "diverged", "splits"]
            .map(str::to_owned)
            .to_vec(),
    ];
    for r in rows {
        let s = &r.sum;
        cells.push(vec![
            r.first.clone(),
            r.kernel.clone(),
            r.grid.clone(),
            r.block.clone(),
            if timed { s.cycles.to_string() } else { "-".into() },
            s.wave_instructions.to_string(),
            if timed { format!("{:.3}", s.ipc) } else { "-".into() },
            percent(s.lane_utilisation),
            percent(s.divergence),
            number(s.splits),
        ]);
    }
    let widths: Vec<usize> =
        (0..cells[0].len()).map(|c| cells.iter().map(|r| r[c].chars().count()).max().unwrap_or(0)).collect();
    for row in &cells {
        let mut line = String::new();
        for (c, (cell, width)) in row.iter().zip(&widths).enumerate() {
            // The kernel's name to the left, numbers to the right.
            let _ = if c == 1 { write!(line, "  {cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}
