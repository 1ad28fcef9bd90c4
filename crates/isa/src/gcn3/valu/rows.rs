//! The row engine: operands are a row of the file or a splat, operations run over whole rows of 64 lanes in
//! plain loops the compiler vectorises, into a row on the stack that is blended by mask. The file is the
//! wave's registers, or a small copy when modifiers prepared the operands.

use super::super::state::mode;
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
pub(super) const NAN64: u64 = 0xfff8_0000_0000_0000;
pub(super) const QUIET32: u32 = 1 << 22;
pub(super) const QUIET64: u64 = 1 << 51;

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
pub(super) fn flush64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 { x & (1 << 63) } else { x }
}

#[inline(always)]
fn wide(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

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
fn pack(flags: &[u8; LANES]) -> Mask {
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
fn fetch<'x>(file: &'x [Row], src: Src, high: bool, buffer: &'x mut Option<Row>) -> &'x Row {
    match src {
        Src::Row(row) => &file[row + usize::from(high)],
        Src::Splat(v) => buffer.insert([(v >> if high { 32 } else { 0 }) as u32; LANES]),
    }
}

/// The first `N` sources as rows.
macro_rules! rows {
    ($cx:expr, $n:ident, $name:ident) => {
        let mut buffers: [Option<Row>; $n] = [const { None }; $n];
        let mut next = buffers.iter_mut();
        let file: &[Row] = $cx.file;
        let $name: [&Row; $n] =
            from_fn(|s| fetch(file, $cx.src[s], false, next.next().expect("a buffer for each source")));
    };
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
    fn put(&mut self, row: usize, out: &Row) {
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
        rows!(self, N, src);
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = f(src.map(|s| s[i]));
        }
        self.put(0, &out);
    }

    /// The same with the lane's number.
    #[inline(never)]
    pub fn map_lane(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        row!(self, 0, a);
        row!(self, 1, b);
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = f(i as u32, a[i], b[i]);
        }
        self.put(0, &out);
    }

    /// `f(a, b, bit)` with the bit of the mask read as 0 or 1.
    #[inline(never)]
    pub fn map_bit(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        row!(self, 0, a);
        row!(self, 1, b);
        let bits = unpack(self.mask_in);
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = f(a[i], b[i], bits[i]);
        }
        self.put(0, &out);
    }

    /// `f(a, b)` gives the sum and the carry.
    #[inline(never)]
    pub fn map_add(&mut self, f: impl Fn(u32, u32) -> (u32, bool)) {
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
    }

    /// The same with the carry read.
    #[inline(never)]
    pub fn map_carry(&mut self, f: impl Fn(u32, u32, u32) -> (u32, bool)) {
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
    }

    /// 32-bit sources with float modifiers, nothing else done to them.
    #[inline(never)]
    pub fn map_float<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        let (and, xor) = (self.and, self.xor);
        rows!(self, N, src);
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = f(from_fn(|s| src[s][i] & and[s] ^ xor[s]));
        }
        self.put(0, &out);
    }

    /// The same with the active lanes only, for what does not vectorise.
    #[inline(never)]
    pub fn map_float_heavy<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        let (and, xor) = (self.and, self.xor);
        rows!(self, N, src);
        let mut out = [0; LANES];
        for lane in bits(self.lanes) {
            let i = lane as usize;
            out[i] = f(from_fn(|s| src[s][i] & and[s] ^ xor[s]));
        }
        self.put(0, &out);
    }

    /// f32 sources flushed, a result that is no float.
    #[inline(never)]
    pub fn from_f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        let keep = self.keep_in32();
        let (and, xor) = (self.and, self.xor);
        rows!(self, N, src);
        let mut out = [0; LANES];
        for i in 0..LANES {
            out[i] = f(from_fn(|s| f32::from_bits(flush(src[s][i] & and[s] ^ xor[s], keep))));
        }
        self.put(0, &out);
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
        let (and, xor) = (self.and, self.xor);
        rows!(self, N, src);
        let mut out = [0; LANES];
        for i in 0..LANES {
            let v = f(from_fn(|s| f32::from_bits(flush(src[s][i] & and[s] ^ xor[s], keep_in))));
            out[i] = flush(v.to_bits(), keep_out);
        }
        if any_nan(&out) {
            fix_nan32(&mut out, src, and, xor);
        }
        self.put(0, &out);
    }

    /// f32 functions that do not vectorise, without denormals: active lanes only.
    #[inline(never)]
    pub fn f32_heavy(&mut self, f: impl Fn(f32) -> f32) {
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, src);
        let flushed = keep(false);
        let mut out = [0; LANES];
        for lane in bits(self.lanes) {
            let i = lane as usize;
            out[i] = flush(f(f32::from_bits(flush(src[i] & and[0] ^ xor[0], flushed))).to_bits(), flushed);
        }
        if any_nan(&out) {
            fix_nan32(&mut out, [src], and, xor);
        }
        self.put(0, &out);
    }

    /// Fused multiply-add under MODE. The sum in f64 rounds right to f32 unless it lies on a tie or among
    /// the denormals; then `exact` decides.
    #[inline(never)]
    pub fn fma_f32(&mut self, exact: impl Fn(f32, f32, f32) -> f32) {
        let (keep_in, keep_out) = (self.keep_in32(), self.keep_out32());
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, a);
        row!(self, 1, b);
        row!(self, 2, c);
        let take = |row: &Row, s: usize, i: usize| f32::from_bits(flush(row[i] & and[s] ^ xor[s], keep_in));
        let mut out = [0; LANES];
        let mut doubtful = 0;
        for i in 0..LANES {
            let sum = f64::from(take(a, 0, i)) * f64::from(take(b, 1, i)) + f64::from(take(c, 2, i));
            let bits = sum.to_bits();
            doubtful |= if bits as u32 & 0x1fff_ffff == 0x1000_0000 { 1 } else { 0 };
            // Below twice the least normal f32, zero excepted.
            let high = (bits >> 32) as u32 & 0x7fff_ffff;
            doubtful |= if (high.wrapping_add(0x7fff_ffff) as i32) < 0xb81f_ffff_u32 as i32 { 1 } else { 0 };
            out[i] = flush((sum as f32).to_bits(), keep_out);
        }
        if doubtful != 0 {
            for i in 0..LANES {
                out[i] = flush(exact(take(a, 0, i), take(b, 1, i), take(c, 2, i)).to_bits(), keep_out);
            }
        }
        if any_nan(&out) {
            fix_nan32(&mut out, [a, b, c], and, xor);
        }
        self.put(0, &out);
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

    /// 64-bit results of a 32-bit and a 64-bit source.
    #[inline(never)]
    pub fn map_shift(&mut self, f: impl Fn(u32, u64) -> u64) {
        row!(self, 0, a);
        row!(self, 1, low, high);
        let mut out = [[0; LANES]; 2];
        for i in 0..LANES {
            let v = f(a[i], wide(low[i], high[i]));
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
        }
        self.put(0, &out[0]);
        self.put(1, &out[1]);
    }

    /// 64-bit multiply-add: two 32-bit sources and a 64-bit one; also gives a carry.
    #[inline(never)]
    pub fn map_mad64(&mut self, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
        row!(self, 0, a);
        row!(self, 1, b);
        row!(self, 2, low, high);
        let (mut out, mut carries) = ([[0; LANES]; 2], [0; LANES]);
        for i in 0..LANES {
            let (v, carry) = f(a[i], b[i], wide(low[i], high[i]));
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
            carries[i] = carry.into();
        }
        self.put(0, &out[0]);
        self.put(1, &out[1]);
        self.mask_out = pack(&carries) & self.lanes;
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
    fn arithmetic64<const N: usize, const FIX: bool, const FLUSH: bool>(&mut self, f: impl Fn([f64; N]) -> f64) {
        let (flush_in, flush_out) = (FLUSH && self.flush_in64(), FLUSH && self.flush_out64());
        let (and, xor) = (self.and, self.xor);
        let mut buffers: [[Option<Row>; 2]; N] = [const { [None, None] }; N];
        let mut next = buffers.iter_mut();
        let file: &[Row] = self.file;
        let src: [[&Row; 2]; N] = from_fn(|s| {
            let [low, high] = next.next().expect("a buffer for each source");
            [fetch(file, self.src[s], false, low), fetch(file, self.src[s], true, high)]
        });
        let mut out = [[0; LANES]; 2];
        let mut nan = 0;
        for i in 0..LANES {
            let v = f(from_fn(|s| {
                let v = wide(src[s][0][i], src[s][1][i] & and[s] ^ xor[s]);
                f64::from_bits(if flush_in { flush64(v) } else { v })
            }));
            nan |= if v.is_nan() { u64::MAX } else { 0 };
            let v = if flush_out { flush64(v.to_bits()) } else { v.to_bits() };
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
        }
        if FIX && nan != 0 {
            fix_nan64(&mut out, src, and, xor);
        }
        self.put(0, &out[0]);
        self.put(1, &out[1]);
    }

    /// An f64 and an i32 source.
    #[inline(never)]
    pub fn f64_int(&mut self, f: impl Fn(f64, i32) -> f64) {
        let (flush_in, flush_out) = (self.flush_in64(), self.flush_out64());
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, low, high);
        row!(self, 1, b);
        let mut out = [[0; LANES]; 2];
        for lane in bits(self.lanes) {
            let i = lane as usize;
            let v = wide(low[i], high[i] & and[0] ^ xor[0]);
            let v = f(f64::from_bits(if flush_in { flush64(v) } else { v }), b[i] as i32).to_bits();
            let v = if flush_out { flush64(v) } else { v };
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
        }
        fix_nan64(&mut out, [[low, high]], and, xor);
        self.put(0, &out[0]);
        self.put(1, &out[1]);
    }

    /// An f64 source, a result of 32 bits.
    #[inline(never)]
    pub fn from_f64(&mut self, f: impl Fn(f64) -> u32) {
        let flush = self.flush_in64();
        let (and, xor) = (self.and[0], self.xor[0]);
        row!(self, 0, low, high);
        let mut out = [0; LANES];
        for i in 0..LANES {
            let v = wide(low[i], high[i] & and ^ xor);
            out[i] = f(f64::from_bits(if flush { flush64(v) } else { v }));
        }
        self.put(0, &out);
    }

    /// 64-bit results of 32 bits (float modifiers apply where the source is a float).
    #[inline(never)]
    pub fn to_wide(&mut self, f: impl Fn(u32) -> u64) {
        let (and, xor) = (self.and[0], self.xor[0]);
        row!(self, 0, a);
        let mut out = [[0; LANES]; 2];
        for i in 0..LANES {
            let v = f(a[i] & and ^ xor);
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
        }
        self.put(0, &out[0]);
        self.put(1, &out[1]);
    }

    /// Bits of two f64 sources with modifiers, never flushed.
    #[inline(never)]
    pub fn map_double(&mut self, f: impl Fn(u64, u64) -> u64) {
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, a, a_high);
        row!(self, 1, b, b_high);
        let mut out = [[0; LANES]; 2];
        for i in 0..LANES {
            let v = f(wide(a[i], a_high[i] & and[0] ^ xor[0]), wide(b[i], b_high[i] & and[1] ^ xor[1]));
            out[0][i] = v as u32;
            out[1][i] = (v >> 32) as u32;
        }
        self.put(0, &out[0]);
        self.put(1, &out[1]);
    }

    /// The lanes where a test of 32-bit sources holds; float modifiers apply, denormals become `keep` of them.
    #[inline(never)]
    pub fn test(&mut self, keep: u32, f: impl Fn(u32, u32) -> bool) -> Mask {
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, a);
        row!(self, 1, b);
        let mut found = [0; LANES];
        for i in 0..LANES {
            found[i] = f(flush(a[i] & and[0] ^ xor[0], keep), flush(b[i] & and[1] ^ xor[1], keep)).into();
        }
        pack(&found) & self.lanes
    }

    /// The same without modifiers and flushing.
    #[inline(never)]
    pub fn test_bits(&mut self, f: impl Fn(u32, u32) -> bool) -> Mask {
        row!(self, 0, a);
        row!(self, 1, b);
        let mut found = [0; LANES];
        for i in 0..LANES {
            found[i] = f(a[i], b[i]).into();
        }
        pack(&found) & self.lanes
    }

    /// A test of 64-bit sources, with modifiers and flushed if `FLUSH`.
    #[inline(never)]
    pub fn test_wide<const FLUSH: bool>(&mut self, f: impl Fn(u64, u64) -> bool) -> Mask {
        let (and, xor) = (self.and, self.xor);
        row!(self, 0, a, a_high);
        row!(self, 1, b, b_high);
        let mut found = [0; LANES];
        for i in 0..LANES {
            let (x, y) = (wide(a[i], a_high[i] & and[0] ^ xor[0]), wide(b[i], b_high[i] & and[1] ^ xor[1]));
            let (x, y) = if FLUSH { (flush64(x), flush64(y)) } else { (x, y) };
            found[i] = f(x, y).into();
        }
        pack(&found) & self.lanes
    }

    /// A test of an f64 as it stands against a 32-bit source.
    pub fn test_class64(&mut self, f: impl Fn(u64, u32) -> bool) -> Mask {
        let (and, xor) = (self.and[0], self.xor[0]);
        row!(self, 0, a, high);
        row!(self, 1, b);
        let mut found = [0; LANES];
        for i in 0..LANES {
            found[i] = f(wide(a[i], high[i] & and ^ xor), b[i]).into();
        }
        pack(&found) & self.lanes
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
#[inline(never)]
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

#[cold]
#[inline(never)]
fn fix_nan64<const N: usize>(out: &mut [Row; 2], src: [[&Row; 2]; N], and: [u32; 3], xor: [u32; 3]) {
    let nan = |v: u64| f64::from_bits(v).is_nan();
    for i in 0..LANES {
        if nan(wide(out[0][i], out[1][i])) {
            let found = (0..N).map(|s| wide(src[s][0][i], src[s][1][i] & and[s] ^ xor[s])).find(|&v| nan(v));
            let v = found.map_or(NAN64, |v| v | QUIET64);
            (out[0][i], out[1][i]) = (v as u32, (v >> 32) as u32);
        }
    }
}

#[inline(always)]
fn mad([a, b, c]: [f32; 3]) -> f32 {
    f32::from_bits(flush((a * b).to_bits(), keep(false))) + c
}
