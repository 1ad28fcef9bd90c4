//! The row engine: operands are a row of the file or a splat, operations run over whole rows of 64 lanes in
//! plain loops the compiler vectorises, into a row on the stack that is blended by mask. The file is the
//! wave's registers, or a small copy when modifiers prepared the operands.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::state::mode;
pub(super) use super::source::{LANES, NONE, Row, Src, each, fetch, pack, row, rows, unpack, wide};
use crate::Mask;
use crate::lanes::{bits, blend};
use crate::vector::{fused, vector};
use std::array::from_fn;

/// One instruction at work.
pub(super) struct Cx<'a> {
    pub file: &'a mut [Row],
    /// First row of the destination.
    pub dst: usize,
    pub src: [Src<'a>; 3],
    /// abs or neg stand somewhere; otherwise `and` and `xor` change nothing.
    pub modified: bool,
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

/// The loop of one operation.
pub(super) type Run = fn(&mut Cx);

pub(super) const NAN32: u32 = 0xffc0_0000;
pub(super) const QUIET32: u32 = 1 << 22;

/// What remains of a denormal: its sign, or everything.
const fn keep(denormals: bool) -> u32 {
    if denormals { !0 } else { 1 << 31 }
}

/// What remains of denormal sources, and of denormal results.
#[inline(always)]
pub(super) fn kept32(mode: u32) -> (u32, u32) {
    (keep(mode & (1 << 4) != 0), keep(mode & (1 << 5) != 0))
}

/// Writes a row of results in some lanes.
#[inline(always)]
pub(super) fn put(dst: &mut Row, out: &Row, lanes: Mask) {
    if lanes == !0 {
        *dst = *out;
    } else {
        blend(dst, out, lanes);
    }
}

/// Replaces a denormal f32 by what `keep` leaves of it.
#[inline(always)]
pub(super) fn flush(v: u32, keep: u32) -> u32 {
    let number = if (v & 0x7fff_ffff) as i32 > 0x007f_ffff { !0 } else { 0 };
    v & (number | keep)
}

/// 1 for a NaN, as integers see it: many of them are gathered by their largest.
#[inline(always)]
pub(super) fn not_a_number(v: u32) -> u32 {
    if v & 0x7fff_ffff > 0x7f80_0000 { 1 } else { 0 }
}

impl Cx<'_> {
    #[inline(always)]
    pub fn keep_in32(&self) -> u32 {
        kept32(self.mode).0
    }

    #[inline(always)]
    pub fn keep_out32(&self) -> u32 {
        kept32(self.mode).1
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

    /// What remains of a half that is a denormal.
    #[inline(always)]
    pub fn keep_half(&self) -> u32 {
        if self.flush_out64() { 0x8000 } else { 0xffff }
    }

    #[inline(always)]
    pub fn ieee(&self) -> bool {
        self.mode & mode::IEEE != 0
    }

    /// Writes a row of results in the active lanes.
    #[inline(always)]
    pub(super) fn put(&mut self, row: usize, out: &Row) {
        put(&mut self.file[self.dst + row], out, self.lanes);
    }

    /// 32-bit operations without float modifiers.
    #[inline(never)]
    pub fn map<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let mut out = [0; LANES];
                let src: [Row; N] = rows(self.file, &self.src);
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
                let [a, b]: [Row; 2] = rows(self.file, &self.src);
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
                let [a, b]: [Row; 2] = rows(self.file, &self.src);
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
                let [a, b]: [Row; 2] = rows(self.file, &self.src);
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
                let [a, b]: [Row; 2] = rows(self.file, &self.src);
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
                let src: [Row; N] = rows(self.file, &self.src);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = f(each(|s| src[s][i] & and[s] ^ xor[s]));
                }
                self.put(0, &out);
            },
        )
    }

    /// The same for what depends on IEEE mode.
    #[inline(always)]
    pub fn map_ieee<const N: usize>(&mut self, f: impl Fn([u32; N], bool) -> u32) {
        let ieee = self.ieee();
        self.map_float(move |v| f(v, ieee));
    }

    /// f32 sources flushed, a result that is no float.
    #[inline(never)]
    pub fn f32_bits<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        vector(
            #[inline(always)]
            move || {
                let keep = self.keep_in32();
                let (and, xor) = (self.and, self.xor);
                let src: [Row; N] = rows(self.file, &self.src);
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
        match self.mode & mode::F32_DENORMALS {
            mode::F32_DENORMALS => self.arithmetic::<N, false>(keep_in, keep_out, f),
            _ => self.arithmetic::<N, true>(keep_in, keep_out, f),
        }
    }

    /// f32 arithmetic that never sees or makes denormals.
    #[inline(always)]
    pub fn f32_flushing<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        self.arithmetic::<N, true>(keep(false), keep(false), f);
    }

    /// Sources and results flushed if `FLUSH`, NaN results made the machine's.
    #[inline(never)]
    fn arithmetic<const N: usize, const FLUSH: bool>(
        &mut self,
        keep_in: u32,
        keep_out: u32,
        f: impl Fn([f32; N]) -> f32,
    ) {
        vector(
            #[inline(always)]
            move || {
                let flush = |v, keep| if FLUSH { flush(v, keep) } else { v };
                let mut out = [0; LANES];
                let mut src: [Row; N] = rows(self.file, &self.src);
                if self.modified {
                    let (and, xor) = (self.and, self.xor);
                    for s in 0..N {
                        for i in 0..LANES {
                            src[s][i] = src[s][i] & and[s] ^ xor[s];
                        }
                    }
                }
                let mut nan = 0;
                for i in 0..LANES {
                    let v = f(each(|s| f32::from_bits(flush(src[s][i], keep_in))));
                    out[i] = flush(v.to_bits(), keep_out);
                    nan |= not_a_number(out[i]);
                }
                match nan {
                    0 => self.put(0, &out),
                    _ => self.put_with_nan::<N>(out),
                }
            },
        )
    }

    /// Results with a NaN among them: such a lane gets the first NaN source, quieted, else the machine's own NaN. The results are handed over
    /// by value: as long as nobody wants their address they stay in the host's registers.
    #[cold]
    #[inline(never)]
    fn put_with_nan<const N: usize>(&mut self, mut out: Row) {
        let (and, xor) = (self.and, self.xor);
        // Lanes that are off count, too, and are often NaN: hence without branches.
        vector(
            #[inline(always)]
            move || {
                let nan = |v: u32| f32::from_bits(v).is_nan();
                let src: [Row; N] = rows(self.file, &self.src);
                for i in 0..LANES {
                    let mut own = NAN32;
                    for s in (0..N).rev() {
                        let v = src[s][i] & and[s] ^ xor[s];
                        own = if nan(v) { v | QUIET32 } else { own };
                    }
                    out[i] = if nan(out[i]) { own } else { out[i] };
                }
                self.put(0, &out);
            },
        );
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
                let [a, b, c]: [Row; 3] = rows(self.file, &self.src);
                let take =
                    |row: &Row, s: usize, i: usize| f32::from_bits(flush(row[i] & and[s] ^ xor[s], keep_in));
                let mut out = [0; LANES];
                let mut doubtful = 0;
                for i in 0..LANES {
                    let sum =
                        f64::from(take(&a, 0, i)) * f64::from(take(&b, 1, i)) + f64::from(take(&c, 2, i));
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
                            flush(exact(take(&a, 0, i), take(&b, 1, i), take(&c, 2, i)).to_bits(), keep_out);
                    }
                }
                match out.iter().fold(0, |nan, &v| nan | not_a_number(v)) {
                    0 => self.put(0, &out),
                    _ => self.put_with_nan::<3>(out),
                }
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

    /// The lanes where a relation of f32 sources holds.
    #[inline(always)]
    pub fn test_f32(&mut self, f: impl Fn(f32, f32) -> bool) -> Mask {
        let keep = self.keep_in32();
        let f = move |a, b| f(f32::from_bits(a), f32::from_bits(b));
        if keep == !0 && !self.modified { self.test_bits(f) } else { self.test(keep, f) }
    }

    /// The lanes where a test of 32-bit sources holds; float modifiers apply, denormals become `keep` of them.
    #[inline(never)]
    pub fn test(&mut self, keep: u32, f: impl Fn(u32, u32) -> bool) -> Mask {
        vector(
            #[inline(always)]
            move || {
                if !self.modified {
                    return self.pairs(|a, b| f(flush(a, keep), flush(b, keep)));
                }
                let (and, xor) = (self.and, self.xor);
                let [a, b]: [Row; 2] = rows(self.file, &self.src);
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
            move || self.pairs(f),
        )
    }

    /// The lanes where a test of the first two sources as they stand holds.
    #[inline(always)]
    fn pairs(&self, f: impl Fn(u32, u32) -> bool) -> Mask {
        let [a, b]: [Row; 2] = rows(self.file, &self.src);
        let mut found = [0; LANES];
        for i in 0..LANES {
            found[i] = f(a[i], b[i]).into();
        }
        pack(&found) & self.lanes
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
            Src::Copy(row) if d == 0 => row[lane],
            Src::Copy(_) => 0,
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
                Src::Copy(row) => row[i].into(),
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

#[inline(always)]
fn mad([a, b, c]: [f32; 3]) -> f32 {
    f32::from_bits(flush((a * b).to_bits(), keep(false))) + c
}
