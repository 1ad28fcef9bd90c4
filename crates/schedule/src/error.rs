//! Why a schedule cannot be measured or predicted.

use miette::Diagnostic;
use thiserror::Error;
use wb_hw::InstructionSet;
use wb_jobs::JobError;

#[derive(Debug, Error, Diagnostic)]
pub enum ScheduleError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Job(#[from] JobError),
    #[error("only Vortex programs are predicted, this is {0}")]
    #[diagnostic(help("prediction needs waves of one path without wait counters"))]
    InstructionSet(InstructionSet),
    /// The machine does something that the predictor does not follow.
    #[error("cannot be predicted: {what}")]
    Machine {
        what: String,
        #[help]
        help: String,
    },
    #[error("a timed run that was watched has no schedule")]
    Unwatched,
}
