//! What a bound rests on, in words: every report prints the list.

use crate::kernel::AnalysedKernel;
use crate::options::Options;
use crate::source::Source;
use crate::text::count;
use wb_facts::{LoopFact, Origin};
use wb_hw::SplitUnits;
use wb_wcet::measure::{Measured, Unmeasured};

/// The runs, in words.
pub(crate) fn behind(source: &Source, runs: u32, inputs: Option<u32>) -> String {
    let s = |n: u32| if n == 1 { "" } else { "s" };
    match (source, inputs) {
        (Source::Runs, Some(n)) => format!("the {n} input{} of {runs} run{}", s(n), s(runs)),
        _ => "the trace".to_owned(),
    }
}

/// `sure`: how many splits are counted on.
pub fn list(
    kernel: &AnalysedKernel,
    measured: &Measured,
    limits: &[LoopFact],
    options: &Options,
    source: &Source,
    inputs: (u32, Option<u32>),
    sure: usize,
) -> Vec<String> {
    let mut list = about_times(measured, source, inputs);
    about_trace(source, &mut list);
    about_skips(kernel, measured, options, &mut list);
    about_ways(kernel, measured, options, &mut list);
    about_loops(kernel, limits, &mut list);
    list.extend(kernel.about_masks());
    about_calls(kernel, source, &mut list);
    about_splits(kernel, sure, &mut list);
    list
}

/// What is taken to be the longest time, and of what.
fn about_times(measured: &Measured, source: &Source, (runs, inputs): (u32, Option<u32>)) -> Vec<String> {
    let segments = measured.model.graph.edges.len();
    let mut list = vec![match source {
        Source::Table { name, .. } => format!(
            "a basic block takes no longer than {name} says, with any other waves on the machine, whatever ran before it"
        ),
        Source::Runs | Source::Trace { .. } => format!(
            "the longest measured time of each of {segments} segments is the longest there is (hybrid analysis); --all-points makes segments short. That is:"
        ),
    }];
    match source {
        Source::Table { .. } => {}
        Source::Runs | Source::Trace { .. } => list.extend([
            format!("inputs: no other data make a segment take longer than in {}", behind(source, runs, inputs)),
            "addresses: no other accesses of a segment touch more cache lines, miss more often or meet more in a bank than in the runs".to_owned(),
            "co-runners: no other waves beside it, and nothing that ran before it, make a segment take longer than in the runs".to_owned(),
        ]),
    }
    list.push(
        "a group starts as soon as a core has room for it, and occupies it no longer than its longest wave"
            .to_owned(),
    );
    list
}

/// What a trace must be.
fn about_trace(source: &Source, list: &mut Vec<String>) {
    if let Source::Trace { alike, .. } = source {
        list.push("the trace is of this kernel on this machine, and complete: splits that are counted on happened in it".to_owned());
        if *alike > 0 {
            list.push(format!(
                "the longest time between two points is that of any way between them: {} of points with ways that the trace cannot tell apart",
                count(*alike, "pair")
            ));
        }
    }
}

/// Sides of divergent branches that no run skipped.
fn about_skips(kernel: &AnalysedKernel, measured: &Measured, options: &Options, list: &mut Vec<String>) {
    if measured.beside > 0 {
        let sides = count(measured.beside, "side");
        let jump = kernel.machine.jump_cycles();
        list.push(match (options.free_skips, jump) {
            (true, _) => format!(
                "skipping a side of a divergent branch takes no longer than running it (THESIS 5.2.4, false where a jump costs time): {sides} never skipped"
            ),
            (false, 0) => format!(
                "skipping a side of a divergent branch takes no longer than running it, because a taken jump costs nothing on this machine: {sides} never skipped"
            ),
            (false, _) => format!(
                "skipping a side of a divergent branch takes at most {jump} cycles longer than running it, which is charged: the taken jump, until instructions are there again, one request of each other wave first; {sides} never skipped"
            ),
        });
    }
}

/// Loops that were measured as a whole, and ways that no run took.
fn about_ways(kernel: &AnalysedKernel, measured: &Measured, options: &Options, list: &mut Vec<String>) {
    let whole = kernel.plan.loops.iter().filter(|l| l.node.is_none()).count();
    if whole > 0 {
        list.push(format!(
            "a loop that goes round less often takes no longer: {} measured as a whole",
            count(whole, "loop")
        ));
    }
    let gaps = measured.coverage.gaps.len();
    match options.unmeasured {
        Unmeasured::Exclude if gaps > 0 => {
            list.push(format!("{} that no run took are never taken", count(gaps, "way")))
        }
        Unmeasured::Cost(c) if gaps > 0 => list.push(format!(
            "{} that no run took, or that may take such a way, take at most {c} cycles each time",
            count(measured.accepted, "segment")
        )),
        _ => {}
    }
}

/// Limits of loops that are not proved.
fn about_loops(kernel: &AnalysedKernel, limits: &[LoopFact], list: &mut Vec<String>) {
    for l in limits {
        match l.origin {
            Origin::Observed => list.push(format!(
                "the loop at {} goes round at most {} times: observed, not proven",
                kernel.place(l.header),
                l.max
            )),
            Origin::User | Origin::Ffx => {
                list.push(format!(
                    "the loop at {} goes round at most {} times: said by the facts file",
                    kernel.place(l.header),
                    l.max
                ));
            }
            Origin::Proved => {}
        }
    }
}

/// Functions that are called.
fn about_calls(kernel: &AnalysedKernel, source: &Source, list: &mut Vec<String>) {
    for &(pc, target) in &kernel.plan.calls {
        let to = target.map_or("a function".to_owned(), |t| format!("the function at pc {t}"));
        list.push(format!(
            "the call at {} of {to} takes no longer than {}{}",
            kernel.place(pc),
            if matches!(source, Source::Table { .. }) { "its block is given" } else { "measured" },
            if kernel.winds(target) { ": its branches and loops are not bounded" } else { "" }
        ));
    }
}

/// Waves that split; `sure`: how many splits are counted on.
fn about_splits(kernel: &AnalysedKernel, sure: usize, list: &mut Vec<String>) {
    let inside = sure
        - kernel.plan.regions.iter().filter(|r| kernel.splitting.sure.contains(&r.branch)).count().min(sure);
    if inside > 0 {
        list.push(format!(
            "a wave whose lanes agree takes no longer than one that splits: {} measured as a whole",
            count(inside, "region")
        ));
    }
    if kernel.machine.splits() {
        if kernel.splitting.unknown {
            list.push("where waves split is not known before the run: no split is counted on".to_owned());
        }
        if kernel.machine.split.units == SplitUnits::Shared {
            list.push(
                "paths of a wave share units: their times hold for paths that run beside them as in the runs"
                    .to_owned(),
            );
        }
    }
}
