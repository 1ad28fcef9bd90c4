//! Where a kernel that is not split yet should be: the optimal placement on its measured model. Estimates, until the
//! kernel is marked and bounded again.

use super::analyse::{Fine, Options, Progress, fine};
use super::result::Place;
use super::runs::Runs;
use super::what_if::with_skips;
use miette::{IntoDiagnostic, Report};
use wb_wcet::Region;
use wb_wcet::split::{self, Tree};

/// The best splits of a kernel with S contexts.
#[derive(Clone, Debug)]
pub struct Best {
    pub kernel: String,
    /// Branches to mark.
    pub branches: Vec<Place>,
    /// What the bound of a wave (with a segment for every block) would be with 0, 1, … S contexts.
    pub by_contexts: Vec<u64>,
}

/// The best splits of every kernel of `runs` with `contexts` contexts of a wave.
pub fn best_splits(
    runs: &Runs,
    options: &Options,
    contexts: u32,
    progress: Progress,
) -> Result<Vec<Best>, Report> {
    fine(runs, options, progress)?.iter().map(|(found, _)| best(found, contexts)).collect()
}

fn best(found: &Fine, contexts: u32) -> Result<Best, Report> {
    let kernel = &found.study.kernel;
    let mut measured = with_skips(found);
    let costs = &kernel.machine.split;
    let mut candidates: Vec<(usize, Region)> = Vec::new();
    for (r, region) in measured.regions.drain(..).filter(|(r, _)| kernel.plan.regions[*r].markable) {
        let region =
            Region { split_cost: costs.split_cycles.into(), merge_cost: costs.merge_cycles.into(), ..region };
        // A region that no run reached, or whose lanes never part, has nothing to split.
        if Tree::new(&measured.model, std::slice::from_ref(&region)).is_ok() {
            candidates.push((r, region));
        }
    }
    let regions: Vec<Region> = candidates.iter().map(|c| c.1.clone()).collect();
    let placed = split::optimal(&measured.model, &regions, contexts).into_diagnostic()?;
    let branch = |&i: &usize| kernel.place(kernel.plan.regions[candidates[i].0].branch);
    Ok(Best {
        kernel: kernel.name.clone(),
        branches: placed.chosen.iter().map(branch).collect(),
        by_contexts: placed.by_contexts,
    })
}
