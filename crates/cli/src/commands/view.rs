//! `wavebound view`: a trace, or a run, as a page in the browser (docs/viewer.md).

use super::interrupt::Watch;
use super::target::{Progress, Target};
use super::{CommandResult, print_line, tell};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::{IntoDiagnostic, WrapErr, miette};
use std::collections::BTreeSet;
use std::io::{BufWriter, IsTerminal, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use wavebound::files::Kind;
use wavebound::jobs::launch::is_launch_file;
use wavebound::sim::RunOptions;
use wavebound::trace::{TraceOptions, TraceWriter};
use wavebound::view::{Source, Store, View, serve};

#[derive(Args)]
pub struct ViewArgs {
    /// A trace file written by `run --trace`, or a program to run (see `wavebound run --help`)
    #[command(flatten)]
    target: Target,
    /// A second trace, to be shown beside the first one
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    with: Option<PathBuf>,
    /// Run the program under this mechanism, too, and show both runs
    #[arg(long, value_name = "MECHANISM")]
    against: Option<String>,
    /// Folder to look for source files in, besides that of the trace or program and the current one; repeatable
    #[arg(long, value_name = "FOLDER")]
    source: Vec<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Open the page in the system's browser
    #[arg(long)]
    open: bool,
}

pub fn main(args: ViewArgs) -> CommandResult {
    let path = args.target.file();
    let watch = Watch::new()?;
    let traces = if super::picture::is_trace(path) {
        if args.against.is_some() {
            return Err(miette!(
                help = "wavebound view a.wbt --with b.wbt shows two traces",
                "--against runs a program; {} is a trace",
                path.display()
            ));
        }
        std::iter::once(path).chain(args.with.as_deref()).map(|p| open(p, &watch)).collect()
    } else {
        run_all(&args, &watch)
    };
    let traces: Vec<Store> = traces.map_err(|e| watch.interrupted().map_or(e, Into::into))?;
    drop(watch);
    let sources = sources(&traces, &args);
    let serving = serve(View { traces, sources }, args.port).into_diagnostic()?;
    print_line(&serving.url);
    tell("wavebound: this computer alone can open it; Ctrl-C ends the viewer");
    if args.open {
        let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let started =
            Command::new(opener).arg(&serving.url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        if started.is_err() {
            tell(&format!("wavebound: there is no {opener}; open the address yourself"));
        }
    }
    serving.wait().into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a trace, with progress for long ones.
fn open(path: &Path, watch: &Watch) -> miette::Result<Store> {
    if !super::picture::is_trace(path) {
        // The error says what is wrong with the file itself, if anything is.
        wavebound::files::open(path, Kind::Trace)?;
        return Err(miette!(
            help = "wavebound run … --trace FILE writes one",
            "{} is not a trace",
            path.display()
        ));
    }
    let bar = bar();
    let store = Store::open(path, &mut |read, all| heard(&bar, watch, read, all)).into_diagnostic();
    bar.iter().for_each(ProgressBar::finish_and_clear);
    store
}

fn bar() -> Option<ProgressBar> {
    let style = ProgressStyle::with_template("reading the trace {wide_bar} {percent} % ({eta})").ok()?;
    std::io::stderr().is_terminal().then(|| ProgressBar::new(1).with_style(style))
}

fn heard(bar: &Option<ProgressBar>, watch: &Watch, read: u64, all: u64) -> ControlFlow<()> {
    if let Some(bar) = bar {
        bar.set_length(all);
        bar.set_position(read);
    }
    watch.go_on()
}

/// Runs the program, under one or two mechanisms.
fn run_all(args: &ViewArgs, watch: &Watch) -> miette::Result<Vec<Store>> {
    if args.target.workload.workload.is_some() || is_launch_file(args.target.file()) {
        return Err(miette!(
            help = "wavebound run … --trace run.wbt writes a trace for each launch; wavebound view run-1.wbt shows one",
            "`view` runs a single launch"
        ));
    }
    let mut targets = vec![args.target.clone()];
    if let Some(mechanism) = &args.against {
        let mut other = args.target.clone();
        other.how.machine.mechanism = Some(mechanism.clone());
        targets.push(other);
    }
    let mut traces = targets.iter().map(|t| run(t, watch)).collect::<miette::Result<Vec<Store>>>()?;
    if let Some(path) = &args.with {
        traces.push(open(path, watch)?);
    }
    Ok(traces)
}

/// Runs a program and reads the trace of it, which is gone when the viewer ends.
fn run(target: &Target, watch: &Watch) -> miette::Result<Store> {
    let job = target.job()?;
    let unkept = || "cannot write the trace into the folder for temporary files (TMPDIR)";
    let file = wavebound::files::scratch().into_diagnostic().wrap_err_with(unkept)?;
    let mut writer =
        TraceWriter::with(BufWriter::new(file), TraceOptions { memory: true, ..TraceOptions::default() });
    let progress = Progress::new();
    let mut report = |sofar| {
        progress.show(sofar);
        watch.go_on()
    };
    let options = RunOptions { progress: Some(&mut report), ..RunOptions::default() };
    job.run(options, Some(&mut writer))?;
    drop(progress);
    let (_, mut out) = writer.finish_into().into_diagnostic().wrap_err_with(unkept)?;
    out.flush().into_diagnostic().wrap_err_with(unkept)?;
    let mut file = out.into_inner().map_err(|e| e.into_error()).into_diagnostic().wrap_err_with(unkept)?;
    file.seek(SeekFrom::Start(0)).into_diagnostic().wrap_err_with(unkept)?;
    let name = format!("{} ({})", job.machine.name, job.machine.divergence.mechanism);
    Store::read(&name, file, &mut |_, _| watch.go_on()).into_diagnostic()
}

/// Texts of the source files that traces name. Only the last part of a name is used, in folders that the user named: a trace
/// from elsewhere cannot ask for any other file.
fn sources(traces: &[Store], args: &ViewArgs) -> Vec<Source> {
    let beside =
        |path: &Path| path.parent().map(|p| if p.as_os_str().is_empty() { ".".into() } else { p.to_owned() });
    let mut folders: Vec<PathBuf> = args.source.clone();
    folders.extend(beside(args.target.file()));
    folders.extend(args.with.as_deref().and_then(beside));
    folders.push(".".into());
    let files = traces.iter().flat_map(|t| t.info.files.iter().map(String::as_str));
    let names: BTreeSet<&str> = files.filter_map(|f| Path::new(f).file_name()?.to_str()).collect();
    let found = names.into_iter().filter_map(|name| {
        let read = |folder: &PathBuf| wavebound::files::read_text(&folder.join(name), Kind::Source).ok();
        Some(Source { name: name.to_owned(), text: folders.iter().find_map(read)? })
    });
    found.collect()
}
