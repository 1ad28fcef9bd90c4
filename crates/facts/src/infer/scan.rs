//! Loops over the bits of a mask, as clang writes them for atomics: each round takes the lowest bit away
//! (`s_ff1_i32_b64`, `s_lshl_b64`, `s_andn2_b64`) and the loop goes on while a bit is left, so it ends with the lanes.

use super::known::Known;
use super::prove::bit_is_left;
use super::round::Round;
use super::state::State;
use wb_flowproof::{Bits, Witness};
use wb_isa::gcn3::isa::{FIRST_SCALAR, Gcn3};
use wb_isa::gcn3::{Inst, Op, Operand};
use wb_isa::{Isa, Pc};
use wb_program::cfg::Loop;

/// A mask that loses its lowest bit once a round.
pub struct Scan {
    pub max: u64,
    pub why: String,
    pub bits: Bits,
    pub witnesses: Vec<(Pc, Option<Witness>)>,
}

/// The limit and why it holds.
pub fn prove(round: &mut Round, l: &Loop, entries: &[State], known: &Known) -> Option<Scan> {
    let program = round.values.program;
    let cfg = &program.cfg;
    let latches: Vec<usize> =
        l.blocks.iter().copied().filter(|&b| cfg.blocks[b].succs.contains(&l.header)).collect();
    let inner = |b: usize| cfg.loops.iter().any(|m| m.blocks.contains(&b) && m.blocks.len() < l.blocks.len());
    for &b in &l.blocks {
        if inner(b) || !latches.iter().all(|&latch| cfg.dominates(b, latch)) {
            continue;
        }
        let Some(bits) = find(round, l, b) else { continue };
        let Some(witnesses) = bit_is_left(round, bits.pair) else { continue };
        // A mask of existing lanes has no more bits than the group has work-items.
        let clean = entries.iter().all(|s| s.is_clean(bits.pair));
        let most = if clean { known.lanes() } else { 64 };
        let name = Gcn3::default().register_name(FIRST_SCALAR + u16::from(bits.pair));
        let why = format!(
            "the pair at {name} has at most {most} bits, loses its lowest one each round (pc {}), and the loop goes on \
             while one is left",
            bits.clear
        );
        return Some(Scan { max: u64::from(most) - 1, why, bits, witnesses });
    }
    None
}

/// The three instructions in one block, nothing between them touching what they pass on, and no other write of the mask
/// in the loop.
fn find(round: &Round, l: &Loop, block: usize) -> Option<Bits> {
    let program = round.values.program;
    let inst = |pc: Pc| program.ops[pc as usize].inst.as_ref();
    let pcs = program.cfg.pcs(block, &program.flow);
    for (i, &pc) in pcs.iter().enumerate() {
        let Some(clear) = inst(pc).filter(|x| x.op == Op::SAndn2B64 && x.dst == x.src[0]) else { continue };
        let (Operand::Sgpr(pair), Operand::Sgpr(bit)) = (clear.dst, clear.src[1]) else { continue };
        let Some((j, shift)) = writer(&pcs[..i], &inst, bit, 2) else { continue };
        if shift.op != Op::SLshlB64 || shift.src[0] != Operand::InlineInt(1) {
            continue;
        }
        let Operand::Sgpr(index) = shift.src[1] else { continue };
        let Some((k, first)) = writer(&pcs[..j], &inst, index, 1) else { continue };
        let found = first.op == Op::SFf1I32B64 && first.src[0] == Operand::Sgpr(pair);
        let writers = l
            .blocks
            .iter()
            .flat_map(|&b| program.cfg.pcs(b, &program.flow))
            .filter(|&p| inst(p).is_some_and(|x| writes(x, pair, 2)))
            .count();
        let calls = l
            .blocks
            .iter()
            .flat_map(|&b| program.cfg.pcs(b, &program.flow))
            .any(|p| matches!(program.flow.kind[p as usize], wb_isa::FlowKind::Call { .. }));
        if found && writers == 1 && !calls {
            return Some(Bits { pair, find: pcs[k], shift: pcs[j], clear: pc });
        }
    }
    None
}

/// The last instruction that writes any of the registers, and where it stands.
fn writer<'a>(
    pcs: &[Pc],
    inst: &impl Fn(Pc) -> Option<&'a Inst>,
    first: u8,
    count: u8,
) -> Option<(usize, &'a Inst)> {
    let at = pcs.iter().rposition(|&pc| inst(pc).is_some_and(|x| writes(x, first, count)))?;
    inst(pcs[at]).filter(|x| x.dst == Operand::Sgpr(first)).map(|x| (at, x))
}

fn writes(inst: &Inst, first: u8, count: u8) -> bool {
    inst.uses().iter().any(|u| match u.operand {
        Operand::Sgpr(n) => u.write && n < first + count && first < n + u.dwords,
        _ => false,
    })
}
