//! Where a lane's bytes lie: local memory (LDS) and private memory (scratch) are parts of device memory.
//! Private dwords of the 64 lanes are interleaved, as the scratch descriptor has it, so that FLAT and
//! buffer instructions mean the same place. LDS and global accesses need no alignment (gfx803's
//! unaligned mode); a private access must not leave its dword.

use super::super::state::{PRIVATE_APERTURE, Regs, SHARED_APERTURE};
use crate::lanes::{Row, bits, largest, uniform};
use crate::{Bus, Mask, MemFault, Trap};

/// Names of an access for messages: in local and in private memory.
#[derive(Clone, Copy)]
pub(super) struct What {
    pub lds: &'static str,
    pub private: &'static str,
}

pub(super) const LOAD: What = What { lds: "LDS load", private: "private load" };
pub(super) const STORE: What = What { lds: "LDS store", private: "private store" };
pub(super) const ATOMIC: What = What { lds: "LDS atomic", private: "private atomic" };

/// The dwords of one lane's access: `first`, then every `step` bytes.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub first: u64,
    pub step: u64,
}

/// Bytes between one lane's consecutive private dwords.
pub(super) const PRIVATE_STEP: u64 = 256;

/// Device address of an LDS offset.
#[inline(always)]
pub(super) fn lds(regs: &Regs, what: What, offset: u32, bytes: u32) -> Result<u64, MemFault> {
    if u64::from(offset) + u64::from(bytes) <= u64::from(regs.lds_bytes) {
        Ok(regs.lds_base + u64::from(offset))
    } else {
        Err(outside_lds(regs, what, offset, bytes))
    }
}

#[cold]
fn outside_lds(regs: &Regs, what: What, offset: u32, bytes: u32) -> MemFault {
    let why = match regs.lds_bytes {
        0 => "the group has no local memory".to_owned(),
        n => format!("the group has {n} bytes of local memory"),
    };
    MemFault { what: what.lds, addr: offset.into(), bytes, why }
}

/// Device address of the first dword of a private offset.
pub(super) fn private(
    regs: &Regs,
    what: What,
    offset: u32,
    bytes: u32,
    lane: u32,
) -> Result<Place, MemFault> {
    let fault = |why| MemFault { what: what.private, addr: offset.into(), bytes, why };
    if u64::from(offset) + u64::from(bytes) > u64::from(regs.scratch_per_lane) {
        return Err(fault(format!("a lane has {} bytes of private memory", regs.scratch_per_lane)));
    }
    if !offset.is_multiple_of(4) && offset % 4 + bytes > 4 {
        return Err(fault(
            "the access leaves its dword, and private dwords of a lane are not adjacent".into(),
        ));
    }
    let dword = u64::from(offset / 4) * PRIVATE_STEP;
    let first = regs.scratch_base + dword + u64::from(lane) * 4 + u64::from(offset % 4);
    Ok(Place { first, step: PRIVATE_STEP })
}

/// What a flat address means.
#[inline(always)]
pub(super) fn flat(regs: &Regs, what: What, addr: u64, bytes: u32, lane: u32) -> Result<Place, MemFault> {
    match (addr >> 32) as u32 {
        SHARED_APERTURE => Ok(Place { first: lds(regs, what, addr as u32, bytes)?, step: 4 }),
        PRIVATE_APERTURE => private(regs, what, addr as u32, bytes, lane),
        _ => Ok(Place { first: addr, step: 4 }),
    }
}

/// Where the lanes of an instruction access memory when one base and 32-bit offsets say it for all: `K` dwords
/// per lane.
pub(super) struct Rows<const K: usize> {
    pub base: u64,
    pub offset: [Row<u32>; K],
}

/// Fewer lanes than this go one by one: rows would cost more than they save.
const FEW: u32 = 16;

/// Global memory within 4 GiB from a flat address in rows `first` and `first + 1`, `K` dwords in a row.
#[inline(always)]
pub(super) fn global_rows<const K: usize>(regs: &Regs, first: usize, lanes: Mask) -> Option<Rows<K>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let (low, high) = (regs.v.whole(first)?, regs.v.whole(first + 1)?);
    let high = uniform(high, lanes)?;
    if matches!(high, SHARED_APERTURE | PRIVATE_APERTURE) {
        return None;
    }
    if K > 1 && largest(low, lanes) > u32::MAX - 4 * K as u32 {
        return None;
    }
    Some(Rows { base: u64::from(high) << 32, offset: moved(low, std::array::from_fn(|k| 4 * k as u32)) })
}

/// Global memory at a base that all lanes share, and 32-bit offsets in a row.
#[inline(always)]
pub(super) fn base_rows<const K: usize>(regs: &Regs, base: u64, row: usize, lanes: Mask) -> Option<Rows<K>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let low = regs.v.whole(row)?;
    // Nothing wraps around: neither an offset nor the address.
    if largest(low, lanes) > u32::MAX - 4 * K as u32 || base.checked_add(u32::MAX.into()).is_none() {
        return None;
    }
    Some(Rows { base, offset: moved(low, std::array::from_fn(|k| 4 * k as u32)) })
}

/// Local memory at the offsets of row `first` plus `add`; none if a lane leaves it.
#[inline(always)]
pub(super) fn lds_rows<const K: usize>(
    regs: &Regs,
    first: usize,
    lanes: Mask,
    add: [u32; K],
) -> Option<Rows<K>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let offset = moved(regs.v.whole(first)?, add);
    let last = regs.lds_bytes.checked_sub(4)?;
    for row in &offset {
        // All bits together are at least the largest: mostly that is small enough.
        if row.iter().fold(0, |all, v| all | v) > last && largest(row, lanes) > last {
            return None;
        }
    }
    Some(Rows { base: regs.lds_base, offset })
}

#[inline(always)]
fn moved<const K: usize>(row: &Row<u32>, add: [u32; K]) -> [Row<u32>; K] {
    let mut out = [[0; 64]; K];
    for (out, add) in out.iter_mut().zip(add) {
        for (out, v) in out.iter_mut().zip(row) {
            *out = v.wrapping_add(add);
        }
    }
    out
}

/// Loads `K` dwords per lane into the rows from `dst`.
#[inline(always)]
pub(super) fn load_rows<B: Bus, const K: usize>(
    regs: &mut Regs,
    bus: &mut B,
    rows: &Rows<K>,
    lanes: Mask,
    dst: usize,
) -> Result<(), Trap> {
    let mut out = [[0; 64]; K];
    bus.load_lanes(rows.base, &rows.offset, lanes, &mut out).map_err(|fault| rows.blame(lanes, fault))?;
    for (k, out) in out.iter().enumerate() {
        regs.v.blend(dst + k, lanes, out);
    }
    Ok(())
}

/// Stores `K` dwords per lane.
#[inline(always)]
pub(super) fn store_rows<B: Bus, const K: usize>(
    bus: &mut B,
    rows: &Rows<K>,
    lanes: Mask,
    data: &[&Row<u32>; K],
) -> Result<(), Trap> {
    Ok(bus.store_lanes(rows.base, &rows.offset, lanes, data).map_err(|fault| rows.blame(lanes, fault))?)
}

impl<const K: usize> Rows<K> {
    /// A fault with its lane: the first that asks for the place, because lanes go in order.
    #[cold]
    fn blame(&self, lanes: Mask, fault: MemFault) -> MemFault {
        let asks = |lane: &u32| {
            let at = |row: &Row<u32>| self.base.wrapping_add(row[*lane as usize].into());
            self.offset.iter().any(|row| at(row) == fault.addr)
        };
        match bits(lanes).find(asks) {
            Some(lane) => fault.of_lane(lane),
            None => fault,
        }
    }
}

/// The access of each lane, lowest first. A fault says in which one it was.
#[inline(always)]
pub(super) fn each_lane(lanes: Mask, mut access: impl FnMut(u32) -> Result<(), Trap>) -> Result<(), Trap> {
    for lane in bits(lanes) {
        access(lane).map_err(|trap| of_lane(trap, lane))?;
    }
    Ok(())
}

#[cold]
fn of_lane(trap: Trap, lane: u32) -> Trap {
    match trap {
        Trap::Memory(fault) => Trap::Memory(fault.of_lane(lane)),
        other => other,
    }
}

/// `N` dwords, in pairs where they are aligned.
#[inline(always)]
pub(super) fn read<B: Bus, const N: usize>(bus: &mut B, place: Place) -> Result<[u32; N], MemFault> {
    let mut out = [0; N];
    let at = |k: usize| place.first.wrapping_add(k as u64 * place.step);
    if N >= 2 && place.step == 4 && place.first.is_multiple_of(8) {
        for k in (0..N - 1).step_by(2) {
            let pair = bus.load(at(k), 8)?;
            (out[k], out[k + 1]) = (pair as u32, (pair >> 32) as u32);
        }
        if N % 2 == 1 {
            out[N - 1] = bus.load(at(N - 1), 4)? as u32;
        }
    } else {
        for (k, out) in out.iter_mut().enumerate() {
            *out = bus.load(at(k), 4)? as u32;
        }
    }
    Ok(out)
}

#[inline(always)]
pub(super) fn write<B: Bus, const N: usize>(
    bus: &mut B,
    place: Place,
    data: [u32; N],
) -> Result<(), MemFault> {
    let at = |k: usize| place.first.wrapping_add(k as u64 * place.step);
    if N >= 2 && place.step == 4 && place.first.is_multiple_of(8) {
        for k in (0..N - 1).step_by(2) {
            bus.store(at(k), 8, u64::from(data[k]) | u64::from(data[k + 1]) << 32)?;
        }
        if N % 2 == 1 {
            bus.store(at(N - 1), 4, data[N - 1].into())?;
        }
    } else {
        for (k, &value) in data.iter().enumerate() {
            bus.store(at(k), 4, value.into())?;
        }
    }
    Ok(())
}

/// `old` with one half replaced.
pub(super) fn half_of(old: u32, value: u32, high: bool) -> u32 {
    if high { old & 0xffff | value << 16 } else { old & 0xffff_0000 | value & 0xffff }
}

/// `N` dwords of a lane's registers from row `first`.
#[inline(always)]
pub(super) fn row<const N: usize>(regs: &Regs, first: usize, lane: u32) -> [u32; N] {
    std::array::from_fn(|k| regs.v.get(first + k, lane))
}

#[inline(always)]
pub(super) fn set_row<const N: usize>(regs: &mut Regs, first: usize, lane: u32, data: [u32; N]) {
    for (k, value) in data.into_iter().enumerate() {
        regs.v.set(first + k, lane, value);
    }
}
