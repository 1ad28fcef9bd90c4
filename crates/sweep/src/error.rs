//! What can go wrong with a sweep, as types. Only the command line turns these into reports.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use thiserror::Error;
use wb_files::FileError;
use wb_isa::SourceFile;
use wb_jobs::JobError;
use wb_report::ReportError;

/// Why a sweep cannot be made, run or shown. What goes wrong in one point is no error: it is recorded with the point.
#[derive(Debug, Error, Diagnostic)]
pub enum SweepError {
    /// A plan with an error.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Plan(#[from] Box<PlanError>),
    /// A file that cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A program, a machine or a launch file of the plan.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Job(#[from] Box<JobError>),
    /// A chart that cannot be drawn.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Report(#[from] ReportError),
    /// A data set that is not one.
    #[error("{}: {why}", path.display())]
    #[diagnostic(help("write it again: wavebound sweep PLAN"))]
    Data { path: PathBuf, why: String },
    /// A column that a table or chart needs.
    #[error("there is no column `{name}`")]
    Column {
        name: String,
        #[help]
        help: String,
    },
    /// A table or chart that cannot be made of these columns.
    #[error("{message}")]
    Show {
        message: String,
        #[help]
        help: String,
    },
    /// A worker that cannot be started.
    #[error("cannot start {}: {why}", program.display())]
    Worker { program: PathBuf, why: String },
    /// A scheduler that refused.
    #[error("{command}: {why}")]
    Engine {
        command: String,
        why: String,
        #[help]
        help: Option<String>,
    },
}

impl From<JobError> for SweepError {
    fn from(e: JobError) -> SweepError {
        SweepError::Job(Box::new(e))
    }
}

impl From<PlanError> for SweepError {
    fn from(e: PlanError) -> SweepError {
        SweepError::Plan(Box::new(e))
    }
}

/// What is wrong in a plan: where, and what would be right.
#[derive(Clone, Debug, Error)]
#[error("{}:{line}:{column}: {message}", source_code.name())]
pub struct PlanError {
    pub message: String,
    pub hint: Option<String>,
    /// Counted from 1.
    pub line: usize,
    pub column: usize,
    source_code: Box<NamedSource<String>>,
    span: Range<usize>,
}

impl PlanError {
    pub fn new(file: &SourceFile, span: Range<usize>, message: impl Into<String>) -> PlanError {
        let at = |n: usize| n.min(file.text.len());
        let (line, column) = file.line_column(at(span.start));
        let (line, column) = (line as usize, column as usize);
        PlanError {
            message: message.into(),
            hint: None,
            line,
            column,
            source_code: Box::new(NamedSource::new(&file.name, file.text.to_string())),
            span: at(span.start)..at(span.end),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> PlanError {
        self.hint = Some(hint.into());
        self
    }
}

impl Diagnostic for PlanError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.hint.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&*self.source_code)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new(Some("here".into()), self.span.start, self.span.len());
        Some(Box::new(std::iter::once(label)))
    }
}
