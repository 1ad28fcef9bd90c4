//! The whole corpus under both checkers, then the times.

use super::corpus::{Case, cases};
use super::error::PlantedError;
use super::oclgrind::Oclgrind;
use super::ours::check;
use super::place::Place;
use super::table::{Report, Row};
use super::times;
use super::verdict::Verdict;

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
