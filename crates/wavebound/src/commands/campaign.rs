//! `wavebound campaign`: random kernels under every mechanism; no run may be longer than its bound.

use super::{CommandResult, print, print_json, print_line};
use clap::Args;
use indicatif::ProgressBar;
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use wb_lab::bound::campaign::{self, Case, Summary};

#[derive(Args)]
pub struct CampaignArgs {
    /// Random kernels, each on a machine of its own
    #[arg(long, default_value_t = 2160)]
    cases: u64,
    /// First case; a case is its number
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Inputs of each kernel
    #[arg(long, default_value_t = 3)]
    inputs: u64,
    /// Run one case and print its whole report
    #[arg(long, value_name = "NUMBER")]
    case: Option<u64>,
    /// Folder for the figure and the table (campaign.svg, campaign.csv)
    #[arg(long, short, default_value = "out/campaign")]
    out: PathBuf,
    /// Threads
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Machine-readable output (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CampaignJson<'a> {
    version: u32,
    violations: usize,
    summary: &'a [Summary],
    cases: &'a [Case],
}

pub fn main(args: CampaignArgs) -> CommandResult {
    if let Some(number) = args.case {
        let (found, setup) =
            campaign::study(number, args.inputs).map_err(|e| miette!("case {number}: {e}"))?;
        if args.json {
            print_json(&found)?;
        } else {
            print_line(&format!("case {number}: {setup}"));
            print(&found.text(true));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(args.cases));
    let cases = campaign::run(args.first..args.first + args.cases, args.inputs, args.threads, &|| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
    })
    .map_err(|(number, e)| {
        miette!(help = format!("again: wavebound campaign --case {number}"), "case {number}: {e}")
    })?;
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    std::fs::create_dir_all(&args.out).into_diagnostic()?;
    let files = campaign::write(&cases, &args.out)?;
    let summary = campaign::summary(&cases);
    let bad: Vec<&Case> = cases.iter().filter(|c| !c.sound || !c.certified).collect();
    if args.json {
        print_json(&CampaignJson { version: 1, violations: bad.len(), summary: &summary, cases: &cases })?;
    } else {
        print(&campaign::table(&summary));
        for file in files {
            print_line(&format!("written: {}", file.display()));
        }
        print_line(&format!("{} cases × {} inputs, {} violations", cases.len(), args.inputs, bad.len()));
    }
    match bad.first() {
        None => Ok(ExitCode::SUCCESS),
        Some(c) => Err(miette!(
            help = format!("again: wavebound campaign --case {}", c.number),
            "case {}: bound {} cycles, observed {}; wave bound {}, observed {}; certificate {}",
            c.number,
            c.bound,
            c.observed,
            c.wave_bound,
            c.wave_observed,
            if c.certified { "valid" } else { "not valid" }
        )),
    }
}
