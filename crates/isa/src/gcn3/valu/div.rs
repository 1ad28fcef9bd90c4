//! The helpers of division: div_scale keeps numerator, denominator and their remainder in range, div_fmas
//! takes the scaling back in its one rounding, div_fixup puts in special cases. Also trig_preop.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::num::{add_odd, exp2i, ldexp64};
use super::row_engine::{Cx, LANES, NAN32, QUIET32, Row, each, flush, pack, rows, unpack};
use super::wide::{NAN64, QUIET64, Wide, flush64};
use crate::vector::vector;
use std::sync::LazyLock;

#[inline(always)]
fn exponent32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

#[inline(always)]
fn exponent64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
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

/// `x` is the denominator or the numerator. Returns it, scaled by a step up or down or not at all, and the bit for div_fmas. In
/// choices instead of branches, here and below, so that loops over lanes vectorise: the case that comes first in the manual comes last.
#[inline(always)]
pub(super) fn scale32(x: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    const UP: f32 = f32::from_bits((127 + 64) << 23);
    /// Reciprocals of numbers above it are denormal.
    const HUGE: f32 = f32::from_bits((127 + 126) << 23);
    let (en, ed) = (exponent32(numerator), exponent32(denominator));
    let (n, d) = (numerator.abs(), denominator.abs());
    let (is_denominator, is_numerator) = (x == denominator, x == numerator);
    // n / d below 2^-126. Where that may be, both products are exact; the first may be infinite where d is.
    let quotient_denormal = (n * UP < d * (4.0 / UP)) | (d == f32::INFINITY) & (n < f32::INFINITY);
    let reciprocal_denormal = (d > HUGE) & (d < f32::INFINITY);
    // The numerator is so small that the remainder would vanish.
    let factor = if en <= 23 { UP } else { 1.0 };
    let factor = if quotient_denormal { one_of(is_numerator, UP) } else { factor };
    // The denominator is huge: it shrinks, and so does the quotient afterwards.
    let shrunk = one_of(is_denominator | !quotient_denormal, 1.0 / UP);
    let factor = if reciprocal_denormal { shrunk } else { factor };
    let factor = if ed == 0 { UP } else { factor };
    // The quotient is too near to infinity.
    let far = en - ed >= 96;
    let factor = if far { one_of(is_denominator, UP) } else { factor };
    let nothing = (n == 0.0) | (d == 0.0);
    let undo = !nothing & (far | quotient_denormal & (ed != 0));
    (if nothing { f32::from_bits(NAN32) } else { x * factor }, undo)
}

/// The factor, or none.
#[inline(always)]
fn one_of<T: From<f32>>(this: bool, factor: T) -> T {
    if this { factor } else { 1.0.into() }
}

/// The same of f64.
#[inline(always)]
pub(super) fn scale64(x: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    const UP: f64 = f64::from_bits((1023 + 128) << 52);
    const HUGE: f64 = f64::from_bits((1023 + 1022) << 52);
    let (en, ed) = (exponent64(numerator), exponent64(denominator));
    let (n, d) = (numerator.abs(), denominator.abs());
    let (is_denominator, is_numerator) = (x == denominator, x == numerator);
    let quotient_denormal = (n * exp2i(512) < d * exp2i(-510)) | (d == f64::INFINITY) & (n < f64::INFINITY);
    let reciprocal_denormal = (d > HUGE) & (d < f64::INFINITY);
    let factor = if en <= 53 { UP } else { 1.0 };
    let factor = if quotient_denormal { one_of(is_numerator, UP) } else { factor };
    let shrunk = one_of(is_denominator | !quotient_denormal, 1.0 / UP);
    let factor = if reciprocal_denormal { shrunk } else { factor };
    let factor = if ed == 0 { UP } else { factor };
    let far = en - ed >= 768;
    let factor = if far { one_of(is_denominator, UP) } else { factor };
    let nothing = (n == 0.0) | (d == 0.0);
    let undo = !nothing & (far | quotient_denormal & (ed != 0));
    (if nothing { f64::from_bits(NAN64) } else { x * factor }, undo)
}

/// `a * b + c`, times 2^±64 if `undo`, rounded once. The size of `c`, the quotient, tells the direction.
#[inline(always)]
pub(super) fn fmas32(a: f32, b: f32, c: f32, undo: bool) -> f32 {
    let sum = add_odd(f64::from(a) * f64::from(b), f64::from(c));
    let power = if exponent32(c) > 127 { exp2i(64) } else { exp2i(-64) };
    (sum * if undo { power } else { 1.0 }) as f32
}

/// The same with 2^±128.
#[inline(always)]
pub(super) fn fmas64(a: f64, b: f64, c: f64, undo: bool) -> f64 {
    let sum = a.mul_add(b, c);
    // What the first rounding lost decides ties of the second.
    let lost = a.mul_add(b, c - sum);
    let scaled = if exponent64(c) > 1023 { sum * exp2i(128) } else { smaller(sum, lost) };
    if undo & (sum.abs() < f64::INFINITY) { scaled } else { sum }
}

/// `(x + lost) * 2^-128` rounded once, where `lost` is far below the last place of `x`.
#[inline(always)]
fn smaller(x: f64, lost: f64) -> f64 {
    const FRACTION: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let (sign, exponent, fraction) = (bits & 1 << 63, bits >> 52 & 0x7ff, bits & FRACTION);
    let normal = exponent.wrapping_sub(128) << 52 | fraction;
    // In quarters of the last place, so that what was lost has room.
    let quarters = (fraction | 1 << 52) * 4;
    let lost = if sign == 0 { lost } else { -lost };
    let quarters = if lost > 0.0 { quarters + 1 } else { quarters };
    let quarters = if lost < 0.0 { quarters - 1 } else { quarters };
    // Of what goes down by so many places nothing remains.
    let drop = 131 - if exponent > 128 { 128 } else { exponent };
    let drop = if drop > 60 { 60 } else { drop };
    let (kept, half) = (quarters >> drop, 1u64 << (drop - 1));
    let rest = quarters & (half + half - 1);
    let up = (rest > half) | (rest == half) & (kept & 1 == 1);
    let denormal = if up { kept + 1 } else { kept };
    f64::from_bits(sign | if exponent > 128 { normal } else { denormal })
}

/// The quotient with the sign it must have, or what a special case makes of it. Only an overflow on the way makes a NaN of finite
/// numbers.
#[inline(always)]
pub(super) fn fixup32(quotient: u32, denominator: u32, numerator: u32) -> u32 {
    const INFINITY: u32 = 0x7f80_0000;
    let sign = (denominator ^ numerator) & (1 << 31);
    let [q, d, n] = [quotient, denominator, numerator].map(|v| v & 0x7fff_ffff);
    let out = sign | if q > INFINITY { INFINITY } else { q };
    let vanishes = ((n >> 23) as i32 - (d >> 23) as i32) < -150;
    let out = if vanishes | (d == INFINITY) | (n == 0) { sign } else { out };
    let out = if (d == 0) | (n == INFINITY) { sign | INFINITY } else { out };
    let nothing = (n == 0) & (d == 0) | (n == INFINITY) & (d == INFINITY);
    let out = if nothing { NAN32 } else { out };
    let out = if d > INFINITY { denominator | QUIET32 } else { out };
    if n > INFINITY { numerator | QUIET32 } else { out }
}

/// The same of f64.
#[inline(always)]
pub(super) fn fixup64(quotient: u64, denominator: u64, numerator: u64) -> u64 {
    const INFINITY: u64 = 0x7ff << 52;
    let sign = (denominator ^ numerator) & (1 << 63);
    let [q, d, n] = [quotient, denominator, numerator].map(|v| v & !(1 << 63));
    let out = sign | if q > INFINITY { INFINITY } else { q };
    let vanishes = ((n >> 52) as i64 - (d >> 52) as i64) < -1075;
    let out = if vanishes | (d == INFINITY) | (n == 0) { sign } else { out };
    let out = if (d == 0) | (n == INFINITY) { sign | INFINITY } else { out };
    let nothing = (n == 0) & (d == 0) | (n == INFINITY) & (d == INFINITY);
    let out = if nothing { NAN64 } else { out };
    let out = if d > INFINITY { denominator | QUIET64 } else { out };
    if n > INFINITY { numerator | QUIET64 } else { out }
}

/// The same of halves in the low bits.
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

/// Every result of [`Cx::trig_preop`] by the place of its bits: first for arguments that are not large, then for those that are.
type Segments = [u64; 2 * PLACES];
/// One more than the last place, 31 segments and 970 bits further down, rounded up so that every number of 12 bits is one.
const PLACES: usize = 1 << 12;

/// Exponents from here on are large.
const LARGE: i32 = 1968;

/// Made when an instruction first asks.
static SEGMENTS: LazyLock<Box<Segments>> = LazyLock::new(|| {
    let mut all = Box::new([0; 2 * PLACES]);
    for (large, all) in [false, true].into_iter().zip(all.as_chunks_mut::<PLACES>().0) {
        for (shift, out) in (0..).zip(all) {
            *out = segment(shift, large).to_bits();
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

impl Cx<'_> {
    /// Three f32 and a bit of the mask, a result and a bit. Sources with modifiers do not come this way.
    #[inline(never)]
    pub(super) fn divide32(&mut self, f: impl Fn([f32; 3], bool) -> (f32, bool)) {
        vector(
            #[inline(always)]
            move || {
                let (keep_in, keep_out) = (self.keep_in32(), self.keep_out32());
                let src: [Row; 3] = rows(self.file, &self.src);
                let bits = unpack(self.mask_in);
                let (mut out, mut found) = ([0; LANES], [0; LANES]);
                for i in 0..LANES {
                    let v: [f32; 3] = each(|s| f32::from_bits(flush(src[s][i], keep_in)));
                    let (result, bit) = f(v, bits[i] != 0);
                    // The first NaN source, quieted, else the machine's own.
                    let mut own = NAN32;
                    for v in v.into_iter().rev() {
                        own = if v.is_nan() { v.to_bits() | QUIET32 } else { own };
                    }
                    out[i] = if result.is_nan() { own } else { flush(result.to_bits(), keep_out) };
                    found[i] = bit.into();
                }
                self.put(0, &out);
                self.mask_out = pack(&found) & self.lanes;
            },
        )
    }

    /// The same of f64.
    #[inline(never)]
    pub(super) fn divide64(&mut self, f: impl Fn([f64; 3], bool) -> (f64, bool)) {
        vector(
            #[inline(always)]
            move || {
                let (flush_in, flush_out) = (self.flush_in64(), self.flush_out64());
                let src: [Wide; 3] = self.doubles();
                let bits = unpack(self.mask_in);
                let (mut out, mut found) = ([0; LANES], [0; LANES]);
                for i in 0..LANES {
                    let v: [f64; 3] =
                        each(|s| f64::from_bits(if flush_in { flush64(src[s][i]) } else { src[s][i] }));
                    let (result, bit) = f(v, bits[i] != 0);
                    let mut own = NAN64;
                    for v in v.into_iter().rev() {
                        own = if v.is_nan() { v.to_bits() | QUIET64 } else { own };
                    }
                    let kept = if flush_out { flush64(result.to_bits()) } else { result.to_bits() };
                    out[i] = if result.is_nan() { own } else { kept };
                    found[i] = bit.into();
                }
                self.put_wide(&out);
                self.mask_out = pack(&found) & self.lanes;
            },
        )
    }

    /// 53 bits of 2/π for the range reduction of the first source: the segment that the second names, further down for large numbers.
    /// Places for all lanes first, in a loop that vectorises, then a look at each.
    #[inline(never)]
    pub(super) fn trig_preop(&mut self) {
        let segments: &Segments = &SEGMENTS;
        let flush_out = self.flush_out64();
        vector(
            #[inline(always)]
            move || {
                let [_, high] = self.dwords(0);
                let [_, segment]: [Row; 2] = rows(self.file, &self.src);
                let mut places = [0; LANES];
                for i in 0..LANES {
                    let exponent = (high[i] >> 20 & 0x7ff) as i32;
                    let down = if exponent > 1077 { exponent - 1077 } else { 0 };
                    let place = (segment[i] & 31) * 53 + down as u32;
                    let large = if exponent >= LARGE { PLACES as u32 } else { 0 };
                    places[i] = place % PLACES as u32 + large;
                }
                let mut out = [0; LANES];
                for i in 0..LANES {
                    out[i] = segments[places[i] as usize % (2 * PLACES)];
                }
                if flush_out {
                    for i in 0..LANES {
                        out[i] = flush64(out[i]);
                    }
                }
                self.put_wide(&out);
            },
        )
    }
}
