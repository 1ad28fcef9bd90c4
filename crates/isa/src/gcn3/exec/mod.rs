//! What instructions do. `exec` hands each encoding to its module; the vector ALU is `gcn3::valu`.
//! EXEC is architectural; the path's mask is laid over it on every read and write.

mod access;
mod atomic;
mod bound;
mod buffer;
mod common;
mod control;
mod ds;
mod flat;
mod format;
mod lanes;
mod modify;
mod operand;
mod scalar;
mod scalar1;
mod shuffle;
mod smem;
mod space;
#[cfg(test)]
mod tests;
mod vector;

pub(super) use access::SCRATCH_WORD3;
pub use bound::Bound;
pub use common::active;
pub(super) use control::target;

use super::inst::{Format, Inst};
use super::op::Op;
use super::state::{Regs, mode};
use crate::{At, Bus, Flow, Mask, Trap};
use common::unsupported;
use operand::Decoded;

/// The lanes EXEC may have on this path. In a wave that was never split EXEC is as the program
/// wrote it, also for lanes that were not launched (whole-wave spills of functions rely on them).
#[inline(always)]
fn path_mask(at: &At) -> Mask {
    if at.whole { Mask::MAX } else { at.mask }
}

#[inline]
pub(super) fn exec<B: Bus>(
    inst: &Inst,
    at: &At,
    regs: &mut Regs,
    bus: &mut B,
    code_base: u64,
) -> Result<Flow, Trap> {
    let path = path_mask(at);
    match inst.format {
        Format::Sop1 if matches!(inst.op, Op::SGetpcB64 | Op::SSetpcB64 | Op::SSwappcB64) => {
            return control::pc_move(inst, at, regs, path, code_base);
        }
        Format::Sop1 | Format::Sop2 => scalar_alu(inst, regs, path)?,
        Format::Sopc => match inst.op {
            Op::Split | Op::SplitEnd => return Ok(control::split(inst, regs, path)),
            Op::Merge => return Ok(Flow::Merge),
            op => match scalar::sopc(op) {
                Some(run) => run(&Decoded { inst, path }, regs),
                None => scalar::change_mode(inst, regs, path)?,
            },
        },
        Format::Sopk => match inst.op {
            Op::SCallB64 => return control::pc_move(inst, at, regs, path, code_base),
            Op::SGetregB32 | Op::SSetregB32 | Op::SSetregImm32B32 => control::hardware(inst, at, regs, path)?,
            op => match scalar::sopk(op) {
                Some(run) => run(&Decoded { inst, path }, regs),
                None => return Err(unsupported(inst)),
            },
        },
        // MSG_INTERRUPT rings the host's bell; nobody else gets messages.
        Format::Sopp if inst.op == Op::SSendmsg && inst.imm & 15 == 1 => {
            if !bus.message().map_err(Trap::Other)? {
                return Err(unsupported(inst));
            }
        }
        Format::Sopp => return control::sopp(inst, at, regs, path),
        Format::Smem => smem::exec(inst, at, regs, bus, path)?,
        _ if regs.mode & mode::VSKIP != 0 => {}
        Format::Ds => ds::exec(inst, regs, bus, active(regs, path))?,
        Format::Flat | Format::Global | Format::Scratch => flat::exec(inst, regs, bus, path)?,
        Format::Mubuf | Format::Mtbuf => buffer::exec(inst, regs, bus, path)?,
        Format::Mimg | Format::Vintrp | Format::Exp => return Err(unsupported(inst)),
        Format::Vop1
        | Format::Vop2
        | Format::Vopc
        | Format::Vop3
        | Format::Vop3p
        | Format::Sdwa
        | Format::Dpp => {
            vector::exec(inst, regs, path)?;
        }
    }
    Ok(Flow::Next)
}

/// SOP1 and SOP2 without pc moves.
fn scalar_alu(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    let two = inst.format == Format::Sop2;
    match if two { scalar::sop2(inst.op) } else { scalar1::sop1(inst.op) } {
        Some(run) => run(&Decoded { inst, path }, regs),
        None if two => return Err(unsupported(inst)),
        None => scalar1::relative_moves(inst, regs, path)?,
    }
    Ok(())
}

/// A scalar instruction that computes a lane mask, on `base` instead of the path's scalars: EXEC there is the program's, with the lanes
/// of other paths (THESIS 4.3.3, `e_b`). False if it is none.
pub(super) fn on_base(inst: &Inst, regs: &mut Regs, base: &mut [u32]) -> bool {
    if base.len() != regs.s.len() {
        return false;
    }
    let scc = regs.scc;
    regs.s.swap_with_slice(base);
    let scalar = matches!(inst.format, Format::Sop1 | Format::Sop2);
    let done = scalar && scalar_alu(inst, regs, Mask::MAX).is_ok();
    regs.s.swap_with_slice(base);
    regs.scc = scc;
    done
}
