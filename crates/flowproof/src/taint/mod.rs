//! Checks that the time of a launch cannot depend on the contents of buffers (docs/exact.md).
//!
//! A labelling says what may differ before every block between two runs with different contents. It is checked to be
//! inductive, in one pass, and no instruction may let time depend on anything that may differ. It shares no code with
//! `facts::taint`, which finds labellings.

mod effect;
mod format;
mod lanes;

pub use format::{Labelling, Labels, LaneCase, Seen, TimeUse, Witness};

use crate::Code;
use effect::{Effect, follow};
use lanes::Pair;
use std::collections::BTreeMap;
use thiserror::Error;
use wb_isa::gcn3::Op;
use wb_isa::{FlowKind, Pc};

/// Why a labelling does not show that time is the same for all contents.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaintRefused {
    #[error("pc {pc}: {} may depend on contents", what.text())]
    Use { pc: Pc, what: TimeUse },
    #[error("pc {pc}: this kind of control flow or instruction is not covered")]
    NotCovered { pc: Pc },
    #[error("the labels of the block at pc {pc} do not describe a state: {what}")]
    Labels { pc: Pc, what: &'static str },
    #[error("the way from pc {from} to {to} leads to a place without labels")]
    Unlabelled { from: Pc, to: Pc },
    #[error("on the way from pc {from} to {to}, {what} may differ and is not labelled so")]
    NotInductive { from: Pc, to: Pc, what: String },
    #[error("pc {pc}: {memory} memory may differ and is not labelled so")]
    Memory { pc: Pc, memory: &'static str },
    #[error("pc {pc}: masks tell more kinds of lanes apart than are followed")]
    Crowded { pc: Pc },
}

/// Checks a labelling of `code` for a launch of which `witness` is one run.
pub fn check(code: &Code, witness: &Witness, labelling: &Labelling) -> Result<(), TaintRefused> {
    let mut claims: BTreeMap<Pc, Pair> = BTreeMap::new();
    for labels in &labelling.blocks {
        let pair = Pair::claimed(labels).map_err(|what| TaintRefused::Labels { pc: labels.pc, what })?;
        if claims.insert(labels.pc, pair).is_some() {
            return Err(TaintRefused::Labels { pc: labels.pc, what: "they are there twice" });
        }
    }
    covers(&claims, code.entry, code.entry, &Pair::at_start())?;
    for (&first, claim) in &claims {
        let mut pair = claim.clone();
        let done = block(code, witness, labelling, &claims, first, &mut pair);
        done.map_err(|e| if pair.crowded { TaintRefused::Crowded { pc: first } } else { e })?;
    }
    Ok(())
}

/// A state arrives at a block: what is claimed there must cover it.
fn covers(claims: &BTreeMap<Pc, Pair>, from: Pc, to: Pc, arriving: &Pair) -> Result<(), TaintRefused> {
    match claims.get(&to) {
        None => Err(TaintRefused::Unlabelled { from, to }),
        Some(claim) => match arriving.beyond(claim) {
            None => Ok(()),
            Some(what) => Err(TaintRefused::NotInductive { from, to, what }),
        },
    }
}

/// Follows the instructions from `pc` on up to the next that has a claim.
fn block(
    code: &Code,
    witness: &Witness,
    labelling: &Labelling,
    claims: &BTreeMap<Pc, Pair>,
    mut pc: Pc,
    pair: &mut Pair,
) -> Result<(), TaintRefused> {
    // Instructions that the run did not reach are not reached in any run.
    while let Some(&seen) = witness.get(&pc) {
        let (Some(Some(inst)), Some(&kind), Some(&next)) =
            (code.insts.get(pc as usize), code.kind.get(pc as usize), code.next.get(pc as usize))
        else {
            return Err(TaintRefused::NotCovered { pc });
        };
        let Effect { time, local, private } =
            follow(inst, seen, labelling, pair).ok_or(TaintRefused::NotCovered { pc })?;
        if let Some(what) = time {
            return Err(TaintRefused::Use { pc, what });
        }
        for (spoilt, labelled, memory) in
            [(local, labelling.local, "local"), (private, labelling.private, "private")]
        {
            if spoilt && !labelled {
                return Err(TaintRefused::Memory { pc, memory });
            }
        }
        let ways = ways(code, kind, pc, next).ok_or(TaintRefused::NotCovered { pc })?;
        let inside = matches!(ways[..], [(to, None)] if to == next && !claims.contains_key(&next));
        if inside {
            pc = next;
            continue;
        }
        for (to, zero) in ways.into_iter().filter(|way| witness.contains_key(&way.0)) {
            let mut arriving = pair.clone();
            if let Some(mask) = zero.filter(|&m| pair.follows(m)) {
                arriving.lanes.retain(|l| l.bit(mask) == (false, false));
            }
            covers(claims, pc, to, &arriving)?;
        }
        break;
    }
    Ok(())
}

/// Where an instruction can lead, and the mask that has no bits on that way; none: not understood.
fn ways(code: &Code, kind: FlowKind, pc: Pc, next: Pc) -> Option<Vec<(Pc, Option<u8>)>> {
    let plain = |to: Pc| (to, None);
    Some(match kind {
        FlowKind::Next | FlowKind::Barrier | FlowKind::SplitLanes { .. } | FlowKind::Merge => {
            vec![plain(next)]
        }
        FlowKind::Jump(to) => vec![plain(to)],
        FlowKind::Branch(to) | FlowKind::MaskBranch { target: to, .. } => {
            let op = code.insts.get(pc as usize).copied().flatten().map(|i| i.op);
            // The mask that is asked, and whether the jump is for none of its bits.
            let asked = match op {
                Some(Op::SCbranchExecz) => Some((lanes::EXEC, true)),
                Some(Op::SCbranchExecnz) => Some((lanes::EXEC, false)),
                Some(Op::SCbranchVccz) => Some((lanes::VCC, true)),
                Some(Op::SCbranchVccnz) => Some((lanes::VCC, false)),
                _ => None,
            };
            let zero = |jumps: bool| asked.filter(|a| a.1 == jumps && to != next).map(|a| a.0);
            vec![(to, zero(true)), (next, zero(false))]
        }
        FlowKind::Exit { conditional: false } => Vec::new(),
        FlowKind::Call { .. } => vec![plain(*code.calls.get(&pc)?)],
        // A function returns to behind one of the calls.
        FlowKind::Indirect { conditional: false } => {
            let behind = |&call: &Pc| code.next.get(call as usize).copied().map(plain);
            code.calls.keys().map(behind).collect::<Option<_>>()?
        }
        _ => return None,
    })
}
