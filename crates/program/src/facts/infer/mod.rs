//! Limits of GCN3 loops, proven from the code and the launch (wcet.md, pipeline 2): ranges of all registers (`values`), one
//! round of each loop followed for one lane (`round`), and the arithmetic of counted loops (`bound`). Sound before sharp:
//! what is not certain gives no limit. A limit holds for every path of a wave, split or not.

mod bdd;
mod bound;
mod eval;
mod point;
mod prove;
mod range;
mod round;
mod scan;
mod state;
mod values;

use super::check::{analysable_with, calls_of, code_blocks};
use super::{LoopFact, Origin};
use crate::codeobject::KernelArg;
use crate::program::Program;
use bound::Step;
use prove::Proof;
use range::{Range, Rel};
use round::Round;
use state::{Side, State};
use std::collections::BTreeMap;
use values::Values;
use wb_isa::gcn3::isa::{FIRST_SCALAR, Gcn3, Setup};
use wb_isa::{Isa, Pc};

/// What is known about a launch. The default knows nothing: proofs then rest on the code alone.
#[derive(Clone, Debug, Default)]
pub struct Known<'a> {
    /// The argument segment, hidden arguments included. Kernels do not write to it.
    pub kernarg: Option<&'a [u8]>,
    /// Work-items of a group and of the launch; 0: not known.
    pub group: [u32; 3],
    pub grid: [u32; 3],
    /// Offsets and names of arguments, for proofs.
    pub arguments: Vec<(u32, String)>,
}

/// Ranges of registers at headers (by block) in every round.
type Clamps = BTreeMap<(usize, Side), Range>;

/// More work-items no group has.
const MAX_GROUP: u32 = 1024;
/// Times that what was proven is used to prove more.
const PASSES: usize = 4;

impl<'a> Known<'a> {
    /// What the launch of a program fixes: its argument segment, group and grid. `args` name the arguments in proofs.
    pub fn launch(program: &Program<Gcn3>, kernarg: &'a [u8], args: &[KernelArg]) -> Known<'a> {
        let Setup { group, grid, .. } = program.isa.setup;
        let arguments = args.iter().map(|a| (a.offset, a.name.clone())).filter(|a| !a.1.is_empty()).collect();
        Known { kernarg: Some(kernarg), group, grid, arguments }
    }

    /// The argument dword at an offset.
    fn argument(&self, at: u32) -> Option<u32> {
        let bytes = self.kernarg?.get(at as usize..at as usize + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A dword of the dispatch packet: group sizes at 4, 6 and 8, grid sizes from 12.
    fn packet(&self, at: u32) -> Option<u32> {
        match at {
            4 | 8 if self.group.contains(&0) => None,
            4 => Some(self.group[0] & 0xffff | self.group[1] << 16),
            8 => Some(self.group[2] & 0xffff),
            12 | 16 | 20 => Some(self.grid[(at as usize - 12) / 4]).filter(|&n| n > 0),
            _ => None,
        }
    }

    /// Work-item ids in a group.
    fn item_ids(&self, dimension: usize) -> Range {
        let size = Some(self.group[dimension]).filter(|&n| n > 0).unwrap_or(MAX_GROUP);
        Range::unsigned(0, size - 1)
    }

    /// Lanes a wave has at most.
    fn lanes(&self) -> u32 {
        match self.group.iter().fold(1u32, |n, &d| n.saturating_mul(d)) {
            0 => 64,
            n => n.min(64),
        }
    }

    fn group_ids(&self, dimension: usize) -> Range {
        match (self.grid[dimension], self.group[dimension]) {
            (0, _) | (_, 0) => Range::FULL,
            (grid, group) => Range::unsigned(0, grid.div_ceil(group) - 1),
        }
    }

    fn name(&self, offset: u32) -> String {
        match self.arguments.iter().find(|a| a.0 == offset) {
            Some((_, name)) => format!("argument {name}"),
            None => format!("argument at {offset:#x}"),
        }
    }
}

/// A way that no wave of the launch takes: an edge of the control-flow graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverTaken {
    /// Last instruction of the block it leaves.
    pub from: Pc,
    /// First instruction of the block it leads to.
    pub to: Pc,
    /// The proof in words.
    pub why: String,
}

/// What follows from the code and the launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inferred {
    /// Limits of the kernel's loops and of those in functions it calls, by header. Loops that are not in the list have no
    /// proof.
    pub loops: Vec<LoopFact>,
    /// Ways out of blocks that can be reached which are never taken.
    pub never: Vec<NeverTaken>,
}

/// Proves what it can about the flow of a kernel.
pub fn infer_gcn3(program: &Program<Gcn3>, known: &Known) -> Inferred {
    let calls = calls_of(program);
    let code = code_blocks(program, &calls);
    let mut instructions = code.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow));
    let plain = |pc: Pc| program.ops[pc as usize].inst.as_ref().is_some_and(values::plain);
    let Some(entry) = program.cfg.block_at(program.entry) else { return Inferred::default() };
    // Jumps to unknown places could lead into any loop.
    if !instructions.all(plain) || analysable_with(program, &calls).is_err() {
        return Inferred::default();
    }
    let mut entries = vec![(entry, values::start(program, known))];
    for callee in calls.callees().into_keys() {
        let block = program.cfg.block_at(callee).filter(|b| code.contains(b));
        entries.extend(block.map(|b| (b, State::unknown())));
    }
    let mut facts: BTreeMap<usize, LoopFact> = BTreeMap::new();
    let mut clamps = Clamps::new();
    for _ in 0..PASSES {
        let Some(values) = Values::compute(program, known, &entries, &clamps) else { break };
        let mut more = false;
        let mut new_clamps = clamps.clone();
        for l in program.cfg.loops.iter().filter(|l| code.contains(&l.header)) {
            let Some((fact, ranges)) = one(&values, l, &entries, known) else { continue };
            if facts.get(&l.header).is_none_or(|old| fact.max < old.max) {
                facts.insert(l.header, fact);
                more = true;
            }
            for (side, range) in ranges {
                let old = new_clamps.get(&(l.header, side)).copied().unwrap_or(Range::FULL);
                if let Some(new) = old.meet(range).filter(|&new| new != old) {
                    new_clamps.insert((l.header, side), new);
                    more = true;
                }
            }
        }
        drop(values);
        clamps = new_clamps;
        if !more {
            break;
        }
    }
    let never = Values::compute(program, known, &entries, &clamps).map(|v| never_taken(&v, known));
    Inferred { loops: facts.into_values().collect(), never: never.unwrap_or_default() }
}

/// Ways whose condition cannot hold where they begin.
fn never_taken(values: &Values, known: &Known) -> Vec<NeverTaken> {
    let program = values.program;
    let mut found = Vec::new();
    for (b, block) in program.cfg.blocks.iter().enumerate().filter(|(b, _)| values.at(*b).is_some()) {
        let out = values.out(b);
        for &s in block.succs.iter().filter(|s| out.iter().all(|o| o.0 != **s)) {
            let to = program.cfg.blocks[s].first;
            found.push(NeverTaken { from: block.last, to, why: why_never(values, b, known) });
        }
    }
    found
}

/// What decides the branch at the end of a block.
fn why_never(values: &Values, b: usize, known: &Known) -> String {
    let Some(state) = values.end(b) else { return String::new() };
    let program = values.program;
    let Some(cond) = state.scc else { return "some lane is on for certain, or none can be".to_owned() };
    let side = |side: Side| match side {
        Side::Number(_) => register(program, side),
        _ => {
            let source = match side {
                Side::Scalar(n) => state.scalars[usize::from(n & 127)].argument,
                _ => None,
            };
            let source = source.map_or(String::new(), |at| format!(" ({})", known.name(at)));
            format!("{} is {}{source}", register(program, side), state.side(side).show())
        }
    };
    let text = [cond.a, cond.b].map(side);
    let sign = if cond.signed { " signed" } else { "" };
    format!("{}, {}: compared with {}{sign}", text[0], text[1], cond.rel.sign())
}

/// The limit of one loop, and ranges at its header that follow.
fn one(
    values: &Values,
    l: &crate::cfg::Loop,
    entries: &[(usize, State)],
    known: &Known,
) -> Option<(LoopFact, Vec<(Side, Range)>)> {
    let program = values.program;
    let header = program.cfg.blocks[l.header].first;
    let outside = (0..program.cfg.blocks.len())
        .filter(|b| !l.blocks.contains(b) && program.cfg.blocks[*b].succs.contains(&l.header));
    let mut states: Vec<State> = entries.iter().filter(|e| e.0 == l.header).map(|e| e.1.clone()).collect();
    states.extend(outside.flat_map(|b| values.out(b)).filter(|o| o.0 == l.header).map(|o| o.1));
    let fact = |max, why| LoopFact { header, max, origin: Origin::Proved, why };
    if states.is_empty() {
        return Some((fact(0, "it is never entered".into()), Vec::new()));
    }
    let mut round = Round::follow(values, l)?;
    if prove::never(&round) {
        return Some((fact(0, "it never goes back to its header".into()), Vec::new()));
    }
    if let Some((proof, ranges)) = prove::prove(&mut round, &states) {
        return Some((fact(proof.max, text(program, l, &proof, known)), ranges));
    }
    let (max, why) = scan::prove(&mut round, l, &states, known)?;
    Some((fact(max, why), Vec::new()))
}

fn register(program: &Program<Gcn3>, side: Side) -> String {
    match side {
        Side::Scalar(n) => program.isa.register_name(FIRST_SCALAR + u16::from(n)),
        Side::Vector(n) => program.isa.register_name(n.into()),
        Side::Number(v) => (v as i32).to_string(),
    }
}

/// The proof in words.
fn text(program: &Program<Gcn3>, l: &crate::cfg::Loop, proof: &Proof, known: &Known) -> String {
    let name = register(program, proof.register);
    let id = match proof.register {
        Side::Scalar(n) => FIRST_SCALAR + u16::from(n),
        Side::Vector(n) => n.into(),
        Side::Number(_) => u16::MAX,
    };
    let writes = |pc: &Pc| {
        let inst = program.ops[*pc as usize].inst.as_ref();
        inst.is_some_and(|i| program.isa.facts(i, *pc, 0).writes.contains(&id))
    };
    let writers: Vec<String> = l
        .blocks
        .iter()
        .flat_map(|&b| program.cfg.pcs(b, &program.flow))
        .filter(writes)
        .map(|pc| pc.to_string())
        .collect();
    let at = format!("(pc {})", writers.join(", "));
    let moves = match proof.step {
        Step::Add(lo, hi) if lo == hi && lo > 0 => format!("grows by {lo} each round {at}"),
        Step::Add(lo, hi) if lo == hi => format!("falls by {} each round {at}", -lo),
        Step::Add(lo, hi) if lo > 0 => format!("grows by {lo} to {hi} each round {at}"),
        Step::Add(lo, hi) => format!("falls by {} to {} each round {at}", -hi, -lo),
        Step::Left(by) => format!("is shifted left by {by} each round {at}"),
        Step::Right(by) => format!("is shifted right by {by} each round {at}"),
    };
    let tested = match (proof.step, proof.offset) {
        (_, (0, 0)) => name.clone(),
        (Step::Add(..), (lo, hi)) if lo != hi => format!("{name} + ({lo} to {hi})"),
        (Step::Add(..), (n, _)) if n > 0 => format!("{name} + {n}"),
        (Step::Add(..), (n, _)) => format!("{name} - {}", -n),
        (Step::Left(_), (n, _)) => format!("({name} << {n})"),
        (Step::Right(_), (n, _)) => format!("({name} >> {n})"),
    };
    let other = register(program, proof.other);
    let limit = match (proof.other, proof.argument) {
        (Side::Number(_), _) => String::new(),
        (_, Some(offset)) => format!(", {other} is {} ({})", proof.limit.show(), known.name(offset)),
        _ => format!(", {other} is in {}", proof.limit.show()),
    };
    let sign = match proof.rel {
        Rel::Eq | Rel::Ne => "",
        _ if proof.signed => " signed",
        _ => " unsigned",
    };
    format!(
        "{name} starts {} {}, {moves}, the loop goes on while {tested} {} {other}{sign} (pc {}){limit}",
        if proof.init.constant().is_some() { "at" } else { "in" },
        proof.init.show(),
        proof.rel.sign(),
        proof.test
    )
}
