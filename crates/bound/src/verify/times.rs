//! Times of a certificate, measured again; and splits that it counts on, written out again with its own times.

use super::ways::Way;
use crate::error::BoundError;
use crate::kernel::AnalysedKernel;
use crate::launched::Launched;
use std::collections::{BTreeMap, BTreeSet};
use wb_check::binding::{Binding, HomogeneousMask, LeftOut};
use wb_facts::{BranchSide, HomogeneousFact};
use wb_isa::{NO_PC, Pc};
use wb_jobs::launch::RunLaunch;
use wb_jobs::with_program;
use wb_sim::RunOptions;
use wb_wcet::measure::{END, EdgeTime, Gap, Meter, Never, Plan, Points, START, Times, Unmeasured};
use wb_wcet::wave;

/// A measurement at the points of a certificate.
pub(super) struct Measured {
    kernel: AnalysedKernel,
    times: Times,
}

/// The kernel with the points of a certificate.
fn kernel_at(binding: &Binding, launched: &Launched) -> Result<AnalysedKernel, BoundError> {
    let points = binding.graph.points.iter().copied().collect();
    let whole = binding.limits.iter().filter(|l| l.whole).map(|l| l.pc).collect();
    let mut kernel = AnalysedKernel::new(launched, &Points::At { points, whole }, None)?;
    let masks: Vec<HomogeneousFact> = binding.homogeneous.iter().map(mask).collect();
    with_program!(launched.program, p => kernel.plan.watch(p, &masks));
    kernel.facts.homogeneous = masks;
    Ok(kernel)
}

/// What a certificate says about a mask.
fn mask(h: &HomogeneousMask) -> HomogeneousFact {
    let side = match h.side.as_deref() {
        Some("first") => Some(BranchSide::First),
        Some(_) => Some(BranchSide::Second),
        None => None,
    };
    HomogeneousFact { branch: h.pc, side, why: h.why.clone() }
}

fn pc(plan: &Plan, node: usize) -> Option<Pc> {
    (node != START && node != END).then(|| plan.nodes[node])
}

/// An edge of the plan as certificates name it.
fn way(plan: &Plan, edge: usize) -> Way {
    let e = plan.edges[edge];
    (pc(plan, e.from), e.via.map(|p| plan.pieces[p].first), pc(plan, e.to))
}

/// The cycles that the certificate has for each way: copies of it in sides of a split cost the same.
fn costs(report: &wb_check::Report, binding: &Binding) -> BTreeMap<Way, (u64, u64)> {
    let pc = |node: usize| binding.graph.pcs[node];
    let mut costs: BTreeMap<Way, (u64, u64)> = BTreeMap::new();
    for (&(from, to, cost), &via) in report.ways.iter().zip(&binding.graph.via) {
        let known = costs.entry((pc(from), via, pc(to))).or_insert((cost, cost));
        *known = (known.0.min(cost), known.1.max(cost));
    }
    costs
}

impl Measured {
    pub fn new(binding: &Binding, launched: &Launched) -> Result<Measured, BoundError> {
        let kernel = kernel_at(binding, launched)?;
        let times = Times::new(&kernel.plan);
        Ok(Measured { kernel, times })
    }

    pub fn run(&mut self, launched: &Launched, go: &mut RunLaunch) -> Result<(), BoundError> {
        self.kernel.prove(launched);
        let mut meter = Meter::new(&self.kernel.plan);
        go(RunOptions::default(), Some(&mut meter))?;
        self.times.add(&meter.times);
        Ok(())
    }

    /// No way takes longer than the certificate says.
    pub fn compare(&self, report: &wb_check::Report, binding: &Binding) -> Result<bool, String> {
        if let Some(mixed) = self.times.mixed {
            return Err(self.kernel.mixed(mixed).to_string());
        }
        let costs = costs(report, binding);
        let show = |pc: Option<Pc>, end: &str| pc.map_or(end.to_owned(), |pc| format!("pc {pc}"));
        let plan = &self.kernel.plan;
        let never = self.kernel.never();
        let limits = binding.limits.iter();
        let rounds = limits.filter_map(|l| Some((l.pc, u64::try_from(l.max.0).ok()?))).collect();
        // Sides that facts count are not charged for jumps past them, and facts are not at hand.
        let jump = if report.facts > 0 { 0 } else { self.kernel.machine.jump_cycles() };
        let again = plan.model(&self.times, &rounds, &[], Unmeasured::Exclude, jump, &never);
        for (&e, edge) in again.edge_of.iter().zip(&again.model.graph.edges) {
            let way = way(plan, e);
            let (from, to) = (show(way.0, "start"), show(way.2, "end"));
            match costs.get(&way) {
                None => return Err(format!("a run goes from {from} to {to}, and the proof has no such way")),
                Some(&(least, _)) if least < edge.cost => {
                    return Err(format!(
                        "{from} to {to} takes {} cycles, the certificate has {least}",
                        edge.cost
                    ));
                }
                Some(_) => {}
            }
        }
        let listed = |g: &&Gap| {
            let to = (g.to != NO_PC).then_some(g.to);
            let zero = binding.limits.iter().any(|l| Some(l.pc) == to && l.max.0 == 0);
            zero || binding.untaken.iter().any(|s| s.from == g.from && s.to == to)
        };
        let gaps = plan.coverage(&self.times, &never).gaps;
        if let Some(gap) = gaps.iter().find(|g| !listed(g)) {
            return Err(format!(
                "no run took the step at pc {}, which the certificate does not say",
                gap.from
            ));
        }
        for (l, rounds) in plan.loops.iter().zip(&self.times.rounds) {
            let limit = binding.limits.iter().find(|b| b.pc == l.header);
            if let (Some((_, most)), Some(limit)) = (rounds, limit)
                && i128::from(*most) > limit.max.0
            {
                return Err(format!(
                    "the loop at pc {} goes round {most} times, the limit is {}",
                    l.header, limit.max.0
                ));
            }
        }
        Ok(true)
    }
}

/// A context is sure to be free for each of these splits, if every way can be taken.
fn contexts_suffice(binding: &Binding, launched: &Launched) -> Result<bool, BoundError> {
    let sure: BTreeSet<Pc> = binding.splits.iter().copied().collect();
    let mut kernel = AnalysedKernel::new(launched, &Points::Blocks, None)?;
    kernel.facts.homogeneous = binding.homogeneous.iter().map(mask).collect();
    let plan = &kernel.plan;
    let mut times = Times::new(plan);
    times.edges.fill(EdgeTime { max: 1, count: 1, sum: 1, ..EdgeTime::default() });
    let rounds = plan.loops.iter().map(|l| (l.header, 1)).collect();
    let all = plan.model(&times, &rounds, &[], Unmeasured::Exclude, 0, &Never::default());
    let found = wave::guaranteed(plan, &all, &kernel.counted_splitting())?;
    let found: BTreeSet<Pc> = found.iter().map(|&i| plan.regions[all.regions[i].0].branch).collect();
    Ok(sure.is_subset(&found))
}

/// The graph with splits written out is what these times give, and every split is one that the machine is sure to make.
/// None: it is so; otherwise what could not be compared.
pub(super) fn splits(
    report: &wb_check::Report,
    binding: &Binding,
    launched: &Launched,
) -> Result<Option<String>, String> {
    let kernel = kernel_at(binding, launched).map_err(|e| e.to_string())?;
    let sure: BTreeSet<Pc> = binding.splits.iter().copied().collect();
    let splitting = &kernel.splitting;
    let masks = binding.homogeneous.len() == kernel.homogeneous().len();
    if !masks {
        return Err(
            "a homogeneous mask is counted on where paths meet at places that are not known".to_owned()
        );
    }
    if !sure.is_empty() && splitting.unknown || !sure.is_subset(&splitting.sure) {
        return Err("a split is counted on that the machine is not sure to make".to_owned());
    }
    if !contexts_suffice(binding, launched).map_err(|e| e.to_string())? {
        let ways = |w: &LeftOut| matches!(w.reason.as_str(), "not-taken" | "infeasible");
        if !binding.left_out.iter().any(ways) {
            return Err("a split is counted on for which no context is sure to be free".to_owned());
        }
        let why = "whether a context is sure to be free for each split: it depends on ways that are left out";
        return Ok(Some(why.to_owned()));
    }
    if report.facts > 0 || binding.times.origin == "given" {
        let why =
            "splits that are counted on were not written out again: there are facts, or times are given";
        return Ok(Some(why.to_owned()));
    }
    let plan = &kernel.plan;
    let costs = costs(report, binding);
    let mut times = Times::new(plan);
    for (e, time) in times.edges.iter_mut().enumerate() {
        if let Some(&(least, most)) = costs.get(&way(plan, e)) {
            if least != most {
                return Err("copies of one way take different times".to_owned());
            }
            *time = EdgeTime { max: most, count: 1, sum: most, ..EdgeTime::default() };
        }
    }
    let rounds = binding.limits.iter().filter_map(|l| Some((l.pc, u64::try_from(l.max.0).ok()?))).collect();
    let measured = plan.model(&times, &rounds, &[], Unmeasured::Exclude, 0, &Never::default());
    let list = wave::among(plan, &measured, &sure);
    let again = wave::bound(&measured, &list, &kernel.one_sided(&measured)).map_err(|e| e.to_string())?;
    let pcs: Vec<Option<Pc>> = again.node_origin.iter().map(|&n| pc(plan, n)).collect();
    let edges = again.model.graph.edges.iter().map(|e| (e.from, e.to, e.cost));
    let via = again.edge_origin.iter().map(|&e| way(plan, e).1);
    let same = pcs == binding.graph.pcs
        && edges.eq(report.ways.iter().copied())
        && via.eq(binding.graph.via.iter().copied());
    if same { Ok(None) } else { Err("the graph is not that of the program with these splits".to_owned()) }
}
