//! Where a lane's bytes lie: local memory (LDS) and private memory (scratch) are parts of device memory.
//! Private dwords of the 64 lanes are interleaved, as the scratch descriptor has it, so that FLAT and
//! buffer instructions mean the same place. LDS and global accesses need no alignment (gfx803's
//! unaligned mode); a private access must not leave its dword.

use super::super::state::{PRIVATE_APERTURE, Regs, SHARED_APERTURE};
use crate::lanes::{Filled, Row, any_bits, bits, largest, spread, uniform, uniform_with_largest};
use crate::vector::vector;
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

/// Where the lanes of an instruction access memory when one base and 32-bit offsets say it for all.
#[derive(Clone, Copy)]
pub(super) struct Together<'a> {
    pub base: u64,
    pub offset: &'a Row<u32>,
    /// Bytes between one lane's consecutive dwords.
    pub step: u32,
}

/// Where offsets are put that have to be computed.
pub(super) type Room = Option<Filled<1, 1>>;

impl Together<'_> {
    /// `bytes` bytes of a lane lie side by side.
    #[inline(always)]
    pub fn is_dense(&self, bytes: usize) -> bool {
        self.step == 4 || bytes <= 4
    }

    /// What is added for each of a lane's dwords.
    #[inline(always)]
    pub fn dwords<const D: usize>(&self) -> [u32; D] {
        std::array::from_fn(|d| d as u32 * self.step)
    }
}

/// Fewer lanes than this go one by one: rows would cost more than they save.
pub(super) const FEW: u32 = 16;

/// Global memory within 4 GiB from a flat address in rows `first` and `first + 1`, `bytes` for each lane.
#[inline(always)]
pub(super) fn global_row(regs: &Regs, first: usize, lanes: Mask, bytes: u32) -> Option<Together<'_>> {
    let (high, last, row) = near_row(regs, first, lanes)?;
    if matches!(high, SHARED_APERTURE | PRIVATE_APERTURE) || bytes > 4 && last > u32::MAX - bytes {
        return None;
    }
    Some(row)
}

/// What lies `offset` behind flat addresses in rows `first` and `first + 1`, `bytes` for each lane: in one memory, and if that is
/// global memory within 4 GiB.
#[inline(always)]
pub(super) fn flat_row<'a>(
    regs: &'a Regs,
    (first, offset): (usize, u64),
    lanes: Mask,
    bytes: u32,
    room: &'a mut Room,
) -> Option<Together<'a>> {
    let (high, last, row) = near_row(regs, first, lanes)?;
    let add = u32::try_from(offset).ok()?;
    let end = last.checked_add(add)?.checked_add(bytes)?;
    match high {
        PRIVATE_APERTURE => private_rows(regs, regs.scratch_base, (Some(first), add), lanes, bytes, room),
        SHARED_APERTURE if end > regs.lds_bytes => None,
        SHARED_APERTURE => Some(Together { base: regs.lds_base + offset, ..row }),
        _ => Some(Together { base: row.base + offset, ..row }),
    }
}

/// Flat addresses that share their high dword: that, their largest low dword, and what they are.
#[inline(always)]
fn near_row(regs: &Regs, first: usize, lanes: Mask) -> Option<(u32, u32, Together<'_>)> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let (low, high) = (regs.v.whole(first)?, regs.v.whole(first + 1)?);
    let (high, last) = uniform_with_largest(high, low, lanes)?;
    Some((high, last, Together { base: u64::from(high) << 32, offset: low, step: 4 }))
}

/// Most bytes of private memory of a wave whose places are computed in 32 bits.
const WIDEST: u32 = 1 << 31;

/// The dwords of lanes at the same place of their private memories.
static SIDE_BY_SIDE: Row<u32> = {
    let mut row = [0; 64];
    let mut lane = 0;
    while lane < 64 {
        row[lane] = 4 * lane as u32;
        lane += 1;
    }
    row
};

/// Private memory from `start` on, in which the lanes' offsets are those in a row, if there is one, plus the same for all: `bytes` bytes
/// of each, part of a dword or whole dwords. None if a lane leaves its memory or a dword: going lane by lane finds out which.
#[inline(always)]
pub(super) fn private_rows<'a>(
    regs: &Regs,
    start: u64,
    (own, add): (Option<usize>, u32),
    lanes: Mask,
    bytes: u32,
    room: &'a mut Room,
) -> Option<Together<'a>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let size = private_size(regs, start, bytes)?;
    match own {
        None => private_row(start, size, add, bytes),
        Some(row) => private_rows_at(start, size, (regs.v.whole(row)?, add), lanes, bytes, room),
    }
}

/// Where lanes' first dwords may lie behind `start`, if offsets do not overflow.
#[inline(always)]
fn private_size(regs: &Regs, start: u64, bytes: u32) -> Option<u32> {
    let size = (regs.scratch_per_lane & !3).checked_mul(64).filter(|size| *size <= WIDEST)?;
    let shift = u32::try_from(start.wrapping_sub(regs.scratch_base)).ok()?;
    size.checked_sub(shift)?.checked_sub((bytes.div_ceil(4) - 1) * PRIVATE_STEP as u32)
}

/// All lanes at the same place of their memories: if that is inside for the last lane it is for all.
#[inline(always)]
fn private_row<'a>(start: u64, size: u32, at: u32, bytes: u32) -> Option<Together<'a>> {
    let (low, dword) = (at & 3, (at & !3).wrapping_mul(64));
    let inside = at <= size / 64 && dword + 63 * 4 + low < size && low + bytes.min(4) <= 4;
    let base = start + u64::from(dword + low);
    inside.then_some(Together { base, offset: &SIDE_BY_SIDE, step: PRIVATE_STEP as u32 })
}

#[inline(never)]
fn private_rows_at<'a>(
    start: u64,
    size: u32,
    (own, add): (&Row<u32>, u32),
    lanes: Mask,
    bytes: u32,
    room: &'a mut Room,
) -> Option<Together<'a>> {
    let [first, last] =
        [lanes.trailing_zeros(), 63 - lanes.leading_zeros()].map(|lane| own[lane as usize % 64]);
    // Mostly the last one tells.
    if first == last
        && uniform(own, lanes).is_some()
        && let Some(row) = private_row(start, size, first.wrapping_add(add), bytes)
    {
        return Some(row);
    }
    let (most, part) = (size / 64, bytes.min(4));
    let [[offset]] = &mut room.insert(Filled::default()).0;
    let places = &mut *offset;
    let inside = vector(
        // What it needs comes by value, and places go to a row of their own: otherwise they might be one another.
        #[inline(always)]
        move || {
            let (out, reach) = match lanes {
                Mask::MAX => private_places((own, add), part, |_| u32::MAX),
                _ => {
                    let on = spread(lanes);
                    private_places((own, add), part, |i| on[i])
                }
            };
            *places = out;
            reach.last <= most && reach.place < size && reach.part & 4 == 0
        },
    );
    inside.then_some(Together { base: start, offset, step: PRIVATE_STEP as u32 })
}

/// What lanes reach: the largest offset, the largest place, and bits of the last byte in a dword.
#[derive(Default)]
struct Reach {
    last: u32,
    place: u32,
    part: u32,
}

/// Where private offsets `own + add` lie, `part` bytes of a dword, in the lanes that are `on`.
#[inline(always)]
fn private_places((own, add): (&Row<u32>, u32), part: u32, on: impl Fn(usize) -> u32) -> (Row<u32>, Reach) {
    let (mut out, mut reach) = ([0; 64], Reach::default());
    for i in 0..64 {
        let at = own[i].wrapping_add(add);
        let low = at & 3;
        out[i] = (at - low).wrapping_mul(64).wrapping_add(i as u32 * 4 + low) & on(i);
        reach.last = reach.last.max(at & on(i));
        reach.place = reach.place.max(out[i]);
        reach.part |= (low + part - 1) & on(i);
    }
    (out, reach)
}

/// Global memory at a base that all lanes share, and 32-bit offsets in a row.
#[inline(always)]
pub(super) fn base_row(regs: &Regs, base: u64, row: usize, lanes: Mask, bytes: u32) -> Option<Together<'_>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let offset = regs.v.whole(row)?;
    // Nothing wraps around: neither an offset nor the address.
    if largest(offset, lanes) > u32::MAX - bytes || base.checked_add(u32::MAX.into()).is_none() {
        return None;
    }
    Some(Together { base, offset, step: 4 })
}

/// Local memory at the offsets of row `first` plus at most `add`; none if a lane leaves it.
#[inline(always)]
pub(super) fn lds_row(regs: &Regs, first: usize, lanes: Mask, add: u32, bytes: u32) -> Option<Together<'_>> {
    if lanes.count_ones() < FEW {
        return None;
    }
    let offset = regs.v.whole(first)?;
    let last = regs.lds_bytes.checked_sub(bytes)?.checked_sub(add)?;
    // All bits together are at least the largest: mostly that is small enough.
    if any_bits(offset) > last && largest(offset, lanes) > last {
        return None;
    }
    Some(Together { base: regs.lds_base, offset, step: 4 })
}

/// A number of one or two dwords.
#[inline(always)]
pub(super) fn number<const N: usize>(bytes: &[u8; N]) -> u64 {
    let mut word = [0; 8];
    word[..N].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

#[inline(always)]
pub(super) fn set_number<const N: usize>(bytes: &mut [u8; N], value: u64) {
    bytes.copy_from_slice(&value.to_le_bytes()[..N]);
}

impl Together<'_> {
    /// A fault with its lane: the first that asks for the place, because lanes go in order.
    #[cold]
    fn blame(&self, lanes: Mask, fault: MemFault) -> MemFault {
        let asks = |lane: &u32| self.base.wrapping_add(self.offset[*lane as usize].into()) == fault.addr;
        match bits(lanes).find(asks) {
            Some(lane) => fault.of_lane(lane),
            None => fault,
        }
    }

    /// A dword of every lane.
    #[inline(always)]
    pub fn load<B: Bus>(self, bus: &mut B, lanes: Mask, out: &mut Filled<1, 1>) -> Result<(), Trap> {
        let loaded = bus.load_lanes(self.base, std::array::from_ref(self.offset), lanes, &mut out.0[0]);
        Ok(loaded.map_err(|fault| self.blame(lanes, fault))?)
    }

    #[inline(always)]
    pub fn store<B: Bus>(self, bus: &mut B, lanes: Mask, data: &Row<u32>) -> Result<(), Trap> {
        let stored = bus.store_lanes(self.base, std::array::from_ref(self.offset), lanes, &[data]);
        Ok(stored.map_err(|fault| self.blame(lanes, fault))?)
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

/// Parts of a dword as registers hold them.
#[inline(always)]
pub(super) fn ubyte(bytes: [u8; 1]) -> u32 {
    bytes[0].into()
}

#[inline(always)]
pub(super) fn sbyte(bytes: [u8; 1]) -> u32 {
    bytes[0] as i8 as u32
}

#[inline(always)]
pub(super) fn ushort(bytes: [u8; 2]) -> u32 {
    u16::from_le_bytes(bytes).into()
}

#[inline(always)]
pub(super) fn sshort(bytes: [u8; 2]) -> u32 {
    i16::from_le_bytes(bytes) as u32
}

/// `old` with one half replaced.
#[inline(always)]
pub(super) fn half_of(old: u32, value: u32, high: bool) -> u32 {
    if high { old & 0xffff | value << 16 } else { old & 0xffff_0000 | value & 0xffff }
}

/// `D` rows of registers; copies, which `buffer` keeps, if they have fewer than 64 lanes.
#[inline(always)]
pub(super) fn rows_of<'a, const D: usize>(
    regs: &'a Regs,
    first: usize,
    buffer: &'a mut Option<[Row<u32>; D]>,
) -> [&'a Row<u32>; D] {
    const NONE: &Row<u32> = &[0; 64];
    match regs.v.whole(first) {
        Some(_) => std::array::from_fn(|d| regs.v.whole(first + d).unwrap_or(NONE)),
        None => buffer.insert(std::array::from_fn(|d| copied(regs, first + d))).each_ref(),
    }
}

/// A row of registers, whatever the number of lanes.
#[inline(always)]
pub(super) fn copied(regs: &Regs, row: usize) -> Row<u32> {
    match regs.v.whole(row) {
        Some(row) => *row,
        None => {
            let mut out = [0; 64];
            out[..regs.v.row(row).len()].copy_from_slice(regs.v.row(row));
            out
        }
    }
}
