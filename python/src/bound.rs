//! Bounds of kernels.

use crate::error::{raise, refuse};
use crate::job::Job;
use pyo3::prelude::*;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;
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
    let runs = Runs::Jobs(jobs.iter().map(|j| j.again()).collect::<PyResult<_>>()?);
    let options =
        BoundOptions { proved, hybrid: measured, facts, fixed, facts_from_trace, ..BoundOptions::default() };
    let (done, found) = channel();
    // A thread of its own: the interpreter is asked for interrupts meanwhile.
    std::thread::spawn(move || {
        let files = TraceFiles::default();
        let result = match options.hybrid {
            true => hybrid(&runs, &options, files, &mut |_, _| ()),
            false => bounds(&runs, &options, files, &mut |_, _| ()),
        };
        // Nobody listens after an interrupt.
        let _ = done.send(result);
    });
    let kernels: Vec<KernelBound> = loop {
        py.check_signals()?;
        match py.detach(|| found.recv_timeout(Duration::from_millis(50))) {
            Ok(result) => break result.map_err(raise)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(refuse("the analysis ended without a result")),
        }
    };
    let json = |k: &KernelBound| serde_json::to_string(k).map_err(|e| refuse(e.to_string()));
    kernels.iter().map(|k| Ok((json(k)?, k.certificate.clone()))).collect()
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(bound, m)?)
}
