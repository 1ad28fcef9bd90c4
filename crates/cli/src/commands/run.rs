//! `wavebound run`: one program, or the launches of a launch file, on one machine, with statistics, memory,
//! registers, trace, log, picture.

pub use super::run_args::RunArgs;

use super::outcome::{
    Registers, Totals, print_estimate, print_memory, print_registers, print_stats, registers,
};
use super::record::{Record, TraceSummary, print_files, print_page};
use super::sanitize::{self, SanitizeJson};
use super::{CommandResult, Printed, launches, page, print, print_json, print_line};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use wavebound::jobs::Job;
use wavebound::jobs::data::Array;
use wavebound::jobs::data::Buffer;
use wavebound::schedule::Measured;
use wavebound::trace::{NO_PC, Stats};

/// The stable result of `run --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct RunJson {
    version: u32,
    totals: Totals,
    stats: Option<Stats>,
    memory: BTreeMap<String, Vec<String>>,
    registers: Registers,
    console: String,
    trace: Option<TraceSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oracle: Option<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sanitizer: Option<SanitizeJson>,
}

impl Printed for RunJson {
    const NAME: &'static str = "run";
}

pub fn main(mut args: RunArgs) -> CommandResult {
    let checks = args.sanitize.checks()?;
    args.target.how.machine.checked = checks.is_some();
    args.record.untimed |= checks.is_some();
    if let Some(mut launches) = args.target.launches()? {
        if let Some(checks) = &checks {
            launches.stage_mut().check(checks);
        }
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
    let (outcome, mut record) = args.record.run(None, kernel, |options, observer| {
        Ok(match &checks {
            None => job.run(options, observer)?,
            Some(checks) => job.run_checked(checks, options, observer)?,
        })
    })?;
    let reports = outcome.memory.checker.as_ref().map(|checker| &checker.reports);
    let code = match reports {
        Some(reports) if !reports.all().is_empty() => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    };
    if let Some(path) = &args.record.html {
        let written = page::write_job(&job, Some(&args.target), &mut record, path);
        record.problems.extend(written.err());
    }
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
        let sanitizer = reports.map(Into::into);
        print_json(&RunJson {
            version: 1,
            totals,
            stats,
            memory,
            registers,
            console,
            trace,
            oracle,
            sanitizer,
        })?;
        Record::complete(problems)?;
        save()?;
        return Ok(code);
    }
    if !outcome.console.is_empty() {
        print_line(String::from_utf8_lossy(&outcome.console).trim_end());
    }
    if record.stats.is_none() {
        let unit = super::outcome::unit(args.record.untimed, &outcome);
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
    print_estimate(&outcome);
    print_stats(record.stats.as_ref(), args.per_pc);
    if let Some(measured) = Measured::of(&outcome) {
        print(&format!("\nschedule against the oracles\n{}", measured.table()));
    }
    print_memory(&memory);
    print_registers(&outcome);
    print_files(&record);
    print_page(args.record.html.as_deref());
    Record::complete(record.problems)?;
    save()?;
    for (name, path) in &outputs {
        print_line(&format!("{name}: {}", path.display()));
    }
    if let Some(reports) = reports {
        sanitize::tell(reports);
    }
    Ok(code)
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
