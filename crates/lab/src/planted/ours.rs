//! Our checker over one case. Everything about it that the corpus needs is here.

use super::clock;
use super::corpus::Case;
use super::error::PlantedError;
use super::place::Place;
use super::verdict::Finding;
use std::time::Duration;
use wb_jobs::launch::{Launches, Session};
use wb_jobs::{Checks, JobSpec};
use wb_sanitize::Report;
use wb_sim::RunOptions;

/// Runs a case under the checker and returns what it reports.
pub fn check(case: &Case, place: &Place) -> Result<Vec<Finding>, PlantedError> {
    check_with(case, place, &Checks::default())
}

/// The same with other settings of the checker.
pub fn check_with(case: &Case, place: &Place, checks: &Checks) -> Result<Vec<Finding>, PlantedError> {
    let mut session = Session::open(&place.checked_file(case), &JobSpec::default())?;
    session.stage_mut().check(checks);
    run(&mut session)?;
    let Some(checker) = session.stage_mut().checked() else { return Ok(Vec::new()) };
    let finding = |report: &Report| Finding {
        kind: report.kind.name().to_owned(),
        line: Some(report.place.line).filter(|line| *line > 0),
    };
    Ok(checker.reports.all().iter().map(finding).collect())
}

fn run(session: &mut Session) -> Result<(), PlantedError> {
    while let Some(step) = session.next_step()? {
        session.run(&step, RunOptions { timed: false, ..RunOptions::default() }, None)?;
    }
    Ok(())
}

/// Runs a case untimed without the checker, as `wavebound run CASE.toml --untimed` does.
pub fn launch(case: &Case, place: &Place) -> Result<(), PlantedError> {
    run(&mut open(case, place)?)
}

fn open(case: &Case, place: &Place) -> Result<Session, PlantedError> {
    Ok(Session::open(&place.launch_file(case), &JobSpec::default())?)
}

/// User times of one run of a case.
pub struct Times {
    pub untimed: Duration,
    /// None: there is no clock.
    pub sanitized: Option<Duration>,
}

/// The times without and with the checker, without what opens the program and fills its buffers. None without a clock.
pub fn times(case: &Case, place: &Place) -> Result<Option<Times>, PlantedError> {
    let Some(opened) = mean(&mut || open(case, place).map(|_| ()))? else { return Ok(None) };
    let Some(untimed) = mean(&mut || launch(case, place))? else { return Ok(None) };
    let sanitized = mean(&mut || check(case, place).map(|_| ()))?;
    let net = |time: Duration| time.saturating_sub(opened);
    Ok(Some(Times { untimed: net(untimed), sanitized: sanitized.map(net) }))
}

/// Least user time of a measurement: the clock has ticks of 10 ms.
const ENOUGH: Duration = Duration::from_millis(500);

/// User time of one run: the mean of as many as fill a measurement.
fn mean(run: &mut dyn FnMut() -> Result<(), PlantedError>) -> Result<Option<Duration>, PlantedError> {
    let Some(start) = clock::used() else { return Ok(None) };
    for runs in 1u32.. {
        run()?;
        let Some(now) = clock::used() else { break };
        let spent = now.own.saturating_sub(start.own);
        if spent >= ENOUGH {
            return Ok(Some(spent / runs));
        }
    }
    Ok(None)
}
