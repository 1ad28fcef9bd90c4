//! `wavebound wcet`: from a kernel and its launch to a certified bound, and what it rests on (docs/wcet.md).

use super::target::Target;
use super::{CommandResult, Printed, print, print_json, print_line};
use clap::Args;
use indicatif::ProgressBar;
use miette::miette;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use wavebound::bound::{
    self, KernelBound, KernelPoints, Options, Runs, TimesTable, TraceFile, TraceFiles, TraceWriter, beside,
};
use wavebound::files::Kind;
use wavebound::jobs::data::{SEEDED, reseed_argument};
use wavebound::jobs::launch::{Session, WorkloadSpec, is_launch_file};
use wavebound::report::pages::bound as pages;
use wavebound::wcet::measure::Unmeasured;

/// Exit code of a bound that is over the deadline.
const LATE: u8 = 3;

#[derive(Args)]
pub struct WcetArgs {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    analysis: AnalysisArgs,
    /// Number of runs, each with other inputs
    ///
    /// Each run changes the seed of the fills random=SEED, uniform=…,SEED and hostile=SEED (of --arg, --view, a launch
    /// file's buffers), and of the inputs of a workload.
    #[arg(long, default_value_t = 1)]
    runs: u32,
    /// Exit with code 3 if the bound is above this: cycles, or a time such as 50us, 1.5ms
    #[arg(long)]
    deadline: Option<String>,
    /// Also print what the published formulas give, unsound as some are (paper mode, docs/wcet.md)
    #[arg(long)]
    paper: bool,
    /// Write the report as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the linear program of a wave's bound for other solvers (CPLEX LP format); several kernels write FILE-KERNEL
    #[arg(long, value_name = "FILE")]
    lp: Option<PathBuf>,
    /// Write the certificate that `wavebound check-bound` checks; several kernels write FILE-KERNEL
    #[arg(long, value_name = "FILE")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    times: TimesArgs,
    /// Print JSON (docs/json.md)
    #[arg(long)]
    json: bool,
}

/// Where times come from, if not from runs of this simulator (docs/wcet-traces.md).
#[derive(Args)]
#[group(multiple = false)]
struct TimesArgs {
    /// Take times from a trace of instrumentation points (.csv, .parquet) instead of runs; repeatable (docs/wcet-traces.md)
    #[arg(long, value_name = "FILE")]
    trace: Vec<PathBuf>,
    /// Write a trace of the runs with a point at every block (.csv, .parquet); several kernels write FILE-KERNEL
    #[arg(long, value_name = "FILE")]
    write_trace: Option<PathBuf>,
    /// Take cycles of basic blocks from a table (.toml, .csv) instead of runs; repeatable, one for each kernel
    #[arg(long, value_name = "FILE")]
    times: Vec<PathBuf>,
    /// Write a table to fill in for --times, and stop; several kernels write FILE-KERNEL
    #[arg(long, value_name = "FILE")]
    times_template: Option<PathBuf>,
    /// List the instrumentation points, and stop
    #[arg(long)]
    list_points: bool,
}

/// What the analysis may assume.
#[derive(Args, Clone)]
pub struct AnalysisArgs {
    /// Read flow facts: TOML (`wavebound facts` writes a template) or FFX; repeatable, one for each kernel
    #[arg(long, value_name = "FILE")]
    facts: Vec<PathBuf>,
    /// Take missing loop limits from the runs; the status of the bound is then observed
    #[arg(long)]
    facts_from_trace: bool,
    /// What to do about ways that no run took: error, exclude (assume they never happen), or cycles to charge for each
    #[arg(long, default_value = "error", value_parser = unmeasured)]
    unmeasured: Unmeasured,
    /// Buffer whose contents are part of the launch, by name or as arg2; repeatable. For exact bounds (docs/exact.md)
    #[arg(long, value_name = "BUFFER")]
    fixed: Vec<String>,
    /// Bound by measured times, also where no contents can change the time or a bound is proved without them
    #[arg(long)]
    hybrid: bool,
    /// Bound by the longest measured times of segments only, as bounds with splits, traces and tables are (docs/wcet.md)
    #[arg(long)]
    segments: bool,
    /// Bound without any measurement; an error where there is no proof (docs/proved-bounds.md)
    #[arg(long, conflicts_with_all = ["hybrid", "segments"])]
    proved: bool,
    /// Keep an instrumentation point at every divergent branch, as THESIS does; the bound is looser, never tighter
    #[arg(long)]
    all_points: bool,
}

fn unmeasured(text: &str) -> Result<Unmeasured, String> {
    match text {
        "error" => Ok(Unmeasured::Error),
        "exclude" => Ok(Unmeasured::Exclude),
        n => n.parse().map(Unmeasured::Cost).map_err(|_| "error, exclude, or a number of cycles".into()),
    }
}

impl AnalysisArgs {
    /// The same for the libraries of `wavebound hip` and `wavebound cl`.
    pub fn for_library(&self) -> miette::Result<wb_host::Wcet> {
        let unmeasured = match self.unmeasured {
            Unmeasured::Error => "error".to_owned(),
            Unmeasured::Exclude => "exclude".to_owned(),
            Unmeasured::Cost(cycles) => cycles.to_string(),
        };
        Ok(wb_host::Wcet {
            facts: read_all(&self.facts)?,
            facts_from_trace: self.facts_from_trace,
            unmeasured,
            all_points: self.all_points,
            fixed: self.fixed.clone(),
            hybrid: self.hybrid,
            proved: self.proved,
        })
    }

    pub fn options(&self) -> miette::Result<Options> {
        Ok(Options {
            facts: read_all(&self.facts)?,
            facts_from_trace: self.facts_from_trace,
            unmeasured: self.unmeasured,
            all_points: self.all_points,
            fixed: self.fixed.clone(),
            hybrid: self.hybrid || self.segments,
            segments: self.segments,
            proved: self.proved,
            free_skips: false,
            what_if: true,
            ..Options::default()
        })
    }
}

/// Names and texts of files.
pub fn read_all(paths: &[PathBuf]) -> miette::Result<Vec<(String, String)>> {
    paths.iter().map(|path| read(path)).collect()
}

/// Name and text of a file.
fn read(path: &Path) -> miette::Result<(String, String)> {
    let text = wavebound::files::read_text(path, Kind::Description)?;
    Ok((path.display().to_string(), text))
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct PointsJson {
    version: u32,
    kernels: Vec<KernelPoints>,
}

impl Printed for PointsJson {
    const NAME: &'static str = "wcet-points";
}

#[derive(Serialize, schemars::JsonSchema)]
pub struct WcetJson<'a> {
    version: u32,
    /// Sum over all kernels and launches.
    bound: u64,
    observed: u64,
    microseconds: f64,
    deadline: Option<u64>,
    met: Option<bool>,
    /// Of all kernels.
    warnings: Vec<&'a str>,
    kernels: &'a [KernelBound],
}

impl Printed for WcetJson<'_> {
    const NAME: &'static str = "wcet";
}

/// What the launches of a target are measured on; several runs must differ in something.
fn runs(target: &Target, count: u32) -> miette::Result<Runs> {
    if count > 1 && is_launch_file(target.file()) {
        let (seeded, fixed) = Session::open(target.file(), &target.launch_spec()?)?.seeds();
        can_vary(count, &seeded, &fixed)?;
    } else if count > 1 {
        let all = target.args.iter().chain(&target.views).cloned();
        let fills = all.filter(|a| a.contains("buf:") || a.contains("tex:"));
        let (seeded, fixed): (Vec<_>, Vec<_>) = fills.partition(|a| reseed_argument(a, 1).is_some());
        can_vary(count, &seeded, &fixed)?;
    }
    repeated(target, count)
}

/// The launches of a target, so many times with other seeds.
pub fn repeated(target: &Target, count: u32) -> miette::Result<Runs> {
    if is_launch_file(target.file()) {
        let spec = Box::new(target.launch_spec()?);
        return Ok(Runs::File { path: target.file().to_owned(), spec, runs: count.max(1) });
    }
    let jobs = (0..count.max(1)).map(|i| target.job_with_seed(i)).collect::<miette::Result<_>>()?;
    Ok(Runs::Jobs(jobs))
}

/// More runs are worth something only if some input differs between them.
fn can_vary(count: u32, seeded: &[String], fixed: &[String]) -> miette::Result<()> {
    if !seeded.is_empty() {
        return Ok(());
    }
    let which = match fixed.is_empty() {
        true => "there is no buffer".to_owned(),
        false => format!("fills without a seed: {}", fixed.join(", ")),
    };
    Err(miette!(
        help = format!("{which}; fills that can be reseeded: {SEEDED}"),
        "--runs {count}: nothing would differ from run to run"
    ))
}

/// What to type for more and for nastier inputs.
fn more_inputs(target: &Target, runs: u32) -> String {
    if target.workload.workload.is_some() {
        return "Add --runs 8: each run has another input".to_owned();
    }
    if is_launch_file(target.file()) {
        return "Give buffers from = \"random=1\", \"uniform=LOW..HIGH,1\" or \"hostile=1\" and add --runs 8"
            .to_owned();
    }
    let varied = |a: &String| reseed_argument(a, 1).is_some();
    let filled = |a: &&String| a.contains("buf:");
    let Some(first) = target.args.iter().chain(&target.views).find(filled) else {
        return "Vary its arguments".to_owned();
    };
    let (name, buffer) =
        first.split_once("=buf:").map_or((None, first.as_str()), |(n, _)| (Some(n), &first[n.len() + 1..]));
    let mut parts: Vec<&str> = buffer.split(':').take(3).collect();
    parts.push("hostile=1");
    let hostile = parts.join(":");
    let option = name.map_or(format!("--arg {hostile}"), |n| format!("--view {n}={hostile}"));
    let runs =
        if runs > 1 || target.args.iter().chain(&target.views).any(varied) { "" } else { ", or random=1" };
    format!("Try: {option}{runs} (indices below N: hostile=1,N), and --runs 8")
}

/// A spinner that says what is being measured.
pub fn with_progress<T>(work: impl FnOnce(bound::Progress) -> T) -> T {
    let bar = std::io::stderr().is_terminal().then(|| {
        let bar = ProgressBar::new_spinner();
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    });
    let done = work(&mut |what, launch| {
        if let Some(bar) = &bar {
            bar.set_message(format!("{what}, launch {}", launch + 1));
        }
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    done
}

pub fn main(args: WcetArgs) -> CommandResult {
    let mut options = args.analysis.options()?;
    let runs = match args.target.workload()? {
        Some((which, spec)) => {
            let which = WorkloadSpec { runs: args.runs.max(1), ..which };
            options = bound::workload_options(&which, &spec, &options)?;
            Runs::Workload { which, spec: Box::new(spec) }
        }
        None => runs(&args.target, args.runs)?,
    };
    if args.times.list_points {
        let kernels = bound::list_points(&runs)?;
        match args.json {
            true => print_json(&PointsJson { version: 1, kernels })?,
            false => kernels.iter().for_each(|k| print(&k.text())),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(path) = &args.times.times_template {
        return template(&runs, path);
    }
    options.more_inputs = more_inputs(&args.target, args.runs);
    let files = [&args.html, &args.lp, &args.certificate, &args.times.write_trace];
    wavebound::files::check_outputs(files.into_iter().flatten().map(PathBuf::as_path))?;
    args.deadline.as_deref().map(|d| cycles(d, 1)).transpose()?;
    let kernels = kernels(&args.times, &runs, &options)?;
    let mut warnings: Vec<&str> = kernels.iter().flat_map(|k| &k.warnings).map(String::as_str).collect();
    warnings.dedup();
    warnings.iter().for_each(|w| super::tell(&format!("wavebound: warning: {w}")));
    let bound: u64 = kernels.iter().map(|k| k.bound).sum();
    let observed = kernels.iter().map(|k| k.observed).sum();
    let mhz = kernels.first().map_or(1, |k| k.clock_mhz.max(1));
    let deadline = args.deadline.as_deref().map(|d| cycles(d, mhz)).transpose()?;
    let met = deadline.map(|d| bound <= d);
    let microseconds = bound as f64 / f64::from(mhz);
    if args.json {
        let kernels = kernels.as_slice();
        print_json(&WcetJson {
            version: 2,
            bound,
            observed,
            microseconds,
            deadline,
            met,
            warnings,
            kernels,
        })?;
    } else {
        for k in &kernels {
            print(&k.text(args.paper));
        }
        if kernels.len() > 1 {
            let behind = bound::behind_all(&kernels);
            print_line(&format!("all kernels: bound {bound} cycles, observed {observed} ({behind})"));
        }
        print_line(&format!("bound {bound} cycles = {microseconds:.2} µs at {mhz} MHz"));
        if let (Some(deadline), Some(met)) = (deadline, met) {
            let word = if met { "met" } else { "MISSED" };
            print_line(&format!("deadline {deadline} cycles: {word}"));
        }
    }
    if let Some(path) = &args.certificate {
        for k in &kernels {
            let path = if kernels.len() == 1 { path.clone() } else { beside(path, &k.kernel) };
            write(&path, &k.certificate)?;
        }
    }
    if let Some(path) = &args.lp {
        for k in &kernels {
            let path = if kernels.len() == 1 { path.clone() } else { beside(path, &k.kernel) };
            write(&path, &k.lp)?;
        }
    }
    if let Some(path) = &args.html {
        let command = pages::shown_command(std::env::args().skip(1));
        write(path, &pages::html(&kernels, &pages::About { command, deadline }))?;
    }
    Ok(if met == Some(false) { ExitCode::from(LATE) } else { ExitCode::SUCCESS })
}

/// The bounds, with times from where the user wants them.
fn kernels(args: &TimesArgs, runs: &Runs, options: &Options) -> miette::Result<Vec<KernelBound>> {
    if !args.times.is_empty() {
        let tables = args.times.iter().map(|path| read(path).map(|(name, text)| TimesTable { name, text }));
        return Ok(bound::analyse_table(runs, options, &tables.collect::<miette::Result<Vec<_>>>()?)?);
    }
    let traces =
        args.trace.iter().map(|path| TraceFile::read(path)).collect::<Result<Vec<TraceFile>, _>>()?;
    let mut writer = args.write_trace.as_deref().map(TraceWriter::new).transpose()?;
    let files = TraceFiles { traces: &traces, write: writer.as_mut() };
    let kernels = with_progress(|progress| bound::bounds(runs, options, files, progress));
    // What was measured is worth keeping even if no bound follows from it.
    if let Some(writer) = writer {
        writer.finish()?;
    }
    Ok(kernels?)
}

fn template(runs: &Runs, path: &Path) -> CommandResult {
    let csv = path.extension().is_some_and(|e| e == "csv");
    let templates = bound::times_template(runs, csv)?;
    for (kernel, text) in &templates {
        let path = if templates.len() == 1 { path.to_owned() } else { beside(path, kernel) };
        write(&path, text)?;
        print_line(&format!("wrote {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

pub fn write(path: &Path, text: &str) -> miette::Result<()> {
    Ok(wavebound::files::write(path, text)?)
}

/// Cycles, or a time at the machine's clock.
fn cycles(text: &str, mhz: u32) -> miette::Result<u64> {
    let units = [("ns", 1e-3), ("us", 1.0), ("µs", 1.0), ("ms", 1e3), ("s", 1e6)];
    let found =
        units.iter().find_map(|(unit, us)| Some((text.strip_suffix(unit)?.trim().parse::<f64>().ok()?, us)));
    let whole = match found {
        Some((n, us)) if n >= 0.0 => Some((n * us * f64::from(mhz)).floor() as u64),
        _ => text.parse().ok(),
    };
    whole.ok_or_else(|| {
        miette!(help = "a number of cycles, or a time: 800ns, 50us, 1.5ms", "deadline `{text}`")
    })
}
