//! Numbers of many lanes out of a piece of memory, and into it. The piece was checked as a whole, so a lane costs one comparison.
//! Lanes mostly ask for neighbours or for every second or fourth number: then one comparison is enough for all of them. Sixteen
//! lanes that ask for neighbours, or all for the same number, need one together.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::Mask;
use crate::lanes::{Row, bits, spread};
use crate::vector::{NullaryFnOnce, vector_of};

/// Lanes that are looked at together: the width of most tiles.
const TILE: usize = 16;

type Tile = [u32; TILE];

/// Where lanes access a piece of memory: `offset` minus `low` bytes from its start.
#[derive(Clone, Copy, Debug)]
pub struct Within<'a> {
    pub offset: &'a Row<u32>,
    pub low: u32,
    pub lanes: Mask,
}

/// `N` bytes as a number, and back.
#[inline(always)]
fn number<const N: usize>(bytes: [u8; N]) -> u32 {
    let mut word = [0; 4];
    word[..N].copy_from_slice(&bytes);
    u32::from_le_bytes(word)
}

#[inline(always)]
fn bytes_of<const N: usize>(number: u32) -> [u8; N] {
    let word = number.to_le_bytes();
    std::array::from_fn(|k| word[k])
}

impl Within<'_> {
    /// Which number of `N` bytes each lane's first one is, 0 for lanes that are not active; none if one lies across two.
    #[inline(always)]
    fn numbers<const N: usize>(&self) -> Option<Row<u32>> {
        let on = spread(self.lanes);
        let (mut all, mut out) = (0, [0; 64]);
        for i in 0..64 {
            let at = self.offset[i].wrapping_sub(self.low) & on[i];
            all |= at;
            out[i] = at / N as u32;
        }
        all.is_multiple_of(N as u32).then_some(out)
    }

    /// The number of the first lane, and how many numbers lanes are apart, if that is the same for all of them.
    #[inline(always)]
    fn steps<const N: usize>(&self) -> Option<(usize, u32)> {
        let (row, n) = (self.offset, N as u32);
        let step = row[1].wrapping_sub(row[0]);
        // Mostly the last one tells.
        if self.lanes != Mask::MAX || row[63].wrapping_sub(row[0]) != step.wrapping_mul(63) {
            return None;
        }
        let mut apart = 0;
        for i in 0..64 {
            apart |= row[i] ^ row[0].wrapping_add(step.wrapping_mul(i as u32));
        }
        let first = row[0].wrapping_sub(self.low);
        (apart == 0 && (first | step).is_multiple_of(n)).then_some(((first / n) as usize, step / n))
    }

    /// Every active lane's `bytes` bytes lie behind those of all lanes before it.
    pub fn ascend(&self, bytes: u32) -> bool {
        if self.lanes == Mask::MAX {
            return vector_of(Close { row: self.offset, bytes }) == 0;
        }
        let mut end = 0;
        bits(self.lanes).all(|lane| {
            let at = u64::from(self.offset[lane as usize]);
            at >= std::mem::replace(&mut end, at + u64::from(bytes))
        })
    }
}

/// Whether neighbours are not `bytes` bytes apart, or not in order; 0 if all are.
struct Close<'a> {
    row: &'a Row<u32>,
    bytes: u32,
}

impl NullaryFnOnce for Close<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let mut close = 0;
        for i in 0..63 {
            let apart = self.row[i + 1].saturating_sub(self.row[i]);
            close |= if apart < self.bytes { 1 } else { 0 };
        }
        close
    }
}

/// Loads: of each active lane the `each` numbers of `N` bytes that follow each other at each of the places, which lie `add` numbers
/// behind where the lane's bytes start. Lanes that are not active get anything. False: a number lies across two, or outside.
#[inline(never)]
pub fn gather<const N: usize>(
    bytes: &[u8],
    at: Within,
    (add, each): (&[u32], usize),
    out: &mut [Row<u32>],
) -> bool {
    const { assert!(N == 1 || N == 2 || N == 4) };
    vector_of(Gather { numbers: bytes.as_chunks::<N>().0, at, add, each, out })
}

struct Gather<'a, const N: usize> {
    numbers: &'a [[u8; N]],
    at: Within<'a>,
    add: &'a [u32],
    each: usize,
    out: &'a mut [Row<u32>],
}

impl<const N: usize> NullaryFnOnce for Gather<'_, N> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        if let Some((first, step @ (1 | 2 | 4))) = self.at.steps::<N>() {
            return self.columns(
                #[inline(always)]
                |from, row| {
                    let near = from.get(first..).unwrap_or(&[]);
                    match step {
                        1 => steps::<N, 1, 64, 64>(near, row),
                        2 => steps::<N, 2, 127, 64>(near, row),
                        _ => steps::<N, 4, 253, 64>(near, row),
                    }
                },
            );
        }
        let Some(index) = self.at.numbers::<N>() else { return false };
        let index = index.as_chunks::<TILE>().0;
        let mut shapes = [Shape::Scattered; 64 / TILE];
        for (t, (index, shape)) in index.iter().zip(&mut shapes).enumerate() {
            *shape = Shape::of(index, self.at.offset[t * TILE].wrapping_sub(self.at.low) / N as u32);
        }
        self.columns(
            #[inline(always)]
            |from, row| {
                let tiles = row.as_chunks_mut::<TILE>().0.iter_mut().zip(index).zip(&shapes);
                let mut done = true;
                for ((out, index), shape) in tiles {
                    done &= match *shape {
                        Shape::Same(first) => steps::<N, 0, 1, TILE>(from.get(first..).unwrap_or(&[]), out),
                        Shape::Run(first) => steps::<N, 1, TILE, TILE>(from.get(first..).unwrap_or(&[]), out),
                        Shape::Scattered => scattered(from, index, out),
                    };
                }
                done
            },
        )
    }
}

impl<const N: usize> Gather<'_, N> {
    /// Each row, with the numbers from its place on; false if `f` says so of one.
    #[inline(always)]
    fn columns(self, mut f: impl FnMut(&[[u8; N]], &mut Row<u32>) -> bool) -> bool {
        for (p, add) in self.add.iter().enumerate() {
            for d in 0..self.each {
                let Some(row) = self.out.get_mut(p * self.each + d) else { return false };
                let Some(from) = self.numbers.get(*add as usize + d..) else { return false };
                if !f(from, row) {
                    return false;
                }
            }
        }
        true
    }
}

/// How the numbers of sixteen lanes lie.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// One after the other, from this one on.
    Run(usize),
    /// This one for all.
    Same(usize),
    Scattered,
}

impl Shape {
    /// `first` is the first of them, but not taken from them: the loops would not be vectorised.
    #[inline(always)]
    fn of(index: &Tile, first: u32) -> Shape {
        if in_line(index, first, 1) {
            Shape::Run(first as usize)
        } else if in_line(index, first, 0) {
            Shape::Same(first as usize)
        } else {
            Shape::Scattered
        }
    }
}

#[inline(always)]
fn in_line(index: &Tile, first: u32, step: u32) -> bool {
    let mut all = true;
    for i in 0..TILE {
        all &= index[i] == first.wrapping_add(step * i as u32);
    }
    all
}

/// Every `STEP`th number for `M` lanes; there are `L` from the first to the last.
#[inline(always)]
fn steps<const N: usize, const STEP: usize, const L: usize, const M: usize>(
    from: &[[u8; N]],
    out: &mut [u32; M],
) -> bool {
    let Some(from) = from.first_chunk::<L>() else { return false };
    for i in 0..M {
        out[i] = number(from[i * STEP]);
    }
    true
}

/// Not inlined: the vectoriser would prepare for it even where nothing is scattered.
#[inline(never)]
fn scattered<const N: usize>(from: &[[u8; N]], index: &Tile, out: &mut Tile) -> bool {
    for (index, out) in index.iter().zip(out) {
        let Some(bytes) = from.get(*index as usize) else { return false };
        *out = number(*bytes);
    }
    true
}

/// Stores: lanes lowest first, a lane's places in order; `data` has the rows of each place. False: nothing was stored, because a
/// number lies across two.
#[inline(never)]
pub fn scatter<const N: usize, const D: usize, const P: usize>(
    bytes: &mut [u8],
    at: Within,
    add: [u32; P],
    data: &[[&Row<u32>; D]; P],
) -> bool {
    const { assert!(N == 1 || N == 2 || N == 4) };
    vector_of(Scatter { numbers: bytes.as_chunks_mut::<N>().0, at, add, data })
}

struct Scatter<'a, const N: usize, const D: usize, const P: usize> {
    numbers: &'a mut [[u8; N]],
    at: Within<'a>,
    add: [u32; P],
    data: &'a [[&'a Row<u32>; D]; P],
}

impl<const N: usize, const D: usize, const P: usize> NullaryFnOnce for Scatter<'_, N, D, P> {
    type Output = bool;

    #[inline(always)]
    fn call(mut self) -> bool {
        // Parts of dwords come alone; nothing is compiled for others.
        if N < 4 && D > 1 {
            return false;
        }
        if self.by_place() {
            return true;
        }
        let Some(index) = self.at.numbers::<N>() else { return false };
        let (numbers, lanes) = (self.numbers, self.at.lanes);
        let mut store = |lane: usize| {
            for (add, rows) in self.add.iter().zip(self.data) {
                let first = (index[lane] + add) as usize;
                if let Some(to) = numbers.get_mut(first..).and_then(|to| to.first_chunk_mut::<D>()) {
                    for (to, row) in to.iter_mut().zip(rows) {
                        *to = bytes_of(row[lane]);
                    }
                }
            }
        };
        if lanes == Mask::MAX {
            for lane in 0..64 {
                store(lane);
            }
        } else {
            for lane in bits(lanes) {
                store(lane as usize % 64);
            }
        }
        true
    }
}

impl<const N: usize, const D: usize, const P: usize> Scatter<'_, N, D, P> {
    /// All lanes of one place, then all of the other. Where two lanes meet, the later one stores at the lower place: it goes last.
    /// False if lanes are not in steps, or a lane's own numbers meet: some may have been stored.
    #[inline(always)]
    fn by_place(&mut self) -> bool {
        let distance = self.add[P - 1].abs_diff(self.add[0]) as usize;
        if P > 2 || P == 2 && distance < D {
            return false;
        }
        let Some((first, step)) = self.at.steps::<N>() else { return false };
        for k in 0..P {
            let p = if self.add[P - 1] > self.add[0] { P - 1 - k } else { k };
            let Some(to) = self.numbers.get_mut(first + self.add[p] as usize..) else { return false };
            let done = match step {
                1 if D == 1 => in_steps::<N, D, 1>(to, &self.data[p]),
                2 if D <= 2 => in_steps::<N, D, 2>(to, &self.data[p]),
                3 if D == 3 => in_steps::<N, D, 3>(to, &self.data[p]),
                4 if D <= 4 => in_steps::<N, D, 4>(to, &self.data[p]),
                _ => false,
            };
            if !done {
                return false;
            }
        }
        true
    }
}

/// `D` numbers of every lane, at every `STEP`th number; false if there are not so many.
#[inline(always)]
fn in_steps<const N: usize, const D: usize, const STEP: usize>(
    to: &mut [[u8; N]],
    rows: &[&Row<u32>; D],
) -> bool {
    let Some(to) = to.get_mut(..63 * STEP + D) else { return false };
    for i in 0..64 {
        for d in 0..D {
            to[i * STEP + d] = bytes_of(rows[d][i]);
        }
    }
    true
}
