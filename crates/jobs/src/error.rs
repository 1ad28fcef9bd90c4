//! What can go wrong between what a user describes and a run, as types: who refused, or which part of the request does not
//! fit. Only the command line turns these into reports.

use crate::launch::LaunchError;
use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};
use std::error::Error as StdError;
use std::fmt;
use thiserror::Error;
use wb_device::DeviceError;
use wb_files::FileError;
use wb_hw::HwError;
use wb_isa::diag::MAX_ERRORS;
use wb_isa::{AsmError, MemFault, guppy, harp};
use wb_program::LoadError;
use wb_sim::SimError;
use wb_workloads::WorkloadError;

/// Why a job cannot be made or run.
#[derive(Debug, Error, Diagnostic)]
pub enum JobError {
    /// Assembly source with errors.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Source(#[from] AsmErrors),
    /// A file that cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A machine that does not exist or cannot exist.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Machine(#[from] HwError),
    /// A program that cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A HARP object file that is damaged.
    #[error(transparent)]
    HarpObject(#[from] harp::ObjectError),
    /// HARP objects that do not fit together.
    #[error(transparent)]
    HarpLink(#[from] harp::LinkError),
    /// A GUPPY module that is damaged.
    #[error(transparent)]
    GuppyModule(#[from] guppy::ModuleError),
    /// Memory that does not exist was asked for.
    #[error(transparent)]
    Memory(#[from] MemFault),
    /// The system refused: a program that cannot be started, a folder that cannot be made.
    #[error("{context}")]
    System {
        context: String,
        #[source]
        error: std::io::Error,
    },
    /// The device refused a module, a buffer or a launch, or a launch failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] DeviceError),
    /// The run failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Run(#[from] Box<SimError>),
    /// A launch file with an error.
    #[error(transparent)]
    #[diagnostic(transparent)]
    LaunchFile(#[from] Box<LaunchError>),
    /// A workload of the suite that cannot run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Workload(#[from] WorkloadError),
    /// What was asked for does not fit.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Refused(#[from] Refusal),
    /// Whoever looked at a launch stopped there.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Stopped(Box<Stopped>),
    /// One of several launches or files failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Within(Box<Within>),
}

/// Which part of a request does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Program,
    Compiler,
    Kernel,
    Argument,
    Buffer,
    Data,
    Launch,
    Memory,
}

/// A request that cannot be met: which part of it, why, and what to do.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("{message}")]
pub struct Refusal {
    pub part: Part,
    pub message: String,
    #[help]
    pub help: Option<String>,
}

/// `refused!(Part, "…")` or `refused!(Part, help = …, "…")`.
macro_rules! refused {
    ($part:ident, help = $help:expr, $($message:tt)+) => {
        $crate::error::JobError::from($crate::error::Refusal {
            part: $crate::error::Part::$part,
            message: format!($($message)+),
            help: Some(String::from($help)),
        })
    };
    ($part:ident, $($message:tt)+) => {
        $crate::error::JobError::from($crate::error::Refusal {
            part: $crate::error::Part::$part,
            message: format!($($message)+),
            help: None,
        })
    };
}
pub(crate) use refused;

impl JobError {
    /// The error of whoever looked at a launch, on its way back to them.
    pub fn stopped(error: impl Diagnostic + Send + Sync + 'static) -> JobError {
        JobError::Stopped(Box::new(Stopped(Box::new(error))))
    }

    /// The message and what is behind it, in one line.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut behind = self.source();
        while let Some(error) = behind {
            text = format!("{text}: {error}");
            behind = error.source();
        }
        text
    }

    /// The same error, with what failed around it.
    #[must_use]
    pub fn within(self, context: impl Into<String>) -> JobError {
        JobError::Within(Box::new(Within { context: context.into(), error: self }))
    }
}

impl From<SimError> for JobError {
    fn from(error: SimError) -> JobError {
        JobError::Run(Box::new(error))
    }
}

impl From<LaunchError> for JobError {
    fn from(error: LaunchError) -> JobError {
        JobError::LaunchFile(Box::new(error))
    }
}

/// An error of the caller's own; it looks as it did there.
pub struct Stopped(Box<dyn Diagnostic + Send + Sync>);

/// An error with what it was about in front: `launch 3`.
#[derive(Debug)]
pub struct Within {
    pub context: String,
    pub error: JobError,
}

impl Stopped {
    fn inner(&self) -> &(dyn Diagnostic + 'static) {
        &*self.0
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Stopped {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

impl Within {
    fn inner(&self) -> &(dyn Diagnostic + 'static) {
        &self.error
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.context)
    }
}

impl StdError for Within {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

/// Help, labels and what belongs to them are those of the error inside.
macro_rules! shows_what_is_inside {
    ($type:ident) => {
        impl Diagnostic for $type {
            fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
                self.inner().code()
            }

            fn severity(&self) -> Option<Severity> {
                self.inner().severity()
            }

            fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
                self.inner().help()
            }

            fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
                self.inner().url()
            }

            fn source_code(&self) -> Option<&dyn SourceCode> {
                self.inner().source_code()
            }

            fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
                self.inner().labels()
            }

            fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
                self.inner().related()
            }

            fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
                self.inner().diagnostic_source()
            }
        }
    };
}
shows_what_is_inside!(Stopped);
shows_what_is_inside!(Within);

/// All that is wrong in one source file.
#[derive(Debug, Error, Diagnostic)]
#[error("{}", self.title())]
pub struct AsmErrors {
    name: String,
    count: usize,
    #[related]
    pub errors: Vec<AsmError>,
}

/// Errors that are shown of one line, and of a file.
const SHOWN_OF_LINE: usize = 3;
const SHOWN: usize = 20;

impl AsmErrors {
    pub fn new(name: &str, mut errors: Vec<AsmError>) -> Self {
        let count = errors.len();
        let (mut line, mut of_line) = (0, 0);
        errors.retain(|e| {
            let at = e.line();
            of_line = if at == line { of_line + 1 } else { 1 };
            line = at;
            of_line <= SHOWN_OF_LINE
        });
        errors.truncate(SHOWN);
        AsmErrors { name: name.to_owned(), count, errors }
    }

    fn title(&self) -> String {
        let (count, shown) = (self.count, self.errors.len());
        let least = if count >= MAX_ERRORS { "at least " } else { "" };
        let errors = if count == 1 { "error" } else { "errors" };
        let rest = if shown < count { format!("; {shown} of them are shown") } else { String::new() };
        format!("{least}{count} {errors} in {}{rest}", self.name)
    }
}
