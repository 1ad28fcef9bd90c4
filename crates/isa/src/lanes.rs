//! Rows of lanes. A register is a row; an operation computes whole rows and blends by mask, in
//! chunks the compiler vectorises. No per-lane branch or call (docs/ARCHITECTURE.md, invariant 4).

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::vector::{NullaryFnOnce, vector_of};
use crate::{Mask, first_lanes};

/// Rows are padded to a multiple of this many lanes.
pub const CHUNK: usize = 8;

/// Bytes at a multiple of which the rows of a file begin: the host's widest vectors then never lie across two lines of its caches.
/// The allocator alone would put them there or not by chance.
const LINE: usize = 64;

/// A register file: `rows` rows of `lanes` lanes, contiguous.
#[derive(Debug)]
pub struct Rows<T> {
    data: Vec<T>,
    /// Where in `data` the rows begin, and their elements.
    first: usize,
    len: usize,
    stride: usize,
    lanes: u32,
}

impl<T: Copy + Default> Clone for Rows<T> {
    fn clone(&self) -> Self {
        let mut copy = Rows::new(self.len / self.stride.max(1), self.lanes);
        copy.all_mut().copy_from_slice(self.all());
        copy
    }
}

/// A row copied out of the file or computed, before it is blended back.
pub type Row<T> = [T; 64];

impl<T: Copy + Default> Rows<T> {
    pub fn new(rows: usize, lanes: u32) -> Self {
        let stride = (lanes as usize).next_multiple_of(CHUNK);
        let len = rows * stride;
        let room = if len == 0 { 0 } else { LINE / size_of::<T>() };
        let data = vec![T::default(); len + room];
        let first = data.as_ptr().align_offset(LINE).min(room);
        Rows { data, first, len, stride, lanes }
    }

    #[inline(always)]
    fn all(&self) -> &[T] {
        &self.data[self.first..self.first + self.len]
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [T] {
        &mut self.data[self.first..self.first + self.len]
    }

    pub fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The file has at least so many rows.
    #[inline(always)]
    pub fn has(&self, rows: usize) -> bool {
        rows * self.stride <= self.len
    }

    pub fn clear(&mut self) {
        self.all_mut().fill(T::default());
    }

    /// The whole file as chunks; row `r` starts at chunk `r * chunks_per_row()`. For loops that read
    /// and write rows of one file chunk by chunk.
    #[inline(always)]
    pub fn chunks_mut(&mut self) -> &mut [[T; CHUNK]] {
        self.all_mut().as_chunks_mut().0
    }

    pub fn chunks_per_row(&self) -> usize {
        self.stride / CHUNK
    }

    #[inline(always)]
    pub fn row(&self, r: usize) -> &[T] {
        &self.all()[r * self.stride..(r + 1) * self.stride]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, r: usize) -> &mut [T] {
        let stride = self.stride;
        &mut self.all_mut()[r * stride..(r + 1) * stride]
    }

    /// A row of a file with 64 lanes.
    #[inline(always)]
    pub fn whole(&self, r: usize) -> Option<&Row<T>> {
        self.all().get(r * self.stride..(r + 1) * self.stride)?.try_into().ok()
    }

    /// All rows of a file with 64 lanes; of others none.
    #[inline(always)]
    pub fn whole_rows_mut(&mut self) -> &mut [Row<T>] {
        let all = if self.stride == 64 { self.len } else { 0 };
        self.data[self.first..self.first + all].as_chunks_mut().0
    }

    #[inline(always)]
    pub fn get(&self, r: usize, lane: u32) -> T {
        self.all()[r * self.stride + lane as usize]
    }

    #[inline(always)]
    pub fn set(&mut self, r: usize, lane: u32, value: T) {
        let at = r * self.stride + lane as usize;
        self.all_mut()[at] = value;
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

/// Rows that are filled before they become registers. They begin with a line of the host's caches, as registers do: no vector of the
/// host lies across two of them.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Filled<const D: usize, const P: usize>(pub [[Row<u32>; D]; P]);

impl<const D: usize, const P: usize> Default for Filled<D, P> {
    #[inline(always)]
    fn default() -> Self {
        Filled([[[0; 64]; D]; P])
    }
}

impl Rows<u32> {
    /// Rows from row `first` on, of a file with 64 lanes.
    #[inline(always)]
    pub fn rows_mut<const D: usize, const P: usize>(
        &mut self,
        first: usize,
    ) -> Option<&mut [[Row<u32>; D]; P]> {
        self.whole_rows_mut().get_mut(first..)?.as_chunks_mut().0.first_chunk_mut()
    }

    /// Writes rows from row `first` on in the lanes of `mask`.
    #[inline(always)]
    pub fn blend_rows<const D: usize, const P: usize>(
        &mut self,
        first: usize,
        mask: Mask,
        rows: &Filled<D, P>,
    ) {
        for (k, row) in rows.0.as_flattened().iter().enumerate() {
            self.blend_words(first + k, mask, row);
        }
    }

    /// The same as [`Rows::blend`], in the host's vectors.
    #[inline]
    pub fn blend_words(&mut self, r: usize, mask: Mask, out: &Row<u32>) {
        match <&mut Row<u32>>::try_from(self.row_mut(r)) {
            Ok(row) if mask == Mask::MAX => *row = *out,
            Ok(row) => vector_of(Blend { row, mask, out }),
            Err(_) => self.blend(r, mask, out),
        }
    }
}

struct Blend<'a> {
    row: &'a mut Row<u32>,
    mask: Mask,
    out: &'a Row<u32>,
}

impl NullaryFnOnce for Blend<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        blend(self.row, self.out, self.mask);
    }
}

/// Writes `out` in the lanes of `mask`.
#[inline(always)]
pub(crate) fn blend(row: &mut Row<u32>, out: &Row<u32>, mask: Mask) {
    // Chosen by bits, into a row of its own: other shapes of this loop are not vectorised.
    let on = spread(mask);
    let mut new = [0; 64];
    for i in 0..64 {
        new[i] = row[i] & !on[i] | out[i] & on[i];
    }
    *row = new;
}

/// What the lanes of `mask` have in a row, if it is the same in all of them.
#[inline]
pub fn uniform(row: &Row<u32>, mask: Mask) -> Option<u32> {
    uniform_with_largest(row, row, mask).map(|(value, _)| value)
}

/// The same, and the largest value they have in another row.
#[inline]
pub fn uniform_with_largest(row: &Row<u32>, other: &Row<u32>, mask: Mask) -> Option<(u32, u32)> {
    let first = row[mask.trailing_zeros() as usize & 63];
    let (different, largest) = vector_of(Different { row, other, mask, first });
    (different == 0).then_some((first, largest))
}

/// Bits in which a lane of `mask` differs from `first`, and the largest value in the other row. A type rather than a closure: it is
/// inlined wherever it is used, and loops are compiled for the host's vectors only if they are.
struct Different<'a> {
    row: &'a Row<u32>,
    other: &'a Row<u32>,
    mask: Mask,
    first: u32,
}

impl NullaryFnOnce for Different<'_> {
    type Output = (u32, u32);

    #[inline(always)]
    fn call(self) -> (u32, u32) {
        let (mut different, mut largest) = (0, 0);
        if self.mask == Mask::MAX {
            for i in 0..64 {
                different |= self.row[i] ^ self.first;
                largest = largest.max(self.other[i]);
            }
            return (different, largest);
        }
        let on = spread(self.mask);
        for i in 0..64 {
            different |= (self.row[i] ^ self.first) & on[i];
            largest = largest.max(self.other[i] & on[i]);
        }
        (different, largest)
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
        let (mut low, mut high) = (u32::MAX, 0);
        if self.mask == Mask::MAX {
            for i in 0..64 {
                low = low.min(self.row[i]);
                high = high.max(self.row[i]);
            }
            return (low, high);
        }
        for (half, row) in self.row.as_chunks::<32>().0.iter().enumerate() {
            let lanes = (self.mask >> (32 * half)) as u32;
            for i in 0..32 {
                let off = if lanes & (1 << i) != 0 { 0 } else { u32::MAX };
                low = low.min(row[i] | off);
                high = high.max(row[i] & !off);
            }
        }
        (low, high)
    }
}

/// All bits of all lanes together: at least their largest value.
#[inline]
pub fn any_bits(row: &Row<u32>) -> u32 {
    vector_of(AnyBits(row))
}

struct AnyBits<'a>(&'a Row<u32>);

impl NullaryFnOnce for AnyBits<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        self.0.iter().fold(0, |all, v| all | v)
    }
}

/// Whether all lanes follow each other, `step` apart.
#[inline]
pub fn in_steps(row: &Row<u32>, step: u32) -> bool {
    // Mostly the last one tells.
    row[63].wrapping_sub(row[0]) == step.wrapping_mul(63) && vector_of(Apart { row, step }) == 0
}

/// How far all lanes are apart, if each is as far from the one before.
#[inline]
pub fn step(row: &Row<u32>) -> Option<u32> {
    let step = row[1].wrapping_sub(row[0]);
    in_steps(row, step).then_some(step)
}

struct Apart<'a> {
    row: &'a Row<u32>,
    step: u32,
}

impl NullaryFnOnce for Apart<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let mut apart = 0;
        for (i, at) in self.row.iter().enumerate() {
            apart |= at ^ self.row[0].wrapping_add((i as u32).wrapping_mul(self.step));
        }
        apart
    }
}

/// All ones for the lanes of `mask`, zero for the others.
#[inline(always)]
pub(crate) fn spread(mask: Mask) -> Row<u32> {
    let mut on = [0; 64];
    for half in 0..2 {
        let lanes = (mask >> (32 * half)) as u32;
        for i in 0..32 {
            // A comparison with each bit makes an exception of the highest one.
            on[half * 32 + i] = 0u32.wrapping_sub(lanes >> i & 1);
        }
    }
    on
}

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
        let other: Row<u32> = std::array::from_fn(|i| 1000 - i as u32);
        assert_eq!(uniform_with_largest(&row, &other, 0b1100), Some((7, 998)));
        assert_eq!(uniform_with_largest(&[3; 64], &other, !0), Some((3, 1000)));
        assert_eq!(uniform_with_largest(&row, &other, !0), None);
        assert_eq!(largest(&row, 0), 0);
        assert_eq!(largest(&row, 1 << 3 | 1 << 41), 41);
        assert_eq!(largest(&row, !0), 63);
        assert_eq!(extremes(&row, 1 << 3 | 1 << 41 | 1 << 20), (7, 41));
        assert_eq!(extremes(&row, 0), (u32::MAX, 0));
        assert_eq!(any_bits(&row), 63);
    }

    /// Against plain loops; one lane, any of them, says something else than all others.
    #[test]
    fn one_lane_is_enough() {
        for lane in 0..64 {
            for mask in [Mask::MAX, Mask::MAX ^ 1, 1 << lane | 0xff00, 0xffff_0000_ffff ^ 1 << lane] {
                let of = |row: &Row<u32>| bits(mask).map(|lane| row[lane as usize]).collect::<Vec<_>>();
                for value in [0, 3, 5000, u32::MAX] {
                    let (mut row, mut other) = ([1000; 64], [1000; 64]);
                    (row[lane as usize], other[(lane as usize + 7) % 64]) = (value, value);
                    let (in_row, in_other) = (of(&row), of(&other));
                    let same = in_row.iter().all(|v| *v == in_row[0]);
                    let (low, high) = (in_other.iter().min(), in_other.iter().max());
                    let largest = high.copied().unwrap_or(0);
                    let found = uniform_with_largest(&row, &other, mask);
                    assert_eq!(found, same.then_some((in_row[0], largest)), "{lane} {mask:#x} {value}");
                    assert_eq!(uniform(&row, mask), same.then_some(in_row[0]));
                    assert_eq!(extremes(&other, mask), (*low.unwrap_or(&u32::MAX), largest));
                }
            }
        }
    }

    #[test]
    fn lanes_that_follow_each_other() {
        let mut row: Row<u32> = std::array::from_fn(|i| (i as u32 * 8).wrapping_sub(40));
        assert!(in_steps(&row, 8) && !in_steps(&row, 4));
        row[31] += 1;
        assert!(!in_steps(&row, 8));
        assert!(in_steps(&[5; 64], 0));
    }

    #[test]
    fn files_begin_with_a_line_of_the_cache() {
        for lanes in [1, 8, 64] {
            let rows = Rows::<u32>::new(5, lanes);
            assert_eq!(rows.all().as_ptr().align_offset(LINE), 0);
            assert_eq!(rows.clone().all().as_ptr().align_offset(LINE), 0);
            assert!(rows.has(5) && !rows.has(6));
        }
        assert!(Rows::<u32>::new(0, 64).clone().all().is_empty());
    }

    #[test]
    fn words_blend_like_everything_else() {
        let out: Row<u32> = std::array::from_fn(|i| i as u32 + 1000);
        for mask in [0, 1, !0, 0x8000_0001_7fff_fff0, 0x00ff_ff00_ff00_aa55] {
            for lanes in [64, 24] {
                let mut rows = Rows::<u32>::new(3, lanes);
                rows.row_mut(1).iter_mut().enumerate().for_each(|(i, v)| *v = i as u32);
                let mut same = rows.clone();
                rows.blend_words(1, mask, &out);
                same.blend(1, mask, &out);
                assert_eq!(rows.all(), same.all(), "{mask:x}, {lanes} lanes");
            }
        }
    }
}
