//! The row engine: operands are a row of the file or a splat, operations run over whole rows of 64 lanes in
//! plain loops the compiler vectorises, into a row on the stack that is blended by mask. The file is the
//! wave's registers, or a small copy when modifiers prepared the operands.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::state::mode;
use super::vector::{fused, vector};
use crate::Mask;
use crate::lanes::{CHUNK, bits};
use std::array::from_fn;

pub(super) const LANES: usize = 64;
/// A register: the engine knows only full waves; narrower ones run on a copy.
pub(super) type Row = [u32; LANES];

/// A source: its (low) row, or one value for all lanes.
#[derive(Clone, Copy)]
pub(super) enum Src {
    Row(usize),
    Splat(u64),
}

/// One instruction at work.
pub(super) struct Cx<'a> {
    pub file: &'a mut [Row],
    /// First row of the destination.
    pub dst: usize,
    pub src: [Src; 3],
    /// What abs and neg do to the dword with the sign of a source: `x & and ^ xor`.
    pub and: [u32; 3],
    pub xor: [u32; 3],
    pub clamp: bool,
    pub lanes: Mask,
    /// Carry or condition read, and the one written.
    pub mask_in: Mask,
    pub mask_out: Mask,
    pub mode: u32,
}

pub(super) const NAN32: u32 = 0xffc0_0000;
pub(super) const QUIET32: u32 = 1 << 22;

/// What remains of a denormal: its sign, or everything.
const fn keep(denormals: bool) -> u32 {
    if denormals { !0 } else { 1 << 31 }
}

/// Replaces a denormal f32 by what `keep` leaves of it.
#[inline(always)]
pub(super) fn flush(v: u32, keep: u32) -> u32 {
    let number = if (v & 0x7fff_ffff) as i32 > 0x007f_ffff { !0 } else { 0 };
    v & (number | keep)
}

#[inline(always)]
pub(super) fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

#[inline(always)]
fn any_nan(x: &Row) -> bool {
    let mut any = 0;
    for i in 0..LANES / 2 {
        let nan = f32::from_bits(x[i]).is_nan() | f32::from_bits(x[i + LANES / 2]).is_nan();
        any |= if nan { u32::MAX } else { 0 };
    }
    any != 0
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
fn unpack(mask: Mask) -> Row {
    let mut out = [0; LANES];
    for c in 0..LANES / CHUNK {
        let byte = (mask >> (c * CHUNK)) as u32 & 0xff;
        for i in 0..CHUNK {
            out[c * CHUNK + i] = if byte & (1 << i) != 0 { 1 } else { 0 };
        }
    }
    out
}

/// A source as a row; a splat is spread out in `buffer`. `high` takes the upper dword.
#[inline(always)]
pub(super) fn fetch<'x>(file: &'x [Row], src: Src, high: bool, buffer: &'x mut Option<Row>) -> &'x Row {
    match src {
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

pub(super) use {row, rows};

impl Cx<'_> {
    #[inline(always)]
    pub fn keep_in32(&self) -> u32 {
        keep(self.mode & (1 << 4) != 0)
    }

    #[inline(always)]
    pub fn keep_out32(&self) -> u32 {
        keep(self.mode & (1 << 5) != 0)
    }

    /// Denormal sources and results of f64 and f16 become zero.
    #[inline(always)]
    pub fn flush_in64(&self) -> bool {
        self.mode & (1 << 6) == 0
    }

    #[inline(always)]
    pub fn flush_out64(&self) -> bool {
        self.mode & (1 << 7) == 0
    }

    #[inline(always)]
    pub fn ieee(&self) -> bool {
        self.mode & mode::IEEE != 0
    }

    /// Writes a row of results in the active lanes.
    #[inline(always)]
    pub(super) fn put(&mut self, row: usize, out: &Row) {
        let dst = &mut self.file[self.dst + row];
        if self.lanes == !0 {
            *dst = *out;
        } else {
            blend(dst, out, self.lanes);
        }
    }

    /// 32-bit operations without float modifiers.
    #[inline(never)]
    pub fn map<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                rows!(self, N, src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(each(|s| src[s][i]));
                }
                self.put(0, &out);
            },
        )
    }

    /// The same with the lane's number.
    #[inline(never)]
    pub fn map_lane(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a);
                row!(self, 1, b);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(i as u32, a[i], b[i]);
                }
                self.put(0, &out);
            },
        )
    }

    /// `f(a, b, bit)` with the bit of the mask read as 0 or 1.
    #[inline(never)]
    pub fn map_bit(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a);
                row!(self, 1, b);
                let bits = unpack(self.mask_in);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(a[i], b[i], bits[i]);
                }
                self.put(0, &out);
            },
        )
    }

    /// `f(a, b)` gives the sum and the carry.
    #[inline(never)]
    pub fn map_add(&mut self, f: impl Fn(u32, u32) -> (u32, bool)) {
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a);
                row!(self, 1, b);
                let (mut out, mut carries) = ([0; LANES], [0; LANES]);
                for i in 0..LANES {
                    let (sum, carry) = f(a[i], b[i]);
                    out[i] = sum;
                    carries[i] = carry.into();
                }
                self.put(0, &out);
                self.mask_out = pack(&carries) & self.lanes;
            },
        )
    }

    /// The same with the carry read.
    #[inline(never)]
    pub fn map_carry(&mut self, f: impl Fn(u32, u32, u32) -> (u32, bool)) {
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a);
                row!(self, 1, b);
                let bits = unpack(self.mask_in);
                let (mut out, mut carries) = ([0; LANES], [0; LANES]);
                for i in 0..LANES {
                    let (sum, carry) = f(a[i], b[i], bits[i]);
                    out[i] = sum;
                    carries[i] = carry.into();
                }
                self.put(0, &out);
                self.mask_out = pack(&carries) & self.lanes;
            },
        )
    }

    /// 32-bit sources with float modifiers, nothing else done to them.
    #[inline(never)]
    pub fn map_float<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and, self.xor);
                rows!(self, N, src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(each(|s| src[s][i] & and[s] ^ xor[s]));
                }
                self.put(0, &out);
            },
        )
    }

    /// The same with the active lanes only, for what does not vectorise.
    #[inline(never)]
    pub fn map_float_heavy<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and, self.xor);
                rows!(self, N, src);
                let mut out = [0; LANES];
                for lane in bits(self.lanes) {
                    let i = lane as usize;
                    out[i] = f(each(|s| src[s][i] & and[s] ^ xor[s]));
                }
                self.put(0, &out);
            },
        )
    }

    /// f32 sources flushed, a result that is no float.
    #[inline(never)]
    pub fn f32_bits<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let keep = self.keep_in32();
                let (and, xor) = (self.and, self.xor);
                rows!(self, N, src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(each(|s| f32::from_bits(flush(src[s][i] & and[s] ^ xor[s], keep))));
                }
                self.put(0, &out);
            },
        )
    }

    /// f32 arithmetic under MODE.
    #[inline(always)]
    pub fn f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        let (keep_in, keep_out) = (self.keep_in32(), self.keep_out32());
        self.arithmetic(keep_in, keep_out, f);
    }

    /// f32 arithmetic that never sees or makes denormals.
    #[inline(always)]
    pub fn f32_flushing<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        self.arithmetic(keep(false), keep(false), f);
    }

    /// Sources and results flushed, NaN results made the machine's.
    #[inline(never)]
    fn arithmetic<const N: usize>(&mut self, keep_in: u32, keep_out: u32, f: impl Fn([f32; N]) -> f32) {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and, self.xor);
                rows!(self, N, src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    let v = f(each(|s| f32::from_bits(flush(src[s][i] & and[s] ^ xor[s], keep_in))));
                    out[i] = flush(v.to_bits(), keep_out);
                }
                if any_nan(&out) {
                    fix_nan32(&mut out, src, and, xor);
                }
                self.put(0, &out);
            },
        )
    }

    /// Fused multiply-add under MODE.
    pub fn fma_f32(&mut self, exact: impl Fn(f32, f32, f32) -> f32) {
        if fused() { self.f32(|[a, b, c]| a.mul_add(b, c)) } else { self.fma_by_sum(exact) }
    }

    /// Without the host's help: the sum in f64 rounds right to f32 unless it lies on a tie or among the
    /// denormals; then `exact` decides.
    #[inline(never)]
    pub fn fma_by_sum(&mut self, exact: impl Fn(f32, f32, f32) -> f32) {
        vector(
            #[inline(always)]
            move || {
                let (keep_in, keep_out) = (self.keep_in32(), self.keep_out32());
                let (and, xor) = (self.and, self.xor);
                row!(self, 0, a);
                row!(self, 1, b);
                row!(self, 2, c);
                let take =
                    |row: &Row, s: usize, i: usize| f32::from_bits(flush(row[i] & and[s] ^ xor[s], keep_in));
                let mut out = [0; LANES];
                let mut doubtful = 0;
                for i in 0..LANES {
                    let sum = f64::from(take(a, 0, i)) * f64::from(take(b, 1, i)) + f64::from(take(c, 2, i));
                    let bits = sum.to_bits();
                    doubtful |= if bits as u32 & 0x1fff_ffff == 0x1000_0000 { 1 } else { 0 };
                    // Below twice the least normal f32, zero excepted.
                    let high = (bits >> 32) as u32 & 0x7fff_ffff;
                    doubtful |=
                        if (high.wrapping_add(0x7fff_ffff) as i32) < 0xb81f_ffff_u32 as i32 { 1 } else { 0 };
                    out[i] = flush((sum as f32).to_bits(), keep_out);
                }
                if doubtful != 0 {
                    for i in 0..LANES {
                        out[i] =
                            flush(exact(take(a, 0, i), take(b, 1, i), take(c, 2, i)).to_bits(), keep_out);
                    }
                }
                if any_nan(&out) {
                    fix_nan32(&mut out, [a, b, c], and, xor);
                }
                self.put(0, &out);
            },
        )
    }

    /// `a * b + c`, unfused, without denormals, of the product neither.
    #[inline(always)]
    pub fn mad_f32(&mut self) {
        self.f32_flushing(mad);
    }

    /// `a * b + dst`, the same. The accumulator's NaN comes last.
    #[inline(always)]
    pub fn mac_f32(&mut self) {
        self.src[2] = Src::Row(self.dst);
        self.f32_flushing(mad);
    }

    /// Two sources with float modifiers, and the old destination.
    #[inline(always)]
    pub fn mac(&mut self, f: impl Fn([u32; 3]) -> u32) {
        self.src[2] = Src::Row(self.dst);
        self.map_float_heavy(f);
    }

    /// The lanes where a test of 32-bit sources holds; float modifiers apply, denormals become `keep` of them.
    #[inline(never)]
    pub fn test(&mut self, keep: u32, f: impl Fn(u32, u32) -> bool) -> Mask {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and, self.xor);
                row!(self, 0, a);
                row!(self, 1, b);
                let mut found = [0; LANES];
                for i in 0..LANES {
                    found[i] =
                        f(flush(a[i] & and[0] ^ xor[0], keep), flush(b[i] & and[1] ^ xor[1], keep)).into();
                }
                pack(&found) & self.lanes
            },
        )
    }

    /// The same without modifiers and flushing.
    #[inline(never)]
    pub fn test_bits(&mut self, f: impl Fn(u32, u32) -> bool) -> Mask {
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a);
                row!(self, 1, b);
                let mut found = [0; LANES];
                for i in 0..LANES {
                    found[i] = f(a[i], b[i]).into();
                }
                pack(&found) & self.lanes
            },
        )
    }

    /// Whether a test of the first dwords of the sources (`HIGH`: the second ones) holds in all active lanes.
    #[inline(never)]
    pub fn all<const N: usize, const HIGH: bool>(&mut self, f: impl Fn([u32; N]) -> bool) -> bool {
        vector(
            #[inline(always)]
            move || {
                let mut buffers: [Option<Row>; N] = [const { None }; N];
                let file: &[Row] = self.file;
                let mut src: [&Row; N] = [&NONE; N];
                for (s, buffer) in buffers.iter_mut().enumerate() {
                    src[s] = fetch(file, self.src[s], HIGH, buffer);
                }
                let mut missed = [0; LANES];
                for i in 0..LANES {
                    missed[i] = (!f(each(|s| src[s][i]))).into();
                }
                pack(&missed) & self.lanes == 0
            },
        )
    }

    /// The four dwords of a source in every lane.
    pub fn quad(&self, s: usize) -> [[u32; 4]; LANES] {
        let dword = |lane: usize, d: usize| match self.src[s] {
            Src::Row(row) => self.file[row + d][lane],
            Src::Splat(v) if d == 0 => v as u32,
            Src::Splat(_) => 0,
        };
        from_fn(|lane| from_fn(|d| dword(lane, d)))
    }

    /// Lane by lane, for operations no compiler hurries: sources as 64 bits, without modifiers (those come
    /// through the prepared path); results of up to four dwords and a mask bit.
    pub fn slow(&mut self, dwords: usize, f: impl Fn(usize, [u64; 3]) -> ([u32; 4], bool)) {
        let mut mask = 0;
        for lane in bits(self.lanes) {
            let i = lane as usize;
            let src = self.src.map(|s| match s {
                Src::Row(row) => wide(self.file[row][i], self.file.get(row + 1).map_or(0, |high| high[i])),
                Src::Splat(v) => v,
            });
            let (out, bit) = f(i, src);
            for (d, v) in out.iter().take(dwords).enumerate() {
                self.file[self.dst + d][i] = *v;
            }
            mask |= u64::from(bit) << lane;
        }
        self.mask_out = mask;
    }
}

/// Writes `out` in the lanes of `mask`, chunk by chunk.
#[inline(always)]
fn blend(dst: &mut Row, out: &Row, mask: Mask) {
    let chunks = dst.as_chunks_mut::<CHUNK>().0.iter_mut().zip(out.as_chunks::<CHUNK>().0);
    for (c, (old, new)) in chunks.enumerate() {
        let lanes = (mask >> (c * CHUNK)) as u32 & 0xff;
        match lanes {
            0 => {}
            0xff => *old = *new,
            _ => {
                for i in 0..CHUNK {
                    old[i] = if lanes & (1 << i) != 0 { new[i] } else { old[i] };
                }
            }
        }
    }
}

/// NaN results: the first NaN source, quieted, else the machine's own NaN.
#[cold]
#[inline(never)]
fn fix_nan32<const N: usize>(out: &mut Row, src: [&Row; N], and: [u32; 3], xor: [u32; 3]) {
    let nan = |v: u32| f32::from_bits(v).is_nan();
    for i in 0..LANES {
        if nan(out[i]) {
            let found = (0..N).map(|s| src[s][i] & and[s] ^ xor[s]).find(|&v| nan(v));
            out[i] = found.map_or(NAN32, |v| v | QUIET32);
        }
    }
}

#[inline(always)]
fn mad([a, b, c]: [f32; 3]) -> f32 {
    f32::from_bits(flush((a * b).to_bits(), keep(false))) + c
}
