//! The row engine: operands are a row of the file or a splat, operations run over chunks of 8 lanes and are
//! blended by mask. The file is the wave's registers, or a small copy when modifiers prepared the operands.

use super::super::state::mode;
use crate::Mask;
use crate::lanes::CHUNK;

pub(super) type Chunk = [u32; CHUNK];
pub(super) type Wide = [u64; CHUNK];
/// Chunks of a row: the engine knows only full waves; narrower ones run on a copy.
pub(super) const PER_ROW: usize = 8;
pub(super) type Row = [Chunk; PER_ROW];

/// Bit of each lane in the mask byte of its chunk.
const BIT: Chunk = [1, 2, 4, 8, 16, 32, 64, 128];

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

/// A value per lane. Plain loops here and below: closures of array methods do not become vector code.
#[inline(always)]
fn lanes<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; CHUNK] {
    let mut out = [T::default(); CHUNK];
    for i in 0..CHUNK {
        out[i] = f(i);
    }
    out
}

/// The first `N` sources.
#[inline(always)]
fn sources<const N: usize, T: Copy + Default>(f: impl Fn(usize) -> [T; CHUNK]) -> [[T; CHUNK]; N] {
    let mut out = [[T::default(); CHUNK]; N];
    for s in 0..N {
        out[s] = f(s);
    }
    out
}

/// Lane `i` of every source.
#[inline(always)]
fn lane<const N: usize, T: Copy + Default>(src: &[[T; CHUNK]; N], i: usize) -> [T; N] {
    let mut out = [T::default(); N];
    for s in 0..N {
        out[s] = src[s][i];
    }
    out
}

#[inline(always)]
fn map<const N: usize>(src: [Chunk; N], f: impl Fn([u32; N]) -> u32) -> Chunk {
    lanes(|i| f(lane(&src, i)))
}

#[inline(always)]
fn floats<const N: usize>(v: [u32; N]) -> [f32; N] {
    let mut out = [0.0; N];
    for s in 0..N {
        out[s] = f32::from_bits(v[s]);
    }
    out
}

#[inline(always)]
fn doubles<const N: usize>(v: [u64; N]) -> [f64; N] {
    let mut out = [0.0; N];
    for s in 0..N {
        out[s] = f64::from_bits(v[s]);
    }
    out
}

/// `f` of f32 values.
#[inline(always)]
fn map_f32<const N: usize>(src: [Chunk; N], f: impl Fn([f32; N]) -> f32) -> Chunk {
    map(src, |v| f(floats(v)).to_bits())
}

/// Replaces a denormal f32 by what `keep` leaves of it.
#[inline(always)]
pub(super) fn flush(v: u32, keep: u32) -> u32 {
    let number = if (v & 0x7fff_ffff) as i32 > 0x007f_ffff { !0 } else { 0 };
    v & (number | keep)
}

#[inline(always)]
fn flush32(x: Chunk, keep: u32) -> Chunk {
    lanes(|i| flush(x[i], keep))
}

#[inline(always)]
fn flushed<const N: usize>(src: [Chunk; N], keep: u32) -> [Chunk; N] {
    sources(|s| flush32(src[s], keep))
}

#[inline(always)]
pub(super) fn flush64(x: u64) -> u64 {
    if x & 0x7ff0_0000_0000_0000 == 0 { x & (1 << 63) } else { x }
}

#[inline(always)]
fn any_nan(x: &Chunk) -> bool {
    let mut any = false;
    for i in 0..CHUNK / 2 {
        any |= f32::from_bits(x[i]).is_nan() | f32::from_bits(x[i + CHUNK / 2]).is_nan();
    }
    any
}

#[inline(always)]
fn any_nan64(x: &Wide) -> bool {
    let mut any = false;
    for i in 0..CHUNK / 2 {
        any |= f64::from_bits(x[i]).is_nan() | f64::from_bits(x[i + CHUNK / 2]).is_nan();
    }
    any
}

/// The mask byte of a chunk of all-ones and zeros.
#[inline(always)]
fn byte(x: Chunk) -> u64 {
    let mut bits = 0;
    for i in 0..CHUNK {
        bits |= x[i] & BIT[i];
    }
    bits.into()
}

#[inline(always)]
fn ones(condition: bool) -> u32 {
    if condition { u32::MAX } else { 0 }
}

/// A [`Cx`] in pieces the compiler keeps in registers, with splats spread out so that every source is read
/// from memory the same way.
struct Run<'a> {
    file: &'a mut [Row],
    dst: usize,
    /// Row of each source; splats have a row of their own in `splat`.
    row: [usize; 3],
    splat: [Option<[Chunk; 2]>; 3],
    and: [u32; 3],
    xor: [u32; 3],
    lanes: Mask,
}

impl Run<'_> {
    #[inline(always)]
    fn raw(&self, s: usize, c: usize) -> Chunk {
        *match &self.splat[s] {
            None => &self.file[self.row[s]][c],
            Some(splat) => &splat[0],
        }
    }

    /// A float source of at most 32 bits.
    #[inline(always)]
    fn float(&self, s: usize, c: usize) -> Chunk {
        let x = self.raw(s, c);
        let (and, xor) = (self.and[s], self.xor[s]);
        lanes(|i| x[i] & and ^ xor)
    }

    #[inline(always)]
    fn high(&self, s: usize, c: usize) -> Chunk {
        *match &self.splat[s] {
            None => &self.file[self.row[s] + 1][c],
            Some(splat) => &splat[1],
        }
    }

    #[inline(always)]
    fn wide(&self, s: usize, c: usize) -> Wide {
        let (low, high) = (self.raw(s, c), self.high(s, c));
        lanes(|i| u64::from(low[i]) | u64::from(high[i]) << 32)
    }

    /// A 64-bit float source.
    #[inline(always)]
    fn double<const FLUSH: bool>(&self, s: usize, c: usize) -> Wide {
        let (low, high) = (self.raw(s, c), self.high(s, c));
        let (and, xor) = (self.and[s], self.xor[s]);
        let x: Wide = lanes(|i| u64::from(low[i]) | u64::from(high[i] & and ^ xor) << 32);
        if FLUSH { lanes(|i| flush64(x[i])) } else { x }
    }

    #[inline(always)]
    fn byte(&self, c: usize) -> u8 {
        (self.lanes >> (c * CHUNK)) as u8
    }

    #[inline(always)]
    fn put(&mut self, row: usize, c: usize, out: Chunk) {
        let lanes = u32::from(self.byte(c));
        let old = &mut self.file[self.dst + row][c];
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
        self.put(0, c, lanes(|i| out[i] as u32));
        self.put(1, c, lanes(|i| (out[i] >> 32) as u32));
    }

    /// Writes f32 results: flushed, NaN made the machine's.
    #[inline(always)]
    fn put_f32<const N: usize>(&mut self, c: usize, out: Chunk, src: [Chunk; N], keep: u32) {
        let out = flush32(out, keep);
        if any_nan(&out) { self.put_nan32(c, out, src) } else { self.put(0, c, out) }
    }

    /// NaN results: the first NaN source, quieted, else the machine's own NaN.
    #[cold]
    #[inline(never)]
    fn put_nan32<const N: usize>(&mut self, c: usize, out: Chunk, src: [Chunk; N]) {
        let nan = |v: u32| f32::from_bits(v).is_nan();
        let fix = |i: usize| match nan(out[i]) {
            true => src.iter().map(|s| s[i]).find(|&v| nan(v)).map_or(NAN32, |v| v | QUIET32),
            false => out[i],
        };
        self.put(0, c, lanes(fix));
    }

    #[cold]
    #[inline(never)]
    fn put_nan64<const N: usize>(&mut self, c: usize, out: Wide, src: [Wide; N]) {
        let nan = |v: u64| f64::from_bits(v).is_nan();
        let fix = |i: usize| match nan(out[i]) {
            true => src.iter().map(|s| s[i]).find(|&v| nan(v)).map_or(NAN64, |v| v | QUIET64),
            false => out[i],
        };
        self.put_wide(c, lanes(fix));
    }
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
    fn start(&mut self) -> Run<'_> {
        let mut row = [0; 3];
        let mut splat = [None; 3];
        for s in 0..3 {
            match self.src[s] {
                Src::Row(r) => row[s] = r,
                Src::Splat(v) => splat[s] = Some([[v as u32; CHUNK], [(v >> 32) as u32; CHUNK]]),
            }
        }
        Run { file: self.file, dst: self.dst, row, splat, and: self.and, xor: self.xor, lanes: self.lanes }
    }

    /// Runs `f` on every chunk that has a lane.
    #[inline(always)]
    fn each(&mut self, mut f: impl FnMut(&mut Run, usize)) {
        let mut run = self.start();
        for c in 0..PER_ROW {
            if run.byte(c) != 0 {
                f(&mut run, c);
            }
        }
    }

    /// 32-bit operations without float modifiers.
    #[inline(never)]
    pub fn map<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        self.each(|run, c| {
            let out = map::<N>(sources(|s| run.raw(s, c)), &f);
            run.put(0, c, out);
        });
    }

    /// The same with the lane's number.
    #[inline(never)]
    pub fn map_lane(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        self.each(|run, c| {
            let (a, b) = (run.raw(0, c), run.raw(1, c));
            run.put(0, c, lanes(|i| f((c * CHUNK + i) as u32, a[i], b[i])));
        });
    }

    /// `f(a, b, bit)` with the bit of the mask read.
    #[inline(never)]
    pub fn map_bit(&mut self, f: impl Fn(u32, u32, bool) -> u32) {
        let mask = self.mask_in;
        self.each(|run, c| {
            let (a, b) = (run.raw(0, c), run.raw(1, c));
            let bits = (mask >> (c * CHUNK)) as u32;
            run.put(0, c, lanes(|i| f(a[i], b[i], bits & BIT[i] != 0)));
        });
    }

    /// `f(a, b, carry)` gives the sum, and the carry as all-ones or zero.
    #[inline(never)]
    pub fn map_carry(&mut self, f: impl Fn(u32, u32, u32) -> (u32, u32)) {
        let mask = self.mask_in;
        let mut carries = 0;
        self.each(|run, c| {
            let (a, b) = (run.raw(0, c), run.raw(1, c));
            let bits = (mask >> (c * CHUNK)) as u32;
            let carry: Chunk = lanes(|i| if bits & BIT[i] != 0 { 1 } else { 0 });
            let out = lanes(|i| f(a[i], b[i], carry[i]).0);
            carries |= byte(lanes(|i| f(a[i], b[i], carry[i]).1)) << (c * CHUNK);
            run.put(0, c, out);
        });
        self.mask_out = carries & self.lanes;
    }

    /// 32-bit sources with float modifiers, nothing else done to them.
    #[inline(never)]
    pub fn map_float<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        self.each(|run, c| {
            let out = map::<N>(sources(|s| run.float(s, c)), &f);
            run.put(0, c, out);
        });
    }

    /// f32 sources flushed, a result that is no float.
    #[inline(never)]
    pub fn from_f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        let keep = self.keep_in32();
        self.each(|run, c| {
            let src = flushed::<N>(sources(|s| run.float(s, c)), keep);
            run.put(0, c, map(src, |v| f(floats(v))));
        });
    }

    /// A chunk operation on f32: sources and results flushed, NaN results made the machine's.
    #[inline(always)]
    fn chunks_f32<const N: usize>(&mut self, keep: (u32, u32), f: impl Fn([Chunk; N]) -> Chunk) {
        self.each(|run, c| {
            let src = flushed::<N>(sources(|s| run.float(s, c)), keep.0);
            run.put_f32(c, f(src), src, keep.1);
        });
    }

    /// f32 arithmetic under MODE.
    #[inline(never)]
    pub fn f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        let keep = (self.keep_in32(), self.keep_out32());
        self.chunks_f32(keep, |src| map_f32(src, &f));
    }

    /// f32 arithmetic that never sees or makes denormals.
    #[inline(never)]
    pub fn f32_flushing<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        self.chunks_f32((keep(false), keep(false)), |src| map_f32(src, &f));
    }

    /// `f` over chunks of three sources under MODE.
    #[inline(never)]
    pub fn f32_chunks(&mut self, f: impl Fn(Chunk, Chunk, Chunk) -> Chunk) {
        let keep = (self.keep_in32(), self.keep_out32());
        self.chunks_f32(keep, |[a, b, c]| f(a, b, c));
    }

    /// `a * b + c`, unfused, without denormals, of the product neither.
    #[inline(never)]
    pub fn mad_f32(&mut self) {
        self.chunks_f32((keep(false), keep(false)), mad);
    }

    /// `a * b + dst`, the same. The accumulator's NaN comes last.
    #[inline(never)]
    pub fn mac_f32(&mut self) {
        let flush = keep(false);
        self.each(|run, c| {
            let src = flushed([run.float(0, c), run.float(1, c), run.file[run.dst][c]], flush);
            run.put_f32(c, mad(src), src, flush);
        });
    }

    /// Two sources with float modifiers, and the old destination.
    #[inline(never)]
    pub fn mac(&mut self, f: impl Fn(u32, u32, u32) -> u32) {
        self.each(|run, c| {
            let src = [run.float(0, c), run.float(1, c), run.file[run.dst][c]];
            run.put(0, c, map(src, |[a, b, old]| f(a, b, old)));
        });
    }

    /// 64-bit results of a 32-bit and a 64-bit source.
    #[inline(never)]
    pub fn map_shift(&mut self, f: impl Fn(u32, u64) -> u64) {
        self.each(|run, c| {
            let (a, b) = (run.raw(0, c), run.wide(1, c));
            run.put_wide(c, lanes(|i| f(a[i], b[i])));
        });
    }

    /// 64-bit multiply-add: two 32-bit sources and a 64-bit one; also gives a carry.
    #[inline(never)]
    pub fn map_mad64(&mut self, f: impl Fn(u32, u32, u64) -> (u64, bool)) {
        let mut carries = 0;
        self.each(|run, c| {
            let (a, b, add) = (run.raw(0, c), run.raw(1, c), run.wide(2, c));
            let out = lanes(|i| f(a[i], b[i], add[i]).0);
            carries |= byte(lanes(|i| ones(f(a[i], b[i], add[i]).1))) << (c * CHUNK);
            run.put_wide(c, out);
        });
        self.mask_out = carries & self.lanes;
    }

    /// f64 arithmetic under MODE.
    #[inline(always)]
    pub fn f64<const N: usize>(&mut self, f: impl Fn([f64; N]) -> f64) {
        self.f64_with::<N, true>(f);
    }

    /// The same; without `FIX` the operation says itself which NaN it gives.
    #[inline(always)]
    pub fn f64_with<const N: usize, const FIX: bool>(&mut self, f: impl Fn([f64; N]) -> f64) {
        match (self.flush_in64(), self.flush_out64()) {
            (false, false) => self.chunks_f64::<N, FIX, false, false>(f),
            (true, true) => self.chunks_f64::<N, FIX, true, true>(f),
            (true, false) => self.chunks_f64::<N, FIX, true, false>(f),
            (false, true) => self.chunks_f64::<N, FIX, false, true>(f),
        }
    }

    #[inline(never)]
    fn chunks_f64<const N: usize, const FIX: bool, const IN: bool, const OUT: bool>(
        &mut self,
        f: impl Fn([f64; N]) -> f64,
    ) {
        self.each(|run, c| {
            let src: [Wide; N] = sources(|s| run.double::<IN>(s, c));
            let out: Wide = lanes(|i| f(doubles(lane(&src, i))).to_bits());
            let out = if OUT { lanes(|i| flush64(out[i])) } else { out };
            if FIX && any_nan64(&out) { run.put_nan64(c, out, src) } else { run.put_wide(c, out) }
        });
    }

    /// An f64 and an i32 source.
    #[inline(never)]
    pub fn f64_int(&mut self, f: impl Fn(f64, i32) -> f64) {
        let (flush_in, flush_out) = (self.flush_in64(), self.flush_out64());
        self.each(|run, c| {
            let a = if flush_in { run.double::<true>(0, c) } else { run.double::<false>(0, c) };
            let b = run.raw(1, c);
            let out: Wide = lanes(|i| f(f64::from_bits(a[i]), b[i] as i32).to_bits());
            let out = if flush_out { lanes(|i| flush64(out[i])) } else { out };
            if any_nan64(&out) { run.put_nan64(c, out, [a]) } else { run.put_wide(c, out) }
        });
    }

    /// An f64 source, a result of 32 bits.
    #[inline(always)]
    pub fn from_f64(&mut self, f: impl Fn(f64) -> u32) {
        if self.flush_in64() { self.chunks_from_f64::<true>(f) } else { self.chunks_from_f64::<false>(f) }
    }

    #[inline(never)]
    fn chunks_from_f64<const FLUSH: bool>(&mut self, f: impl Fn(f64) -> u32) {
        self.each(|run, c| {
            let a = run.double::<FLUSH>(0, c);
            run.put(0, c, lanes(|i| f(f64::from_bits(a[i]))));
        });
    }

    /// 64-bit results of 32 bits (float modifiers apply where the source is a float).
    #[inline(never)]
    pub fn to_wide(&mut self, f: impl Fn(u32) -> u64) {
        self.each(|run, c| {
            let a = run.float(0, c);
            run.put_wide(c, lanes(|i| f(a[i])));
        });
    }

    /// Bits of f64 sources with modifiers, never flushed.
    #[inline(never)]
    pub fn map_double<const N: usize>(&mut self, f: impl Fn([u64; N]) -> u64) {
        self.each(|run, c| {
            let src: [Wide; N] = sources(|s| run.double::<false>(s, c));
            run.put_wide(c, lanes(|i| f(lane(&src, i))));
        });
    }

    /// The lanes where a test of 32-bit sources holds; float modifiers apply, denormals become `keep` of them.
    #[inline(never)]
    pub fn test(&mut self, keep: u32, f: impl Fn(u32, u32) -> bool) -> Mask {
        let mut found = 0;
        self.each(|run, c| {
            let [a, b] = flushed([run.float(0, c), run.float(1, c)], keep);
            found |= byte(lanes(|i| ones(f(a[i], b[i])))) << (c * CHUNK);
        });
        found & self.lanes
    }

    /// The same without modifiers and denormals.
    #[inline(never)]
    pub fn test_bits(&mut self, f: impl Fn(u32, u32) -> bool) -> Mask {
        let mut found = 0;
        self.each(|run, c| {
            let (a, b) = (run.raw(0, c), run.raw(1, c));
            found |= byte(lanes(|i| ones(f(a[i], b[i])))) << (c * CHUNK);
        });
        found & self.lanes
    }

    /// A test of 64-bit sources, with modifiers and flushed if `FLUSH`.
    #[inline(never)]
    pub fn test_wide<const FLUSH: bool>(&mut self, f: impl Fn(u64, u64) -> bool) -> Mask {
        let mut found = 0;
        self.each(|run, c| {
            let (a, b) = (run.double::<FLUSH>(0, c), run.double::<FLUSH>(1, c));
            found |= byte(lanes(|i| ones(f(a[i], b[i])))) << (c * CHUNK);
        });
        found & self.lanes
    }

    /// A test of an f64 as it stands against a 32-bit source.
    pub fn test_class64(&mut self, f: impl Fn(u64, u32) -> bool) -> Mask {
        let mut found = 0;
        self.each(|run, c| {
            let (a, b) = (run.double::<false>(0, c), run.raw(1, c));
            found |= byte(lanes(|i| ones(f(a[i], b[i])))) << (c * CHUNK);
        });
        found & self.lanes
    }

    /// The four dwords of a source in every lane.
    pub fn quad(&self, s: usize) -> [[u32; 4]; 64] {
        let dword = |lane: usize, d: usize| match self.src[s] {
            Src::Row(row) => self.file[row + d][lane / CHUNK][lane % CHUNK],
            Src::Splat(v) if d == 0 => v as u32,
            Src::Splat(_) => 0,
        };
        std::array::from_fn(|lane| std::array::from_fn(|d| dword(lane, d)))
    }

    /// Lane by lane, for operations no compiler hurries: sources as 64 bits, without modifiers (those come
    /// through the prepared path); results of up to four dwords and a mask bit.
    pub fn slow(&mut self, dwords: usize, f: impl Fn(usize, [u64; 3]) -> ([u32; 4], bool)) {
        let mut mask = 0;
        for lane in crate::lanes::bits(self.lanes) {
            let (c, i) = (lane as usize / CHUNK, lane as usize % CHUNK);
            let src = self.src.map(|s| match s {
                Src::Row(row) => {
                    let low = self.file[row][c][i];
                    let high = self.file.get(row + 1).map_or(0, |high| high[c][i]);
                    u64::from(low) | u64::from(high) << 32
                }
                Src::Splat(v) => v,
            });
            let (out, bit) = f(lane as usize, src);
            for (d, v) in out.iter().take(dwords).enumerate() {
                self.file[self.dst + d][c][i] = *v;
            }
            mask |= u64::from(bit) << lane;
        }
        self.mask_out = mask;
    }
}

#[inline(always)]
fn mad([a, b, c]: [Chunk; 3]) -> Chunk {
    let product = flush32(map_f32([a, b], |[a, b]| a * b), keep(false));
    map_f32([product, c], |[p, c]| p + c)
}
