//! 16-bit operations, integer and float. Sources are the low halves, results have a zero high half.
//! Floats are computed exactly or rounded to odd in f64 and rounded once to half.

use super::super::op::Op;
use super::num::{self, NAN16, add_odd, flush16, half_from_f64, half_to_f64};
use super::rows::Cx;
use super::{div, transcendental};

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

impl Cx<'_> {
    /// f16 arithmetic under MODE; NaN results are the first NaN source, quieted, or the machine's.
    fn f16<const N: usize>(&mut self, f: impl Fn([f64; N]) -> f64) {
        let (flush_in, flush_out) = (self.flush_in64(), self.flush_out64());
        self.f16_with(flush_in, flush_out, f);
    }

    fn f16_with<const N: usize>(&mut self, flush_in: bool, flush_out: bool, f: impl Fn([f64; N]) -> f64) {
        self.map_float_heavy(|src: [u32; N]| half_op(src.map(|v| v as u16), flush_in, flush_out, &f).into());
    }

    /// Bits of f16 sources, flushed.
    fn f16_bits<const N: usize>(&mut self, f: impl Fn([u16; N]) -> u32) {
        let flush = self.flush_in64();
        self.map_float_heavy(
            |src: [u32; N]| f(src.map(|v| if flush { flush16(v as u16) } else { v as u16 })),
        );
    }
}

fn half_op<const N: usize>(
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
fn minimum(a: u16, b: u16, max: bool, ieee: bool) -> u16 {
    let signalling = |h: u16| is_nan(h) && h & 0x200 == 0;
    if ieee && signalling(a) {
        return a | 0x200;
    }
    if ieee && signalling(b) {
        return b | 0x200;
    }
    if is_nan(a) {
        return b;
    }
    if is_nan(b) {
        return a;
    }
    let order = |h: u16| if h & 0x8000 != 0 { -i32::from(h & 0x7fff) - 1 } else { i32::from(h) };
    if (order(a) < order(b)) != max { a } else { b }
}

/// The product rounded on its own.
fn mad(a: f64, b: f64, c: f64) -> f64 {
    half_to_f64(flush16(half_from_f64(a * b, false))) + c
}

fn sat(v: i64, low: i64, high: i64) -> u32 {
    v.clamp(low, high) as u32 & 0xffff
}

/// Integers of 16 bits.
pub(super) fn run_int(op: Op, cx: &mut Cx) -> bool {
    if cx.clamp {
        let unsigned = |v: i64| sat(v, 0, 0xffff);
        let (i, u) = (|v: u32| i64::from(signed(v)), |v: u32| i64::from(low(v)));
        match op {
            Op::VAddU16 => cx.map(move |[a, b]| unsigned(u(a) + u(b))),
            Op::VSubU16 => cx.map(move |[a, b]| unsigned(u(a) - u(b))),
            Op::VSubrevU16 => cx.map(move |[a, b]| unsigned(u(b) - u(a))),
            Op::VMadU16 => cx.map(move |[a, b, c]| unsigned(u(a) * u(b) + u(c))),
            Op::VMadI16 => cx.map(move |[a, b, c]| sat(i(a) * i(b) + i(c), -0x8000, 0x7fff)),
            _ => return false,
        }
        return true;
    }
    match op {
        Op::VAddU16 => cx.map(move |[a, b]| low(a.wrapping_add(b))),
        Op::VSubU16 => cx.map(move |[a, b]| low(a.wrapping_sub(b))),
        Op::VSubrevU16 => cx.map(move |[a, b]| low(b.wrapping_sub(a))),
        Op::VMulLoU16 => cx.map(move |[a, b]| low(a.wrapping_mul(b))),
        Op::VLshlrevB16 => cx.map(move |[n, v]| low(v << (n & 15))),
        Op::VLshrrevB16 => cx.map(move |[n, v]| low(v) >> (n & 15)),
        Op::VAshrrevI16 => cx.map(move |[n, v]| low((signed(v) >> (n & 15)) as u32)),
        Op::VMaxU16 => cx.map(move |[a, b]| low(a).max(low(b))),
        Op::VMinU16 => cx.map(move |[a, b]| low(a).min(low(b))),
        Op::VMaxI16 => cx.map(move |[a, b]| low(signed(a).max(signed(b)) as u32)),
        Op::VMinI16 => cx.map(move |[a, b]| low(signed(a).min(signed(b)) as u32)),
        Op::VMadU16 | Op::VMadI16 => cx.map(move |[a, b, c]| low(a.wrapping_mul(b).wrapping_add(c))),
        Op::VCvtF16U16 => cx.map(move |[a]| half_from_f64(low(a).into(), false).into()),
        Op::VCvtF16I16 => cx.map(move |[a]| half_from_f64(signed(a).into(), false).into()),
        _ => return false,
    }
    true
}

/// Floats of 16 bits.
pub(super) fn run(op: Op, cx: &mut Cx) -> bool {
    let ieee = cx.ieee();
    match op {
        Op::VAddF16 => cx.f16(|[a, b]| a + b),
        Op::VSubF16 => cx.f16(|[a, b]| a - b),
        Op::VSubrevF16 => cx.f16(|[a, b]| b - a),
        Op::VMulF16 => cx.f16(|[a, b]| a * b),
        Op::VFmaF16 => cx.f16(|[a, b, c]| add_odd(a * b, c)),
        Op::VMadF16 | Op::VMadmkF16 | Op::VMadakF16 => cx.f16_with(true, true, |[a, b, c]| mad(a, b, c)),
        Op::VMacF16 => {
            cx.mac(move |v| half_op(v.map(|v| v as u16), true, true, |[a, b, c]| mad(a, b, c)).into())
        }
        Op::VMinF16 => cx.map_float(move |[a, b]| minimum(a as u16, b as u16, false, ieee).into()),
        Op::VMaxF16 => cx.map_float(move |[a, b]| minimum(a as u16, b as u16, true, ieee).into()),
        Op::VFloorF16 => cx.f16(|[a]| num::floor64(a)),
        Op::VCeilF16 => cx.f16(|[a]| num::ceil64(a)),
        Op::VTruncF16 => cx.f16(|[a]| num::trunc64(a)),
        Op::VRndneF16 => cx.f16(|[a]| num::rndne64(a)),
        // Never 1: the largest half below it is the limit.
        Op::VFractF16 => cx.f16(|[a]| {
            let r = a - num::floor64(a);
            if r > 2047.0 / 2048.0 { 2047.0 / 2048.0 } else { r }
        }),
        Op::VFrexpMantF16 => cx.f16(|[a]| num::frexp64(a).0),
        Op::VFrexpExpI16F16 => cx.f16_bits(|[a]| low(num::frexp64(half_to_f64(a)).1 as u32)),
        Op::VCvtU16F16 => cx.f16_bits(|[a]| u32::from(half_to_f64(a) as u16)),
        Op::VCvtI16F16 => cx.f16_bits(|[a]| low(half_to_f64(a) as i16 as u32)),
        Op::VLdexpF16 => {
            let (flush_in, flush_out) = (cx.flush_in64(), cx.flush_out64());
            cx.map_float(move |[a, n]| {
                let n = signed(n).clamp(-100, 100);
                half_op([a as u16], flush_in, flush_out, |[a]| a * num::exp2i(n)).into()
            });
        }
        Op::VDivFixupF16 => cx.f16_bits(|[q, d, n]| div::fixup16(q, d, n).into()),
        Op::VRcpF16 => cx.f16(|[a]| 1.0 / a),
        Op::VSqrtF16 => cx.f16(|[a]| a.sqrt()),
        Op::VRsqF16 => cx.f16(|[a]| 1.0 / a.sqrt()),
        Op::VLogF16 => cx.f16(|[a]| transcendental::log2(a)),
        Op::VExpF16 => cx.f16(|[a]| transcendental::exp2(a)),
        Op::VSinF16 => cx.f16(|[a]| transcendental::sin(a)),
        Op::VCosF16 => cx.f16(|[a]| transcendental::cos(a)),
        Op::VCvtF32F16 => {
            let (flush_in, keep) = (cx.flush_in64(), cx.keep_out32());
            cx.map_float(move |[a]| {
                let a = if flush_in { flush16(a as u16) } else { a as u16 };
                let a = if is_nan(a) { a | 0x200 } else { a };
                let out = num::half_to_f32(a).to_bits();
                if out & 0x7f80_0000 == 0 { out & keep } else { out }
            });
        }
        _ => return false,
    }
    true
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
