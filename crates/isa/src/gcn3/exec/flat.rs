//! FLAT: each lane has a 64-bit address; the high dword may say local or private memory.
//! The apertures decide where private memory lies, not FLAT_SCRATCH.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::common::unsupported;
use super::operand::vectors;
use super::space::{self, ATOMIC, LOAD, Place, STORE, each_lane, row, set_row};
use crate::{Bus, Mask, Trap};

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    match inst.op {
        Op::FlatLoadUbyte => load_part(inst, regs, bus, lanes, 1, |v| u32::from(v as u8)),
        Op::FlatLoadSbyte => load_part(inst, regs, bus, lanes, 1, |v| v as i8 as u32),
        Op::FlatLoadUshort => load_part(inst, regs, bus, lanes, 2, |v| u32::from(v as u16)),
        Op::FlatLoadSshort => load_part(inst, regs, bus, lanes, 2, |v| v as i16 as u32),
        Op::FlatLoadDword => load::<B, 1>(inst, regs, bus, lanes),
        Op::FlatLoadDwordx2 => load::<B, 2>(inst, regs, bus, lanes),
        Op::FlatLoadDwordx3 => load::<B, 3>(inst, regs, bus, lanes),
        Op::FlatLoadDwordx4 => load::<B, 4>(inst, regs, bus, lanes),
        Op::FlatStoreByte => store_part(inst, regs, bus, lanes, 1),
        Op::FlatStoreShort => store_part(inst, regs, bus, lanes, 2),
        Op::FlatStoreDword => store::<B, 1>(inst, regs, bus, lanes),
        Op::FlatStoreDwordx2 => store::<B, 2>(inst, regs, bus, lanes),
        Op::FlatStoreDwordx3 => store::<B, 3>(inst, regs, bus, lanes),
        Op::FlatStoreDwordx4 => store::<B, 4>(inst, regs, bus, lanes),
        _ if inst.entry().atomic => atomic(inst, regs, bus, lanes),
        _ => Err(unsupported(inst)),
    }
}

#[inline(always)]
fn address(regs: &Regs, first: usize, lane: u32) -> u64 {
    u64::from(regs.v.get(first, lane)) | u64::from(regs.v.get(first + 1, lane)) << 32
}

#[inline(always)]
fn load_part<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 2)?);
    each_lane(lanes, |lane| {
        let place = space::flat(regs, LOAD, address(regs, src, lane), bytes, lane)?;
        let value = extend(bus.load(place.first, bytes)?);
        regs.v.set(dst, lane, value);
        Ok(())
    })
}

#[inline(always)]
fn load<B: Bus, const N: usize>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, N as u32)?, vectors(regs, inst.src[0], 2)?);
    if let Some(rows) = space::global_rows::<N>(regs, src, lanes) {
        return space::load_rows(regs, bus, &rows, lanes, dst);
    }
    each_lane(lanes, |lane| {
        let place = space::flat(regs, LOAD, address(regs, src, lane), N as u32 * 4, lane)?;
        let data: [u32; N] = space::read(bus, place)?;
        set_row(regs, dst, lane, data);
        Ok(())
    })
}

#[inline(always)]
fn store_part<B: Bus>(inst: &Inst, regs: &Regs, bus: &mut B, lanes: Mask, bytes: u32) -> Result<(), Trap> {
    let (src, data) = (vectors(regs, inst.src[0], 2)?, vectors(regs, inst.src[1], 1)?);
    let keep = u64::MAX >> (64 - 8 * bytes);
    each_lane(lanes, |lane| {
        let place = space::flat(regs, STORE, address(regs, src, lane), bytes, lane)?;
        bus.store(place.first, bytes, u64::from(regs.v.get(data, lane)) & keep)?;
        Ok(())
    })
}

#[inline(always)]
fn store<B: Bus, const N: usize>(inst: &Inst, regs: &Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let (src, data) = (vectors(regs, inst.src[0], 2)?, vectors(regs, inst.src[1], N as u32)?);
    if N == 1
        && let (Some(rows), Some(data)) = (space::global_rows::<1>(regs, src, lanes), regs.v.whole(data))
    {
        return space::store_rows(bus, &rows, lanes, &[data]);
    }
    each_lane(lanes, |lane| {
        let place = space::flat(regs, STORE, address(regs, src, lane), N as u32 * 4, lane)?;
        space::write(bus, place, row::<N>(regs, data, lane))?;
        Ok(())
    })
}

/// Lane by lane, lowest first; with GLC the old value is returned.
fn atomic<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let code = inst.entry().code;
    let Some(kind) = Kind::of_memory(code) else { return Err(unsupported(inst)) };
    let dwords = if code & 0x20 != 0 { 2 } else { 1 };
    let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
    let src = vectors(regs, inst.src[0], 2)?;
    let data = vectors(regs, inst.src[1], dwords * operands)?;
    let dst = if inst.has(flag::GLC) { Some(vectors(regs, inst.dst, dwords)?) } else { None };
    each_lane(lanes, |lane| {
        let place = space::flat(regs, ATOMIC, address(regs, src, lane), dwords * 4, lane)?;
        let old = modify(bus, place, dwords, |old| {
            let value = wide(regs, data, dwords, lane);
            let compare = if operands == 2 { wide(regs, data + dwords as usize, dwords, lane) } else { 0 };
            apply(kind, dwords == 2, old, value, compare, regs.mode)
        })?;
        if let Some(dst) = dst {
            set_wide(regs, dst, dwords, lane, old);
        }
        Ok(())
    })
}

/// One or two dwords of a lane's registers as a number.
#[inline]
pub(super) fn wide(regs: &Regs, first: usize, dwords: u32, lane: u32) -> u64 {
    let low = u64::from(regs.v.get(first, lane));
    if dwords == 2 { low | u64::from(regs.v.get(first + 1, lane)) << 32 } else { low }
}

#[inline]
pub(super) fn set_wide(regs: &mut Regs, first: usize, dwords: u32, lane: u32, value: u64) {
    regs.v.set(first, lane, value as u32);
    if dwords == 2 {
        regs.v.set(first + 1, lane, (value >> 32) as u32);
    }
}

/// Reads, changes and writes one or two dwords; returns what was there.
#[inline]
pub(super) fn modify<B: Bus>(
    bus: &mut B,
    place: Place,
    dwords: u32,
    f: impl FnOnce(u64) -> u64,
) -> Result<u64, Trap> {
    if dwords == 1 || place.step == 4 {
        let old = bus.load(place.first, dwords * 4)?;
        bus.store(place.first, dwords * 4, f(old))?;
        return Ok(old);
    }
    let [low, high] = space::read::<B, 2>(bus, place)?;
    let old = u64::from(low) | u64::from(high) << 32;
    let new = f(old);
    space::write(bus, place, [new as u32, (new >> 32) as u32])?;
    Ok(old)
}
