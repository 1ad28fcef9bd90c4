//! The row engine: operands are a row of the file or a splat, operations run over chunks of 8 lanes and are
//! blended by mask. The file is the wave's registers, or a small copy when modifiers prepared the operands.

use super::super::state::mode;
use crate::Mask;
use crate::lanes::CHUNK;
use std::array::from_fn;

pub(super) type Chunk = [u32; CHUNK];
pub(super) type Wide = [u64; CHUNK];

/// Bit of each lane in the mask byte of its chunk.
const BIT: Chunk = [1, 2, 4, 8, 16, 32, 64, 128];

/// A source: first chunk of its (low) row, or one value for all lanes.
#[derive(Clone, Copy)]
pub(super) enum Src {
    Row(usize),
    Splat(u64),
}

/// One instruction at work.
pub(super) struct Cx<'a> {
    pub file: &'a mut [Chunk],
    pub per_row: usize,
    /// First chunk of the destination.
    pub dst: usize,
    pub src: [Src; 3],
    /// What abs and neg do to the dword with the sign of a row source: `x & and ^ xor`.
    pub and: [u32; 3],
    pub xor: [u32; 3],
    pub modified: bool,
    pub clamp: bool,
    pub lanes: Mask,
    /// Carry or condition read, and the one written.
    pub mask_in: Mask,
    pub mask_out: Mask,
    pub mode: u32,
}

/// What remains of a denormal: its sign, or everything.
const fn keep(denormals: bool) -> u32 {
    if denormals { !0 } else { 1 << 31 }
}

#[inline(always)]
pub(super) fn map<const N: usize>(src: [Chunk; N], f: impl Fn([u32; N]) -> u32) -> Chunk {
    from_fn(|i| f(src.map(|s| s[i])))
}

/// Replaces denormal f32 values by what `keep` leaves of them.
#[inline(always)]
pub(super) fn flush32(x: Chunk, keep: u32) -> Chunk {
    x.map(|v| if v & 0x7f80_0000 == 0 { v & keep } else { v })
}

#[inline(always)]
fn any_nan(x: &Chunk) -> bool {
    let mut any = false;
    for &v in x {
        any |= f32::from_bits(v).is_nan();
    }
    any
}

pub(super) const NAN32: u32 = 0xffc0_0000;
pub(super) const NAN64: u64 = 0xfff8_0000_0000_0000;
pub(super) const QUIET32: u32 = 1 << 22;
pub(super) const QUIET64: u64 = 1 << 51;

/// NaN results: the first NaN source, quieted, else the machine's own NaN.
#[cold]
fn fix_nan32<const N: usize>(out: Chunk, src: [Chunk; N]) -> Chunk {
    from_fn(|i| {
        if !f32::from_bits(out[i]).is_nan() {
            return out[i];
        }
        src.iter().map(|s| s[i]).find(|&s| f32::from_bits(s).is_nan()).map_or(NAN32, |s| s | QUIET32)
    })
}

#[cold]
fn fix_nan64<const N: usize>(out: Wide, src: [Wide; N]) -> Wide {
    from_fn(|i| {
        if !f64::from_bits(out[i]).is_nan() {
            return out[i];
        }
        src.iter().map(|s| s[i]).find(|&s| f64::from_bits(s).is_nan()).map_or(NAN64, |s| s | QUIET64)
    })
}

#[inline(always)]
pub(super) fn flush64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 { x & (1 << 63) } else { x }
}

#[cold]
fn flush_wide(x: Wide) -> Wide {
    x.map(flush64)
}

/// Turns bit `c` of word `i` into bit `8 * c + i`.
#[inline(always)]
fn transpose(words: Chunk) -> u64 {
    let mut x = 0u64;
    for (i, w) in words.iter().enumerate() {
        x |= u64::from(*w) << (8 * i);
    }
    let t = (x ^ (x >> 7)) & 0x00aa_00aa_00aa_00aa;
    x ^= t ^ (t << 7);
    let t = (x ^ (x >> 14)) & 0x0000_cccc_0000_cccc;
    x ^= t ^ (t << 14);
    let t = (x ^ (x >> 28)) & 0x0000_0000_f0f0_f0f0;
    x ^ t ^ (t << 28)
}

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

    #[inline(always)]
    fn byte(&self, c: usize) -> u8 {
        (self.lanes >> (c * CHUNK)) as u8
    }

    #[inline(always)]
    fn raw(&self, s: usize, c: usize) -> Chunk {
        match self.src[s] {
            Src::Row(first) => self.file[first + c],
            Src::Splat(v) => [v as u32; CHUNK],
        }
    }

    /// A float source of at most 32 bits.
    #[inline(always)]
    fn float(&self, s: usize, c: usize) -> Chunk {
        let x = self.raw(s, c);
        if self.modified {
            let (and, xor) = (self.and[s], self.xor[s]);
            return x.map(|v| v & and ^ xor);
        }
        x
    }

    #[inline(always)]
    fn wide(&self, s: usize, c: usize) -> Wide {
        match self.src[s] {
            Src::Row(first) => {
                let (low, high) = (self.file[first + c], self.file[first + self.per_row + c]);
                from_fn(|i| u64::from(low[i]) | u64::from(high[i]) << 32)
            }
            Src::Splat(v) => [v; CHUNK],
        }
    }

    /// A 64-bit float source.
    #[inline(always)]
    fn double(&self, s: usize, c: usize) -> Wide {
        let x = self.wide(s, c);
        let x = if self.modified {
            let (and, xor) = (u64::from(self.and[s]) << 32 | 0xffff_ffff, u64::from(self.xor[s]) << 32);
            x.map(|v| v & and ^ xor)
        } else {
            x
        };
        if self.flush_in64() { flush_wide(x) } else { x }
    }

    #[inline(always)]
    fn put(&mut self, row: usize, c: usize, out: Chunk) {
        let lanes = u32::from(self.byte(c));
        let old = &mut self.file[self.dst + row * self.per_row + c];
        if lanes == 0xff {
            *old = out;
        } else {
            for i in 0..CHUNK {
                old[i] = if lanes & BIT[i] != 0 { out[i] } else { old[i] };
            }
        }
    }

    #[inline(always)]
    fn put_wide(&mut self, c: usize, out: Wide) {
        self.put(0, c, out.map(|v| v as u32));
        self.put(1, c, out.map(|v| (v >> 32) as u32));
    }

    #[inline(always)]
    fn each(&mut self, mut f: impl FnMut(&mut Self, usize)) {
        for c in 0..self.per_row {
            if self.byte(c) != 0 {
                f(self, c);
            }
        }
    }

    /// Old contents of the destination.
    #[inline(always)]
    pub fn old(&self, c: usize) -> Chunk {
        self.file[self.dst + c]
    }

    /// 32-bit operations without float modifiers.
    #[inline(always)]
    pub fn map<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        self.each(|cx, c| {
            let src: [Chunk; N] = from_fn(|s| cx.raw(s, c));
            cx.put(0, c, map(src, &f));
        });
    }

    /// The same with the lane's number.
    #[inline(always)]
    pub fn map_lane(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        self.each(|cx, c| {
            let (a, b) = (cx.raw(0, c), cx.raw(1, c));
            cx.put(0, c, from_fn(|i| f((c * CHUNK + i) as u32, a[i], b[i])));
        });
    }

    /// `f(a, b, bit)` with the bit of the mask read.
    #[inline(always)]
    pub fn map_bit(&mut self, f: impl Fn(u32, u32, bool) -> u32) {
        self.each(|cx, c| {
            let (a, b) = (cx.raw(0, c), cx.raw(1, c));
            let bits = (cx.mask_in >> (c * CHUNK)) as u32;
            cx.put(0, c, from_fn(|i| f(a[i], b[i], bits & BIT[i] != 0)));
        });
    }

    /// `f(a, b, carry)` gives the sum and the carry.
    #[inline(always)]
    pub fn map_carry(&mut self, f: impl Fn(u32, u32, u32) -> (u32, bool)) {
        let mut carries = [0; CHUNK];
        self.each(|cx, c| {
            let (a, b) = (cx.raw(0, c), cx.raw(1, c));
            let bits = (cx.mask_in >> (c * CHUNK)) as u32;
            let mut out = [0; CHUNK];
            for i in 0..CHUNK {
                let (sum, carry) = f(a[i], b[i], u32::from(bits & BIT[i] != 0));
                out[i] = sum;
                carries[i] |= if carry { 1 << c } else { 0 };
            }
            cx.put(0, c, out);
        });
        self.mask_out = transpose(carries) & self.lanes;
    }

    /// 32-bit sources with float modifiers, nothing else done to them.
    #[inline(always)]
    pub fn map_float<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        self.each(|cx, c| {
            let src: [Chunk; N] = from_fn(|s| cx.float(s, c));
            cx.put(0, c, map(src, &f));
        });
    }

    /// f32 sources flushed, a result that is no float.
    #[inline(always)]
    pub fn from_f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        let keep = self.keep_in32();
        self.each(|cx, c| {
            let src: [Chunk; N] = from_fn(|s| flush32(cx.float(s, c), keep));
            cx.put(0, c, map(src, |v| f(v.map(f32::from_bits))));
        });
    }

    /// A chunk operation on f32: sources and results flushed, NaN results made the machine's.
    #[inline(always)]
    fn chunks_f32<const N: usize>(&mut self, keep: (u32, u32), f: impl Fn(&Self, usize, [Chunk; N]) -> Chunk) {
        self.each(|cx, c| {
            let src: [Chunk; N] = from_fn(|s| flush32(cx.float(s, c), keep.0));
            let out = flush32(f(cx, c, src), keep.1);
            let out = if any_nan(&out) { fix_nan32(out, src) } else { out };
            cx.put(0, c, out);
        });
    }

    /// f32 arithmetic under MODE.
    #[inline(always)]
    pub fn f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        let keep = (self.keep_in32(), self.keep_out32());
        self.chunks_f32(keep, |_, _, src| map(src, |v| f(v.map(f32::from_bits)).to_bits()));
    }

    /// f32 arithmetic that never sees or makes denormals.
    #[inline(always)]
    pub fn f32_flushing<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        let keep = (keep(false), keep(false));
        self.chunks_f32(keep, |_, _, src| map(src, |v| f(v.map(f32::from_bits)).to_bits()));
    }

    /// `f` over chunks of three sources under MODE.
    #[inline(always)]
    pub fn f32_chunks(&mut self, f: impl Fn(Chunk, Chunk, Chunk) -> Chunk) {
        let keep = (self.keep_in32(), self.keep_out32());
        self.chunks_f32(keep, |_, _, [a, b, c]| f(a, b, c));
    }

    /// `a * b + dst`, unfused, without denormals. The accumulator's NaN comes last.
    #[inline(always)]
    pub fn mac_f32(&mut self) {
        let flush = keep(false);
        self.each(|cx, c| {
            let src = [flush32(cx.float(0, c), flush), flush32(cx.float(1, c), flush), flush32(cx.old(c), flush)];
            let out = flush32(mad(src, flush), flush);
            let out = if any_nan(&out) { fix_nan32(out, src) } else { out };
            cx.put(0, c, out);
        });
    }

    /// `a * b + c`, unfused, without denormals, of the product neither.
    #[inline(always)]
    pub fn mad_f32(&mut self) {
        let flush = keep(false);
        self.chunks_f32((flush, flush), |_, _, src| mad(src, flush));
    }

    /// Two sources, the first with float modifiers, and the old destination.
    #[inline(always)]
    pub fn mac(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        self.each(|cx, c| {
            let (a, b, old) = (cx.float(0, c), cx.float(1, c), cx.old(c));
            cx.put(0, c, from_fn(|i| f(a[i], b[i], old[i])));
        });
    }

    /// The four dwords of a source in every lane.
    pub fn quad(&self, s: usize) -> [[u32; 4]; 64] {
        from_fn(|lane| {
            let (c, i) = (lane / CHUNK, lane % CHUNK);
            from_fn(|d| match self.src[s] {
                Src::Row(first) if c < self.per_row => self.file[first + d * self.per_row + c][i],
                Src::Splat(v) if d == 0 => v as u32,
                _ => 0,
            })
        })
    }

    /// 64-bit results of a 32-bit and a 64-bit source.
    #[inline(always)]
    pub fn map_shift(&mut self, f: impl Fn(u32, u64) -> u64) {
        self.each(|cx, c| {
            let (a, b) = (cx.raw(0, c), cx.wide(1, c));
            cx.put_wide(c, from_fn(|i| f(a[i], b[i])));
        });
    }

    /// 64-bit multiply-add: two 32-bit sources and a 64-bit one; also gives a carry.
    #[inline(always)]
    pub fn map_mad64(&mut self, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
        let mut carries = [0; CHUNK];
        self.each(|cx, c| {
            let (a, b, add) = (cx.raw(0, c), cx.raw(1, c), cx.wide(2, c));
            let mut out = [0; CHUNK];
            for i in 0..CHUNK {
                let (sum, carry) = f(a[i], b[i], add[i]);
                out[i] = sum;
                carries[i] |= if carry { 1 << c } else { 0 };
            }
            cx.put_wide(c, out);
        });
        self.mask_out = transpose(carries) & self.lanes;
    }

    /// f64 arithmetic under MODE.
    #[inline(always)]
    pub fn f64<const N: usize>(&mut self, f: impl Fn([f64; N]) -> f64) {
        self.f64_with::<N, true>(f);
    }

    /// The same; without `FIX` the operation says itself which NaN it gives.
    #[inline(always)]
    pub fn f64_with<const N: usize, const FIX: bool>(&mut self, f: impl Fn([f64; N]) -> f64) {
        self.each(|cx, c| {
            let src: [Wide; N] = from_fn(|s| cx.double(s, c));
            let mut out: Wide = [0; CHUNK];
            let mut nan = false;
            for i in 0..CHUNK {
                let v = f(src.map(|s| f64::from_bits(s[i])));
                nan |= v.is_nan();
                out[i] = v.to_bits();
            }
            let out = if cx.flush_out64() { flush_wide(out) } else { out };
            let out = if FIX && nan { fix_nan64(out, src) } else { out };
            cx.put_wide(c, out);
        });
    }

    /// An f64 and an i32 source.
    #[inline(always)]
    pub fn f64_int(&mut self, f: impl Fn(f64, i32) -> f64) {
        self.each(|cx, c| {
            let (a, b) = (cx.double(0, c), cx.raw(1, c));
            let out: Wide = from_fn(|i| f(f64::from_bits(a[i]), b[i] as i32).to_bits());
            let out = if cx.flush_out64() { flush_wide(out) } else { out };
            let nan = out.iter().any(|v| f64::from_bits(*v).is_nan());
            cx.put_wide(c, if nan { fix_nan64(out, [a]) } else { out });
        });
    }

    /// An f64 source that is a number afterwards, or bits, in 32 bits.
    #[inline(always)]
    pub fn from_f64(&mut self, f: impl Fn(f64) -> u32) {
        self.each(|cx, c| {
            let a = cx.double(0, c);
            cx.put(0, c, a.map(|v| f(f64::from_bits(v))));
        });
    }

    /// 64-bit results of 32-bit bits (float modifiers apply where the source is a float).
    #[inline(always)]
    pub fn to_wide(&mut self, f: impl Fn(u32) -> u64) {
        self.each(|cx, c| {
            let a = cx.float(0, c);
            cx.put_wide(c, a.map(&f));
        });
    }

    /// Bits of f64 sources with modifiers, never flushed.
    #[inline(always)]
    pub fn map_double<const N: usize>(&mut self, f: impl Fn([u64; N]) -> u64) {
        let mode = self.mode;
        self.mode |= 1 << 6;
        self.each(|cx, c| {
            let src: [Wide; N] = from_fn(|s| cx.double(s, c));
            cx.put_wide(c, from_fn(|i| f(src.map(|s| s[i]))));
        });
        self.mode = mode;
    }

    /// The lanes where a test of 32-bit sources holds; float modifiers apply.
    #[inline(always)]
    pub fn test(&self, keep: u32, f: impl Fn(u32, u32) -> bool) -> Mask {
        let mut found = [0; CHUNK];
        for c in 0..self.per_row {
            let (mut a, mut b) = (self.float(0, c), self.float(1, c));
            if keep != !0 {
                (a, b) = (flush32(a, keep), flush32(b, keep));
            }
            for i in 0..CHUNK {
                found[i] |= if f(a[i], b[i]) { 1 << c } else { 0 };
            }
        }
        transpose(found) & self.lanes
    }

    /// The same of 64-bit sources, flushed as f64 if `float`.
    #[inline(always)]
    pub fn test_wide(&self, float: bool, f: impl Fn(u64, u64) -> bool) -> Mask {
        let mut found = [0; CHUNK];
        for c in 0..self.per_row {
            let (a, b) = if float {
                (self.double(0, c), self.double(1, c))
            } else {
                (self.wide(0, c), self.wide(1, c))
            };
            for i in 0..CHUNK {
                found[i] |= if f(a[i], b[i]) { 1 << c } else { 0 };
            }
        }
        transpose(found) & self.lanes
    }

    /// A test of an f64 as it stands against a 32-bit source.
    pub fn test_class64(&self, f: impl Fn(u64, u32) -> bool) -> Mask {
        let mut found = 0;
        for c in 0..self.per_row {
            let (a, b) = (self.wide(0, c), self.raw(1, c));
            let (and, xor) = (u64::from(self.and[0]) << 32 | 0xffff_ffff, u64::from(self.xor[0]) << 32);
            for i in 0..CHUNK {
                found |= u64::from(f(a[i] & and ^ xor, b[i])) << (c * CHUNK + i);
            }
        }
        found & self.lanes
    }

    /// Lane by lane, for operations no compiler hurries: sources as 64 bits, without modifiers (those come
    /// through the prepared path); results of up to four dwords and a mask bit.
    pub fn slow(&mut self, dwords: usize, f: impl Fn(usize, [u64; 3]) -> ([u32; 4], bool)) {
        let mut mask = 0;
        for lane in crate::lanes::bits(self.lanes) {
            let (c, i) = (lane as usize / CHUNK, lane as usize % CHUNK);
            let src = from_fn(|s| match self.src[s] {
                Src::Row(first) => {
                    let low = self.file[first + c][i];
                    let high = self.file.get(first + self.per_row + c).map_or(0, |h| h[i]);
                    u64::from(low) | u64::from(high) << 32
                }
                Src::Splat(v) => v,
            });
            let (out, bit) = f(lane as usize, src);
            for (d, v) in out.iter().take(dwords).enumerate() {
                self.file[self.dst + d * self.per_row + c][i] = *v;
            }
            mask |= u64::from(bit) << lane;
        }
        self.mask_out = mask;
    }
}

#[inline(always)]
fn mad([a, b, c]: [Chunk; 3], keep: u32) -> Chunk {
    let product = flush32(map([a, b], |[a, b]| (f32::from_bits(a) * f32::from_bits(b)).to_bits()), keep);
    map([product, c], |[p, c]| (f32::from_bits(p) + f32::from_bits(c)).to_bits())
}
