//! `wavebound hip`: starts a HIP program with our library in place of the stock one, and tells afterwards what its
//! launches cost (docs/hip.md).

mod folder;
mod report;

use self::folder::Folder;
use super::CommandResult;
use super::interrupt::Watch;
use super::split::StyleArg;
use super::target::MachineArgs;
use super::wcet::AnalysisArgs;
use clap::Args;
use miette::{IntoDiagnostic, WrapErr, miette};
use serde::Serialize;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wavebound::hw::MarkStyle;
use wb_hip::{LaunchRecord, Options, Record, short_name};

/// Exit code of a run of a program that went well, some of whose kernels have no bound (`--wcet`).
const NO_BOUND: u8 = 3;

#[derive(Args)]
pub struct HipArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// Run kernels without a pipeline: fast, same results; cycles are then wave-instructions
    #[arg(long)]
    untimed: bool,
    /// Stop a kernel with an error after this many cycles (limits.cycles)
    #[arg(long, value_name = "CYCLES")]
    limit: Option<u64>,
    /// Count no lanes, divergence and splits: fastest
    #[arg(long)]
    no_stats: bool,
    /// Check the mask invariants after every instruction
    #[arg(long)]
    check: bool,
    /// Write a trace file for each launch: FILE-1, FILE-2, … (docs/trace-format.md)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Draw the execution history of each launch (.png or .svg)
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Mark a branch of the kernels' code for splitting, by address, FILE:LINE or LABEL; repeatable (docs/splitting.md)
    #[arg(long = "split-at", value_name = "PLACE")]
    split_at: Vec<String>,
    /// Mark all divergent branches for splitting (docs/splitting.md)
    #[arg(long)]
    split_all: bool,
    /// How --split-at and --split-all mark: split and merge, or the MODE bit [default: what the mechanism reads]
    #[arg(long, value_enum)]
    split_style: Option<StyleArg>,
    /// Bound every kernel from its launches when the program ends (docs/wcet.md)
    #[arg(long)]
    wcet: bool,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Print a row for each launch, however many there are
    #[arg(long)]
    all: bool,
    /// Print the report as JSON (docs/json.md), after the program's own output
    #[arg(long)]
    json: bool,
    /// Write the report to a file instead of standard output
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// HIP library to use (default: libwavebound_hip.so beside this executable)
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// What the library told.
#[derive(Default)]
struct Told {
    start: Option<Start>,
    /// Processes of the run that used the library.
    processes: u32,
    launches: Vec<LaunchRecord>,
    bounds: Vec<Bound>,
    missing: Vec<Missing>,
    errors: Vec<String>,
}

/// A kernel that was bounded: report as text and JSON.
struct Bound {
    process: u32,
    kernel: String,
    text: String,
    report: serde_json::Value,
}

/// A kernel that was launched and has no bound.
#[derive(Serialize)]
struct Missing {
    process: u32,
    kernel: String,
    name: String,
    why: String,
}

#[derive(Clone, Serialize)]
struct Start {
    machine: String,
    mechanism: String,
    lanes: u32,
    clock_mhz: u32,
    timed: bool,
}

impl HipArgs {
    fn options(&self, folder: &Folder) -> miette::Result<Options> {
        let spec = self.machine.spec();
        let mut sets = spec.sets;
        sets.extend(self.limit.map(|n| format!("limits.cycles={n}")));
        let absolute = |path: &Option<PathBuf>| -> miette::Result<Option<PathBuf>> {
            path.as_ref().map(|p| std::path::absolute(p).into_diagnostic()).transpose()
        };
        let machine = match spec.machine {
            // The program may change its folder before the library reads the file.
            name if name.ends_with(".toml") => {
                std::path::absolute(&name).into_diagnostic()?.display().to_string()
            }
            name => name,
        };
        let marked = self.split_all || !self.split_at.is_empty();
        let options = Options {
            machine,
            sets,
            untimed: self.untimed,
            no_stats: self.no_stats,
            check: self.check,
            split_at: self.split_at.clone(),
            split_all: self.split_all,
            split_mode: self.machine.style(self.split_style, marked) == MarkStyle::Thesis,
            trace: absolute(&self.trace)?,
            picture: absolute(&self.picture)?,
            wcet: self.wcet.then(|| self.analysis.for_hip()).transpose()?,
            records: Some(folder.records()),
            command: Some(std::process::id()),
        };
        // What is wrong with the machine or with names of files shows before the program starts.
        options.affordable_machine()?;
        let picture = options.picture_of(1, 1);
        picture.iter().try_for_each(|p| wavebound::report::check_name(p))?;
        let files = [options.trace_of(1, 1), picture, self.report.clone()];
        wavebound::files::check_outputs(files.iter().flatten().map(PathBuf::as_path))?;
        Ok(options)
    }
}

/// The library: as told, or beside the executable, where cargo puts it, too.
fn library(args: &HipArgs) -> miette::Result<PathBuf> {
    let exe = std::env::current_exe().into_diagnostic()?;
    let beside = exe.parent().map(Path::to_path_buf).unwrap_or_default();
    let places = match &args.library {
        Some(path) => vec![path.clone()],
        None => vec![beside.join(wb_hip::LIBRARY), beside.join("../lib").join(wb_hip::LIBRARY)],
    };
    places.iter().find_map(|p| p.canonicalize().ok().filter(|p| p.is_file())).ok_or_else(|| {
        miette!(
            help = format!(
                "`cargo build --release` puts {} beside wavebound; --library says where else it is",
                wb_hip::LIBRARY
            ),
            "there is no {}",
            places[0].display()
        )
    })
}

pub fn main(args: HipArgs) -> CommandResult {
    if wb_hip::SHIM.is_empty() {
        return Err(miette!(
            help = "HIP programs are Linux programs for x86-64",
            "`wavebound hip` does not work on this kind of machine"
        ));
    }
    let library = library(&args)?;
    let folder = Folder::new(&library)?;
    let records = File::open(folder.records()).into_diagnostic()?;
    let options = serde_json::to_string(&args.options(&folder)?).into_diagnostic()?;

    let (program, rest) = args.program.split_first().ok_or_else(|| miette!("no program"))?;
    let mut path = OsString::from(folder.path());
    if let Some(before) = std::env::var_os("LD_LIBRARY_PATH").filter(|p| !p.is_empty()) {
        path.push(":");
        path.push(before);
    }
    let watch = Watch::new()?;
    let child = Command::new(program)
        .args(rest)
        .env("LD_LIBRARY_PATH", path)
        .env(wb_hip::ENVIRONMENT, options)
        .spawn()
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot start {}", Path::new(program).display()))?;
    let status = wait(child, &watch)?;
    let told = read(records, args.wcet)?;
    report::report(&args, &told, status)?;
    Ok(match (status.code(), status.signal()) {
        // All is well with the program, but not every question was answered.
        (Some(0), _) if !told.missing.is_empty() => ExitCode::from(NO_BOUND),
        (Some(code), _) => ExitCode::from(code as u8),
        // As shells do.
        (None, Some(signal)) => {
            super::super::tell(&format!("wavebound: the program was ended by signal {signal}"));
            ExitCode::from(128 + signal as u8)
        }
        _ => ExitCode::FAILURE,
    })
}

/// Waits for the program. A signal that ends a run ends it, and what its launches told is printed as always.
fn wait(mut child: Child, watch: &Watch) -> miette::Result<ExitStatus> {
    let (id, over) = (child.id().to_string(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let passing_on = scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                if let Some(interrupted) = watch.interrupted() {
                    // At a terminal it has got the signal, too, and is gone by now.
                    let signal = format!("-{}", interrupted.signal());
                    let _ = Command::new("kill").args([&signal, &id]).stderr(Stdio::null()).status();
                    return;
                }
                std::thread::park_timeout(Duration::from_millis(50));
            }
        });
        let status = child.wait().into_diagnostic();
        over.store(true, Ordering::SeqCst);
        passing_on.thread().unpark();
        status
    })
}

fn read(records: File, wcet: bool) -> miette::Result<Told> {
    let mut told = Told::default();
    for line in BufReader::new(records).lines() {
        let line = line.into_diagnostic()?;
        // A program that was ended may leave half a line.
        match serde_json::from_str(&line) {
            Ok(Record::Start { machine, mechanism, lanes, clock_mhz, timed, .. }) => {
                told.processes += 1;
                told.start.get_or_insert(Start { machine, mechanism, lanes, clock_mhz, timed });
            }
            Ok(Record::Launch(launch)) => told.launches.push(launch),
            Ok(Record::Bound { process, kernel, text, report }) => {
                told.bounds.push(Bound { process, kernel, text, report: *report });
            }
            Ok(Record::NoBound { process, kernel, text }) => {
                told.missing.push(Missing { process, name: short_name(&kernel), kernel, why: text });
            }
            Ok(Record::Error { text }) => told.errors.push(text),
            Ok(Record::End) | Err(_) => {}
        }
    }
    if wcet {
        told.look_for_bounds();
    }
    Ok(told)
}

impl Told {
    /// A process that did not end by itself has bounded nothing: its kernels are missing, too.
    fn look_for_bounds(&mut self) {
        let mut launched: Vec<(u32, &String)> =
            self.launches.iter().map(|l| (l.process, &l.kernel)).collect();
        launched.sort();
        launched.dedup();
        let bounded = |l: &(u32, &String)| self.bounds.iter().any(|b| (b.process, &b.kernel) == *l);
        let known = |l: &(u32, &String)| self.missing.iter().any(|m| (m.process, &m.kernel) == *l);
        let lost: Vec<Missing> = launched
            .into_iter()
            .filter(|l| !bounded(l) && !known(l))
            .map(|(process, kernel)| Missing {
                process,
                name: short_name(kernel),
                kernel: kernel.clone(),
                why: "the process did not end by returning from main or calling exit: bounds are computed there"
                    .to_owned(),
            })
            .collect();
        self.missing.extend(lost);
    }
}
