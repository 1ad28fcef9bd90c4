//! The proved bounds of all launches of a kernel, as rows of a report.

use super::ask::{ProvedLaunch, prove_launch};
use super::certificate;
use crate::error::BoundError;
use crate::launched::Launched;
use crate::options::Options;
use crate::result::{CodePlace, LoopRow, ProvedRow, TermRow};
use crate::shape::Shape;
use miette::Diagnostic;
use std::collections::BTreeMap;

/// A proof, or why there is none and what to do.
type Answer = Result<ProvedLaunch, (String, Option<String>)>;

/// A kernel with its launches, each shape proved once.
#[derive(Clone, Debug)]
pub(crate) struct ProvedKernel {
    pub kernel: String,
    pub file: String,
    pub checksum: String,
    pub machine: wb_hw::Machine,
    shapes: Vec<(Shape, Answer)>,
    /// Which shapes a launch has, by its number.
    pub numbers: BTreeMap<usize, Vec<usize>>,
    /// How often a launch was run, and its longest run.
    pub observed: BTreeMap<usize, (u32, u64)>,
}

/// Adds a launch.
pub(crate) fn collect(kernels: &mut Vec<ProvedKernel>, launched: &Launched, options: &Options) {
    let at = match kernels.iter().position(|k| k.kernel == launched.kernel) {
        Some(at) => at,
        None => {
            kernels.push(ProvedKernel {
                kernel: launched.kernel.to_owned(),
                file: wb_jobs::last_part(launched.file).to_owned(),
                checksum: launched
                    .program
                    .gcn3()
                    .map_or_else(String::new, |p| wb_facts::checksum(p, &wb_facts::calls_of(p))),
                machine: launched.machine.clone(),
                shapes: Vec::new(),
                numbers: BTreeMap::new(),
                observed: BTreeMap::new(),
            });
            kernels.len() - 1
        }
    };
    let kernel = &mut kernels[at];
    let shape = Shape::of(launched);
    let known = kernel.shapes.iter().position(|s| s.0 == shape);
    let known = known.unwrap_or_else(|| {
        let found = prove_launch(launched, options, None);
        let why = |e: BoundError| (e.to_string(), e.help().map(|h| h.to_string()));
        kernel.shapes.push((shape, found.map_err(why)));
        kernel.shapes.len() - 1
    });
    let shapes = kernel.numbers.entry(launched.number).or_default();
    if !shapes.contains(&known) {
        shapes.push(known);
    }
}

impl ProvedKernel {
    /// The proof of a launch that takes longest, of those it may be.
    pub fn launch(&self, number: usize) -> Option<(&Shape, &ProvedLaunch)> {
        let shapes = self.numbers.get(&number)?.iter().map(|&s| &self.shapes[s]);
        let proved: Option<Vec<_>> = shapes.map(|s| Some((&s.0, s.1.as_ref().ok()?))).collect();
        proved?.into_iter().max_by_key(|l| l.1.found.cycles)
    }

    /// The certificate of all launches.
    pub fn certificate(&self) -> String {
        let row = self.row();
        let mut launches: Vec<(&ProvedLaunch, u64)> = Vec::new();
        for &number in self.numbers.keys() {
            let Some((_, launch)) = self.launch(number) else { continue };
            match launches.iter_mut().find(|l| l.0.shape == launch.shape) {
                Some(known) => known.1 += 1,
                None => launches.push((launch, 1)),
            }
        }
        certificate::text(&self.kernel, &self.checksum, &self.machine, &launches, &assumptions(&row))
    }

    /// Why there is no proof.
    pub fn refusal(&self) -> Option<&(String, Option<String>)> {
        self.shapes.iter().find_map(|s| s.1.as_ref().err())
    }

    /// All launches together.
    pub fn row(&self) -> ProvedRow {
        if let Some((why, help)) = self.refusal() {
            return ProvedRow { why_not: Some(why.clone()), help: help.clone(), ..ProvedRow::default() };
        }
        let launches: Vec<&ProvedLaunch> =
            self.numbers.keys().filter_map(|&n| Some(self.launch(n)?.1)).collect();
        let Some(worst) = launches.iter().max_by_key(|l| l.found.cycles) else { return ProvedRow::default() };
        let mut terms: Vec<TermRow> = Vec::new();
        for term in launches.iter().flat_map(|l| &l.found.terms) {
            match terms.iter_mut().find(|t| t.name == term.name) {
                Some(known) => {
                    known.cycles = known.cycles.saturating_add(term.cycles);
                    known.waves = known.waves.max(term.waves);
                }
                None => terms.push(TermRow { name: term.name, cycles: term.cycles, waves: term.waves }),
            }
        }
        let bound = launches.iter().try_fold(0u64, |sum, l| sum.checked_add(l.found.cycles));
        ProvedRow {
            bound,
            why_not: bound
                .is_none()
                .then(|| "the launches take more than 2^64 - 1 cycles together".to_owned()),
            help: None,
            terms,
            wave: worst.found.own,
            demand: worst.found.resources.iter().filter(|r| r.1 > 0).map(|r| (r.0.name(), r.1)).collect(),
            barriers: worst.found.barriers,
            kept: worst.found.kept.clone(),
            unknown: worst.unknown.clone(),
            loops: worst.limits.iter().map(|l| loop_row(worst, l)).collect(),
        }
    }
}

fn loop_row(launch: &ProvedLaunch, fact: &wb_facts::LoopFact) -> LoopRow {
    let place = launch.places.get(&fact.header).cloned();
    LoopRow {
        header: place.unwrap_or(CodePlace { pc: fact.header, ..CodePlace::default() }),
        max: fact.max,
        origin: fact.origin.name(),
        why: fact.why.clone(),
        observed: None,
        whole: false,
    }
}

/// What every proved bound takes for granted.
pub(crate) fn assumptions(row: &ProvedRow) -> Vec<String> {
    let mut list = vec![
        "the machine is as described: latencies, intervals, ports and bandwidth are its own, and nothing else runs on it".to_owned(),
        "caches are empty and nothing is under way when the launch begins".to_owned(),
        "accesses stay in memory that the host gave to the kernel; it does not load its own instructions".to_owned(),
        "geometry and arguments are those of the launch; contents of buffers may be any".to_owned(),
    ];
    for l in row.loops.iter().filter(|l| l.origin != "proved") {
        list.push(format!(
            "the loop at {} goes round at most {} times ({}: {})",
            l.header, l.max, l.origin, l.why
        ));
    }
    list
}
