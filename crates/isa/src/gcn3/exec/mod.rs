//! What instructions do. `exec` hands each encoding to its module; the vector ALU is `gcn3::valu`.
//! EXEC is architectural; the path's mask is laid over it on every read and write.

mod access;
mod atomic;
mod buffer;
mod common;
mod control;
mod ds;
mod flat;
mod format;
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
pub use common::active;
pub(super) use control::target;

use super::inst::{Format, Inst};
use super::op::Op;
use super::state::{Regs, mode};
use crate::{At, Bus, Flow, Mask, Trap};
use common::unsupported;

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
        Format::Sop2 => scalar::sop2(inst, regs, path)?,
        Format::Sop1 => match inst.op {
            Op::SGetpcB64 | Op::SSetpcB64 | Op::SSwappcB64 => {
                return control::pc_move(inst, at, regs, path, code_base);
            }
            _ => scalar1::sop1(inst, regs, path)?,
        },
        Format::Sopc => match inst.op {
            Op::Split | Op::SplitEnd => return Ok(control::split(inst, regs, path)),
            Op::Merge => return Ok(Flow::Merge),
            _ => scalar::sopc(inst, regs, path)?,
        },
        Format::Sopk => match inst.op {
            Op::SGetregB32 | Op::SSetregB32 | Op::SSetregImm32B32 => control::hardware(inst, at, regs, path)?,
            _ => scalar::sopk(inst, regs, path)?,
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
        Format::Flat => flat::exec(inst, regs, bus, active(regs, path))?,
        Format::Mubuf => buffer::exec(inst, regs, bus, path)?,
        Format::Mimg => return Err(unsupported(inst)),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Sdwa | Format::Dpp => {
            vector::exec(inst, regs, path)?;
        }
    }
    Ok(Flow::Next)
}

/// A scalar instruction that computes a lane mask, on `base` instead of the path's scalars: EXEC there is the program's, with the lanes
/// of other paths (THESIS 4.3.3, `e_b`). False if it is none.
pub(super) fn on_base(inst: &Inst, regs: &mut Regs, base: &mut [u32]) -> bool {
    if base.len() != regs.s.len() {
        return false;
    }
    let scc = regs.scc;
    regs.s.swap_with_slice(base);
    let done = match inst.format {
        Format::Sop2 => scalar::sop2(inst, regs, Mask::MAX).is_ok(),
        Format::Sop1 => scalar1::sop1(inst, regs, Mask::MAX).is_ok(),
        _ => false,
    };
    regs.s.swap_with_slice(base);
    regs.scc = scc;
    done
}
