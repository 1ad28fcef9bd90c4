//! The helpers of division: div_scale keeps numerator, denominator and their remainder in range, div_fmas
//! takes the scaling back in its one rounding, div_fixup puts in special cases. Also trig_preop.

use super::num::{add_odd, exp2i, ldexp32, ldexp64, scale64};
use super::row_engine::{NAN32, QUIET32};
use super::wide::{NAN64, QUIET64};
use std::sync::LazyLock;

/// What div_scale does: power of two applied to the source, and whether div_fmas must undo one.
struct Scale {
    steps: i32,
    undo: bool,
}

/// The cases in the order of the manual. `step` is one scaling.
struct Case {
    /// Difference of exponents from which the quotient is too near to infinity.
    far: bool,
    denominator_denormal: bool,
    reciprocal_denormal: bool,
    quotient_denormal: bool,
    /// The numerator is so small that the remainder would vanish.
    tiny: bool,
    is_denominator: bool,
    is_numerator: bool,
}

fn scale(case: &Case) -> Scale {
    let only = |this: bool, steps: i32| Scale { steps: if this { steps } else { 0 }, undo: true };
    let both = |steps: i32| Scale { steps, undo: false };
    match () {
        () if case.far => only(case.is_denominator, 1),
        () if case.denominator_denormal => both(1),
        // The denominator is huge: it shrinks, and so does the quotient afterwards.
        () if case.reciprocal_denormal && case.quotient_denormal => only(case.is_denominator, -1),
        () if case.reciprocal_denormal => both(-1),
        () if case.quotient_denormal => only(case.is_numerator, 1),
        () if case.tiny => both(1),
        () => both(0),
    }
}

fn exponent32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

#[inline(always)]
fn exponent64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

/// `x` is the denominator or the numerator. Returns the scaled value and the bit for div_fmas.
pub(super) fn scale32(x: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    if denominator == 0.0 || numerator == 0.0 {
        return (f32::from_bits(NAN32), false);
    }
    let (en, ed) = (exponent32(numerator), exponent32(denominator));
    if (24..250).contains(&en) && (24..250).contains(&ed) && (en - ed).abs() < 96 {
        return (x, false);
    }
    let (d, n) = (f64::from(denominator), f64::from(numerator));
    let least = f64::from(f32::MIN_POSITIVE);
    let case = Case {
        far: en - ed >= 96,
        denominator_denormal: denominator.is_subnormal(),
        reciprocal_denormal: (1.0 / d).abs() < least && d.is_finite(),
        quotient_denormal: (n / d).abs() < least,
        tiny: en <= 23,
        is_denominator: x == denominator,
        is_numerator: x == numerator,
    };
    let Scale { steps, undo } = scale(&case);
    (ldexp32(x, 64 * steps), undo)
}

pub(super) fn scale_f64(x: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    if denominator == 0.0 || numerator == 0.0 {
        return (f64::from_bits(NAN64), false);
    }
    let (en, ed) = (exponent64(numerator), exponent64(denominator));
    if (54..2040).contains(&en) && (54..2040).contains(&ed) && (en - ed).abs() < 768 {
        return (x, false);
    }
    let case = Case {
        far: en - ed >= 768,
        denominator_denormal: denominator.is_subnormal(),
        reciprocal_denormal: (1.0 / denominator).abs() < f64::MIN_POSITIVE && denominator.is_finite(),
        quotient_denormal: (numerator / denominator).abs() < f64::MIN_POSITIVE,
        tiny: en <= 53,
        is_denominator: x == denominator,
        is_numerator: x == numerator,
    };
    let Scale { steps, undo } = scale(&case);
    (ldexp64(x, 128 * steps), undo)
}

/// The exponent field of an f32, or of an f64 by its upper dword.
#[inline(always)]
fn field32(bits: u32) -> i32 {
    (bits >> 23 & 0xff) as i32
}

#[inline(always)]
fn field64(high: u32) -> i32 {
    (high >> 20 & 0x7ff) as i32
}

/// A normal, finite number by its exponent field: from 1 to below the largest.
#[inline(always)]
fn normal(field: i32, largest: i32) -> bool {
    (field - 1) as u32 <= (largest - 2) as u32
}

/// Nothing to scale, and `x` is an ordinary number: div_scale gives it back as it is.
#[inline(always)]
pub(super) fn plain_scale32(x: u32, denominator: u32, numerator: u32) -> bool {
    let (en, ed) = (field32(numerator), field32(denominator));
    let inside = |e: i32| ((e - 24) as u32) < 250 - 24;
    inside(en) & inside(ed) & ((en - ed).abs() < 96) & normal(field32(x), 255)
}

/// The same of upper dwords.
#[inline(always)]
pub(super) fn plain_scale64(x: u32, denominator: u32, numerator: u32) -> bool {
    let (en, ed) = (field64(numerator), field64(denominator));
    let inside = |e: i32| ((e - 54) as u32) < 2040 - 54;
    inside(en) & inside(ed) & ((en - ed).abs() < 768) & normal(field64(x), 0x7ff)
}

/// No special case: div_fixup gives the quotient the sign it must have.
#[inline(always)]
pub(super) fn plain_fixup32(quotient: u32, denominator: u32, numerator: u32) -> bool {
    let (en, ed) = (field32(numerator), field32(denominator));
    normal(en, 255) & normal(ed, 255) & (en - ed >= -150) & (field32(quotient) < 255)
}

/// The same of upper dwords.
#[inline(always)]
pub(super) fn plain_fixup64(quotient: u32, denominator: u32, numerator: u32) -> bool {
    let (en, ed) = (field64(numerator), field64(denominator));
    normal(en, 0x7ff) & normal(ed, 0x7ff) & (en - ed >= -1075) & (field64(quotient) < 0x7ff)
}

#[inline(always)]
pub(super) fn signed32(quotient: f32, denominator: f32, numerator: f32) -> u32 {
    let sign = (denominator.to_bits() ^ numerator.to_bits()) & (1 << 31);
    quotient.to_bits() & !(1 << 31) | sign
}

/// `a * b + c`, times 2^±64 if `undo`, rounded once. The size of `c`, the quotient, tells the direction.
pub(super) fn fmas32(a: f32, b: f32, c: f32, undo: bool) -> f32 {
    let sum = add_odd(f64::from(a) * f64::from(b), f64::from(c));
    let n = match undo {
        false => 0,
        true if exponent32(c) > 127 => 64,
        true => -64,
    };
    (sum * exp2i(n)) as f32
}

/// The same with 2^±128.
pub(super) fn fmas64(a: f64, b: f64, c: f64, undo: bool) -> f64 {
    let sum = a.mul_add(b, c);
    if !undo || !sum.is_finite() {
        return sum;
    }
    if exponent64(c) > 1023 {
        return ldexp64(sum, 128);
    }
    // What the first rounding lost decides ties of the second.
    let lost = a.mul_add(b, c - sum);
    let error = i32::from(lost > 0.0) - i32::from(lost < 0.0);
    scale64(sum, error, -128)
}

pub(super) fn fixup32(quotient: f32, denominator: f32, numerator: f32) -> f32 {
    let bits = f32::from_bits;
    let sign = (denominator.to_bits() ^ numerator.to_bits()) & (1 << 31);
    let signed = |v: f32| bits(v.to_bits() | sign);
    let (d, n) = (denominator.abs(), numerator.abs());
    match () {
        () if n.is_nan() => bits(numerator.to_bits() | QUIET32),
        () if d.is_nan() => bits(denominator.to_bits() | QUIET32),
        () if n == 0.0 && d == 0.0 || n.is_infinite() && d.is_infinite() => bits(NAN32),
        () if d == 0.0 || n.is_infinite() => signed(f32::INFINITY),
        () if d.is_infinite() || n == 0.0 => signed(0.0),
        () if exponent32(numerator) - exponent32(denominator) < -150 => signed(0.0),
        // Only an overflow on the way makes a NaN of finite numbers.
        () if quotient.is_nan() => signed(f32::INFINITY),
        () => signed(quotient.abs()),
    }
}

pub(super) fn fixup64(quotient: f64, denominator: f64, numerator: f64) -> f64 {
    let bits = f64::from_bits;
    let sign = (denominator.to_bits() ^ numerator.to_bits()) & (1 << 63);
    let signed = |v: f64| bits(v.to_bits() | sign);
    let (d, n) = (denominator.abs(), numerator.abs());
    match () {
        () if n.is_nan() => bits(numerator.to_bits() | QUIET64),
        () if d.is_nan() => bits(denominator.to_bits() | QUIET64),
        () if n == 0.0 && d == 0.0 || n.is_infinite() && d.is_infinite() => bits(NAN64),
        () if d == 0.0 || n.is_infinite() => signed(f64::INFINITY),
        () if d.is_infinite() || n == 0.0 => signed(0.0),
        () if exponent64(numerator) - exponent64(denominator) < -1075 => signed(0.0),
        () if quotient.is_nan() => signed(f64::INFINITY),
        () => signed(quotient.abs()),
    }
}

/// The same of halves in the low bits, in choices instead of branches: the first case that applies comes last.
#[inline(always)]
pub(super) fn fixup16(quotient: u32, denominator: u32, numerator: u32) -> u32 {
    const INFINITY: u32 = 0x7c00;
    let sign = (denominator ^ numerator) & 0x8000;
    let [q, d, n] = [quotient, denominator, numerator].map(|v| v & 0x7fff);
    let out = sign | if q > INFINITY { INFINITY } else { q };
    let out = if (d == INFINITY) | (n == 0) { sign } else { out };
    let out = if (d == 0) | (n == INFINITY) { sign | INFINITY } else { out };
    let nothing = (n == 0) & (d == 0) | (n == INFINITY) & (d == INFINITY);
    let out = if nothing { super::num::NAN16.into() } else { out };
    let out = if d > INFINITY { denominator | 0x200 } else { out };
    if n > INFINITY { numerator | 0x200 } else { out }
}

/// 2/π: 1201 bits below the point, from the top.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// 2/π with zeros behind, so that every shift has its words.
const WORDS: [u64; 64] = {
    let mut words = [0; 64];
    let mut i = 0;
    while i < TWO_OVER_PI.len() {
        words[i] = TWO_OVER_PI[i];
        i += 1;
    }
    words
};

/// Every result of [`trig_preop`] by the place of its bits, for arguments that are not large and for those that are.
pub(super) type Segments = [[f64; PLACES]; 2];
/// One more than the last place, 31 segments and 970 bits further down, rounded up so that every number of 12 bits is one.
const PLACES: usize = 1 << 12;

/// Exponents from here on are large.
const LARGE: i32 = 1968;

/// Made when an instruction first asks.
pub(super) static SEGMENTS: LazyLock<Box<Segments>> = LazyLock::new(|| {
    let mut all = Box::new([[0.0; PLACES]; 2]);
    for (large, all) in [false, true].into_iter().zip(all.iter_mut()) {
        for (shift, out) in (0..).zip(all) {
            *out = segment(shift, large);
        }
    }
    all
});

/// 53 bits of 2/π from a place on.
fn segment(shift: i32, large: bool) -> f64 {
    let (word, bit) = (shift as usize / 64, shift as u64 % 64);
    let (high, low) = (WORDS[word % 64], WORDS[(word + 1) % 64]);
    let segment = (high << bit | low >> 1 >> (63 - bit)) >> 11;
    // Large arguments are scaled so that nothing is lost to denormals.
    let scale = -53 - shift + if large { 128 } else { 0 };
    ldexp64(segment as f64, scale)
}

/// 53 bits of 2/π for the range reduction of `x`: segment `segment`, further down for large `x`.
#[inline(always)]
pub(super) fn trig_preop(segments: &Segments, x: f64, segment: u32) -> f64 {
    let exponent = exponent64(x);
    let shift = (segment & 31) as i32 * 53 + (exponent - 1077).max(0);
    segments[usize::from(exponent >= LARGE)][shift as usize % PLACES]
}
