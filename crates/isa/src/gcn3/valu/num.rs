//! Exact number helpers: half floats, rounding to odd, fused multiply-add, powers of two, rounding to
//! integers. Plain arithmetic only, so results do not depend on the host.

/// The largest u32 for what is larger.
#[inline(always)]
pub(super) fn sat_u32(v: u64) -> u32 {
    v.min(u32::MAX.into()) as u32
}

/// `p + c` rounded to odd: rounding the result again to at most 51 bits is as good as rounding once.
#[inline(always)]
pub(super) fn add_odd(p: f64, c: f64) -> f64 {
    let s = p + c;
    let v = s - p;
    let error = (p - (s - v)) + (c - v);
    let bits = s.to_bits();
    let inexact = (error > 0.0) | (error < 0.0);
    let step = if (error.to_bits() ^ bits) >> 63 == 0 { 1 } else { u64::MAX };
    f64::from_bits(if inexact & (bits & 1 == 0) { bits.wrapping_add(step) } else { bits })
}

/// Fused multiply-add of f32, rounded once.
#[inline(always)]
pub(super) fn fma32(a: f32, b: f32, c: f32) -> f32 {
    add_odd(f64::from(a) * f64::from(b), f64::from(c)) as f32
}

/// 2^n for normal results.
#[inline(always)]
pub(super) fn exp2i(n: i32) -> f64 {
    f64::from_bits(((1023 + n) as u64) << 52)
}

/// Fraction as an integer with bit 52 set, and the exponent of its lowest bit. `x` finite, not zero.
fn split(x: f64) -> (u64, i32) {
    let bits = x.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 {
        let shift = fraction.leading_zeros() - 11;
        (fraction << shift, -1074 - shift as i32)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

/// By bits, what others are compared with: `(x + e) * 2^n` rounded once, where `e` is far below the last place of `x` and of sign `error`.
#[cfg(test)]
pub(super) fn scale64(x: f64, error: i32, n: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let (fraction, low) = split(x);
    let exponent = low.saturating_add(n).saturating_add(1075);
    let sign = x.to_bits() & (1 << 63);
    if exponent >= 0x7ff {
        return f64::from_bits(sign | 0x7ff << 52);
    }
    if exponent >= 1 {
        return f64::from_bits(sign | (exponent as u64) << 52 | fraction & ((1 << 52) - 1));
    }
    let drop = 3u32.saturating_add_signed(-exponent);
    if drop > 60 {
        return f64::from_bits(sign);
    }
    // In quarters of the last place, so that the error has room.
    let toward = if sign == 0 { error } else { -error };
    let quarters = (fraction * 4).wrapping_add_signed(toward.into());
    let (kept, rest) = (quarters >> drop, quarters & ((1 << drop) - 1));
    let half = 1u64 << (drop - 1);
    let up = rest > half || rest == half && kept & 1 == 1;
    f64::from_bits(sign | (kept + u64::from(up)))
}

/// `x * 2^n` rounded once. By up to three factors, without branches: only the last product is rounded, because before a second
/// factor that makes it smaller there are more than 53 places to go.
#[inline(always)]
pub(super) fn ldexp64(x: f64, n: i32) -> f64 {
    let n = if n > 2200 { 2200 } else { n };
    let n = if n < -2200 { -2200 } else { n };
    let (up, down) = (exp2i(1023), exp2i(-969));
    let (mut x, mut n) = (x, n);
    for _ in 0..2 {
        let (large, small) = (n > 1023, n < -1022);
        let factor = if small { down } else { 1.0 };
        x *= if large { up } else { factor };
        let more = if small { 969 } else { 0 };
        n += if large { -1023 } else { more };
    }
    x * exp2i(n)
}

pub(super) fn ldexp32(x: f32, n: i32) -> f32 {
    (f64::from(x) * exp2i(n.clamp(-400, 400))) as f32
}

/// Value of the half in the low bits; without branches, so that loops vectorise.
#[inline(always)]
pub(super) fn half_value(h: u32) -> f32 {
    /// Exponents differ by 112; a half's denormals count in units of 2^-24, the last place of numbers from 2^-14 on.
    const SHIFT: u32 = 112 << 23;
    const LEAST: u32 = 113 << 23;
    let (sign, magnitude) = ((h & 0x8000) << 16, (h & 0x7fff) << 13);
    let special = if magnitude >= 0x7c00 << 13 { SHIFT } else { 0 };
    let normal = magnitude + SHIFT + special;
    let denormal = (f32::from_bits(magnitude + LEAST) - f32::from_bits(LEAST)).to_bits();
    f32::from_bits(sign | if magnitude < 0x400 << 13 { denormal } else { normal })
}

/// The half nearest to a number, ties to even; a NaN gives infinity. Without branches.
#[inline(always)]
pub(super) fn half_nearest(x: f32) -> u32 {
    let bits = x.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // The last place of numbers from a half on is that of a half's denormals: the sum rounds as they do.
    let denormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let even = magnitude >> 13 & 1;
    let normal = magnitude.wrapping_add(0xfff + even).wrapping_sub(112 << 23) >> 13;
    let normal = if normal > 0x7c00 { 0x7c00 } else { normal };
    sign | if magnitude < 113 << 23 { denormal } else { normal }
}

/// The half next to a number on the way to zero; infinity stays, a NaN gives infinity. Without branches.
#[inline(always)]
pub(super) fn half_toward_zero(x: f32) -> u32 {
    let bits = x.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7fff_ffff);
    // Whole units of 2^-24; larger numbers do not matter here. Nothing is left of f32's own denormals.
    let drop = 126u32.saturating_sub(magnitude >> 23);
    let drop = if drop > 31 { 31 } else { drop };
    let denormal = (magnitude & 0x7f_ffff | 0x80_0000) >> drop;
    let normal = magnitude.wrapping_sub(112 << 23) >> 13;
    let normal = if normal > 0x7bff { 0x7bff } else { normal };
    let normal = if magnitude >= 0x7f80_0000 { 0x7c00 } else { normal };
    sign | if magnitude < 113 << 23 { denormal } else { normal }
}

/// Replaces a denormal half by what `keep` leaves of it; nothing stays above.
#[inline(always)]
pub(super) fn flush_half(h: u32, keep: u32) -> u32 {
    let number = if h & 0x7c00 != 0 { 0xffff } else { 0 };
    h & (number | keep)
}

/// `p + c` rounded to odd in f32: rounding the result again to at most 22 bits is as good as rounding once.
#[inline(always)]
pub(super) fn add_odd32(p: f32, c: f32) -> f32 {
    let s = p + c;
    let v = s - p;
    let error = (p - (s - v)) + (c - v);
    let bits = s.to_bits();
    let inexact = (error > 0.0) | (error < 0.0);
    let step = if (error.to_bits() ^ bits) >> 31 == 0 { 1 } else { u32::MAX };
    f32::from_bits(if inexact & (bits & 1 == 0) { bits.wrapping_add(step) } else { bits })
}

/// An f64 rounded to odd in f32: rounding the result again to at most 22 bits is as good as rounding once.
#[inline(always)]
pub(super) fn f32_odd(x: f64) -> f32 {
    let near = x as f32;
    let (bits, back) = (near.to_bits(), f64::from(near));
    // The nearest is even: the odd neighbour lies on the other side of the number.
    let step = if back.abs() < x.abs() { 1 } else { u32::MAX };
    let inexact = (back < x) | (back > x);
    f32::from_bits(if inexact & (bits & 1 == 0) { bits.wrapping_add(step) } else { bits })
}

pub(in super::super) fn half_to_f64(h: u16) -> f64 {
    half_value(h.into()).into()
}

pub(super) const NAN16: u16 = 0xfe00;

/// Rounded to nearest even, or toward zero. A NaN keeps the top of its payload, quieted.
pub(in super::super) fn half_from_f64(x: f64, to_zero: bool) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    if x.is_nan() {
        return sign | 0x7e00 | (bits >> 42) as u16 & 0x3ff;
    }
    if x.is_infinite() {
        return sign | 0x7c00;
    }
    let magnitude = x.abs();
    if magnitude < exp2i(-26) {
        return sign;
    }
    let (fraction, low) = split(magnitude);
    let exponent = (low + 52 + 15).max(0);
    // Bits below the last place of a half with this exponent.
    let drop = ((exponent.max(1) - 25) - low) as u32;
    let (kept, rest) = (fraction >> drop, fraction & ((1 << drop) - 1));
    let half = 1u64 << (drop - 1);
    let up = !to_zero && (rest > half || rest == half && kept & 1 == 1);
    let kept = kept + u64::from(up);
    // A normal's leading bit counts as one step of the exponent.
    let out = kept + ((exponent.max(1) as u64 - 1) << 10);
    if out >= 0x7c00 { sign | if to_zero { 0x7bff } else { 0x7c00 } } else { sign | out as u16 }
}

pub(super) fn flush16(h: u16) -> u16 {
    if h & 0x7c00 == 0 { h & 0x8000 } else { h }
}

/// Rounds to an integer; the sign stays.
#[inline(always)]
pub(super) fn rndne32(x: f32) -> f32 {
    const BIG: f32 = 8_388_608.0;
    let a = x.abs();
    let r = if a < BIG { (a + BIG) - BIG } else { a };
    r.copysign(x)
}

#[inline(always)]
pub(super) fn floor32(x: f32) -> f32 {
    let r = rndne32(x);
    (if r > x { r - 1.0 } else { r }).copysign(x)
}

#[inline(always)]
pub(super) fn ceil32(x: f32) -> f32 {
    -floor32(-x)
}

#[inline(always)]
pub(super) fn trunc32(x: f32) -> f32 {
    floor32(x.abs()).copysign(x)
}

#[inline(always)]
pub(super) fn rndne64(x: f64) -> f64 {
    const BIG: f64 = 4_503_599_627_370_496.0;
    let a = x.abs();
    let r = if a < BIG { (a + BIG) - BIG } else { a };
    r.copysign(x)
}

#[inline(always)]
pub(super) fn floor64(x: f64) -> f64 {
    let r = rndne64(x);
    (if r > x { r - 1.0 } else { r }).copysign(x)
}

#[inline(always)]
pub(super) fn ceil64(x: f64) -> f64 {
    -floor64(-x)
}

#[inline(always)]
pub(super) fn trunc64(x: f64) -> f64 {
    floor64(x.abs()).copysign(x)
}

/// Added to a whole number below 2^51 in size, it leaves the number in the low bits, in two's complement.
pub(super) const WHOLE: f64 = 6_755_399_441_055_744.0;

/// A whole number as an integer, held within `low` and `high`, which fit into 33 bits; 0 for a NaN. In place of a cast, because loops
/// with that do not vectorise.
#[inline(always)]
pub(super) fn whole(x: f64, low: f64, high: f64) -> u32 {
    let held = if x < low { low } else { x };
    let held = if held > high { high } else { held };
    let bits = (held + WHOLE).to_bits() as u32;
    if x.is_nan() { 0 } else { bits }
}

#[inline(always)]
pub(super) fn whole_i32(x: f64) -> u32 {
    whole(x, -2_147_483_648.0, 2_147_483_647.0)
}

#[inline(always)]
pub(super) fn whole_u32(x: f64) -> u32 {
    whole(x, 0.0, 4_294_967_295.0)
}

/// Mantissa in [0.5, 1) and exponent; zero, infinity and NaN are their own mantissa with exponent 0. Without branches, so that loops
/// vectorise.
#[inline(always)]
pub(super) fn frexp64(x: f64) -> (f64, i32) {
    let bits = x.to_bits();
    let magnitude = bits & !(1 << 63);
    // Denormals become ordinary numbers by 2^64.
    let tiny = magnitude < 1 << 52;
    let scaled = (f64::from_bits(magnitude) * 18_446_744_073_709_551_616.0).to_bits();
    let (number, offset) = if tiny { (scaled, 1022 + 64) } else { (magnitude, 1022) };
    let special = (magnitude == 0) | (magnitude >= 0x7ff << 52);
    let mantissa = bits & (1 << 63) | 0x3fe << 52 | number & ((1 << 52) - 1);
    let exponent = (number >> 52) as i32 - offset;
    if special { (x, 0) } else { (f64::from_bits(mantissa), exponent) }
}

/// The same for the bits of an f32; without branches, so that loops vectorise.
#[inline(always)]
pub(super) fn frexp32(bits: u32) -> (u32, u32) {
    let magnitude = bits & 0x7fff_ffff;
    // Denormals become ordinary numbers by 2^32.
    let tiny = magnitude < 0x0080_0000;
    let scaled = (f32::from_bits(magnitude) * 4_294_967_296.0).to_bits();
    let (number, offset) = if tiny { (scaled, 126 + 32) } else { (magnitude, 126) };
    let special = (magnitude == 0) | (magnitude >= 0x7f80_0000);
    let mantissa = bits & 0x8000_0000 | 0x3f00_0000 | number & 0x007f_ffff;
    let exponent = (number >> 23).wrapping_sub(offset);
    if special { (bits, 0) } else { (mantissa, exponent) }
}

/// The bits of a NaN moved between widths; rounding conversions need not keep payloads.
pub(super) fn f64_to_f32(x: f64) -> f32 {
    if x.is_nan() {
        let bits = x.to_bits();
        let sign = (bits >> 32) as u32 & (1 << 31);
        return f32::from_bits(sign | 0x7fc0_0000 | (bits >> 29) as u32 & 0x003f_ffff);
    }
    x as f32
}

pub(super) fn f32_to_f64(bits: u32) -> u64 {
    let x = f32::from_bits(bits);
    if x.is_nan() {
        return u64::from(bits & (1 << 31)) << 32 | 0x7ff8 << 48 | u64::from(bits & 0x007f_ffff) << 29;
    }
    f64::from(x).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All exponents and signs: the number is mantissa times power.
    #[test]
    fn frexp64_takes_numbers_apart() {
        let fractions = (0..52).map(|bit| 1 << bit).chain([0, (1 << 52) - 1, 0x5_5555_5555_5555]);
        for bits in fractions.flat_map(|fraction| (0..4096).map(move |high| high << 52 | fraction)) {
            let x = f64::from_bits(bits);
            let (mantissa, exponent) = frexp64(x);
            if x == 0.0 || !x.is_finite() {
                assert_eq!((mantissa.to_bits(), exponent), (bits, 0));
                continue;
            }
            assert!((0.5..1.0).contains(&mantissa.abs()), "{x:e}");
            assert_eq!(scale64(mantissa, 0, exponent).to_bits(), bits, "{x:e}");
        }
    }

    /// All exponents and signs, with ends and some middles of the fractions.
    #[test]
    fn frexp32_is_frexp64() {
        let fractions = (0..23).map(|bit| 1 << bit).chain([0, 0x7f_ffff, 0x55_5555, 0x2a_aaaa]);
        let numbers = fractions.flat_map(|fraction| (0..512).map(move |high| high << 23 | fraction));
        for bits in numbers {
            let x = f32::from_bits(bits);
            let (mantissa, exponent) = frexp32(bits);
            if x.is_nan() {
                assert_eq!((mantissa, exponent), (bits, 0), "{bits:#x}");
                continue;
            }
            let (wanted, power) = frexp64(x.into());
            assert_eq!((mantissa, exponent as i32), ((wanted as f32).to_bits(), power), "{bits:#x}");
        }
    }
}
