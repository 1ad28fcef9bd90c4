//! `wavebound synthetic`: the synthetic benchmark as assembly, or run at once and checked against its reference.

use super::outcome::{Totals, print_stats};
use super::record::{Record, RecordArgs, print_files, print_page};
use super::target::MachineArgs;
use super::{CommandResult, Printed, page, print, print_json, print_line};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::trace::Stats;
use wb_lab::synthetic::{MarkWith, Marks, Synthetic};

#[derive(Args)]
pub struct SyntheticArgs {
    /// Layers of nested if/else on the lane number, 0 to 6; N layers make 2^N paths
    #[arg(long, default_value_t = 3)]
    layers: u32,
    /// Percentage of a work-item's work instructions that are in the leaves
    #[arg(long, default_value_t = 100)]
    divergent: u32,
    /// Percentage of work instructions that access memory
    #[arg(long, default_value_t = 0)]
    memory: u32,
    /// Work instructions of a work-item in each trip
    #[arg(long, default_value_t = 64)]
    leaf: u32,
    /// Number of trips: how often the whole is repeated
    #[arg(long, default_value_t = 4)]
    trips: u32,
    /// Work-items to launch
    #[arg(long, default_value_t = 4096)]
    items: u32,
    /// Work-items of a group
    #[arg(long, default_value_t = 64)]
    group: u32,
    /// Branches that may split the wave: none, all, N (the first N in program order), layers:N (the outer N layers)
    #[arg(long, default_value = "none", value_parser = marks)]
    marks: Marks,
    /// How they are marked: split (split and merge, PWS) or mode (MODE bit 21, THESIS)
    #[arg(long, default_value = "split", value_parser = mark_with)]
    mark_with: MarkWith,
    /// File for the assembly (default: standard output)
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Run it and compare the result with the reference
    #[arg(long)]
    run: bool,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    record: RecordArgs,
    /// Print the totals of the run as JSON
    #[arg(long)]
    json: bool,
}

fn marks(text: &str) -> Result<Marks, String> {
    let number = |n: &str| n.parse().map_err(|_| "none, all, a number, or layers:NUMBER".to_owned());
    Ok(match text {
        "none" => Marks::None,
        "all" => Marks::All,
        _ => match text.strip_prefix("layers:") {
            Some(n) => Marks::Layers(number(n)?),
            None => Marks::First(number(text)?),
        },
    })
}

fn mark_with(text: &str) -> Result<MarkWith, String> {
    match text {
        "split" => Ok(MarkWith::Split),
        "mode" => Ok(MarkWith::Mode),
        _ => Err("split or mode".into()),
    }
}

/// The stable result of `synthetic --run --json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct SyntheticJson {
    version: u32,
    totals: Totals,
    stats: Option<Stats>,
}

impl Printed for SyntheticJson {
    const NAME: &'static str = "synthetic";
}

pub fn main(args: SyntheticArgs) -> CommandResult {
    let bench = Synthetic {
        layers: args.layers,
        divergent: args.divergent,
        memory: args.memory,
        leaf: args.leaf,
        trips: args.trips,
        items: args.items,
        group: args.group,
        marks: args.marks,
        mark_with: args.mark_with,
    };
    bench.check()?;
    args.record.check(false, &args.output.iter().map(PathBuf::as_path).collect::<Vec<_>>())?;
    if let Some(path) = &args.output {
        wavebound::files::write(path, bench.source())?;
    }
    if !args.run {
        if args.output.is_none() {
            print(&bench.source());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let job = bench.job(&args.machine.spec())?;
    let (outcome, mut record) = args
        .record
        .run(None, wavebound::trace::NO_PC, |options, observer| Ok(job.run(options, observer)?))?;
    bench.verify(&job, &outcome)?;
    if let Some(path) = &args.record.html {
        let written = page::write_job(&job, None, &mut record, path);
        record.problems.extend(written.err());
    }
    if args.json {
        print_json(&SyntheticJson { version: 1, totals: Totals::from(&outcome), stats: record.stats })?;
        Record::complete(record.problems)?;
        return Ok(ExitCode::SUCCESS);
    }
    print_stats(record.stats.as_ref(), false);
    print_line(&format!(
        "synthetic on {} ({}): {} {}, {} wave-instructions, {} waves; memory as the reference says",
        job.machine.name,
        job.machine.divergence.mechanism,
        outcome.cycles,
        if args.record.untimed { "wave-instructions" } else { "cycles" },
        outcome.wave_instructions,
        outcome.waves
    ));
    print_files(&record);
    print_page(args.record.html.as_deref());
    Record::complete(record.problems)?;
    Ok(ExitCode::SUCCESS)
}
