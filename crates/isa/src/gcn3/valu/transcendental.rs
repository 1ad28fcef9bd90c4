//! Reciprocals, roots, exponential, logarithm, sine and cosine: the machine's definition of them
//! (docs/gcn3-transcendentals.md). Only + − × ÷ and sqrt of f64, so every host gives the same bits.

use super::num::{WHOLE, rndne64};
use std::f64::consts::{LN_2, SQRT_2, TAU};

/// Sum of `c[k] * x^k`.
#[inline(always)]
fn polynomial<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let mut sum = c[N - 1];
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        sum = sum * x + c[k];
    }
    sum
}

/// 1 / k!, with a step and alternating signs if asked.
const fn factorials<const N: usize>(first: u32, step: u32, alternate: bool) -> [f64; N] {
    let mut out = [0.0; N];
    let mut k = 0;
    while k < N {
        let mut f = 1.0;
        let mut i = 2;
        while i <= first + step * k as u32 {
            f *= i as f64;
            i += 1;
        }
        out[k] = if alternate && k % 2 == 1 { -1.0 / f } else { 1.0 / f };
        k += 1;
    }
    out
}

const EXP: [f64; 14] = factorials(0, 1, false);
const SIN: [f64; 9] = factorials(1, 2, true);
const COS: [f64; 9] = factorials(0, 2, true);
const ATANH: [f64; 13] = {
    let mut out = [0.0; 13];
    let mut k = 0;
    while k < 13 {
        out[k] = 1.0 / (2 * k + 1) as f64;
        k += 1;
    }
    out
};

/// 2^x for |x| below 1000, beyond that 0 or infinity. Choices instead of branches, here and below: loops over
/// lanes vectorise.
#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let near = if x > 1000.0 { 1000.0 } else { x };
    let near = if near < -1000.0 { -1000.0 } else { near };
    let n = rndne64(near);
    let power = f64::from_bits((n + WHOLE).to_bits().wrapping_add(1023) << 52);
    let out = polynomial(&EXP, (near - n) * LN_2) * power;
    let out = if x >= 1000.0 { f64::INFINITY } else { out };
    if x <= -1000.0 { 0.0 } else { out }
}

/// Binary logarithm of a number that is not denormal; −∞ of zero, NaN of negative numbers.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    // Mantissa in [0.5, 1) and exponent, the latter as the low bits of 2^52 + exponent.
    let m = f64::from_bits(bits & FRACTION | 0x3fe << 52);
    let e = f64::from_bits(bits >> 52 & 0x7ff | 0x433 << 52) - (4_503_599_627_370_496.0 + 1022.0);
    let small = m < SQRT_2 / 2.0;
    let m = if small { m * 2.0 } else { m };
    let e = if small { e - 1.0 } else { e };
    // ln m = 2 atanh s.
    let s = (m - 1.0) / (m + 1.0);
    let out = e + 2.0 / LN_2 * s * polynomial(&ATANH, s * s);
    let out = if x == f64::INFINITY { x } else { out };
    let out = if x >= 0.0 { out } else { f64::NAN };
    if x == 0.0 { f64::NEG_INFINITY } else { out }
}

/// Sine of `turns` revolutions and as many quarters more.
#[inline(always)]
fn sine(turns: f64, quarters: u64) -> f64 {
    let part = turns - rndne64(turns);
    // Quarter turns, and the rest as an angle of at most an eighth turn.
    let q = rndne64(part * 4.0);
    let angle = (part - q * 0.25) * TAU;
    let q = (q + WHOLE).to_bits().wrapping_add(quarters);
    let square = angle * angle;
    let (sin, cos) = (angle * polynomial(&SIN, square), polynomial(&COS, square));
    let out = if q & 1 != 0 { cos } else { sin };
    f64::from_bits(out.to_bits() ^ (q & 2) << 62)
}

/// Sine of `turns` revolutions, 0 outside ±256. A zero has the sign of the argument.
#[inline(always)]
pub(super) fn sin(turns: f64) -> f64 {
    let out = sine(turns, 0);
    let out = if out == 0.0 { 0f64.copysign(turns) } else { out };
    let out = if turns.abs() > 256.0 { 0.0 } else { out };
    if turns.abs() < f64::INFINITY { out } else { f64::NAN }
}

/// Cosine of `turns` revolutions, 1 outside ±256.
#[inline(always)]
pub(super) fn cos(turns: f64) -> f64 {
    let out = sine(turns, 1);
    let out = if out == 0.0 { 0.0 } else { out };
    let out = if turns.abs() > 256.0 { 1.0 } else { out };
    if turns.abs() < f64::INFINITY { out } else { f64::NAN }
}

/// Correctly rounded.
#[inline(always)]
pub(super) fn rcp32(x: f32) -> f32 {
    1.0 / x
}

/// Correctly rounded.
#[inline(always)]
pub(super) fn sqrt32(x: f32) -> f32 {
    x.sqrt()
}

#[inline(always)]
pub(super) fn rsq32(x: f32) -> f32 {
    (1.0 / f64::from(x).sqrt()) as f32
}

/// The same for every `x`, where the host has a fused multiply-add: a root and a division of f32, which the host's divider makes several
/// times as fast, and one step of Halley's method, which leaves as many digits as f64 has.
#[inline(always)]
pub(super) fn rsq32_fused(x: f32) -> f32 {
    let near = 1.0 / x.sqrt();
    let (x, y) = (f64::from(x), f64::from(near));
    let rest = (-x).mul_add(y * y, 1.0);
    let nearer = (y * rest).mul_add(0.375f64.mul_add(rest, 0.5), y);
    // Of zero, infinity and what is below zero the rest is no number.
    if rest.abs() < 1.0 { nearer as f32 } else { near }
}

/// Correctly rounded.
#[inline(always)]
pub(super) fn rcp64(x: f64) -> f64 {
    1.0 / x
}

/// Correctly rounded.
#[inline(always)]
pub(super) fn sqrt64(x: f64) -> f64 {
    x.sqrt()
}

#[inline(always)]
pub(super) fn rsq64(x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// Reciprocals are guessed by this number minus theirs, as bits: exponent and significand at once, off by at most a twentieth.
const GUESS: u64 = 0x7fde_6238_22fc_16e6;

/// The same for every `x`, where the host has a fused multiply-add: its divider, which makes the root, need not divide as well.
///
/// The root is s = 2^k b, b in [1, 2). Three steps leave y = 2^-k a with a off 1/b by half a last place, 2^-54, and less than 2^-80.
/// So d = 1 - s y is at most 2^-53 and a little; as a multiple of 2^-105 it is exact. What the last step rounds, y (1 + d), is
/// (1 - d²) / s. It rounds as 1 / s does unless the middle m of two numbers is between them: then 1 - b m is above zero and at most
/// d², hence 2^-106, the least there is. Then b and m are factors of 2^106 - 1 (times 2^-52 and 2^-54), and of these only 2^53 - 1
/// and 2^53 + 1 lie in their ranges: all bits of the significand are ones. The reciprocal then rounds up, to the number behind
/// 2^(-k-1).
#[inline(always)]
pub(super) fn rsq64_fused(x: f64) -> f64 {
    const ONES: u64 = (1 << 52) - 1;
    let root = x.sqrt();
    let bits = root.to_bits();
    let mut y = f64::from_bits(GUESS.wrapping_sub(bits));
    for _ in 0..3 {
        let rest = (-root).mul_add(y, 1.0);
        y = y.mul_add(rest.mul_add(rest, rest), y);
    }
    let y = (-root).mul_add(y, 1.0).mul_add(y, y);
    let y = if bits & ONES == ONES { f64::from_bits((2046u64 << 52).wrapping_sub(bits)) } else { y };
    // Of zeros and infinity; what is no number stays it.
    let y = if root == 0.0 { f64::from_bits(bits | 0x7ff << 52) } else { y };
    let y = if root == f64::INFINITY { 0.0 } else { y };
    if root.is_nan() { root } else { y }
}
