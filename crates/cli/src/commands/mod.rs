//! One file per command, plus the options they share.

pub mod asm;
pub mod bench;
pub mod campaign;
pub mod cfg;
pub mod check_bound;
pub mod cl;
pub mod compare;
pub mod compile;
pub mod debug;
pub mod demo;
pub mod export;
pub mod facts;
pub mod hip;
mod host;
pub mod info;
pub mod interrupt;
pub mod json;
pub mod kernels;
mod launches;
pub mod manual;
mod outcome;
mod page;
pub mod picture;
mod place;
mod planted;
pub mod predict;
mod record;
pub mod reproduce;
pub mod run;
mod run_args;
mod sanitize;
pub mod split;
mod split_input;
mod style;
pub mod sweep;
pub mod synthetic;
mod target;
mod trace_args;
pub mod view;
pub mod wcet;
pub mod workloads;
pub mod worst;

pub use json::{Printed, print_json};

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

/// What a command returns: an exit code, or an error to show.
pub type CommandResult = miette::Result<ExitCode>;

/// Why standard output took no more.
static LOST: OnceLock<String> = OnceLock::new();

/// Prints to standard output; a reader that has gone away (`| head`) ends the program quietly. Any other error is kept for
/// the end ([`lost`]), so that files are still written.
pub fn print(text: &str) {
    if LOST.get().is_some() {
        return;
    }
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => std::process::exit(0),
        Err(e) => _ = LOST.set(wavebound::files::words(&e)),
    }
}

/// What kept standard output from being written, if anything did.
pub fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// A line on standard error. Unlike `eprintln!` it does not panic where nobody can read it.
pub fn tell(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

pub fn print_line(text: &str) {
    print(&format!("{text}\n"));
}
