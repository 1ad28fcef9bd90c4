//! What lanes do at their places in memory, the same for FLAT and LDS: loads and stores of parts of a dword and of up to four dwords,
//! atomics. Lanes whose places one base and 32-bit offsets tell go together, others one by one, lowest first.

use super::super::inst::{Inst, flag};
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::modify::modify_rows;
use super::operand::vectors;
use super::space::{self, ATOMIC, LOAD, Place, Room, STORE, Together, What, number, rows_of, set_number};
use crate::lanes::{Filled, Row, bits};
use crate::{Bus, Mask, MemFault, Trap, Use, access, numbers_to_rows, rows_to_numbers};

/// Where the lanes of an instruction access memory.
pub(super) trait Places {
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault>;
    /// One base and 32-bit offsets, if that says it for all lanes; in `room` if they have to be computed.
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32, room: &'a mut Room) -> Option<Together<'a>>;
}

/// `N` bytes of every lane.
#[inline(always)]
fn each<P: Places, B: Bus, const N: usize>(
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    how: Use,
    mut f: impl FnMut(usize, &mut [u8; N]),
) -> Result<(), Trap> {
    if let Some(row) = at.row(regs, lanes, N as u32, &mut None)
        && row.is_dense(N)
    {
        return Ok(bus.each(row.base, (row.offset, [0]), lanes, how, |lane, _, bytes| f(lane, bytes))?);
    }
    apart(at, regs, bus, lanes, how, f)
}

/// The same, one lane after the other.
#[inline(always)]
fn apart<P: Places, B: Bus, const N: usize>(
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    how: Use,
    mut f: impl FnMut(usize, &mut [u8; N]),
) -> Result<(), Trap> {
    let what = match how {
        Use::Load => LOAD,
        Use::Store => STORE,
        Use::Modify => ATOMIC,
    };
    for lane in bits(lanes) {
        bus.lane(lane);
        let done = at.place(regs, what, N as u32, lane).and_then(
            #[inline(always)]
            |place| access(bus, place.first, place.step, how, |bytes| f(lane as usize, bytes)),
        );
        if let Err(fault) = done {
            return Err(fault.of_lane(lane).into());
        }
    }
    Ok(())
}

/// `D` numbers of every lane, `N` bytes, a row for each number.
#[inline(always)]
fn load_rows<P: Places, B: Bus, const D: usize, const N: usize>(
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    out: &mut Filled<D, 1>,
) -> Result<(), Trap> {
    match at.row(regs, lanes, N as u32, &mut None) {
        Some(row) if row.is_dense(N) => {
            Ok(bus.load_rows::<D, 1, N>(row.base, (row.offset, [0]), lanes, &mut out.0)?)
        }
        Some(row) => {
            let mut dwords = Filled::<1, D>::default();
            bus.load_rows::<1, D, 4>(row.base, (row.offset, row.dwords()), lanes, &mut dwords.0)?;
            out.0[0].copy_from_slice(dwords.0.as_flattened());
            Ok(())
        }
        None => apart(at, regs, bus, lanes, Use::Load, |lane, bytes: &mut [u8; N]| {
            numbers_to_rows(bytes, lane, &mut out.0[0]);
        }),
    }
}

/// The same for stores.
#[inline(always)]
fn store_rows<P: Places, B: Bus, const D: usize, const N: usize>(
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    data: [&Row<u32>; D],
) -> Result<(), Trap> {
    match at.row(regs, lanes, N as u32, &mut None) {
        Some(row) if row.is_dense(N) => {
            Ok(bus.store_rows::<D, 1, N>(row.base, (row.offset, [0]), lanes, &[data])?)
        }
        Some(row) => {
            let dwords = (row.offset, row.dwords());
            Ok(bus.store_rows::<1, D, 4>(row.base, dwords, lanes, &data.map(|row| [row]))?)
        }
        None => apart(at, regs, bus, lanes, Use::Store, |lane, bytes: &mut [u8; N]| {
            rows_to_numbers(&data, lane, bytes);
        }),
    }
}

/// The bytes of a part of a dword.
#[inline(always)]
fn part<const N: usize>(dword: u32) -> [u8; N] {
    let bytes = dword.to_le_bytes();
    std::array::from_fn(|k| bytes[k])
}

/// A part of a dword, extended.
#[inline(always)]
pub(super) fn load_part<P: Places, B: Bus, const N: usize>(
    inst: &Inst,
    at: &P,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    extend: impl Fn([u8; N]) -> u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    let mut out = Filled::default();
    load_rows::<P, B, 1, N>(at, regs, bus, lanes, &mut out)?;
    for out in &mut out.0[0][0] {
        *out = extend(part(*out));
    }
    regs.v.blend_rows(dst, lanes, &out);
    Ok(())
}

/// One half of the destination; the other stays as it is.
#[inline(always)]
pub(super) fn load_half<P: Places, B: Bus, const N: usize>(
    inst: &Inst,
    at: &P,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
    high: bool,
    extend: impl Fn([u8; N]) -> u32,
) -> Result<(), Trap> {
    let dst = vectors(regs, inst.dst, 1)?;
    let mut out = Filled::default();
    load_rows::<P, B, 1, N>(at, regs, bus, lanes, &mut out)?;
    for (out, old) in out.0[0][0].iter_mut().zip(regs.v.row(dst)) {
        *out = space::half_of(*old, extend(part(*out)), high);
    }
    regs.v.blend_rows(dst, lanes, &out);
    Ok(())
}

/// `D` dwords, `N` bytes.
#[inline(always)]
pub(super) fn load<P: Places, B: Bus, const D: usize, const N: usize>(
    inst: &Inst,
    at: &P,
    regs: &mut Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    const { assert!(N == 4 * D) };
    let dst = vectors(regs, inst.dst, D as u32)?;
    if D == 1
        && let Some(row) = at.row(regs, lanes, 4, &mut None)
    {
        let mut out = Filled::default();
        row.load(bus, lanes, &mut out)?;
        regs.v.blend_rows(dst, lanes, &out);
        return Ok(());
    }
    if lanes == Mask::MAX
        && let Some(row) = at.row(regs, lanes, N as u32, &mut None)
    {
        // The address may be among the registers that are filled.
        let (base, offset, dense, add) = (row.base, *row.offset, row.is_dense(N), row.dwords());
        if dense && let Some(out) = regs.v.rows_mut(dst) {
            return Ok(bus.load_rows::<D, 1, N>(base, (&offset, [0]), lanes, out)?);
        }
        if !dense && let Some(out) = regs.v.rows_mut(dst) {
            return Ok(bus.load_rows::<1, D, 4>(base, (&offset, add), lanes, out)?);
        }
    }
    let mut out = Filled::default();
    load_rows::<P, B, D, N>(at, regs, bus, lanes, &mut out)?;
    regs.v.blend_rows(dst, lanes, &out);
    Ok(())
}

/// A part of the dword in `data`, from bit `shift` on.
#[inline(always)]
pub(super) fn store_part<P: Places, B: Bus, const N: usize>(
    data: Operand,
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
    shift: u32,
) -> Result<(), Trap> {
    let (data, mut buffer) = (vectors(regs, data, 1)?, None);
    let [data] = rows_of(regs, data, &mut buffer);
    if shift == 0 {
        return store_rows::<P, B, 1, N>(at, regs, bus, lanes, [data]);
    }
    store_rows::<P, B, 1, N>(at, regs, bus, lanes, [&data.map(|v| v >> shift)])
}

/// `D` dwords, `N` bytes.
#[inline(always)]
pub(super) fn store<P: Places, B: Bus, const D: usize, const N: usize>(
    data: Operand,
    at: &P,
    regs: &Regs,
    bus: &mut B,
    lanes: Mask,
) -> Result<(), Trap> {
    const { assert!(N == 4 * D) };
    let data = vectors(regs, data, D as u32)?;
    if D == 1
        && let (Some(row), Some(data)) = (at.row(regs, lanes, 4, &mut None), regs.v.whole(data))
    {
        return row.store(bus, lanes, data);
    }
    let mut buffer = None;
    store_rows::<P, B, D, N>(at, regs, bus, lanes, rows_of(regs, data, &mut buffer))
}

/// What an atomic works with: rows of registers.
#[derive(Clone, Copy)]
pub(super) struct Atomic {
    pub kind: Kind,
    pub data: usize,
    /// The other operand of the kinds that have one.
    pub second: Option<usize>,
    /// Takes what was there.
    pub dst: Option<usize>,
}

impl Atomic {
    /// FLAT: what is expected stands behind the data; with GLC the old value is returned.
    #[inline(always)]
    pub fn of_flat(inst: &Inst, regs: &Regs, kind: Kind, dwords: u32) -> Result<Atomic, Trap> {
        let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
        let data = vectors(regs, inst.src[1], dwords * operands)?;
        let second = (operands == 2).then_some(data + dwords as usize);
        let dst = if inst.has(flag::GLC) { Some(vectors(regs, inst.dst, dwords)?) } else { None };
        Ok(Atomic { kind, data, second, dst })
    }

    /// LDS: the first operand of a comparison is what memory must hold; the returning forms have a destination.
    #[inline(always)]
    pub fn of_ds(inst: &Inst, regs: &Regs, kind: Kind, dwords: u32) -> Result<Atomic, Trap> {
        let of = |operand: Operand| match operand {
            Operand::None => Ok(None),
            operand => vectors(regs, operand, dwords).map(Some),
        };
        let (data, second, dst) = (vectors(regs, inst.src[1], dwords)?, of(inst.src[2])?, of(inst.dst)?);
        Ok(match (kind, second) {
            (Kind::Cmpswap | Kind::CmpswapF, Some(new)) => {
                Atomic { kind, data: new, second: Some(data), dst }
            }
            _ => Atomic { kind, data, second, dst },
        })
    }

    /// Lane by lane, lowest first: `D` dwords, `N` bytes. In one pass if all lanes lie in one piece of memory.
    #[inline(always)]
    pub fn run<P: Places, B: Bus, const D: usize, const N: usize>(
        self,
        at: &P,
        regs: &mut Regs,
        bus: &mut B,
        lanes: Mask,
    ) -> Result<(), Trap> {
        const { assert!(N == 4 * D && D <= 2) };
        let (mut buffer, mut other) = (None, None);
        let data = rows_of(regs, self.data, &mut buffer);
        // The kinds that have no other operand do not look at it.
        let second = rows_of(regs, self.second.unwrap_or(self.data), &mut other);
        let (mut old, mut room) = (self.dst.map(|_| Filled::<D, 1>::default()), None);
        let row = at.row(regs, lanes, N as u32, &mut room).filter(|row| row.is_dense(N));
        let done = row.is_some_and(|row| {
            bus.modify_rows(row.base, row.offset, lanes, N as u32, |bytes, at| {
                let was = old.as_mut().map(|old| &mut old.0[0]);
                modify_rows::<D, N>(self.kind, (bytes, at), [data, second], regs.mode, was)
            })
        });
        if !done {
            let [was] = &mut old.get_or_insert_default().0;
            match self.kind {
                // By far the most usual: its loop knows what it does.
                Kind::Add => in_turn::<P, B, D, N>(Kind::Add, at, (regs, lanes), bus, [data, second], was)?,
                kind => in_turn::<P, B, D, N>(kind, at, (regs, lanes), bus, [data, second], was)?,
            }
        }
        if let (Some(dst), Some(old)) = (self.dst, &old) {
            regs.v.blend_rows(dst, lanes, old);
        }
        Ok(())
    }
}

/// An atomic, lane by lane; `old` gets what was there.
#[inline(always)]
fn in_turn<P: Places, B: Bus, const D: usize, const N: usize>(
    kind: Kind,
    at: &P,
    (regs, lanes): (&Regs, Mask),
    bus: &mut B,
    [data, second]: [[&Row<u32>; D]; 2],
    old: &mut [Row<u32>; D],
) -> Result<(), Trap> {
    let mode = regs.mode;
    let value = |rows: [&Row<u32>; D], lane: usize| {
        rows.iter().rev().fold(0, |high, row| high << 32 | u64::from(row[lane % 64]))
    };
    each(at, regs, bus, lanes, Use::Modify, |lane, bytes: &mut [u8; N]| {
        let was = number(bytes);
        set_number(bytes, apply(kind, D == 2, was, value(data, lane), value(second, lane), mode));
        for (d, old) in old.iter_mut().enumerate() {
            old[lane % 64] = (was >> (32 * d)) as u32;
        }
    })
}

/// Reads, changes and writes one or two dwords; returns what was there.
#[inline]
pub(super) fn modify<B: Bus>(
    bus: &mut B,
    place: u64,
    dwords: u32,
    f: impl FnOnce(u64) -> u64,
) -> Result<u64, Trap> {
    let old = bus.load(place, dwords * 4)?;
    bus.store(place, dwords * 4, f(old))?;
    Ok(old)
}
