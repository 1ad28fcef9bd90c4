//! Scalar ALU: SOP2, SOPC and SOPK. SCC is what the operation defines: carry, overflow, choice, or
//! "result is not zero"; shift counts and bit numbers use as many bits as the operand needs.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::{Operand, sreg};
use super::super::state::{Regs, mode};
use super::common::unsupported;
use super::operand::{Operands, get32};
use crate::{Mask, Trap};

/// One scalar operation.
pub(super) type Run<O> = fn(&O, &mut Regs);

/// Result and SCC from two dwords and SCC.
#[inline(always)]
fn arith<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32, u32, bool) -> (u32, bool)) {
    let (result, scc) = f(o.get32(regs, 0), o.get32(regs, 1), regs.scc);
    o.put32(regs, result);
    regs.scc = scc;
}

/// SCC: the stored result is not zero.
#[inline(always)]
fn bits32<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32, u32) -> u32) {
    let value = f(o.get32(regs, 0), o.get32(regs, 1));
    regs.scc = o.put32(regs, value) != 0;
}

#[inline(always)]
fn bits64<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64, u64) -> u64) {
    let value = f(o.get64(regs, 0), o.get64(regs, 1));
    regs.scc = o.put64(regs, value) != 0;
}

/// 64 bits with a 32-bit count or field description.
#[inline(always)]
fn shift64<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64, u32) -> u64) {
    let value = f(o.get64(regs, 0), o.get32(regs, 1));
    regs.scc = o.put64(regs, value) != 0;
}

#[inline(always)]
fn shift_i64<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(i64, u32) -> i64) {
    let value = f(o.get_i64(regs, 0), o.get32(regs, 1));
    regs.scc = o.put64(regs, value as u64) != 0;
}

/// SCC: the exact sum needs more than 32 bits.
fn shift_add(a: u32, b: u32, n: u32) -> (u32, bool) {
    let sum = (u64::from(a) << n) + u64::from(b);
    (sum as u32, sum > u32::MAX.into())
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

/// SOP2; none if it is not one of these.
pub(super) fn sop2<O: Operands>(op: Op) -> Option<Run<O>> {
    let run: Run<O> = match op {
        Op::SAddU32 => |o, regs| arith(o, regs, |a, b, _| a.overflowing_add(b)),
        Op::SSubU32 => |o, regs| arith(o, regs, |a, b, _| a.overflowing_sub(b)),
        Op::SAddI32 => |o, regs| {
            arith(o, regs, |a, b, _| {
                let (sum, overflow) = (a as i32).overflowing_add(b as i32);
                (sum as u32, overflow)
            })
        },
        Op::SSubI32 => |o, regs| {
            arith(o, regs, |a, b, _| {
                let (difference, overflow) = (a as i32).overflowing_sub(b as i32);
                (difference as u32, overflow)
            })
        },
        Op::SAddcU32 => |o, regs| {
            arith(o, regs, |a, b, carry| {
                let sum = u64::from(a) + u64::from(b) + u64::from(carry);
                (sum as u32, sum >> 32 != 0)
            })
        },
        Op::SSubbU32 => |o, regs| {
            arith(o, regs, |a, b, borrow| {
                let take = u64::from(b) + u64::from(borrow);
                (a.wrapping_sub(take as u32), take > a.into())
            })
        },
        Op::SMinI32 => {
            |o, regs| arith(o, regs, |a, b, _| ((a as i32).min(b as i32) as u32, (a as i32) < b as i32))
        }
        Op::SMinU32 => |o, regs| arith(o, regs, |a, b, _| (a.min(b), a < b)),
        Op::SMaxI32 => {
            |o, regs| arith(o, regs, |a, b, _| ((a as i32).max(b as i32) as u32, a as i32 > b as i32))
        }
        Op::SMaxU32 => |o, regs| arith(o, regs, |a, b, _| (a.max(b), a > b)),
        Op::SCselectB32 => |o, regs| arith(o, regs, |a, b, scc| (if scc { a } else { b }, scc)),
        Op::SCselectB64 => |o, regs| {
            let value = o.get64(regs, usize::from(!regs.scc));
            o.put64(regs, value);
        },
        Op::SAndB32 => |o, regs| bits32(o, regs, |a, b| a & b),
        Op::SAndB64 => |o, regs| bits64(o, regs, |a, b| a & b),
        Op::SOrB32 => |o, regs| bits32(o, regs, |a, b| a | b),
        Op::SOrB64 => |o, regs| bits64(o, regs, |a, b| a | b),
        Op::SXorB32 => |o, regs| bits32(o, regs, |a, b| a ^ b),
        Op::SXorB64 => |o, regs| bits64(o, regs, |a, b| a ^ b),
        Op::SAndn2B32 => |o, regs| bits32(o, regs, |a, b| a & !b),
        Op::SAndn2B64 => |o, regs| bits64(o, regs, |a, b| a & !b),
        Op::SOrn2B32 => |o, regs| bits32(o, regs, |a, b| a | !b),
        Op::SOrn2B64 => |o, regs| bits64(o, regs, |a, b| a | !b),
        Op::SNandB32 => |o, regs| bits32(o, regs, |a, b| !(a & b)),
        Op::SNandB64 => |o, regs| bits64(o, regs, |a, b| !(a & b)),
        Op::SNorB32 => |o, regs| bits32(o, regs, |a, b| !(a | b)),
        Op::SNorB64 => |o, regs| bits64(o, regs, |a, b| !(a | b)),
        Op::SXnorB32 => |o, regs| bits32(o, regs, |a, b| !(a ^ b)),
        Op::SXnorB64 => |o, regs| bits64(o, regs, |a, b| !(a ^ b)),
        Op::SLshlB32 => |o, regs| bits32(o, regs, u32::wrapping_shl),
        Op::SLshlB64 => |o, regs| shift64(o, regs, u64::wrapping_shl),
        Op::SLshrB32 => |o, regs| bits32(o, regs, u32::wrapping_shr),
        Op::SLshrB64 => |o, regs| shift64(o, regs, u64::wrapping_shr),
        Op::SAshrI32 => |o, regs| bits32(o, regs, |a, b| (a as i32).wrapping_shr(b) as u32),
        Op::SAshrI64 => |o, regs| shift_i64(o, regs, i64::wrapping_shr),
        Op::SBfmB32 => |o, regs| arith(o, regs, |a, b, scc| ((ones(a & 31) << (b & 31)) as u32, scc)),
        Op::SBfmB64 => |o, regs| {
            let (a, b) = (o.get32(regs, 0), o.get32(regs, 1));
            o.put64(regs, ones(a & 63) << (b & 63));
        },
        Op::SMulI32 => |o, regs| arith(o, regs, |a, b, scc| (a.wrapping_mul(b), scc)),
        Op::SMulHiU32 => {
            |o, regs| arith(o, regs, |a, b, scc| (((u64::from(a) * u64::from(b)) >> 32) as u32, scc))
        }
        Op::SMulHiI32 => |o, regs| {
            arith(o, regs, |a, b, scc| (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32, scc));
        },
        Op::SLshl1AddU32 => |o, regs| arith(o, regs, |a, b, _| shift_add(a, b, 1)),
        Op::SLshl2AddU32 => |o, regs| arith(o, regs, |a, b, _| shift_add(a, b, 2)),
        Op::SLshl3AddU32 => |o, regs| arith(o, regs, |a, b, _| shift_add(a, b, 3)),
        Op::SLshl4AddU32 => |o, regs| arith(o, regs, |a, b, _| shift_add(a, b, 4)),
        Op::SPackLlB32B16 => |o, regs| arith(o, regs, |a, b, scc| (a & 0xffff | b << 16, scc)),
        Op::SPackLhB32B16 => |o, regs| arith(o, regs, |a, b, scc| (a & 0xffff | b & 0xffff_0000, scc)),
        Op::SPackHhB32B16 => |o, regs| arith(o, regs, |a, b, scc| (a >> 16 | b & 0xffff_0000, scc)),
        Op::SBfeU32 => |o, regs| {
            bits32(o, regs, |a, b| {
                let (offset, width) = field(b, 32);
                a >> offset & ones(width) as u32
            })
        },
        Op::SBfeI32 => |o, regs| {
            bits32(o, regs, |a, b| {
                let (offset, width) = field(b, 32);
                bfe_signed((a as i32).into(), offset, width) as u32
            })
        },
        Op::SBfeU64 => |o, regs| {
            shift64(o, regs, |a, b| {
                let (offset, width) = field(b, 64);
                a >> offset & ones(width)
            })
        },
        Op::SBfeI64 => |o, regs| {
            shift_i64(o, regs, |a, b| {
                let (offset, width) = field(b, 64);
                bfe_signed(a, offset, width)
            })
        },
        Op::SAbsdiffI32 => {
            |o, regs| bits32(o, regs, |a, b| (a as i32).wrapping_sub(b as i32).wrapping_abs() as u32)
        }
        _ => return None,
    };
    Some(run)
}

#[inline(always)]
fn compare<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32, u32) -> bool) {
    regs.scc = f(o.get32(regs, 0), o.get32(regs, 1));
}

#[inline(always)]
fn compare_i32<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(i32, i32) -> bool) {
    compare(o, regs, |a, b| f(a as i32, b as i32));
}

#[inline(always)]
fn bit64<O: Operands>(o: &O, regs: &Regs) -> bool {
    o.get64(regs, 0) >> (o.get32(regs, 1) & 63) & 1 == 1
}

/// SOPC without those that change MODE; none if it is not one of these.
pub(super) fn sopc<O: Operands>(op: Op) -> Option<Run<O>> {
    let run: Run<O> = match op {
        Op::SCmpEqI32 | Op::SCmpEqU32 => |o, regs| compare(o, regs, |a, b| a == b),
        Op::SCmpLgI32 | Op::SCmpLgU32 => |o, regs| compare(o, regs, |a, b| a != b),
        Op::SCmpGtI32 => |o, regs| compare_i32(o, regs, |a, b| a > b),
        Op::SCmpGeI32 => |o, regs| compare_i32(o, regs, |a, b| a >= b),
        Op::SCmpLtI32 => |o, regs| compare_i32(o, regs, |a, b| a < b),
        Op::SCmpLeI32 => |o, regs| compare_i32(o, regs, |a, b| a <= b),
        Op::SCmpGtU32 => |o, regs| compare(o, regs, |a, b| a > b),
        Op::SCmpGeU32 => |o, regs| compare(o, regs, |a, b| a >= b),
        Op::SCmpLtU32 => |o, regs| compare(o, regs, |a, b| a < b),
        Op::SCmpLeU32 => |o, regs| compare(o, regs, |a, b| a <= b),
        Op::SBitcmp0B32 => |o, regs| compare(o, regs, |a, b| a >> (b & 31) & 1 == 0),
        Op::SBitcmp1B32 => |o, regs| compare(o, regs, |a, b| a >> (b & 31) & 1 == 1),
        Op::SBitcmp0B64 => |o, regs| regs.scc = !bit64(o, regs),
        Op::SBitcmp1B64 => |o, regs| regs.scc = bit64(o, regs),
        Op::SCmpEqU64 => |o, regs| regs.scc = o.get64(regs, 0) == o.get64(regs, 1),
        Op::SCmpLgU64 => |o, regs| regs.scc = o.get64(regs, 0) != o.get64(regs, 1),
        _ => return None,
    };
    Some(run)
}

/// SOPC instructions that change MODE.
pub(super) fn change_mode(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    match inst.op {
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
fn compare_k<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(i32, i32) -> bool) {
    regs.scc = f(o.get32(regs, 0) as i32, o.immediate() as i16 as i32);
}

#[inline(always)]
fn compare_ku<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32, u32) -> bool) {
    regs.scc = f(o.get32(regs, 0), o.immediate() as u16 as u32);
}

/// SOPK without the hardware registers, which stand in `control`; none if it is not one of these.
pub(super) fn sopk<O: Operands>(op: Op) -> Option<Run<O>> {
    let run: Run<O> = match op {
        Op::SMovkI32 => |o, regs| _ = o.put32(regs, o.immediate() as i16 as u32),
        Op::SCmovkI32 => |o, regs| {
            if regs.scc {
                o.put32(regs, o.immediate() as i16 as u32);
            }
        },
        Op::SCmpkEqI32 => |o, regs| compare_k(o, regs, |a, k| a == k),
        Op::SCmpkLgI32 => |o, regs| compare_k(o, regs, |a, k| a != k),
        Op::SCmpkGtI32 => |o, regs| compare_k(o, regs, |a, k| a > k),
        Op::SCmpkGeI32 => |o, regs| compare_k(o, regs, |a, k| a >= k),
        Op::SCmpkLtI32 => |o, regs| compare_k(o, regs, |a, k| a < k),
        Op::SCmpkLeI32 => |o, regs| compare_k(o, regs, |a, k| a <= k),
        Op::SCmpkEqU32 => |o, regs| compare_ku(o, regs, |a, k| a == k),
        Op::SCmpkLgU32 => |o, regs| compare_ku(o, regs, |a, k| a != k),
        Op::SCmpkGtU32 => |o, regs| compare_ku(o, regs, |a, k| a > k),
        Op::SCmpkGeU32 => |o, regs| compare_ku(o, regs, |a, k| a >= k),
        Op::SCmpkLtU32 => |o, regs| compare_ku(o, regs, |a, k| a < k),
        Op::SCmpkLeU32 => |o, regs| compare_ku(o, regs, |a, k| a <= k),
        Op::SAddkI32 => |o, regs| {
            let (sum, overflow) = (o.old32(regs) as i32).overflowing_add(o.immediate() as i16 as i32);
            o.put32(regs, sum as u32);
            regs.scc = overflow;
        },
        Op::SMulkI32 => |o, regs| {
            let product = o.old32(regs).wrapping_mul(o.immediate() as i16 as u32);
            o.put32(regs, product);
        },
        _ => return None,
    };
    Some(run)
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
