//! One operation: where its sources are, the loop that computes it, where a condition goes.

use super::super::inst::{Inst, NO_SDST};
use super::super::op::Op;
use super::super::operand::{Operand, Ty, sreg};
use super::super::state::{Regs, window_value};
use super::super::table::Halves;
use super::row_engine::{Cx, Run, Src};
use super::{double, float, half, int};
use crate::{Mask, Trap};

/// The loop of an operation that is no comparison; none if it does not exist, or not with clamp.
pub(super) fn find(inst: &Inst, clamp: bool) -> Option<Run> {
    let entry = inst.entry();
    let op = inst.op;
    match (entry.src[0], entry.dst) {
        (Ty::F32, Ty::F64) => double::find(op),
        (Ty::F32, _) => float::find(op),
        (Ty::F64, _) | (_, Ty::F64) => double::find(op),
        (Ty::F16, _) => half::find(op),
        (_, Ty::F32) => float::find(op),
        (_, Ty::F16 | Ty::I16 | Ty::U16 | Ty::B16) => half::find_int(op, clamp).or_else(|| int::find(op)),
        _ => int::find(op),
    }
}

/// Runs an operation that is no comparison.
#[inline(always)]
pub(super) fn run(inst: &Inst, cx: &mut Cx) -> Result<(), Trap> {
    let run = find(inst, cx.clamp).ok_or_else(|| unsupported(inst))?;
    run(cx);
    Ok(())
}

#[cold]
fn unsupported(inst: &Inst) -> Trap {
    let clamp = if inst.clamp() { " with clamp" } else { "" };
    Trap::Other(format!("the vector operation {}{clamp} is not supported", inst.op.name()))
}

/// Sign bit of the dword that holds the sign.
pub(super) fn sign_bit(ty: Ty) -> u32 {
    if ty.bits() == 16 { 1 << 15 } else { 1 << 31 }
}

/// Whether halves of operands are selected, or half of the destination stays as it is.
pub(super) fn selects_halves(inst: &Inst) -> bool {
    inst.entry().halves != Halves::Whole || inst.keeps_half()
}

/// Whether abs and neg stand only where the row engine applies them itself.
#[inline(always)]
pub(super) fn modifiers_in_place(inst: &Inst) -> bool {
    let entry = inst.entry();
    let float = |i: usize| (inst.abs | inst.neg) >> i & 1 == 0 || entry.src[i].is_float();
    let by_lane = matches!(
        inst.op,
        Op::VDivScaleF32 | Op::VDivScaleF64 | Op::VDivFmasF32 | Op::VDivFmasF64 | Op::VCndmaskB32
    );
    float(0) && float(1) && float(2) && !by_lane
}

/// Row of a vector register operand; an error if the wave has no such registers.
#[inline(always)]
pub(super) fn vector_row(inst: &Inst, regs: &mut Regs, operand: Operand, ty: Ty) -> Result<usize, Trap> {
    let first = match operand {
        Operand::Vgpr(first) => usize::from(first),
        Operand::Agpr(first) => regs.vgprs as usize + usize::from(first),
        _ => return Err(bad_operand(inst, operand)),
    };
    let per_row = regs.v.chunks_per_row();
    let end = (first + usize::from(ty.dwords())) * per_row;
    if end > regs.v.chunks_mut().len() {
        return Err(bad_operand(inst, operand));
    }
    Ok(first)
}

#[cold]
pub(super) fn bad_operand(inst: &Inst, operand: Operand) -> Trap {
    let name = inst.op.name();
    Trap::Other(match operand {
        Operand::Agpr(n) => format!("{name}: a{n} is beyond the accumulators of this wave"),
        Operand::Vgpr(n) => format!("{name}: v{n} is beyond the vector registers of this wave"),
        Operand::LdsDirect => format!("{name}: reading LDS directly as an operand is not supported"),
        _ => format!("{name}: operand {operand:?} is not one a vector operation can use there"),
    })
}

/// Source `i` as a row or the value all lanes read, abs and neg applied to the latter by the engine.
#[inline(always)]
pub(super) fn resolve(inst: &Inst, regs: &mut Regs, i: usize, ty: Ty) -> Result<Src<'static>, Trap> {
    Ok(match inst.src[i] {
        Operand::Vgpr(_) | Operand::Agpr(_) => Src::Row(vector_row(inst, regs, inst.src[i], ty)?),
        Operand::Sgpr(n) if ty.dwords() == 1 => Src::Splat(regs.s[usize::from(n & 127)].into()),
        Operand::Sgpr(n) => Src::Splat(regs.pair(n)),
        Operand::VccZ => Src::Splat((regs.vcc() == 0).into()),
        Operand::ExecZ => Src::Splat((regs.exec() == 0).into()),
        Operand::Scc => Src::Splat(regs.scc.into()),
        Operand::Window(window) => Src::Splat(window_value(window, ty.dwords())),
        operand => Src::Splat(operand.constant(ty).ok_or_else(|| bad_operand(inst, operand))?),
    })
}

/// Where the condition mask of a comparison goes.
pub(super) fn condition_pair(inst: &Inst) -> u8 {
    match inst.dst {
        Operand::Sgpr(pair) => pair,
        _ if inst.sdst != NO_SDST => inst.sdst,
        _ => sreg::VCC,
    }
}

/// The condition mask of a comparison; v_cmpx also makes it EXEC.
pub(super) fn write_condition(inst: &Inst, regs: &mut Regs, found: Mask, exec: bool) {
    regs.set_pair(condition_pair(inst), found);
    if exec {
        regs.set_pair(sreg::EXEC, found);
    }
}
