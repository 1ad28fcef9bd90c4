//! Scalar memory: loads and stores of whole dwords at dword-aligned addresses, and the clocks.
//! Buffer forms are bounded by the descriptor: outside, loads give zero and stores do nothing.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
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
    let offset = match inst.src[1] {
        Operand::None => inst.imm as u32,
        register => get32(regs, register, path),
    };
    let base = get64(regs, inst.src[0], path);
    if !buffer {
        return Ok((base.wrapping_add(offset.into()) & !3, u64::MAX));
    }
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
