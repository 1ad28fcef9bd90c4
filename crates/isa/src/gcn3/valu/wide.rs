//! The row engine for 64-bit operands: f64 arithmetic, 64-bit integers, tests.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::row_engine::{Cx, LANES, Row, Src, each, fetch, pack, row, rows, wide};
use crate::Mask;
use crate::vector::vector;

pub(super) const NAN64: u64 = 0xfff8_0000_0000_0000;
pub(super) const QUIET64: u64 = 1 << 51;

#[inline(always)]
pub(super) fn flush64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 { x & (1 << 63) } else { x }
}

/// 64 bits of every lane: both dwords side by side, as the host takes them.
pub(super) type Wide = [u64; LANES];

/// Which of the dwords of 64 bits in memory is the low one.
const LOW: usize = if cfg!(target_endian = "little") { 0 } else { 1 };

/// By copies of dwords: the host exchanges those of two rows in one instruction, while shifts would be four.
#[inline(always)]
fn join(low: &Row, high: &Row) -> Wide {
    let mut out = [[0; 2]; LANES];
    for i in 0..LANES {
        out[i][LOW] = low[i];
        out[i][1 - LOW] = high[i];
    }
    pulp::cast(out)
}

/// The rows of low and high dwords.
#[inline(always)]
fn split(v: &Wide) -> [Row; 2] {
    let pairs: [[u32; 2]; LANES] = pulp::cast(*v);
    let mut out = [[0; LANES]; 2];
    for i in 0..LANES {
        out[0][i] = pairs[i][LOW];
        out[1][i] = pairs[i][1 - LOW];
    }
    out
}

impl Cx<'_> {
    /// Low and high dwords of a source.
    #[inline(always)]
    pub(super) fn dwords(&self, s: usize) -> [Row; 2] {
        match self.src[s] {
            Src::Row(row) => [self.file[row], self.file[row + 1]],
            // What was made for this instruction has no upper half.
            Src::Copy(row) => [*row, *row],
            Src::Splat(v) => [[v as u32; LANES], [(v >> 32) as u32; LANES]],
        }
    }

    /// A source as 64 bits.
    #[inline(always)]
    fn wide(&self, s: usize) -> Wide {
        let [low, high] = self.dwords(s);
        join(&low, &high)
    }

    /// The first `N` sources as 64 bits, with float modifiers.
    #[inline(always)]
    pub(super) fn doubles<const N: usize>(&self) -> [Wide; N] {
        let mut out = [[0; LANES]; N];
        for s in 0..N {
            let (and, xor) = (self.and[s], self.xor[s]);
            let [low, mut high] = self.dwords(s);
            for i in 0..LANES {
                high[i] = high[i] & and ^ xor;
            }
            out[s] = join(&low, &high);
        }
        out
    }

    #[inline(always)]
    pub(super) fn put_wide(&mut self, out: &Wide) {
        let [low, high] = split(out);
        self.put(0, &low);
        self.put(1, &high);
    }

    /// 64-bit results of a 32-bit and a 64-bit source.
    #[inline(never)]
    pub fn map_shift(&mut self, f: impl Fn(u32, u64) -> u64) {
        vector(
            #[inline(always)]
            move || {
                let ([a], b): ([Row; 1], Wide) = (rows(self.file, &self.src), self.wide(1));
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(a[i], b[i]);
                }
                self.put_wide(&out);
            },
        )
    }

    /// 64-bit results of a 64-bit, a 32-bit and a 64-bit source.
    #[inline(never)]
    pub fn map_wide(&mut self, f: impl Fn(u64, u32, u64) -> u64) {
        if self.src.iter().any(|s| matches!(s, Src::Copy(_))) {
            // A source that was made for this instruction has no upper half.
            return self.slow(2, |_, [a, b, c]| {
                let v = f(a, b as u32, c);
                ([v as u32, (v >> 32) as u32, 0, 0], false)
            });
        }
        vector(
            #[inline(always)]
            move || {
                let [_, b]: [Row; 2] = rows(self.file, &self.src);
                let (a, c) = (self.wide(0), self.wide(2));
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(a[i], b[i], c[i]);
                }
                self.put_wide(&out);
            },
        )
    }

    /// A 64-bit source shifted left; in dwords, where all lanes shift alike.
    #[inline(never)]
    pub fn shift_left(&mut self) {
        let (Src::Splat(shift), false) = (self.src[0], matches!(self.src[1], Src::Copy(_))) else {
            return self.map_shift(|n, v| v << (n & 63));
        };
        let shift = shift as u32 & 63;
        vector(
            #[inline(always)]
            move || {
                row!(self, 1, low, high);
                let mut out = [[0; LANES]; 2];
                if shift < 32 {
                    for i in 0..LANES {
                        out[0][i] = low[i] << shift;
                        out[1][i] = high[i] << shift | low[i] >> 1 >> (31 - shift);
                    }
                } else {
                    for i in 0..LANES {
                        out[1][i] = low[i] << (shift - 32);
                    }
                }
                self.put(0, &out[0]);
                self.put(1, &out[1]);
            },
        )
    }

    /// A 64-bit source shifted left by less than 8, plus a 64-bit one; in dwords, where all lanes shift alike.
    #[inline(never)]
    pub fn shift_add(&mut self) {
        let Src::Splat(shift) = self.src[1] else {
            return self.map_wide(|a, n, c| (a << (n & 7)).wrapping_add(c));
        };
        if matches!(self.src[0], Src::Copy(_)) || matches!(self.src[2], Src::Copy(_)) {
            return self.map_wide(|a, n, c| (a << (n & 7)).wrapping_add(c));
        }
        let shift = shift as u32 & 7;
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, a, a_high);
                row!(self, 2, c, c_high);
                let mut out = [[0; LANES]; 2];
                for i in 0..LANES {
                    let (low, high) = (a[i] << shift, a_high[i] << shift | a[i] >> 1 >> (31 - shift));
                    let sum = low.wrapping_add(c[i]);
                    let carry = if sum < low { 1 } else { 0 };
                    out[0][i] = sum;
                    out[1][i] = high.wrapping_add(c_high[i]).wrapping_add(carry);
                }
                self.put(0, &out[0]);
                self.put(1, &out[1]);
            },
        )
    }

    /// 64 bits as they are.
    #[inline(never)]
    pub fn move_wide(&mut self) {
        if matches!(self.src[0], Src::Copy(_)) {
            return self.map_wide(|a, _, _| a);
        }
        vector(
            #[inline(always)]
            move || {
                row!(self, 0, low, high);
                let (low, high) = (*low, *high);
                self.put(0, &low);
                self.put(1, &high);
            },
        )
    }

    /// 64-bit multiply-add: two 32-bit sources and a 64-bit one; also gives a carry.
    #[inline(never)]
    pub fn map_mad64(&mut self, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
        vector(
            #[inline(always)]
            move || {
                let ([a, b], c): ([Row; 2], Wide) = (rows(self.file, &self.src), self.wide(2));
                let (mut out, mut carries) = ([0; LANES], [0; LANES]);
                for i in 0..LANES {
                    let (v, carry) = f(a[i], b[i], c[i]);
                    out[i] = v;
                    carries[i] = carry.into();
                }
                self.put_wide(&out);
                self.mask_out = pack(&carries) & self.lanes;
            },
        )
    }

    /// f64 arithmetic under MODE.
    #[inline(always)]
    pub fn f64<const N: usize>(&mut self, f: impl Fn([f64; N]) -> f64) {
        self.f64_with::<N, true>(f);
    }

    /// The same; without `FIX` the operation says itself which NaN it gives.
    #[inline(always)]
    pub fn f64_with<const N: usize, const FIX: bool>(&mut self, f: impl Fn([f64; N]) -> f64) {
        match self.mode & 3 << 6 {
            0xc0 => self.arithmetic64::<N, FIX, false>(f),
            _ => self.arithmetic64::<N, FIX, true>(f),
        }
    }

    #[inline(never)]
    fn arithmetic64<const N: usize, const FIX: bool, const FLUSH: bool>(
        &mut self,
        f: impl Fn([f64; N]) -> f64,
    ) {
        vector(
            #[inline(always)]
            move || {
                let (flush_in, flush_out) = (FLUSH && self.flush_in64(), FLUSH && self.flush_out64());
                let src: [Wide; N] = self.doubles();
                let mut out = [0; LANES];
                let mut nan = 0;
                for i in 0..LANES {
                    let v = f(each(|s| {
                        let v = src[s][i];
                        f64::from_bits(if flush_in { flush64(v) } else { v })
                    }));
                    nan |= if v.is_nan() { u64::MAX } else { 0 };
                    out[i] = if flush_out { flush64(v.to_bits()) } else { v.to_bits() };
                }
                if FIX && nan != 0 {
                    self.fix_nan64::<N>(&mut out);
                }
                self.put_wide(&out);
            },
        )
    }

    /// An f64 and an i32 source.
    #[inline(never)]
    pub fn f64_int(&mut self, f: impl Fn(f64, i32) -> f64) {
        vector(
            #[inline(always)]
            move || {
                let (flush_in, flush_out) = (self.flush_in64(), self.flush_out64());
                let ([a], [_, b]): ([Wide; 1], [Row; 2]) = (self.doubles(), rows(self.file, &self.src));
                let mut out = [0; LANES];
                let mut nan = 0;
                for i in 0..LANES {
                    let v = f64::from_bits(if flush_in { flush64(a[i]) } else { a[i] });
                    let v = f(v, b[i] as i32);
                    nan |= if v.is_nan() { u64::MAX } else { 0 };
                    out[i] = if flush_out { flush64(v.to_bits()) } else { v.to_bits() };
                }
                if nan != 0 {
                    self.fix_nan64::<1>(&mut out);
                }
                self.put_wide(&out);
            },
        )
    }

    /// NaN results, as of f32: the first NaN source, quieted, else the machine's own NaN.
    #[cold]
    #[inline(never)]
    fn fix_nan64<const N: usize>(&self, out: &mut Wide) {
        vector(
            #[inline(always)]
            move || {
                let nan = |v: u64| f64::from_bits(v).is_nan();
                let src: [Wide; N] = self.doubles();
                for i in 0..LANES {
                    let mut own = NAN64;
                    for s in (0..N).rev() {
                        own = if nan(src[s][i]) { src[s][i] | QUIET64 } else { own };
                    }
                    out[i] = if nan(out[i]) { own } else { out[i] };
                }
            },
        );
    }

    /// ldexp where sources and results are ordinary numbers: the exponent moves. False, and nothing done, if they are not.
    #[inline(never)]
    pub fn ldexp_plain(&mut self) -> bool {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and[0], self.xor[0]);
                row!(self, 0, low, high);
                row!(self, 1, b);
                let mut out = [0; LANES];
                let mut odd = [0; LANES];
                for i in 0..LANES {
                    let v = high[i] & and ^ xor;
                    let (exponent, n) = ((v >> 20 & 0x7ff) as i32, b[i] as i32);
                    let near = (n > -4096) & (n < 4096);
                    let n = if near { n } else { 0 };
                    let to = exponent + n;
                    let plain = near & (exponent > 0) & (exponent < 0x7ff) & (to > 0) & (to < 0x7ff);
                    odd[i] = (!plain).into();
                    out[i] = v.wrapping_add((n as u32) << 20);
                }
                if pack(&odd) & self.lanes != 0 {
                    return false;
                }
                let low = *low;
                self.put(0, &low);
                self.put(1, &out);
                true
            },
        )
    }

    /// An f64 source, a result of 32 bits.
    #[inline(never)]
    pub fn f64_bits(&mut self, f: impl Fn(f64) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let flush = self.flush_in64();
                let [a]: [Wide; 1] = self.doubles();
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(f64::from_bits(if flush { flush64(a[i]) } else { a[i] }));
                }
                self.put(0, &out);
            },
        )
    }

    /// 64-bit results of 32 bits (float modifiers apply where the source is a float).
    #[inline(never)]
    pub fn widen(&mut self, f: impl Fn(u32) -> u64) {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and[0], self.xor[0]);
                let [a]: [Row; 1] = rows(self.file, &self.src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(a[i] & and ^ xor);
                }
                self.put_wide(&out);
            },
        )
    }

    /// Bits of two f64 sources with modifiers, never flushed.
    #[inline(never)]
    pub fn map_double(&mut self, f: impl Fn(u64, u64) -> u64) {
        vector(
            #[inline(always)]
            move || {
                let [a, b]: [Wide; 2] = self.doubles();
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(a[i], b[i]);
                }
                self.put_wide(&out);
            },
        )
    }

    /// The lanes where a relation of f64 sources holds.
    #[inline(always)]
    pub fn test_f64(&mut self, f: impl Fn(f64, f64) -> bool) -> Mask {
        let f = move |a, b| f(f64::from_bits(a), f64::from_bits(b));
        if self.flush_in64() { self.test_wide::<true>(f) } else { self.test_wide::<false>(f) }
    }

    /// A test of 64-bit sources, with modifiers and flushed if `FLUSH`.
    #[inline(never)]
    pub fn test_wide<const FLUSH: bool>(&mut self, f: impl Fn(u64, u64) -> bool) -> Mask {
        vector(
            #[inline(always)]
            move || {
                let [a, b]: [Wide; 2] = self.doubles();
                let mut found = [0; LANES];
                for i in 0..LANES {
                    let (x, y) = (a[i], b[i]);
                    let (x, y) = if FLUSH { (flush64(x), flush64(y)) } else { (x, y) };
                    found[i] = f(x, y).into();
                }
                pack(&found) & self.lanes
            },
        )
    }

    /// A test of an f64 as it stands against a 32-bit source.
    pub fn test_class64(&mut self, f: impl Fn(u64, u32) -> bool) -> Mask {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and[0], self.xor[0]);
                row!(self, 0, a, high);
                row!(self, 1, b);
                let mut found = [0; LANES];
                for i in 0..LANES {
                    found[i] = f(wide(a[i], high[i] & and ^ xor), b[i]).into();
                }
                pack(&found) & self.lanes
            },
        )
    }
}
