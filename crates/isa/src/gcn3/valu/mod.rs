//! Vector ALU: what VOP1, VOP2, VOP3 and VOPC compute in each lane. Plain instructions run on the registers
//! in place; output modifiers, SDWA and DPP go through [`prepare`], on a copy of their operands. A loaded program has them
//! [bound](Vector) to their operands; [`execute`] is the definition, and does what is not bound.

mod bound;
mod compare;
mod cross;
mod directed;
mod div;
mod dot;
mod double;
mod eight;
mod float;
mod half;
mod int;
mod matrix;
mod moved;
mod near;
mod num;
mod operation;
mod outcome;
mod packed;
mod pairs;
mod prepare;
mod row_engine;
mod shapes;
mod source;
mod sums;
#[cfg(test)]
mod tests;
mod transcendental;
mod wide;

pub(super) use bound::{Both, Vector, shape};
pub(super) use moved::Moved;
pub(super) use num::{half_from_f64, half_to_f64};
pub(super) use prepare::source_lane;

use super::inst::{Format, Inst, NO_SDST};
use super::op::Op;
use super::operand::Ty;
use super::state::Regs;
use crate::lanes::CHUNK;
use crate::{Mask, Trap, first_lanes};
use operation::{modifiers_in_place, resolve, run, sign_bit, vector_row, write_condition};
use row_engine::{Cx, LANES, Src};

/// Runs a vector ALU instruction in `lanes`. Only their bits are set in masks and in EXEC.
pub fn execute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    let lanes = lanes & first_lanes(regs.v.lanes());
    let whole = regs.v.chunks_per_row() * CHUNK == LANES;
    if inst.format == Format::Vop3p {
        return packed::execute(inst, regs, lanes);
    }
    if let Some(op) = packed::accumulating(inst.op) {
        return packed::accumulate(inst, op, regs, lanes);
    }
    let moved = matches!(inst.format, Format::Sdwa | Format::Dpp);
    if moved || inst.omod != 0 || inst.clamp() || !whole || operation::selects_halves(inst) {
        return prepare::execute(inst, regs, lanes);
    }
    let entry = inst.entry();
    let mut and = [!0; 3];
    let mut xor = [0; 3];
    if inst.abs | inst.neg != 0 {
        if !modifiers_in_place(inst) {
            return prepare::execute(inst, regs, lanes);
        }
        for i in 0..3 {
            let sign = sign_bit(entry.src[i]);
            and[i] = if inst.abs >> i & 1 == 1 { !sign } else { !0 };
            xor[i] = if inst.neg >> i & 1 == 1 { sign } else { 0 };
        }
    }
    if cross::is_one(inst.op) {
        return cross::execute(inst, regs, lanes);
    }
    let round = if regs.mode & 15 != 0 { directed::wanted(inst, regs.mode)? } else { None };
    let mut src = [Src::Splat(0); 3];
    let mut mask_in = 0;
    for (i, &ty) in entry.src.iter().enumerate() {
        if ty == Ty::None {
            break;
        }
        let source = resolve(inst, regs, i, ty)?;
        match source {
            Src::Splat(v) if ty == Ty::Mask => mask_in = v,
            _ => src[i] = source,
        }
    }
    if matches!(inst.op, Op::VDivFmasF32 | Op::VDivFmasF64) {
        mask_in = regs.vcc();
    }
    let mode = regs.mode;
    let compare = entry.compare();
    let dst = if compare.is_some() { 0 } else { vector_row(inst, regs, inst.dst, entry.dst)? };
    let file = regs.v.chunks_mut().as_flattened_mut().as_chunks_mut().0;
    let mask_out = 0;
    let modified = inst.abs | inst.neg != 0;
    let mut cx = Cx { file, dst, src, modified, and, xor, clamp: false, lanes, mask_in, mask_out, mode };
    if let Some(compare) = compare {
        let found = compare::run(compare, entry.src[0], &mut cx);
        write_condition(inst, regs, found, compare.exec);
        return Ok(());
    }
    match round {
        None => run(inst, &mut cx)?,
        Some(round) => directed::run(inst, &mut cx, round)?,
    }
    let carry = cx.mask_out;
    if inst.sdst != NO_SDST {
        regs.set_pair(inst.sdst, carry);
    }
    Ok(())
}
