//! Numbers of many lanes out of a piece of memory, and into it. The piece was checked as a whole, so a lane costs one comparison.
//! Lanes mostly ask for neighbours or for every second or fourth number: then one comparison is enough for all of them. Sixteen
//! lanes that ask for neighbours, or all for the same number, need one together.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::Mask;
use crate::lanes::{Row, bits, spread, step};
use crate::vector::{NullaryFnOnce, bytes_of_dwords, columns, dwords_of, vector_of};

/// Lanes that are looked at together: the width of most tiles.
const TILE: usize = 16;

type Tile = [u32; TILE];

/// Where lanes access a piece of memory: `offset` minus `low` bytes from its start.
#[derive(Clone, Copy, Debug)]
pub struct Within<'a> {
    pub offset: &'a Row<u32>,
    pub low: u32,
    pub lanes: Mask,
    /// How far lanes are apart, if all are active and each is as far from the one before.
    step: Option<u32>,
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

impl<'a> Within<'a> {
    #[inline(always)]
    pub fn new(offset: &'a Row<u32>, low: u32, lanes: Mask) -> Self {
        Within::stepping(offset, low, lanes, Within::step(offset, lanes))
    }

    /// The same for who has asked for the [step](Within::step) already.
    #[inline(always)]
    pub fn stepping(offset: &'a Row<u32>, low: u32, lanes: Mask, step: Option<u32>) -> Self {
        Within { offset, low, lanes, step }
    }

    /// How far lanes are apart, if all are active and each is as far from the one before.
    #[inline(always)]
    pub fn step(offset: &Row<u32>, lanes: Mask) -> Option<u32> {
        if lanes == Mask::MAX { step(offset) } else { None }
    }
}

impl Within<'_> {
    /// Which number of `N` bytes each lane's first one is, 0 for lanes that are not active; none if one lies across two.
    #[inline(always)]
    pub(crate) fn numbers<const N: usize>(&self) -> Option<Row<u32>> {
        let (mut all, mut out) = (0, [0; 64]);
        if self.lanes == Mask::MAX {
            for i in 0..64 {
                let at = self.offset[i].wrapping_sub(self.low);
                all |= at;
                out[i] = at / N as u32;
            }
        } else {
            let on = spread(self.lanes);
            for i in 0..64 {
                let at = self.offset[i].wrapping_sub(self.low) & on[i];
                all |= at;
                out[i] = at / N as u32;
            }
        }
        all.is_multiple_of(N as u32).then_some(out)
    }

    /// The number of the first lane, and how many numbers lanes are apart, if that is the same for all of them.
    #[inline(always)]
    pub(crate) fn steps<const N: usize>(&self) -> Option<(usize, u32)> {
        let (step, n) = (self.step?, N as u32);
        let first = self.offset[0].wrapping_sub(self.low);
        (first | step).is_multiple_of(n).then_some(((first / n) as usize, step / n))
    }

    /// An active lane, if all of them lie where it lies.
    #[inline(always)]
    pub(crate) fn same(&self) -> Option<usize> {
        let lane = self.lanes.trailing_zeros() as usize % 64;
        let one = self.offset[lane];
        // Mostly the last one tells.
        if self.lanes == 0 || self.offset[63 - self.lanes.leading_zeros() as usize % 64] != one {
            return None;
        }
        let on = spread(self.lanes);
        let mut apart = 0;
        for i in 0..64 {
            apart |= (self.offset[i] ^ one) & on[i];
        }
        (apart == 0).then_some(lane)
    }

    /// All lanes are active, and the first two of no tile lie side by side or at the same place: hardly any lanes do.
    #[inline(always)]
    fn anywhere(&self, unit: u32) -> bool {
        let apart = |tile: &Tile| tile[1].wrapping_sub(tile[0]);
        let tiles = self.offset.as_chunks::<TILE>().0;
        self.lanes == Mask::MAX && tiles.iter().all(|tile| apart(tile) != 0 && apart(tile) != unit)
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
        let in_steps = self.at.steps::<N>();
        if let Some((first, step)) = in_steps
            && N == 4
            && match step {
                2 => exchanged::<2>(self.numbers.as_flattened(), first, (self.add, self.each), self.out),
                3 => exchanged::<3>(self.numbers.as_flattened(), first, (self.add, self.each), self.out),
                4 => exchanged::<4>(self.numbers.as_flattened(), first, (self.add, self.each), self.out),
                _ => false,
            }
        {
            return true;
        }
        if let Some((first, step)) = in_steps
            && N < 4
            && step as usize * N == 4
        {
            return self.columns(
                #[inline(always)]
                |from, row| parts(from.get(first..).unwrap_or(&[]), row),
            );
        }
        if let Some((first, step @ (1 | 2 | 4))) = in_steps {
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
        if self.at.anywhere(N as u32) {
            return self.columns(
                #[inline(always)]
                |from, row| scattered(from, &index, row),
            );
        }
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

/// Where the dwords of sixteen lanes begin in `len` bytes, whose parts of `n` bytes are four bytes apart, and how many bytes of them come
/// before the part: behind that of the last lane there may be nothing.
#[inline(always)]
fn dwords_of_parts(len: usize, n: usize, group: usize) -> (usize, usize) {
    let skip = if len < 64 * (group + 1) { 4 - n } else { 0 };
    (64 * group - skip, skip)
}

/// The dwords of sixteen lanes.
const DWORDS: usize = 4 * TILE;

/// Parts of dwords, one of each; false if there are not so many.
#[inline(always)]
fn parts<const N: usize>(from: &[[u8; N]], out: &mut Row<u32>) -> bool {
    let from = from.as_flattened();
    if from.len() < 63 * 4 + N {
        return false;
    }
    for (g, out) in out.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
        let (first, skip) = dwords_of_parts(from.len(), N, g);
        let Some(from) = from[first..].first_chunk::<DWORDS>() else { return false };
        let keep = u32::MAX >> (32 - 8 * N as u32);
        for i in 0..TILE {
            out[i] = u32::from_le_bytes(from.as_chunks().0[i]) >> (8 * skip) & keep;
        }
    }
    true
}

/// The dwords of lanes that lie `STEP` apart, `each` at each place, by the host's exchanges. False: it has none, lanes share dwords, or
/// some lie outside; rows may have been filled.
#[inline(always)]
fn exchanged<const STEP: usize>(
    bytes: &[u8],
    first: usize,
    (add, each): (&[u32], usize),
    out: &mut [Row<u32>],
) -> bool {
    if each > STEP {
        return false;
    }
    let numbers = bytes.as_chunks::<4>().0;
    for (p, add) in add.iter().enumerate() {
        let Some(out) = out.get_mut(p * each..(p + 1) * each) else { return false };
        let Some(from) = numbers.get(first + *add as usize..) else { return false };
        let group = |g: usize| {
            let start = g * 16 * STEP;
            // Behind the dwords of the last lane there may be nothing.
            let skip = if from.len() < start + 16 * STEP { STEP - each } else { 0 };
            let from = from.get(start.checked_sub(skip)?..)?;
            Some((from.as_chunks::<16>().0.first_chunk::<STEP>()?, skip))
        };
        let (Some(a), Some(b), Some(c), Some(d)) = (group(0), group(1), group(2), group(3)) else {
            return false;
        };
        if !columns([a, b, c, d], out) {
            return false;
        }
    }
    true
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
fn scattered<const N: usize, const M: usize>(from: &[[u8; N]], index: &[u32; M], out: &mut [u32; M]) -> bool {
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
        // Copies: what is stored might be one of these otherwise, and they are looked at again for each lane.
        let (places, data) = (self.add, *self.data);
        let mut store = |lane: usize| {
            for (add, rows) in places.iter().zip(&data) {
                let first = (index[lane] + add) as usize;
                if D == 1 {
                    if let Some(to) = numbers.get_mut(first) {
                        *to = bytes_of(rows[0][lane]);
                    }
                } else if let Some(to) = numbers.get_mut(first..).and_then(|to| to.first_chunk_mut::<D>()) {
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
        if P == 2 && distance < D {
            return false;
        }
        let Some((first, step)) = self.at.steps::<N>() else { return false };
        // More than two places are stored to only where those of all lanes lie behind each other.
        let far = |pair: &[u32]| {
            pair[1].checked_sub(pair[0]).is_some_and(|by| by as usize >= 63 * step as usize + D)
        };
        if P > 2 && !self.add.windows(2).all(far) {
            return false;
        }
        let rises = self.add[P - 1] > self.add[0];
        if P == 2 && distance == D {
            // The places are one.
            let (low, high) = if rises { (0, P - 1) } else { (P - 1, 0) };
            let (a, b) = (&self.data[low], &self.data[high]);
            let Some(to) = self.numbers.get_mut(first + self.add[low] as usize..) else { return false };
            match step {
                2 if D == 1 => return in_steps::<N, 2, 2>(to, &[a[0], b[0]]),
                4 if D == 2 => return in_steps::<N, 4, 4>(to, &[a[0], a[D - 1], b[0], b[D - 1]]),
                _ => {}
            }
        }
        for k in 0..P {
            let p = if rises { P - 1 - k } else { k };
            let Some(to) = self.numbers.get_mut(first + self.add[p] as usize..) else { return false };
            let done = match step {
                _ if N < 4 && D == 1 && step as usize * N == 4 => parts_in_steps(to, self.data[p][0]),
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
    if N == 4 && D >= 2 && D < STEP {
        // What lies between the lanes stays as it is.
        for g in 0..64 / TILE {
            let rows = rows.map(|row| &row.as_chunks::<TILE>().0[g]);
            match to.get_mut(g * TILE * STEP..(g + 1) * TILE * STEP) {
                Some(to) => spread_out::<N, D, STEP>(to, &rows),
                // Behind the last lane there may be nothing.
                None => pairs_in_steps::<N, D, STEP>(&mut to[g * TILE * STEP..], &rows),
            }
        }
        return true;
    }
    for i in 0..64 {
        for d in 0..D {
            to[i * STEP + d] = bytes_of(rows[d][i]);
        }
    }
    true
}

/// `D` of each `STEP` numbers become those of sixteen lanes. The others are stored again, so that whole vectors can be.
#[inline(always)]
fn spread_out<const N: usize, const D: usize, const STEP: usize>(to: &mut [[u8; N]], rows: &[&Tile; D]) {
    let mut columns = [[0; TILE]; STEP];
    for d in 0..STEP {
        for i in 0..TILE {
            columns[d][i] = if d < D { rows[d.min(D - 1)][i] } else { number(to[i * STEP + d]) };
        }
    }
    for i in 0..TILE {
        for d in 0..STEP {
            to[i * STEP + d] = bytes_of(columns[d][i]);
        }
    }
}

/// The same, lane by lane: two dwords go as one number, put together for all lanes before.
#[inline(always)]
fn pairs_in_steps<const N: usize, const D: usize, const STEP: usize>(to: &mut [[u8; N]], rows: &[&Tile; D]) {
    let mut pairs = [0; TILE];
    for i in 0..TILE {
        pairs[i] = u64::from(rows[0][i]) | u64::from(rows[1][i]) << 32;
    }
    for i in 0..TILE {
        let to = to[i * STEP..].as_flattened_mut();
        to[..8].copy_from_slice(&pairs[i].to_le_bytes());
        for d in 2..D {
            to[d * N..(d + 1) * N].copy_from_slice(&rows[d][i].to_le_bytes()[..N]);
        }
    }
}

/// Parts of dwords, one of each; the rest of the dword stays as it is. False if there are not so many.
#[inline(always)]
fn parts_in_steps<const N: usize>(to: &mut [[u8; N]], row: &Row<u32>) -> bool {
    let to = to.as_flattened_mut();
    if to.len() < 63 * 4 + N {
        return false;
    }
    for (g, row) in row.as_chunks::<TILE>().0.iter().enumerate() {
        let (first, skip) = dwords_of_parts(to.len(), N, g);
        let Some(to) = to[first..].first_chunk_mut::<DWORDS>() else { return false };
        let part = u32::MAX >> (32 - 8 * N as u32) << (8 * skip);
        let mut dwords = dwords_of(to);
        for i in 0..TILE {
            dwords[i] = dwords[i] & !part | row[i] << (8 * skip) & part;
        }
        *to = bytes_of_dwords(&dwords);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{INSTEAD, others};

    fn random(state: &mut u64, below: u32) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 32) % u64::from(below)) as u32
    }

    /// In steps, mostly, from the start of the piece or not, to its last number or not.
    fn some_offsets(state: &mut u64, unit: u32) -> Row<u32> {
        let (first, step) = (unit * [0, 0, 1, 5][random(state, 4) as usize], unit * random(state, 6));
        let mut row = std::array::from_fn(|i| first + step * i as u32);
        if random(state, 4) == 0 {
            row[random(state, 64) as usize] = unit * random(state, 60);
        }
        row
    }

    /// A piece that ends with the last lane's last number, or behind it.
    fn some_bytes(state: &mut u64, end: u32) -> Vec<u8> {
        (0..end + [0, 0, 4, 300][random(state, 4) as usize]).map(|_| random(state, 256) as u8).collect()
    }

    fn on_every_host(mut f: impl FnMut()) {
        for arch in others().into_iter().map(Some).chain([None]) {
            INSTEAD.set(arch);
            f();
            INSTEAD.set(None);
        }
    }

    /// `D` numbers of `N` bytes at each of `P` places against a plain loop over lanes; how often it was done.
    fn check<const N: usize, const D: usize, const P: usize>(state: &mut u64) -> usize {
        let offset = some_offsets(state, N as u32);
        let some = u64::from(random(state, u32::MAX)) << 32 | u64::from(random(state, u32::MAX));
        let lanes = [Mask::MAX, Mask::MAX, some][random(state, 3) as usize];
        let add: [u32; P] = std::array::from_fn(|p| if p == 0 { 0 } else { random(state, 5) });
        let last = add.iter().max().copied().unwrap_or(0) + D as u32;
        let end = offset.iter().max().copied().unwrap_or(0) + last * N as u32;
        let bytes = some_bytes(state, end);
        let at = |lane: u32, p: usize, d: usize| offset[lane as usize] as usize + (add[p] as usize + d) * N;
        let text = format!("{D} numbers of {N} bytes at {add:?}, {lanes:#x}, {offset:?}");
        let within = Within::new(&offset, 0, lanes);
        let mut out = [[0; 64]; 8];
        let mut done = 0;
        on_every_host(|| {
            if !gather::<N>(&bytes, within, (&add, D), &mut out[..D * P]) {
                return;
            }
            done += 1;
            for lane in bits(lanes) {
                for (k, row) in out[..D * P].iter().enumerate() {
                    let from = at(lane, k / D, k % D);
                    let want = bytes[from..from + N].iter().rev().fold(0, |v, b| v << 8 | u32::from(*b));
                    assert_eq!(row[lane as usize], want, "load, lane {lane}: {text}");
                }
            }
        });
        let rows: [[Row<u32>; D]; P] =
            [[[0; 64]; D]; P].map(|rows| rows.map(|row| row.map(|_| random(state, u32::MAX))));
        let data = rows.each_ref().map(|rows| rows.each_ref());
        let mut expected = bytes.clone();
        for lane in bits(lanes) {
            for (p, rows) in rows.iter().enumerate() {
                for (d, row) in rows.iter().enumerate() {
                    let to = at(lane, p, d);
                    expected[to..to + N].copy_from_slice(&row[lane as usize].to_le_bytes()[..N]);
                }
            }
        }
        on_every_host(|| {
            let mut stored = bytes.clone();
            if scatter::<N, D, P>(&mut stored, within, add, &data) {
                done += 1;
                assert!(stored == expected, "store: {text}");
            }
        });
        done
    }

    #[test]
    fn rows_are_what_a_loop_over_lanes_makes_of_memory() {
        let (mut state, mut done) = (3, 0);
        for _ in 0..400 {
            done +=
                check::<4, 1, 1>(&mut state) + check::<4, 2, 1>(&mut state) + check::<4, 3, 1>(&mut state);
            done +=
                check::<4, 4, 1>(&mut state) + check::<4, 1, 2>(&mut state) + check::<4, 2, 2>(&mut state);
            done += check::<1, 1, 1>(&mut state) + check::<2, 1, 1>(&mut state);
        }
        assert!(done > 400 * 8, "{done}");
    }
}
