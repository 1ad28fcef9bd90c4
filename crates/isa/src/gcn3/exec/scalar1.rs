//! Scalar ALU with one source: SOP1, among them the saveexec family and relative moves. The ones that
//! move the pc stand in `control`.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::{Operand, sreg};
use super::super::state::Regs;
use super::common::unsupported;
use super::operand::{get_i64, get32, get64, put32, put64};
use super::scalar::{relative, set_m0};
use crate::{Mask, Trap};

#[inline(always)]
fn map32(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u32) -> u32) -> u32 {
    let value = f(get32(regs, inst.src[0], path));
    put32(regs, inst.dst, value, path)
}

#[inline(always)]
fn map64(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u64) -> u64) -> u64 {
    let value = f(get64(regs, inst.src[0], path));
    put64(regs, inst.dst, value, path)
}

/// 64 bits in, 32 bits out.
#[inline(always)]
fn narrow(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u64) -> u32) -> u32 {
    let value = f(get64(regs, inst.src[0], path));
    put32(regs, inst.dst, value, path)
}

/// `dst = EXEC; EXEC = f(source, EXEC)`, SCC: some lane is on.
#[inline(always)]
fn save_exec(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u64, u64) -> u64) {
    let (source, exec) = (get64(regs, inst.src[0], path), regs.exec() & path);
    put64(regs, inst.dst, exec, path);
    regs.scc = put64(regs, Operand::EXEC, f(source, exec), path) != 0;
}

/// −1 where there is no such bit.
fn position(found: u32, bits: u32) -> u32 {
    if found >= bits { u32::MAX } else { found }
}

/// How many bits from the top equal the sign; −1 if all do.
fn sign_run(value: i64, bits: u32) -> u32 {
    let high = value << (64 - bits);
    let run = if high < 0 { high.leading_ones() } else { high.leading_zeros() };
    position(run, bits)
}

/// Bit 0 of each group of four: some bit of the group is set.
fn quads(value: u64) -> u64 {
    (value | value >> 1 | value >> 2 | value >> 3) & 0x1111_1111_1111_1111
}

/// Gathers bits 0, 4, 8, … into bits 0, 1, 2, …
fn gather_quads(value: u64) -> u64 {
    (0..16).fold(0, |mask, i| mask | (quads(value) >> (4 * i) & 1) << i)
}

pub(super) fn sop1(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    match inst.op {
        Op::SMovB32 => _ = map32(inst, regs, path, |a| a),
        Op::SMovB64 => _ = map64(inst, regs, path, |a| a),
        Op::SCmovB32 if regs.scc => _ = map32(inst, regs, path, |a| a),
        Op::SCmovB64 if regs.scc => _ = map64(inst, regs, path, |a| a),
        Op::SCmovB32 | Op::SCmovB64 => {}
        Op::SNotB32 => regs.scc = map32(inst, regs, path, |a| !a) != 0,
        Op::SNotB64 => regs.scc = map64(inst, regs, path, |a| !a) != 0,
        Op::SWqmB32 => regs.scc = map32(inst, regs, path, |a| (quads(a.into()) * 15) as u32) != 0,
        Op::SWqmB64 => regs.scc = map64(inst, regs, path, |a| quads(a) * 15) != 0,
        Op::SBrevB32 => _ = map32(inst, regs, path, u32::reverse_bits),
        Op::SBrevB64 => _ = map64(inst, regs, path, u64::reverse_bits),
        Op::SBcnt0I32B32 => regs.scc = map32(inst, regs, path, u32::count_zeros) != 0,
        Op::SBcnt0I32B64 => regs.scc = narrow(inst, regs, path, u64::count_zeros) != 0,
        Op::SBcnt1I32B32 => regs.scc = map32(inst, regs, path, u32::count_ones) != 0,
        Op::SBcnt1I32B64 => regs.scc = narrow(inst, regs, path, u64::count_ones) != 0,
        Op::SFf0I32B32 => _ = map32(inst, regs, path, |a| position(a.trailing_ones(), 32)),
        Op::SFf0I32B64 => _ = narrow(inst, regs, path, |a| position(a.trailing_ones(), 64)),
        Op::SFf1I32B32 => _ = map32(inst, regs, path, |a| position(a.trailing_zeros(), 32)),
        Op::SFf1I32B64 => _ = narrow(inst, regs, path, |a| position(a.trailing_zeros(), 64)),
        Op::SFlbitI32B32 => _ = map32(inst, regs, path, |a| position(a.leading_zeros(), 32)),
        Op::SFlbitI32B64 => _ = narrow(inst, regs, path, |a| position(a.leading_zeros(), 64)),
        Op::SFlbitI32 => _ = map32(inst, regs, path, |a| sign_run((a as i32).into(), 32)),
        Op::SFlbitI32I64 => {
            let value = get_i64(regs, inst.src[0], path);
            put32(regs, inst.dst, sign_run(value, 64), path);
        }
        Op::SSextI32I8 => _ = map32(inst, regs, path, |a| a as i8 as u32),
        Op::SSextI32I16 => _ = map32(inst, regs, path, |a| a as i16 as u32),
        Op::SBitset0B32 | Op::SBitset1B32 => {
            let bit = 1 << (get32(regs, inst.src[0], path) & 31);
            let old = get32(regs, inst.dst, path);
            let new = if inst.op == Op::SBitset1B32 { old | bit } else { old & !bit };
            put32(regs, inst.dst, new, path);
        }
        Op::SBitset0B64 | Op::SBitset1B64 => {
            let bit = 1 << (get32(regs, inst.src[0], path) & 63);
            let old = get64(regs, inst.dst, path);
            let new = if inst.op == Op::SBitset1B64 { old | bit } else { old & !bit };
            put64(regs, inst.dst, new, path);
        }
        Op::SAndSaveexecB64 => save_exec(inst, regs, path, |s, e| s & e),
        Op::SOrSaveexecB64 => save_exec(inst, regs, path, |s, e| s | e),
        Op::SXorSaveexecB64 => save_exec(inst, regs, path, |s, e| s ^ e),
        Op::SAndn2SaveexecB64 => save_exec(inst, regs, path, |s, e| s & !e),
        Op::SOrn2SaveexecB64 => save_exec(inst, regs, path, |s, e| s | !e),
        Op::SNandSaveexecB64 => save_exec(inst, regs, path, |s, e| !(s & e)),
        Op::SNorSaveexecB64 => save_exec(inst, regs, path, |s, e| !(s | e)),
        Op::SXnorSaveexecB64 => save_exec(inst, regs, path, |s, e| !(s ^ e)),
        Op::SQuadmaskB32 => regs.scc = map32(inst, regs, path, |a| gather_quads(a.into()) as u32) != 0,
        Op::SQuadmaskB64 => regs.scc = map64(inst, regs, path, gather_quads) != 0,
        Op::SMovrelsB32 => {
            let value = get32(regs, relative(regs, inst, inst.src[0], 1)?, path);
            put32(regs, inst.dst, value, path);
        }
        Op::SMovrelsB64 => {
            let value = get64(regs, relative(regs, inst, inst.src[0], 2)?, path);
            put64(regs, inst.dst, value, path);
        }
        Op::SMovreldB32 => {
            let value = get32(regs, inst.src[0], path);
            put32(regs, relative(regs, inst, inst.dst, 1)?, value, path);
        }
        Op::SMovreldB64 => {
            let value = get64(regs, inst.src[0], path);
            put64(regs, relative(regs, inst, inst.dst, 2)?, value, path);
        }
        Op::SAbsI32 => regs.scc = map32(inst, regs, path, |a| (a as i32).wrapping_abs() as u32) != 0,
        Op::SSetGprIdxIdx => {
            let index = get32(regs, inst.src[0], path) & 0xff;
            set_m0(regs, 0xff, index);
        }
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}

/// M0, the register relative moves and DS instructions read.
pub(super) fn m0(regs: &Regs) -> u32 {
    regs.s[usize::from(sreg::M0)]
}
