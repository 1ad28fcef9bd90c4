//! Why the corpus could not be tried.

use wb_jobs::JobError;

/// Why a case could not be tried.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum PlantedError {
    #[error("{file}, line {line}: {what}")]
    Corpus { file: &'static str, line: u32, what: String },
    #[error(transparent)]
    #[diagnostic(transparent)]
    Job(#[from] JobError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] wb_files::FileError),
    #[error("{context}: {error}")]
    System { context: String, error: std::io::Error },
}
