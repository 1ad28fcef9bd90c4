//! Sources of the row engine: rows of the file, splats and copies, as rows; and masks as a flag per lane.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::Mask;
use crate::lanes::CHUNK;

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
#[inline(always)]
pub(super) fn pack(flags: &[u8; LANES]) -> Mask {
    let mut mask = 0;
    for (c, bytes) in flags.as_chunks::<CHUNK>().0.iter().enumerate() {
        // The product gathers the lowest bits of the bytes in its highest byte.
        let bits = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (c * CHUNK);
    }
    mask
}

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

/// The first `N` sources as rows.
macro_rules! rows {
    ($cx:expr, $n:ident, $name:ident) => {
        let (mut buffer0, mut buffer1, mut buffer2) = (None, None, None);
        let file: &[Row] = $cx.file;
        let mut $name: [&Row; $n] = [&NONE; $n];
        $name[0] = fetch(file, $cx.src[0], false, &mut buffer0);
        if $n > 1 {
            $name[1] = fetch(file, $cx.src[1], false, &mut buffer1);
        }
        if $n > 2 {
            $name[2] = fetch(file, $cx.src[2], false, &mut buffer2);
        }
    };
}

/// The same without the first, which is a splat.
macro_rules! rows_after_splat {
    ($cx:expr, $n:ident, $name:ident) => {
        let (mut buffer1, mut buffer2) = (None, None);
        let file: &[Row] = $cx.file;
        let mut $name: [&Row; $n] = [&NONE; $n];
        if $n > 1 {
            $name[1] = fetch(file, $cx.src[1], false, &mut buffer1);
        }
        if $n > 2 {
            $name[2] = fetch(file, $cx.src[2], false, &mut buffer2);
        }
    };
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

pub(super) use {row, rows, rows_after_splat};
