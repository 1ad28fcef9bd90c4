//! Limits of GCN3 loops, proven from the code and the launch (wcet.md, pipeline 2): ranges of all registers (`values`), one
//! round of each loop followed for one lane (`round`), and the arithmetic of counted loops (`bound`). Sound before sharp:
//! what is not certain gives no limit. A limit holds for every path of a wave, split or not.

mod bdd;
mod bound;
mod emit;
mod eval;
mod point;
mod prove;
mod range;
mod round;
mod scan;
mod state;
mod values;
mod words;

use super::check::{analysable_with, calls_of, code_blocks};
use super::{LoopFact, Origin};
use range::Range;
use round::Round;
use state::{Side, State};
use std::collections::BTreeMap;
use values::Values;
use wb_flowproof::{Counted, Rule, Witness};
use wb_isa::Pc;
use wb_isa::gcn3::isa::{Gcn3, Setup};
use wb_objects::codeobject::KernelArg;
use wb_program::Program;

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
    /// A side condition to leave out: tests show that each is needed, and that checker and search find it missing.
    #[doc(hidden)]
    pub without: Option<SideCondition>,
}

/// Side conditions of the rules that wrong proofs were once found without (docs/facts.md, "The search").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideCondition {
    /// The form of the test goes with the step of the counter.
    TestFitsStep,
    /// A limit that differs between lanes stays only if the same lane keeps the loop going.
    SameLane,
    /// Lanes that are on in the next round were on in this one.
    LanesWereOn,
    /// A bit of a mask says something about lanes that are off only if it was made so.
    LanesThatAreOff,
    /// What a comparison said is void when the mask is written over one of its sides.
    OperandsUnchanged,
    /// What holds for all lanes that are on says nothing about scalars: there may be no such lane.
    SomeLane,
}

impl SideCondition {
    pub const ALL: [SideCondition; 6] = [
        SideCondition::TestFitsStep,
        SideCondition::SameLane,
        SideCondition::LanesWereOn,
        SideCondition::LanesThatAreOff,
        SideCondition::OperandsUnchanged,
        SideCondition::SomeLane,
    ];
}

/// A register that gets `lo` to `hi` more from header to header, and where it is at the header in every round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    register: Side,
    lo: i64,
    hi: i64,
    within: Range,
}

/// What is proven about one loop.
struct Found {
    fact: LoopFact,
    rule: Rule,
    witnesses: Vec<(Pc, Option<Witness>)>,
    dead: Vec<(Pc, Pc, Witness)>,
    moved: Vec<Moved>,
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
        Known { kernarg: Some(kernarg), group, grid, arguments, without: None }
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
    /// The proof of all of it, for [`wb_flowproof::check`].
    pub proof: Option<wb_flowproof::Proof>,
    /// What the checker refused, and why: a fault of the prover or of the checker.
    pub refused: Vec<String>,
}

/// Proves what it can about the flow of a kernel. Every proof is checked again by [`wb_flowproof`], which shares no code with
/// this module; what it refuses is not returned.
pub fn infer_gcn3(program: &Program<Gcn3>, known: &Known) -> Inferred {
    let found = infer_unchecked(program, known);
    let Some(proof) = &found.proof else { return found };
    match recheck(program, known, proof) {
        Ok(checked) => {
            let Inferred { mut loops, never, proof, .. } = found;
            loops.retain(|l| checked.loops.get(&l.header) == Some(&l.max));
            let proof = proof.map(|mut p| {
                p.loops.retain(|l| checked.loops.contains_key(&l.header));
                p
            });
            let refused = checked.refused.iter().map(|r| r.1.to_string()).collect();
            Inferred { loops, never, proof, refused }
        }
        Err(refused) => Inferred { refused: vec![refused.to_string()], ..Inferred::default() },
    }
}

/// Checks a proof about a program and a launch with [`wb_flowproof`].
pub fn recheck(
    program: &Program<Gcn3>,
    known: &Known,
    proof: &wb_flowproof::Proof,
) -> Result<wb_flowproof::Checked, wb_flowproof::Refused> {
    let calls = calls_of(program);
    if analysable_with(program, &calls).is_err() {
        return Err(wb_flowproof::Refused::Flow { pc: program.entry });
    }
    wb_flowproof::check(&emit::code(program, &calls), &emit::launch(known), proof)
}

/// What the prover says, unchecked: for the tests of prover and checker.
#[doc(hidden)]
pub fn infer_unchecked(program: &Program<Gcn3>, known: &Known) -> Inferred {
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
    let mut found: BTreeMap<usize, Found> = BTreeMap::new();
    let mut clamps = Clamps::new();
    for _ in 0..PASSES {
        let Some(values) = Values::compute(program, known, &entries, &clamps) else { break };
        let mut more = false;
        for l in program.cfg.loops.iter().filter(|l| code.contains(&l.header)) {
            let Some(new) = one(&values, l, &entries, known) else { continue };
            let old = found.get(&l.header);
            if old.is_none_or(|old| new.fact.max <= old.fact.max) {
                more |= old.is_none_or(|old| new.fact.max < old.fact.max);
                found.insert(l.header, new);
            }
        }
        drop(values);
        let new = clamps_of(&found);
        more |= new != clamps;
        clamps = new;
        if !more {
            break;
        }
    }
    let Some(values) = Values::compute(program, known, &entries, &clamps) else { return Inferred::default() };
    let never = never_taken(&values, known);
    let proof = Some(emit::proof(&values, found.values(), &never));
    let loops = found.into_values().map(|f| f.fact).collect();
    Inferred { loops, never, proof, refused: Vec::new() }
}

/// What is known about the registers at headers because of how often loops go round.
fn clamps_of(found: &BTreeMap<usize, Found>) -> Clamps {
    let mut clamps = Clamps::new();
    for (&header, f) in found {
        for m in &f.moved {
            let old = clamps.get(&(header, m.register)).copied().unwrap_or(Range::FULL);
            clamps.extend(old.meet(m.within).map(|new| ((header, m.register), new)));
        }
    }
    clamps
}

/// Ways whose condition cannot hold where they begin.
fn never_taken(values: &Values, known: &Known) -> Vec<NeverTaken> {
    let program = values.program;
    let mut found = Vec::new();
    for (b, block) in program.cfg.blocks.iter().enumerate().filter(|(b, _)| values.at(*b).is_some()) {
        let out = values.out(b);
        for &s in block.succs.iter().filter(|s| out.iter().all(|o| o.0 != **s)) {
            let to = program.cfg.blocks[s].first;
            found.push(NeverTaken { from: block.last, to, why: words::why_never(values, b, known) });
        }
    }
    found
}

/// The limit of one loop, and what follows about the registers at its header.
fn one(
    values: &Values,
    l: &wb_program::cfg::Loop,
    entries: &[(usize, State)],
    known: &Known,
) -> Option<Found> {
    let program = values.program;
    let header = program.cfg.blocks[l.header].first;
    let outside = (0..program.cfg.blocks.len())
        .filter(|b| !l.blocks.contains(b) && program.cfg.blocks[*b].succs.contains(&l.header));
    let mut states: Vec<State> = entries.iter().filter(|e| e.0 == l.header).map(|e| e.1.clone()).collect();
    states.extend(outside.flat_map(|b| values.out(b)).filter(|o| o.0 == l.header).map(|o| o.1));
    let fact = |max, why| LoopFact { header, max, origin: Origin::Proved, why };
    let straight = |why: &str, dead| Found {
        fact: fact(0, why.into()),
        rule: Rule::Straight,
        witnesses: Vec::new(),
        dead,
        moved: Vec::new(),
    };
    if states.is_empty() {
        return Some(straight("it is never entered", Vec::new()));
    }
    let mut round = Round::follow(values, l)?;
    if prove::never(&round) {
        return Some(straight("it never goes back to its header", round.dead));
    }
    if let Some((proof, moved)) = prove::prove(&mut round, &states) {
        let counted = Counted {
            counter: emit::reg(proof.register)?,
            test: proof.test,
            truth: proof.truth,
            second: proof.second,
            tested: proof.tested.form()?,
            step: proof.step.form(),
            fixed: proof.fixed,
        };
        return Some(Found {
            fact: fact(proof.max, words::text(program, l, &proof, known)),
            rule: Rule::Counted(counted),
            witnesses: proof.witnesses,
            dead: round.dead,
            moved,
        });
    }
    let scan = scan::prove(&mut round, l, &states, known)?;
    Some(Found {
        fact: fact(scan.max, scan.why),
        rule: Rule::Bits(scan.bits),
        witnesses: scan.witnesses,
        dead: round.dead,
        moved: Vec::new(),
    })
}
