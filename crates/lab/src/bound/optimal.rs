//! The best places to split: measured without splitting, placed by the dynamic programme for every number of contexts
//! up to S, by longest and by mean times, marked, measured again; the placement with the least bound wins, and none is one of them.

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
    /// Bound of a wave that the placement expects, from times without splitting.
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

/// Runs of the same launches with these places marked for PWS and a machine with so many contexts; no places: without
/// splitting.
pub type Marked<'a> = &'a dyn Fn(&[Place], u32) -> Result<Runs, Report>;

/// Finds the best places with up to `contexts` contexts.
pub fn best_places(
    marked: Marked,
    contexts: u32,
    options: &Options,
    progress: Progress,
) -> Result<Best, Report> {
    let plain = marked(&[], 0)?;
    let without = analyse(&plain, options, progress)?;
    let models = fine_models(&plain, options, progress)?;
    let mut sets: BTreeMap<Vec<u32>, (u32, Vec<Place>, u64)> = BTreeMap::new();
    let kinds = [(false, true), (true, true), (false, false), (true, false)];
    for (s, (by_means, priced)) in (1..=contexts).flat_map(|s| kinds.map(|k| (s, k))) {
        let (mut places, mut expected) = (Vec::new(), 0u64);
        for m in &models {
            let (chosen, placement) = m.best_places(s, by_means, priced).into_diagnostic()?;
            places.extend(chosen);
            expected = expected.saturating_add(placement);
        }
        let key: Vec<u32> = places.iter().map(|p| p.pc).collect();
        if !places.is_empty() {
            sets.entry(key).or_insert((s, places, expected));
        }
    }
    let least = |kernels: &[KernelBound]| -> u64 { kernels.iter().map(|k| k.bound).sum() };
    let mut best = (least(&without), None);
    let (mut candidates, mut with) = (Vec::new(), Vec::new());
    for (s, places, expected_wave) in sets.into_values() {
        let found = analyse(&marked(&places, contexts)?, options, progress)
            .map_err(|e| e.wrap_err(format!("with splits at {}", list(&places))))?;
        let bound = least(&found);
        candidates.push(Candidate {
            contexts: s,
            places,
            expected_wave,
            bound,
            observed: found.iter().map(|k| k.observed).sum(),
            by_blocks: found.iter().map(|k| k.wave_bound_by_blocks).sum(),
        });
        if bound < best.0 {
            best = (bound, Some(candidates.len() - 1));
            with = found;
        }
    }
    if without.is_empty() {
        return Err(miette!("nothing is launched"));
    }
    Ok(Best { without, candidates, best: best.1, with })
}

fn list(places: &[Place]) -> String {
    places.iter().map(Place::to_string).collect::<Vec<_>>().join(", ")
}
