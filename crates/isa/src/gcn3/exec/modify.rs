//! Atomics of all lanes on one piece of memory, in one pass: lane 0 first, whether lanes meet or not. Lanes that lie side by side do not
//! meet: their order makes no difference, and they go in the host's vectors. What all lanes change stays in a register meanwhile.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::atomic::{Kind, apply};
use super::space::{number, set_number};
use crate::Mask;
use crate::gather::Within;
use crate::lanes::{Row, bits};
use crate::vector::{NullaryFnOnce, every_second, put_every_second, vector_of};

/// Rows of `D` dwords: the operand, and the other one of the kinds that have one.
pub(super) type Operands<'a, const D: usize> = [[&'a Row<u32>; D]; 2];

/// Each lane's `D` dwords, `N` bytes, become what [`apply`] makes of them; `old` gets what was there, if anybody asks. A loop for each kind, so that it
/// vectorises. False: nothing was done, because a lane's bytes lie across two numbers of that size.
#[inline(never)]
pub(super) fn modify_rows<const D: usize, const N: usize>(
    kind: Kind,
    (bytes, at): (&mut [u8], Within),
    operands: Operands<D>,
    mode: u32,
    old: Option<&mut [Row<u32>; D]>,
) -> bool {
    const { assert!(N == 4 * D && D <= 2) };
    macro_rules! loops {
        ($($kind:ident)*) => {
            match kind {
                $(Kind::$kind => go::<D, N>(
                    (bytes, at),
                    operands,
                    old,
                    #[inline(always)]
                    |[old, data, second]| apply(Kind::$kind, D == 2, old, data, second, mode),
                ),)*
            }
        };
    }
    loops!(
        Swap Cmpswap Add Sub Rsub Smin Umin Smax Umax And Or Xor Inc Dec Mskor Wrap CmpswapF MinF MaxF AddF PkAddF16 PkAddBf16
    )
}

#[inline(always)]
fn go<const D: usize, const N: usize>(
    (bytes, at): (&mut [u8], Within),
    operands: Operands<D>,
    old: Option<&mut [Row<u32>; D]>,
    f: impl Fn([u64; 3]) -> u64,
) -> bool {
    vector_of(Modify::<D, N, _> { numbers: bytes.as_chunks_mut().0, at, operands, old, f })
}

struct Modify<'a, const D: usize, const N: usize, F> {
    numbers: &'a mut [[u8; N]],
    at: Within<'a>,
    operands: Operands<'a, D>,
    old: Option<&'a mut [Row<u32>; D]>,
    /// The new value of the old one and the operands.
    f: F,
}

impl<const D: usize, const N: usize, F: Fn([u64; 3]) -> u64> NullaryFnOnce for Modify<'_, D, N, F> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Modify { numbers, at, operands: [data, second], old, f } = self;
        if let Some((first, 1)) = at.steps::<N>()
            && let Some(all) = numbers.get_mut(first..)
            && let Some(all) = all.first_chunk_mut()
        {
            side_by_side(all, [data, second], old, f);
            return true;
        }
        if D == 2
            && let Some((first, 2)) = at.steps::<N>()
            && let Some(all) = numbers.get_mut(first..)
            && let Some(all) = all.first_chunk_mut()
        {
            return in_pairs(all, [data, second], old, f);
        }
        let Some(index) = at.numbers::<N>() else { return false };
        let (data, second) = (Values::of(data), Values::of(second));
        let new = |lane: usize, was: u64| f([was, data.get(lane), second.get(lane)]);
        let mut was = Was { rows: old, pairs: [0; 64] };
        match at.same() {
            Some(lane) => at_one_place(numbers, (index[lane], at.lanes), &mut was, new),
            None => in_turn(numbers, (&index, at.lanes), &mut was, new),
        }
        was.finish();
        true
    }
}

/// One or two dwords of a lane as a number.
#[inline(always)]
fn value<const D: usize>(rows: [&Row<u32>; D], lane: usize) -> u64 {
    let high = if D == 2 { u64::from(rows[D - 1][lane]) << 32 } else { 0 };
    u64::from(rows[0][lane]) | high
}

/// The numbers of lanes that are looked at one by one: pairs of dwords are put together before.
struct Values<'a, const D: usize> {
    rows: [&'a Row<u32>; D],
    pairs: Row<u64>,
}

impl<'a, const D: usize> Values<'a, D> {
    #[inline(always)]
    fn of(rows: [&'a Row<u32>; D]) -> Self {
        let mut pairs = [0; 64];
        if D == 2 {
            for i in 0..64 {
                pairs[i] = value(rows, i);
            }
        }
        Values { rows, pairs }
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> u64 {
        if D == 2 { self.pairs[lane] } else { self.rows[0][lane].into() }
    }
}

/// What was there, of lanes that are looked at one by one, if anybody asks: pairs of dwords are taken apart behind.
struct Was<'a, const D: usize> {
    rows: Option<&'a mut [Row<u32>; D]>,
    pairs: Row<u64>,
}

impl<const D: usize> Was<'_, D> {
    #[inline(always)]
    fn set(&mut self, lane: usize, value: u64) {
        match &mut self.rows {
            Some(_) if D == 2 => self.pairs[lane] = value,
            Some(rows) => rows[0][lane] = value as u32,
            None => {}
        }
    }

    #[inline(always)]
    fn finish(self) {
        if D == 2
            && let Some(rows) = self.rows
        {
            for i in 0..64 {
                put(rows, i, self.pairs[i]);
            }
        }
    }
}

#[inline(always)]
fn put<const D: usize>(rows: &mut [Row<u32>; D], lane: usize, value: u64) {
    rows[0][lane] = value as u32;
    if D == 2 {
        rows[D - 1][lane] = (value >> 32) as u32;
    }
}

/// All lanes, none of which meets another. Numbers are taken, changed and put back in loops of their own: one for all of it is not
/// vectorised.
#[inline(always)]
fn side_by_side<const D: usize, const N: usize>(
    all: &mut [[u8; N]; 64],
    [data, second]: Operands<D>,
    old: Option<&mut [Row<u32>; D]>,
    f: impl Fn([u64; 3]) -> u64,
) {
    let [mut was, mut new] = [[[0; 64]; D]; 2];
    for i in 0..64 {
        put(&mut was, i, number(&all[i]));
    }
    for i in 0..64 {
        put(&mut new, i, f([value(was.each_ref(), i), value(data, i), value(second, i)]));
    }
    for i in 0..64 {
        set_number(&mut all[i], value(new.each_ref(), i));
    }
    if let Some(old) = old {
        *old = was;
    }
}

/// All lanes, each of which has the second number of eight bytes behind that of the one before. What lies between is stored again,
/// so that whole vectors can be. False: nothing was done, because these are not eight bytes.
#[inline(always)]
fn in_pairs<const D: usize, const N: usize>(
    all: &mut [[u8; N]; 127],
    [data, second]: Operands<D>,
    old: Option<&mut [Row<u32>; D]>,
    f: impl Fn([u64; 3]) -> u64,
) -> bool {
    // Behind the number of the last lane there may be nothing: the last group begins one number earlier.
    let group = |g: usize| (16 * g - usize::from(g == 7), usize::from(g == 7));
    let Some(all) = all.as_flattened_mut().as_chunks_mut::<8>().0.first_chunk_mut::<127>() else {
        return false;
    };
    let [mut was, mut new] = [[0; 64]; 2];
    for (g, was) in was.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let (from, first) = group(g);
        let Some(from) = all[from..].first_chunk() else { return false };
        *was = every_second(from, first);
    }
    for i in 0..64 {
        new[i] = f([was[i], value(data, i), value(second, i)]);
    }
    for (g, new) in new.as_chunks::<8>().0.iter().enumerate() {
        let (to, first) = group(g);
        let Some(to) = all[to..].first_chunk_mut() else { return false };
        put_every_second(to, first, new);
    }
    if let Some(old) = old {
        for i in 0..64 {
            put(old, i, was[i]);
        }
    }
    true
}

/// The number that all lanes change.
#[inline(always)]
fn at_one_place<const D: usize, const N: usize>(
    numbers: &mut [[u8; N]],
    (index, lanes): (u32, Mask),
    was: &mut Was<D>,
    new: impl Fn(usize, u64) -> u64,
) {
    let Some(there) = numbers.get_mut(index as usize) else { return };
    let mut now = number(there);
    each_lane(lanes, |lane| {
        was.set(lane, now);
        now = new(lane, now);
    });
    set_number(there, now);
}

/// Lanes that lie anywhere.
#[inline(always)]
fn in_turn<const D: usize, const N: usize>(
    numbers: &mut [[u8; N]],
    (index, lanes): (&Row<u32>, Mask),
    was: &mut Was<D>,
    new: impl Fn(usize, u64) -> u64,
) {
    each_lane(lanes, |lane| {
        if let Some(there) = numbers.get_mut(index[lane] as usize) {
            let before = number(there);
            set_number(there, new(lane, before));
            was.set(lane, before);
        }
    });
}

/// The lanes, lowest first; all of them in a loop without a mask.
#[inline(always)]
fn each_lane(lanes: Mask, mut f: impl FnMut(usize)) {
    if lanes == Mask::MAX {
        (0..64).for_each(f);
    } else {
        bits(lanes).for_each(|lane| f(lane as usize % 64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{INSTEAD, others};
    use Kind::*;

    const KINDS: [Kind; 22] = [
        Swap, Cmpswap, Add, Sub, Rsub, Smin, Umin, Smax, Umax, And, Or, Xor, Inc, Dec, Mskor, Wrap, CmpswapF,
        MinF, MaxF, AddF, PkAddF16, PkAddBf16,
    ];

    fn random(state: &mut u64) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 32) as u32
    }

    /// Small numbers, which are often equal, floats of all sorts, anything.
    fn some_number(state: &mut u64) -> u32 {
        let any = random(state);
        match any % 8 {
            0..3 => random(state) % 5,
            3 => [0x8000_0000, 0x7f80_0000, 0x7fa0_0001, 0xffc1_2345, 0x0000_0001, 0x8070_0000]
                [random(state) as usize % 6],
            4 | 5 => 0x3f80_0000 + random(state) % 0x0100_0000,
            _ => any,
        }
    }

    /// Side by side, further apart, backwards, in tiles, at one or a few places, anywhere, one lane elsewhere; seldom not aligned.
    fn some_offsets(state: &mut u64, size: u32) -> Row<u32> {
        let (first, step) = (random(state) % 3, random(state) % 4);
        let mut row: Row<u32> = match random(state) % 6 {
            0 | 1 => std::array::from_fn(|i| first + i as u32),
            2 => std::array::from_fn(|i| first + step * i as u32),
            3 => std::array::from_fn(|i| first + 5 * (i as u32 / 16) + i as u32 % 16 * (step % 2)),
            4 => [first; 64],
            _ => std::array::from_fn(|_| random(state) % 40),
        };
        match random(state) % 6 {
            0 => row[random(state) as usize % 64] = random(state) % 200,
            1 => row.reverse(),
            _ => {}
        }
        row = row.map(|at| at * size);
        if random(state).is_multiple_of(16) {
            row[random(state) as usize % 64] += 1;
        }
        row
    }

    /// One atomic against a plain loop; how often it was done.
    fn check<const D: usize, const N: usize>(kind: Kind, state: &mut u64) -> usize {
        let offset = some_offsets(state, N as u32);
        let some = u64::from(random(state)) << 32 | u64::from(random(state));
        let lanes = [Mask::MAX, Mask::MAX, some, some & 0xff00, 1 << 63][random(state) as usize % 5];
        let [data, second]: [[Row<u32>; D]; 2] =
            [0; 2].map(|_| [0; D].map(|_| std::array::from_fn(|_| some_number(state))));
        let mode = [0, 0xf0][random(state) as usize % 2];
        // The piece ends with the last lane's bytes, or behind them.
        let low = bits(lanes).map(|lane| offset[lane as usize]).min().unwrap_or(0);
        let last = bits(lanes).map(|lane| offset[lane as usize]).max().unwrap_or(0) - low;
        let size = last as usize + N + random(state) as usize % 3;
        let before: Vec<u8> =
            (0..size.div_ceil(4)).flat_map(|_| some_number(state).to_le_bytes()).take(size).collect();
        let (mut expected, mut was) = (before.clone(), [[0; 64]; D]);
        for lane in bits(lanes) {
            let lane = lane as usize;
            let there: &mut [u8; N] = expected[(offset[lane] - low) as usize..].first_chunk_mut().unwrap();
            let old = number(there);
            let of = |rows: &[Row<u32>; D]| {
                rows.iter().rev().fold(0, |high, row| high << 32 | u64::from(row[lane]))
            };
            set_number(there, apply(kind, D == 2, old, of(&data), of(&second), mode));
            (0..D).for_each(|d| was[d][lane] = (old >> (32 * d)) as u32);
        }
        let (text, mut done) = (format!("{kind:?}, {D} dwords, {lanes:#x}, {offset:?}"), 0);
        for arch in others().into_iter().map(Some).chain([None]) {
            let (mut bytes, mut old) = (before.clone(), [[0; 64]; D]);
            let operands = [data.each_ref(), second.each_ref()];
            INSTEAD.set(arch);
            let all = modify_rows::<D, N>(
                kind,
                (&mut bytes, Within::new(&offset, low, lanes)),
                operands,
                mode,
                Some(&mut old),
            );
            INSTEAD.set(None);
            if !all {
                assert!(bytes == before, "nothing was done: {text}");
                continue;
            }
            done += 1;
            assert!(bytes == expected, "memory, {arch:?}: {text}");
            for (d, row) in old.iter().enumerate() {
                let same = bits(lanes).all(|lane| row[lane as usize] == was[d][lane as usize]);
                assert!(same, "what was there, {arch:?}: {text}");
            }
        }
        done
    }

    #[test]
    fn atomics_are_what_a_loop_over_lanes_makes_of_memory() {
        let (mut state, mut done) = (7, 0);
        for _ in 0..150 {
            for kind in KINDS {
                done += check::<1, 4>(kind, &mut state) + check::<2, 8>(kind, &mut state);
            }
        }
        assert!(done > 150 * 22 * 4, "{done}");
    }
}
