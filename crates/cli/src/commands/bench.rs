//! `wavebound bench`: simulated wave-instructions per second.

use super::{CommandResult, Printed, print_json, print_line};
use clap::{Args, ValueEnum};
use miette::miette;
use std::process::ExitCode;
use wb_lab::bench;

/// Which runs are measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Only {
    Timed,
    Untimed,
}

#[derive(Args)]
pub struct BenchArgs {
    /// Run only benches whose name contains this
    #[arg(default_value = "")]
    filter: String,
    /// Measure GCN3 operations one by one instead: nanoseconds, and how many v_add_f32 that is
    #[arg(long, conflicts_with_all = ["json", "only"])]
    operations: bool,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Only timed, or only untimed runs
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Time for each measurement; the fastest run in it counts
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

impl Printed for Vec<bench::Measurement> {
    const NAME: &'static str = "bench";
}

/// One line per operation, then those that are too slow.
fn operations(args: &BenchArgs) -> CommandResult {
    print_line("operation                     ns    ratio");
    let line = |o: &bench::Operation| format!("{:<24} {:>7.1} {:>8.2}", o.name, o.nanoseconds, o.ratio);
    let mut all = bench::operations(&args.filter, args.seconds / 50.0, |o| print_line(&line(o)))?;
    all.retain(|o| o.ratio > bench::LIMIT);
    all.sort_by(|a, b| b.ratio.total_cmp(&a.ratio));
    print_line(&format!("\nslower than {} {}: {}", bench::LIMIT, bench::UNIT, all.len()));
    all.iter().for_each(|o| print_line(&line(o)));
    Ok(ExitCode::SUCCESS)
}

pub fn main(args: BenchArgs) -> CommandResult {
    if args.operations {
        return operations(&args);
    }
    if !bench::names().any(|n| n.contains(&args.filter)) {
        let names: Vec<_> = bench::names().collect();
        return Err(miette!(help = names.join(", "), "no bench is named like `{}`", args.filter));
    }
    if !args.json {
        print_line(
            "bench                     machine         run      wave-instructions   seconds   million/s",
        );
    }
    let only = args.only.map(|only| only == Only::Timed);
    let all = bench::run(&args.filter, args.seconds, only, |m| {
        if !args.json {
            print_line(&format!(
                "{:<25} {:<15} {:<8} {:>17} {:>9.4} {:>11.2}",
                m.name,
                m.machine,
                if m.timed { "timed" } else { "untimed" },
                m.wave_instructions,
                m.seconds,
                m.wave_instructions_per_second / 1e6
            ));
        }
    })?;
    if args.json {
        print_json(&all)?;
    } else {
        for mean in bench::means(&all) {
            let run = if mean.timed { "timed" } else { "untimed" };
            print_line(&format!(
                "{:<25} {:<15} {:<8} {:>17} {:>9} {:>11.2}",
                format!("geometric mean of {}", mean.benches),
                mean.machine,
                run,
                "",
                "",
                mean.millions
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}
