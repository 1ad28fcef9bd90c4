//! Reciprocals, roots, exponential, logarithm, sine and cosine: the machine's definition of them
//! (docs/gcn3-transcendentals.md). Only + − × ÷ and sqrt of f64, so every host gives the same bits.

use super::num::{exp2i, frexp64, rndne64};
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

/// 2^x for |x| below 1000, beyond that 0 or infinity.
pub(super) fn exp2(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x >= 1000.0 {
        return f64::INFINITY;
    }
    if x <= -1000.0 {
        return 0.0;
    }
    let n = rndne64(x);
    polynomial(&EXP, (x - n) * LN_2) * exp2i(n as i32)
}

/// Binary logarithm; −∞ of zero, NaN of negative numbers.
pub(super) fn log2(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x.is_infinite() {
        return x;
    }
    let (mut m, mut e) = frexp64(x);
    if m < SQRT_2 / 2.0 {
        m *= 2.0;
        e -= 1;
    }
    // ln m = 2 atanh s.
    let s = (m - 1.0) / (m + 1.0);
    f64::from(e) + 2.0 / LN_2 * s * polynomial(&ATANH, s * s)
}

/// Quarter turns (mod 4) and the rest as an angle of at most an eighth turn.
fn quarter(turns: f64) -> (i32, f64) {
    let part = turns - rndne64(turns);
    let q = rndne64(part * 4.0);
    (q as i32, (part - q * 0.25) * TAU)
}

fn sin_cos(q: i32, angle: f64) -> f64 {
    let square = angle * angle;
    match q & 3 {
        0 => angle * polynomial(&SIN, square),
        1 => polynomial(&COS, square),
        2 => -(angle * polynomial(&SIN, square)),
        _ => -polynomial(&COS, square),
    }
}

/// Sine of `turns` revolutions, 0 outside ±256. A zero has the sign of the argument.
pub(super) fn sin(turns: f64) -> f64 {
    if !turns.is_finite() {
        return f64::NAN;
    }
    if turns.abs() > 256.0 {
        return 0.0;
    }
    let (q, angle) = quarter(turns);
    let out = sin_cos(q, angle);
    if out == 0.0 { 0f64.copysign(turns) } else { out }
}

/// Cosine of `turns` revolutions, 1 outside ±256.
pub(super) fn cos(turns: f64) -> f64 {
    if !turns.is_finite() {
        return f64::NAN;
    }
    if turns.abs() > 256.0 {
        return 1.0;
    }
    let (q, angle) = quarter(turns);
    let out = sin_cos(q + 1, angle);
    if out == 0.0 { 0.0 } else { out }
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
