//! What can go wrong while drawing.

use std::path::PathBuf;

use miette::Diagnostic;
use thiserror::Error;

#[derive(Debug, Error, Diagnostic)]
pub enum ReportError {
    #[error("cannot draw to {}: the format is not known", path.display())]
    #[diagnostic(help("end the file name in .png or .svg"))]
    UnknownFormat { path: PathBuf },
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] wb_files::FileError),
    #[error(
        "the branches of {name} are nested too deeply: together they hold more than {limit} blocks, each counted once for \
         every branch around it"
    )]
    #[diagnostic(help("divide the kernel, or take branches out of branches"))]
    Nested { name: String, limit: usize },
    #[error("drawing failed: {0}")]
    Draw(String),
    #[error("the chart \"{title}\" cannot be drawn: {what}")]
    #[diagnostic(help("every series needs one finite value per x value"))]
    Chart { title: String, what: String },
}
