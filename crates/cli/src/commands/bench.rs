//! `wavebound bench`: simulated wave-instructions per second.

use super::{CommandResult, Printed, print_json, print_line};
use clap::Args;
use miette::miette;
use std::process::ExitCode;
use wb_lab::bench;

#[derive(Args)]
pub struct BenchArgs {
    /// Run only benches whose name contains this
    #[arg(default_value = "")]
    filter: String,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
    /// Time for each measurement; the fastest run in it counts
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
}

impl Printed for Vec<bench::Measurement> {
    const NAME: &'static str = "bench";
}

pub fn main(args: BenchArgs) -> CommandResult {
    if !bench::names().any(|n| n.contains(&args.filter)) {
        let names: Vec<_> = bench::names().collect();
        return Err(miette!(help = names.join(", "), "no bench is named like `{}`", args.filter));
    }
    if !args.json {
        print_line(
            "bench                     machine         run      wave-instructions   seconds   million/s",
        );
    }
    let all = bench::run(&args.filter, args.seconds, |m| {
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
    }
    Ok(ExitCode::SUCCESS)
}
