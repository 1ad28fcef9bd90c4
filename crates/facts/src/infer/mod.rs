//! Limits of GCN3 loops, proven from the code and the launch (wcet.md, pipeline 2): ranges of all registers (`values`), one
//! round of each loop followed for one lane (`round`), and the arithmetic of counted loops (`bound`). Sound before sharp:
//! what is not certain gives no limit. A limit holds for every path of a wave, split or not.

mod bank;
mod bdd;
mod bound;
mod emit;
pub(crate) mod eval;
mod found;
mod known;
mod point;
mod prove;
pub(crate) mod range;
mod round;
mod scan;
pub(crate) mod state;
pub(crate) mod values;
mod words;

pub use found::{Inferred, Moved, NeverTaken};
pub use known::{Known, SideCondition};

use super::calls::code_blocks;
use super::check::{analysable_with, calls_of};
use super::code::code;
use super::facts::{LoopFact, Origin};
use super::plain::plain;
use found::{Clamps, Found};
use range::Range;
use round::Round;
use state::State;
use std::collections::{BTreeMap, BTreeSet};
use values::Values;
use wb_flowproof::{Counted, Rule};
use wb_isa::Pc;
use wb_isa::gcn3::isa::Gcn3;
use wb_program::Program;

/// Times that what was proven is used to prove more.
const PASSES: usize = 4;

/// Proves what it can about the flow of a kernel. Every proof is checked again by [`wb_flowproof`], which shares no code with
/// this module; what it refuses is not returned.
pub fn infer_gcn3(program: &Program<Gcn3>, known: &Known) -> Inferred {
    let found = infer_unchecked(program, known);
    let Some(proof) = &found.proof else { return found };
    match recheck(program, known, proof) {
        Ok(checked) => {
            let Inferred { mut loops, never, proof, clamps: found_clamps, .. } = found;
            loops.retain(|l| checked.loops.get(&l.header) == Some(&l.max));
            let proof = proof.map(|mut p| {
                p.loops.retain(|l| checked.loops.contains_key(&l.header));
                p
            });
            let refused = checked.refused.iter().map(|r| r.1.to_string()).collect();
            // Ranges rest on all that the prover found.
            let clamps = found_clamps.filter(|_| checked.refused.is_empty());
            Inferred { loops, never, proof, refused, clamps }
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
    wb_flowproof::check(&code(program, &calls), &emit::launch(known), proof)
}

/// What the prover says, unchecked: for the tests of prover and checker.
#[doc(hidden)]
pub fn infer_unchecked(program: &Program<Gcn3>, known: &Known) -> Inferred {
    let inferred = |values: &Values, found: BTreeMap<usize, Found>| {
        let never = never_taken(values, known);
        let proof = Some(emit::proof(values, found.values(), &never));
        let clamps = Some(clamps_of(&found));
        let loops = found.into_values().map(|f| f.fact).collect();
        Inferred { loops, never, proof, refused: Vec::new(), clamps }
    };
    solve(program, known, |values, found| inferred(values, found)).unwrap_or_default()
}

/// How often loops go back to their headers at most, by those.
pub(crate) type Limits = BTreeMap<usize, u64>;

/// Ranges of all registers of a kernel, cut by what [`infer_gcn3`] proved about its loops; with the blocks that are entered
/// from elsewhere, and limits. None if its flow is not known or it is too large.
pub(crate) fn with_ranges<R>(
    program: &Program<Gcn3>,
    known: &Known,
    inferred: &Inferred,
    f: impl FnOnce(&Values, &[(usize, State)], &Limits) -> R,
) -> Option<R> {
    let (entries, _) = entries(program, known)?;
    let nothing = Clamps::new();
    let clamps = inferred.clamps.as_ref().unwrap_or(&nothing);
    let values = Values::compute(program, known, &entries, clamps)?;
    let limit = |l: &LoopFact| Some((program.cfg.block_at(l.header)?, l.max));
    let limits = match inferred.clamps {
        Some(_) => inferred.loops.iter().filter_map(limit).collect(),
        None => Limits::new(),
    };
    Some(f(&values, &entries, &limits))
}

/// A block and what holds where it is entered.
type Entry = (usize, State);

/// Blocks that are entered from elsewhere, and all blocks; none if a jump leads to an unknown place, which
/// could be in any loop.
fn entries(program: &Program<Gcn3>, known: &Known) -> Option<(Vec<Entry>, BTreeSet<usize>)> {
    let calls = calls_of(program);
    let code = code_blocks(program, &calls);
    let mut instructions = code.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow));
    let plain = |pc: Pc| program.ops[pc as usize].inst.as_ref().is_some_and(plain);
    let entry = program.cfg.block_at(program.entry)?;
    if !instructions.all(plain) || analysable_with(program, &calls).is_err() {
        return None;
    }
    let mut entries = vec![(entry, values::start(program, known))];
    for callee in calls.callees().into_keys() {
        let block = program.cfg.block_at(callee).filter(|b| code.contains(b));
        entries.extend(block.map(|b| (b, State::unknown())));
    }
    Some((entries, code))
}

/// Proves what it can about all loops, with ranges that follow from it.
fn solve<R>(
    program: &Program<Gcn3>,
    known: &Known,
    f: impl FnOnce(&Values, BTreeMap<usize, Found>) -> R,
) -> Option<R> {
    let (entries, code) = entries(program, known)?;
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
        let new = clamps_of(&found);
        if !more && new == clamps {
            return Some(f(&values, found));
        }
        drop(values);
        clamps = new;
    }
    Some(f(&Values::compute(program, known, &entries, &clamps)?, found))
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
        for &s in block.succs.iter().filter(|s| !values.taken(b).contains(s)) {
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
    states.extend(outside.flat_map(|b| values.out(b)).filter(|o| o.0 == l.header).map(|o| o.1.clone()));
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
