//! The part of the Python package `wavebound` that is Rust: machines, programs, jobs, runs and bounds, as thin as possible.
//! Arrays come and go as bytes, everything structured as JSON; `wavebound/*.py` makes it pleasant.

mod background;
mod bound;
mod error;
mod job;
mod machine;
mod program;
mod sweep;

use pyo3::prelude::*;

#[pymodule]
fn _wavebound(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    error::add(m)?;
    machine::add(m)?;
    program::add(m)?;
    job::add(m)?;
    bound::add(m)?;
    sweep::add(m)
}
