//! Why there is no bound, as types. Only the command line turns these into reports.

use miette::Diagnostic;
use thiserror::Error;
use wb_facts::FactsError;
use wb_files::FileError;
use wb_hw::HwError;
use wb_jobs::JobError;
use wb_program::LoadError;
use wb_wcet::kernel::ComposeError;
use wb_wcet::measure::PlanError;
use wb_wcet::split::SplitError;
use wb_wcet::wave::WaveError;
use wb_workloads::WorkloadError;

/// Why a kernel has no bound, or why a bound or a certificate is refused.
#[derive(Debug, Error, Diagnostic)]
pub enum BoundError {
    /// The runs that are to be measured cannot be made or fail.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Job(#[from] JobError),
    /// A facts file or a table of times with an error.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Facts(#[from] Box<FactsError>),
    /// A file that cannot be read or written.
    #[error(transparent)]
    #[diagnostic(transparent)]
    File(#[from] FileError),
    /// A line of a table that is not CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Machine(#[from] HwError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Workload(#[from] WorkloadError),
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The instrumentation does not fit the kernel.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The bound of a wave cannot be computed.
    #[error(transparent)]
    Wave(#[from] WaveError),
    /// Places for splits cannot be compared.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The bounds of waves do not make a bound of the kernel.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// Something is missing, or does not fit together.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Refused(#[from] Refusal),
}

/// What is missing or wrong where a bound is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The program is of a kind that cannot be bounded.
    Program,
    /// A loop has no limit.
    Limit,
    /// No run took a way that exists.
    Coverage,
    /// Times that were given do not fit the kernel.
    Times,
    /// What was measured contradicts what was proved or said.
    Contradiction,
    /// Nothing is launched.
    Launch,
    /// The certificate says nothing that can be verified here.
    Certificate,
}

/// A bound that is refused: what is missing, why, and what to do.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("{message}")]
pub struct Refusal {
    pub lack: Lack,
    pub message: String,
    #[help]
    pub help: Option<String>,
}

/// `refused!(Lack, "…")` or `refused!(Lack, help = …, "…")`.
macro_rules! refused {
    ($lack:ident, help = $help:expr, $($message:tt)+) => {
        $crate::error::BoundError::from($crate::error::Refusal {
            lack: $crate::error::Lack::$lack,
            message: format!($($message)+),
            help: Some(String::from($help)),
        })
    };
    ($lack:ident, $($message:tt)+) => {
        $crate::error::BoundError::from($crate::error::Refusal {
            lack: $crate::error::Lack::$lack,
            message: format!($($message)+),
            help: None,
        })
    };
}
pub(crate) use refused;
