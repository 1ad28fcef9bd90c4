//! Lane masks in scalar registers, as the splitting mechanisms and the analyser see them: which instruction
//! changes EXEC how, which scalar operands are masks, and what a path has of its own (mechanisms 6 and 7).

use super::inst::{Format, Inst};
use super::op::Op;
use super::operand::{Operand, Ty, sreg};
use super::state::{FIRST_SCALAR, MODE, Regs, SCC};
use super::table::Halves;
use crate::{LaneEffect, Mask, MaskOp, Needed};

/// Register id of a scalar operand.
fn id(operand: Operand) -> Option<u16> {
    match operand {
        Operand::Sgpr(n) => Some(FIRST_SCALAR + u16::from(n)),
        _ => None,
    }
}

/// What `inst` does to EXEC.
pub(super) fn lane_effect(inst: &Inst) -> LaneEffect {
    let [a, b, _] = inst.src;
    let save = |op| match id(inst.dst) {
        Some(dst) => LaneEffect::Save { dst, src: id(a), op },
        None => LaneEffect::Set { src: None },
    };
    match inst.op {
        Op::SAndSaveexecB64 => return save(MaskOp::And),
        Op::SAndn2SaveexecB64 => return save(MaskOp::NotAnd),
        Op::SOrSaveexecB64 => return save(MaskOp::Or),
        Op::SXorSaveexecB64 => return save(MaskOp::Xor),
        Op::SOrn2SaveexecB64 | Op::SNandSaveexecB64 | Op::SNorSaveexecB64 | Op::SXnorSaveexecB64 => {
            return save(MaskOp::Other);
        }
        Op::VWritelaneB32 => return LaneEffect::Spill,
        _ => {}
    }
    if inst.dst == Operand::EXEC {
        let from = [a, b].map(|o| o == Operand::EXEC);
        let other = if from[0] { b } else { a };
        let op = match inst.op {
            Op::SAndB64 => MaskOp::And,
            Op::SAndn2B64 if from[0] => MaskOp::AndNot,
            Op::SAndn2B64 => MaskOp::NotAnd,
            Op::SOrB64 => MaskOp::Or,
            Op::SXorB64 => MaskOp::Xor,
            Op::SMovB64 => return LaneEffect::Set { src: id(a) },
            _ => MaskOp::Other,
        };
        return match from.contains(&true) && op != MaskOp::Other {
            true => LaneEffect::Apply { src: id(other), op },
            false => LaneEffect::Set { src: None },
        };
    }
    if inst.op == Op::SMovB64
        && a == Operand::EXEC
        && let Some(dst) = id(inst.dst)
    {
        return LaneEffect::Copy { dst };
    }
    let half = |o: Operand| matches!(o, Operand::Sgpr(n) if n == sreg::EXEC || n == sreg::EXEC + 1);
    if half(inst.dst) || inst.entry().compare().is_some_and(|c| c.exec) {
        return LaneEffect::Set { src: None };
    }
    LaneEffect::Keep
}

/// Whether the 64-bit result is a lane mask exactly if it is used as one.
pub(super) fn mask_flow(inst: &Inst) -> bool {
    carries(inst.op, lane_effect(inst))
}

/// The same, from what the instruction does to EXEC.
pub(super) fn carries(op: Op, lanes: LaneEffect) -> bool {
    matches!(
        op,
        Op::SMovB64
            | Op::SCmovB64
            | Op::SNotB64
            | Op::SWqmB64
            | Op::SAndB64
            | Op::SOrB64
            | Op::SXorB64
            | Op::SAndn2B64
            | Op::SOrn2B64
            | Op::SNandB64
            | Op::SNorB64
            | Op::SXnorB64
            | Op::SCselectB64
    ) || matches!(lanes, LaneEffect::Save { .. })
}

/// Whether lanes see each other's vector registers.
pub(super) fn cross_lane(inst: &Inst) -> bool {
    inst.format == Format::Dpp
        || inst.entry().halves == Halves::Blocks
        || matches!(
            inst.op,
            Op::VReadfirstlaneB32
                | Op::VReadlaneB32
                | Op::DsSwizzleB32
                | Op::DsPermuteB32
                | Op::DsBpermuteB32
        )
}

/// Scalar registers that `inst` reads as lane masks.
pub(super) fn mask_reads(inst: &Inst) -> Vec<u16> {
    let entry = inst.entry();
    let whole = matches!(
        inst.op,
        Op::SCmpEqU64 | Op::SCmpLgU64 | Op::SBcnt0I32B64 | Op::SBcnt1I32B64 | Op::SFf1I32B64 | Op::SFf0I32B64
    );
    let mut out = Vec::with_capacity(4);
    let mut pair = |first: u16| out.extend([first, first + 1]);
    pair(FIRST_SCALAR + u16::from(sreg::EXEC));
    for i in 0..3 {
        if let Some(first) = id(inst.src[i])
            && (whole || entry.src[i] == Ty::Mask)
        {
            pair(first);
        }
    }
    if entry.reads & super::table::implicit::VCC != 0 {
        pair(FIRST_SCALAR + u16::from(sreg::VCC));
    }
    out
}

/// A path's own state, lanes' registers left out.
pub(super) fn fork(regs: &Regs) -> Regs {
    regs.without_vectors()
}

/// Scalars that two paths need as plain values and have different.
pub(super) fn differ(a: &Regs, b: &Regs, needed: &Needed) -> Vec<u16> {
    let mut out = Vec::new();
    if a.s != b.s {
        let differ = (0..128).filter(|&i| a.s[i] != b.s[i] && needed.is_value(i));
        out.extend(differ.map(|i| FIRST_SCALAR + i as u16));
    }
    if a.scc != b.scc && needed.is_live(usize::from(SCC - FIRST_SCALAR)) {
        out.push(SCC);
    }
    if a.mode != b.mode {
        out.push(MODE);
    }
    out
}

/// Scalars of two paths that become one (mechanisms 7): what nobody reads again may differ, a lane mask is put
/// together by lanes, `take` comes from the path that ends.
pub(super) fn merge(into: &mut Regs, from: &Regs, lanes: Mask, needed: &Needed, take: &[u16]) {
    for i in (0..128).filter(|&i| needed.is_live(i) && !needed.is_value(i)) {
        let part = (lanes >> (32 * (i & 1))) as u32;
        into.s[i] = into.s[i] & !part | from.s[i] & part;
    }
    for &register in take {
        match register {
            SCC => into.scc = from.scc,
            MODE => into.mode = from.mode,
            r => into.s[usize::from(r - FIRST_SCALAR)] = from.s[usize::from(r - FIRST_SCALAR)],
        }
    }
}

/// EXEC in a path's base registers.
pub(super) fn base_mask(base: &[u32]) -> Mask {
    let word = |n: u8| base.get(usize::from(n)).map_or(u64::MAX, |&w| u64::from(w));
    word(sreg::EXEC) & 0xffff_ffff | word(sreg::EXEC + 1) << 32
}

/// Base registers of two paths that became one: masks by lanes, the rest as the merged path has it.
pub(super) fn merge_base(base: &mut [u32], from: &[u32], lanes: Mask, needed: &Needed, regs: &Regs) {
    for (i, (mine, theirs)) in base.iter_mut().zip(from).enumerate() {
        let part = (lanes >> (32 * (i & 1))) as u32;
        let mask = needed.is_live(i) && !needed.is_value(i);
        *mine = if mask { *mine & !part | theirs & part } else { regs.s[i] };
    }
}
