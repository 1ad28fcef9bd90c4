//! Who watches a launch: statistics, trace, log, picture – the options of `run` about them.

use super::interrupt::Watch;
use super::outcome::print_stats;
use super::picture::{self, DrawArgs};
use super::target::Progress;
use super::trace_args::TraceArgs;
use super::{print_line, tell};
use clap::Args;
use miette::{Report, miette};
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use wavebound::files::Output;
use wavebound::report::{History, Timeline, TimelineObserver, timetable};
use wavebound::schedule;
use wavebound::sim::{Outcome, RunOptions, Sample};
use wavebound::trace::Pc;
use wavebound::trace::{LogOf, Observer, Observers, PdomLog, Statistics, Stats, TraceEnd, TraceWriter};

#[derive(Args)]
pub struct RecordArgs {
    /// Run without a pipeline: fast, same results; cycles are then wave-instructions
    #[arg(long)]
    pub untimed: bool,
    /// Host threads of a run whose groups do not communicate, and which is untimed or, timed, collects nothing (--no-stats) on a
    /// machine with cores that share no first-level cache; same results [default: as many as the computer has cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Time only this part of the groups (0.05, or 0.05:SEED), execute the rest untimed, and estimate the cycles with an interval;
    /// at least five batches are timed, each of which fills the machine ten times, and launches that are too small for that are
    /// timed whole. Never used for bounds
    #[arg(long, value_name = "PART[:SEED]", value_parser = sample_arg,
        conflicts_with_all = ["untimed", "trace", "picture", "html", "log", "dump_registers", "oracle", "schedule"])]
    sample: Option<Sample>,
    /// Print the registers that every wave had when it ended
    #[arg(long)]
    dump_registers: bool,
    #[command(flatten)]
    trace: TraceArgs,
    /// Write the masks at splits and joins, as the PDOM document's log; `-` is standard output. `all` or `all:FILE`: every
    /// instruction, with its encoding and its lanes (a file called all is ./all)
    #[arg(long, value_name = "FILE|all[:FILE]", num_args = 0..=1, default_missing_value = "-", value_parser = log_arg)]
    log: Option<LogArg>,
    /// Draw the execution history (.png or .svg); several launches draw one picture each
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write one page of HTML: source and assembly as heat maps, branches, memory, occupancy, a timeline that zooms
    #[arg(long, value_name = "FILE", conflicts_with = "no_stats")]
    pub html: Option<PathBuf>,
    /// Collect no statistics and print only the totals: fastest
    #[arg(long)]
    no_stats: bool,
    /// Check the mask invariants after every instruction
    #[arg(long)]
    check: bool,
    /// Compare the issue scheduler with the oracles of SWAS, and count discrepancies and errors (docs/schedules.md)
    #[arg(long, conflicts_with = "untimed")]
    pub oracle: bool,
    /// Draw which wave issued in each cycle of the kernel, and where the oracles differ (.png or .svg)
    #[arg(long, value_name = "FILE", conflicts_with = "untimed")]
    pub schedule: Option<PathBuf>,
    /// Cycles of the kernel that --schedule draws
    #[arg(long, value_name = "FROM..TO", default_value = "0..600", value_parser = cycles, requires = "schedule")]
    schedule_cycles: Range<u64>,
}

/// What is logged, and where to.
#[derive(Clone)]
struct LogArg {
    of: LogOf,
    path: PathBuf,
}

fn log_arg(text: &str) -> Result<LogArg, String> {
    let (of, path) = match text.split_once(':') {
        Some(("all", "")) => {
            return Err("`all:` wants a file after it; `all` alone is standard output".into());
        }
        Some(("all", path)) => (LogOf::All, path),
        _ if text == "all" => (LogOf::All, "-"),
        _ => (LogOf::Masks, text),
    };
    Ok(LogArg { of, path: path.into() })
}

/// `FROM..TO`.
fn cycles(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("`{text}` is not FROM..TO, for example 100..700");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |t: &str| t.trim().parse::<u64>().map_err(|_| wrong());
    let range = number(from)?..number(to)?;
    match range.end.checked_sub(range.start) {
        Some(1..=10_000) => Ok(range),
        _ => Err(format!("`{text}` is not between 1 and 10000 cycles")),
    }
}

#[derive(Clone, Serialize, schemars::JsonSchema)]
pub struct TraceSummary {
    pub file: String,
    pub events: u64,
    pub hash: String,
}

/// What the watchers saw.
pub struct Record {
    pub stats: Option<Stats>,
    /// For a page.
    pub timeline: Option<Timeline>,
    pub trace: Option<TraceSummary>,
    pub picture: Option<PathBuf>,
    /// Files that could not be written, although the run went well.
    pub problems: Vec<Report>,
}

impl Record {
    /// After everything is shown: the first file that could not be written.
    pub fn complete(problems: Vec<Report>) -> miette::Result<()> {
        problems.into_iter().next().map_or(Ok(()), Err)
    }
}

/// The files that were written.
pub fn print_files(record: &Record) {
    if let Some(trace) = &record.trace {
        print_line(&format!("trace: {} ({} events, hash {})", trace.file, trace.events, trace.hash));
    }
    if let Some(path) = &record.picture {
        print_line(&format!("picture: {}", path.display()));
    }
}

/// The page that was written.
pub fn print_page(path: Option<&Path>) {
    if let Some(path) = path {
        print_line(&format!("page: {}", path.display()));
    }
}

/// `run.wbt` of launch 2 is `run-2.wbt`.
fn numbered(path: &Path, number: Option<usize>) -> PathBuf {
    let Some(number) = number.filter(|_| path != Path::new("-")) else { return path.to_path_buf() };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

impl RecordArgs {
    /// The oracles look on.
    pub fn watches(&self) -> bool {
        self.oracle || self.schedule.is_some()
    }

    /// Runs one launch with everybody watching. `number`: of a launch among several; `kernel`: where the kernel begins
    /// that oracles look at.
    pub fn run(
        &self,
        number: Option<usize>,
        kernel: Pc,
        go: impl FnOnce(RunOptions, Option<&mut dyn Observer>) -> Result<Outcome, Report>,
    ) -> miette::Result<(Outcome, Record)> {
        let file = |path: &Option<PathBuf>| path.as_deref().map(|p| numbered(p, number));
        let (trace_path, picture_path) = (file(&self.trace.trace), file(&self.picture));
        let mut statistics = (!self.no_stats && self.sample.is_none()).then(Statistics::new);
        let kept = self.trace.options()?;
        let trace = trace_path.as_deref().map(Output::in_place).transpose()?;
        let mut trace = trace.map(|out| TraceWriter::with(out, kept));
        let log = self.log.as_ref().map(|l| (l.of, numbered(&l.path, number)));
        let mut log = log.map(|(of, p)| log_target(&p).map(|out| PdomLog::of(of, out))).transpose()?;
        let mut history = picture_path.is_some().then(History::new);
        let mut timeline = self.html.is_some().then(TimelineObserver::default);
        let watch = Watch::new()?;
        let outcome = {
            let mut observers = Observers::new();
            statistics.iter_mut().for_each(|o| observers.push(o));
            trace.iter_mut().for_each(|o| observers.push(o));
            log.iter_mut().for_each(|o| observers.push(o));
            history.iter_mut().for_each(|o| observers.push(o));
            timeline.iter_mut().for_each(|o| observers.push(o));
            let progress = Progress::new();
            let mut report = |sofar| {
                progress.show(sofar);
                watch.go_on()
            };
            let options = RunOptions {
                timed: !self.untimed,
                check: self.check,
                keep_registers: self.dump_registers,
                watch: self.watches().then_some(kernel),
                decisions: self.schedule.as_ref().map_or(0..0, |_| self.schedule_cycles.clone()),
                every_cycle: false,
                issue: None,
                threads: wavebound::sim::threads(self.threads),
                always_threads: false,
                sample: self.sample,
                progress: Some(&mut report),
                inspector: None,
            };
            let silent = observers.is_empty();
            go(options, if silent { None } else { Some(&mut observers) })
        };
        // Neither a file that cannot be written nor a run that fails takes the other with it.
        let mut problems = Vec::new();
        let unwritten =
            |what: &str, e: &io::Error| miette!("cannot write the {what}: {}", wavebound::files::words(e));
        if let Some(log) = log {
            let kept = match log.finish() {
                Ok(LogTarget::File(file)) => file.finish().map_err(Report::from),
                Ok(LogTarget::Standard(_)) => Ok(()),
                Err(e) => Err(unwritten("log", &e)),
            };
            problems.extend(kept.err());
        }
        let end = trace.and_then(|t| {
            let kept = match t.finish_into() {
                Ok((end, file)) => file.finish().map(|()| end).map_err(Report::from),
                Err(e) => Err(unwritten("trace", &e)),
            };
            kept.map_err(|e| problems.push(e)).ok()
        });
        if let (Err(_), Some(interrupted)) = (&outcome, watch.interrupted()) {
            self.so_far(
                statistics.as_ref(),
                history.as_ref().zip(picture_path.as_deref()),
                &end,
                trace_path,
            )?;
            problems.iter().for_each(|p| tell(&format!("{p:?}")));
            return Err(interrupted.into());
        }
        let outcome = outcome?;
        if let (Some(history), Some(path)) = (&history, &picture_path) {
            problems.extend(picture::draw(history, &DrawArgs::default(), path).err());
        }
        if let Some(path) = file(&self.schedule) {
            problems
                .extend(timetable(&schedule::timetable(&outcome.decisions), &path).err().map(Report::from));
        }
        let trace = end.zip(trace_path).map(|(end, path)| TraceSummary {
            file: path.display().to_string(),
            events: end.events,
            hash: format!("{:016x}", end.hash),
        });
        let stats = statistics.map(|s| s.stats());
        let timeline = timeline.and_then(TimelineObserver::finish);
        Ok((outcome, Record { stats, timeline, trace, picture: picture_path, problems }))
    }

    /// Whether all files can be written, with others the command writes: asked before a run. `several`: launches may follow
    /// each other, and each has its own files.
    pub fn check(&self, several: bool, others: &[&Path]) -> miette::Result<()> {
        let number = several.then_some(1);
        self.trace.options()?;
        let file = |path: &Option<PathBuf>| path.as_deref().map(|p| numbered(p, number));
        let log = self.log.as_ref().map(|l| numbered(&l.path, number)).filter(|p| p != Path::new("-"));
        let drawn: Vec<PathBuf> = [file(&self.picture), file(&self.schedule)].into_iter().flatten().collect();
        drawn.iter().try_for_each(|p| wavebound::report::check_name(p))?;
        let own: Vec<PathBuf> =
            drawn.into_iter().chain(file(&self.trace.trace)).chain(log).chain(self.html.clone()).collect();
        wavebound::files::check_outputs(own.iter().map(PathBuf::as_path).chain(others.iter().copied()))?;
        Ok(())
    }

    /// What is known of a run that was interrupted.
    fn so_far(
        &self,
        statistics: Option<&Statistics>,
        picture: Option<(&History, &Path)>,
        end: &Option<TraceEnd>,
        trace: Option<PathBuf>,
    ) -> miette::Result<()> {
        print_line("interrupted; so far:");
        print_stats(statistics.map(Statistics::stats).as_ref(), false);
        if let Some((history, path)) = picture {
            picture::draw(history, &DrawArgs::default(), path)?;
            print_line(&format!("picture: {}", path.display()));
        }
        if let (Some(end), Some(path)) = (end, trace) {
            print_line(&format!("trace: {} ({} events, up to the interruption)", path.display(), end.events));
        }
        Ok(())
    }
}

/// `0.05` or `0.05:7`.
fn sample_arg(text: &str) -> Result<Sample, String> {
    let (part, seed) = text.split_once(':').unwrap_or((text, "1"));
    let fraction: f64 = part.parse().map_err(|_| format!("{part} is no number"))?;
    if !(fraction > 0.0 && fraction <= 0.5) {
        return Err(format!("{part} is not a part that can be sampled: more than 0, at most 0.5"));
    }
    let seed = seed.parse().map_err(|_| format!("{seed} is no seed: a whole number"))?;
    Ok(Sample { fraction, seed })
}

/// Where the log goes.
enum LogTarget {
    Standard(io::Stdout),
    File(Box<Output>),
}

impl Write for LogTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            LogTarget::Standard(out) => out.write(bytes),
            LogTarget::File(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            LogTarget::Standard(out) => out.flush(),
            LogTarget::File(out) => out.flush(),
        }
    }
}

fn log_target(path: &Path) -> miette::Result<LogTarget> {
    if path == Path::new("-") {
        return Ok(LogTarget::Standard(io::stdout()));
    }
    Ok(LogTarget::File(Box::new(Output::create(path)?)))
}
