//! What lanes do at their places in memory, the same for FLAT and LDS: loads and stores of parts of a dword and of up to four dwords,
//! atomics. Lanes whose places one base and 32-bit offsets tell go together, others one by one, lowest first.

use super::super::inst::{Inst, flag};
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::operand::vectors;
use super::space::{
    self, ATOMIC, LOAD, Place, STORE, Together, What, copied, dword, each_lane, number, set_dword, set_number,
};
use crate::lanes::Row;
use crate::{Bus, Mask, MemFault, Trap, Use, access};

/// Where the lanes of an instruction access memory.
pub(super) trait Places {
    fn place(&self, regs: &Regs, what: What, bytes: u32, lane: u32) -> Result<Place, MemFault>;
    /// One base and 32-bit offsets, if that says it for all lanes.
    fn row<'a>(&self, regs: &'a Regs, lanes: Mask, bytes: u32) -> Option<Together<'a>>;
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
    if let Some(row) = at.row(regs, lanes, N as u32) {
        return Ok(bus.each(row.base, (row.offset, [0]), lanes, how, |lane, _, bytes| f(lane, bytes))?);
    }
    let what = match how {
        Use::Load => LOAD,
        Use::Store => STORE,
        Use::Modify => ATOMIC,
    };
    each_lane(lanes, |lane| {
        bus.lane(lane);
        let place = at.place(regs, what, N as u32, lane)?;
        Ok(access(bus, place.first, place.step, how, |bytes| f(lane as usize, bytes))?)
    })
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
    let mut out = [0; 64];
    each(at, regs, bus, lanes, Use::Load, |lane, bytes| out[lane % 64] = extend(*bytes))?;
    regs.v.blend_words(dst, lanes, &out);
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
    let mut out = copied(regs, dst);
    each(at, regs, bus, lanes, Use::Load, |lane, bytes| {
        out[lane % 64] = space::half_of(out[lane % 64], extend(*bytes), high);
    })?;
    regs.v.blend_words(dst, lanes, &out);
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
        && let Some(row) = at.row(regs, lanes, 4)
    {
        let out = row.load(bus, lanes)?;
        regs.v.blend_words(dst, lanes, &out);
        return Ok(());
    }
    let mut out = [[0; 64]; D];
    each(at, regs, bus, lanes, Use::Load, |lane, bytes: &mut [u8; N]| {
        for (d, out) in out.iter_mut().enumerate() {
            out[lane % 64] = dword(bytes, d);
        }
    })?;
    for (d, out) in out.iter().enumerate() {
        regs.v.blend_words(dst + d, lanes, out);
    }
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
    let data = copied(regs, vectors(regs, data, 1)?);
    each(at, regs, bus, lanes, Use::Store, |lane, bytes: &mut [u8; N]| {
        set_number(bytes, u64::from(data[lane % 64] >> shift));
    })
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
        && let (Some(row), Some(data)) = (at.row(regs, lanes, 4), regs.v.whole(data))
    {
        return row.store(bus, lanes, data);
    }
    let rows: [Row<u32>; D] = std::array::from_fn(|d| copied(regs, data + d));
    each(at, regs, bus, lanes, Use::Store, |lane, bytes: &mut [u8; N]| {
        for (d, row) in rows.iter().enumerate() {
            set_dword(bytes, d, row[lane % 64]);
        }
    })
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
    pub fn of_flat(inst: &Inst, regs: &Regs, kind: Kind, dwords: u32) -> Result<Atomic, Trap> {
        let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
        let data = vectors(regs, inst.src[1], dwords * operands)?;
        let second = (operands == 2).then_some(data + dwords as usize);
        let dst = if inst.has(flag::GLC) { Some(vectors(regs, inst.dst, dwords)?) } else { None };
        Ok(Atomic { kind, data, second, dst })
    }

    /// LDS: the first operand of a comparison is what memory must hold; the returning forms have a destination.
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

    /// Lane by lane, lowest first.
    #[inline(always)]
    pub fn run<P: Places, B: Bus, const N: usize>(
        self,
        at: &P,
        regs: &mut Regs,
        bus: &mut B,
        lanes: Mask,
    ) -> Result<(), Trap> {
        match self.kind {
            // By far the most usual: its loop knows what it does.
            Kind::Add => self.lanes::<P, B, N>(Kind::Add, at, regs, bus, lanes),
            kind => self.lanes::<P, B, N>(kind, at, regs, bus, lanes),
        }
    }

    #[inline(always)]
    fn lanes<P: Places, B: Bus, const N: usize>(
        self,
        kind: Kind,
        at: &P,
        regs: &mut Regs,
        bus: &mut B,
        lanes: Mask,
    ) -> Result<(), Trap> {
        let wide = N == 8;
        let mode = regs.mode;
        let mut old: [Row<u32>; 2] = [[0; 64]; 2];
        let row = |first: usize| [copied(regs, first), if wide { copied(regs, first + 1) } else { [0; 64] }];
        let data = row(self.data);
        let second = self.second.map(row);
        let value = |rows: &[Row<u32>; 2], lane: usize| {
            let low = u64::from(rows[0][lane % 64]);
            if wide { low | u64::from(rows[1][lane % 64]) << 32 } else { low }
        };
        each(at, regs, bus, lanes, Use::Modify, |lane, bytes: &mut [u8; N]| {
            let was = number(bytes);
            let other = second.as_ref().map_or(0, |rows| value(rows, lane));
            set_number(bytes, apply(kind, wide, was, value(&data, lane), other, mode));
            old[0][lane % 64] = was as u32;
            if wide {
                old[1][lane % 64] = (was >> 32) as u32;
            }
        })?;
        if let Some(dst) = self.dst {
            for (d, old) in old.iter().enumerate().take(N / 4) {
                regs.v.blend_words(dst + d, lanes, old);
            }
        }
        Ok(())
    }
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
