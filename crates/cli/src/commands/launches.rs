//! `wavebound run` with a launch file or a workload: every launch, then what was expected and what to keep.

use super::outcome::{
    Registers, Totals, print_estimate, print_memory, print_registers, print_stats, registers, size,
};
use super::page::{self, Ended, Pages, occupancy};
use super::record::{Record, TraceSummary, print_files, print_page};
use super::run_args::RunArgs;
use super::sanitize::{self, SanitizeJson};
use super::{CommandResult, Printed, print_json, print_line};
use miette::{Report, miette};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wavebound::jobs::launch::{Launches, Verdict};
use wavebound::sim::Outcome;
use wavebound::trace::{NO_PC, Stats};

#[derive(Serialize, schemars::JsonSchema)]
struct LaunchJson {
    kernel: String,
    grid: [u32; 3],
    group: [u32; 3],
    totals: Totals,
    stats: Option<Stats>,
    registers: Registers,
    trace: Option<TraceSummary>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct ExpectJson {
    buffer: String,
    ok: bool,
    elements: u64,
    differing: u64,
    first: Option<FirstJson>,
}

#[derive(Serialize, schemars::JsonSchema)]
struct FirstJson {
    index: u64,
    got: String,
    expected: String,
}

/// The stable result of `run launch.toml --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct LaunchesJson {
    version: u32,
    passed: bool,
    totals: Totals,
    stats: Option<Stats>,
    launches: Vec<LaunchJson>,
    expect: Vec<ExpectJson>,
    memory: BTreeMap<String, Vec<String>>,
    outputs: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sanitizer: Option<SanitizeJson>,
}

impl Printed for LaunchesJson {
    const NAME: &'static str = "run-launches";
}

/// What the launches did.
#[derive(Default)]
struct LaunchResults {
    totals: Totals,
    stats: Option<Stats>,
    launches: Vec<LaunchJson>,
    /// Files that could not be written.
    problems: Vec<Report>,
}

pub fn main(args: &RunArgs, session: &mut dyn Launches) -> CommandResult {
    let shown = args.show.iter().map(|s| session.stage().buffer(s)).collect::<Result<Vec<_>, _>>()?;
    let outputs = args.outputs()?;
    for (name, _) in &outputs {
        session.stage().buffer(name)?;
    }
    let own = session.outputs();
    let paths: Vec<&Path> = own.iter().chain(outputs.iter().map(|o| &o.1)).map(PathBuf::as_path).collect();
    args.record.check(true, &paths)?;
    let LaunchResults { totals, stats, launches, mut problems } = run_all(args, session)?;
    let verdicts = session.verdicts()?;
    let written = write(session, outputs, &mut problems);
    let mut memory = BTreeMap::new();
    for buffer in &shown {
        memory.insert(buffer.name.clone(), session.stage().values(buffer)?);
    }
    let passed = verdicts.iter().all(|v| v.difference.is_none());
    let reports = session.stage_mut().checked().map(|checker| checker.reports.clone());
    if args.json {
        let expect = verdicts.iter().map(expect_json).collect();
        print_json(&LaunchesJson {
            version: 1,
            passed,
            totals,
            stats,
            launches,
            expect,
            memory,
            outputs: written,
            sanitizer: reports.as_ref().map(Into::into),
        })?;
    } else {
        print_stats(stats.as_ref(), args.per_pc);
        print_memory(&memory);
        print_page(args.record.html.as_deref());
        for (name, path) in &written {
            print_line(&format!("{name}: {path}"));
        }
        for v in verdicts.iter().filter(|v| v.difference.is_none()) {
            print_line(&format!("{}: {} elements as expected", v.buffer, v.elements));
        }
        if let Some(reports) = &reports {
            sanitize::tell(reports);
        }
    }
    Record::complete(problems)?;
    let code = judge(args, &verdicts)?;
    let found = reports.is_some_and(|reports| !reports.all().is_empty());
    Ok(if found { ExitCode::FAILURE } else { code })
}

/// Runs one launch after the other, and tells about each.
fn run_all(args: &RunArgs, session: &mut dyn Launches) -> miette::Result<LaunchResults> {
    let mut all = LaunchResults::default();
    let mut pages = args.record.html.is_some().then(Pages::default);
    while let Some(step) = session.next_step()? {
        let mut fits = None;
        if pages.is_some() {
            session.with_prepared(&step, &mut |prepared, _, _| {
                fits = Some((prepared.machine.clone(), occupancy(prepared.machine, prepared.launch)));
                Ok(())
            })?;
        }
        let (outcome, mut record) = args
            .record
            .run(Some(step.number), NO_PC, |options, observer| Ok(session.run(&step, options, observer)?))?;
        add(&mut all.totals, &outcome);
        match (&mut all.stats, &record.stats) {
            (Some(sum), Some(more)) => sum.add(more),
            (sum @ None, more) => sum.clone_from(more),
            _ => {}
        }
        let d = &step.dispatch;
        if let (Some(pages), Some((machine, occupancy)), Some(stats)) = (&mut pages, fits, &record.stats) {
            let file = session.stage().program_file();
            let found = page::sources(stats, None, &args.target, file);
            let (kernel, grid, group) = (d.kernel.as_str(), size(d.grid), size(d.group));
            let ended = Ended { kernel, file, grid, group, machine: &machine, occupancy };
            pages.add(ended, &mut record, found);
        }
        if args.json {
            all.launches.push(LaunchJson {
                kernel: d.kernel.clone(),
                grid: d.grid,
                group: d.group,
                totals: Totals::from(&outcome),
                stats: record.stats,
                registers: registers(&outcome),
                trace: record.trace,
            });
        } else {
            print_line(&format!(
                "launch {} {} {} in {}: {} {}, {} wave-instructions, {} waves",
                step.number,
                d.kernel,
                size(d.grid),
                size(d.group),
                outcome.cycles,
                super::outcome::unit(args.record.untimed, &outcome),
                outcome.wave_instructions,
                outcome.waves
            ));
            print_estimate(&outcome);
            print_registers(&outcome);
            print_files(&record);
        }
        all.problems.extend(record.problems);
    }
    if let (Some(pages), Some(path)) = (pages, &args.record.html) {
        all.problems.extend(pages.write(path).err());
    }
    Ok(all)
}

/// Writes the files that the launch file and the command line name; returns what is where.
fn write(
    session: &dyn Launches,
    outputs: Vec<(&str, PathBuf)>,
    problems: &mut Vec<Report>,
) -> BTreeMap<String, String> {
    let mut written: BTreeMap<String, String> = BTreeMap::new();
    match session.write_outputs() {
        Ok(files) => written.extend(files.into_iter().map(|(n, p)| (n, p.display().to_string()))),
        Err(e) => problems.push(e.into()),
    }
    for (name, path) in outputs {
        match session.stage().save(name, &path) {
            Ok(()) => _ = written.insert(name.to_owned(), path.display().to_string()),
            Err(e) => problems.push(e.into()),
        }
    }
    written
}

/// Everything is as expected, or an error that names what is not.
fn judge(args: &RunArgs, verdicts: &[Verdict]) -> CommandResult {
    let mut failures = verdicts.iter().filter_map(failure);
    match failures.next() {
        None => Ok(ExitCode::SUCCESS),
        Some(first) => {
            let text: Vec<String> = std::iter::once(first).chain(failures).collect();
            let help = match args.target.workload.workload {
                Some(_) => {
                    "a workload must give its reference's results on every machine: please report this"
                }
                None => "abs, rel or ulp in [[expect]] allow small differences",
            };
            Err(miette!(help = help, "{}", text.join("\n")))
        }
    }
}

fn add(totals: &mut Totals, outcome: &Outcome) {
    totals.cycles += outcome.cycles;
    totals.wave_instructions += outcome.wave_instructions;
    totals.lane_instructions += outcome.lane_instructions;
    totals.nops += outcome.nops;
    totals.waves += outcome.waves;
    totals.max_stack_depth = totals.max_stack_depth.max(outcome.max_stack_depth);
}

fn failure(v: &Verdict) -> Option<String> {
    let d = v.difference.as_ref()?;
    Some(format!(
        "buffer {} is not as expected: {}[{}] is {}, expected {}; {} of {} elements differ",
        v.buffer, v.buffer, d.index, d.got, d.expected, d.count, d.of
    ))
}

fn expect_json(v: &Verdict) -> ExpectJson {
    ExpectJson {
        buffer: v.buffer.clone(),
        ok: v.difference.is_none(),
        elements: v.elements,
        differing: v.difference.as_ref().map_or(0, |d| d.count),
        first: v.difference.as_ref().map(|d| FirstJson {
            index: d.index,
            got: d.got.clone(),
            expected: d.expected.clone(),
        }),
    }
}
