//! `wavebound sweep`: the points of a plan, each run once, here or on a cluster (docs/sweeps.md).

mod args;
mod cluster;
pub mod dry_run;
mod output;
mod progress;
pub mod show;

pub use args::SweepArgs;

use self::args::{Limits, MergeArgs, Places, What, WorkerArgs};
use self::progress::{Progress, time};
use super::interrupt::Watch;
use super::{CommandResult, Printed, print_json, print_line, tell};
use miette::{IntoDiagnostic, miette};
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use wavebound::sweep::data::{self, Written};
use wavebound::sweep::process::Workers;
use wavebound::sweep::store::Damage;
use wavebound::sweep::worker::{Serve, serve};
use wavebound::sweep::{Counts, Identities, Plan, Ran, RunOptions, Scope, Status, Sweep};

/// Exit code if not every point went well, or some are missing.
const SOME_FAILED: u8 = 3;
/// Points that are run first, to say how long the others take.
const PILOT: usize = 16;

/// Seconds that a point takes besides its work, for estimates (docs/sweeps.md).
const OVERHEAD: f64 = 3e-4;

/// The stable result of `sweep --format json`.
#[derive(Serialize, schemars::JsonSchema)]
pub struct SweepJson<'a> {
    version: u32,
    plan: &'a str,
    simulator: &'a str,
    points: u64,
    invalid: u64,
    results: u64,
    /// Results that were known before.
    known: u64,
    /// Results that were found now, by status.
    found: std::collections::BTreeMap<&'static str, u64>,
    missing: u64,
    stopped: bool,
    /// Sum of what the points took, and time that passed.
    seconds: f64,
    elapsed: f64,
    /// What was written; null for a part of a sweep.
    data: Option<&'a Written>,
}

impl Printed for SweepJson<'_> {
    const NAME: &'static str = "sweep";
}

pub fn main(args: SweepArgs) -> CommandResult {
    match args.what {
        Some(What::Worker(args)) => worker(args),
        Some(What::Merge(args)) => merge(&args),
        Some(What::Show(args)) => show::main(&args),
        None => sweep(&args),
    }
}

fn worker(args: WorkerArgs) -> CommandResult {
    let options = Serve { memory: args.memory, program: std::env::current_exe().ok() };
    serve(options, io::stdin().lock(), io::stdout().lock()).into_diagnostic()?;
    Ok(ExitCode::SUCCESS)
}

/// The plan that an option names.
fn open(path: &Path) -> miette::Result<Plan> {
    Ok(Plan::open(path)?)
}

fn out(places: &Places, plan: &Plan) -> PathBuf {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = plan.name.chars().map(plain).collect();
    places.out.clone().unwrap_or_else(|| Path::new("out/sweep").join(name.trim_start_matches('.')))
}

fn prepare<'a>(plan: &'a Plan, places: &Places, scope: Scope, watch: &Watch) -> miette::Result<Sweep<'a>> {
    let progress = Progress::new("looking at points", plan.most());
    let mut identities = Identities::new();
    let sweep = Sweep::prepare(plan, &places.store, scope, &mut identities, &mut |n| progress.at(n, ""))?;
    progress.end();
    if let Some(interrupted) = watch.interrupted() {
        return Err(interrupted.into());
    }
    warn(sweep.damage());
    Ok(sweep)
}

/// What is wrong in the store.
fn warn(damage: Damage) {
    let Damage { lines, files, contradictions } = damage;
    if lines > 0 {
        let files =
            if files > 0 { format!(", and {files} files that are no journals") } else { String::new() };
        tell(&format!("wavebound: warning: the store has {lines} damaged lines{files}: they are left out"));
    }
    if contradictions > 0 {
        tell(&format!(
            "wavebound: warning: {contradictions} results contradict others of the same identity: please report this"
        ));
    }
}

fn workers(limits: &Limits) -> miette::Result<RunOptions> {
    let cores = wavebound::sim::threads(0);
    let program = std::env::current_exe().into_diagnostic()?;
    let workers = Workers {
        program,
        arguments: ["sweep", "worker"].map(str::to_owned).to_vec(),
        time: limits.point_seconds.map(Duration::from_secs_f64),
        memory: limits.point_memory,
    };
    Ok(RunOptions { jobs: limits.jobs.map_or(cores, usize::from), workers: Some(workers) })
}

fn announce(counts: &Counts, jobs: usize) {
    let Counts { points, invalid, results, known, missing } = counts;
    let invalid = if *invalid > 0 { format!(" ({invalid} have no machine)") } else { String::new() };
    tell(&format!(
        "{points} points{invalid}, {results} results: {known} known, {missing} to run, {jobs} at once"
    ));
}

fn sweep(args: &SweepArgs) -> CommandResult {
    let plan = open(args.plan.as_deref().ok_or_else(|| miette!("no plan"))?)?;
    let watch = Watch::new()?;
    let scope = Scope { shard: args.shard, retry: args.retry };
    let mut sweep = prepare(&plan, &args.places, scope, &watch)?;
    if args.dry_run {
        return dry_run::show(&sweep, args.output.json());
    }
    let folder = out(&args.places, &plan);
    if args.shard.is_none() {
        wavebound::files::make_folder(&folder)?;
    }
    let before = sweep.counts();
    let mut ran = Ran::default();
    match cluster::engine(args) {
        None => ran = local(args, &mut sweep, usize::MAX, &watch)?,
        Some(_) if before.missing == 0 => announce(&before, 0),
        Some(engine) => {
            let path = args.plan.as_deref().unwrap_or(Path::new(""));
            // A few points here, to say how long the others take.
            ran = local(args, &mut sweep, 0, &watch)?;
            let start = Instant::now();
            if watch.interrupted().is_none() && cluster::submit(args, &engine, path, &folder, &sweep)? {
                let missing = cluster::after(&mut sweep, scope)?;
                ran.others = before.missing.saturating_sub(missing + ran.done());
                ran.elapsed += start.elapsed().as_secs_f64();
            }
        }
    }
    finish(
        args.output.json(),
        &sweep,
        &before,
        &ran,
        args.shard.is_none().then_some(folder.as_path()),
        &watch,
    )
}

/// Runs what is missing on this computer: some first, to say how long the rest takes, then at most so many.
fn local(args: &SweepArgs, sweep: &mut Sweep, most: usize, watch: &Watch) -> miette::Result<Ran> {
    let options = workers(&args.limits)?;
    let counts = sweep.counts();
    announce(&counts, options.jobs.min(counts.missing.max(1) as usize));
    let go_on = || watch.interrupted().is_none();
    let mut ran = Ran::default();
    let pilot = sweep.pilot_first(PILOT);
    if pilot > 0 {
        ran = sweep.run(&options, pilot, &|_| (), &go_on)?;
        let left = counts.missing - pilot as u64;
        let estimate = (ran.seconds / pilot as f64 + OVERHEAD) * left as f64 / options.jobs as f64;
        tell(&format!(
            "{left} more: about {}, as {pilot} others took {:.2} s of work",
            time(estimate),
            ran.seconds
        ));
    }
    if most == 0 {
        return Ok(ran);
    }
    let progress = Progress::new("running", counts.missing - pilot as u64);
    let more = sweep.run(
        &options,
        most,
        &|news| progress.at(news.done, &format!("{} left, {} failed", time(news.seconds_left), news.failed)),
        &go_on,
    );
    progress.end();
    ran.add(&more?);
    Ok(ran)
}

fn merge(args: &MergeArgs) -> CommandResult {
    let plan = open(&args.plan)?;
    let watch = Watch::new()?;
    let sweep = prepare(&plan, &args.places, Scope::default(), &watch)?;
    let folder = out(&args.places, &plan);
    wavebound::files::make_folder(&folder)?;
    finish(args.output.json(), &sweep, &sweep.counts(), &Ran::default(), Some(&folder), &watch)
}

/// Writes the data set and says what there is.
fn finish(
    json: bool,
    sweep: &Sweep,
    before: &Counts,
    ran: &Ran,
    folder: Option<&Path>,
    watch: &Watch,
) -> CommandResult {
    let written = folder.map(|f| data::write(sweep, f)).transpose()?;
    let missing = written.as_ref().map_or(before.missing - ran.done() - ran.others, |w| w.missing);
    if json {
        let found = Status::ALL.iter().zip(ran.statuses).map(|(s, n)| (s.name(), n)).collect();
        print_json(&SweepJson {
            version: 1,
            plan: &sweep.plan.name,
            simulator: wavebound::sweep::SIMULATOR,
            points: before.points,
            invalid: before.invalid,
            results: before.results,
            known: before.known,
            found,
            missing,
            stopped: ran.stopped,
            seconds: ran.seconds,
            elapsed: ran.elapsed,
            data: written.as_ref(),
        })?;
    } else {
        print_line(&format!(
            "{} results found in {}, {:.2} s of work; {} were known",
            ran.done(),
            time(ran.elapsed),
            ran.seconds,
            before.known + ran.others
        ));
        if let Some(w) = &written {
            let list: Vec<String> = w.statuses.iter().map(|(s, n)| format!("{n} {s}")).collect();
            print_line(&format!("{} rows: {}", w.rows, list.join(", ")));
            print_line(&format!("digest {} (without provenance)", w.digest));
            if let Some(folder) = folder {
                print_line(&format!("data set: {}", folder.join("data").display()));
            }
        }
        if missing > 0 {
            print_line(&format!("{missing} are missing: the same command goes on"));
        }
    }
    if let Some(interrupted) = watch.interrupted() {
        return Err(interrupted.into());
    }
    let failed = match &written {
        Some(w) => w.missing + w.rows - w.statuses.get("ok").copied().unwrap_or(0),
        None => ran.done() - ran.statuses[Status::Ok as usize],
    };
    Ok(if failed > 0 { ExitCode::from(SOME_FAILED) } else { ExitCode::SUCCESS })
}
