//! Bounds of workloads of the suite: the same launches with places marked, and the best of them.

use crate::error::BoundError;
use crate::optimal::{Best, Effort, best_places};
use crate::options::Options;
use crate::result::{CodePlace, KernelBound};
use crate::runs::Runs;
use wb_hw::{MarkStyle, Mechanism, SplitUnits};
use wb_jobs::JobSpec;
use wb_jobs::launch::{MarkChoice, WorkloadSpec, style};
use wb_jobs::object::SplitSpec;
use wb_wcet::measure::Unmeasured;
use wb_workloads::Size;

/// The same launches with these places marked and so many contexts; no contexts: without splitting.
pub fn placed(
    which: &WorkloadSpec,
    spec: &JobSpec,
    places: &[CodePlace],
    contexts: u32,
    style: MarkStyle,
) -> Runs {
    let mechanism = if contexts == 0 { Mechanism::ExecMask } else { style.mechanism() };
    let mut sets = vec![format!("divergence.mechanism={mechanism}"), format!("split.contexts={contexts}")];
    // Split units that serve as SIMDs are there for waves that never split, too: then the machine stays as it is.
    let reused = which.machine(spec).is_ok_and(|m| m.split.units == SplitUnits::Reprovisioned);
    if contexts == 0 && reused {
        sets.clear();
    }
    let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
    let split = SplitSpec { at, all: false, style };
    let spec = JobSpec { sets: [spec.sets.as_slice(), &sets].concat(), split, ..spec.clone() };
    let which = WorkloadSpec { marks: MarkChoice::None, ..which.clone() };
    Runs::Workload { which, spec: Box::new(spec) }
}

/// The places whose splits lower the bound most, for the machine's mechanism and contexts. Ways that no run took are
/// left out, because places are compared, not proven.
pub fn best_of_workload(which: &WorkloadSpec, spec: &JobSpec) -> Result<Best, BoundError> {
    let machine = which.machine(spec)?;
    let style = style(&machine);
    let options = Options { unmeasured: Unmeasured::Exclude, ..Options::default() };
    let marked = |places: &[CodePlace], contexts: u32| {
        let runs = placed(which, spec, places, contexts, style);
        let options = runs.workload_options(&options)?;
        Ok((runs, options))
    };
    // The workload's own marks are one of the placements.
    let lines = which.workload.default_marks();
    let own = |kernels: &[KernelBound]| {
        let branches = kernels.iter().flat_map(|k| &k.branches).filter(|b| b.markable).map(|b| &b.branch);
        vec![branches.filter(|b| lines.contains(&b.source)).cloned().collect()]
    };
    best_places(&marked, &own, machine.split.contexts.max(1), Effort::GUIDE, &mut |_, _| ())
}

/// The best places, found at a size, as `--split-at` takes them; empty: not to split has the smallest bound.
pub fn optimal_splits(which: &WorkloadSpec, spec: &JobSpec, size: Size) -> Result<SplitSpec, BoundError> {
    let best = best_of_workload(&WorkloadSpec { size, ..which.clone() }, spec)?;
    let places = best.best.map_or(&[][..], |i| &best.candidates[i].places);
    let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
    Ok(SplitSpec { at, all: false, style: style(&which.machine(spec)?) })
}
