//! Errors of the library as Python exceptions, with the text that the command prints: place, source line, hint.

use miette::{Diagnostic, MietteHandler, MietteHandlerOpts, ReportHandler};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use std::fmt;
use wavebound::Error;

create_exception!(
    wavebound,
    WaveboundError,
    PyException,
    "Something that Wavebound refuses, with the place and what to do."
);
create_exception!(wavebound, MachineError, WaveboundError, "A machine that does not exist or cannot exist.");
create_exception!(wavebound, JobError, WaveboundError, "A program, a launch or a run that failed.");
create_exception!(wavebound, BoundError, WaveboundError, "There is no bound.");

/// Columns of a message.
const WIDTH: usize = 100;

struct Shown<'a>(&'a MietteHandler, &'a dyn Diagnostic);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(self.1, f)
    }
}

fn text(error: &dyn Diagnostic) -> String {
    let handler = MietteHandlerOpts::new().color(false).unicode(true).width(WIDTH).build();
    Shown(&handler, error).to_string().trim_end().to_owned()
}

/// The exception for an error, by the part that refused.
pub fn raise(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = text(&error);
    match error {
        Error::Machine(_) => MachineError::new_err(text),
        Error::Job(_) => JobError::new_err(text),
        Error::Bound(_) => BoundError::new_err(text),
        _ => WaveboundError::new_err(text),
    }
}

/// The same for what only Python can get wrong.
pub fn refuse(text: impl Into<String>) -> PyErr {
    WaveboundError::new_err(text.into())
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    m.add("WaveboundError", py.get_type::<WaveboundError>())?;
    m.add("MachineError", py.get_type::<MachineError>())?;
    m.add("JobError", py.get_type::<JobError>())?;
    m.add("BoundError", py.get_type::<BoundError>())
}
