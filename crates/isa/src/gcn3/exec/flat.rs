//! FLAT: each lane has a 64-bit address; the high dword may say local or private memory.
//! The apertures decide where private memory lies, not FLAT_SCRATCH. From gfx9 on an instruction may say that its memory is
//! global or private; then there are offsets and scalar bases.

use super::super::inst::{Format, Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::Kind;
use super::common::{active, unsupported};
use super::lanes::{Atomic, Places, load, load_half, load_part, store, store_part};
use super::operand::{get32, get64, vectors};
use super::scalar1::m0;
use super::space::{self, LOAD, Place, Room, STORE, Together, What, each_lane, sbyte, sshort, ubyte, ushort};
use crate::{Bus, Mask, MemFault, Trap};

/// Flat addresses in two rows; `offset` is zero before gfx9.
struct Flat {
    row: usize,
    offset: u64,
}

impl Places for Flat {
    #[inline(always)]
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault> {
        space::flat(regs, what, address(regs, self.row, lane).wrapping_add(self.offset), bytes, lane)
    }

    #[inline(always)]
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, room: &'a mut Room) -> Option<Together<'a>> {
        space::flat_row(regs, (self.row, self.offset), lanes, bytes, room)
    }
}

/// Global addresses in two rows.
struct Global {
    row: usize,
    offset: i64,
}

impl Places for Global {
    #[inline(always)]
    fn place(&self, regs: &Regs, _what: What, _bytes: u32, lane: u32) -> Result<Place, MemFault> {
        Ok(Place { first: address(regs, self.row, lane).wrapping_add_signed(self.offset), step: 4 })
    }

    #[inline(always)]
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, _room: &'a mut Room) -> Option<Together<'a>> {
        let row = space::global_row(regs, self.row, lanes, bytes)?;
        Some(Together { base: row.base.checked_add_signed(self.offset)?, ..row })
    }
}

/// A base that all lanes share, and offsets in a row.
struct Based {
    base: u64,
    row: usize,
}

impl Places for Based {
    #[inline(always)]
    fn place(&self, regs: &Regs, _what: What, _bytes: u32, lane: u32) -> Result<Place, MemFault> {
        Ok(Place { first: self.base.wrapping_add(regs.v.get(self.row, lane).into()), step: 4 })
    }

    #[inline(always)]
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, _room: &'a mut Room) -> Option<Together<'a>> {
        space::base_row(regs, self.base, self.row, lanes, bytes)
    }
}

/// Private memory: an offset that all lanes share, and perhaps one of each.
struct Private {
    offset: u32,
    row: Option<usize>,
}

impl Places for Private {
    #[inline(always)]
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault> {
        let own = self.row.map_or(0, |row| regs.v.get(row, lane));
        space::private(regs, what, self.offset.wrapping_add(own), bytes, lane)
    }

    #[inline(always)]
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, room: &'a mut Room) -> Option<Together<'a>> {
        space::private_rows(regs, regs.scratch_base, (self.row, self.offset), lanes, bytes, room)
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
fn access<A: Places, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    if inst.has(flag::LDS) {
        return to_lds(inst, at, regs, bus, lanes);
    }
    let data = inst.src[1];
    match inst.op {
        Op::FlatLoadUbyte => load_part(inst, at, regs, bus, lanes, ubyte),
        Op::FlatLoadSbyte => load_part(inst, at, regs, bus, lanes, sbyte),
        Op::FlatLoadUshort => load_part(inst, at, regs, bus, lanes, ushort),
        Op::FlatLoadSshort => load_part(inst, at, regs, bus, lanes, sshort),
        Op::FlatLoadDword => load::<A, B, 1, 4>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx2 => load::<A, B, 2, 8>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx3 => load::<A, B, 3, 12>(inst, at, regs, bus, lanes),
        Op::FlatLoadDwordx4 => load::<A, B, 4, 16>(inst, at, regs, bus, lanes),
        Op::FlatStoreByte => store_part::<A, B, 1>(data, at, regs, bus, lanes, 0),
        Op::FlatStoreShort => store_part::<A, B, 2>(data, at, regs, bus, lanes, 0),
        Op::FlatStoreByteD16Hi => store_part::<A, B, 1>(data, at, regs, bus, lanes, 16),
        Op::FlatStoreShortD16Hi => store_part::<A, B, 2>(data, at, regs, bus, lanes, 16),
        Op::FlatStoreDword => store::<A, B, 1, 4>(data, at, regs, bus, lanes),
        Op::FlatStoreDwordx2 => store::<A, B, 2, 8>(data, at, regs, bus, lanes),
        Op::FlatStoreDwordx3 => store::<A, B, 3, 12>(data, at, regs, bus, lanes),
        Op::FlatStoreDwordx4 => store::<A, B, 4, 16>(data, at, regs, bus, lanes),
        Op::FlatLoadUbyteD16 => load_half(inst, at, regs, bus, lanes, false, ubyte),
        Op::FlatLoadUbyteD16Hi => load_half(inst, at, regs, bus, lanes, true, ubyte),
        Op::FlatLoadSbyteD16 => load_half(inst, at, regs, bus, lanes, false, sbyte),
        Op::FlatLoadSbyteD16Hi => load_half(inst, at, regs, bus, lanes, true, sbyte),
        Op::FlatLoadShortD16 => load_half(inst, at, regs, bus, lanes, false, ushort),
        Op::FlatLoadShortD16Hi => load_half(inst, at, regs, bus, lanes, true, ushort),
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

/// The lane's data goes to LDS as a dword, at M0 plus the offset plus four times the lane.
fn to_lds<A: Places, B: Bus>(inst: &Inst, at: &A, regs: &Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
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
        bus.lane(lane);
        let place = at.place(regs, LOAD, bytes, lane)?;
        let value = extend(bus.load(place.first, bytes)?);
        bus.store(space::lds(regs, STORE, first.wrapping_add(lane * 4), 4)?, 4, value.into())?;
        Ok(())
    })
}

fn atomic<A: Places, B: Bus>(
    inst: &Inst,
    at: &A,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(kind) = Kind::of_memory(entry.code) else { return Err(unsupported(inst)) };
    let dwords = u32::from(entry.atomic_dwords());
    let atomic = Atomic::of_flat(inst, regs, kind, dwords)?;
    match dwords {
        1 => atomic.run::<A, B, 1, 4>(at, regs, bus, lanes),
        _ => atomic.run::<A, B, 2, 8>(at, regs, bus, lanes),
    }
}
