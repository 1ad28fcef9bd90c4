//! One error for everything a program that uses the library can meet.

use miette::Diagnostic;
use thiserror::Error as ThisError;
use wb_bound as bound;
use wb_hw as hw;
use wb_jobs as jobs;
use wb_report as report;
use wb_schedule as schedule;
use wb_sweep as sweep;

/// What went wrong, by the part that refused. Each error says the place and what to do; with the crate `miette` it prints as
/// the command prints it.
#[derive(Debug, ThisError, Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// A program, a launch or a run: see [`jobs::JobError`].
    #[error(transparent)]
    #[diagnostic(transparent)]
    Job(#[from] jobs::JobError),
    /// A machine that does not exist or cannot exist.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Machine(#[from] hw::HwError),
    /// There is no bound: see [`bound::BoundError`].
    #[error(transparent)]
    #[diagnostic(transparent)]
    Bound(#[from] bound::BoundError),
    /// A picture, a chart or a page that cannot be made.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Report(#[from] report::ReportError),
    /// A schedule that cannot be measured or predicted.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Schedule(#[from] schedule::ScheduleError),
    /// A sweep that cannot be made, run or shown: see [`sweep::SweepError`].
    #[error(transparent)]
    #[diagnostic(transparent)]
    Sweep(#[from] sweep::SweepError),
}
