//! From launches to bounds: measure with a point at every block, find which points are needed, measure again with
//! those, build the model of a wave, bound it, and put the waves of every launch together (wcet.md, pipeline).

use crate::error::{BoundError, refused};
use crate::kernel::Kernel;
use crate::launches::{self, compose, groups};
use crate::limits::limits;
use crate::report::report;
use crate::result::{KernelBound, LaunchRow, Place};
use crate::rows::{TraceFile, TraceWriter};
use crate::runs::{Launched, Runs};
use crate::source::Source;
use crate::trace::Traces;
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::Counted;
use wb_isa::Pc;
use wb_sim::RunOptions;
use wb_wcet::measure::{Measured, Meter, Points, Times, Unmeasured};
use wb_wcet::split::SplitError;
use wb_wcet::wave::{self, WaveBound};

/// What the user wants to know, and what to accept.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Facts files: name and text.
    pub facts: Vec<(String, String)>,
    /// Take limits of loops that have no other from the runs.
    pub facts_from_trace: bool,
    pub unmeasured: Unmeasured,
    /// Take THESIS 5.2.4 at its word: to skip a side costs nothing. Not sound; to compare with.
    pub free_skips: bool,
    /// Keep a point at every divergent branch, as THESIS does, even where fewer would do.
    pub all_points: bool,
    /// Find out what each split brings.
    pub what_if: bool,
    /// Source files that are not beside the program: name and text.
    pub sources: Vec<(String, String)>,
    /// What to type for more inputs, for the warning about too few.
    pub more_inputs: String,
}

/// Trace files: measurements to take instead of runs, and where to write the rows of the runs.
#[derive(Default)]
pub struct Files<'a> {
    pub traces: &'a [TraceFile],
    pub write: Option<&'a mut TraceWriter>,
}

/// Tells how far the work is: what is being done, launches so far.
pub type Progress<'a> = &'a mut dyn FnMut(&str, usize);

/// A kernel and what was measured of it.
pub(crate) struct Study {
    pub kernel: Kernel,
    pub times: Times,
    pub launches: Vec<LaunchRow>,
    pub source: Source,
}

/// What the first measurement showed.
pub(crate) struct Fine {
    pub study: Study,
    /// Branches whose split can be counted on.
    pub sure: BTreeSet<Pc>,
    /// The wave's bound with a segment for every block, which assumes least about how times go together.
    pub bound: WaveBound,
    pub measured: Measured,
}

/// Bounds of every kernel that is launched, in the order of their first launch.
pub fn analyse(runs: &Runs, options: &Options, progress: Progress) -> Result<Vec<KernelBound>, BoundError> {
    analyse_with(runs, options, Files::default(), progress)
}

/// The same with trace files: if there are any to read, nothing runs. Rows are written of the first measurement, which
/// has a point at every block: from them, both measurements can be taken again.
pub fn analyse_with(
    runs: &Runs,
    options: &Options,
    files: Files,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    both(runs, options, files, progress).map(|(_, found)| found)
}

/// What the first measurement showed, and the bounds.
fn both(
    runs: &Runs,
    options: &Options,
    files: Files,
    progress: Progress,
) -> Result<(Vec<Fine>, Vec<KernelBound>), BoundError> {
    let mut traces = (!files.traces.is_empty()).then(|| Traces::new(files.traces));
    let studies = match &mut traces {
        Some(traces) => traces.first(runs, options)?,
        None => measure(runs, options, progress, "measuring every block", &BTreeMap::new(), files.write)?,
    };
    let first = conclude_first(studies, options, traces.as_ref())?;
    let points = first.iter().map(|(f, points)| (f.study.kernel.name.clone(), points.clone())).collect();
    let second = match &traces {
        Some(traces) => traces.again(runs, options, &points)?,
        None => measure(runs, options, progress, "measuring the points that are needed", &points, None)?,
    };
    let first: Vec<Fine> = first.into_iter().map(|(fine, _)| fine).collect();
    let found = first.iter().zip(second).map(|(first, second)| conclude(first, second, options));
    let found = found.collect::<Result<_, BoundError>>()?;
    Ok((first, found))
}

/// What the first measurement of every kernel shows, and the points that the second one needs.
fn conclude_first(
    studies: Vec<Study>,
    options: &Options,
    traces: Option<&Traces>,
) -> Result<Vec<(Fine, Points)>, BoundError> {
    let mut found = Vec::new();
    for study in studies {
        let rounds: BTreeMap<Pc, u64> = limits(&study, options)?.iter().map(|l| (l.header, l.max)).collect();
        let measured = model(&study, &rounds, options)?;
        let plan = &study.kernel.plan;
        let list = wave::guaranteed(plan, &measured, &study.kernel.splitting)?;
        let sure: BTreeSet<Pc> = list.iter().map(|&i| plan.regions[measured.regions[i].0].branch).collect();
        for branch in &sure {
            let refused = study.times.refused_no_context.get(branch).copied().unwrap_or(0);
            if refused > 0 {
                return Err(refused!(
                    Contradiction,
                    help = "please report this",
                    "the split at {} was counted on, but no context was free for it {refused} times",
                    study.kernel.place(*branch)
                ));
            }
        }
        let bound = wave::bound(&measured, &list)?;
        let fixed = traces.and_then(|t| t.fixed_points(&study.kernel.name));
        let needed = match (fixed, options.all_points) {
            (Some(points), _) => points,
            (None, true) => Points::Divergent,
            (None, false) => plan.needed_points(&study.times, &sure, &rounds, &counted(&study.kernel)),
        };
        found.push((Fine { study, sure, bound, measured }, needed));
    }
    Ok(found)
}

/// Places that facts count.
fn counted(kernel: &Kernel) -> BTreeSet<Pc> {
    let terms = kernel.facts.facts.iter().flat_map(|f| &f.terms);
    terms.map(|&(_, Counted::Block(pc) | Counted::Rounds(pc))| pc).collect()
}

/// A kernel as measured with a segment for every block, for placing splits.
pub struct FineModel {
    kernel: Kernel,
    measured: Measured,
    means: Measured,
    pace: u64,
}

impl FineModel {
    /// The branches to mark with `contexts` contexts, and what a wave is expected to take then, by the longest times or
    /// by mean ones. `priced`: the two instructions of a mark cost time, too, which other paths may hide.
    pub fn best_places(
        &self,
        contexts: u32,
        by_means: bool,
        priced: bool,
    ) -> Result<(Vec<Place>, u64), SplitError> {
        let issue = if priced { self.pace } else { 0 };
        let measured = if by_means { &self.means } else { &self.measured };
        let split = &self.kernel.machine.split;
        let costs = (u64::from(split.split_cycles) + issue, u64::from(split.merge_cycles) + issue);
        let (chosen, placement) = self.kernel.plan.best_places(measured, contexts, costs)?;
        let places = chosen.iter().map(|&r| self.kernel.place(self.kernel.plan.regions[r].branch)).collect();
        Ok((places, placement.cycles))
    }
}

impl From<Fine> for FineModel {
    fn from(fine: Fine) -> FineModel {
        let Study { kernel, times, .. } = fine.study;
        let measured = kernel.plan.with_skips(fine.measured, &times);
        let means = kernel.plan.with_means(measured.clone(), &times);
        let pace = kernel.plan.pace(&times);
        FineModel { kernel, measured, means, pace }
    }
}

/// Bounds, and the models they were made from, of launches that run without splitting.
pub fn analyse_and_keep(
    runs: &Runs,
    options: &Options,
    progress: Progress,
) -> Result<(Vec<KernelBound>, Vec<FineModel>), BoundError> {
    let (first, found) = both(runs, options, Files::default(), progress)?;
    Ok((found, first.into_iter().map(FineModel::from).collect()))
}

/// The model of a wave, if there is all that is needed for it.
fn model(study: &Study, rounds: &BTreeMap<Pc, u64>, options: &Options) -> Result<Measured, BoundError> {
    let (kernel, times) = (&study.kernel, &study.times);
    if let Some(stray) = times.stray {
        return Err(refused!(
            Contradiction,
            help = "the control-flow graph misses this step; the bound would not cover it",
            "kernel {}: wave {} went from {} to {}",
            kernel.name,
            stray.wave,
            kernel.place(stray.from),
            kernel.place(stray.to)
        ));
    }
    let jump = if options.free_skips { 0 } else { kernel.machine.jump_cycles() };
    let never = kernel.never();
    if let Some((from, to)) = kernel.plan.refuted(times, &never) {
        let why = kernel.never.iter().find(|n| (n.from, n.to) == (from, to)).map_or("", |n| n.why.as_str());
        return Err(refused!(
            Contradiction,
            help = "please report this, unless the times are a trace of another launch",
            "kernel {}: a run went from {} to {}, which was proved impossible: {why}",
            kernel.name,
            kernel.place(from),
            kernel.place(to)
        ));
    }
    let facts = &kernel.facts.facts;
    let measured = kernel.plan.model(times, rounds, facts, options.unmeasured, jump, &never);
    if options.unmeasured == Unmeasured::Error && !measured.coverage.gaps.is_empty() {
        return Err(crate::gaps::error(kernel, &measured.coverage.gaps));
    }
    if let Some(&header) = kernel.plan.unbounded(&measured).first() {
        return Err(refused!(
            Limit,
            help = "give it a limit in the facts file: nothing is known about a loop no run entered",
            "kernel {}: no limit is known for the loop at {}",
            kernel.name,
            kernel.place(header)
        ));
    }
    Ok(measured)
}

fn measure(
    runs: &Runs,
    options: &Options,
    progress: Progress,
    what: &str,
    points: &BTreeMap<String, Points>,
    mut write: Option<&mut TraceWriter>,
) -> Result<Vec<Study>, BoundError> {
    let mut studies: Vec<Study> = Vec::new();
    let mut launch = 0;
    runs.each(&mut |launched: &Launched, go| {
        progress(what, launch);
        launch += 1;
        let at = match studies.iter().position(|s| s.kernel.name == launched.kernel) {
            Some(at) => at,
            None => {
                let points = points.get(launched.kernel).unwrap_or(&Points::Blocks);
                let kernel = Kernel::new(launched, points, facts_for(options, launched.kernel))?;
                let times = Times::new(&kernel.plan);
                studies.push(Study { kernel, times, launches: Vec::new(), source: Source::Runs });
                studies.len() - 1
            }
        };
        let study = &mut studies[at];
        study.kernel.prove(launched);
        let mut meter = Meter::new(&study.kernel.plan);
        if write.is_some() {
            meter = meter.with_rows(study.times.runs);
        }
        let outcome = go(RunOptions::default(), Some(&mut meter))?;
        let (times, rows) = (meter.times, meter.rows);
        if let (Some(write), Some(mut rows)) = (&mut write, rows) {
            let groups = groups(launched);
            for row in &mut rows {
                row.group = groups.get(row.wave as usize).copied().unwrap_or(0);
            }
            write.add(&study.kernel, &rows)?;
        }
        study.times.add(&times);
        launches::add(&mut study.launches, launched, outcome.cycles);
        Ok(())
    })?;
    Ok(studies)
}

/// The facts file for a kernel: the one that names it, or the only one.
pub(crate) fn facts_for<'a>(options: &'a Options, kernel: &str) -> Option<(&'a str, &'a str)> {
    let names = |text: &str| text.parse::<toml::Table>().ok()?.get("kernel")?.as_str().map(str::to_owned);
    let own = options.facts.iter().find(|(_, text)| names(text).as_deref() == Some(kernel));
    let open = || options.facts.iter().find(|(_, text)| names(text).is_none());
    own.or_else(open).map(|(name, text)| (name.as_str(), text.as_str()))
}

fn conclude(first: &Fine, mut study: Study, options: &Options) -> Result<KernelBound, BoundError> {
    let limits = limits(&study, options)?;
    let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
    let measured = model(&study, &rounds, options)?;
    let kernel = &study.kernel;
    let bound = wave::bound(&measured, &wave::among(&kernel.plan, &measured, &first.sure))?;
    let by_blocks = compose(&mut study.launches, &first.bound)?;
    compose(&mut study.launches, &bound)?;
    let report = report(first, &study, &limits, &measured, &bound, options);
    Ok(KernelBound { bound_by_blocks: by_blocks, ..report })
}
