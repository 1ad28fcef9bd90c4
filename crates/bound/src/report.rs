//! Puts together what an analysis found: the rows that text, JSON and HTML print, the status, the inputs.

use crate::certify::Certified;
use crate::measured::{FirstMeasurement, MeasuredKernel};
use crate::options::Options;
use crate::result::{CoverageRow, ExactRow, KernelBound, LaunchRow, LoopRow, Status, StepRow};
use crate::source::{Source, hash};
use crate::{shares, what_if};
use std::collections::BTreeMap;
use wb_facts::{LoopFact, Origin};
use wb_isa::{NO_PC, Pc};
use wb_jobs::last_part;
use wb_wcet::measure::{END, Gap, Measured, START, Unmeasured};
use wb_wcet::wave::{Share, WaveBound};

/// `measured_kernel`, `limits`, `measured` and `bound` are of the second measurement.
pub(crate) fn report(
    first: &FirstMeasurement,
    measured_kernel: &MeasuredKernel,
    limits: &[LoopFact],
    measured: &Measured,
    bound: &WaveBound,
    options: &Options,
) -> KernelBound {
    let by_blocks = &first.measured_kernel;
    let (kernel, times, source) = (&measured_kernel.kernel, &measured_kernel.times, &measured_kernel.source);
    let ways: Vec<Vec<usize>> = (0..kernel.plan.edges.len()).map(|e| kernel.plan.blocks_of(e)).collect();
    let worst = worst_way(measured_kernel, &ways, bound);
    let rounds: BTreeMap<Pc, u64> = limits.iter().map(|l| (l.header, l.max)).collect();
    let bound_sum: u64 = measured_kernel.launches.iter().map(|l| l.bound).sum();
    let observed: u64 = measured_kernel.launches.iter().map(|l| l.observed).sum();
    let (runs, distinct_inputs) = crate::inputs::counted(source, &measured_kernel.launches);
    let blocks = shares::blocks(by_blocks, measured_kernel, &worst, &ways, bound);
    let status = status(measured_kernel, limits, measured, options);
    let certified = Certified {
        measured_kernel,
        measured,
        bound,
        limits,
        sure: &first.sure,
        status,
        unmeasured: options.unmeasured,
    };
    KernelBound {
        kernel: kernel.name.clone(),
        file: kernel.file.clone(),
        machine: kernel.machine.name.clone(),
        clock_mhz: kernel.machine.clock_mhz,
        mechanism: kernel.machine.divergence.mechanism.name().to_owned(),
        contexts: kernel.machine.split.contexts,
        bound: bound_sum,
        observed,
        ratio: if observed == 0 { 0.0 } else { bound_sum as f64 / observed as f64 },
        runs,
        distinct_inputs,
        status,
        exact: ExactRow::default(),
        proved: Default::default(),
        hybrid_bound: None,
        hybrid_by: "segments",
        segment_bound: bound_sum,
        composed: measured_kernel.composed.row(
            kernel,
            &crate::assumptions::behind(source, runs, distinct_inputs),
            (runs, distinct_inputs.unwrap_or(0)),
        ),
        warnings: crate::inputs::warnings(source, runs, distinct_inputs, options),
        times: source.name(),
        wave_bound: bound.cycles,
        wave_observed: times.longest_wave,
        wave_bound_by_blocks: first.bound.cycles,
        bound_by_blocks: 0,
        start_delay: times.start_delay,
        launches: measured_kernel.launches.clone(),
        loops: loops(measured_kernel, limits),
        never: kernel.never_rows(),
        edges: shares::edges(by_blocks, measured_kernel, &rounds, bound),
        sources: shares::sources(kernel, &blocks, &options.sources),
        blocks,
        worst,
        branches: what_if::branches(first, options),
        splits: times.splits,
        refused: times.refused.values().sum(),
        most_paths: times.most_paths.max(1),
        coverage: coverage(by_blocks, measured_kernel, measured, runs),
        paper: crate::paper::rows(
            longest_launch(measured_kernel),
            &by_blocks.kernel,
            &first.measured,
            &by_blocks.times,
        ),
        assumptions: crate::assumptions::list(
            kernel,
            measured,
            limits,
            options,
            source,
            (runs, distinct_inputs),
            first.sure.len(),
        ),
        inputs: inputs(measured_kernel, options),
        certificate: certified.certificate(),
        lp: wb_wcet::ipet::lp_text(&bound.model).unwrap_or_default(),
    }
}

/// The steps of the worst way; `ways` are the blocks of every edge of the plan.
fn worst_way(measured_kernel: &MeasuredKernel, ways: &[Vec<usize>], bound: &WaveBound) -> Vec<StepRow> {
    let (kernel, times) = (&measured_kernel.kernel, &measured_kernel.times);
    let node = |n: usize| (n != START && n != END).then(|| kernel.place(kernel.plan.nodes[n]));
    let step = |s: &Share| {
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
    };
    bound.shares.iter().map(step).collect()
}

/// Loops with their limits and what the runs did.
fn loops(measured_kernel: &MeasuredKernel, limits: &[LoopFact]) -> Vec<LoopRow> {
    let (kernel, times) = (&measured_kernel.kernel, &measured_kernel.times);
    let whole = |pc: Pc| kernel.plan.loops.iter().any(|l| l.header == pc && l.node.is_none());
    let seen: BTreeMap<Pc, u64> =
        kernel.plan.loops.iter().zip(&times.rounds).filter_map(|(l, r)| Some((l.header, (*r)?.1))).collect();
    let row = |l: &LoopFact| LoopRow {
        header: kernel.place(l.header),
        max: l.max,
        origin: l.origin.name(),
        why: l.why.clone(),
        observed: seen.get(&l.header).copied(),
        whole: whole(l.header),
    };
    limits.iter().map(row).collect()
}

/// How far the bound can be trusted.
fn status(
    measured_kernel: &MeasuredKernel,
    limits: &[LoopFact],
    measured: &Measured,
    options: &Options,
) -> Status {
    let (kernel, source) = (&measured_kernel.kernel, &measured_kernel.source);
    let guessed = limits.iter().any(|l| l.origin == Origin::Observed)
        || !measured.coverage.gaps.is_empty() && options.unmeasured == Unmeasured::Exclude
        || kernel.plan.calls.iter().any(|c| kernel.winds(c.1)) && !matches!(source, Source::Table { .. });
    match source {
        _ if guessed => Status::Observed,
        Source::Table { .. } => Status::Given,
        Source::Runs | Source::Trace { .. } => Status::Hybrid,
    }
}

/// How much of the kernel the runs have shown; `by_blocks` is the first measurement.
fn coverage(
    by_blocks: &MeasuredKernel,
    measured_kernel: &MeasuredKernel,
    measured: &Measured,
    runs: u32,
) -> CoverageRow {
    let (kernel, times, coverage) = (&measured_kernel.kernel, &measured_kernel.times, &measured.coverage);
    let gap = |g: &Gap| (kernel.place(g.from), (g.to != NO_PC).then(|| kernel.place(g.to)));
    CoverageRow {
        runs,
        launches: times.runs,
        waves: times.waves,
        ways: coverage.edges,
        steps: by_blocks.kernel.plan.coverage(&by_blocks.times, &by_blocks.kernel.never()).steps,
        never_skipped: coverage.never_skipped.len(),
        gaps: coverage.gaps.iter().map(gap).collect(),
        points: (by_blocks.kernel.plan.nodes.len() - 2, kernel.plan.nodes.len() - 2),
    }
}

/// Name and hash of everything the bound depends on.
fn inputs(measured_kernel: &MeasuredKernel, options: &Options) -> Vec<(String, String)> {
    let (kernel, source) = (&measured_kernel.kernel, &measured_kernel.source);
    let mut list = vec![
        (format!("kernel {} of {}", kernel.name, kernel.file), kernel.checksum.clone()),
        (format!("machine {}", kernel.machine.name), hash(kernel.machine.to_toml().as_bytes())),
    ];
    list.extend(crate::inputs::hashes(source, &measured_kernel.launches));
    list.extend(options.facts.iter().map(|(n, t)| (format!("facts {}", last_part(n)), hash(t.as_bytes()))));
    list.extend(source.inputs());
    list
}

/// The launch that takes longest, for the published formulas.
fn longest_launch(measured_kernel: &MeasuredKernel) -> &LaunchRow {
    let longest = measured_kernel.launches.iter().max_by_key(|l| (l.rounds, l.groups));
    longest.expect("a kernel has at least the launch it began with")
}
