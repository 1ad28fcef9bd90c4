//! Operations that look at single lanes or at registers by number: readlane, writelane, readfirstlane and
//! the moves relative to M0; and the two that do nothing.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::{Operand, Ty, sreg};
use super::super::state::Regs;
use super::operation::{bad_operand, resolve, vector_row};
use super::row_engine::Src;
use crate::lanes::bits;
use crate::{Mask, Trap};

#[inline(always)]
pub(super) fn is_one(op: Op) -> bool {
    matches!(
        op,
        Op::VNop
            | Op::VClrexcp
            | Op::VReadfirstlaneB32
            | Op::VReadlaneB32
            | Op::VWritelaneB32
            | Op::VMovreldB32
            | Op::VMovrelsB32
            | Op::VMovrelsdB32
            | Op::VSwapB32
            | Op::VAccvgprMovB32
    )
}

/// A value that is the same in all lanes, or that of one lane.
fn value(inst: &Inst, regs: &mut Regs, i: usize, lane: u32) -> Result<u32, Trap> {
    Ok(match resolve(inst, regs, i, Ty::B32)? {
        Src::Splat(v) => v as u32,
        Src::Row(row) => regs.v.get(row, lane % regs.v.lanes().max(1)),
        Src::Copy(row) => row[lane as usize % row.len()],
    })
}

fn set_scalar(inst: &Inst, regs: &mut Regs, v: u32) -> Result<(), Trap> {
    let Operand::Sgpr(n) = inst.dst else {
        return Err(bad_operand(inst, inst.dst));
    };
    regs.s[usize::from(n & 127)] = v;
    Ok(())
}

/// `operand` moved by M0 registers.
fn relative(inst: &Inst, regs: &Regs, operand: Operand) -> Result<Operand, Trap> {
    let Operand::Vgpr(n) = operand else {
        return Err(bad_operand(inst, operand));
    };
    let moved = u32::from(n).wrapping_add(regs.s[usize::from(sreg::M0)]);
    let outside = || Trap::Other(format!("{}: M0 leads to register {}", inst.op.name(), moved as i32));
    Ok(Operand::Vgpr(u8::try_from(moved).map_err(|_| outside())?))
}

pub(super) fn execute(inst: &Inst, regs: &mut Regs, lanes: Mask) -> Result<(), Trap> {
    match inst.op {
        Op::VReadfirstlaneB32 => {
            // No active lane: lane 0.
            let lane = if lanes == 0 { 0 } else { lanes.trailing_zeros() };
            let v = value(inst, regs, 0, lane)?;
            set_scalar(inst, regs, v)
        }
        Op::VReadlaneB32 => {
            let lane = value(inst, regs, 1, 0)? & 63;
            let v = value(inst, regs, 0, lane)?;
            set_scalar(inst, regs, v)
        }
        Op::VWritelaneB32 => {
            let lane = (value(inst, regs, 1, 0)? & 63) % regs.v.lanes().max(1);
            let v = value(inst, regs, 0, 0)?;
            let row = vector_row(inst, regs, inst.dst, Ty::B32)?;
            regs.v.set(row, lane, v);
            Ok(())
        }
        Op::VMovreldB32 | Op::VMovrelsB32 | Op::VMovrelsdB32 => {
            let mut moved = *inst;
            if inst.op != Op::VMovrelsB32 {
                moved.dst = relative(inst, regs, inst.dst)?;
            }
            if inst.op != Op::VMovreldB32 {
                moved.src[0] = relative(inst, regs, inst.src[0])?;
            }
            let row = vector_row(&moved, regs, moved.dst, Ty::B32)?;
            for lane in bits(lanes) {
                let v = value(&moved, regs, 0, lane)?;
                regs.v.set(row, lane, v);
            }
            Ok(())
        }
        Op::VSwapB32 => {
            let (a, b) =
                (vector_row(inst, regs, inst.dst, Ty::B32)?, vector_row(inst, regs, inst.src[0], Ty::B32)?);
            for lane in bits(lanes) {
                let (x, y) = (regs.v.get(a, lane), regs.v.get(b, lane));
                regs.v.set(a, lane, y);
                regs.v.set(b, lane, x);
            }
            Ok(())
        }
        Op::VAccvgprMovB32 => {
            let (to, from) =
                (vector_row(inst, regs, inst.dst, Ty::B32)?, vector_row(inst, regs, inst.src[0], Ty::B32)?);
            for lane in bits(lanes) {
                let v = regs.v.get(from, lane);
                regs.v.set(to, lane, v);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
