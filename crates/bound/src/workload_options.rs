//! What the analyser is told about a workload of the suite: its source, and limits of loops that data decide.

use crate::error::BoundError;
use crate::options::Options;
use wb_jobs::JobSpec;
use wb_jobs::launch::{WorkloadSession, WorkloadSpec};
use wb_workloads::{Input, Limit};

/// What the analyser is told: limits of loops that data decide. They hold for each lane; where paths in different rounds
/// can become one, the rounds that were seen are taken, and the bound says so.
pub fn workload_options(
    which: &WorkloadSpec,
    spec: &JobSpec,
    options: &Options,
) -> Result<Options, BoundError> {
    let mut options = options.clone();
    let text = (which.workload.name.to_owned() + "/kernel.cl", which.workload.source.to_owned());
    options.sources.push(text);
    if which.machine(spec)?.mixes_rounds() {
        options.facts_from_trace = true;
        return Ok(options);
    }
    let mut session = WorkloadSession::open(which, spec)?;
    // A limit holds for all inputs that are measured: the largest.
    for input in 1..which.runs {
        let more = (which.workload.build)(which.size, Input(input.into())).limits;
        widen(&mut session.player.run.limits, more);
    }
    options.facts.extend(which.workload.facts(&session.stage.module.object, &session.player.run)?);
    Ok(options)
}

/// The larger limit of each loop.
fn widen(limits: &mut Vec<Limit>, more: Vec<Limit>) {
    for limit in more {
        match limits.iter_mut().find(|l| (l.kernel, l.tag) == (limit.kernel, limit.tag)) {
            Some(known) if known.max < limit.max => *known = limit,
            Some(_) => {}
            None => limits.push(limit),
        }
    }
}
