//! Control flow and the wave's own state: SOPP, pc moves, hardware registers, clocks. Branches test
//! scalar conditions, so the whole path goes one way: a branch is a jump or nothing.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::state::{Regs, mode};
use super::super::symbols::hwreg_fields;
use super::common::unsupported;
use super::operand::{get32, get64, put32, put64};
use super::scalar::{set_m0, set_mode};
use crate::{At, Flow, Mask, NO_PC, Pc, Trap};

/// Target of a relative branch.
pub(in crate::gcn3) fn target(inst: &Inst, next: Pc) -> Pc {
    next.wrapping_add_signed((inst.imm as i16).into())
}

fn pc_of(addr: u64, code_base: u64) -> Result<Pc, Trap> {
    let offset = addr.wrapping_sub(code_base);
    match Pc::try_from(offset / 4) {
        Ok(pc) if offset.is_multiple_of(4) && pc != NO_PC => Ok(pc),
        _ => Err(Trap::BadTarget { addr }),
    }
}

/// SOP1 instructions that read or set the pc.
pub(super) fn pc_move(
    inst: &Inst,
    at: &At,
    regs: &mut Regs,
    path: Mask,
    code_base: u64,
) -> Result<Flow, Trap> {
    let next = code_base.wrapping_add(u64::from(at.next) * 4);
    match inst.op {
        Op::SGetpcB64 => {
            put64(regs, inst.dst, next, path);
            Ok(Flow::Next)
        }
        Op::SSetpcB64 => Ok(Flow::Jump(pc_of(get64(regs, inst.src[0], path), code_base)?)),
        Op::SSwappcB64 => {
            let pc = pc_of(get64(regs, inst.src[0], path), code_base)?;
            put64(regs, inst.dst, next, path);
            Ok(Flow::Jump(pc))
        }
        Op::SCallB64 => {
            put64(regs, inst.dst, next, path);
            Ok(Flow::Jump(target(inst, at.next)))
        }
        _ => Err(unsupported(inst)),
    }
}

/// Whether a branch on SCC or VCC jumps; none for anything else.
#[inline(always)]
pub(super) fn taken(op: Op, regs: &Regs) -> Option<bool> {
    Some(match op {
        Op::SBranch => true,
        Op::SCbranchScc0 => !regs.scc,
        Op::SCbranchScc1 => regs.scc,
        Op::SCbranchVccz => regs.vcc() == 0,
        Op::SCbranchVccnz => regs.vcc() != 0,
        _ => return None,
    })
}

/// Instructions that change nothing a program can see, whatever their field says.
pub(super) fn is_quiet(op: Op) -> bool {
    matches!(
        op,
        // No debugger is attached.
        Op::SCbranchCdbgsys
            | Op::SCbranchCdbguser
            | Op::SCbranchCdbgsysOrUser
            | Op::SCbranchCdbgsysAndUser
            | Op::SNop
            | Op::SWaitcnt
            | Op::SSleep
            | Op::SWakeup
            | Op::SSetprio
            | Op::SIcacheInv
            | Op::SIncperflevel
            | Op::SDecperflevel
            | Op::STtracedata
    )
}

pub(super) fn sopp(inst: &Inst, at: &At, regs: &mut Regs, path: Mask) -> Result<Flow, Trap> {
    if let Some(taken) = taken(inst.op, regs) {
        return Ok(if taken { Flow::Jump(target(inst, at.next)) } else { Flow::Next });
    }
    if is_quiet(inst.op) {
        return Ok(Flow::Next);
    }
    let imm = inst.imm as u32 & 0xffff;
    match inst.op {
        Op::SCbranchExecz | Op::SCbranchExecnz => {
            let active = regs.exec() & path;
            let jump = (active == 0) == (inst.op == Op::SCbranchExecz);
            let marked = regs.mode & mode::SPLIT != 0;
            return Ok(Flow::MaskBranch { active, jump, target: target(inst, at.next), marked });
        }
        Op::SEndpgm | Op::SEndpgmSaved => return Ok(Flow::Exit { lanes: at.mask }),
        // Paths of a split wave wait for each other even where the wave is alone in its group.
        Op::SBarrier if regs.waves_in_group > 1 || !at.whole => {
            return Ok(Flow::Barrier { id: regs.group.into(), count: regs.waves_in_group.into() });
        }
        Op::SBarrier => {}
        Op::SSetkill | Op::SSethalt if imm & 1 == 0 => {}
        Op::SSetGprIdxOff => set_mode(regs, mode::GPR_IDX, false),
        Op::SSetGprIdxMode => set_m0(regs, 0xf000, (imm & 15) << 12),
        Op::STrap => {
            let text = format!("s_trap {imm}: the kernel stopped itself (llvm.trap, abort or an assertion)");
            return Err(Trap::Other(text));
        }
        _ => return Err(unsupported(inst)),
    }
    Ok(Flow::Next)
}

/// PWS 4.1: the two operands are the lanes that stay, low half first. `split_end` is ours: no merge belongs to it.
pub(super) fn split(inst: &Inst, regs: &Regs, path: Mask) -> Flow {
    let (low, high) = (get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
    Flow::SplitLanes { keep: u64::from(low) | u64::from(high) << 32, apart: inst.op == Op::SplitEnd }
}

/// Numbers of hardware registers.
mod hwreg {
    pub const MODE: u32 = 1;
    pub const STATUS: u32 = 2;
    pub const TRAPSTS: u32 = 3;
    pub const HW_ID: u32 = 4;
    pub const GPR_ALLOC: u32 = 5;
    pub const LDS_ALLOC: u32 = 6;
    pub const IB_STS: u32 = 7;
}

/// s_getreg and s_setreg. MODE is real state; the others say what they can and cannot be written, but
/// for exception flags, which are never set here and so are cleared by doing nothing.
pub(super) fn hardware(inst: &Inst, at: &At, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    let (id, first, count) = hwreg_fields(inst.imm);
    let mask = (u64::MAX >> (64 - count)) as u32;
    if inst.op == Op::SGetregB32 {
        let value = match id {
            hwreg::MODE => regs.mode,
            hwreg::STATUS => status(regs, path),
            hwreg::TRAPSTS | hwreg::IB_STS => 0,
            // Wave, compute unit and shader engine.
            hwreg::HW_ID => regs.wave_in_group & 15 | (at.core & 15) << 8 | (at.core >> 4 & 3) << 13,
            hwreg::GPR_ALLOC => ((regs.vgprs.div_ceil(4).max(1) - 1) & 63) << 8,
            hwreg::LDS_ALLOC => (regs.lds_bytes.div_ceil(512) & 0x1ff) << 12,
            _ => return Err(unsupported(inst)),
        };
        put32(regs, inst.dst, value >> first & mask, path);
        return Ok(());
    }
    let value = get32(regs, inst.src[1], path);
    match id {
        hwreg::MODE => regs.mode = regs.mode & !(mask << first) | (value & mask) << first,
        hwreg::TRAPSTS => {}
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}

/// SCC, EXECZ, VCCZ, in a group of several waves, valid.
fn status(regs: &Regs, path: Mask) -> u32 {
    u32::from(regs.scc)
        | u32::from(regs.exec() & path == 0) << 9
        | u32::from(regs.vcc() == 0) << 10
        | u32::from(regs.waves_in_group > 1) << 11
        | 1 << 16
}
