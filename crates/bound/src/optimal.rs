//! The best places to split. What counts is the bound that is printed: every placement is marked and bounded as any program
//! is, by measured times or, if asked for, without any. All of them where there are few branches; else those the dynamic programme chooses on the model by
//! blocks, and from the best of them step by step to a better neighbour until there is none, or the limit is reached.

use crate::analyse::analyse_and_keep;
use crate::error::{BoundError, refused};
use crate::explore::{
    BranchSet, Candidate, ExploredKernel, Explorer, FailedPlacement, MarkedRuns, judged, key,
};
use crate::options::{Options, Progress};
use crate::result::{CodePlace, KernelBound};
use serde::Serialize;
use std::collections::BTreeMap;
use wb_wcet::measure::Unmeasured;

/// How long to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Placements to measure at most, besides those that the dynamic programme chooses.
    pub tries: usize,
}

impl Effort {
    /// Only what the dynamic programme chooses, all branches, and what the caller adds.
    pub const GUIDE: Effort = Effort { tries: 0 };
}

impl Default for Effort {
    /// All placements of eight branches.
    fn default() -> Effort {
        Effort { tries: 256 }
    }
}

/// How good the placement is.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Proof {
    /// No placement has a smaller bound: every one was measured and bounded.
    pub optimal: bool,
    /// Placements that were measured, and how many there are (of the kernel with most of them; none: 2^64 or more).
    pub tried: usize,
    pub placements: Option<u64>,
    /// No placement with one branch more, one less or one for another has a smaller bound.
    pub locally_best: bool,
    /// The same in words.
    pub why: String,
    /// Placements without a bound.
    pub failed: Vec<FailedPlacement>,
}

/// What was found for all kernels of the launches.
#[derive(Clone, Debug)]
pub struct Best {
    pub without: Vec<KernelBound>,
    /// Empty when nothing can be marked. The best first.
    pub candidates: Vec<Candidate>,
    /// The one with the least bound; none if it is not to split at all.
    pub best: Option<usize>,
    pub with: Vec<KernelBound>,
    pub proof: Proof,
}

/// Finds the best places with up to `contexts` contexts; `also` adds placements of the caller's own.
pub fn best_places(
    marked: MarkedRuns,
    also: &dyn Fn(&[KernelBound]) -> Vec<Vec<CodePlace>>,
    contexts: u32,
    effort: Effort,
    progress: Progress,
) -> Result<Best, BoundError> {
    let (plain, options) = marked(&[], 0)?;
    let proved = options.proved;
    // Where bounds are proved, what runs show only suggests placements.
    let guide = match proved {
        true => Options { unmeasured: Unmeasured::Exclude, facts_from_trace: true, ..options.clone() },
        false => options.clone(),
    };
    let (measured, models) = analyse_and_keep(&plain, &guide, progress)?;
    let without = if proved { judged(&plain, &options, progress)? } else { measured.clone() };
    if without.is_empty() {
        return Err(refused!(Launch, "nothing is launched"));
    }
    let kernels: Vec<ExploredKernel> = measured.iter().map(|k| own(k, &without)).collect();
    let mut explorer = Explorer {
        marked,
        contexts,
        kernels,
        candidates: Vec::new(),
        failed: Vec::new(),
        tried: 0,
        limit: effort.tries,
    };
    // What the model by blocks suggests, the expected bound beside it.
    let mut guides: BTreeMap<BranchSet, (u32, Vec<CodePlace>, u64)> = BTreeMap::new();
    let kinds = [(false, true), (true, true), (false, false), (true, false)];
    for (s, (by_means, priced)) in (1..=contexts).flat_map(|s| kinds.map(|k| (s, k))) {
        let (mut places, mut expected) = (Vec::new(), 0u64);
        for m in &models {
            let (chosen, placement) = m.best_places(s, by_means, priced)?;
            places.extend(chosen);
            expected = expected.saturating_add(placement);
        }
        guides.entry(key(&places)).or_insert((s, places, expected));
    }
    let all = explorer.kernels.iter().flat_map(|k| k.places.values().cloned()).collect();
    for places in also(&measured).into_iter().chain([all]) {
        guides.entry(key(&places)).or_insert((contexts, places, 0));
    }
    for (s, places, expected) in guides.values() {
        let sets = by_kernel(&explorer.kernels, places);
        explorer.try_sets(&sets, Some((*s, *expected)), progress);
    }
    // What the guide cost does not count.
    explorer.limit += explorer.tried;
    let every = |k: &ExploredKernel| if k.sets() <= effort.tries as u64 { subsets(k) } else { Vec::new() };
    let lists: Vec<Vec<BranchSet>> = explorer.kernels.iter().map(every).collect();
    let mut finished = explorer.try_all(&lists, progress);
    finished = finished && climb(&mut explorer, progress);
    // The best of each kernel together.
    let best: Vec<BranchSet> = explorer.kernels.iter().map(|k| k.best().0.clone()).collect();
    explorer.try_sets(&best, None, progress);
    conclude(explorer, without, finished, proved, progress)
}

/// Where a kernel can be marked, and its bound without marks.
fn own(kernel: &KernelBound, without: &[KernelBound]) -> ExploredKernel {
    let bound = without.iter().find(|k| k.kernel == kernel.kernel).map(|k| k.bound);
    let markable = kernel.branches.iter().filter(|b| b.markable);
    ExploredKernel {
        name: kernel.kernel.clone(),
        places: markable.map(|b| (b.branch.pc, b.branch.clone())).collect(),
        bounds: BTreeMap::from([(BranchSet::new(), bound)]),
    }
}

fn by_kernel(kernels: &[ExploredKernel], places: &[CodePlace]) -> Vec<BranchSet> {
    let of =
        |k: &ExploredKernel| places.iter().map(|p| p.pc).filter(|pc| k.places.contains_key(pc)).collect();
    kernels.iter().map(of).collect()
}

fn subsets(kernel: &ExploredKernel) -> Vec<BranchSet> {
    let pcs: Vec<u32> = kernel.places.keys().copied().collect();
    let chosen = |n: u64| pcs.iter().enumerate().filter(move |(i, _)| n >> i & 1 == 1).map(|(_, &pc)| pc);
    (0..kernel.sets()).map(|n| chosen(n).collect()).collect()
}

/// Steps to the best neighbour as long as that is better, in every kernel of which not all sets were tried. True: no
/// kernel has a better neighbour.
fn climb(explorer: &mut Explorer, progress: Progress) -> bool {
    loop {
        let before: Vec<BranchSet> = explorer.kernels.iter().map(|k| k.best().0.clone()).collect();
        let around = |(k, best): (&ExploredKernel, &BranchSet)| {
            if k.complete() { Vec::new() } else { k.neighbours(best) }
        };
        let lists: Vec<Vec<BranchSet>> = explorer.kernels.iter().zip(&before).map(around).collect();
        if !explorer.try_all(&lists, progress) {
            return false;
        }
        if explorer.kernels.iter().zip(&before).all(|(k, best)| k.best().0 == best) {
            return true;
        }
    }
}

fn conclude(
    explorer: Explorer,
    without: Vec<KernelBound>,
    finished: bool,
    proved: bool,
    progress: Progress,
) -> Result<Best, BoundError> {
    let Explorer { marked, contexts, kernels, mut candidates, failed, tried, .. } = explorer;
    candidates.sort_by_key(|c| (c.bound, c.places.len(), key(&c.places)));
    let plain: u64 = without.iter().map(|k| k.bound).sum();
    let best = candidates.first().filter(|c| c.bound < plain);
    let bound = best.map_or(plain, |c| c.bound);
    let (best, with) = match best {
        None => (None, Vec::new()),
        Some(candidate) => {
            let (runs, options) = marked(&candidate.places, contexts)?;
            (Some(0), judged(&runs, &options, progress)?)
        }
    };
    let sum = kernels.iter().fold(0u64, |sum, k| sum.saturating_add(k.best().1));
    let complete = kernels.iter().all(ExploredKernel::complete);
    let most = kernels.iter().map(ExploredKernel::sets).max().unwrap_or(1);
    let optimal = complete && failed.is_empty() && bound == sum;
    let of = if most == u64::MAX { "2^64 or more".to_owned() } else { most.to_string() };
    let why = match (complete, finished) {
        _ if optimal && proved => {
            format!("proved optimal: every placement was bounded without a measurement ({tried} of them)")
        }
        _ if optimal => format!("proved optimal: every placement was measured and bounded ({tried} runs)"),
        (true, _) if !failed.is_empty() => format!(
            "best found: every placement was tried, but {} of them could not be bounded and may be better",
            failed.len()
        ),
        (true, _) => {
            "best found: kernels change each other's bounds, so the best of each need not be the best"
                .to_owned()
        }
        (false, true) => format!(
            "best found: {tried} of {of} placements tried; no neighbour (one branch more, one less, one for another) is better{}",
            excuse(&failed)
        ),
        (false, false) => {
            format!(
                "best found: {tried} of {of} placements tried, then the limit was reached{}",
                excuse(&failed)
            )
        }
    };
    let placements = (most < u64::MAX).then_some(most);
    let locally_best = optimal || finished && failed.is_empty();
    let proof = Proof { optimal, tried, placements, locally_best, why, failed };
    Ok(Best { without, candidates, best, with, proof })
}

fn excuse(failed: &[FailedPlacement]) -> String {
    match failed.len() {
        0 => String::new(),
        n => format!("; {n} could not be bounded"),
    }
}
