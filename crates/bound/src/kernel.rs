//! A kernel while it is analysed: what its program says about places, blocks, marks and loops, kept beyond the launch.

use crate::error::{BoundError, refused};
use crate::launched::Launched;
use crate::other_side::other_side;
use crate::result::{CodePlace, NeverRow};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use wb_facts as facts;
use wb_facts::{FlowFacts, Inferred, Known, LoopFact, NeverTaken};
use wb_hw::{Machine, Mechanism, MemorySplits, Reconverge, SplitChoice, SureSplits};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{Op, Operand, sreg};
use wb_isa::{FlowKind, Isa, Pc};
use wb_jobs::{last_part, with_program};
use wb_objects::marks;
use wb_program::Program;
use wb_wcet::measure::{Never, Plan, Points};
use wb_wcet::split::Reconvergence;
use wb_wcet::wave::Splitting;

/// A basic block with its text.
pub struct BlockText {
    pub first: Pc,
    pub last: Pc,
    pub succs: Vec<usize>,
    pub pcs: Vec<Pc>,
}

/// What the analysis needs to know of a program once the launch is over.
pub struct AnalysedKernel {
    pub name: String,
    /// Name of the program's file without folders: reports are the same wherever it lies.
    pub file: String,
    /// Where it lies.
    pub path: PathBuf,
    /// The text it was assembled from, if it was.
    pub text: Option<(String, String)>,
    pub checksum: String,
    pub machine: Machine,
    pub plan: Plan,
    pub splitting: Splitting,
    /// Place and text of every instruction of the kernel.
    pub code: BTreeMap<Pc, (CodePlace, String)>,
    /// Blocks of the control-flow graph by number; only those the kernel reaches.
    pub blocks: BTreeMap<usize, BlockText>,
    /// Loops that are reached, as the program's messages name them.
    pub facts: FlowFacts,
    /// Where it begins, and its branches on the mask with where their lanes meet again (`NO_PC`: not known).
    pub entry: Pc,
    pub branches: Vec<(Pc, Pc)>,
    /// Functions it calls that branch: the graph goes past them, so their ways are only what runs took.
    pub winding: BTreeSet<Pc>,
    /// Limits that follow from the code and the arguments of every launch so far.
    pub proved: Option<Vec<LoopFact>>,
    /// Ways that no wave takes, which follow in the same way.
    pub never: Vec<NeverTaken>,
}

impl AnalysedKernel {
    pub fn new(
        launched: &Launched,
        points: &Points,
        facts: Option<(&str, &str)>,
    ) -> Result<AnalysedKernel, BoundError> {
        let splitting =
            launched.program.gcn3().map_or_else(Splitting::none, |p| splitting(p, launched.machine));
        with_program!(launched.program, p => AnalysedKernel::of(p, launched, points, splitting, facts))
    }

    fn of<I: Isa>(
        program: &Program<I>,
        launched: &Launched,
        points: &Points,
        splitting: Splitting,
        facts: Option<(&str, &str)>,
    ) -> Result<AnalysedKernel, BoundError> {
        facts::analysable(program).map_err(|e| refused!(Program, help = e.hint(), "{e}"))?;
        let reached = program.cfg.reachable(program.cfg.block_at(program.entry));
        let kinds = |kind: FlowKind| {
            let pcs = reached.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow));
            pcs.into_iter().find(|&pc| program.flow.kind[pc as usize] == kind)
        };
        if let Some(pc) = kinds(FlowKind::Spawn) {
            return Err(refused!(
                Program,
                help = "bounds are for launches whose number of waves is known; bound the spawned code as a program of its own",
                "{}: the program starts waves itself",
                program.place(pc)
            ));
        }
        let d = &launched.machine.divergence;
        if launched.machine.splits() && d.mechanism == Mechanism::DwsMeng && d.memory != MemorySplits::Never {
            return Err(refused!(
                Program,
                help = "set divergence.memory to `never`",
                "mechanism {} splits waves where lanes miss the cache, which the graph does not show",
                d.mechanism
            ));
        }
        if let Some(pc) = kinds(FlowKind::Split).or(kinds(FlowKind::Join)) {
            return Err(refused!(
                Program,
                help = "bounds are for programs that run both sides of a branch themselves: GCN3 and GUPPY",
                "{}: the hardware decides which side of this branch runs when, which the graph does not show",
                program.place(pc)
            ));
        }
        let mut plan = Plan::new(program, points, &splitting.sure)?;
        let calls = facts::calls_of(program);
        for (pc, target) in &mut plan.calls {
            *target = target.or_else(|| calls.targets.get(pc).copied());
        }
        let mut code = BTreeMap::new();
        let mut blocks = BTreeMap::new();
        for &b in &reached {
            let pcs = program.cfg.pcs(b, &program.flow);
            for &pc in &pcs {
                code.insert(pc, (place(program, pc), program.text_at(pc)));
            }
            let block = &program.cfg.blocks[b];
            let succs = block.succs.clone();
            blocks.insert(b, BlockText { first: block.first, last: block.last, succs, pcs });
        }
        let regions = program.flow.regions.iter().map(|r| (r.branch, r.reconverge));
        let branches = regions.filter(|r| code.contains_key(&r.0)).collect();
        let mut facts = match facts {
            None => FlowFacts::default(),
            Some((name, text)) => FlowFacts::parse(text, name, program)?,
        };
        plan.watch(program, &facts.homogeneous);
        let one_sided = facts.homogeneous.iter().filter_map(|h| other_side(program, h));
        facts.facts.extend(one_sided.collect::<Vec<_>>());
        Ok(AnalysedKernel {
            name: launched.kernel.to_owned(),
            file: last_part(launched.file).to_owned(),
            path: PathBuf::from(launched.file),
            text: program.source.as_ref().map(|s| (last_part(&s.name).to_owned(), s.text.to_string())),
            checksum: facts::checksum(program, &calls),
            machine: launched.machine.clone(),
            plan,
            splitting,
            code,
            blocks,
            facts,
            entry: program.entry,
            branches,
            winding: winding(program),
            proved: None,
            never: Vec::new(),
        })
    }

    /// Limits and ways never taken that follow from the code and this launch too; returns what follows for this launch alone.
    pub fn prove(&mut self, launched: &Launched) -> Option<Inferred> {
        let program = launched.program.gcn3()?;
        let known = Known::launch(program, launched.kernarg, launched.args);
        let inferred = facts::infer_gcn3(program, &known);
        let (found, mut never) = (inferred.loops.clone(), inferred.never.clone());
        // A path of a wave has some of its lanes: what is known of all of them together need not hold for it.
        if self.machine.splits() {
            never.retain(|n| !asks_lanes(program, n.from));
        }
        // What holds for every launch is what holds for each.
        match self.proved {
            None => self.never = never,
            Some(_) => self.never.retain(|a| never.iter().any(|b| (a.from, a.to) == (b.from, b.to))),
        }
        self.proved = Some(match self.proved.take() {
            None => found,
            // What holds for every launch is the larger limit, of loops that have one in all of them.
            Some(before) => before
                .into_iter()
                .filter_map(|a| {
                    let b = found.iter().find(|b| b.header == a.header)?;
                    Some(if b.max > a.max { b.clone() } else { a })
                })
                .collect(),
        });
        Some(inferred)
    }

    /// The steps of the plan that are never taken.
    pub fn never(&self) -> Never {
        self.plan.never(self.never.iter().map(|n| (n.from, n.to)))
    }

    /// The ways out of the kernel's own blocks that are never taken, by address.
    pub fn never_rows(&self) -> Vec<NeverRow> {
        let own = self.never.iter().filter(|n| self.code.contains_key(&n.from));
        let row =
            |n: &NeverTaken| NeverRow { from: self.place(n.from), to: self.place(n.to), why: n.why.clone() };
        own.map(row).collect()
    }

    /// A call goes to code that branches, or nobody knows where.
    pub fn winds(&self, target: Option<Pc>) -> bool {
        target.is_none_or(|t| self.winding.contains(&t))
    }

    pub fn place(&self, pc: Pc) -> CodePlace {
        self.code.get(&pc).map_or(CodePlace { pc, ..CodePlace::default() }, |c| c.0.clone())
    }
}

/// The branch asks lanes, not scalars: EXEC or VCC.
pub(crate) fn asks_lanes(program: &Program<Gcn3>, branch: Pc) -> bool {
    matches!(program.flow.kind[branch as usize], FlowKind::MaskBranch { .. })
        || program.text_at(branch).starts_with("s_cbranch_vcc")
}

/// Called functions that are not straight code, or call such ones.
pub(crate) fn winding<I: Isa>(program: &Program<I>) -> BTreeSet<Pc> {
    let calls = facts::calls_of(program);
    let blocks = |entry: Pc| program.cfg.reachable(program.cfg.block_at(entry));
    let branches = |&b: &usize| program.cfg.blocks[b].succs.len() > 1;
    let entries: BTreeSet<Pc> = calls.targets.values().copied().collect();
    let mut found: BTreeSet<Pc> =
        entries.iter().copied().filter(|&e| blocks(e).iter().any(branches)).collect();
    loop {
        let inner = |e: Pc| {
            let pcs = blocks(e).into_iter().flat_map(|b| program.cfg.pcs(b, &program.flow));
            pcs.filter_map(|pc| calls.targets.get(&pc)).any(|t| found.contains(t))
        };
        let more: Vec<Pc> = entries.iter().copied().filter(|&e| !found.contains(&e) && inner(e)).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

pub(crate) fn place<I: Isa>(program: &Program<I>, pc: Pc) -> CodePlace {
    let line = program.source_line(pc);
    let source = line.map_or(String::new(), |(file, line)| format!("{}:{line}", last_part(file)));
    CodePlace { pc, addr: program.linked(pc), source }
}

/// Branches at which a wave may split on a machine.
pub(crate) fn may_split(program: &Program<Gcn3>, machine: &Machine) -> BTreeSet<Pc> {
    let d = &machine.divergence;
    let reached = program.cfg.reachable(program.cfg.block_at(program.entry));
    let pcs = reached.into_iter().flat_map(|b| program.cfg.pcs(b, &program.flow));
    let branches: BTreeSet<Pc> =
        pcs.filter(|&pc| matches!(program.flow.kind[pc as usize], FlowKind::MaskBranch { .. })).collect();
    let marked = |style| marks::marked_branches(program, style).intersection(&branches).copied().collect();
    let info = d.mechanism.info();
    match (info.sure_splits, info.marks) {
        (SureSplits::PairedMarks, Some(style)) => marked(style),
        (SureSplits::MarkedBranches, Some(style))
            if d.choice == SplitChoice::Marked && !marks::sets_mode_elsewhere(program) =>
        {
            marked(style)
        }
        (SureSplits::PairedMarks | SureSplits::MarkedBranches | SureSplits::HardwareDecides, _) => branches,
    }
}

/// Which splits of a program can be counted on, if there is a context for them. Everything that could take a context
/// at a place that is not known, or keep one longer than assumed, means that none can.
pub(crate) fn splitting(program: &Program<Gcn3>, machine: &Machine) -> Splitting {
    let d = &machine.divergence;
    let contexts = machine.split.contexts;
    let nothing = Splitting { contexts, ..Splitting::none() };
    let unknown = Splitting { unknown: true, ..nothing.clone() };
    if contexts == 0 || program.flow.spills {
        return nothing;
    }
    let reached: BTreeSet<Pc> = program
        .cfg
        .reachable(program.cfg.block_at(program.entry))
        .into_iter()
        .flat_map(|b| program.cfg.pcs(b, &program.flow))
        .collect();
    let region = |pc: &Pc| program.flow.region(*pc);
    let calls = |pc: &&Pc| matches!(program.flow.kind[**pc as usize], FlowKind::Call { .. });
    if reached.iter().any(|pc| calls(&pc)) {
        return unknown;
    }
    let mechanism = d.mechanism.info();
    // Where the hardware decides, nothing can be counted on.
    let Some(style) = mechanism.marks else { return unknown };
    let marked: BTreeSet<Pc> =
        marks::marked_branches(program, style).intersection(&reached).copied().collect();
    if !marked.iter().filter_map(region).all(|r| r.markable()) {
        return unknown;
    }
    match mechanism.sure_splits {
        SureSplits::HardwareDecides => unknown,
        SureSplits::PairedMarks if marks_pair_up(program, &marked, &reached) => {
            Splitting { reconvergence: Reconvergence::AtJoin, sure: marked, ..nothing }
        }
        SureSplits::PairedMarks => unknown,
        SureSplits::MarkedBranches
            if d.choice != SplitChoice::Marked || marks::sets_mode_elsewhere(program) =>
        {
            unknown
        }
        SureSplits::MarkedBranches => {
            let reconvergence = match d.reconverge {
                Reconverge::Default | Reconverge::Never => Reconvergence::Never,
                Reconverge::RegionEnd => Reconvergence::AtJoin,
                // Where masks match is not known before the run.
                Reconverge::Anywhere | Reconverge::MaskStack => return unknown,
            };
            // A split that is refused for what follows never happens: the branch is as if it were not marked.
            let never = reconvergence == Reconvergence::Never;
            let sure =
                marked.into_iter().filter(|pc| !never || region(pc).is_some_and(|r| !r.hazard)).collect();
            Splitting { reconvergence, sure, ..nothing }
        }
    }
}

/// Every `split` keeps the lanes that are on and stands before a marked branch, EXEC unchanged between them (with another mask, a path could take both
/// sides), and there are as many merges where lanes meet as splits that meet there, and no others. Lanes that never meet
/// again part with `split_end`.
fn marks_pair_up(program: &Program<Gcn3>, marked: &BTreeSet<Pc>, reached: &BTreeSet<Pc>) -> bool {
    let of_kind =
        |is: fn(FlowKind) -> bool| reached.iter().filter(|&&pc| is(program.flow.kind[pc as usize])).count();
    let mut merges: BTreeMap<Pc, usize> = BTreeMap::new();
    for r in marked.iter().filter_map(|&pc| program.flow.region(pc)).filter(|r| r.ends.is_none()) {
        *merges.entry(r.reconverge).or_default() += 1;
    }
    let there = |at: Pc| {
        let next = |pc: &Pc| program.ops.get(*pc as usize).map(|op| op.next);
        let is = |pc: &Pc| program.flow.kind.get(*pc as usize) == Some(&FlowKind::Merge);
        std::iter::successors(Some(at), next).take_while(is).count()
    };
    let keeps_exec = |&branch: &Pc| {
        let block = program.cfg.block_at(branch);
        let pcs = block.map_or_else(Vec::new, |b| program.cfg.pcs(b, &program.flow));
        let insts = pcs.iter().rev().skip(1).filter_map(|&pc| program.ops[pc as usize].inst.as_ref());
        let idle = |op: Op| matches!(op, Op::SSetregB32 | Op::SSetregImm32B32 | Op::SNop | Op::SWaitcnt);
        let before = insts.into_iter().find(|i| !idle(i.op));
        let exec = [sreg::EXEC, sreg::EXEC + 1].map(Operand::Sgpr);
        let ends = program.flow.region(branch).is_some_and(|r| r.ends.is_some());
        let split = if ends { Op::SplitEnd } else { Op::Split };
        before.is_some_and(|i| i.op == split && i.src[..2] == exec)
    };
    marked.iter().all(keeps_exec)
        && merges.iter().all(|(&at, &n)| there(at) == n)
        && merges.values().sum::<usize>() == of_kind(|k| k == FlowKind::Merge)
        && marked.len() == of_kind(|k| matches!(k, FlowKind::SplitLanes { .. }))
}
