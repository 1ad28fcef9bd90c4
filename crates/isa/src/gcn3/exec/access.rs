//! Where a buffer instruction (MUBUF) accesses memory: its descriptor (V#), linear or swizzled, the bounds, and private
//! memory.

use super::super::inst::{Inst, flag};
use super::super::operand::{Operand, sreg};
use super::super::state::Regs;
use super::operand::{get32, scalars, vectors};
use super::space::{self, FEW, Room, Together, What};
use crate::lanes::{Filled, bits, largest, spread};
use crate::vector::vector;
use crate::{Mask, MemFault, Trap};

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
    #[inline(always)]
    pub fn new(words: [u32; 4]) -> Buffer {
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
    pub imm: u32,
    /// Private memory, without an index.
    pub private: bool,
    /// Base and soffset.
    start: u64,
}

/// The wave's part of private memory.
pub(super) struct Window {
    base: u64,
    size: u64,
}

impl Window {
    pub fn new(regs: &Regs) -> Window {
        Window { base: regs.scratch_base, size: u64::from(regs.scratch_per_lane) * 64 }
    }
}

impl Access {
    // Inlined: a host waits when it copies what was written in smaller pieces.
    #[inline(always)]
    pub fn new(inst: &Inst, regs: &Regs, path: Mask) -> Result<Access, Trap> {
        let first = scalars(inst.src[1], 4)?;
        let words = match regs.s.get(first..).and_then(|s| s.first_chunk()) {
            // Nothing of EXEC is among them.
            Some(words) if first + 3 < usize::from(sreg::EXEC) => *words,
            _ => std::array::from_fn(|k| get32(regs, Operand::Sgpr((first + k) as u8), path)),
        };
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
    pub fn offset(&self, regs: &Regs, lane: u32, skip: u32) -> u32 {
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
    pub fn private_at(&self, window: &Window, lane: u32, offset: u32, bytes: u32) -> Option<u64> {
        let part = offset & 3;
        let addr = self.start.wrapping_add(u64::from(offset - part) * 64 + u64::from(lane * 4 + part));
        // Below the wave's part the difference wraps and is too large as well.
        (addr.wrapping_sub(window.base) < window.size && part + bytes <= 4).then_some(addr)
    }

    /// Where all lanes access memory, `bytes` bytes each, if they go together.
    #[inline(always)]
    pub fn rows<'a>(
        &self,
        regs: &'a Regs,
        lanes: Mask,
        bytes: u32,
        room: &'a mut Room,
    ) -> Option<Together<'a>> {
        if self.private {
            return self.private_rows(regs, lanes, bytes, room);
        }
        if let (None, Some(row), false) =
            (self.index, self.offset, self.buffer.swizzle || self.buffer.add_lane)
        {
            return self.plain_row(regs, row, lanes, bytes);
        }
        self.linear_rows(regs, lanes, bytes, room)
    }

    /// The same in private memory: never in the registers themselves.
    #[inline(always)]
    pub fn private_rows<'a>(
        &self,
        regs: &Regs,
        lanes: Mask,
        bytes: u32,
        room: &'a mut Room,
    ) -> Option<Together<'a>> {
        space::private_rows(regs, self.start, (self.offset, self.imm), lanes, bytes, room)
    }

    /// Places in a buffer that is not swizzled, at the offsets of a row alone, if none is out of bounds.
    #[inline(always)]
    fn plain_row<'a>(&self, regs: &'a Regs, row: usize, lanes: Mask, bytes: u32) -> Option<Together<'a>> {
        if lanes.count_ones() < FEW {
            return None;
        }
        let offset = regs.v.whole(row)?;
        // Nothing wraps around: neither an offset nor the address.
        let end = u64::from(largest(offset, lanes)) + u64::from(self.imm) + u64::from(bytes);
        self.start.checked_add(u32::MAX.into())?;
        let inside = end <= self.buffer.records.saturating_sub(self.soffset).into();
        inside.then(|| Together { base: self.start + u64::from(self.imm), offset, step: 4 })
    }

    /// Places in a buffer that is not swizzled, if none is out of bounds.
    #[inline(never)]
    fn linear_rows<'a>(
        &self,
        regs: &Regs,
        lanes: Mask,
        bytes: u32,
        room: &'a mut Room,
    ) -> Option<Together<'a>> {
        let b = &self.buffer;
        if b.swizzle || lanes.count_ones() < FEW {
            return None;
        }
        let row = |row: Option<usize>| row.map_or(Some(&[0; 64]), |row| regs.v.whole(row));
        let (index, own) = (row(self.index)?, row(self.offset)?);
        let last = u64::from(b.records.saturating_sub(self.soffset)).checked_sub(bytes.into())?;
        // Nothing wraps around.
        self.start.checked_add(u32::MAX.into())?;
        let (stride, imm, add) = (u64::from(b.stride), self.imm, u32::from(b.add_lane));
        let [[offset]] = &mut room.insert(Filled::default()).0;
        let places = &mut *offset;
        let wrong = vector(
            #[inline(always)]
            move || {
                let (on, mut wrong, mut out) = (spread(lanes), 0, [0; 64]);
                for i in 0..64 {
                    let index = index[i].wrapping_add(add * i as u32);
                    let inside = u64::from(own[i].wrapping_add(imm)) + stride * u64::from(index);
                    wrong |= if inside > last { on[i] } else { 0 };
                    out[i] = inside as u32 & on[i];
                }
                *places = out;
                wrong
            },
        );
        (wrong == 0).then_some(Together { base: self.start, offset, step: 4 })
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
    pub fn no_private(&self, regs: &Regs, what: What, offset: u32, bytes: u32) -> MemFault {
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
