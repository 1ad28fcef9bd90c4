//! The bounds of all launches of a kernel by own time and waits: of several runs of a launch the largest counts.

use super::certificate::About;
use super::launch::{ComposedLaunch, compose_launch};
use super::ways::Ways;
use super::{assumptions, certificate};
use crate::kernel::AnalysedKernel;
use crate::launched::Launched;
use crate::options::Options;
use crate::proved::Asked;
use crate::result::{ComposedRow, Status, TermRow};
use std::collections::BTreeMap;
use wb_facts::{Inferred, LoopFact, Origin};
use wb_proved::Alone;

/// Launches by number, or why one has no bound of this kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComposedKernel {
    pub launches: BTreeMap<usize, ComposedLaunch>,
    why_not: Option<String>,
}

impl ComposedKernel {
    /// An observer that follows the waves of a launch, if that can lead to a bound.
    pub fn follow<'a>(&mut self, launched: &Launched<'a>) -> Option<Ways<'a>> {
        if self.why_not.is_some() {
            return None;
        }
        let Some(program) = launched.program.gcn3() else {
            self.why_not = Some("own times are for GCN3 kernels".into());
            return None;
        };
        let alone = Alone::new(program, launched.machine).map_err(|e| self.why_not = Some(e.to_string()));
        Some(Ways::new(program, alone.ok()?))
    }

    /// Adds a run of a launch. `limits`: of loops, where nothing else is known.
    pub fn add(
        &mut self,
        launched: &Launched,
        options: &Options,
        (inferred, limits): (&Inferred, &[LoopFact]),
        ways: &Ways,
        cycles: u64,
    ) {
        let found = Asked::new(launched, options, inferred, limits, BTreeMap::new())
            .and_then(|asked| compose_launch(launched, &asked, ways, cycles));
        match found {
            Ok(found) => match self.launches.get_mut(&launched.number) {
                Some(known) if known.cycles >= found.cycles => {}
                Some(known) => *known = found,
                None => _ = self.launches.insert(launched.number, found),
            },
            Err(e) => self.why_not = Some(e.to_string()),
        }
    }

    /// `hybrid`, or `observed` where the limit of a loop was only seen.
    fn status(&self) -> Status {
        let mut limits = self.launches.values().flat_map(|l| &l.limits);
        if limits.any(|l| l.origin == Origin::Observed) { Status::Observed } else { Status::Hybrid }
    }

    /// All launches together. `behind`: the runs in words, `runs`: how many, and different inputs among them.
    pub fn row(&self, kernel: &AnalysedKernel, behind: &str, runs: (u32, u32)) -> ComposedRow {
        if self.why_not.is_some() || self.launches.is_empty() {
            return ComposedRow { why_not: self.why_not.clone(), ..ComposedRow::default() };
        }
        let sum = |of: fn(&ComposedLaunch) -> u64| {
            self.launches.values().try_fold(0u64, |sum, l| sum.checked_add(of(l)))
        };
        let bound = sum(|l| l.cycles);
        let heaviest = sum(|l| l.heaviest);
        let assumptions = assumptions::list(kernel, behind, heaviest, self.launches.values());
        let status = self.status();
        let about = About { kernel, status, runs, assumptions: &assumptions };
        ComposedRow {
            bound,
            status: Some(status),
            why_not: bound.is_none().then(|| "the launches take more than 2^64 - 1 cycles together".into()),
            terms: added(self.launches.values().flat_map(ComposedLaunch::terms)),
            heaviest,
            demand: added(self.launches.values().flat_map(ComposedLaunch::demand)),
            launches: self.launches.iter().map(|(&number, l)| (number, l.cycles)).collect(),
            certificate: certificate::text(&about, self.launches.values()),
            assumptions,
        }
    }
}

/// Terms of the same name together; of waves the largest number.
fn added(all: impl Iterator<Item = TermRow>) -> Vec<TermRow> {
    let mut terms: Vec<TermRow> = Vec::new();
    for term in all {
        match terms.iter_mut().find(|t| t.name == term.name) {
            Some(known) => {
                known.cycles = known.cycles.saturating_add(term.cycles);
                known.waves = known.waves.max(term.waves);
            }
            None => terms.push(term),
        }
    }
    terms
}
