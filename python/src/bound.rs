//! Bounds of kernels.

use crate::background::{Interrupted, wait};
use crate::error::{raise, refuse};
use crate::job::Job;
use pyo3::prelude::*;
use wavebound::bound::{Runs, TraceFiles, bounds, hybrid};
use wavebound::{BoundOptions, KernelBound};

/// Bounds the kernels of jobs, each a launch with other inputs. For each kernel JSON as `wavebound wcet --json` prints it, its
/// certificate, and the page of `--html`.
#[pyfunction]
#[pyo3(signature = (jobs, proved, measured, facts, fixed, facts_from_trace))]
fn bound(
    py: Python<'_>,
    jobs: Vec<PyRef<'_, Job>>,
    proved: bool,
    measured: bool,
    facts: Vec<(String, String)>,
    fixed: Vec<String>,
    facts_from_trace: bool,
) -> PyResult<Vec<(String, String)>> {
    let jobs = jobs.iter().map(|j| j.again()).collect::<PyResult<Vec<_>>>()?;
    let options =
        BoundOptions { proved, hybrid: measured, facts, fixed, facts_from_trace, ..BoundOptions::default() };
    let kernels: Vec<KernelBound> = wait(py, Interrupted::Left, move |_| {
        let (runs, files) = (Runs::Jobs(jobs), TraceFiles::default());
        match options.hybrid {
            true => hybrid(&runs, &options, files, &mut |_, _| ()),
            false => bounds(&runs, &options, files, &mut |_, _| ()),
        }
    })?
    .map_err(raise)?;
    let json = |k: &KernelBound| serde_json::to_string(k).map_err(|e| refuse(e.to_string()));
    kernels.iter().map(|k| Ok((json(k)?, k.certificate.clone()))).collect()
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(bound, m)?)
}
