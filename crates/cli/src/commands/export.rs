//! `wavebound export`: a trace in the format of another tool.

use super::trace_args::{Waves, waves};
use super::{CommandResult, print_line, tell};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::io::{BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use wavebound::export::{Format, Selection, export};
use wavebound::files::Kind;
use wavebound::trace::TraceFile;

#[derive(Args)]
pub struct ExportArgs {
    /// A trace file that `run --trace` or `hip --trace` wrote
    #[arg(value_name = "FILE.wbt")]
    trace: PathBuf,
    /// perfetto, konata, fst, parquet (a folder) or chrome (docs/exports.md)
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    to: Format,
    /// Where to [default: the trace's name with the format's extension]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// First cycle to export
    #[arg(long, value_name = "CYCLE", default_value_t = 0)]
    from: u64,
    /// First cycle not to export
    #[arg(long, value_name = "CYCLE")]
    until: Option<u64>,
    /// Waves to export, for example 0-3,8
    #[arg(long, value_name = "LIST", value_parser = waves)]
    waves: Option<Waves>,
}

fn format(name: &str) -> Result<Format, String> {
    let names = || Format::ALL.map(Format::name).join(", ");
    Format::parse(name).ok_or_else(|| format!("there is no format `{name}`; there are {}", names()))
}

pub fn main(args: ExportArgs) -> CommandResult {
    if args.until.is_some_and(|until| until <= args.from) {
        return Err(miette!(
            help = "--until is the first cycle that is not exported",
            "--until must be greater than --from"
        ));
    }
    let file = wavebound::files::open(&args.trace, Kind::Trace)?;
    let within = || format!("in {}", args.trace.display());
    let mut trace = TraceFile::open(BufReader::new(file)).into_diagnostic().wrap_err_with(within)?;
    if let Some(cut) = trace.cut() {
        tell(&format!("wavebound: warning: {}: {cut}", args.trace.display()));
        let events: u64 = trace.blocks().iter().map(|b| u64::from(b.events)).sum();
        tell(&format!("wavebound: warning: exported up to there: {events} events"));
    }
    let output = args.output.unwrap_or_else(|| args.to.beside(&args.trace));
    let selection = Selection { from: args.from, to: args.until, waves: args.waves.unwrap_or_default().0 };
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} blocks ({eta})") {
            bar.set_style(style);
        }
        bar
    });
    let mut progress = |done: usize, all: usize| {
        if let Some(bar) = &bar {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        }
    };
    let done = export(&mut trace, args.to, &selection, &output, &mut progress);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let done = done.map_err(miette::Report::from).wrap_err_with(within)?;
    print_line(&format!(
        "{}: {} events; open it with {}",
        output.display(),
        done.events,
        args.to.opened_by()
    ));
    Ok(ExitCode::SUCCESS)
}
