//! Exponential, logarithm, sine and cosine of f32, the quick way: short polynomials whose value lies near that of
//! [`transcendental`]. Where both must round to the same f32, the near value is the result. Where a value lies so close
//! to the middle between two f32 that they might not, the row is computed again as [`transcendental`] defines it: about one row
//! in a hundred.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::row_engine::{Cx, LANES, NAN32, QUIET32, Row, flush, rows};
use super::transcendental;
use crate::vector::{fused, vector};

/// A function of one f32.
pub(super) trait Function {
    /// Its value, or one that [`Self::place`] makes its value. `FUSED`: the host has multiply-add.
    fn near<const FUSED: bool>(x: f32) -> f64;

    /// The result from the rounded near value, with the special cases; not asked for a NaN. A NaN result is the machine's own.
    fn place(x: f32, near: f32) -> u32;

    /// The definition.
    fn exact(x: f64) -> f64;
}

pub(super) struct Exp;
pub(super) struct Log;
pub(super) struct Sin;
pub(super) struct Cos;

/// In units of a place below the last of an f64's 32 low bits: how near to the middle of two f32 is too near. The 29 bits that an
/// f32 does not have count 2^-52 of the value at most, so this is 2^-38 of it at least; polynomials are off by less than 2^-39, and
/// what rounding and the definition add is far less.
const DOUBT: u32 = 1 << 18;

/// Added to a number of at most 2^21 in size, rounds it to a whole one, which then stands in the low bits; half of it, to halves.
const WHOLE: f32 = 12_582_912.0;

/// 2^x for |x| up to a half, off by at most 2^-39.7 of it.
const EXP: [f64; 9] = [
    1.0,
    0.693_147_180_545_933_5,
    0.240_226_506_958_129_9,
    0.055_504_109_412_059_33,
    0.009_618_129_159_402_558,
    0.001_333_345_056_800_064_5,
    0.000_154_034_554_584_538_48,
    1.531_007_940_224_929_6e-5,
    1.325_522_487_866_881_7e-6,
];

/// Binary logarithm of (1 + s) / (1 - s), divided by s, of s², for the numbers between the roots of 1/2 and 2; off by at most 2^-45.
const LOG: [f64; 6] = [
    2.885_390_081_777_851,
    0.961_796_694_112_265_8,
    0.577_077_942_660_004_1,
    0.412_209_224_093_795_2,
    0.319_906_802_377_912_3,
    0.282_885_044_999_610_3,
];

/// Sine of x revolutions, divided by x, of x², for |x| up to a quarter; off by at most 2^-43.5.
const SIN: [f64; 7] = [
    6.283_185_307_179_27,
    -41.341_702_239_903_675,
    81.605_249_149_015_83,
    -76.705_847_543_773_26,
    42.058_134_871_372_054,
    -15.081_483_206_893,
    3.665_855_159_563_961_2,
];

/// `a * b + c`, rounded once or twice.
#[inline(always)]
fn step<const FUSED: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Sum of `c[k] * x^k`.
#[inline(always)]
fn polynomial<const FUSED: bool, const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        sum = step::<FUSED>(sum, x, c[k]);
    }
    sum
}

/// Sine of at most a quarter of a revolution.
#[inline(always)]
fn sine<const FUSED: bool>(turns: f64) -> f64 {
    polynomial::<FUSED, 7>(&SIN, turns * turns) * turns
}

impl Function for Exp {
    /// Of the rest that is left beside a whole number.
    #[inline(always)]
    fn near<const FUSED: bool>(x: f32) -> f64 {
        let rest = x - ((x + WHOLE) - WHOLE);
        polynomial::<FUSED, 9>(&EXP, rest.into())
    }

    #[inline(always)]
    fn place(x: f32, near: f32) -> u32 {
        // The whole number goes to the exponent.
        let out = near.to_bits().wrapping_add((x + WHOLE).to_bits() << 23);
        let out = if x >= 128.0 { f32::INFINITY.to_bits() } else { out };
        // Results below this one are denormal, at most 0.999996 of the smallest number: flushed.
        if x < -126.0 { 0 } else { out }
    }

    #[inline(always)]
    fn exact(x: f64) -> f64 {
        transcendental::exp2(x)
    }
}

impl Function for Log {
    #[inline(always)]
    fn near<const FUSED: bool>(x: f32) -> f64 {
        // Exponent and a mantissa between the roots of 1/2 and 2. One less than that is exact.
        const ROOT: u32 = 0x3f35_04f3;
        let bits = x.to_bits().wrapping_sub(ROOT);
        let exponent = bits as i32 >> 23;
        let m = f64::from(f32::from_bits((bits & 0x007f_ffff) + ROOT) - 1.0);
        let s = m / (m + 2.0);
        step::<FUSED>(s, polynomial::<FUSED, 6>(&LOG, s * s), exponent.into())
    }

    #[inline(always)]
    fn place(x: f32, near: f32) -> u32 {
        let out = near.to_bits();
        let out = if x == f32::INFINITY { x.to_bits() } else { out };
        let out = if x < 0.0 { NAN32 } else { out };
        if x == 0.0 { f32::NEG_INFINITY.to_bits() } else { out }
    }

    #[inline(always)]
    fn exact(x: f64) -> f64 {
        transcendental::log2(x)
    }
}

impl Function for Sin {
    /// Of the rest that is left beside half revolutions; an odd number of them turns the sign.
    #[inline(always)]
    fn near<const FUSED: bool>(x: f32) -> f64 {
        let halves = x + WHOLE / 2.0;
        let rest = x - (halves - WHOLE / 2.0);
        sine::<FUSED>(f32::from_bits(rest.to_bits() ^ halves.to_bits() << 31).into())
    }

    #[inline(always)]
    fn place(x: f32, near: f32) -> u32 {
        let out = if near == 0.0 { 0f32.copysign(x) } else { near };
        let out = if x.abs() > 256.0 { 0.0 } else { out };
        if x.abs() < f32::INFINITY { out.to_bits() } else { NAN32 }
    }

    #[inline(always)]
    fn exact(x: f64) -> f64 {
        transcendental::sin(x)
    }
}

impl Function for Cos {
    /// Sine of what is missing to a quarter of a revolution.
    #[inline(always)]
    fn near<const FUSED: bool>(x: f32) -> f64 {
        let rest = x - ((x + WHOLE) - WHOLE);
        sine::<FUSED>(0.25 - f64::from(rest.abs()))
    }

    #[inline(always)]
    fn place(x: f32, near: f32) -> u32 {
        let out = if x.abs() > 256.0 { 1.0 } else { near };
        if x.abs() < f32::INFINITY { out.to_bits() } else { NAN32 }
    }

    #[inline(always)]
    fn exact(x: f64) -> f64 {
        transcendental::cos(x)
    }
}

impl Cx<'_> {
    /// A function of one f32, that never sees or makes denormals.
    #[inline(always)]
    pub(super) fn function<F: Function>(&mut self) {
        let near = if fused() { self.near::<F, true>() } else { self.near::<F, false>() };
        match near {
            Some(out) => self.put(0, &out),
            None => self.f32_flushing(|[x]| F::exact(x.into()) as f32),
        }
    }

    /// Its results, if none is in doubt.
    #[inline(never)]
    fn near<F: Function, const FUSED: bool>(&self) -> Option<Row> {
        vector(
            #[inline(always)]
            move || {
                let (and, xor) = (self.and[0], self.xor[0]);
                let [src]: [Row; 1] = rows(self.file, &self.src);
                let mut out = [0; LANES];
                let mut doubtful = 0;
                for i in 0..LANES {
                    let x = f32::from_bits(flush(src[i] & and ^ xor, 1 << 31));
                    let near = F::near::<FUSED>(x);
                    let low = (near.to_bits() as u32) << 3;
                    doubtful |= if low.wrapping_sub((1 << 31) - DOUBT) < 2 * DOUBT { 1 } else { 0 };
                    let placed = F::place(x, near as f32);
                    out[i] = if x.is_nan() { x.to_bits() | QUIET32 } else { placed };
                }
                (doubtful == 0).then_some(out)
            },
        )
    }
}
