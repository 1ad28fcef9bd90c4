//! MUBUF: addresses from a buffer descriptor (V#), linear or swizzled. Out of the buffer's bounds loads
//! give zero and stores do nothing, as on the machine; out of private memory is an error.

use super::super::inst::{Inst, flag};
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::atomic::{Kind, apply};
use super::flat::{modify, set_wide, wide};
use super::operand::{get32, scalars, vectors};
use super::scalar1::m0;
use super::space::{self, ATOMIC, LOAD, Place, STORE, What, each_lane};
use super::{active, format, unsupported};
use crate::lanes::bits;
use crate::{Bus, Mask, MemFault, Trap};

/// Last dword of the descriptor of private memory: elements of 4 bytes, 64 lanes interleaved, lane added
/// to the index. `Gcn3::start` makes it, and it is how private accesses are recognised.
pub(in crate::gcn3) const SCRATCH_WORD3: u32 = 1 << 19 | 3 << 21 | 1 << 23;

/// A buffer descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    base: u64,
    stride: u32,
    records: u32,
    swizzle: bool,
    /// Bytes of an element and records of a block, as powers of two.
    element: u32,
    block: u32,
    add_lane: bool,
    pub word3: u32,
}

impl Buffer {
    fn new(words: [u32; 4]) -> Buffer {
        let add_lane = words[3] >> 23 & 1 == 1;
        let mut stride = words[1] >> 16 & 0x3fff;
        if add_lane {
            // The data format field then holds more bits of the stride.
            stride |= (words[3] >> 15 & 15) << 14;
        }
        Buffer {
            base: u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32,
            stride,
            records: words[2],
            swizzle: words[1] >> 31 == 1,
            element: (words[3] >> 19 & 3) + 1,
            block: (words[3] >> 21 & 3) + 3,
            add_lane,
            word3: words[3],
        }
    }

    fn private(&self) -> bool {
        self.swizzle && self.word3 == SCRATCH_WORD3
    }
}

/// A buffer instruction's operands, read once for all lanes.
pub(super) struct Access {
    pub buffer: Buffer,
    index: Option<usize>,
    offset: Option<usize>,
    soffset: u32,
    imm: u32,
    /// Private memory, without an index.
    private: bool,
    /// Base and soffset.
    start: u64,
}

/// The wave's part of private memory.
struct Window {
    base: u64,
    size: u64,
}

impl Window {
    fn new(regs: &Regs) -> Window {
        Window { base: regs.scratch_base, size: u64::from(regs.scratch_per_lane) * 64 }
    }
}

impl Access {
    fn new(inst: &Inst, regs: &Regs, path: Mask) -> Result<Access, Trap> {
        let first = scalars(inst.src[1], 4)?;
        let words = std::array::from_fn(|k| get32(regs, Operand::Sgpr((first + k) as u8), path));
        let (index, offset) = (inst.has(flag::IDXEN), inst.has(flag::OFFEN));
        let count = u32::from(index) + u32::from(offset);
        let row = if count == 0 { 0 } else { vectors(regs, inst.src[0], count)? };
        let buffer = Buffer::new(words);
        let soffset = get32(regs, inst.src[2], path);
        Ok(Access {
            index: index.then_some(row),
            offset: offset.then_some(row + usize::from(index)),
            soffset,
            imm: inst.imm as u32 & 0xfff,
            private: buffer.private() && !index,
            start: buffer.base.wrapping_add(soffset.into()),
            buffer,
        })
    }

    /// A lane's offset, `skip` bytes into its access.
    #[inline(always)]
    fn offset(&self, regs: &Regs, lane: u32, skip: u32) -> u32 {
        self.offset.map_or(0, |row| regs.v.get(row, lane)).wrapping_add(self.imm).wrapping_add(skip)
    }

    /// Address of `bytes` bytes, `skip` bytes into a lane's access; none out of bounds.
    #[inline(always)]
    pub fn at(
        &self,
        regs: &Regs,
        what: What,
        lane: u32,
        skip: u32,
        bytes: u32,
    ) -> Result<Option<u64>, MemFault> {
        let offset = self.offset(regs, lane, skip);
        if !self.private {
            return self.general(regs, what, lane, offset, bytes);
        }
        match self.private_at(&Window::new(regs), lane, offset, bytes) {
            None => Err(self.no_private(regs, what, offset, bytes)),
            found => Ok(found),
        }
    }

    /// Address of a private access; none out of the wave's part or across dwords.
    #[inline(always)]
    fn private_at(&self, window: &Window, lane: u32, offset: u32, bytes: u32) -> Option<u64> {
        let part = offset & 3;
        let addr = self.start.wrapping_add(u64::from(offset - part) * 64 + u64::from(lane * 4 + part));
        // Below the wave's part the difference wraps and is too large as well.
        (addr.wrapping_sub(window.base) < window.size && part + bytes <= 4).then_some(addr)
    }

    fn general(
        &self,
        regs: &Regs,
        what: What,
        lane: u32,
        offset: u32,
        bytes: u32,
    ) -> Result<Option<u64>, MemFault> {
        let b = &self.buffer;
        let index = self.index.map_or(0, |row| regs.v.get(row, lane));
        let index = if b.add_lane { index.wrapping_add(lane) } else { index };
        let limit = u64::from(b.records.saturating_sub(self.soffset));
        if !b.swizzle {
            let inside = u64::from(offset) + u64::from(b.stride) * u64::from(index);
            return Ok((inside + u64::from(bytes) <= limit).then(|| self.start.wrapping_add(inside)));
        }
        let part = offset & ((1 << b.element) - 1);
        if part + bytes > 1 << b.element {
            return Err(crosses(what, offset, bytes));
        }
        let inside_bounds = match b.stride {
            0 => u64::from(offset) + u64::from(bytes) <= limit,
            stride => index < b.records && offset < stride,
        };
        let blocks = u64::from(index >> b.block) * u64::from(b.stride);
        let inside = ((blocks + u64::from(offset - part)) << b.block)
            + (u64::from(index & ((1 << b.block) - 1)) << b.element)
            + u64::from(part);
        Ok(inside_bounds.then(|| self.start.wrapping_add(inside)))
    }

    #[cold]
    fn no_private(&self, regs: &Regs, what: What, offset: u32, bytes: u32) -> MemFault {
        if offset % 4 + bytes > 4 {
            return crosses(what, offset, bytes);
        }
        let inside = self.start.wrapping_sub(regs.scratch_base) as i64 / 64 + i64::from(offset);
        let why = format!("a lane has {} bytes of private memory", regs.scratch_per_lane);
        MemFault { what: what.private, addr: inside as u64, bytes, why }
    }
}

#[cold]
fn crosses(what: What, offset: u32, bytes: u32) -> MemFault {
    let why = "the access crosses an element of a swizzled buffer, or is larger than one".to_owned();
    MemFault { what: what.private, addr: offset.into(), bytes, why }
}

pub(super) fn exec<B: Bus>(inst: &Inst, regs: &mut Regs, bus: &mut B, path: Mask) -> Result<(), Trap> {
    if matches!(inst.op, Op::BufferWbinvl1 | Op::BufferWbinvl1Vol) {
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
        Op::BufferStoreByte => store(inst, a, regs, bus, lanes, 1, 1),
        Op::BufferStoreShort => store(inst, a, regs, bus, lanes, 1, 2),
        Op::BufferStoreDword => store(inst, a, regs, bus, lanes, 1, 4),
        Op::BufferStoreDwordx2 => store(inst, a, regs, bus, lanes, 2, 4),
        Op::BufferStoreDwordx3 => store(inst, a, regs, bus, lanes, 3, 4),
        Op::BufferStoreDwordx4 => store(inst, a, regs, bus, lanes, 4, 4),
        Op::BufferLoadFormatX => format::load(inst, a, regs, bus, lanes, 1),
        Op::BufferLoadFormatXy => format::load(inst, a, regs, bus, lanes, 2),
        Op::BufferLoadFormatXyz => format::load(inst, a, regs, bus, lanes, 3),
        Op::BufferLoadFormatXyzw => format::load(inst, a, regs, bus, lanes, 4),
        Op::BufferStoreFormatX => format::store(inst, a, regs, bus, lanes, 1),
        Op::BufferStoreFormatXy => format::store(inst, a, regs, bus, lanes, 2),
        Op::BufferStoreFormatXyz => format::store(inst, a, regs, bus, lanes, 3),
        Op::BufferStoreFormatXyzw => format::store(inst, a, regs, bus, lanes, 4),
        _ if inst.entry().atomic => atomic(inst, a, regs, bus, lanes),
        _ => Err(unsupported(inst)),
    }
}

/// Clears the status dword behind the data of an instruction with TFE: nothing ever fails half way.
pub(super) fn status(inst: &Inst, regs: &mut Regs, lanes: Mask, dst: usize, count: u32) -> Result<(), Trap> {
    if inst.has(flag::TFE) {
        vectors(regs, inst.dst, count + 1)?;
        for lane in bits(lanes) {
            regs.v.set(dst + count as usize, lane, 0);
        }
    }
    Ok(())
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
    if access.private {
        let window = Window::new(regs);
        each_lane(lanes, |lane| {
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
        let value = match access.at(regs, LOAD, lane, 0, bytes)? {
            Some(addr) => extend(bus.load(addr, bytes)?),
            None => 0,
        };
        regs.v.set(dst, lane, value);
        Ok(())
    })?;
    status(inst, regs, lanes, dst, 1)
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
        let value = match access.at(regs, LOAD, lane, 0, bytes)? {
            Some(addr) => extend(bus.load(addr, bytes)?),
            None => 0,
        };
        bus.store(space::lds(regs, STORE, first + lane * 4, 4)?, 4, value.into())?;
        Ok(())
    })
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
    each_lane(lanes, |lane| {
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
    if access.private && count == 1 {
        let window = Window::new(regs);
        return each_lane(lanes, |lane| {
            let offset = access.offset(regs, lane, 0);
            let Some(addr) = access.private_at(&window, lane, offset, bytes) else {
                return Err(access.no_private(regs, STORE, offset, bytes).into());
            };
            bus.store(addr, bytes, u64::from(regs.v.get(data, lane)) & keep)?;
            Ok(())
        });
    }
    each_lane(lanes, |lane| {
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
    let code = inst.entry().code;
    let Some(kind) = Kind::of_memory(code) else { return Err(unsupported(inst)) };
    let dwords = if code & 0x20 != 0 { 2 } else { 1 };
    let operands = if kind == Kind::Cmpswap { 2 } else { 1 };
    let data = vectors(regs, inst.dst, dwords * operands)?;
    each_lane(lanes, |lane| {
        let value = wide(regs, data, dwords, lane);
        let compare = if operands == 2 { wide(regs, data + dwords as usize, dwords, lane) } else { 0 };
        let old = match access.at(regs, ATOMIC, lane, 0, dwords * 4)? {
            Some(first) => modify(bus, Place { first, step: 4 }, dwords, |old| {
                apply(kind, dwords == 2, old, value, compare, regs.mode)
            })?,
            None => 0,
        };
        if inst.has(flag::GLC) {
            set_wide(regs, data, dwords, lane, old);
        }
        Ok(())
    })
}
