//! Scalar ALU: SOP2, SOPC and SOPK. SCC is what the operation defines: carry, overflow, choice, or
//! "result is not zero"; shift counts and bit numbers use as many bits as the operand needs.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::{Operand, sreg};
use super::super::state::{Regs, mode};
use super::common::unsupported;
use super::operand::{get_i64, get32, get64, put32, put64};
use crate::{Mask, Trap};

/// Result and SCC from two dwords and SCC.
#[inline(always)]
fn arith(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u32, u32, bool) -> (u32, bool)) {
    let (a, b) = (get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
    let (result, scc) = f(a, b, regs.scc);
    put32(regs, inst.dst, result, path);
    regs.scc = scc;
}

/// SCC: the stored result is not zero.
#[inline(always)]
fn bits32(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u32, u32) -> u32) {
    let (a, b) = (get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
    regs.scc = put32(regs, inst.dst, f(a, b), path) != 0;
}

#[inline(always)]
fn bits64(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u64, u64) -> u64) {
    let (a, b) = (get64(regs, inst.src[0], path), get64(regs, inst.src[1], path));
    regs.scc = put64(regs, inst.dst, f(a, b), path) != 0;
}

/// 64 bits with a 32-bit count or field description.
#[inline(always)]
fn shift64(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u64, u32) -> u64) {
    let (a, b) = (get64(regs, inst.src[0], path), get32(regs, inst.src[1], path));
    regs.scc = put64(regs, inst.dst, f(a, b), path) != 0;
}

#[inline(always)]
fn shift_i64(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(i64, u32) -> i64) {
    let (a, b) = (get_i64(regs, inst.src[0], path), get32(regs, inst.src[1], path));
    regs.scc = put64(regs, inst.dst, f(a, b) as u64, path) != 0;
}

/// The lowest `width` bits set.
fn ones(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// First bit and width of a bit field operand.
fn field(description: u32, offset_bits: u32) -> (u32, u32) {
    (description & (offset_bits - 1), description >> 16 & 0x7f)
}

/// `value >> offset`, cut to `width` bits and extended with the sign of the last one.
fn bfe_signed(value: i64, offset: u32, width: u32) -> i64 {
    match width {
        0 => 0,
        w if offset + w >= 64 => value >> offset,
        w => value << (64 - offset - w) >> (64 - w),
    }
}

pub(super) fn sop2(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    match inst.op {
        Op::SAddU32 => arith(inst, regs, path, |a, b, _| a.overflowing_add(b)),
        Op::SSubU32 => arith(inst, regs, path, |a, b, _| a.overflowing_sub(b)),
        Op::SAddI32 => arith(inst, regs, path, |a, b, _| {
            let (sum, overflow) = (a as i32).overflowing_add(b as i32);
            (sum as u32, overflow)
        }),
        Op::SSubI32 => arith(inst, regs, path, |a, b, _| {
            let (difference, overflow) = (a as i32).overflowing_sub(b as i32);
            (difference as u32, overflow)
        }),
        Op::SAddcU32 => arith(inst, regs, path, |a, b, carry| {
            let sum = u64::from(a) + u64::from(b) + u64::from(carry);
            (sum as u32, sum >> 32 != 0)
        }),
        Op::SSubbU32 => arith(inst, regs, path, |a, b, borrow| {
            let take = u64::from(b) + u64::from(borrow);
            (a.wrapping_sub(take as u32), take > a.into())
        }),
        Op::SMinI32 => {
            arith(inst, regs, path, |a, b, _| ((a as i32).min(b as i32) as u32, (a as i32) < b as i32))
        }
        Op::SMinU32 => arith(inst, regs, path, |a, b, _| (a.min(b), a < b)),
        Op::SMaxI32 => {
            arith(inst, regs, path, |a, b, _| ((a as i32).max(b as i32) as u32, a as i32 > b as i32))
        }
        Op::SMaxU32 => arith(inst, regs, path, |a, b, _| (a.max(b), a > b)),
        Op::SCselectB32 => arith(inst, regs, path, |a, b, scc| (if scc { a } else { b }, scc)),
        Op::SCselectB64 => {
            let value = get64(regs, inst.src[usize::from(!regs.scc)], path);
            put64(regs, inst.dst, value, path);
        }
        Op::SAndB32 => bits32(inst, regs, path, |a, b| a & b),
        Op::SAndB64 => bits64(inst, regs, path, |a, b| a & b),
        Op::SOrB32 => bits32(inst, regs, path, |a, b| a | b),
        Op::SOrB64 => bits64(inst, regs, path, |a, b| a | b),
        Op::SXorB32 => bits32(inst, regs, path, |a, b| a ^ b),
        Op::SXorB64 => bits64(inst, regs, path, |a, b| a ^ b),
        Op::SAndn2B32 => bits32(inst, regs, path, |a, b| a & !b),
        Op::SAndn2B64 => bits64(inst, regs, path, |a, b| a & !b),
        Op::SOrn2B32 => bits32(inst, regs, path, |a, b| a | !b),
        Op::SOrn2B64 => bits64(inst, regs, path, |a, b| a | !b),
        Op::SNandB32 => bits32(inst, regs, path, |a, b| !(a & b)),
        Op::SNandB64 => bits64(inst, regs, path, |a, b| !(a & b)),
        Op::SNorB32 => bits32(inst, regs, path, |a, b| !(a | b)),
        Op::SNorB64 => bits64(inst, regs, path, |a, b| !(a | b)),
        Op::SXnorB32 => bits32(inst, regs, path, |a, b| !(a ^ b)),
        Op::SXnorB64 => bits64(inst, regs, path, |a, b| !(a ^ b)),
        Op::SLshlB32 => bits32(inst, regs, path, u32::wrapping_shl),
        Op::SLshlB64 => shift64(inst, regs, path, u64::wrapping_shl),
        Op::SLshrB32 => bits32(inst, regs, path, u32::wrapping_shr),
        Op::SLshrB64 => shift64(inst, regs, path, u64::wrapping_shr),
        Op::SAshrI32 => bits32(inst, regs, path, |a, b| (a as i32).wrapping_shr(b) as u32),
        Op::SAshrI64 => shift_i64(inst, regs, path, i64::wrapping_shr),
        Op::SBfmB32 => arith(inst, regs, path, |a, b, scc| ((ones(a & 31) << (b & 31)) as u32, scc)),
        Op::SBfmB64 => {
            let (a, b) = (get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
            put64(regs, inst.dst, ones(a & 63) << (b & 63), path);
        }
        Op::SMulI32 => arith(inst, regs, path, |a, b, scc| (a.wrapping_mul(b), scc)),
        Op::SBfeU32 => bits32(inst, regs, path, |a, b| {
            let (offset, width) = field(b, 32);
            a >> offset & ones(width) as u32
        }),
        Op::SBfeI32 => bits32(inst, regs, path, |a, b| {
            let (offset, width) = field(b, 32);
            bfe_signed((a as i32).into(), offset, width) as u32
        }),
        Op::SBfeU64 => shift64(inst, regs, path, |a, b| {
            let (offset, width) = field(b, 64);
            a >> offset & ones(width)
        }),
        Op::SBfeI64 => shift_i64(inst, regs, path, |a, b| {
            let (offset, width) = field(b, 64);
            bfe_signed(a, offset, width)
        }),
        Op::SAbsdiffI32 => {
            bits32(inst, regs, path, |a, b| (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32)
        }
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}

#[inline(always)]
fn compare(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u32, u32) -> bool) {
    regs.scc = f(get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
}

#[inline(always)]
fn compare_i32(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(i32, i32) -> bool) {
    compare(inst, regs, path, |a, b| f(a as i32, b as i32));
}

pub(super) fn sopc(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    let wide = |regs: &Regs| (get64(regs, inst.src[0], path), get64(regs, inst.src[1], path));
    let bit64 =
        |regs: &Regs| get64(regs, inst.src[0], path) >> (get32(regs, inst.src[1], path) & 63) & 1 == 1;
    match inst.op {
        Op::SCmpEqI32 | Op::SCmpEqU32 => compare(inst, regs, path, |a, b| a == b),
        Op::SCmpLgI32 | Op::SCmpLgU32 => compare(inst, regs, path, |a, b| a != b),
        Op::SCmpGtI32 => compare_i32(inst, regs, path, |a, b| a > b),
        Op::SCmpGeI32 => compare_i32(inst, regs, path, |a, b| a >= b),
        Op::SCmpLtI32 => compare_i32(inst, regs, path, |a, b| a < b),
        Op::SCmpLeI32 => compare_i32(inst, regs, path, |a, b| a <= b),
        Op::SCmpGtU32 => compare(inst, regs, path, |a, b| a > b),
        Op::SCmpGeU32 => compare(inst, regs, path, |a, b| a >= b),
        Op::SCmpLtU32 => compare(inst, regs, path, |a, b| a < b),
        Op::SCmpLeU32 => compare(inst, regs, path, |a, b| a <= b),
        Op::SBitcmp0B32 => compare(inst, regs, path, |a, b| a >> (b & 31) & 1 == 0),
        Op::SBitcmp1B32 => compare(inst, regs, path, |a, b| a >> (b & 31) & 1 == 1),
        Op::SBitcmp0B64 => regs.scc = !bit64(regs),
        Op::SBitcmp1B64 => regs.scc = bit64(regs),
        Op::SCmpEqU64 => {
            let (a, b) = wide(regs);
            regs.scc = a == b;
        }
        Op::SCmpLgU64 => {
            let (a, b) = wide(regs);
            regs.scc = a != b;
        }
        Op::SSetvskip => {
            let (a, b) = (get32(regs, inst.src[0], path), get32(regs, inst.src[1], path));
            set_mode(regs, mode::VSKIP, a >> (b & 31) & 1 == 1);
        }
        Op::SSetGprIdxOn => {
            let index = get32(regs, inst.src[0], path) & 0xff;
            set_m0(regs, 0xf0ff, index | (inst.imm as u32 & 15) << 12);
            set_mode(regs, mode::GPR_IDX, true);
        }
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}

pub(super) fn set_mode(regs: &mut Regs, bit: u32, on: bool) {
    regs.mode = if on { regs.mode | bit } else { regs.mode & !bit };
}

/// Replaces the bits of `mask` in M0.
pub(super) fn set_m0(regs: &mut Regs, mask: u32, value: u32) {
    let m0 = &mut regs.s[usize::from(sreg::M0)];
    *m0 = *m0 & !mask | value;
}

#[inline(always)]
fn compare_k(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(i32, i32) -> bool) {
    regs.scc = f(get32(regs, inst.src[0], path) as i32, inst.imm as i16 as i32);
}

#[inline(always)]
fn compare_ku(inst: &Inst, regs: &mut Regs, path: Mask, f: impl Fn(u32, u32) -> bool) {
    regs.scc = f(get32(regs, inst.src[0], path), inst.imm as u16 as u32);
}

/// SOPK without the hardware registers, which stand in `control`.
pub(super) fn sopk(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    let k = i32::from(inst.imm as i16);
    match inst.op {
        Op::SMovkI32 => {
            put32(regs, inst.dst, k as u32, path);
        }
        Op::SCmovkI32 if regs.scc => {
            put32(regs, inst.dst, k as u32, path);
        }
        Op::SCmovkI32 => {}
        Op::SCmpkEqI32 => compare_k(inst, regs, path, |a, k| a == k),
        Op::SCmpkLgI32 => compare_k(inst, regs, path, |a, k| a != k),
        Op::SCmpkGtI32 => compare_k(inst, regs, path, |a, k| a > k),
        Op::SCmpkGeI32 => compare_k(inst, regs, path, |a, k| a >= k),
        Op::SCmpkLtI32 => compare_k(inst, regs, path, |a, k| a < k),
        Op::SCmpkLeI32 => compare_k(inst, regs, path, |a, k| a <= k),
        Op::SCmpkEqU32 => compare_ku(inst, regs, path, |a, k| a == k),
        Op::SCmpkLgU32 => compare_ku(inst, regs, path, |a, k| a != k),
        Op::SCmpkGtU32 => compare_ku(inst, regs, path, |a, k| a > k),
        Op::SCmpkGeU32 => compare_ku(inst, regs, path, |a, k| a >= k),
        Op::SCmpkLtU32 => compare_ku(inst, regs, path, |a, k| a < k),
        Op::SCmpkLeU32 => compare_ku(inst, regs, path, |a, k| a <= k),
        Op::SAddkI32 => {
            let (sum, overflow) = (get32(regs, inst.dst, path) as i32).overflowing_add(k);
            put32(regs, inst.dst, sum as u32, path);
            regs.scc = overflow;
        }
        Op::SMulkI32 => {
            let product = get32(regs, inst.dst, path).wrapping_mul(k as u32);
            put32(regs, inst.dst, product, path);
        }
        _ => return Err(unsupported(inst)),
    }
    Ok(())
}

/// The scalar register `offset` (M0) after the one an operand names.
pub(super) fn relative(regs: &Regs, inst: &Inst, operand: Operand, count: u32) -> Result<Operand, Trap> {
    let m0 = regs.s[usize::from(sreg::M0)];
    match operand {
        Operand::Sgpr(n) if m0 < 128 && u32::from(n) + m0 + count <= u32::from(sreg::COUNT) => {
            Ok(Operand::Sgpr(n + m0 as u8))
        }
        _ => Err(Trap::Other(format!("{}: m0 = {} leaves the scalar registers", inst.op.name(), m0 as i32))),
    }
}
