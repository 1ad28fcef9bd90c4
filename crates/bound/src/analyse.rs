//! From launches to bounds: measure with a point at every block, find which points are needed, measure again with
//! those, build the model of a wave, bound it, and put the waves of every launch together (wcet.md, pipeline).

use crate::composed::ComposedKernel;
use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use crate::launched::Launched;
use crate::launches::{self, compose, groups};
use crate::limits::limits;
use crate::measured::{FirstMeasurement, MeasuredKernel};
use crate::options::{Options, Progress, facts_for};
use crate::report::report;
use crate::result::{CodePlace, KernelBound};
use crate::runs::Runs;
use crate::source::Source;
use crate::traces::{TraceFile, TraceWriter, Traces};
use std::collections::{BTreeMap, BTreeSet};
use wb_facts::{Counted, LoopFact};
use wb_isa::Pc;
use wb_sim::RunOptions;
use wb_trace::Observers;
use wb_wcet::measure::{Measured, Meter, Points, Times, Unmeasured};
use wb_wcet::split::SplitError;
use wb_wcet::wave;

/// Trace files: measurements to take instead of runs, and where to write the rows of the runs.
#[derive(Default)]
pub struct TraceFiles<'a> {
    pub traces: &'a [TraceFile],
    pub write: Option<&'a mut TraceWriter>,
}

/// Bounds of every kernel that is launched, in the order of their first launch.
pub fn analyse(runs: &Runs, options: &Options, progress: Progress) -> Result<Vec<KernelBound>, BoundError> {
    analyse_with(runs, options, TraceFiles::default(), progress)
}

/// The same with trace files: if there are any to read, nothing runs. Rows are written of the first measurement, which
/// has a point at every block: from them, both measurements can be taken again.
pub fn analyse_with(
    runs: &Runs,
    options: &Options,
    files: TraceFiles,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    measure_and_bound(runs, options, files, progress).map(|(_, found)| found)
}

/// What the first measurement showed, and the bounds.
fn measure_and_bound(
    runs: &Runs,
    options: &Options,
    files: TraceFiles,
    progress: Progress,
) -> Result<(Vec<FirstMeasurement>, Vec<KernelBound>), BoundError> {
    let mut traces = (!files.traces.is_empty()).then(|| Traces::new(files.traces));
    let measured_kernels = match &mut traces {
        Some(traces) => traces.first(runs, options)?,
        None => {
            let pass = Pass { what: "measuring every block", points: &BTreeMap::new(), limits: None };
            measure(runs, options, progress, &pass, files.write)?
        }
    };
    let first = conclude_first(measured_kernels, options, traces.as_ref())?;
    let name = |f: &FirstMeasurement| f.measured_kernel.kernel.name.clone();
    let points = first.iter().map(|(f, points)| (name(f), points.clone())).collect();
    let second = match &traces {
        Some(traces) => traces.again(runs, options, &points)?,
        None => {
            let seen = |f: &FirstMeasurement| Ok((name(f), limits(&f.measured_kernel, options)?));
            let limits = first.iter().map(|(f, _)| seen(f)).collect::<Result<_, BoundError>>()?;
            let what = "measuring the points that are needed";
            let pass = Pass { what, points: &points, limits: Some(&limits) };
            measure(runs, options, progress, &pass, None)?
        }
    };
    let first: Vec<FirstMeasurement> = first.into_iter().map(|(first, _)| first).collect();
    let found = first.iter().zip(second).map(|(first, second)| conclude(first, second, options));
    let found = found.collect::<Result<_, BoundError>>()?;
    Ok((first, found))
}

/// What the first measurement of every kernel shows, and the points that the second one needs.
fn conclude_first(
    measured_kernels: Vec<MeasuredKernel>,
    options: &Options,
    traces: Option<&Traces>,
) -> Result<Vec<(FirstMeasurement, Points)>, BoundError> {
    let mut found = Vec::new();
    for measured_kernel in measured_kernels {
        let rounds: BTreeMap<Pc, u64> =
            limits(&measured_kernel, options)?.iter().map(|l| (l.header, l.max)).collect();
        let measured = model(&measured_kernel, &rounds, options)?;
        let plan = &measured_kernel.kernel.plan;
        let list = wave::guaranteed(plan, &measured, &measured_kernel.kernel.counted_splitting())?;
        let sure: BTreeSet<Pc> = list.iter().map(|&i| plan.regions[measured.regions[i].0].branch).collect();
        for branch in &sure {
            let refused = measured_kernel.times.refused_no_context.get(branch).copied().unwrap_or(0);
            if refused > 0 {
                return Err(refused!(
                    Contradiction,
                    help = "please report this",
                    "the split at {} was counted on, but no context was free for it {refused} times",
                    measured_kernel.kernel.place(*branch)
                ));
            }
        }
        let one_sided = measured_kernel.kernel.one_sided(&measured);
        let bound = wave::bound(&measured, &list, &one_sided)?;
        let fixed = traces.and_then(|t| t.fixed_points(&measured_kernel.kernel.name));
        let needed = match (fixed, options.all_points) {
            (Some(points), _) => points,
            (None, true) => Points::Divergent,
            (None, false) => {
                // Points that are kept for a mask are worth it only if that makes the bound smaller.
                let gains = |i: &&usize| {
                    let rest: Vec<usize> = one_sided.iter().copied().filter(|o| o != *i).collect();
                    wave::bound(&measured, &list, &rest).is_ok_and(|b| b.cycles > bound.cycles)
                };
                let branch = |&i: &usize| plan.regions[measured.regions[i].0].branch;
                let one_sided = one_sided.iter().filter(gains).map(branch).collect();
                let counted = counted(&measured_kernel.kernel);
                plan.needed_points(&measured_kernel.times, &sure, &one_sided, &rounds, &counted)
            }
        };
        found.push((FirstMeasurement { measured_kernel, sure, bound, measured }, needed));
    }
    Ok(found)
}

/// Places that facts count.
fn counted(kernel: &AnalysedKernel) -> BTreeSet<Pc> {
    let terms = kernel.facts.facts.iter().flat_map(|f| &f.terms);
    terms.map(|&(_, Counted::Block(pc) | Counted::Rounds(pc))| pc).collect()
}

/// A kernel as measured with a segment for every block, for placing splits.
pub struct PlacementModel {
    kernel: AnalysedKernel,
    measured: Measured,
    means: Measured,
    pace: u64,
}

impl PlacementModel {
    /// The branches to mark with `contexts` contexts, and what a wave is expected to take then, by the longest times or
    /// by mean ones. `priced`: the two instructions of a mark cost time, too, which other paths may hide.
    pub fn best_places(
        &self,
        contexts: u32,
        by_means: bool,
        priced: bool,
    ) -> Result<(Vec<CodePlace>, u64), SplitError> {
        let issue = if priced { self.pace } else { 0 };
        let measured = if by_means { &self.means } else { &self.measured };
        let split = &self.kernel.machine.split;
        let costs = (u64::from(split.split_cycles) + issue, u64::from(split.merge_cycles) + issue);
        let (chosen, placement) = self.kernel.plan.best_places(measured, contexts, costs)?;
        let places = chosen.iter().map(|&r| self.kernel.place(self.kernel.plan.regions[r].branch)).collect();
        Ok((places, placement.cycles))
    }
}

impl From<FirstMeasurement> for PlacementModel {
    fn from(first: FirstMeasurement) -> PlacementModel {
        let MeasuredKernel { kernel, times, .. } = first.measured_kernel;
        let measured = kernel.plan.with_skips(first.measured, &times);
        let means = kernel.plan.with_means(measured.clone(), &times);
        let pace = kernel.plan.pace(&times);
        PlacementModel { kernel, measured, means, pace }
    }
}

/// Bounds, and the models they were made from, of launches that run without splitting.
pub fn analyse_and_keep(
    runs: &Runs,
    options: &Options,
    progress: Progress,
) -> Result<(Vec<KernelBound>, Vec<PlacementModel>), BoundError> {
    let (first, found) = measure_and_bound(runs, options, TraceFiles::default(), progress)?;
    Ok((found, first.into_iter().map(PlacementModel::from).collect()))
}

/// The model of a wave, if there is all that is needed for it.
fn model(
    measured_kernel: &MeasuredKernel,
    rounds: &BTreeMap<Pc, u64>,
    options: &Options,
) -> Result<Measured, BoundError> {
    let (kernel, times) = (&measured_kernel.kernel, &measured_kernel.times);
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
    if let Some(mixed) = times.mixed {
        return Err(kernel.mixed(mixed));
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

/// One measurement of all launches.
struct Pass<'a> {
    what: &'a str,
    points: &'a BTreeMap<String, Points>,
    /// Limits of loops by kernel: with them ways are weighed, too.
    limits: Option<&'a BTreeMap<String, Vec<LoopFact>>>,
}

fn measure(
    runs: &Runs,
    options: &Options,
    progress: Progress,
    pass: &Pass,
    mut write: Option<&mut TraceWriter>,
) -> Result<Vec<MeasuredKernel>, BoundError> {
    let mut measured_kernels: Vec<MeasuredKernel> = Vec::new();
    let mut launch = 0;
    runs.each(&mut |launched: &Launched, go| {
        progress(pass.what, launch);
        launch += 1;
        let at = match measured_kernels.iter().position(|s| s.kernel.name == launched.kernel) {
            Some(at) => at,
            None => {
                let points = pass.points.get(launched.kernel).unwrap_or(&Points::Blocks);
                let kernel = AnalysedKernel::new(launched, points, facts_for(options, launched.kernel))?;
                let times = Times::new(&kernel.plan);
                measured_kernels.push(MeasuredKernel {
                    kernel,
                    times,
                    launches: Vec::new(),
                    source: Source::Runs,
                    composed: ComposedKernel::default(),
                });
                measured_kernels.len() - 1
            }
        };
        let measured_kernel = &mut measured_kernels[at];
        let inferred = measured_kernel.kernel.prove(launched);
        let mut meter = Meter::new(&measured_kernel.kernel.plan);
        if write.is_some() {
            meter = meter.with_rows(measured_kernel.times.runs);
        }
        let limits = pass.limits.and_then(|l| l.get(launched.kernel));
        let mut ways = limits.and_then(|_| measured_kernel.composed.follow(launched));
        let mut observers = Observers::new();
        observers.push(&mut meter);
        if let Some(ways) = &mut ways {
            observers.push(ways);
        }
        let outcome = go(RunOptions::default(), Some(&mut observers))?;
        drop(observers);
        let (times, rows) = (meter.times, meter.rows);
        if let (Some(write), Some(mut rows)) = (&mut write, rows) {
            let groups = groups(launched);
            for row in &mut rows {
                row.group = groups.get(row.wave as usize).copied().unwrap_or(0);
            }
            write.add(&measured_kernel.kernel, &rows)?;
        }
        if let (Some(inferred), Some(limits), Some(ways)) = (&inferred, limits, &ways) {
            let known = (inferred, limits.as_slice());
            measured_kernel.composed.add(launched, options, known, ways, outcome.cycles);
        }
        measured_kernel.times.add(&times);
        launches::add(&mut measured_kernel.launches, launched, outcome.cycles);
        Ok(())
    })?;
    Ok(measured_kernels)
}

fn conclude(
    first: &FirstMeasurement,
    mut measured_kernel: MeasuredKernel,
    options: &Options,
) -> Result<KernelBound, BoundError> {
    let limits = limits(&measured_kernel, options)?;
    let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
    let measured = model(&measured_kernel, &rounds, options)?;
    let kernel = &measured_kernel.kernel;
    let sure = wave::among(&kernel.plan, &measured, &first.sure);
    let bound = wave::bound(&measured, &sure, &kernel.one_sided(&measured))?;
    let by_blocks = compose(&mut measured_kernel.launches, &first.bound)?;
    compose(&mut measured_kernel.launches, &bound)?;
    let report = report(first, &measured_kernel, &limits, &measured, &bound, options);
    Ok(KernelBound { bound_by_blocks: by_blocks, ..report })
}
