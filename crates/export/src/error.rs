//! What can go wrong with an export, as types. Only the command line turns these into reports.

use miette::Diagnostic;
use std::path::{Path, PathBuf};
use thiserror::Error;
use wb_files::{FileError, Output};
use wb_trace::TraceError;

/// Why a trace was not exported.
#[derive(Debug, Error, Diagnostic)]
pub enum ExportError {
    /// The trace is damaged.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The output cannot be written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A writer of a format failed.
    #[error("cannot write {}: {why}", path.display())]
    Write {
        /// The output.
        path: PathBuf,
        /// In words.
        why: String,
    },
    /// Nothing is left to write.
    #[error("no event of the trace is in the cycles and waves that were asked for")]
    #[diagnostic(help("leave out --from, --until and --waves to export all of it"))]
    Nothing,
}

impl ExportError {
    pub(crate) fn write(path: &Path, why: impl ToString) -> ExportError {
        ExportError::Write { path: path.to_owned(), why: why.to_string() }
    }
}

/// A write error of an output, with its name.
pub(crate) fn kept<T>(result: std::io::Result<T>, out: &Output) -> Result<T, ExportError> {
    result.map_err(|e| out.failed(&e).into())
}
