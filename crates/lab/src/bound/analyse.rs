//! From launches to bounds: measure with a point at every block, find which points are needed, measure again with
//! those, build the model of a wave, bound it, and put the waves of every launch together (wcet.md, pipeline).

use super::kernel::{Kernel, needs};
use super::parts;
use super::result::{CoverageRow, KernelBound, LaunchRow, LoopRow, Place, Status, StepRow};
use super::runs::{Launched, Runs, last_part};
use super::what_if;
use miette::{IntoDiagnostic, Report, miette};
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::Limit;
use wb_isa::{NO_PC, Pc};
use wb_program::facts::{Counted, LoopFact, Origin};
use wb_sim::{Launch, RunOptions};
use wb_wcet::kernel::{Seats, sound_kernel};
use wb_wcet::measure::{END, Gap, Measured, Meter, Points, START, Times, Unmeasured};
use wb_wcet::paper::thesis::PathTime;
use wb_wcet::wave::{self, WaveBound};

/// What the user wants to know, and what to accept.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Facts files: name and text.
    pub facts: Vec<(String, String)>,
    /// Take limits of loops that have no other from the runs.
    pub facts_from_trace: bool,
    pub unmeasured: Unmeasured,
    /// Keep a point at every divergent branch, as THESIS does, even where fewer would do.
    pub all_points: bool,
    /// Find out what each split brings.
    pub what_if: bool,
    /// Source files that are not beside the program: name and text.
    pub sources: Vec<(String, String)>,
}

/// Tells how far the work is: what is being done, launches so far.
pub type Progress<'a> = &'a mut dyn FnMut(&str, usize);

/// A kernel and what was measured of it.
pub(super) struct Study {
    pub kernel: Kernel,
    pub times: Times,
    pub launches: Vec<LaunchRow>,
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
    let first = fine(runs, options, progress)?;
    let points = first.iter().map(|(f, points)| (f.study.kernel.name.clone(), points.clone())).collect();
    let second = measure(runs, options, progress, "measuring the points that are needed", &points)?;
    first.iter().zip(second).map(|((first, _), second)| conclude(first, second, options)).collect()
}

/// The first measurement of every kernel, and the points that the second one needs.
pub(super) fn fine(
    runs: &Runs,
    options: &Options,
    progress: Progress,
) -> Result<Vec<(Fine, Points)>, Report> {
    let studies = measure(runs, options, progress, "measuring every block", &BTreeMap::new())?;
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
        let needed = match options.all_points {
            true => Points::Divergent,
            false => plan.needed_points(&study.times, &sure, &rounds, &counted(&study.kernel)),
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
    let measured = kernel.plan.model(times, rounds, &kernel.facts.facts, options.unmeasured);
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
                studies.push(Study { kernel, times, launches: Vec::new() });
                studies.len() - 1
            }
        };
        let study = &mut studies[at];
        study.kernel.prove(launched);
        let mut meter = Meter::new(&study.kernel.plan);
        let outcome = go(RunOptions::default(), Some(&mut meter))?;
        let times = meter.times;
        study.times.add(&times);
        study.launches.push(launch_row(launched, outcome.cycles));
        Ok(())
    })?;
    Ok(studies)
}

/// The facts file for a kernel: the one that names it, or the only one.
fn facts_for<'a>(options: &'a Options, kernel: &str) -> Option<(&'a str, &'a str)> {
    let names = |text: &str| text.parse::<toml::Table>().ok()?.get("kernel")?.as_str().map(str::to_owned);
    let own = options.facts.iter().find(|(_, text)| names(text).as_deref() == Some(kernel));
    let open = || options.facts.iter().find(|(_, text)| names(text).is_none());
    own.or_else(open).map(|(name, text)| (name.as_str(), text.as_str()))
}

fn launch_row(launched: &Launched, observed: u64) -> LaunchRow {
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
fn limits(study: &Study, options: &Options) -> Result<Vec<LoopFact>, Report> {
    let kernel = &study.kernel;
    let mut known = kernel.facts.clone();
    known.add(kernel.proved.clone().unwrap_or_default());
    let mut limits = Vec::new();
    let mut missing = Vec::new();
    for (l, seen) in kernel.plan.loops.iter().zip(&study.times.rounds) {
        match (known.bound(l.header), seen) {
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
            "write a facts file with\n\nkernel = \"{}\"\nchecksum = \"{}\"\n{}\n\n(`wavebound facts` writes it for you) and give it with --facts; --facts-from-trace takes what the runs do, marked observed",
            kernel.name,
            kernel.checksum,
            lines.join("\n")
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
    let mut by_blocks = 0;
    for launch in &mut study.launches {
        let composed = |cycles| {
            let wave = PathTime { start: 0, cycles };
            sound_kernel(launch.groups, launch.seats, &[wave]).into_diagnostic()
        };
        by_blocks += composed(first.bound.cycles)?.cycles;
        let composed = composed(bound.cycles)?;
        (launch.rounds, launch.bound) = (composed.rounds, composed.cycles);
    }
    let report = report(first, &study, &limits, &measured, &bound, options);
    Ok(KernelBound { bound_by_blocks: by_blocks, ..report })
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

fn report(
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
        || !measured.coverage.gaps.is_empty() && options.unmeasured == Unmeasured::Exclude;
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
        ratio: bound_sum as f64 / observed.max(1) as f64,
        status: if guessed { Status::Observed } else { Status::Hybrid },
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
        assumptions: super::assumptions::list(kernel, measured, limits, options, fine.sure.len()),
        inputs: vec![
            (format!("kernel {} of {}", kernel.name, kernel.file), kernel.checksum.clone()),
            (format!("machine {}", kernel.machine.name), hash(kernel.machine.to_toml().as_bytes())),
        ]
        .into_iter()
        .chain(options.facts.iter().map(|(n, t)| (format!("facts {}", last_part(n)), hash(t.as_bytes()))))
        .collect(),
        certificate: super::certificate(kernel, bound),
    }
}

fn hash(bytes: &[u8]) -> String {
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
