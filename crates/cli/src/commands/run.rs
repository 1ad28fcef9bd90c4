//! `wavebound run`: one program, or the launches of a launch file, on one machine, with statistics, memory,
//! registers, trace, log, picture.

use super::record::{Record, RecordArgs, TraceSummary};
use super::target::Target;
use super::{CommandResult, launches, print, print_json, print_line};
use clap::Args;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::jobs::Job;
use wavebound::jobs::data::Array;
use wavebound::jobs::data::Buffer;
use wavebound::schedule::Measured;
use wavebound::sim::Outcome;
use wavebound::trace::{NO_PC, Stats};

#[derive(Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub record: RecordArgs,
    /// Print a buffer, view or label after the run: NAME[:COUNT[:u32|i32|f32|…]]
    #[arg(long, value_name = "NAME")]
    pub show: Vec<String>,
    /// Write a buffer, view or label after the run, as .npy or raw bytes: NAME[:COUNT[:TYPE]]=FILE
    #[arg(long, value_name = "NAME=FILE")]
    pub out: Vec<String>,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    pub json: bool,
    /// Print the table of all instructions, not only of branches
    #[arg(long)]
    pub per_pc: bool,
}

#[derive(Clone, Default, Serialize)]
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

/// The stable result of `run --json`.
#[derive(Serialize)]
struct RunJson {
    version: u32,
    totals: Totals,
    stats: Option<Stats>,
    memory: BTreeMap<String, Vec<String>>,
    registers: Registers,
    console: String,
    trace: Option<TraceSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oracle: Option<Measured>,
}

impl RunArgs {
    /// `--out` as (what, file).
    pub fn outputs(&self) -> miette::Result<Vec<(&str, PathBuf)>> {
        let split = |text: &String| {
            text.split_once('=').map(|(name, file)| (name.len(), PathBuf::from(file))).ok_or_else(|| {
                miette!(help = "--out NAME=FILE.npy", "`--out {text}` does not say where to write")
            })
        };
        self.out.iter().map(|text| split(text).map(|(n, file)| (&text[..n], file))).collect()
    }
}

pub fn main(args: RunArgs) -> CommandResult {
    if let Some(mut launches) = args.target.launches()? {
        return launches::main(&args, launches.as_mut());
    }
    let job = args.target.job()?;
    let shown = args.show.iter().map(|s| job.find_buffer(s)).collect::<Result<Vec<_>, _>>()?;
    let outputs = args.outputs()?;
    let saved = outputs.iter().map(|(name, _)| job.find_buffer(name)).collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<&Path> = outputs.iter().map(|o| o.1.as_path()).collect();
    args.record.check(false, &paths)?;
    readable(&job, shown.iter().chain(&saved))?;
    let kernel = if args.record.watches() { job.kernel_pc(&args.target.kernel)? } else { NO_PC };
    let (outcome, record) =
        args.record.run(None, kernel, |options, observer| Ok(job.run(options, observer)?))?;
    let mut memory = BTreeMap::new();
    for buffer in &shown {
        memory.insert(buffer.name.clone(), job.values(buffer, &outcome)?);
    }
    let save = || {
        for (buffer, (_, path)) in saved.iter().zip(&outputs) {
            let bytes = outcome.memory.read(buffer.addr, buffer.bytes).into_diagnostic()?.to_vec();
            let shape = vec![buffer.bytes / buffer.element.bytes()];
            Array { element: buffer.element, shape, bytes }.write(path)?;
        }
        Ok::<(), miette::Report>(())
    };
    if args.json {
        let registers = registers(&outcome);
        let console = String::from_utf8_lossy(&outcome.console).into_owned();
        let Record { stats, trace, problems, .. } = record;
        let totals = Totals::from(&outcome);
        let oracle = Measured::of(&outcome);
        print_json(&RunJson { version: 1, totals, stats, memory, registers, console, trace, oracle })?;
        Record::complete(problems)?;
        save()?;
        return Ok(ExitCode::SUCCESS);
    }
    if !outcome.console.is_empty() {
        print_line(String::from_utf8_lossy(&outcome.console).trim_end());
    }
    if record.stats.is_none() {
        let unit = if args.record.untimed { "wave-instructions" } else { "cycles" };
        print_line(&format!(
            "{} on {} ({}): {} {unit}, {} wave-instructions, {} waves",
            args.target.file().display(),
            job.machine.name,
            job.machine.divergence.mechanism,
            outcome.cycles,
            outcome.wave_instructions,
            outcome.waves
        ));
    }
    print_stats(record.stats.as_ref(), args.per_pc);
    if let Some(measured) = Measured::of(&outcome) {
        print(&format!("\nschedule against the oracles\n{}", measured.table()));
    }
    print_memory(&memory);
    print_registers(&outcome);
    print_files(&record);
    Record::complete(record.problems)?;
    save()?;
    for (name, path) in &outputs {
        print_line(&format!("{name}: {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is to be shown lies in memory, which is known before the run.
fn readable<'a>(job: &Job, buffers: impl Iterator<Item = &'a Buffer>) -> miette::Result<()> {
    let mut buffers = buffers.peekable();
    if buffers.peek().is_none() {
        return Ok(());
    }
    let memory = job.memory()?;
    for b in buffers {
        memory.read(b.addr, b.bytes).map_err(|fault| {
            let count = b.bytes / b.element.bytes();
            miette!(help = "ask for fewer elements: NAME:COUNT", "{count} elements of {}: {fault}", b.name)
        })?;
    }
    Ok(())
}

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

pub fn print_files(record: &Record) {
    if let Some(trace) = &record.trace {
        print_line(&format!("trace: {} ({} events, hash {})", trace.file, trace.events, trace.hash));
    }
    if let Some(path) = &record.picture {
        print_line(&format!("picture: {}", path.display()));
    }
}
