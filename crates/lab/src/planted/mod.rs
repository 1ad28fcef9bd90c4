//! The corpus of planted errors: small OpenCL kernels, each with one error or none, and what two checkers find in them: ours
//! (`run --sanitize`) and Oclgrind. Kernels that only look wrong are as important as those that are (docs/planted.md).

mod clock;
mod corpus;
mod oclgrind;
mod ours;
mod place;
mod table;
mod times;
mod verdict;

pub use corpus::{Argument, Case, Kind, cases};
pub use oclgrind::Oclgrind;
pub use ours::{check, launch};
pub use place::Place;
pub use table::{Report, Row, Sum, text};
pub use times::Time;
pub use verdict::{Finding, Verdict};

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

/// Tries every case that `wanted` accepts, then takes the times of the larger ones; `done` is told after each.
pub fn run(
    place: &Place,
    oclgrind: Option<&Oclgrind>,
    wanted: &dyn Fn(&Case) -> bool,
    done: &dyn Fn(),
) -> Result<Report, PlantedError> {
    let cases: Vec<Case> = cases()?.into_iter().filter(wanted).collect();
    let mut rows = Vec::new();
    for case in &cases {
        let ours = match check(case, place) {
            Ok(found) => Verdict::of(case, &found),
            Err(PlantedError::Job(e)) => Verdict::Failed(e.chain()),
            Err(e) => Verdict::Failed(e.to_string()),
        };
        let theirs = match oclgrind {
            Some(tool) => tool.check(case, place)?,
            None => Verdict::NotRun,
        };
        rows.push(Row::new(case, ours, theirs));
        done();
    }
    let mut times = Vec::new();
    for case in cases.iter().filter(|c| c.timed) {
        times.push(times::of(case, place, oclgrind)?);
        done();
    }
    Ok(Report::new(rows, times))
}
