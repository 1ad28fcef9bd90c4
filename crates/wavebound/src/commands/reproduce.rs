//! `wavebound reproduce`: published experiments beside ours; fails when the shape is not met.

use super::{CommandResult, print, print_json, print_line};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use wb_lab::reproduce;

#[derive(Args)]
pub struct ReproduceArgs {
    /// Experiments to run; none = list them; `all` = every one
    names: Vec<String>,
    /// Folder for data and plots
    #[arg(long, short, default_value = "out/reproduce")]
    out: PathBuf,
    /// Machine-readable output
    #[arg(long)]
    json: bool,
}

pub fn main(args: ReproduceArgs) -> CommandResult {
    if args.names.is_empty() {
        for e in reproduce::experiments() {
            print_line(&format!("{:<10} {} [{}]", e.name, e.title, e.source));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names: Vec<String> = if args.names.iter().any(|n| n == "all") {
        reproduce::experiments().iter().map(|e| e.name.to_owned()).collect()
    } else {
        args.names.clone()
    };
    let mut findings = Vec::new();
    for name in &names {
        let finding = reproduce::run(name, &args.out)?;
        if !args.json {
            print(&finding.table());
            print_line("");
        }
        findings.push(finding);
    }
    if args.json {
        print_json(&findings.iter().map(|f| f.to_json()).collect::<Vec<_>>())?;
    }
    let failed: Vec<&str> = findings.iter().filter(|f| !f.passed()).map(|f| f.name.as_ref()).collect();
    if failed.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("not reproduced: {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}
