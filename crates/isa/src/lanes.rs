//! Rows of lanes. A register is a row; an operation computes whole rows and blends by mask, in
//! chunks the compiler vectorises. No per-lane branch or call (docs/ARCHITECTURE.md, invariant 4).

use crate::vector::{NullaryFnOnce, vector_of};
use crate::{Mask, first_lanes};

/// Rows are padded to a multiple of this many lanes.
pub const CHUNK: usize = 8;

/// A register file: `rows` rows of `lanes` lanes, contiguous.
#[derive(Clone, Debug)]
pub struct Rows<T> {
    data: Vec<T>,
    stride: usize,
    lanes: u32,
}

/// A row copied out of the file or computed, before it is blended back.
pub type Row<T> = [T; 64];

impl<T: Copy + Default> Rows<T> {
    pub fn new(rows: usize, lanes: u32) -> Self {
        let stride = (lanes as usize).next_multiple_of(CHUNK);
        Rows { data: vec![T::default(); rows * stride], stride, lanes }
    }

    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The file has at least so many rows.
    #[inline(always)]
    pub fn has(&self, rows: usize) -> bool {
        rows * self.stride <= self.data.len()
    }

    pub fn clear(&mut self) {
        self.data.fill(T::default());
    }

    /// The whole file as chunks; row `r` starts at chunk `r * chunks_per_row()`. For loops that read
    /// and write rows of one file chunk by chunk.
    #[inline(always)]
    pub fn chunks_mut(&mut self) -> &mut [[T; CHUNK]] {
        self.data.as_chunks_mut().0
    }

    pub fn chunks_per_row(&self) -> usize {
        self.stride / CHUNK
    }

    #[inline(always)]
    pub fn row(&self, r: usize) -> &[T] {
        &self.data[r * self.stride..(r + 1) * self.stride]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, r: usize) -> &mut [T] {
        &mut self.data[r * self.stride..(r + 1) * self.stride]
    }

    /// A row of a file with 64 lanes.
    #[inline(always)]
    pub fn whole(&self, r: usize) -> Option<&Row<T>> {
        self.data.get(r * self.stride..(r + 1) * self.stride)?.try_into().ok()
    }

    #[inline(always)]
    pub fn get(&self, r: usize, lane: u32) -> T {
        self.data[r * self.stride + lane as usize]
    }

    #[inline(always)]
    pub fn set(&mut self, r: usize, lane: u32, value: T) {
        self.data[r * self.stride + lane as usize] = value;
    }

    /// Writes `out` to row `r` in the lanes of `mask`.
    #[inline(always)]
    pub fn blend(&mut self, r: usize, mask: Mask, out: &Row<T>) {
        let lanes = self.lanes;
        let row = self.row_mut(r);
        if mask == first_lanes(lanes) {
            let n = row.len();
            row.copy_from_slice(&out[..n]);
            return;
        }
        for (c, (old, new)) in
            row.as_chunks_mut::<CHUNK>().0.iter_mut().zip(out.as_chunks::<CHUNK>().0).enumerate()
        {
            let lanes = (mask >> (c * CHUNK)) as u8;
            for i in 0..CHUNK {
                old[i] = if lanes & 1 << i != 0 { new[i] } else { old[i] };
            }
        }
    }

    /// `d = f(a)` in the lanes of `mask`.
    #[inline(always)]
    pub fn map1(&mut self, d: usize, a: usize, mask: Mask, f: impl Fn(T) -> T) {
        self.map2(d, a, a, mask, |x, _| f(x));
    }

    /// `d = f(a, b)` in the lanes of `mask`; chunks without a lane are skipped. `d` may be `a` or `b`.
    #[inline(always)]
    pub fn map2(&mut self, d: usize, a: usize, b: usize, mask: Mask, f: impl Fn(T, T) -> T) {
        let per_row = self.chunks_per_row();
        let chunks = self.chunks_mut();
        for c in 0..per_row {
            let lanes = (mask >> (c * CHUNK)) as u8;
            if lanes == 0 {
                continue;
            }
            let (x, y) = (chunks[a * per_row + c], chunks[b * per_row + c]);
            let out = &mut chunks[d * per_row + c];
            if lanes == u8::MAX {
                for i in 0..CHUNK {
                    out[i] = f(x[i], y[i]);
                }
            } else {
                for i in 0..CHUNK {
                    let v = f(x[i], y[i]);
                    out[i] = if lanes >> i & 1 == 1 { v } else { out[i] };
                }
            }
        }
    }

    /// The lanes of row `a` for which `f` holds (all lanes; AND with the mask yourself).
    #[inline(always)]
    pub fn test(&self, a: usize, f: impl Fn(T) -> bool) -> Mask {
        let mut mask = 0;
        for (c, a) in self.row(a).chunks_exact(CHUNK).enumerate() {
            let mut byte = 0u64;
            for (i, &v) in a.iter().enumerate() {
                byte |= u64::from(f(v)) << i;
            }
            mask |= byte << (c * CHUNK);
        }
        mask & first_lanes(self.lanes)
    }
}

/// What the lanes of `mask` have in a row, if it is the same in all of them.
#[inline]
pub fn uniform(row: &Row<u32>, mask: Mask) -> Option<u32> {
    let first = row[mask.trailing_zeros() as usize & 63];
    (vector_of(Different { row, mask, first }) == 0).then_some(first)
}

/// Bits in which a lane of `mask` differs from `first`. A type rather than a closure: it is inlined wherever it is used, and loops are
/// compiled for the host's vectors only if they are.
struct Different<'a> {
    row: &'a Row<u32>,
    mask: Mask,
    first: u32,
}

impl NullaryFnOnce for Different<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let mut different = [0; CHUNK];
        for (c, chunk) in self.row.as_chunks::<CHUNK>().0.iter().enumerate() {
            let off = &OFF[usize::from((self.mask >> (c * CHUNK)) as u8)];
            for i in 0..CHUNK {
                different[i] |= (chunk[i] ^ self.first) & !off[i];
            }
        }
        different.into_iter().fold(0, |all, d| all | d)
    }
}

/// The largest value the lanes of `mask` have in a row, 0 if there are none.
#[inline]
pub fn largest(row: &Row<u32>, mask: Mask) -> u32 {
    extremes(row, mask).1
}

/// The least and the largest value the lanes of `mask` have in a row; if there are none, the largest and the least there are.
#[inline]
pub fn extremes(row: &Row<u32>, mask: Mask) -> (u32, u32) {
    vector_of(Extremes { row, mask })
}

struct Extremes<'a> {
    row: &'a Row<u32>,
    mask: Mask,
}

impl NullaryFnOnce for Extremes<'_> {
    type Output = (u32, u32);

    #[inline(always)]
    fn call(self) -> (u32, u32) {
        let (mut low, mut high) = ([u32::MAX; CHUNK], [0; CHUNK]);
        for (c, chunk) in self.row.as_chunks::<CHUNK>().0.iter().enumerate() {
            let off = &OFF[usize::from((self.mask >> (c * CHUNK)) as u8)];
            for i in 0..CHUNK {
                low[i] = low[i].min(chunk[i] | off[i]);
                high[i] = high[i].max(chunk[i] & !off[i]);
            }
        }
        (low.into_iter().fold(u32::MAX, u32::min), high.into_iter().fold(0, u32::max))
    }
}

/// All ones for the lanes of a chunk that are not active.
static OFF: [[u32; CHUNK]; 256] = {
    let mut table = [[0; CHUNK]; 256];
    let mut active = 0;
    while active < 256 {
        let mut i = 0;
        while i < CHUNK {
            table[active][i] = if active >> i & 1 == 1 { 0 } else { u32::MAX };
            i += 1;
        }
        active += 1;
    }
    table
};

/// The set lanes of a mask, lowest first.
#[inline(always)]
pub fn bits(mask: Mask) -> impl Iterator<Item = u32> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        Some(lane)
    })
}

/// A mask as text, lane 0 leftmost, as the PDOM document prints it.
pub fn mask_text(mask: Mask, lanes: u32) -> String {
    (0..lanes).map(|l| if mask >> l & 1 == 1 { '1' } else { '0' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masked_rows() {
        let mut rows = Rows::<u32>::new(2, 10);
        for l in 0..10 {
            rows.set(0, l, l);
        }
        rows.map1(1, 0, 0b11_0000_0001, |v| v + 100);
        assert_eq!(rows.get(1, 0), 100);
        assert_eq!(rows.get(1, 1), 0);
        assert_eq!(rows.get(1, 9), 109);
        rows.map2(0, 0, 1, first_lanes(10), |a, b| a + b);
        assert_eq!(rows.get(0, 9), 118);
        assert_eq!(rows.test(0, |v| v > 50), 0b11_0000_0001);
        assert_eq!(mask_text(0b0011, 4), "1100");
    }

    #[test]
    fn questions_about_masked_rows() {
        let row: Row<u32> = std::array::from_fn(|i| if i < 10 { 7 } else { i as u32 });
        assert_eq!(uniform(&row, first_lanes(10)), Some(7));
        assert_eq!(uniform(&row, 0b101), Some(7));
        assert_eq!(uniform(&row, 1 << 63), Some(63));
        assert_eq!(uniform(&row, first_lanes(11)), None);
        assert_eq!(largest(&row, 0), 0);
        assert_eq!(largest(&row, 1 << 3 | 1 << 41), 41);
        assert_eq!(largest(&row, !0), 63);
    }
}
