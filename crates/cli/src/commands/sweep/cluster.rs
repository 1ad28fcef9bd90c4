//! `wavebound sweep --on slurm` and `--on hyperqueue`: the parts of a sweep as an array of a scheduler.

use super::args::{On, SweepArgs};
use super::progress::time;
use crate::commands::tell;
use miette::IntoDiagnostic;
use std::ffi::OsString;
use std::path::Path;
use wavebound::sweep::engines::{Engine, Submission, absolute};
use wavebound::sweep::{Scope, Sweep};

/// Submits what is missing. Returns whether the parts have ended.
pub fn submit(
    args: &SweepArgs,
    engine: &Engine,
    plan: &Path,
    folder: &Path,
    sweep: &Sweep,
) -> miette::Result<bool> {
    let missing = sweep.counts().missing;
    let shards = u64::from(args.engine.shards).min(missing).max(1) as u32;
    let cpus = args.limits.jobs.unwrap_or(1);
    let logs = absolute(&folder.join("logs"));
    wavebound::files::make_folder(&logs)?;
    let mut command: Vec<OsString> = vec![std::env::current_exe().into_diagnostic()?.into()];
    let mut add = |words: &[&str]| command.extend(words.iter().map(OsString::from));
    add(&["sweep", &absolute(plan).display().to_string()]);
    add(&["--store", &absolute(&args.places.store).display().to_string()]);
    add(&["--jobs", &cpus.to_string()]);
    if let Some(seconds) = args.limits.point_seconds {
        add(&["--point-seconds", &seconds.to_string()]);
    }
    if let Some(bytes) = args.limits.point_memory {
        add(&["--point-memory", &bytes.to_string()]);
    }
    if args.retry {
        add(&["--retry"]);
    }
    let submission = Submission {
        name: format!("wavebound-{}", sweep.plan.name),
        command,
        shards,
        cpus: cpus.into(),
        logs: logs.clone(),
        wait: !args.engine.no_wait,
    };
    tell(&format!("{missing} to run in {shards} parts of {cpus} workers; logs: {}", logs.display()));
    let start = std::time::Instant::now();
    let job = engine.submit(&submission)?;
    match args.engine.no_wait {
        true => tell(&format!(
            "job {job} is submitted; `wavebound sweep merge` writes the data set of what is there"
        )),
        false => tell(&format!("job {job} ended after {}", time(start.elapsed().as_secs_f64()))),
    }
    Ok(!args.engine.no_wait)
}

/// The scheduler that was asked for.
pub fn engine(args: &SweepArgs) -> Option<Engine> {
    let e = args.engine.clone();
    match args.on {
        On::Local => None,
        On::Slurm => Some(Engine::Slurm { partition: e.partition, time: e.time, mem: e.mem }),
        On::Hyperqueue => Some(Engine::HyperQueue { time: e.time }),
    }
}

/// What the parts left, after they have ended.
pub fn after(sweep: &mut Sweep, scope: Scope) -> miette::Result<u64> {
    Ok(sweep.look_again(scope)?.missing)
}
