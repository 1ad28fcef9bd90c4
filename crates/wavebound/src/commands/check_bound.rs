//! `wavebound check-bound`: checks certificates of bounds with the independent checker (docs/certificate.md).

use super::{CommandResult, print_json, print_line};
use clap::Args;
use miette::{IntoDiagnostic, WrapErr};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Args)]
pub struct CheckArgs {
    /// Certificates, as `wavebound wcet --certificate` writes them
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Machine-readable output (docs/json.md)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct CheckedJson {
    file: String,
    valid: bool,
    bound: Option<u64>,
    nodes: usize,
    edges: usize,
    loops: usize,
    facts: usize,
    assumptions: Vec<String>,
    error: Option<String>,
}

/// Exit code 1 if any certificate does not prove its bound.
pub fn main(args: CheckArgs) -> CommandResult {
    let mut all = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .into_diagnostic()
            .wrap_err_with(|| format!("cannot read {file}"))?;
        let row = match wb_check::check(&text) {
            Ok(r) => CheckedJson {
                file,
                valid: true,
                bound: Some(r.bound),
                nodes: r.nodes,
                edges: r.edges,
                loops: r.loops,
                facts: r.facts,
                assumptions: r.assumptions,
                error: None,
            },
            Err(e) => CheckedJson {
                file,
                valid: false,
                bound: None,
                nodes: 0,
                edges: 0,
                loops: 0,
                facts: 0,
                assumptions: Vec::new(),
                error: Some(e.to_string()),
            },
        };
        all.push(row);
    }
    if args.json {
        print_json(&serde_json::json!({ "version": 1, "certificates": all }))?;
    } else {
        for row in &all {
            match (&row.error, row.bound) {
                (Some(error), _) => print_line(&format!("{}: NOT VALID: {error}", row.file)),
                (None, bound) => {
                    print_line(&format!(
                        "{}: valid: no wave takes more than {} cycles ({} nodes, {} edges, {} loops, {} facts), if",
                        row.file,
                        bound.unwrap_or(0),
                        row.nodes,
                        row.edges,
                        row.loops,
                        row.facts
                    ));
                    for a in &row.assumptions {
                        print_line(&format!("  - {a}"));
                    }
                }
            }
        }
    }
    let valid = all.iter().all(|r| r.valid);
    Ok(if valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
