//! Local data share: reads, writes, atomics. Every access is checked against the group's LDS size; M0 is
//! not a bound here (compilers set it to −1). Global data share and its synchronisation do not exist.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::common::unsupported;
use super::lanes::{Atomic, Places, load, load_half, load_part, modify, store, store_part};
use super::operand::vectors;
use super::scalar1::m0;
use super::shuffle;
use super::space::{
    self, ATOMIC, LOAD, Place, Room, STORE, Together, What, copied, each_lane, rows_of, sbyte, sshort, ubyte,
    ushort,
};
use crate::lanes::{Filled, Row, bits};
use crate::{Bus, Mask, MemFault, Trap, Use, access, numbers_to_rows, rows_to_numbers};

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    if inst.has(flag::GDS) {
        return Err(unsupported(inst));
    }
    let row = match inst.src[0] {
        Operand::None => 0,
        operand => vectors(regs, operand, 1)?,
    };
    let at = &Lds { row, offset: offset(inst) };
    let data = inst.src[1];
    match inst.op {
        Op::DsReadB32 => load::<Lds, B, 1, 4>(inst, at, regs, bus, lanes),
        Op::DsReadB64 => load::<Lds, B, 2, 8>(inst, at, regs, bus, lanes),
        Op::DsReadB96 => load::<Lds, B, 3, 12>(inst, at, regs, bus, lanes),
        Op::DsReadB128 => load::<Lds, B, 4, 16>(inst, at, regs, bus, lanes),
        Op::DsRead2B32 => read2::<B, 1, 4>(inst, regs, bus, lanes, 4),
        Op::DsRead2st64B32 => read2::<B, 1, 4>(inst, regs, bus, lanes, 256),
        Op::DsRead2B64 => read2::<B, 2, 8>(inst, regs, bus, lanes, 8),
        Op::DsRead2st64B64 => read2::<B, 2, 8>(inst, regs, bus, lanes, 512),
        Op::DsReadI8 => load_part(inst, at, regs, bus, lanes, sbyte),
        Op::DsReadU8 => load_part(inst, at, regs, bus, lanes, ubyte),
        Op::DsReadI16 => load_part(inst, at, regs, bus, lanes, sshort),
        Op::DsReadU16 => load_part(inst, at, regs, bus, lanes, ushort),
        Op::DsReadU8D16 => load_half(inst, at, regs, bus, lanes, false, ubyte),
        Op::DsReadU8D16Hi => load_half(inst, at, regs, bus, lanes, true, ubyte),
        Op::DsReadI8D16 => load_half(inst, at, regs, bus, lanes, false, sbyte),
        Op::DsReadI8D16Hi => load_half(inst, at, regs, bus, lanes, true, sbyte),
        Op::DsReadU16D16 => load_half(inst, at, regs, bus, lanes, false, ushort),
        Op::DsReadU16D16Hi => load_half(inst, at, regs, bus, lanes, true, ushort),
        Op::DsWriteB8 => store_part::<Lds, B, 1>(data, at, regs, bus, lanes, 0),
        Op::DsWriteB16 => store_part::<Lds, B, 2>(data, at, regs, bus, lanes, 0),
        Op::DsWriteB8D16Hi => store_part::<Lds, B, 1>(data, at, regs, bus, lanes, 16),
        Op::DsWriteB16D16Hi => store_part::<Lds, B, 2>(data, at, regs, bus, lanes, 16),
        Op::DsReadAddtidB32 | Op::DsWriteAddtidB32 => by_lane(inst, regs, bus, lanes),
        Op::DsWriteB32 => store::<Lds, B, 1, 4>(data, at, regs, bus, lanes),
        Op::DsWriteB64 => store::<Lds, B, 2, 8>(data, at, regs, bus, lanes),
        Op::DsWriteB96 => store::<Lds, B, 3, 12>(data, at, regs, bus, lanes),
        Op::DsWriteB128 => store::<Lds, B, 4, 16>(data, at, regs, bus, lanes),
        Op::DsWrite2B32 => write2::<B, 1, 4>(inst, regs, bus, lanes, 4),
        Op::DsWrite2st64B32 => write2::<B, 1, 4>(inst, regs, bus, lanes, 256),
        Op::DsWrite2B64 => write2::<B, 2, 8>(inst, regs, bus, lanes, 8),
        Op::DsWrite2st64B64 => write2::<B, 2, 8>(inst, regs, bus, lanes, 512),
        Op::DsWrxchg2RtnB32 => exchange2::<B, 1, 4>(inst, regs, bus, lanes, 4),
        Op::DsWrxchg2st64RtnB32 => exchange2::<B, 1, 4>(inst, regs, bus, lanes, 256),
        Op::DsWrxchg2RtnB64 => exchange2::<B, 2, 8>(inst, regs, bus, lanes, 8),
        Op::DsWrxchg2st64RtnB64 => exchange2::<B, 2, 8>(inst, regs, bus, lanes, 512),
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
            _ => atomic(inst, at, regs, bus, lanes),
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

/// Offsets in a row, and one that all lanes share.
struct Lds {
    row: usize,
    offset: u32,
}

impl Places for Lds {
    #[inline(always)]
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault> {
        let at = regs.v.get(self.row, lane).wrapping_add(self.offset);
        Ok(Place { first: space::lds(regs, what, at, bytes)?, step: 4 })
    }

    #[inline(always)]
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, _room: &'a mut Room) -> Option<Together<'a>> {
        let row = space::lds_row(regs, self.row, lanes, self.offset, bytes)?;
        Some(Together { base: row.base + u64::from(self.offset), ..row })
    }
}

/// Where local memory begins, and two places of each lane in it.
type Pair<'a> = (u64, (&'a Row<u32>, [u32; 2]));

/// The two places of all lanes, `bytes` bytes each, if they go together.
#[inline(always)]
fn both<'a>(
    inst: &Inst,
    regs: &'a Regs,
    lanes: Mask,
    scale: u32,
    bytes: u32,
) -> Result<Option<Pair<'a>>, Trap> {
    let src = vectors(regs, inst.src[0], 1)?;
    let add = offsets(inst, scale);
    let row = space::lds_row(regs, src, lanes, add[0].max(add[1]), bytes);
    Ok(row.map(|row| (row.base, (row.offset, add))))
}

/// `N` bytes at two places of every lane, one after the other: a lane's first before its second, lanes lowest first.
#[inline(always)]
fn two<B: Bus, const N: usize>(
    inst: &Inst,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    (scale, how): (u32, Use),
    mut f: impl FnMut(usize, usize, &mut [u8; N]),
) -> Result<(), Trap> {
    let src = vectors(regs, inst.src[0], 1)?;
    let add = offsets(inst, scale);
    let what = match how {
        Use::Load => LOAD,
        Use::Store => STORE,
        Use::Modify => ATOMIC,
    };
    each_lane(lanes, |lane| {
        bus.lane(lane);
        for (p, add) in add.into_iter().enumerate() {
            let at = regs.v.get(src, lane).wrapping_add(add);
            let first = space::lds(regs, what, at, N as u32)?;
            access(bus, first, 4, how, |bytes| f(lane as usize, p, bytes))?;
        }
        Ok(())
    })
}

/// Two places of `D` dwords, `N` bytes, each.
#[inline(always)]
fn read2<B: Bus, const D: usize, const N: usize>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, D as u32 * 2)?;
    if lanes == Mask::MAX
        && let Some((base, (offset, add))) = both(inst, regs, lanes, scale, N as u32)?
    {
        // The address may be among the registers that are filled.
        let offset = *offset;
        if let Some(out) = regs.v.rows_mut(dst) {
            return Ok(bus.load_rows::<D, 2, N>(base, (&offset, add), lanes, out)?);
        }
    }
    let mut out = Filled::default();
    match both(inst, regs, lanes, scale, N as u32)? {
        Some((base, places)) => bus.load_rows::<D, 2, N>(base, places, lanes, &mut out.0)?,
        None => two(inst, regs, bus, lanes, (scale, Use::Load), |lane, p, bytes: &mut [u8; N]| {
            numbers_to_rows(bytes, lane, &mut out.0[p]);
        })?,
    }
    regs.v.blend_rows(dst, lanes, &out);
    Ok(())
}

#[inline(always)]
fn write2<B: Bus, const D: usize, const N: usize>(
    inst: &Inst,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let data = [vectors(regs, inst.src[1], D as u32)?, vectors(regs, inst.src[2], D as u32)?];
    let (mut buffer, mut other) = (None, None);
    let rows = [rows_of(regs, data[0], &mut buffer), rows_of(regs, data[1], &mut other)];
    match both(inst, regs, lanes, scale, N as u32)? {
        Some((base, places)) => Ok(bus.store_rows::<D, 2, N>(base, places, lanes, &rows)?),
        None => two(inst, regs, bus, lanes, (scale, Use::Store), |lane, p, bytes: &mut [u8; N]| {
            rows_to_numbers(&rows[p], lane, bytes);
        }),
    }
}

fn exchange2<B: Bus, const D: usize, const N: usize>(
    inst: &Inst,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    scale: u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, D as u32 * 2)?;
    let data = [vectors(regs, inst.src[1], D as u32)?, vectors(regs, inst.src[2], D as u32)?];
    let rows: [[Row<u32>; D]; 2] = data.map(|first| std::array::from_fn(|d| copied(regs, first + d)));
    let mut old = Filled::<D, 2>::default();
    let mut exchange = |lane: usize, p: usize, bytes: &mut [u8; N]| {
        numbers_to_rows(bytes, lane, &mut old.0[p]);
        rows_to_numbers(&rows[p].each_ref(), lane, bytes);
    };
    match both(inst, regs, lanes, scale, N as u32)? {
        Some((base, places)) => bus.each(base, places, lanes, Use::Modify, exchange)?,
        None => two(inst, regs, bus, lanes, (scale, Use::Modify), &mut exchange)?,
    }
    regs.v.blend_rows(dst, lanes, &old);
    Ok(())
}

/// Lane k at M0 plus the offset plus four times k.
fn by_lane<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let first = (m0(regs) & 0xffff).wrapping_add(offset(inst));
    let reads = inst.op == Op::DsReadAddtidB32;
    let row = vectors(regs, if reads { inst.dst } else { inst.src[1] }, 1)?;
    each_lane(lanes, |lane| {
        bus.lane(lane);
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

/// Lane by lane, lowest first; the returning forms give the old value.
fn atomic<B: Bus>(inst: &Inst, at: &Lds, regs: &mut Regs, bus: &mut B, lanes: Mask) -> Result<(), Trap> {
    let code = inst.entry().code;
    let Some(kind) = Kind::of_ds(code) else { return Err(unsupported(inst)) };
    let dwords = if code & 0x40 != 0 { 2 } else { 1 };
    let atomic = Atomic::of_ds(inst, regs, kind, dwords)?;
    match dwords {
        1 => atomic.run::<Lds, B, 1, 4>(at, regs, bus, lanes),
        _ => atomic.run::<Lds, B, 2, 8>(at, regs, bus, lanes),
    }
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
        bus.lane(lane);
        let address = regs.v.get(src, lane);
        let (at, distance) = match field >> 15 {
            1 => (address & 0x1_ffff, address as i32 >> 17),
            _ => (address, (field << 17) as i32 >> 17),
        };
        let from = at.wrapping_add_signed(distance.wrapping_mul(4));
        let data = bus.load(space::lds(regs, ATOMIC, from, dwords * 4)?, dwords * 4)?;
        let place = space::lds(regs, ATOMIC, at, dwords * 4)?;
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
    let place = space::lds(regs, ATOMIC, at, 4)?;
    let old = modify(bus, place, 1, |old| f(old as u32, lanes.count_ones()).into())?;
    for lane in bits(lanes) {
        regs.v.set(dst, lane, old as u32);
    }
    Ok(())
}
