//! MUBUF: loads, stores and atomics of buffers. Out of the buffer's bounds loads give zero and stores do nothing, as on
//! the machine; out of private memory is an error.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::state::Regs;
use super::access::{Access, Window, status};
use super::atomic::{Kind, apply};
use super::common::{active, unsupported};
use super::format;
use super::lanes::modify;
use super::operand::vectors;
use super::scalar1::m0;
use super::space::{self, ATOMIC, LOAD, STORE, Together, each_lane};
use crate::lanes::Filled;
use crate::{Bus, Mask, Trap};

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, path: Mask) -> Result<(), Trap> {
    if matches!(inst.op, Op::BufferWbinvl1 | Op::BufferWbinvl1Vol | Op::BufferWbl2 | Op::BufferInvl2) {
        return Ok(());
    }
    let access = Access::new(inst, regs, path)?;
    let lanes = active(regs, path);
    let a = &access;
    match inst.op {
        Op::BufferLoadUbyte => load_part(inst, a, regs, bus, lanes, 1, |v| u32::from(v as u8)),
        Op::BufferLoadSbyte => load_part(inst, a, regs, bus, lanes, 1, |v| v as i8 as u32),
        Op::BufferLoadUshort => load_part(inst, a, regs, bus, lanes, 2, |v| u32::from(v as u16)),
        Op::BufferLoadSshort => load_part(inst, a, regs, bus, lanes, 2, |v| v as i16 as u32),
        Op::BufferLoadDword => load_part(inst, a, regs, bus, lanes, 4, |v| v as u32),
        Op::BufferLoadDwordx2 => load(inst, a, regs, bus, lanes, 2),
        Op::BufferLoadDwordx3 => load(inst, a, regs, bus, lanes, 3),
        Op::BufferLoadDwordx4 => load(inst, a, regs, bus, lanes, 4),
        Op::BufferLoadUbyteD16
        | Op::BufferLoadUbyteD16Hi
        | Op::BufferLoadSbyteD16
        | Op::BufferLoadSbyteD16Hi
        | Op::BufferLoadShortD16
        | Op::BufferLoadShortD16Hi => load_half(inst, a, regs, bus, lanes),
        Op::BufferStoreByteD16Hi => store_high(inst, a, regs, bus, lanes, 1),
        Op::BufferStoreShortD16Hi => store_high(inst, a, regs, bus, lanes, 2),
        Op::BufferStoreByte => store(inst, a, regs, bus, lanes, 1, 1),
        Op::BufferStoreShort => store(inst, a, regs, bus, lanes, 1, 2),
        Op::BufferStoreDword => store(inst, a, regs, bus, lanes, 1, 4),
        Op::BufferStoreDwordx2 => store(inst, a, regs, bus, lanes, 2, 4),
        Op::BufferStoreDwordx3 => store(inst, a, regs, bus, lanes, 3, 4),
        Op::BufferStoreDwordx4 => store(inst, a, regs, bus, lanes, 4, 4),
        Op::BufferLoadFormatX | Op::TbufferLoadFormatX => format::load(inst, a, regs, bus, lanes, 1),
        Op::BufferLoadFormatXy | Op::TbufferLoadFormatXy => format::load(inst, a, regs, bus, lanes, 2),
        Op::BufferLoadFormatXyz | Op::TbufferLoadFormatXyz => format::load(inst, a, regs, bus, lanes, 3),
        Op::BufferLoadFormatXyzw | Op::TbufferLoadFormatXyzw => format::load(inst, a, regs, bus, lanes, 4),
        Op::BufferStoreFormatX | Op::TbufferStoreFormatX => format::store(inst, a, regs, bus, lanes, 1),
        Op::BufferStoreFormatXy | Op::TbufferStoreFormatXy => format::store(inst, a, regs, bus, lanes, 2),
        Op::BufferStoreFormatXyz | Op::TbufferStoreFormatXyz => format::store(inst, a, regs, bus, lanes, 3),
        Op::BufferStoreFormatXyzw | Op::TbufferStoreFormatXyzw => format::store(inst, a, regs, bus, lanes, 4),
        _ if inst.entry().atomic => atomic(inst, a, regs, bus, lanes),
        _ => Err(unsupported(inst)),
    }
}

#[inline(always)]
fn load_part<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    if inst.has(flag::LDS) {
        return load_lds(access, regs, bus, lanes, bytes, extend);
    }
    let dst = vectors(regs, inst.dst, 1)?;
    if let Some(row) = access.rows(regs, lanes, bytes, &mut None) {
        let mut out = Filled::default();
        match bytes {
            1 => load_part_rows::<B, 1>(row, bus, lanes, &mut out)?,
            2 => load_part_rows::<B, 2>(row, bus, lanes, &mut out)?,
            _ if access.private => load_part_rows::<B, 4>(row, bus, lanes, &mut out)?,
            _ => row.load(bus, lanes, &mut out)?,
        }
        out.0[0][0].iter_mut().for_each(|out| *out = extend(u64::from(*out)));
        regs.v.blend_rows(dst, lanes, &out);
        return status(inst, regs, lanes, dst, 1);
    }
    if access.private {
        let window = Window::new(regs);
        each_lane(lanes, |lane| {
            bus.lane(lane);
            let offset = access.offset(regs, lane, 0);
            let Some(addr) = access.private_at(&window, lane, offset, bytes) else {
                return Err(access.no_private(regs, LOAD, offset, bytes).into());
            };
            regs.v.set(dst, lane, extend(bus.load(addr, bytes)?));
            Ok(())
        })?;
        return status(inst, regs, lanes, dst, 1);
    }
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let value = match access.at(regs, LOAD, lane, 0, bytes)? {
            Some(addr) => extend(bus.load(addr, bytes)?),
            None => 0,
        };
        regs.v.set(dst, lane, value);
        Ok(())
    })?;
    status(inst, regs, lanes, dst, 1)
}

/// One half of the destination; the other stays as it is.
fn load_half<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    let byte = !matches!(inst.op, Op::BufferLoadShortD16 | Op::BufferLoadShortD16Hi);
    let signed = matches!(inst.op, Op::BufferLoadSbyteD16 | Op::BufferLoadSbyteD16Hi);
    let high =
        matches!(inst.op, Op::BufferLoadUbyteD16Hi | Op::BufferLoadSbyteD16Hi | Op::BufferLoadShortD16Hi);
    let bytes = if byte { 1 } else { 2 };
    if let Some(row) = access.rows(regs, lanes, bytes, &mut None) {
        let mut out = Filled::default();
        match bytes {
            1 => load_part_rows::<B, 1>(row, bus, lanes, &mut out)?,
            _ => load_part_rows::<B, 2>(row, bus, lanes, &mut out)?,
        }
        for (out, old) in out.0[0][0].iter_mut().zip(regs.v.row(dst)) {
            let value = if signed { *out as i8 as u32 } else { *out };
            *out = space::half_of(*old, value, high);
        }
        regs.v.blend_rows(dst, lanes, &out);
        return Ok(());
    }
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let value = match access.at(regs, LOAD, lane, 0, bytes)? {
            Some(addr) => bus.load(addr, bytes)?,
            None => 0,
        };
        let value = if signed { value as i8 as u32 } else { value as u32 };
        let old = regs.v.get(dst, lane);
        regs.v.set(dst, lane, space::half_of(old, value, high));
        Ok(())
    })
}

/// The high half of the data.
fn store_high<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
) -> Result<(), Trap> {
    let data = vectors(regs, inst.dst, 1)?;
    let keep = u64::MAX >> (64 - 8 * bytes);
    if let Some(row) = access.rows(regs, lanes, bytes, &mut None) {
        let high = space::copied(regs, data).map(|v| v >> 16);
        let (places, rows) = ((row.offset, [0]), [[&high]]);
        match bytes {
            1 => bus.store_rows::<1, 1, 1>(row.base, places, lanes, &rows)?,
            _ => bus.store_rows::<1, 1, 2>(row.base, places, lanes, &rows)?,
        }
        return Ok(());
    }
    each_lane(lanes, |lane| {
        bus.lane(lane);
        if let Some(addr) = access.at(regs, STORE, lane, 0, bytes)? {
            bus.store(addr, bytes, u64::from(regs.v.get(data, lane) >> 16) & keep)?;
        }
        Ok(())
    })
}

/// The lane's dword goes to LDS, at M0 plus the offset plus four times the lane.
fn load_lds<B: Bus>(
    access: &Access,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    let first = (m0(regs) & 0xffff) + access.imm;
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let value = match access.at(regs, LOAD, lane, 0, bytes)? {
            Some(addr) => extend(bus.load(addr, bytes)?),
            None => 0,
        };
        bus.store(space::lds(regs, STORE, first + lane * 4, 4)?, 4, value.into())?;
        Ok(())
    })
}

/// The lowest `N` bytes of a dword of every lane, none of which is outside.
fn load_part_rows<B: Bus, const N: usize>(
    row: Together,
    bus: &mut B,
    lanes: Mask,
    out: &mut Filled<1, 1>,
) -> Result<(), Trap> {
    Ok(bus.load_rows::<1, 1, N>(row.base, (row.offset, [0]), lanes, &mut out.0)?)
}

/// `D` dwords of every lane, none of which is outside; the offsets are not among the registers that are filled.
fn load_rows<B: Bus, const D: usize>(
    row: Together,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    dst: usize,
) -> Result<(), Trap> {
    let places = (row.offset, row.dwords());
    if lanes == Mask::MAX
        && let Some(out) = regs.v.rows_mut(dst)
    {
        return Ok(bus.load_rows::<1, D, 4>(row.base, places, lanes, out)?);
    }
    let mut out = Filled::<1, D>::default();
    bus.load_rows::<1, D, 4>(row.base, places, lanes, &mut out.0)?;
    regs.v.blend_rows(dst, lanes, &out);
    Ok(())
}

/// The same for stores.
fn store_rows<B: Bus, const D: usize, const N: usize>(
    row: Together,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    data: usize,
) -> Result<(), Trap> {
    let mut buffer = None;
    let rows = space::rows_of::<D>(regs, data, &mut buffer).map(|row| [row]);
    Ok(bus.store_rows::<1, D, N>(row.base, (row.offset, row.dwords()), lanes, &rows)?)
}

/// Every dword is checked against the bounds by itself.
#[inline(always)]
fn load<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    count: u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, count)?;
    let (mut room, copy);
    room = None;
    let row = match access.private {
        true => access.private_rows(regs, lanes, 4 * count, &mut room),
        false => match access.rows(regs, lanes, 4 * count, &mut room) {
            Some(row) => {
                copy = *row.offset;
                Some(Together { offset: &copy, ..row })
            }
            None => None,
        },
    };
    if let Some(row) = row {
        match count {
            2 => load_rows::<B, 2>(row, regs, bus, lanes, dst)?,
            3 => load_rows::<B, 3>(row, regs, bus, lanes, dst)?,
            _ => load_rows::<B, 4>(row, regs, bus, lanes, dst)?,
        }
        return status(inst, regs, lanes, dst, count);
    }
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let mut data = [0; 4];
        for k in 0..count {
            if let Some(addr) = access.at(regs, LOAD, lane, k * 4, 4)? {
                data[k as usize] = bus.load(addr, 4)? as u32;
            }
        }
        for (k, &value) in data[..count as usize].iter().enumerate() {
            regs.v.set(dst + k, lane, value);
        }
        Ok(())
    })?;
    status(inst, regs, lanes, dst, count)
}

#[inline(always)]
fn store<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    count: u32,
    bytes: u32,
) -> Result<(), Trap> {
    let data = vectors(regs, inst.dst, count)?;
    let keep = u64::MAX >> (64 - 8 * bytes);
    if let Some(row) = access.rows(regs, lanes, bytes * count, &mut None) {
        return match (count, bytes) {
            (1, 1) => store_rows::<B, 1, 1>(row, regs, bus, lanes, data),
            (1, 2) => store_rows::<B, 1, 2>(row, regs, bus, lanes, data),
            (1, _) if access.private => store_rows::<B, 1, 4>(row, regs, bus, lanes, data),
            (1, _) => {
                let mut buffer = None;
                let [data] = space::rows_of(regs, data, &mut buffer);
                row.store(bus, lanes, data)
            }
            (2, _) => store_rows::<B, 2, 4>(row, regs, bus, lanes, data),
            (3, _) => store_rows::<B, 3, 4>(row, regs, bus, lanes, data),
            _ => store_rows::<B, 4, 4>(row, regs, bus, lanes, data),
        };
    }
    if access.private && count == 1 {
        let window = Window::new(regs);
        return each_lane(lanes, |lane| {
            bus.lane(lane);
            let offset = access.offset(regs, lane, 0);
            let Some(addr) = access.private_at(&window, lane, offset, bytes) else {
                return Err(access.no_private(regs, STORE, offset, bytes).into());
            };
            bus.store(addr, bytes, u64::from(regs.v.get(data, lane)) & keep)?;
            Ok(())
        });
    }
    each_lane(lanes, |lane| {
        bus.lane(lane);
        for k in 0..count {
            if let Some(addr) = access.at(regs, STORE, lane, k * 4, bytes)? {
                bus.store(addr, bytes, u64::from(regs.v.get(data + k as usize, lane)) & keep)?;
            }
        }
        Ok(())
    })
}

/// Data stands in `dst`, which takes the old value with GLC. Out of bounds nothing happens and the old
/// value is zero.
fn atomic<B: Bus>(
    inst: &Inst,
    access: &Access,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(kind) = Kind::of_memory(entry.code) else { return Err(unsupported(inst)) };
    let dwords = u32::from(entry.atomic_dwords());
    let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
    let data = vectors(regs, inst.dst, dwords * operands)?;
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let value = wide(regs, data, dwords, lane);
        let compare = if operands == 2 { wide(regs, data + dwords as usize, dwords, lane) } else { 0 };
        let old = match access.at(regs, ATOMIC, lane, 0, dwords * 4)? {
            Some(first) => {
                modify(bus, first, dwords, |old| apply(kind, dwords == 2, old, value, compare, regs.mode))?
            }
            None => 0,
        };
        if inst.has(flag::GLC) {
            set_wide(regs, data, dwords, lane, old);
        }
        Ok(())
    })
}

/// One or two dwords of a lane's registers as a number.
#[inline]
fn wide(regs: &Regs, first: usize, dwords: u32, lane: u32) -> u64 {
    let low = u64::from(regs.v.get(first, lane));
    if dwords == 2 { low | u64::from(regs.v.get(first + 1, lane)) << 32 } else { low }
}

#[inline]
fn set_wide(regs: &mut Regs, first: usize, dwords: u32, lane: u32, value: u64) {
    regs.v.set(first, lane, value as u32);
    if dwords == 2 {
        regs.v.set(first + 1, lane, (value >> 32) as u32);
    }
}
