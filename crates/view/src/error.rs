//! What can go wrong before and while a trace is shown.

use thiserror::Error;
use wb_files::FileError;
use wb_trace::TraceError;

#[derive(Debug, Error)]
pub enum ViewError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{name}: {source}")]
    Trace { name: String, source: TraceError },
    #[error("cannot serve on 127.0.0.1:{port}: {why}; --port 0 takes a free one")]
    Serve { port: u16, why: String },
    #[error("stopped")]
    Stopped,
    /// What a page asked for is not there, or not understood.
    #[error("{0}")]
    NotFound(String),
}
