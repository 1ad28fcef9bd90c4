//! Scalar memory: loads and stores of whole dwords at dword-aligned addresses, and the clocks.
//! Buffer forms are bounded by the descriptor: outside, loads give zero and stores do nothing.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::common::unsupported;
use super::operand::{get32, get64, put32, put64, scalars};
use crate::{At, Bus, Mask, Trap};

pub(super) fn exec<B: Bus>(
    inst: &Inst,
    at: &At,
    regs: &mut Regs,
    bus: &mut B,
    path: Mask,
) -> Result<(), Trap> {
    match inst.op {
        Op::SLoadDword => load(inst, regs, bus, path, 1, false),
        Op::SLoadDwordx2 => load(inst, regs, bus, path, 2, false),
        Op::SLoadDwordx4 => load(inst, regs, bus, path, 4, false),
        Op::SLoadDwordx8 => load(inst, regs, bus, path, 8, false),
        Op::SLoadDwordx16 => load(inst, regs, bus, path, 16, false),
        Op::SBufferLoadDword => load(inst, regs, bus, path, 1, true),
        Op::SBufferLoadDwordx2 => load(inst, regs, bus, path, 2, true),
        Op::SBufferLoadDwordx4 => load(inst, regs, bus, path, 4, true),
        Op::SBufferLoadDwordx8 => load(inst, regs, bus, path, 8, true),
        Op::SBufferLoadDwordx16 => load(inst, regs, bus, path, 16, true),
        Op::SStoreDword => store(inst, regs, bus, path, 1, false),
        Op::SStoreDwordx2 => store(inst, regs, bus, path, 2, false),
        Op::SStoreDwordx4 => store(inst, regs, bus, path, 4, false),
        Op::SBufferStoreDword => store(inst, regs, bus, path, 1, true),
        Op::SBufferStoreDwordx2 => store(inst, regs, bus, path, 2, true),
        Op::SBufferStoreDwordx4 => store(inst, regs, bus, path, 4, true),
        Op::SDcacheInv | Op::SDcacheWb | Op::SDcacheInvVol | Op::SDcacheWbVol => Ok(()),
        Op::SDcacheDiscard | Op::SDcacheDiscardX2 | Op::SAtcProbe | Op::SAtcProbeBuffer => Ok(()),
        _ if inst.entry().atomic => atomic(inst, regs, bus, path),
        Op::SMemtime | Op::SMemrealtime => {
            put64(regs, inst.dst, at.clock, path);
            Ok(())
        }
        _ => Err(unsupported(inst)),
    }
}

/// First address and how many bytes from there are in bounds.
#[inline(always)]
fn place(inst: &Inst, regs: &Regs, path: Mask, buffer: bool) -> Result<(u64, u64), Trap> {
    // From gfx9 on there may be a register and a constant, which may be negative.
    let offset = match inst.src[1] {
        Operand::None => i64::from(inst.imm),
        register => i64::from(get32(regs, register, path)) + i64::from(inst.imm),
    };
    let base = get64(regs, inst.src[0], path);
    if !buffer {
        return Ok((base.wrapping_add_signed(offset) & !3, u64::MAX));
    }
    let offset = offset as u32;
    let first = scalars(inst.src[0], 4)?;
    let stride = u64::from(regs.s[first + 1] >> 16 & 0x3fff);
    let bytes = u64::from(regs.s[first + 2]) * stride.max(1);
    let offset = u64::from(offset & !3);
    let addr = (base & 0xffff_ffff_ffff).wrapping_add(offset) & !3;
    Ok((addr, bytes.saturating_sub(offset)))
}

#[inline(always)]
fn load<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    path: Mask,
    count: u32,
    buffer: bool,
) -> Result<(), Trap> {
    let first = scalars(inst.dst, count)?;
    let (addr, bound) = place(inst, regs, path, buffer)?;
    let mut data = [0; 16];
    let mut k = 0;
    while k < count as usize && (k as u64 + 1) * 4 <= bound {
        let from = addr.wrapping_add(k as u64 * 4);
        if from.is_multiple_of(8) && k + 2 <= count as usize && (k as u64 + 2) * 4 <= bound {
            let pair = bus.load(from, 8)?;
            (data[k], data[k + 1]) = (pair as u32, (pair >> 32) as u32);
            k += 2;
        } else {
            data[k] = bus.load(from, 4)? as u32;
            k += 1;
        }
    }
    for (k, &value) in data[..count as usize].iter().enumerate() {
        put32(regs, Operand::Sgpr((first + k) as u8), value, path);
    }
    Ok(())
}

/// One access for the wave; with GLC the old value is returned.
fn atomic<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, path: Mask) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(kind) = Kind::of_memory(entry.code & 0x1f) else { return Err(unsupported(inst)) };
    let dwords = u32::from(entry.atomic_dwords());
    let first = scalars(inst.dst, entry.dst.dwords().into())?;
    let (addr, bound) = place(inst, regs, path, entry.src[0].dwords() == 4)?;
    let value = |at: usize| {
        let dword = |k: usize| u64::from(get32(regs, Operand::Sgpr((at + k) as u8), path));
        if dwords == 2 { dword(0) | dword(1) << 32 } else { dword(0) }
    };
    let (data, compare) = match kind {
        Kind::Cmpswap => (value(first), value(first + dwords as usize)),
        _ => (value(first), 0),
    };
    if u64::from(dwords) * 4 > bound {
        return Ok(());
    }
    let old = bus.load(addr, dwords * 4)?;
    bus.store(addr, dwords * 4, apply(kind, dwords == 2, old, data, compare, regs.mode))?;
    if inst.has(flag::GLC) {
        for k in 0..dwords as usize {
            put32(regs, Operand::Sgpr((first + k) as u8), (old >> (32 * k)) as u32, path);
        }
    }
    Ok(())
}

fn store<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    path: Mask,
    count: u32,
    buffer: bool,
) -> Result<(), Trap> {
    let first = scalars(inst.dst, count)?;
    let (addr, bound) = place(inst, regs, path, buffer)?;
    for k in 0..u64::from(count) {
        if (k + 1) * 4 > bound {
            break;
        }
        let value = get32(regs, Operand::Sgpr((first as u64 + k) as u8), path);
        bus.store(addr.wrapping_add(k * 4), 4, value.into())?;
    }
    Ok(())
}
