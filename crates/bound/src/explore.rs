//! Placements that are tried out: marked, measured and bounded like any program. Kernels do not change each other, so one
//! run tries a set of places in every kernel at once, and what came of it is kept by kernel.

use crate::analyse::TraceFiles;
use crate::bounds::bounds;
use crate::error::BoundError;
use crate::options::{Options, Progress};
use crate::result::{CodePlace, KernelBound};
use crate::runs::Runs;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Branches of one kernel to mark, by pc.
pub(crate) type BranchSet = BTreeSet<u32>;

/// One set of places and what came of it.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Candidate {
    /// Contexts the placement was made for.
    pub contexts: u32,
    pub places: Vec<CodePlace>,
    /// Bound of a wave that the placement expects, from times without splitting; 0 if it was not placed by times.
    pub expected_wave: u64,
    pub bound: u64,
    pub observed: u64,
    /// Sum of the waves' bounds with a segment for every block.
    pub by_blocks: u64,
}

/// A placement that could not be bounded.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FailedPlacement {
    pub places: Vec<CodePlace>,
    pub error: String,
}

/// Runs of the same launches with these places marked and a machine with so many contexts, and what may be assumed about
/// them; no places: without splitting.
pub type MarkedRuns<'a> = &'a dyn Fn(&[CodePlace], u32) -> Result<(Runs, Options), BoundError>;

/// A kernel whose branches can be marked.
pub(crate) struct ExploredKernel {
    pub name: String,
    /// Branches that can be marked.
    pub places: BTreeMap<u32, CodePlace>,
    /// Its bound with each set that was tried; `None`: there is none.
    pub bounds: BTreeMap<BranchSet, Option<u64>>,
}

impl ExploredKernel {
    /// Sets of branches there are.
    pub fn sets(&self) -> u64 {
        1u64.checked_shl(self.places.len() as u32).unwrap_or(u64::MAX)
    }

    /// The set with the least bound, of equal ones the smallest.
    pub fn best(&self) -> (&BranchSet, u64) {
        let bounded = self.bounds.iter().filter_map(|(set, bound)| Some((set, (*bound)?)));
        bounded.min_by_key(|(set, bound)| (*bound, set.len())).expect("no set at all is one of them")
    }

    /// Every set was tried.
    pub fn complete(&self) -> bool {
        self.bounds.len() as u64 == self.sets()
    }

    /// Sets that differ by one branch more, one less, or one for another.
    pub fn neighbours(&self, of: &BranchSet) -> Vec<BranchSet> {
        let (inside, outside): (Vec<u32>, Vec<u32>) = self.places.keys().partition(|pc| of.contains(pc));
        let with = |add: Option<u32>, drop: Option<u32>| {
            of.iter().copied().filter(|pc| Some(*pc) != drop).chain(add).collect::<BranchSet>()
        };
        let more = outside.iter().map(|&a| with(Some(a), None));
        let less = inside.iter().map(|&d| with(None, Some(d)));
        let swapped = inside.iter().flat_map(|&d| outside.iter().map(move |&a| (a, d)));
        more.chain(less).chain(swapped.map(|(a, d)| with(Some(a), Some(d)))).collect()
    }
}

/// What was tried so far.
pub(crate) struct Explorer<'a> {
    pub marked: MarkedRuns<'a>,
    pub contexts: u32,
    pub kernels: Vec<ExploredKernel>,
    pub candidates: Vec<Candidate>,
    pub failed: Vec<FailedPlacement>,
    /// Runs so far, and how many there may be.
    pub tried: usize,
    pub limit: usize,
}

impl Explorer<'_> {
    pub fn places(&self, sets: &[BranchSet]) -> Vec<CodePlace> {
        let own = self.kernels.iter().zip(sets);
        own.flat_map(|(k, set)| set.iter().filter_map(|pc| k.places.get(pc).cloned())).collect()
    }

    /// Tries lists of sets, one list for each kernel, all kernels at once; sets that were tried are left out. False: the
    /// limit was reached first.
    pub fn try_all(&mut self, lists: &[Vec<BranchSet>], progress: Progress) -> bool {
        let mut open: Vec<std::vec::IntoIter<BranchSet>> = Vec::new();
        for (kernel, list) in self.kernels.iter().zip(lists) {
            let mut seen = BTreeSet::new();
            let new = |s: &&BranchSet| !kernel.bounds.contains_key(*s) && seen.insert((*s).clone());
            open.push(list.iter().filter(new).cloned().collect::<Vec<_>>().into_iter());
        }
        loop {
            let next: Vec<Option<BranchSet>> = open.iter_mut().map(Iterator::next).collect();
            if next.iter().all(Option::is_none) {
                return true;
            }
            if self.tried >= self.limit {
                return false;
            }
            let sets: Vec<BranchSet> = next.into_iter().map(Option::unwrap_or_default).collect();
            self.try_sets(&sets, None, progress);
        }
    }

    /// Tries one set for each kernel. If that fails, each kernel's alone: another kernel may be at fault.
    pub fn try_sets(&mut self, sets: &[BranchSet], expected: Option<(u32, u64)>, progress: Progress) {
        let marked: Vec<usize> = (0..sets.len()).filter(|&k| !sets[k].is_empty()).collect();
        if marked.is_empty() || self.candidates.iter().any(|c| key(&c.places) == key(&self.places(sets))) {
            return;
        }
        match self.run(sets, expected, progress) {
            Ok(found) => {
                for (k, set) in sets.iter().enumerate() {
                    let bound = found.iter().find(|f| f.kernel == self.kernels[k].name).map(|f| f.bound);
                    // Not to split is as measured without contexts.
                    self.kernels[k].bounds.entry(set.clone()).or_insert(bound);
                }
            }
            Err(error) if marked.len() == 1 => {
                let failed = FailedPlacement { places: self.places(sets), error: error.to_string() };
                self.failed.push(failed);
                self.kernels[marked[0]].bounds.insert(sets[marked[0]].clone(), None);
            }
            Err(_) => {
                let known = |k: &usize| self.kernels[*k].bounds.contains_key(&sets[*k]);
                let open: Vec<usize> = marked.into_iter().filter(|k| !known(k)).collect();
                for k in open {
                    let mut alone = vec![BranchSet::new(); sets.len()];
                    alone[k].clone_from(&sets[k]);
                    self.try_sets(&alone, None, progress);
                }
            }
        }
    }

    fn run(
        &mut self,
        sets: &[BranchSet],
        expected: Option<(u32, u64)>,
        progress: Progress,
    ) -> Result<Vec<KernelBound>, BoundError> {
        self.tried += 1;
        let (number, limit, places) = (self.tried, self.limit, self.places(sets));
        let (runs, options) = (self.marked)(&places, self.contexts)?;
        let options = Options { what_if: false, ..options };
        let shown = &mut |what: &str, launch: usize| {
            progress(&format!("placement {number} of at most {}: {what}", limit.max(number)), launch);
        };
        let found = judged(&runs, &options, shown)?;
        let (contexts, expected_wave) = expected.unwrap_or((self.contexts, 0));
        self.candidates.push(Candidate {
            contexts,
            places,
            expected_wave,
            bound: found.iter().map(|k| k.bound).sum(),
            observed: found.iter().map(|k| k.observed).sum(),
            by_blocks: found.iter().map(|k| k.wave_bound_by_blocks).sum(),
        });
        Ok(found)
    }
}

/// The bounds that placements are compared by: proved ones if nothing else is asked for, else measured ones.
pub(crate) fn judged(
    runs: &Runs,
    options: &Options,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    let options = Options { hybrid: !options.proved, ..options.clone() };
    bounds(runs, &options, TraceFiles::default(), progress)
}

pub(crate) fn key(places: &[CodePlace]) -> BranchSet {
    places.iter().map(|p| p.pc).collect()
}
