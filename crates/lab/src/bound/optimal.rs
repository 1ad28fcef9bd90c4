//! The best places to split: measured without splitting, placed by the dynamic programme for every number of contexts
//! up to S, by longest and by mean times, or all at once; marked, measured again; the least bound wins, and none is one of them.

use super::analyse::{Options, Progress, analyse, fine_models};
use super::result::{KernelBound, Place};
use super::runs::Runs;
use miette::{IntoDiagnostic, Report, miette};
use serde::Serialize;
use std::collections::BTreeMap;

/// One set of places and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Candidate {
    /// Contexts the placement was made for.
    pub contexts: u32,
    pub places: Vec<Place>,
    /// Bound of a wave that the placement expects, from times without splitting; 0 if it was not placed by times.
    pub expected_wave: u64,
    pub bound: u64,
    pub observed: u64,
    /// Sum of the waves' bounds with a segment for every block.
    pub by_blocks: u64,
}

/// What was found for all kernels of the launches.
#[derive(Clone, Debug)]
pub struct Best {
    pub without: Vec<KernelBound>,
    /// Empty when nothing can be marked.
    pub candidates: Vec<Candidate>,
    /// The one with the least bound; none if it is not to split at all.
    pub best: Option<usize>,
    pub with: Vec<KernelBound>,
}

/// Runs of the same launches with these places marked and a machine with so many contexts, and what may be assumed about
/// them; no places: without splitting.
pub type Marked<'a> = &'a dyn Fn(&[Place], u32) -> Result<(Runs, Options), Report>;

/// Finds the best places with up to `contexts` contexts: those the dynamic programme chooses, all that can be marked, what
/// `also` adds, and the best of these for each kernel together.
pub fn best_places(
    marked: Marked,
    also: &dyn Fn(&[KernelBound]) -> Vec<Vec<Place>>,
    contexts: u32,
    progress: Progress,
) -> Result<Best, Report> {
    let (plain, options) = marked(&[], 0)?;
    let without = analyse(&plain, &options, progress)?;
    if without.is_empty() {
        return Err(miette!("nothing is launched"));
    }
    let models = fine_models(&plain, &options, progress)?;
    let mut sets: BTreeMap<Vec<u32>, (u32, Vec<Place>, Option<u64>)> = BTreeMap::new();
    let kinds = [(false, true), (true, true), (false, false), (true, false)];
    for (s, (by_means, priced)) in (1..=contexts).flat_map(|s| kinds.map(|k| (s, k))) {
        let (mut places, mut expected) = (Vec::new(), 0u64);
        for m in &models {
            let (chosen, placement) = m.best_places(s, by_means, priced).into_diagnostic()?;
            places.extend(chosen);
            expected = expected.saturating_add(placement);
        }
        sets.entry(key(&places)).or_insert((s, places, Some(expected)));
    }
    let markable = without.iter().flat_map(|k| &k.branches).filter(|b| b.markable);
    let all: Vec<Place> = markable.map(|b| b.branch.clone()).collect();
    for places in also(&without).into_iter().chain([all]) {
        sets.entry(key(&places)).or_insert((contexts, places, None));
    }
    sets.remove(&Vec::new());
    let mut search = Search { marked, contexts, least: sum(&without), best: None, with: Vec::new() };
    let (mut candidates, mut kernels) = (Vec::new(), Vec::new());
    for (s, places, expected) in sets.values() {
        match search.try_out(*s, places, expected.unwrap_or(0), candidates.len(), progress) {
            Ok((candidate, found)) => {
                candidates.push(candidate);
                kernels.push(found);
            }
            // Nobody asked for these: if some way was never taken with all of them marked, the others still count.
            Err(_) if expected.is_none() => {}
            Err(e) => return Err(e),
        }
    }
    // Marks of one kernel do not change another: the best for each.
    let mut together: Vec<Place> = Vec::new();
    for (k, plain) in without.iter().enumerate() {
        let of = |i: usize| kernels[i].get(k).copied().unwrap_or(u64::MAX);
        let best = (0..kernels.len()).min_by_key(|&i| of(i)).filter(|&i| of(i) < plain.bound);
        let own = |p: &&Place| plain.branches.iter().any(|b| b.branch.pc == p.pc);
        together.extend(best.iter().flat_map(|&i| candidates[i].places.iter().filter(own).cloned()));
    }
    if !together.is_empty() && !sets.contains_key(&key(&together)) {
        let tried = search.try_out(contexts, &together, 0, candidates.len(), progress);
        candidates.extend(tried.ok().map(|t| t.0));
    }
    Ok(Best { without, candidates, best: search.best, with: search.with })
}

fn key(places: &[Place]) -> Vec<u32> {
    let mut pcs: Vec<u32> = places.iter().map(|p| p.pc).collect();
    pcs.sort_unstable();
    pcs.dedup();
    pcs
}

fn sum(kernels: &[KernelBound]) -> u64 {
    kernels.iter().map(|k| k.bound).sum()
}

/// The best so far.
struct Search<'a> {
    marked: Marked<'a>,
    contexts: u32,
    least: u64,
    best: Option<usize>,
    with: Vec<KernelBound>,
}

impl Search<'_> {
    /// Measures one set of places, number `index`; also returns the bound of every kernel.
    fn try_out(
        &mut self,
        contexts: u32,
        places: &[Place],
        expected_wave: u64,
        index: usize,
        progress: Progress,
    ) -> Result<(Candidate, Vec<u64>), Report> {
        let (runs, options) = (self.marked)(places, self.contexts)?;
        let found = analyse(&runs, &options, progress)
            .map_err(|e| e.wrap_err(format!("with splits at {}", list(places))))?;
        let bound = sum(&found);
        let candidate = Candidate {
            contexts,
            places: places.to_vec(),
            expected_wave,
            bound,
            observed: found.iter().map(|k| k.observed).sum(),
            by_blocks: found.iter().map(|k| k.wave_bound_by_blocks).sum(),
        };
        let bounds = found.iter().map(|k| k.bound).collect();
        if bound < self.least {
            (self.least, self.best, self.with) = (bound, Some(index), found);
        }
        Ok((candidate, bounds))
    }
}

fn list(places: &[Place]) -> String {
    places.iter().map(Place::to_string).collect::<Vec<_>>().join(", ")
}
