//! Sweeps: the points of a plan, each run once, by workers that are Python processes.

use crate::background::{Interrupted, wait};
use crate::error::{raise, refuse};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use wavebound::sweep::data;
use wavebound::sweep::process::Workers;
use wavebound::sweep::worker::{Serve, serve};
use wavebound::sweep::{Counts, Identities, Plan, RunOptions, Scope, Sweep, SweepError};

/// What is asked for.
struct Wanted {
    plan: PathBuf,
    store: PathBuf,
    out: PathBuf,
    retry: bool,
    options: RunOptions,
}

/// What was done: points, results, known before, left, whether it was stopped; and what the data set says about itself.
type Done = (u64, u64, u64, u64, bool, String);

fn work(wanted: &Wanted, go_on: &(dyn Fn() -> bool + Sync)) -> Result<Done, SweepError> {
    let plan = Plan::open(&wanted.plan)?;
    let scope = Scope { shard: None, retry: wanted.retry };
    let mut sweep = Sweep::prepare(&plan, &wanted.store, scope, &mut Identities::new(), &mut |_| ())?;
    let Counts { points, results, known, .. } = sweep.counts();
    let ran = sweep.run(&wanted.options, usize::MAX, &|_| (), go_on)?;
    let left = sweep.look_again(scope)?.missing;
    wavebound::files::make_folder(&wanted.out)?;
    let written = data::write(&sweep, &wanted.out)?;
    let written = serde_json::to_string(&written).unwrap_or_default();
    Ok((points, results, known, left, ran.stopped, written))
}

/// Runs a plan and writes its data set. An interrupt ends it; the next one finishes the rest.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
fn sweep(
    py: Python<'_>,
    plan: PathBuf,
    store: PathBuf,
    out: PathBuf,
    retry: bool,
    jobs: usize,
    seconds: Option<f64>,
    memory: Option<u64>,
    worker: (PathBuf, Vec<String>),
) -> PyResult<Done> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose().map_err(|e| refuse(e.to_string()))?;
    let workers = Workers { program: worker.0, arguments: worker.1, time, memory };
    let wanted = Wanted { plan, store, out, retry, options: RunOptions { jobs, workers: Some(workers) } };
    wait(py, Interrupted::Told, move |go_on| work(&wanted, go_on))?.map_err(raise)
}

/// The inner end of a worker: serves until there are no more tasks.
#[pyfunction]
fn sweep_worker(py: Python<'_>, memory: Option<u64>) -> PyResult<()> {
    let done = py.detach(|| serve(Serve { memory, program: None }, io::stdin().lock(), io::stdout().lock()));
    done.map_err(|e| PyOSError::new_err(e.to_string()))
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(sweep, m)?)?;
    m.add_function(wrap_pyfunction!(sweep_worker, m)?)
}
