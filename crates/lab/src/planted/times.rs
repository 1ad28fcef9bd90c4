//! User times of the larger launches: ours without and with the checker, and Oclgrind with all its checks.

use super::corpus::Case;
use super::error::PlantedError;
use super::oclgrind::Oclgrind;
use super::ours;
use super::place::Place;
use serde::Serialize;

/// Seconds of user time of one launch, without what compiles it and fills its buffers; none: not measured.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Time {
    pub case: String,
    pub untimed: Option<f64>,
    pub sanitized: Option<f64>,
    pub oclgrind: Option<f64>,
    /// Sanitized over untimed.
    pub slowdown: Option<f64>,
    /// Oclgrind over sanitized.
    pub factor: Option<f64>,
}

pub(super) fn of(case: &Case, place: &Place, oclgrind: Option<&Oclgrind>) -> Result<Time, PlantedError> {
    let seconds = |time: Option<std::time::Duration>| time.map(|t| t.as_secs_f64());
    let ours = ours::times(case, place)?;
    let untimed = seconds(ours.as_ref().map(|t| t.untimed));
    let sanitized = seconds(ours.and_then(|t| t.sanitized));
    let theirs = match oclgrind {
        Some(tool) => seconds(tool.time(case, place)?),
        None => None,
    };
    let ratio = |a: Option<f64>, b: Option<f64>| Some(a? / b.filter(|b| *b > 0.0)?);
    Ok(Time {
        case: case.name.clone(),
        untimed,
        sanitized,
        oclgrind: theirs,
        slowdown: ratio(sanitized, untimed),
        factor: ratio(theirs, sanitized),
    })
}
