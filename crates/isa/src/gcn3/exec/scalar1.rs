//! Scalar ALU with one source: SOP1, among them the saveexec family and relative moves. The ones that
//! move the pc stand in `control`.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::sreg;
use super::super::state::Regs;
use super::common::unsupported;
use super::operand::Operands;
use super::operand::{get32, get64, put32, put64};
use super::scalar::{Run, relative, set_m0};
use crate::{Mask, Trap};

#[inline(always)]
fn map32<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32) -> u32) -> u32 {
    let value = f(o.get32(regs, 0));
    o.put32(regs, value)
}

#[inline(always)]
fn map64<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64) -> u64) -> u64 {
    let value = f(o.get64(regs, 0));
    o.put64(regs, value)
}

/// 64 bits in, 32 bits out.
#[inline(always)]
fn narrow<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64) -> u32) -> u32 {
    let value = f(o.get64(regs, 0));
    o.put32(regs, value)
}

/// `dst = EXEC; EXEC = f(source, EXEC)`, SCC: some lane is on.
#[inline(always)]
fn save_exec<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64, u64) -> u64) {
    let (source, exec) = (o.get64(regs, 0), o.exec(regs));
    o.put64(regs, exec);
    regs.scc = o.put_exec(regs, f(source, exec)) != 0;
}

/// `EXEC = f(source, EXEC); dst = EXEC`, SCC: some lane is on.
#[inline(always)]
fn write_exec<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64, u64) -> u64) {
    let (source, exec) = (o.get64(regs, 0), o.exec(regs));
    let new = o.put_exec(regs, f(source, exec));
    o.put64(regs, new);
    regs.scc = new != 0;
}

#[inline(always)]
fn bitset32<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u32, u32) -> u32) {
    let value = f(o.old32(regs), 1 << (o.get32(regs, 0) & 31));
    o.put32(regs, value);
}

#[inline(always)]
fn bitset64<O: Operands>(o: &O, regs: &mut Regs, f: impl Fn(u64, u64) -> u64) {
    let value = f(o.old64(regs), 1 << (o.get32(regs, 0) & 63));
    o.put64(regs, value);
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

/// SOP1 without pc moves, relative moves and M0; none if it is not one of these.
pub(super) fn sop1<O: Operands>(op: Op) -> Option<Run<O>> {
    let run: Run<O> = match op {
        Op::SMovB32 => |o, regs| _ = map32(o, regs, |a| a),
        Op::SMovB64 => |o, regs| _ = map64(o, regs, |a| a),
        Op::SCmovB32 => |o, regs| {
            if regs.scc {
                map32(o, regs, |a| a);
            }
        },
        Op::SCmovB64 => |o, regs| {
            if regs.scc {
                map64(o, regs, |a| a);
            }
        },
        Op::SNotB32 => |o, regs| regs.scc = map32(o, regs, |a| !a) != 0,
        Op::SNotB64 => |o, regs| regs.scc = map64(o, regs, |a| !a) != 0,
        Op::SWqmB32 => |o, regs| regs.scc = map32(o, regs, |a| (quads(a.into()) * 15) as u32) != 0,
        Op::SWqmB64 => |o, regs| regs.scc = map64(o, regs, |a| quads(a) * 15) != 0,
        Op::SBrevB32 => |o, regs| _ = map32(o, regs, u32::reverse_bits),
        Op::SBrevB64 => |o, regs| _ = map64(o, regs, u64::reverse_bits),
        Op::SBcnt0I32B32 => |o, regs| regs.scc = map32(o, regs, u32::count_zeros) != 0,
        Op::SBcnt0I32B64 => |o, regs| regs.scc = narrow(o, regs, u64::count_zeros) != 0,
        Op::SBcnt1I32B32 => |o, regs| regs.scc = map32(o, regs, u32::count_ones) != 0,
        Op::SBcnt1I32B64 => |o, regs| regs.scc = narrow(o, regs, u64::count_ones) != 0,
        Op::SFf0I32B32 => |o, regs| _ = map32(o, regs, |a| position(a.trailing_ones(), 32)),
        Op::SFf0I32B64 => |o, regs| _ = narrow(o, regs, |a| position(a.trailing_ones(), 64)),
        Op::SFf1I32B32 => |o, regs| _ = map32(o, regs, |a| position(a.trailing_zeros(), 32)),
        Op::SFf1I32B64 => |o, regs| _ = narrow(o, regs, |a| position(a.trailing_zeros(), 64)),
        Op::SFlbitI32B32 => |o, regs| _ = map32(o, regs, |a| position(a.leading_zeros(), 32)),
        Op::SFlbitI32B64 => |o, regs| _ = narrow(o, regs, |a| position(a.leading_zeros(), 64)),
        Op::SFlbitI32 => |o, regs| _ = map32(o, regs, |a| sign_run((a as i32).into(), 32)),
        Op::SFlbitI32I64 => |o, regs| _ = o.put32(regs, sign_run(o.get_i64(regs, 0), 64)),
        Op::SSextI32I8 => |o, regs| _ = map32(o, regs, |a| a as i8 as u32),
        Op::SSextI32I16 => |o, regs| _ = map32(o, regs, |a| a as i16 as u32),
        Op::SBitset0B32 => |o, regs| bitset32(o, regs, |old, bit| old & !bit),
        Op::SBitset1B32 => |o, regs| bitset32(o, regs, |old, bit| old | bit),
        Op::SBitset0B64 => |o, regs| bitset64(o, regs, |old, bit| old & !bit),
        Op::SBitset1B64 => |o, regs| bitset64(o, regs, |old, bit| old | bit),
        Op::SAndSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| s & e),
        Op::SOrSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| s | e),
        Op::SXorSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| s ^ e),
        Op::SAndn2SaveexecB64 => |o, regs| save_exec(o, regs, |s, e| s & !e),
        Op::SOrn2SaveexecB64 => |o, regs| save_exec(o, regs, |s, e| s | !e),
        Op::SNandSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| !(s & e)),
        Op::SNorSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| !(s | e)),
        Op::SXnorSaveexecB64 => |o, regs| save_exec(o, regs, |s, e| !(s ^ e)),
        Op::SAndn1SaveexecB64 => |o, regs| save_exec(o, regs, |s, e| !s & e),
        Op::SOrn1SaveexecB64 => |o, regs| save_exec(o, regs, |s, e| !s | e),
        Op::SAndn1WrexecB64 => |o, regs| write_exec(o, regs, |s, e| !s & e),
        Op::SAndn2WrexecB64 => |o, regs| write_exec(o, regs, |s, e| s & !e),
        Op::SBitreplicateB64B32 => |o, regs| {
            let source = u64::from(o.get32(regs, 0));
            o.put64(regs, (0..32).map(|i| ((source >> i & 1) * 3) << (2 * i)).sum());
        },
        Op::SQuadmaskB32 => |o, regs| regs.scc = map32(o, regs, |a| gather_quads(a.into()) as u32) != 0,
        Op::SQuadmaskB64 => |o, regs| regs.scc = map64(o, regs, gather_quads) != 0,
        Op::SAbsI32 => |o, regs| regs.scc = map32(o, regs, |a| (a as i32).wrapping_abs() as u32) != 0,
        _ => return None,
    };
    Some(run)
}

/// SOP1 instructions that go by M0.
pub(super) fn relative_moves(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    match inst.op {
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
