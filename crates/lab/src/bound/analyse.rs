//! From launches to bounds: measure with a point at every block, find which points are needed, measure again with
//! those, build the model of a wave, bound it, and put the waves of every launch together (wcet.md, pipeline).

use super::kernel::{Kernel, needs};
use super::parts;
use super::result::{CoverageRow, KernelBound, LaunchRow, LoopRow, Place, Status, StepRow};
use super::rows::{TraceFile, TraceWriter};
use super::runs::{Launched, Runs, last_part};
use super::trace::Traces;
use super::what_if;
use miette::{IntoDiagnostic, Report, miette};
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::{Limit, Machine, Reconverge};
use wb_isa::{NO_PC, Pc};
use wb_program::facts::{Counted, LoopFact, Origin};
use wb_sim::{Launch, RunOptions};
use wb_wcet::kernel::{Seats, sound_kernel};
use wb_wcet::measure::{END, Gap, Measured, Meter, Points, START, Times, Unmeasured};
use wb_wcet::paper::thesis::PathTime;
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
}

/// Trace files: measurements to take instead of runs, and where to write the rows of the runs.
#[derive(Default)]
pub struct Files<'a> {
    pub traces: &'a [TraceFile],
    pub write: Option<&'a mut TraceWriter>,
}

/// Where the times of a kernel come from.
#[derive(Clone, Debug, Default)]
pub(super) enum Source {
    #[default]
    Runs,
    /// Name and hash of each file; pairs of points with ways that cannot be told apart.
    Trace {
        files: Vec<(String, String)>,
        alike: usize,
    },
    Table {
        name: String,
        hash: String,
    },
}

impl Source {
    fn name(&self) -> &'static str {
        match self {
            Source::Runs => "measured",
            Source::Trace { .. } => "trace",
            Source::Table { .. } => "given",
        }
    }

    pub fn meaning(&self) -> &'static str {
        match self {
            Source::Runs => "longest measured of each segment",
            Source::Trace { .. } => "longest of each segment in a trace",
            Source::Table { .. } => "given for each basic block",
        }
    }

    /// What it rests on, with hashes.
    fn inputs(&self) -> Vec<(String, String)> {
        match self {
            Source::Runs => Vec::new(),
            Source::Trace { files, .. } => {
                files.iter().map(|(n, h)| (format!("trace {n}"), h.clone())).collect()
            }
            Source::Table { name, hash } => vec![(format!("times {name}"), hash.clone())],
        }
    }
}

/// Tells how far the work is: what is being done, launches so far.
pub type Progress<'a> = &'a mut dyn FnMut(&str, usize);

/// A kernel and what was measured of it.
pub(super) struct Study {
    pub kernel: Kernel,
    pub times: Times,
    pub launches: Vec<LaunchRow>,
    pub source: Source,
}

/// What the first measurement showed.
pub(super) struct Fine {
    pub study: Study,
    /// Branches whose split can be counted on.
    pub sure: BTreeSet<Pc>,
    /// The wave's bound with a segment for every block, which assumes least about how times go together.
    pub bound: WaveBound,
    pub measured: Measured,
}

/// Bounds of every kernel that is launched, in the order of their first launch.
pub fn analyse(runs: &Runs, options: &Options, progress: Progress) -> Result<Vec<KernelBound>, Report> {
    analyse_with(runs, options, Files::default(), progress)
}

/// The same with trace files: if there are any to read, nothing runs. Rows are written of the first measurement, which
/// has a point at every block: from them, both measurements can be taken again.
pub fn analyse_with(
    runs: &Runs,
    options: &Options,
    files: Files,
    progress: Progress,
) -> Result<Vec<KernelBound>, Report> {
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
    first.iter().zip(second).map(|((first, _), second)| conclude(first, second, options)).collect()
}

/// What the first measurement of every kernel shows, and the points that the second one needs.
fn conclude_first(
    studies: Vec<Study>,
    options: &Options,
    traces: Option<&Traces>,
) -> Result<Vec<(Fine, Points)>, Report> {
    let mut found = Vec::new();
    for study in studies {
        let rounds: BTreeMap<Pc, u64> = limits(&study, options)?.iter().map(|l| (l.header, l.max)).collect();
        let measured = model(&study, &rounds, options)?;
        let plan = &study.kernel.plan;
        let list = wave::guaranteed(plan, &measured, &study.kernel.splitting).into_diagnostic()?;
        let sure: BTreeSet<Pc> = list.iter().map(|&i| plan.regions[measured.regions[i].0].branch).collect();
        for branch in &sure {
            let refused = study.times.refused_no_context.get(branch).copied().unwrap_or(0);
            if refused > 0 {
                return Err(miette!(
                    help = "please report this",
                    "the split at {} was counted on, but no context was free for it {refused} times",
                    study.kernel.place(*branch)
                ));
            }
        }
        let bound = wave::bound(&measured, &list).into_diagnostic()?;
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

/// Models of all kernels of launches that run without splitting.
pub fn fine_models(runs: &Runs, options: &Options, progress: Progress) -> Result<Vec<FineModel>, Report> {
    let studies = measure(runs, options, progress, "measuring every block", &BTreeMap::new(), None)?;
    studies
        .into_iter()
        .map(|study| {
            let rounds: BTreeMap<Pc, u64> =
                limits(&study, options)?.iter().map(|l| (l.header, l.max)).collect();
            let measured = model(&study, &rounds, options)?;
            let measured = study.kernel.plan.with_skips(measured, &study.times);
            let means = study.kernel.plan.with_means(measured.clone(), &study.times);
            let pace = study.kernel.plan.pace(&study.times);
            Ok(FineModel { kernel: study.kernel, measured, means, pace })
        })
        .collect()
}

/// A path of a wave can go round a loop more often than any of its lanes: paths in different rounds become one.
fn merges_across_rounds(machine: &Machine) -> bool {
    let usual = matches!(machine.divergence.reconverge, Reconverge::Default | Reconverge::Never);
    machine.split.contexts > 0
        && match machine.divergence.mechanism.as_str() {
            "dws" => true,
            "thesis" => !usual,
            _ => false,
        }
}

/// The model of a wave, if there is all that is needed for it.
fn model(study: &Study, rounds: &BTreeMap<Pc, u64>, options: &Options) -> Result<Measured, Report> {
    let (kernel, times) = (&study.kernel, &study.times);
    if let Some(stray) = times.stray {
        return Err(miette!(
            help = "the control-flow graph misses this step; the bound would not cover it",
            "kernel {}: wave {} went from {} to {}",
            kernel.name,
            stray.wave,
            kernel.place(stray.from),
            kernel.place(stray.to)
        ));
    }
    let jump = if options.free_skips { 0 } else { kernel.machine.jump_cycles() };
    let measured = kernel.plan.model(times, rounds, &kernel.facts.facts, options.unmeasured, jump);
    if options.unmeasured == Unmeasured::Error && !measured.coverage.gaps.is_empty() {
        return Err(gaps(kernel, &measured.coverage.gaps));
    }
    if let Some(&header) = kernel.plan.unbounded(&measured).first() {
        return Err(miette!(
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
) -> Result<Vec<Study>, Report> {
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
        study.launches.push(launch_row(launched, outcome.cycles));
        Ok(())
    })?;
    Ok(studies)
}

/// The group of each wave.
fn groups(launched: &Launched) -> Vec<u32> {
    let lanes = launched.machine.core.lanes.max(1);
    let waves: Vec<u32> = match launched.launch {
        Launch::Groups(g) => (0..g.count).map(|i| g.threads(i).div_ceil(lanes)).collect(),
        Launch::Grid { threads, group } => {
            let group = group.max(1);
            let size = |i: u32| (threads - i * group).min(group);
            (0..threads.div_ceil(group)).map(|i| size(i).div_ceil(lanes)).collect()
        }
        Launch::Boot | Launch::Cores { .. } => Vec::new(),
    };
    waves.iter().zip(0..).flat_map(|(&n, i)| std::iter::repeat_n(i, n as usize)).collect()
}

/// The facts file for a kernel: the one that names it, or the only one.
pub(super) fn facts_for<'a>(options: &'a Options, kernel: &str) -> Option<(&'a str, &'a str)> {
    let names = |text: &str| text.parse::<toml::Table>().ok()?.get("kernel")?.as_str().map(str::to_owned);
    let own = options.facts.iter().find(|(_, text)| names(text).as_deref() == Some(kernel));
    let open = || options.facts.iter().find(|(_, text)| names(text).is_none());
    own.or_else(open).map(|(name, text)| (name.as_str(), text.as_str()))
}

pub(super) fn launch_row(launched: &Launched, observed: u64) -> LaunchRow {
    let (needs, groups) = needs(launched.launch, launched.machine);
    let seats = Seats::of(launched.machine, needs);
    let at_once = seats.cores * seats.groups_per_core;
    let limit = match launched.machine.occupancy(needs).limit {
        Limit::Slots => "wave slots",
        Limit::VectorRegisters => "vector registers",
        Limit::ScalarRegisters => "scalar registers",
        Limit::LocalMemory => "local memory",
        Limit::Barriers => "barriers",
    };
    let group_threads = match launched.launch {
        Launch::Groups(g) => g.size,
        _ => launched.machine.core.lanes,
    };
    LaunchRow {
        groups,
        waves_per_group: needs.waves_per_group,
        group_threads,
        seats,
        at_once,
        limit: limit.into(),
        rounds: 0,
        bound: 0,
        observed,
    }
}

/// The limit of every loop of the kernel that was entered, or an error that says what to write.
pub(super) fn limits(study: &Study, options: &Options) -> Result<Vec<LoopFact>, Report> {
    let kernel = &study.kernel;
    let given = matches!(study.source, Source::Table { .. });
    let mut known = kernel.facts.clone();
    known.add(kernel.proved.clone().unwrap_or_default());
    let mut limits = Vec::new();
    let mut missing = Vec::new();
    for (l, seen) in kernel.plan.loops.iter().zip(&study.times.rounds) {
        match (known.bound(l.header), seen) {
            (Some(fact), Some((_, most)))
                if fact.origin == Origin::Proved && merges_across_rounds(&kernel.machine) =>
            {
                limits.push(LoopFact {
                    max: fact.max.max(*most),
                    origin: Origin::Observed,
                    why: format!(
                        "{}; but that is for each lane, and paths in different rounds can merge: seen {most}, not proven",
                        fact.why
                    ),
                    ..fact.clone()
                });
            }
            (Some(fact), Some((_, most))) if *most > fact.max => {
                return Err(miette!(
                    help = "correct the limit; the loop is counted by how often it goes back to its header",
                    "the loop at {} goes round at most {} times ({}: {}), but a run went round {most} times",
                    kernel.place(l.header),
                    fact.max,
                    fact.origin.name(),
                    fact.why
                ));
            }
            (Some(fact), _) => limits.push(fact.clone()),
            (None, Some((_, most))) if options.facts_from_trace => limits.push(LoopFact {
                header: l.header,
                max: *most,
                origin: Origin::Observed,
                why: format!("seen in {} runs of {} waves; not proven", study.times.runs, study.times.waves),
            }),
            (None, Some(_)) => missing.push(l.header),
            (None, None) if given => missing.push(l.header),
            // Never entered: its edges are a gap, or accepted.
            (None, None) => {}
        }
    }
    if missing.is_empty() {
        return Ok(limits);
    }
    let lines: Vec<String> = missing
        .iter()
        .map(|&pc| {
            format!("[[loop]]\nat = \"{:#x}\"  # {}\nmax = …", kernel.place(pc).addr, kernel.place(pc))
        })
        .collect();
    let places: Vec<String> = missing.iter().map(|&pc| kernel.place(pc).to_string()).collect();
    Err(miette!(
        help = format!(
            "write a facts file with\n\nkernel = \"{}\"\nchecksum = \"{}\"\n{}\n\n(`wavebound facts` writes it for you) and give it with --facts{}",
            kernel.name,
            kernel.checksum,
            lines.join("\n"),
            if given { "" } else { "; --facts-from-trace takes what the runs do, marked observed" }
        ),
        "kernel {}: no limit is known for the loop{} at {}",
        kernel.name,
        if missing.len() == 1 { "" } else { "s" },
        places.join(", ")
    ))
}

fn conclude(first: &Fine, mut study: Study, options: &Options) -> Result<KernelBound, Report> {
    let limits = limits(&study, options)?;
    let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
    let measured = model(&study, &rounds, options)?;
    let kernel = &study.kernel;
    let bound =
        wave::bound(&measured, &wave::among(&kernel.plan, &measured, &first.sure)).into_diagnostic()?;
    let by_blocks = compose(&mut study.launches, &first.bound)?;
    compose(&mut study.launches, &bound)?;
    let report = report(first, &study, &limits, &measured, &bound, options);
    Ok(KernelBound { bound_by_blocks: by_blocks, ..report })
}

/// Puts the waves of every launch together; returns the sum.
pub(super) fn compose(launches: &mut [LaunchRow], bound: &WaveBound) -> Result<u64, Report> {
    let mut sum = 0u64;
    for launch in launches {
        let wave = PathTime { start: 0, cycles: bound.cycles };
        let composed = sound_kernel(launch.groups, launch.seats, &[wave]).into_diagnostic()?;
        (launch.rounds, launch.bound) = (composed.rounds, composed.cycles);
        sum = sum.saturating_add(composed.cycles);
    }
    Ok(sum)
}

fn gaps(kernel: &Kernel, gaps: &[Gap]) -> Report {
    const SHOWN: usize = 8;
    let mut lines: Vec<String> = gaps
        .iter()
        .take(SHOWN)
        .map(|g| {
            let text = kernel.code.get(&g.from).map_or("", |c| c.1.as_str());
            format!("  from {} `{text}` to {}", kernel.place(g.from), end_or(kernel, g.to))
        })
        .collect();
    if gaps.len() > SHOWN {
        lines.push(format!("  and {} more", gaps.len() - SHOWN));
    }
    miette!(
        help = "add runs whose inputs go there; or accept it: --unmeasured exclude (they never happen) or --unmeasured CYCLES (the most such a way takes)",
        "kernel {}: no run took {} way{}, so nothing is known about the time there:\n{}",
        kernel.name,
        gaps.len(),
        if gaps.len() == 1 { "" } else { "s" },
        lines.join("\n")
    )
}

fn end_or(kernel: &Kernel, pc: Pc) -> String {
    if pc == NO_PC { "the end".into() } else { kernel.place(pc).to_string() }
}

pub(super) fn report(
    fine: &Fine,
    study: &Study,
    limits: &[LoopFact],
    measured: &Measured,
    bound: &WaveBound,
    options: &Options,
) -> KernelBound {
    let (kernel, times, first) = (&study.kernel, &study.times, &fine.study);
    let node = |n: usize| (n != START && n != END).then(|| kernel.place(kernel.plan.nodes[n]));
    let ways: Vec<Vec<usize>> = (0..kernel.plan.edges.len()).map(|e| kernel.plan.blocks_of(e)).collect();
    let worst: Vec<StepRow> = bound
        .shares
        .iter()
        .map(|s| {
            let (edge, time) = (kernel.plan.edges[s.edge], times.edges[s.edge]);
            StepRow {
                from: node(edge.from),
                to: node(edge.to),
                blocks: ways[s.edge].clone(),
                count: s.count,
                cycles: s.cycles,
                mean: if time.count == 0 { 0.0 } else { time.sum as f64 / time.count as f64 },
                samples: time.count,
                total: s.count * s.cycles,
            }
        })
        .collect();
    let whole = |pc: Pc| kernel.plan.loops.iter().any(|l| l.header == pc && l.node.is_none());
    let seen: BTreeMap<Pc, u64> =
        kernel.plan.loops.iter().zip(&times.rounds).filter_map(|(l, r)| Some((l.header, (*r)?.1))).collect();
    let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
    let loops = limits.iter().map(|l| LoopRow {
        header: kernel.place(l.header),
        max: l.max,
        origin: l.origin.name(),
        why: l.why.clone(),
        observed: seen.get(&l.header).copied(),
        whole: whole(l.header),
    });
    let bound_sum: u64 = study.launches.iter().map(|l| l.bound).sum();
    let observed: u64 = study.launches.iter().map(|l| l.observed).sum();
    let guessed = limits.iter().any(|l| l.origin == Origin::Observed)
        || !measured.coverage.gaps.is_empty() && options.unmeasured == Unmeasured::Exclude
        || kernel.plan.calls.iter().any(|c| kernel.winds(c.1))
            && !matches!(study.source, Source::Table { .. });
    let coverage = &measured.coverage;
    let blocks = parts::blocks(first, study, &worst, &ways, bound);
    KernelBound {
        kernel: kernel.name.clone(),
        file: kernel.file.clone(),
        machine: kernel.machine.name.clone(),
        clock_mhz: kernel.machine.clock_mhz,
        mechanism: kernel.machine.divergence.mechanism.clone(),
        contexts: kernel.machine.split.contexts,
        bound: bound_sum,
        observed,
        ratio: if observed == 0 { 0.0 } else { bound_sum as f64 / observed as f64 },
        status: match &study.source {
            _ if guessed => Status::Observed,
            Source::Table { .. } if limits.iter().all(|l| l.origin == Origin::Proved) => Status::Proved,
            _ => Status::Hybrid,
        },
        times: study.source.name(),
        wave_bound: bound.cycles,
        wave_observed: times.longest_wave,
        wave_bound_by_blocks: fine.bound.cycles,
        bound_by_blocks: 0,
        start_delay: times.start_delay,
        launches: study.launches.clone(),
        loops: loops.collect(),
        edges: parts::edges(first, study, &rounds, bound),
        sources: parts::sources(kernel, &blocks, &options.sources),
        blocks,
        worst,
        branches: what_if::branches(fine, options),
        splits: times.splits,
        refused: times.refused.values().sum(),
        most_paths: times.most_paths.max(1),
        coverage: CoverageRow {
            runs: times.runs,
            waves: times.waves,
            ways: coverage.edges,
            steps: first.kernel.plan.coverage(&first.times).steps,
            never_skipped: coverage.never_skipped.len(),
            gaps: coverage
                .gaps
                .iter()
                .map(|g| (kernel.place(g.from), (g.to != NO_PC).then(|| kernel.place(g.to))))
                .collect(),
            points: (first.kernel.plan.nodes.len() - 2, kernel.plan.nodes.len() - 2),
        },
        paper: super::paper::rows(study_numbers(study), &first.kernel, &fine.measured, &first.times),
        assumptions: super::assumptions::list(
            kernel,
            measured,
            limits,
            options,
            &study.source,
            fine.sure.len(),
        ),
        inputs: vec![
            (format!("kernel {} of {}", kernel.name, kernel.file), kernel.checksum.clone()),
            (format!("machine {}", kernel.machine.name), hash(kernel.machine.to_toml().as_bytes())),
        ]
        .into_iter()
        .chain(options.facts.iter().map(|(n, t)| (format!("facts {}", last_part(n)), hash(t.as_bytes()))))
        .chain(study.source.inputs())
        .collect(),
        certificate: super::certificate(kernel, bound, &study.source),
        lp: wb_wcet::ipet::lp_text(&bound.model).unwrap_or_default(),
    }
}

pub(super) fn hash(bytes: &[u8]) -> String {
    format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

/// The launch that takes longest, for the published formulas.
fn study_numbers(study: &Study) -> &LaunchRow {
    let longest = study.launches.iter().max_by_key(|l| (l.rounds, l.groups));
    longest.expect("a study has at least the launch it began with")
}

impl Place {
    /// The source line, or the address.
    pub fn short(&self) -> String {
        if self.source.is_empty() { format!("{:#x}", self.addr) } else { self.source.clone() }
    }
}
