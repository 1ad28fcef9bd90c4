//! Local data share: reads, writes, atomics. Every access is checked against the group's LDS size; M0 is
//! not a bound here (compilers set it to −1). Global data share and its synchronisation do not exist.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::common::unsupported;
use super::flat::{modify, set_wide, wide};
use super::operand::vectors;
use super::scalar1::m0;
use super::shuffle;
use super::space::{self, ATOMIC, LOAD, Place, STORE, each_lane, row, set_row};
use crate::lanes::bits;
use crate::{Bus, Mask, Trap};

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    if inst.has(flag::GDS) {
        return Err(unsupported(inst));
    }
    match inst.op {
        Op::DsReadB32 => read::<B, 1>(inst, regs, bus, lanes),
        Op::DsReadB64 => read::<B, 2>(inst, regs, bus, lanes),
        Op::DsReadB96 => read::<B, 3>(inst, regs, bus, lanes),
        Op::DsReadB128 => read::<B, 4>(inst, regs, bus, lanes),
        Op::DsRead2B32 => read2::<B, 1>(inst, regs, bus, lanes, 4),
        Op::DsRead2st64B32 => read2::<B, 1>(inst, regs, bus, lanes, 256),
        Op::DsRead2B64 => read2::<B, 2>(inst, regs, bus, lanes, 8),
        Op::DsRead2st64B64 => read2::<B, 2>(inst, regs, bus, lanes, 512),
        Op::DsReadI8 => read_part(inst, regs, bus, lanes, 1, |v| v as i8 as u32),
        Op::DsReadU8 => read_part(inst, regs, bus, lanes, 1, |v| u32::from(v as u8)),
        Op::DsReadI16 => read_part(inst, regs, bus, lanes, 2, |v| v as i16 as u32),
        Op::DsReadU16 => read_part(inst, regs, bus, lanes, 2, |v| u32::from(v as u16)),
        Op::DsReadU8D16 => read_half(inst, regs, bus, lanes, 1, false, |v| u32::from(v as u8)),
        Op::DsReadU8D16Hi => read_half(inst, regs, bus, lanes, 1, true, |v| u32::from(v as u8)),
        Op::DsReadI8D16 => read_half(inst, regs, bus, lanes, 1, false, |v| v as i8 as u32),
        Op::DsReadI8D16Hi => read_half(inst, regs, bus, lanes, 1, true, |v| v as i8 as u32),
        Op::DsReadU16D16 => read_half(inst, regs, bus, lanes, 2, false, |v| u32::from(v as u16)),
        Op::DsReadU16D16Hi => read_half(inst, regs, bus, lanes, 2, true, |v| u32::from(v as u16)),
        Op::DsWriteB8 => write_part(inst, regs, bus, lanes, 1, 0),
        Op::DsWriteB16 => write_part(inst, regs, bus, lanes, 2, 0),
        Op::DsWriteB8D16Hi => write_part(inst, regs, bus, lanes, 1, 16),
        Op::DsWriteB16D16Hi => write_part(inst, regs, bus, lanes, 2, 16),
        Op::DsReadAddtidB32 | Op::DsWriteAddtidB32 => by_lane(inst, regs, bus, lanes),
        Op::DsWriteB32 => write::<B, 1>(inst, regs, bus, lanes),
        Op::DsWriteB64 => write::<B, 2>(inst, regs, bus, lanes),
        Op::DsWriteB96 => write::<B, 3>(inst, regs, bus, lanes),
        Op::DsWriteB128 => write::<B, 4>(inst, regs, bus, lanes),
        Op::DsWrite2B32 => write2::<B, 1>(inst, regs, bus, lanes, 4),
        Op::DsWrite2st64B32 => write2::<B, 1>(inst, regs, bus, lanes, 256),
        Op::DsWrite2B64 => write2::<B, 2>(inst, regs, bus, lanes, 8),
        Op::DsWrite2st64B64 => write2::<B, 2>(inst, regs, bus, lanes, 512),
        Op::DsWrxchg2RtnB32 => exchange2::<B, 1>(inst, regs, bus, lanes, 4),
        Op::DsWrxchg2st64RtnB32 => exchange2::<B, 1>(inst, regs, bus, lanes, 256),
        Op::DsWrxchg2RtnB64 => exchange2::<B, 2>(inst, regs, bus, lanes, 8),
        Op::DsWrxchg2st64RtnB64 => exchange2::<B, 2>(inst, regs, bus, lanes, 512),
        Op::DsSwizzleB32 => shuffle::swizzle(inst, regs, lanes),
        Op::DsPermuteB32 => shuffle::permute(inst, regs, lanes),
        Op::DsBpermuteB32 => shuffle::bpermute(inst, regs, lanes),
        Op::DsAppend => count(inst, regs, bus, lanes, u32::wrapping_add),
        Op::DsConsume => count(inst, regs, bus, lanes, u32::wrapping_sub),
        Op::DsNop => Ok(()),
        Op::DsCondxchg32RtnB64 => Err(unsupported(inst)),
        _ if inst.entry().gds_only => Err(unsupported(inst)),
        _ => match inst.entry().code {
            0x80..=0x95 | 0xc0..=0xd3 => atomic_src2(inst, regs, bus, lanes),
            _ => atomic(inst, regs, bus, lanes),
        },
    }
}

#[inline(always)]
fn offset(inst: &Inst) -> u32 {
    inst.imm as u32 & 0xffff
}

/// The two offsets in bytes.
#[inline(always)]
fn offsets(inst: &Inst, scale: u32) -> [u32; 2] {
    [inst.imm as u32 & 0xff, inst.imm as u32 >> 8 & 0xff].map(|o| o * scale)
}

#[inline(always)]
fn lds_place(regs: &Regs, what: space::What, offset: u32, bytes: u32) -> Result<Place, Trap> {
    Ok(Place { first: space::lds(regs, what, offset, bytes)?, step: 4 })
}

#[inline(always)]
fn read<B: Bus, const N: usize>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, N as u32)?, vectors(regs, inst.src[0], 1)?);
    let add = std::array::from_fn(|k| offset(inst) + 4 * k as u32);
    if let Some(rows) = space::lds_rows::<N>(regs, src, lanes, add) {
        return space::load_rows(regs, bus, &rows, lanes, dst);
    }
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        let data: [u32; N] = space::read(bus, lds_place(regs, LOAD, at, N as u32 * 4)?)?;
        set_row(regs, dst, lane, data);
        Ok(())
    })
}

#[inline(always)]
fn read2<B: Bus, const N: usize>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, N as u32 * 2)?, vectors(regs, inst.src[0], 1)?);
    let [first, second] = offsets(inst, scale);
    if N == 1
        && let Some(rows) = space::lds_rows(regs, src, lanes, [first, second])
    {
        return space::load_rows(regs, bus, &rows, lanes, dst);
    }
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane);
        let a: [u32; N] = space::read(bus, lds_place(regs, LOAD, at.wrapping_add(first), N as u32 * 4)?)?;
        let b: [u32; N] = space::read(bus, lds_place(regs, LOAD, at.wrapping_add(second), N as u32 * 4)?)?;
        set_row(regs, dst, lane, a);
        set_row(regs, dst + N, lane, b);
        Ok(())
    })
}

#[inline(always)]
fn read_part<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        let value = extend(bus.load(space::lds(regs, LOAD, at, bytes)?, bytes)?);
        regs.v.set(dst, lane, value);
        Ok(())
    })
}

/// One half of the destination; the other stays as it is.
fn read_half<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    high: bool,
    extend: impl Fn(u64) -> u32,
) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, 1)?, vectors(regs, inst.src[0], 1)?);
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        let value = extend(bus.load(space::lds(regs, LOAD, at, bytes)?, bytes)?);
        let old = regs.v.get(dst, lane);
        regs.v.set(dst, lane, space::half_of(old, value, high));
        Ok(())
    })
}

/// Lane k at M0 plus the offset plus four times k.
fn by_lane<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let first = (m0(regs) & 0xffff).wrapping_add(offset(inst));
    let reads = inst.op == Op::DsReadAddtidB32;
    let row = vectors(regs, if reads { inst.dst } else { inst.src[1] }, 1)?;
    each_lane(lanes, |lane| {
        let at = first.wrapping_add(lane * 4);
        if reads {
            let value = bus.load(space::lds(regs, LOAD, at, 4)?, 4)? as u32;
            regs.v.set(row, lane, value);
        } else {
            bus.store(space::lds(regs, STORE, at, 4)?, 4, regs.v.get(row, lane).into())?;
        }
        Ok(())
    })
}

#[inline(always)]
fn write_part<B: Bus>(
    inst: &Inst,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    bytes: u32,
    shift: u32,
) -> Result<(), Trap> {
    let (src, data) = (vectors(regs, inst.src[0], 1)?, vectors(regs, inst.src[1], 1)?);
    let keep = u64::MAX >> (64 - 8 * bytes);
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        let value = u64::from(regs.v.get(data, lane) >> shift) & keep;
        bus.store(space::lds(regs, STORE, at, bytes)?, bytes, value)?;
        Ok(())
    })
}

#[inline(always)]
fn write<B: Bus, const N: usize>(inst: &Inst, regs: &Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let (src, data) = (vectors(regs, inst.src[0], 1)?, vectors(regs, inst.src[1], N as u32)?);
    if N == 1
        && let (Some(rows), Some(data)) =
            (space::lds_rows(regs, src, lanes, [offset(inst)]), regs.v.whole(data))
    {
        return space::store_rows(bus, &rows, lanes, &[data]);
    }
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        space::write(bus, lds_place(regs, STORE, at, N as u32 * 4)?, row::<N>(regs, data, lane))?;
        Ok(())
    })
}

/// A lane writes its first value before its second, lanes lowest first.
#[inline(always)]
fn write2<B: Bus, const N: usize>(
    inst: &Inst,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let src = vectors(regs, inst.src[0], 1)?;
    let data = [vectors(regs, inst.src[1], N as u32)?, vectors(regs, inst.src[2], N as u32)?];
    if N == 1
        && let (Some(rows), Some(a), Some(b)) = (
            space::lds_rows(regs, src, lanes, offsets(inst, scale)),
            regs.v.whole(data[0]),
            regs.v.whole(data[1]),
        )
    {
        return space::store_rows(bus, &rows, lanes, &[a, b]);
    }
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane);
        for (offset, data) in offsets(inst, scale).into_iter().zip(data) {
            let place = lds_place(regs, STORE, at.wrapping_add(offset), N as u32 * 4)?;
            space::write(bus, place, row::<N>(regs, data, lane))?;
        }
        Ok(())
    })
}

fn exchange2<B: Bus, const N: usize>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let (dst, src) = (vectors(regs, inst.dst, N as u32 * 2)?, vectors(regs, inst.src[0], 1)?);
    let data = [vectors(regs, inst.src[1], N as u32)?, vectors(regs, inst.src[2], N as u32)?];
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane);
        let mut old = [[0; N]; 2];
        for (k, offset) in offsets(inst, scale).into_iter().enumerate() {
            let place = lds_place(regs, ATOMIC, at.wrapping_add(offset), N as u32 * 4)?;
            old[k] = space::read(bus, place)?;
            space::write(bus, place, row::<N>(regs, data[k], lane))?;
        }
        set_row(regs, dst, lane, old[0]);
        set_row(regs, dst + N, lane, old[1]);
        Ok(())
    })
}

/// Lane by lane, lowest first; the returning forms give the old value.
fn atomic<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let code = inst.entry().code;
    let Some(kind) = Kind::of_ds(code) else { return Err(unsupported(inst)) };
    let dwords = if code & 0x40 != 0 { 2 } else { 1 };
    let src = vectors(regs, inst.src[0], 1)?;
    let data = vectors(regs, inst.src[1], dwords)?;
    let second = match inst.src[2] {
        Operand::None => None,
        operand => Some(vectors(regs, operand, dwords)?),
    };
    let dst = match inst.dst {
        Operand::None => None,
        operand => Some(vectors(regs, operand, dwords)?),
    };
    each_lane(lanes, |lane| {
        let at = regs.v.get(src, lane).wrapping_add(offset(inst));
        let place = lds_place(regs, ATOMIC, at, dwords * 4)?;
        let data = wide(regs, data, dwords, lane);
        let second = second.map_or(0, |row| wide(regs, row, dwords, lane));
        // Here the first operand is what memory must hold.
        let (data, second) = match kind {
            Kind::Cmpswap | Kind::CmpswapF => (second, data),
            _ => (data, second),
        };
        let old = modify(bus, place, dwords, |old| apply(kind, dwords == 2, old, data, second, regs.mode))?;
        if let Some(dst) = dst {
            set_wide(regs, dst, dwords, lane, old);
        }
        Ok(())
    })
}

/// The operand is itself in LDS, a signed number of dwords from the address: in the offset field, or in
/// the upper bits of the address.
fn atomic_src2<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let code = inst.entry().code;
    let Some(kind) = Kind::of_ds(code) else { return Err(unsupported(inst)) };
    let dwords = if code & 0x40 != 0 { 2 } else { 1 };
    let src = vectors(regs, inst.src[0], 1)?;
    let field = offset(inst);
    each_lane(lanes, |lane| {
        let address = regs.v.get(src, lane);
        let (at, distance) = match field >> 15 {
            1 => (address & 0x1_ffff, address as i32 >> 17),
            _ => (address, (field << 17) as i32 >> 17),
        };
        let from = at.wrapping_add_signed(distance.wrapping_mul(4));
        let data = bus.load(space::lds(regs, ATOMIC, from, dwords * 4)?, dwords * 4)?;
        let place = lds_place(regs, ATOMIC, at, dwords * 4)?;
        modify(bus, place, dwords, |old| apply(kind, dwords == 2, old, data, 0, regs.mode))?;
        Ok(())
    })
}

/// ds_append and ds_consume: the number of active lanes moves a counter at M0; all lanes get the old one.
fn count<B: Bus>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    f: impl Fn(u32, u32) -> u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    if lanes == 0 {
        return Ok(());
    }
    let at = (m0(regs) & 0xffff).wrapping_add(offset(inst));
    let place = lds_place(regs, ATOMIC, at, 4)?;
    let old = modify(bus, place, 1, |old| f(old as u32, lanes.count_ones()).into())?;
    for lane in bits(lanes) {
        regs.v.set(dst, lane, old as u32);
    }
    Ok(())
}
