//! `wavebound run`: one program on one machine, with statistics, memory, registers, trace, log, picture.

use super::picture::{self, DrawArgs};
use super::target::{Progress, Target};
use super::{CommandResult, print, print_json, print_line};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wb_lab::Job;
use wb_report::History;
use wb_sim::{Outcome, RunOptions};
use wb_trace::{Observers, PdomLog, Statistics, Stats, TraceEnd, TraceWriter};

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    target: Target,
    /// Functional run without a pipeline: fast, same results, cycles are wave-instructions
    #[arg(long)]
    untimed: bool,
    /// Print memory afterwards: a view or label, NAME[:COUNT[:u32|i32|f32]]
    #[arg(long, value_name = "NAME")]
    show: Vec<String>,
    /// Print the registers of every wave as it ended
    #[arg(long)]
    dump_registers: bool,
    /// Machine-readable output (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Write a trace file (docs/trace-format.md)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write the debug log of the PDOM document: masks at splits and joins; `-` = standard output
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    log: Option<PathBuf>,
    /// Draw the execution history (.png or .svg)
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Collect no statistics: fastest, prints only the totals
    #[arg(long)]
    no_stats: bool,
    /// Print the table of all instructions, not only branches
    #[arg(long)]
    per_pc: bool,
    /// Check the mask invariants after every instruction
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct Totals {
    cycles: u64,
    wave_instructions: u64,
    lane_instructions: u64,
    waves: u32,
    max_stack_depth: usize,
}

#[derive(Serialize)]
struct TraceSummary {
    file: String,
    events: u64,
    hash: String,
}

/// The stable result of `run --json`.
#[derive(Serialize)]
struct RunJson {
    version: u32,
    totals: Totals,
    stats: Option<Stats>,
    memory: BTreeMap<String, Vec<String>>,
    registers: BTreeMap<u32, Vec<BTreeMap<String, u64>>>,
    console: String,
    trace: Option<TraceSummary>,
}

pub fn main(args: RunArgs) -> CommandResult {
    let job = args.target.job()?;
    let shown = args.show.iter().map(|s| job.find_buffer(s)).collect::<Result<Vec<_>, _>>()?;
    let mut statistics = (!args.no_stats).then(Statistics::new);
    let mut trace = args.trace.as_deref().map(|p| create(p).map(TraceWriter::new)).transpose()?;
    let mut log = args.log.as_deref().map(|p| log_target(p).map(PdomLog::new)).transpose()?;
    let mut history = args.picture.is_some().then(History::new);

    let outcome = {
        let mut observers = Observers::new();
        statistics.iter_mut().for_each(|o| observers.push(o));
        trace.iter_mut().for_each(|o| observers.push(o));
        log.iter_mut().for_each(|o| observers.push(o));
        history.iter_mut().for_each(|o| observers.push(o));
        let progress = Progress::new();
        let mut report = |cycles, instructions| progress.show(cycles, instructions);
        let options = RunOptions {
            timed: !args.untimed,
            check: args.check,
            keep_registers: args.dump_registers,
            progress: Some(&mut report),
        };
        let silent = observers.is_empty();
        job.run(options, if silent { None } else { Some(&mut observers) })
    };
    if let Some(log) = log {
        log.finish().into_diagnostic().wrap_err("cannot write the log")?;
    }
    let written =
        trace.map(|t| t.finish().into_diagnostic().wrap_err("cannot write the trace")).transpose()?;
    let outcome = outcome?;
    if let (Some(history), Some(path)) = (&history, &args.picture) {
        picture::draw(history, &DrawArgs::default(), path)?;
    }

    let stats = statistics.map(|s| s.stats());
    let mut memory = BTreeMap::new();
    for buffer in &shown {
        memory.insert(buffer.name.clone(), job.values(buffer, &outcome)?);
    }
    if args.json {
        return print_json(&run_json(&args, stats, memory, &outcome, written)).map(|()| ExitCode::SUCCESS);
    }
    print_human(&args, &job, stats.as_ref(), &memory, &outcome, written);
    Ok(ExitCode::SUCCESS)
}

fn create(path: &Path) -> miette::Result<BufWriter<File>> {
    let file =
        File::create(path).into_diagnostic().wrap_err_with(|| format!("cannot create {}", path.display()))?;
    Ok(BufWriter::new(file))
}

fn log_target(path: &Path) -> miette::Result<Box<dyn Write>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdout()));
    }
    Ok(Box::new(create(path)?))
}

fn run_json(
    args: &RunArgs,
    stats: Option<Stats>,
    memory: BTreeMap<String, Vec<String>>,
    outcome: &Outcome,
    written: Option<TraceEnd>,
) -> RunJson {
    let registers = outcome
        .registers
        .iter()
        .map(|w| (w.wave, w.lanes.iter().map(|l| l.iter().cloned().collect()).collect()))
        .collect();
    RunJson {
        version: 1,
        totals: Totals {
            cycles: outcome.cycles,
            wave_instructions: outcome.wave_instructions,
            lane_instructions: outcome.lane_instructions,
            waves: outcome.waves,
            max_stack_depth: outcome.max_stack_depth,
        },
        stats,
        memory,
        registers,
        console: String::from_utf8_lossy(&outcome.console).into_owned(),
        trace: written.zip(args.trace.as_ref()).map(|(end, path)| TraceSummary {
            file: path.display().to_string(),
            events: end.events,
            hash: format!("{:016x}", end.hash),
        }),
    }
}

fn print_human(
    args: &RunArgs,
    job: &Job,
    stats: Option<&Stats>,
    memory: &BTreeMap<String, Vec<String>>,
    outcome: &Outcome,
    written: Option<TraceEnd>,
) {
    if !outcome.console.is_empty() {
        print_line(String::from_utf8_lossy(&outcome.console).trim_end());
    }
    match stats {
        Some(stats) => {
            print(&stats.table());
            if args.per_pc {
                print(&stats.pc_table());
            }
        }
        None => {
            let unit = if args.untimed { "wave-instructions" } else { "cycles" };
            print_line(&format!(
                "{} on {} ({}): {} {unit}, {} wave-instructions, {} waves",
                args.target.file.display(),
                job.machine.name,
                job.machine.divergence.mechanism,
                outcome.cycles,
                outcome.wave_instructions,
                outcome.waves
            ));
        }
    }
    for (name, values) in memory {
        print_line(&format!("{name} = {}", values.join(" ")));
    }
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
    if let (Some(end), Some(path)) = (written, &args.trace) {
        print_line(&format!("trace: {} ({} events, hash {:016x})", path.display(), end.events, end.hash));
    }
    if let Some(path) = &args.picture {
        print_line(&format!("picture: {}", path.display()));
    }
}
