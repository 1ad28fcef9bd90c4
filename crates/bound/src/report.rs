//! Puts together what an analysis found: the rows that text, JSON and HTML print, the status, the inputs.

use crate::analyse::{Fine, Options, Study};
use crate::certify::Certified;
use crate::result::{CoverageRow, KernelBound, LaunchRow, LoopRow, Place, Status, StepRow};
use crate::source::{Source, hash};
use crate::{parts, what_if};
use std::collections::BTreeMap;
use wb_facts::{LoopFact, Origin};
use wb_isa::{NO_PC, Pc};
use wb_jobs::last_part;
use wb_wcet::measure::{END, Measured, START, Unmeasured};
use wb_wcet::wave::WaveBound;

pub(crate) fn report(
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
    let (runs, distinct_inputs) = crate::inputs::counted(&study.source, &study.launches);
    let blocks = parts::blocks(first, study, &worst, &ways, bound);
    let status = match &study.source {
        _ if guessed => Status::Observed,
        Source::Table { .. } => Status::Given,
        Source::Runs | Source::Trace { .. } => Status::Hybrid,
    };
    let certified = Certified {
        study,
        measured,
        bound,
        limits,
        sure: &fine.sure,
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
        warnings: crate::inputs::warnings(&study.source, runs, distinct_inputs, options),
        times: study.source.name(),
        wave_bound: bound.cycles,
        wave_observed: times.longest_wave,
        wave_bound_by_blocks: fine.bound.cycles,
        bound_by_blocks: 0,
        start_delay: times.start_delay,
        launches: study.launches.clone(),
        loops: loops.collect(),
        never: kernel.never_rows(),
        edges: parts::edges(first, study, &rounds, bound),
        sources: parts::sources(kernel, &blocks, &options.sources),
        blocks,
        worst,
        branches: what_if::branches(fine, options),
        splits: times.splits,
        refused: times.refused.values().sum(),
        most_paths: times.most_paths.max(1),
        coverage: CoverageRow {
            runs,
            launches: times.runs,
            waves: times.waves,
            ways: coverage.edges,
            steps: first.kernel.plan.coverage(&first.times, &first.kernel.never()).steps,
            never_skipped: coverage.never_skipped.len(),
            gaps: coverage
                .gaps
                .iter()
                .map(|g| (kernel.place(g.from), (g.to != NO_PC).then(|| kernel.place(g.to))))
                .collect(),
            points: (first.kernel.plan.nodes.len() - 2, kernel.plan.nodes.len() - 2),
        },
        paper: crate::paper::rows(study_numbers(study), &first.kernel, &fine.measured, &first.times),
        assumptions: crate::assumptions::list(
            kernel,
            measured,
            limits,
            options,
            &study.source,
            (runs, distinct_inputs),
            fine.sure.len(),
        ),
        inputs: vec![
            (format!("kernel {} of {}", kernel.name, kernel.file), kernel.checksum.clone()),
            (format!("machine {}", kernel.machine.name), hash(kernel.machine.to_toml().as_bytes())),
        ]
        .into_iter()
        .chain(crate::inputs::hashes(&study.source, &study.launches))
        .chain(options.facts.iter().map(|(n, t)| (format!("facts {}", last_part(n)), hash(t.as_bytes()))))
        .chain(study.source.inputs())
        .collect(),
        certificate: certified.certificate(),
        lp: wb_wcet::ipet::lp_text(&bound.model).unwrap_or_default(),
    }
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
