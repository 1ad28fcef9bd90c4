//! FLAT: each lane has a 64-bit address; the high dword may say local or private memory.
//! The apertures decide where private memory lies, not FLAT_SCRATCH. From gfx9 on an instruction may say that its memory is
//! global or private; then there are offsets and scalar bases.

use super::super::inst::{Format, Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::common::{active, unsupported};
use super::operand::{get32, get64, vectors};
use super::scalar1::m0;
use super::space::{self, ATOMIC, LOAD, Place, Rows, STORE, What, each_lane, row, set_row};
use crate::{Bus, Mask, MemFault, Trap};

/// Where the lanes of an instruction access memory.
trait Address {
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault>;
    /// One base and 32-bit offsets, if that says it for all lanes.
    fn rows<const K: usize>(&self, regs: &Regs, lanes: Mask) -> Option<Rows<K>>;
}

/// Flat addresses in two rows; `offset` is zero before gfx9.
struct Flat {
    row: usize,
    offset: u64,
}

impl Address for Flat {
    #[inline(always)]
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault> {
        space::flat(regs, what, address(regs, self.row, lane).wrapping_add(self.offset), bytes, lane)
    }

    #[inline(always)]
    fn rows<const K: usize>(&self, regs: &Regs, lanes: Mask) -> Option<Rows<K>> {
        if self.offset == 0 { space::global_rows(regs, self.row, lanes) } else { None }
    }
}

/// Global addresses in two rows.
struct Global {
    row: usize,
    offset: i64,
}

impl Address for Global {
    #[inline(always)]
    fn place(&self, regs: &Regs, _what: What, _bytes: u32, lane: u32) -> Result<Place, MemFault> {
        Ok(Place { first: address(regs, self.row, lane).wrapping_add_signed(self.offset), step: 4 })
    }

    #[inline(always)]
    fn rows<const K: usize>(&self, regs: &Regs, lanes: Mask) -> Option<Rows<K>> {
        let mut rows = space::global_rows(regs, self.row, lanes)?;
        rows.base = rows.base.checked_add_signed(self.offset)?;
        Some(rows)
    }
}

/// A base that all lanes share, and offsets in a row.
struct Based {
    base: u64,
    row: usize,
}

impl Address for Based {
    #[inline(always)]
    fn place(&self, regs: &Regs, _what: What, _bytes: u32, lane: u32) -> Result<Place, MemFault> {
        Ok(Place { first: self.base.wrapping_add(regs.v.get(self.row, lane).into()), step: 4 })
    }

    #[inline(always)]
    fn rows<const K: usize>(&self, regs: &Regs, lanes: Mask) -> Option<Rows<K>> {
        space::base_rows(regs, self.base, self.row, lanes)
    }
}

/// Private memory: an offset that all lanes share, and perhaps one of each.
struct Private {
    offset: u32,
    row: Option<usize>,
}

impl Address for Private {
    #[inline(always)]
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault> {
        let own = self.row.map_or(0, |row| regs.v.get(row, lane));
        space::private(regs, what, self.offset.wrapping_add(own), bytes, lane)
    }

    fn rows<const K: usize>(&self, _regs: &Regs, _lanes: Mask) -> Option<Rows<K>> {
        None
    }
}

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, path: Mask) -> Result<(), Trap> {
    let lanes = active(regs, path);
    match inst.format {
        Format::Global => {
            let offset = i64::from(inst.imm);
            if inst.src[2] == Operand::None {
                let row = vectors(regs, inst.src[0], 2)?;
                return access(inst, &Global { row, offset }, regs, bus, lanes);
            }
            let base = get64(regs, inst.src[2], path).wrapping_add_signed(offset);
            let row = vectors(regs, inst.src[0], 1)?;
            access(inst, &Based { base, row }, regs, bus, lanes)
        }
        Format::Scratch => {
            let base = if inst.src[2] == Operand::None { 0 } else { get32(regs, inst.src[2], path) };
            let row = match inst.src[0] {
                Operand::None => None,
                register => Some(vectors(regs, register, 1)?),
            };
            let offset = base.wrapping_add_signed(inst.imm);
            access(inst, &Private { offset, row }, regs, bus, lanes)
        }
        _ => {
            let row = vectors(regs, inst.src[0], 2)?;
            access(inst, &Flat { row, offset: inst.imm as u64 }, regs, bus, lanes)
        }
    }
}

#[inline(always)]
fn access<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    if inst.has(flag::LDS) {
        return to_lds(inst, at, regs, bus, lanes);
    }
    match inst.op {
        Op::FlatLoadUbyte => load_part(inst, at, regs, bus, lanes, 1, |v| u32::from(v as u8)),
        Op::FlatLoadSbyte => load_part(inst, at, regs, bus, lanes, 1, |v| v as i8 as u32),
        Op::FlatLoadUshort => load_part(inst, at, regs, bus, lanes, 2, |v| u32::from(v as u16)),
        Op::FlatLoadSshort => load_part(inst, at, regs, bus, lanes, 2, |v| v as i16 as u32),
        Op::FlatLoadDword => load::<A, B, 1>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx2 => load::<A, B, 2>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx3 => load::<A, B, 3>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx4 => load::<A, B, 4>(inst, at, regs, bus, lanes),
        Op::FlatStoreByte => store_part(inst, at, regs, bus, lanes, 1, 0),
        Op::FlatStoreShort => store_part(inst, at, regs, bus, lanes, 2, 0),
        Op::FlatStoreByteD16Hi => store_part(inst, at, regs, bus, lanes, 1, 16),
        Op::FlatStoreShortD16Hi => store_part(inst, at, regs, bus, lanes, 2, 16),
        Op::FlatStoreDword => store::<A, B, 1>(inst, at, regs, bus, lanes),
        Op::FlatStoreDwordx2 => store::<A, B, 2>(inst, at, regs, bus, lanes),
        Op::FlatStoreDwordx3 => store::<A, B, 3>(inst, at, regs, bus, lanes),
        Op::FlatStoreDwordx4 => store::<A, B, 4>(inst, at, regs, bus, lanes),
        Op::FlatLoadUbyteD16
        | Op::FlatLoadUbyteD16Hi
        | Op::FlatLoadSbyteD16
        | Op::FlatLoadSbyteD16Hi
        | Op::FlatLoadShortD16
        | Op::FlatLoadShortD16Hi => load_half(inst, at, regs, bus, lanes),
        Op::FlatLoadLdsUbyte
        | Op::FlatLoadLdsSbyte
        | Op::FlatLoadLdsUshort
        | Op::FlatLoadLdsSshort
        | Op::FlatLoadLdsDword => to_lds(inst, at, regs, bus, lanes),
        _ if inst.entry().atomic => atomic(inst, at, regs, bus, lanes),
        _ => Err(unsupported(inst)),
    }
}

#[inline(always)]
fn address(regs: &Regs, first: usize, lane: u32) -> u64 {
    u64::from(regs.v.get(first, lane)) | u64::from(regs.v.get(first + 1, lane)) << 32
}

#[inline(always)]
fn load_part<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    each_lane(lanes, |lane| {
        let place = at.place(regs, LOAD, bytes, lane)?;
        let value = extend(bus.load(place.first, bytes)?);
        regs.v.set(dst, lane, value);
        Ok(())
    })
}

/// One half of the destination; the other stays as it is.
fn load_half<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    let byte = !matches!(inst.op, Op::FlatLoadShortD16 | Op::FlatLoadShortD16Hi);
    let signed = matches!(inst.op, Op::FlatLoadSbyteD16 | Op::FlatLoadSbyteD16Hi);
    let high = matches!(inst.op, Op::FlatLoadUbyteD16Hi | Op::FlatLoadSbyteD16Hi | Op::FlatLoadShortD16Hi);
    let bytes = if byte { 1 } else { 2 };
    each_lane(lanes, |lane| {
        let place = at.place(regs, LOAD, bytes, lane)?;
        let value = bus.load(place.first, bytes)?;
        let value = if signed { value as i8 as u32 } else { value as u32 };
        let old = regs.v.get(dst, lane);
        regs.v.set(dst, lane, space::half_of(old, value, high));
        Ok(())
    })
}

/// The lane's data goes to LDS as a dword, at M0 plus the offset plus four times the lane.
fn to_lds<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let (bytes, extend): (u32, fn(u64) -> u32) = match inst.op {
        Op::FlatLoadUbyte | Op::FlatLoadLdsUbyte => (1, |v| u32::from(v as u8)),
        Op::FlatLoadSbyte | Op::FlatLoadLdsSbyte => (1, |v| v as i8 as u32),
        Op::FlatLoadUshort | Op::FlatLoadLdsUshort => (2, |v| u32::from(v as u16)),
        Op::FlatLoadSshort | Op::FlatLoadLdsSshort => (2, |v| v as i16 as u32),
        Op::FlatLoadDword | Op::FlatLoadLdsDword => (4, |v| v as u32),
        _ => return Err(unsupported(inst)),
    };
    let first = (m0(regs) & 0xffff).wrapping_add_signed(inst.imm);
    each_lane(lanes, |lane| {
        let place = at.place(regs, LOAD, bytes, lane)?;
        let value = extend(bus.load(place.first, bytes)?);
        bus.store(space::lds(regs, STORE, first.wrapping_add(lane * 4), 4)?, 4, value.into())?;
        Ok(())
    })
}

#[inline(always)]
fn load<A: Address, B: Bus, const N: usize>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, N as u32)?;
    if let Some(rows) = at.rows::<N>(regs, lanes) {
        return space::load_rows(regs, bus, &rows, lanes, dst);
    }
    each_lane(lanes, |lane| {
        let place = at.place(regs, LOAD, N as u32 * 4, lane)?;
        let data: [u32; N] = space::read(bus, place)?;
        set_row(regs, dst, lane, data);
        Ok(())
    })
}

#[inline(always)]
fn store_part<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    shift: u32,
) -> Result<(), Trap> {
    let data = vectors(regs, inst.src[1], 1)?;
    let keep = u64::MAX >> (64 - 8 * bytes);
    each_lane(lanes, |lane| {
        let place = at.place(regs, STORE, bytes, lane)?;
        bus.store(place.first, bytes, u64::from(regs.v.get(data, lane) >> shift) & keep)?;
        Ok(())
    })
}

#[inline(always)]
fn store<A: Address, B: Bus, const N: usize>(
    inst: &Inst,
    at: &A,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let data = vectors(regs, inst.src[1], N as u32)?;
    if N == 1
        && let (Some(rows), Some(data)) = (at.rows::<1>(regs, lanes), regs.v.whole(data))
    {
        return space::store_rows(bus, &rows, lanes, &[data]);
    }
    each_lane(lanes, |lane| {
        let place = at.place(regs, STORE, N as u32 * 4, lane)?;
        space::write(bus, place, row::<N>(regs, data, lane))?;
        Ok(())
    })
}

/// Lane by lane, lowest first; with GLC the old value is returned.
fn atomic<A: Address, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(kind) = Kind::of_memory(entry.code) else { return Err(unsupported(inst)) };
    let dwords = u32::from(entry.atomic_dwords());
    let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
    let data = vectors(regs, inst.src[1], dwords * operands)?;
    let dst = if inst.has(flag::GLC) { Some(vectors(regs, inst.dst, dwords)?) } else { None };
    each_lane(lanes, |lane| {
        let place = at.place(regs, ATOMIC, dwords * 4, lane)?;
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
