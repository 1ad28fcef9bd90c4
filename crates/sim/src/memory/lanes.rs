//! Dwords of many lanes at once. Lanes mostly ask for neighbouring dwords, or all for the same one: eight
//! lanes that do are one copy. Everything else goes dword by dword and faults where that faults.

use super::DeviceMemory;
use wb_isa::lanes::{CHUNK, Row, bits};
use wb_isa::{Mask, MemFault};

type Chunk = [u32; CHUNK];

/// How eight lanes that are all active lie in memory.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Dwords one after the other.
    Run,
    /// One dword for all.
    Same,
    Scattered,
}

#[inline(always)]
fn shape(offset: &Chunk) -> Shape {
    let (mut run, mut same) = (0, 0);
    for i in 0..CHUNK {
        let distance = offset[i].wrapping_sub(offset[0]);
        run |= distance ^ (i as u32 * 4);
        same |= distance;
    }
    // A run must not wrap round in 32 bits.
    if run == 0 && offset[0] <= u32::MAX - 4 * CHUNK as u32 {
        Shape::Run
    } else if same == 0 {
        Shape::Same
    } else {
        Shape::Scattered
    }
}

/// The accesses of the active lanes, first byte and length, eight dwords in a row as one.
#[inline(always)]
pub(super) fn runs(base: u64, offset: &Row<u32>, lanes: Mask, mut f: impl FnMut(u64, u32)) {
    for (c, offset) in offset.as_chunks::<CHUNK>().0.iter().enumerate() {
        let active = (lanes >> (c * CHUNK)) as u8;
        let shape = if active == u8::MAX { shape(offset) } else { Shape::Scattered };
        let at = |i: usize| base.wrapping_add(offset[i].into());
        match shape {
            Shape::Run => f(at(0), 4 * CHUNK as u32),
            Shape::Same => f(at(0), 4),
            Shape::Scattered => (0..CHUNK).filter(|i| active >> i & 1 == 1).for_each(|i| f(at(i), 4)),
        }
    }
}

impl DeviceMemory {
    /// Where accesses that fault do so first, going lane by lane.
    #[cold]
    pub(super) fn first_fault<const K: usize>(
        &self,
        base: u64,
        offset: &[Row<u32>; K],
        lanes: Mask,
    ) -> Option<MemFault> {
        let places = bits(lanes).flat_map(|lane| offset.iter().map(move |row| row[lane as usize]));
        places.into_iter().find_map(|at| self.load_word(base.wrapping_add(at.into()), 4).err())
    }

    #[inline(always)]
    pub(super) fn load_lanes(
        &self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        out: &mut Row<u32>,
    ) -> Result<(), MemFault> {
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(out.as_chunks_mut::<CHUNK>().0);
        for (c, (offset, out)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            let shape = if active == u8::MAX { shape(offset) } else { Shape::Scattered };
            let first = base.wrapping_add(offset[0].into());
            match shape {
                Shape::Run => {
                    match self.bytes.get(first as usize..(first as usize).wrapping_add(4 * CHUNK)) {
                        Some(bytes) => {
                            for (out, b) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                                *out = u32::from_le_bytes(*b);
                            }
                        }
                        None => {
                            for (out, &offset) in out.iter_mut().zip(offset) {
                                *out = self.load_word(base.wrapping_add(offset.into()), 4)? as u32;
                            }
                        }
                    }
                }
                Shape::Same => *out = [self.load_word(first, 4)? as u32; CHUNK],
                _ => {
                    for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                        out[i] = self.load_word(base.wrapping_add(offset[i].into()), 4)? as u32;
                    }
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn store_lanes(
        &mut self,
        base: u64,
        offset: &Row<u32>,
        lanes: Mask,
        data: &Row<u32>,
    ) -> Result<(), MemFault> {
        let chunks = offset.as_chunks::<CHUNK>().0.iter().zip(data.as_chunks::<CHUNK>().0);
        for (c, (offset, data)) in chunks.enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            let first = base.wrapping_add(offset[0].into());
            if active == u8::MAX
                && first >= self.text_end
                && shape(offset) == Shape::Run
                && let Some(bytes) =
                    self.bytes.get_mut(first as usize..(first as usize).wrapping_add(4 * CHUNK))
            {
                for (b, v) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(data) {
                    *b = v.to_le_bytes();
                }
                continue;
            }
            for i in (0..CHUNK).filter(|i| active >> i & 1 == 1) {
                self.store_word(base.wrapping_add(offset[i].into()), 4, data[i].into())?;
            }
        }
        Ok(())
    }
}
