//! Sources of the row engine: rows of the file, splats and copies, as rows; and masks as a flag per lane.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::Mask;

pub(super) const LANES: usize = 64;
/// A register: the engine knows only full waves; narrower ones run on a copy.
pub(super) type Row = [u32; LANES];

/// A source: its (low) row, one value for all lanes, or a row that was prepared for this instruction.
#[derive(Clone, Copy)]
pub(super) enum Src<'a> {
    Row(usize),
    Splat(u64),
    Copy(&'a Row),
}

#[inline(always)]
pub(super) fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// A mask from 0 and 1 per lane.
pub(super) use crate::vector::bits_of as pack;

/// The mask as 0 and 1 per lane.
#[inline(always)]
pub(super) fn unpack(mask: Mask) -> Row {
    let mut out = [0; LANES];
    for (half, lanes) in [mask as u32, (mask >> 32) as u32].into_iter().enumerate() {
        for i in 0..LANES / 2 {
            out[half * (LANES / 2) + i] = lanes >> i & 1;
        }
    }
    out
}

/// A source as a row; a splat is spread out in `buffer`. `high` takes the upper dword.
#[inline(always)]
pub(super) fn fetch<'x>(file: &'x [Row], src: Src<'x>, high: bool, buffer: &'x mut Option<Row>) -> &'x Row {
    match src {
        Src::Copy(row) => row,
        Src::Row(row) => &file[row + usize::from(high)],
        Src::Splat(v) => buffer.insert([(v >> if high { 32 } else { 0 }) as u32; LANES]),
    }
}

/// Stands for sources an operation does not have.
pub(super) static NONE: Row = [0; LANES];

/// The first `N` sources, copied: a loop over copies needs no question whether a source and its results overlap, and a splat is a row
/// like any other.
#[inline(always)]
pub(super) fn rows<const N: usize>(file: &[Row], src: &[Src; 3]) -> [Row; N] {
    let mut out = [[0; LANES]; N];
    for s in 0..N {
        out[s] = match src[s] {
            Src::Row(row) => file[row],
            Src::Copy(row) => *row,
            Src::Splat(v) => [v as u32; LANES],
        };
    }
    out
}

/// A lane of every source.
#[inline(always)]
pub(super) fn each<const N: usize, T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for s in 0..N {
        out[s] = f(s);
    }
    out
}

/// One source as a row, or both halves of a 64-bit one.
macro_rules! row {
    ($cx:expr, $s:expr, $low:ident) => {
        let mut buffer = None;
        let $low = fetch($cx.file, $cx.src[$s], false, &mut buffer);
    };
    ($cx:expr, $s:expr, $low:ident, $high:ident) => {
        let (mut low_buffer, mut high_buffer) = (None, None);
        let $low = fetch($cx.file, $cx.src[$s], false, &mut low_buffer);
        let $high = fetch($cx.file, $cx.src[$s], true, &mut high_buffer);
    };
}

pub(super) use row;
