//! One file per command, plus the options they share.

pub mod asm;
pub mod bench;
pub mod campaign;
pub mod cfg;
pub mod check_bound;
pub mod compile;
pub mod demo;
pub mod facts;
pub mod hip;
pub mod info;
pub mod interrupt;
pub mod kernels;
mod launches;
pub mod picture;
mod place;
pub mod predict;
mod record;
pub mod reproduce;
pub mod run;
pub mod split;
pub mod synthetic;
mod target;
pub mod wcet;
pub mod workloads;

use std::io::{self, Write};
use std::process::ExitCode;

/// What a command returns: an exit code, or an error to show.
pub type CommandResult = miette::Result<ExitCode>;

/// Prints to standard output; a reader that has gone away (`| head`) ends the program quietly.
pub fn print(text: &str) {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if written.is_err_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
        std::process::exit(0);
    }
}

pub fn print_line(text: &str) {
    print(&format!("{text}\n"));
}

/// Pretty JSON on standard output.
pub fn print_json(value: &impl serde::Serialize) -> miette::Result<()> {
    use miette::IntoDiagnostic;
    print_line(&serde_json::to_string_pretty(value).into_diagnostic()?);
    Ok(())
}
