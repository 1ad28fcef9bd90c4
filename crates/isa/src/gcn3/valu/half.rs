//! 16-bit operations, integer and float. Sources are the low halves, results have a zero high half.
//! Floats are computed in f32, in loops that vectorise: f32 has more than twice the bits of a half and two more, so that
//! rounding a sum, product, quotient or root again to half is as good as rounding once; a fused sum is rounded to odd
//! first. What is rounded more than once on its way is computed in f64, once for every half.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::op::Op;
use super::float::normalized;
use super::num::{self, NAN16, add_odd32, flush_half, half_nearest, half_value};
#[cfg(test)]
use super::num::{flush16, half_from_f64, half_to_f64};
use super::row_engine::{Cx, LANES, Row, Run, Src, each, rows};
use super::{div, transcendental};
use crate::vector::{nearest_halves, values_of_halves, vector};
use std::sync::LazyLock;

fn is_nan(h: u16) -> bool {
    h & 0x7fff > 0x7c00
}

#[inline(always)]
fn signed(v: u32) -> i32 {
    i32::from(v as i16)
}

#[inline(always)]
fn low(v: u32) -> u32 {
    v & 0xffff
}

/// What remains of a denormal: its sign, or everything.
#[inline(always)]
fn keep(flush: bool) -> u32 {
    if flush { 0x8000 } else { 0xffff }
}

/// A result that is a NaN, until it is known which one.
const SOME_NAN: u32 = u32::MAX;

/// What halves stand for.
type Values = [f32; LANES];

/// Values of the halves in the low bits.
#[inline(always)]
fn half_values(halves: &Row) -> Values {
    values_of_halves(halves, half_value)
}

/// The halves nearest to numbers, any of a NaN.
#[inline(always)]
fn halves_nearest(values: &Values) -> Row {
    nearest_halves(values, half_nearest)
}

impl Cx<'_> {
    /// f16 arithmetic under MODE; NaN results are the first NaN source, quieted, or the machine's.
    #[inline(always)]
    fn f16<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) {
        let (keep_in, keep_out) = (keep(self.flush_in64()), keep(self.flush_out64()));
        self.arithmetic16(
            keep_in,
            keep_out,
            #[inline(always)]
            |src: &[Values; N]| {
                let mut out = [0.0; LANES];
                for i in 0..LANES {
                    out[i] = f(each(|s| src[s][i]));
                }
                out
            },
        );
    }

    /// Multiply-add that never sees or makes denormals.
    #[inline(always)]
    fn mad_f16(&mut self) {
        self.arithmetic16(
            keep(true),
            keep(true),
            #[inline(always)]
            |[a, b, c]| mad(a, b, c),
        );
    }

    #[inline(never)]
    fn arithmetic16<const N: usize>(
        &mut self,
        keep_in: u32,
        keep_out: u32,
        f: impl Fn(&[Values; N]) -> Values,
    ) {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and, self.xor);
                let src: [Row; N] = rows(self.file, &self.src);
                let mut values = [[0.0; LANES]; N];
                for s in 0..N {
                    let mut kept = [0; LANES];
                    for i in 0..LANES {
                        kept[i] = flush_half(src[s][i] & and[s] ^ xor[s], keep_in);
                    }
                    values[s] = half_values(&kept);
                }
                let v = f(&values);
                let mut out = halves_nearest(&v);
                let mut nan = 0;
                for i in 0..LANES {
                    let h = flush_half(out[i], keep_out);
                    out[i] = if v[i].is_nan() { SOME_NAN } else { h };
                    nan |= out[i];
                }
                if nan >> 31 != 0 {
                    fix_nan16(&mut out, src.each_ref(), and, xor);
                }
                self.put(0, &out);
            },
        )
    }

    /// A function of one half, looked up: what the loops before and after do vectorises, looking does not. Four results are put together
    /// in a register, because the host waits when it reads as one what was written in many small pieces.
    #[inline(never)]
    fn f16_table(&mut self, results: &Results) {
        let (keep_in, keep_out) = (keep(self.flush_in64()), keep(self.flush_out64()));
        let results: &[u16; HALVES] = results;
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and[0], self.xor[0]);
                let [src]: [Row; 1] = rows(self.file, &self.src);
                let mut at = [0; LANES];
                for i in 0..LANES {
                    at[i] = flush_half(src[i] & and ^ xor, keep_in) as u16;
                }
                let mut fours = [0u64; LANES / 4];
                for i in 0..LANES / 4 {
                    let result = |k: usize| u64::from(results[usize::from(at[4 * i + k])]) << (16 * k);
                    fours[i] = (result(0) | result(1) | result(2) | result(3)).to_le();
                }
                let found: [u16; LANES] = pulp::cast(fours);
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = flush_half(u16::from_le(found[i]).into(), keep_out);
                }
                self.put(0, &out);
            },
        )
    }

    /// Values of f16 sources, flushed; a result that is no float.
    #[inline(always)]
    fn f16_values<const N: usize>(&mut self, f: impl Fn([f32; N]) -> u32) {
        let keep = keep(self.flush_in64());
        self.map_float(move |src: [u32; N]| f(each(|s| half_value(flush_half(src[s], keep)))));
    }

    /// Bits of f16 sources, flushed.
    #[inline(always)]
    fn f16_bits<const N: usize>(&mut self, f: impl Fn([u32; N]) -> u32) {
        let keep = keep(self.flush_in64());
        self.map_float(move |src: [u32; N]| f(each(|s| flush_half(src[s], keep))));
    }
}

/// How many halves there are.
const HALVES: usize = 1 << 16;

/// What a function gives for each half: for those that are computed in f64, in which a lane takes longer than a look at a table. Made
/// when an instruction first asks.
type Results = LazyLock<Box<[u16; HALVES]>>;

static RSQ: Results = LazyLock::new(|| results(|a| 1.0 / a.sqrt()));
static LOG: Results = LazyLock::new(|| results(transcendental::log2));
static EXP: Results = LazyLock::new(|| results(transcendental::exp2));
static SIN: Results = LazyLock::new(|| results(transcendental::sin));
static COS: Results = LazyLock::new(|| results(transcendental::cos));

/// Rounded once: to odd in f32, and then to a half.
fn results(f: impl Fn(f64) -> f64) -> Box<[u16; HALVES]> {
    let mut out = Box::new([0; HALVES]);
    for (h, out) in (0..).zip(out.iter_mut()) {
        let v = num::f32_odd(f(half_value(h).into()));
        *out = match is_nan(h as u16) {
            true => h as u16 | 0x200,
            false if v.is_nan() => NAN16,
            false => half_nearest(v) as u16,
        };
    }
    out
}

/// NaN results: the first NaN source, quieted, else the machine's own NaN.
#[cold]
#[inline(never)]
fn fix_nan16<const N: usize>(out: &mut Row, src: [&Row; N], and: [u32; 3], xor: [u32; 3]) {
    // Lanes that are off count, too: hence without branches.
    vector(
        #[inline(always)]
        move || {
            for i in 0..LANES {
                let mut own = NAN16.into();
                for s in (0..N).rev() {
                    let h = low(src[s][i] & and[s] ^ xor[s]);
                    own = if h & 0x7fff > 0x7c00 { h | 0x200 } else { own };
                }
                out[i] = if out[i] == SOME_NAN { own } else { out[i] };
            }
        },
    );
}

/// One lane in f64: the result is rounded once.
#[cfg(test)]
pub(super) fn half_op<const N: usize>(
    src: [u16; N],
    flush_in: bool,
    flush_out: bool,
    f: impl Fn([f64; N]) -> f64,
) -> u16 {
    let src = if flush_in { src.map(flush16) } else { src };
    let out = f(src.map(half_to_f64));
    if out.is_nan() {
        return src.into_iter().find(|&s| is_nan(s)).map_or(NAN16, |s| s | 0x200);
    }
    let out = half_from_f64(out, false);
    if flush_out { flush16(out) } else { out }
}

/// f16 minimum (or maximum with `max`), as of f32: a number wins over a NaN, −0 is below +0.
#[inline(always)]
fn minimum(a: u32, b: u32, max: bool, ieee: bool) -> u32 {
    let (a, b) = (low(a), low(b));
    let nan = |h: u32| h & 0x7fff > 0x7c00;
    let order = |h: u32| {
        let magnitude = (h & 0x7fff) as i32;
        if h & 0x8000 != 0 { -magnitude - 1 } else { magnitude }
    };
    let r = if (order(a) < order(b)) != max { a } else { b };
    let r = if nan(b) { a } else { r };
    let r = if nan(a) { b } else { r };
    let signalling = |h: u32| ieee & nan(h) & (h & 0x200 == 0);
    let r = if signalling(b) { b | 0x200 } else { r };
    if signalling(a) { a | 0x200 } else { r }
}

/// The middle of three; with a NaN the smallest of the others, as of f32.
fn median(a: u32, b: u32, c: u32, ieee: bool) -> u32 {
    if [a, b, c].iter().any(|&v| is_nan(v as u16)) {
        return minimum(minimum(a, b, false, ieee), c, false, ieee);
    }
    let least = minimum(a, b, false, ieee);
    let most = minimum(a, b, true, ieee);
    minimum(least, minimum(most, c, false, ieee), true, ieee)
}

/// Mantissa in [0.5, 1) and exponent of a half's value, which is no denormal as f32; others are their own mantissa, with 0.
#[inline(always)]
fn frexp(a: f32) -> (f32, u32) {
    let bits = a.to_bits();
    let number = (a != 0.0) & (a.abs() < f32::INFINITY);
    let mantissa = f32::from_bits(bits & 0x807f_ffff | 0x3f00_0000);
    let exponent = (bits >> 23 & 0xff).wrapping_sub(126);
    (if number { mantissa } else { a }, if number { exponent } else { 0 })
}

/// The product rounded on its own, without denormals.
#[inline(always)]
fn mad(a: &Values, b: &Values, c: &Values) -> Values {
    let mut p = [0.0; LANES];
    for i in 0..LANES {
        p[i] = a[i] * b[i];
    }
    let mut rounded = halves_nearest(&p);
    for i in 0..LANES {
        rounded[i] = flush_half(rounded[i], 0x8000);
    }
    let rounded = half_values(&rounded);
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        out[i] = (if p[i].is_nan() { p[i] } else { rounded[i] }) + c[i];
    }
    out
}

fn middle<T: Ord + Copy>([a, b, c]: [T; 3]) -> T {
    a.min(b).max(a.max(b).min(c))
}

fn sat(v: i64, low: i64, high: i64) -> u32 {
    v.clamp(low, high) as u32 & 0xffff
}

/// The loop of an operation on integers of 16 bits; with `clamp` only those that saturate.
pub(super) fn find_int(op: Op, clamp: bool) -> Option<Run> {
    if clamp {
        return saturated(op);
    }
    let run: Run = match op {
        Op::VAddU16 => |cx| cx.map(|[a, b]| low(a.wrapping_add(b))),
        Op::VSubU16 => |cx| cx.map(|[a, b]| low(a.wrapping_sub(b))),
        Op::VSubrevU16 => |cx| cx.map(|[a, b]| low(b.wrapping_sub(a))),
        Op::VMulLoU16 => |cx| cx.map(|[a, b]| low(a.wrapping_mul(b))),
        Op::VLshlrevB16 => |cx| cx.map(|[n, v]| low(v << (n & 15))),
        Op::VLshrrevB16 => |cx| cx.map(|[n, v]| low(v) >> (n & 15)),
        Op::VAshrrevI16 => |cx| cx.map(|[n, v]| low((signed(v) >> (n & 15)) as u32)),
        Op::VMaxU16 => |cx| cx.map(|[a, b]| low(a).max(low(b))),
        Op::VMinU16 => |cx| cx.map(|[a, b]| low(a).min(low(b))),
        Op::VMaxI16 => |cx| cx.map(|[a, b]| low(signed(a).max(signed(b)) as u32)),
        Op::VMinI16 => |cx| cx.map(|[a, b]| low(signed(a).min(signed(b)) as u32)),
        Op::VAddI16 => |cx| cx.map(|[a, b]| low(a.wrapping_add(b))),
        Op::VSubI16 => |cx| cx.map(|[a, b]| low(a.wrapping_sub(b))),
        Op::VMin3I16 => {
            |cx| cx.map(|v: [u32; 3]| low(v.map(signed).into_iter().fold(i32::MAX, i32::min) as u32))
        }
        Op::VMax3I16 => {
            |cx| cx.map(|v: [u32; 3]| low(v.map(signed).into_iter().fold(i32::MIN, i32::max) as u32))
        }
        Op::VMed3I16 => |cx| cx.map(|v: [u32; 3]| low(middle(v.map(signed)) as u32)),
        Op::VMin3U16 => |cx| cx.map(|[a, b, c]| low(a).min(low(b)).min(low(c))),
        Op::VMax3U16 => |cx| cx.map(|[a, b, c]| low(a).max(low(b)).max(low(c))),
        Op::VMed3U16 => |cx| cx.map(|v: [u32; 3]| middle(v.map(low))),
        Op::VMadU16 | Op::VMadI16 | Op::VMadOpselU16 | Op::VMadOpselI16 => {
            |cx| cx.map(|[a, b, c]| low(a.wrapping_mul(b).wrapping_add(c)))
        }
        Op::VCvtF16U16 => |cx| cx.map(|[a]| half_nearest(low(a) as i32 as f32)),
        Op::VCvtF16I16 => |cx| cx.map(|[a]| half_nearest(signed(a) as f32)),
        _ => return None,
    };
    Some(run)
}

fn saturated(op: Op) -> Option<Run> {
    fn unsigned(v: i64) -> u32 {
        sat(v, 0, 0xffff)
    }
    fn i(v: u32) -> i64 {
        signed(v).into()
    }
    fn u(v: u32) -> i64 {
        low(v).into()
    }
    let run: Run = match op {
        Op::VAddU16 => |cx| cx.map(|[a, b]| unsigned(u(a) + u(b))),
        Op::VSubU16 => |cx| cx.map(|[a, b]| unsigned(u(a) - u(b))),
        Op::VSubrevU16 => |cx| cx.map(|[a, b]| unsigned(u(b) - u(a))),
        Op::VAddI16 => |cx| cx.map(|[a, b]| sat(i(a) + i(b), -0x8000, 0x7fff)),
        Op::VSubI16 => |cx| cx.map(|[a, b]| sat(i(a) - i(b), -0x8000, 0x7fff)),
        Op::VMadU16 | Op::VMadOpselU16 => |cx| cx.map(|[a, b, c]| unsigned(u(a) * u(b) + u(c))),
        Op::VMadI16 | Op::VMadOpselI16 => |cx| cx.map(|[a, b, c]| sat(i(a) * i(b) + i(c), -0x8000, 0x7fff)),
        _ => return None,
    };
    Some(run)
}

/// The loop of an operation on floats of 16 bits; none if it is not one of these.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VAddF16 => |cx| cx.f16(|[a, b]| a + b),
        Op::VSubF16 => |cx| cx.f16(|[a, b]| a - b),
        Op::VSubrevF16 => |cx| cx.f16(|[a, b]| b - a),
        Op::VMulF16 => |cx| cx.f16(|[a, b]| a * b),
        Op::VFmaF16 | Op::VFmaOpselF16 => |cx| cx.f16(|[a, b, c]| add_odd32(a * b, c)),
        Op::VMadF16 | Op::VMadOpselF16 | Op::VMadmkF16 | Op::VMadakF16 => |cx| cx.mad_f16(),
        Op::VMacF16 => |cx| {
            cx.src[2] = Src::Row(cx.dst);
            cx.mad_f16();
        },
        Op::VMinF16 => |cx| cx.map_ieee(|[a, b], ieee| minimum(a, b, false, ieee)),
        Op::VMaxF16 => |cx| cx.map_ieee(|[a, b], ieee| minimum(a, b, true, ieee)),
        Op::VMin3F16 => {
            |cx| cx.map_ieee(|[a, b, c], ieee| minimum(minimum(a, b, false, ieee), c, false, ieee))
        }
        Op::VMax3F16 => |cx| cx.map_ieee(|[a, b, c], ieee| minimum(minimum(a, b, true, ieee), c, true, ieee)),
        Op::VMed3F16 => |cx| cx.map_ieee(|[a, b, c], ieee| median(a, b, c, ieee)),
        // As it stands: nothing is flushed or quieted.
        Op::VPackB32F16 => |cx| cx.map_float(|[a, b]| low(a) | low(b) << 16),
        Op::VCvtPknormI16F16 => |cx| {
            cx.f16_values(|[a, b]| normalized(a, -1.0, 32767.0) | normalized(b, -1.0, 32767.0) << 16);
        },
        Op::VCvtPknormU16F16 => |cx| {
            cx.f16_values(|[a, b]| normalized(a, 0.0, 65535.0) | normalized(b, 0.0, 65535.0) << 16);
        },
        Op::VCvtNormI16F16 => |cx| cx.f16_values(|[a]| normalized(a, -1.0, 32767.0)),
        Op::VCvtNormU16F16 => |cx| cx.f16_values(|[a]| normalized(a, 0.0, 65535.0)),
        Op::VFloorF16 => |cx| cx.f16(|[a]| num::floor32(a)),
        Op::VCeilF16 => |cx| cx.f16(|[a]| num::ceil32(a)),
        Op::VTruncF16 => |cx| cx.f16(|[a]| num::trunc32(a)),
        Op::VRndneF16 => |cx| cx.f16(|[a]| num::rndne32(a)),
        // Never 1: the largest half below it is the limit.
        Op::VFractF16 => |cx| {
            cx.f16(|[a]| {
                let r = a - num::floor32(a);
                if r > 2047.0 / 2048.0 { 2047.0 / 2048.0 } else { r }
            });
        },
        Op::VFrexpMantF16 => |cx| cx.f16(|[a]| frexp(a).0),
        Op::VFrexpExpI16F16 => |cx| cx.f16_values(|[a]| low(frexp(a).1)),
        Op::VCvtU16F16 => |cx| cx.f16_values(|[a]| num::whole(num::trunc32(a).into(), 0.0, 65535.0)),
        Op::VCvtI16F16 => {
            |cx| cx.f16_values(|[a]| low(num::whole(num::trunc32(a).into(), -32768.0, 32767.0)))
        }
        Op::VLdexpF16 => |cx| {
            let (keep_in, keep_out) = (keep(cx.flush_in64()), keep(cx.flush_out64()));
            cx.map_float(move |[a, n]| {
                let a = flush_half(a, keep_in);
                // A half moved so far is still an ordinary f32.
                let power = f32::from_bits(((127 + signed(n).clamp(-100, 100)) as u32) << 23);
                let out = flush_half(half_nearest(half_value(a) * power), keep_out);
                if a & 0x7fff > 0x7c00 { a | 0x200 } else { out }
            });
        },
        Op::VDivFixupF16 | Op::VDivFixupOpselF16 => |cx| cx.f16_bits(|[q, d, n]| div::fixup16(q, d, n)),
        Op::VRcpF16 => |cx| cx.f16(|[a]| 1.0 / a),
        Op::VSqrtF16 => |cx| cx.f16(|[a]| a.sqrt()),
        Op::VRsqF16 => |cx| cx.f16_table(&RSQ),
        Op::VLogF16 => |cx| cx.f16_table(&LOG),
        Op::VExpF16 => |cx| cx.f16_table(&EXP),
        Op::VSinF16 => |cx| cx.f16_table(&SIN),
        Op::VCosF16 => |cx| cx.f16_table(&COS),
        Op::VCvtF32F16 => |cx| {
            let (keep_in, keep_out) = (keep(cx.flush_in64()), cx.keep_out32());
            cx.map_float(move |[a]| {
                let a = flush_half(a, keep_in);
                let quiet = if a & 0x7fff > 0x7c00 { 0x200 } else { 0 };
                let out = half_value(a | quiet).to_bits();
                if out & 0x7f80_0000 == 0 { out & keep_out } else { out }
            });
        },
        _ => return None,
    };
    Some(run)
}

/// A test of f16 values for a class mask; see [`super::compare`].
pub(super) fn class(h: u32) -> u32 {
    let h = h as u16;
    let negative = h & 0x8000 != 0;
    match (h & 0x7c00, h & 0x3ff) {
        (0x7c00, 0) => [9, 2][usize::from(negative)],
        (0x7c00, f) => u32::from(f & 0x200 != 0),
        (0, 0) => [6, 5][usize::from(negative)],
        (0, _) => [7, 4][usize::from(negative)],
        _ => [8, 3][usize::from(negative)],
    }
}
