//! Single-precision arithmetic of the F extension (RISC-V manual 2.2, chapter 11), bit for bit with flags, in all five
//! rounding modes. Every operation is first computed in f64, exactly or rounded to odd, which a second rounding to 24
//! bits cannot tell from the exact value; code is free of branches so that loops over lanes vectorise. FLEN is 32: there
//! is nothing to NaN-box.

/// What every operation returns instead of another NaN.
pub const CANONICAL: u32 = 0x7fc0_0000;
const SIGN: u32 = 0x8000_0000;
const INFINITY: u32 = 0x7f80_0000;

/// Accrued exception flags.
pub const NX: u32 = 1;
pub const UF: u32 = 2;
pub const OF: u32 = 4;
pub const DZ: u32 = 8;
pub const NV: u32 = 16;

/// Rounding modes as `rm` and `frm` encode them.
pub const RNE: u8 = 0;
pub const RTZ: u8 = 1;
pub const RDN: u8 = 2;
pub const RUP: u8 = 3;
pub const RMM: u8 = 4;

/// A result and the flags it raises.
pub type Out = (u32, u32);

const fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[inline(always)]
fn is_nan(x: u32) -> bool {
    x & !SIGN > INFINITY
}

#[inline(always)]
fn is_signalling(x: u32) -> bool {
    is_nan(x) && x & 0x0040_0000 == 0
}

#[inline(always)]
fn wide(x: u32) -> f64 {
    f64::from(f32::from_bits(x))
}

#[inline(always)]
fn flag(on: bool, flag: u32) -> u32 {
    if on { flag } else { 0 }
}

/// `sum`, rounded to nearest from a value that is `rest` more, as rounding to odd would give it.
#[inline(always)]
fn odd(sum: f64, rest: f64) -> f64 {
    let bits = sum.to_bits();
    let away = (rest > 0.0) == (sum > 0.0);
    let moved = if away { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    let inexact = (rest > 0.0) | (rest < 0.0);
    f64::from_bits(if inexact & sum.is_finite() & (bits & 1 == 0) { moved } else { bits })
}

/// a + b rounded to odd (Knuth's exact sum).
#[inline(always)]
fn sum(a: f64, b: f64) -> f64 {
    let s = a + b;
    let t = s - a;
    odd(s, (a - (s - t)) + (b - t))
}

/// Rounds to single precision; the flags are inexact, underflow (tiny after rounding) and overflow.
#[inline(always)]
fn narrow<const MODE: u8>(x: f64) -> Out {
    let near = x as f32;
    let bits = near.to_bits();
    let (size, back) = (x.abs(), f64::from(near).abs());
    let negative = x.is_sign_negative();
    // Rounding to nearest went away from zero, or towards it.
    let (above, below) = (back > size, back < size);
    let (up, down) = (bits.wrapping_add(1), bits.wrapping_sub(1));
    let inward = if above { down } else { bits };
    let outward = if below { up } else { bits };
    let rounded = match MODE {
        RTZ => inward,
        RDN if negative => outward,
        RDN => inward,
        RUP if negative => inward,
        RUP => outward,
        RMM => {
            let middle = (back + wide(up & !SIGN)) * 0.5;
            if below & (size == middle) { up } else { bits }
        }
        _ => bits,
    };
    let smallest = power(-126);
    let tiny = match MODE {
        RNE | RMM => size < smallest - power(-151),
        RDN if negative => size <= smallest - power(-150),
        RUP if !negative => size <= smallest - power(-150),
        _ => size < smallest,
    };
    let nan = x.is_nan();
    let inexact = !nan & (wide(rounded) != x);
    let over = (rounded & !SIGN == INFINITY) | (size >= power(128));
    let flags = flag(inexact, NX) | flag(inexact & tiny, UF) | flag(inexact & over, OF);
    (if nan { CANONICAL } else { rounded }, flags)
}

/// The sign of an exact zero that is the sum of numbers with different signs.
#[inline(always)]
fn zero_sum<const MODE: u8>(sum: f64, signs_differ: bool) -> f64 {
    if MODE == RDN && (sum == 0.0) & signs_differ { -0.0 } else { sum }
}

#[inline(always)]
pub fn add<const MODE: u8>(a: u32, b: u32) -> Out {
    let s = sum(wide(a), wide(b));
    let (r, flags) = narrow::<MODE>(zero_sum::<MODE>(s, (a ^ b) & SIGN != 0));
    let invalid = is_signalling(a) | is_signalling(b) | (s.is_nan() & !is_nan(a) & !is_nan(b));
    (r, flags | flag(invalid, NV))
}

#[inline(always)]
pub fn sub<const MODE: u8>(a: u32, b: u32) -> Out {
    add::<MODE>(a, b ^ SIGN)
}

#[inline(always)]
pub fn mul<const MODE: u8>(a: u32, b: u32) -> Out {
    // 48 bits at most: exact.
    let p = wide(a) * wide(b);
    let (r, flags) = narrow::<MODE>(p);
    let invalid = is_signalling(a) | is_signalling(b) | (p.is_nan() & !is_nan(a) & !is_nan(b));
    (r, flags | flag(invalid, NV))
}

/// a · b + c, rounded once.
#[inline(always)]
pub fn fma<const MODE: u8>(a: u32, b: u32, c: u32) -> Out {
    let p = wide(a) * wide(b);
    let s = sum(p, wide(c));
    let differ = p.is_sign_negative() != (c & SIGN != 0);
    let (r, flags) = narrow::<MODE>(zero_sum::<MODE>(s, differ));
    let signalling = is_signalling(a) | is_signalling(b) | is_signalling(c);
    let product = p.is_nan() & !is_nan(a) & !is_nan(b);
    let addition = s.is_nan() & !p.is_nan() & !is_nan(c);
    (r, flags | flag(signalling | product | addition, NV))
}

/// a · b − c
#[inline(always)]
pub fn fms<const MODE: u8>(a: u32, b: u32, c: u32) -> Out {
    fma::<MODE>(a, b, c ^ SIGN)
}

/// −(a · b) + c
#[inline(always)]
pub fn fnms<const MODE: u8>(a: u32, b: u32, c: u32) -> Out {
    fma::<MODE>(a ^ SIGN, b, c)
}

/// −(a · b) − c
#[inline(always)]
pub fn fnma<const MODE: u8>(a: u32, b: u32, c: u32) -> Out {
    fma::<MODE>(a ^ SIGN, b, c ^ SIGN)
}

#[inline(always)]
pub fn div<const MODE: u8>(a: u32, b: u32) -> Out {
    let (x, y) = (wide(a), wide(b));
    let q = x / y;
    // x - q y without rounding: q in two halves whose products with 24 bits are exact.
    let high = f64::from_bits(q.to_bits() & !0x7ff_ffff);
    let rest = (x - high * y) - (q - high) * y;
    let (r, flags) = narrow::<MODE>(odd(q, if y < 0.0 { -rest } else { rest }));
    let invalid = is_signalling(a) | is_signalling(b) | (q.is_nan() & !is_nan(a) & !is_nan(b));
    let by_zero = (b & !SIGN == 0) & (a & !SIGN != 0) & (a & !SIGN < INFINITY);
    (r, flags | flag(invalid, NV) | flag(by_zero, DZ))
}

#[inline(always)]
pub fn sqrt<const MODE: u8>(a: u32) -> Out {
    let x = wide(a);
    let s = x.sqrt();
    // An exact root has 12 bits; any other lies nowhere near a number of 25 bits, so the last bit of 53 may change.
    let short = f64::from(s as f32);
    let exact = (short == s) & (short * short == x);
    let (r, flags) = narrow::<MODE>(if exact { s } else { f64::from_bits(s.to_bits() | 1) });
    let invalid = is_signalling(a) | (s.is_nan() & !is_nan(a));
    (r, flags | flag(invalid, NV))
}

/// Minimum as of version 2.2: the other operand of a NaN, and −0 is less than +0.
#[inline(always)]
pub fn min(a: u32, b: u32) -> Out {
    choose(a, b, order(a) <= order(b))
}

#[inline(always)]
pub fn max(a: u32, b: u32) -> Out {
    choose(a, b, order(a) >= order(b))
}

/// Order of numbers as integers, −0 below +0.
#[inline(always)]
fn order(x: u32) -> i32 {
    let x = x as i32;
    x ^ ((x >> 31) & i32::MAX)
}

#[inline(always)]
fn choose(a: u32, b: u32, first: bool) -> Out {
    let number = if is_nan(a) | (!first & !is_nan(b)) { b } else { a };
    let r = if is_nan(a) & is_nan(b) { CANONICAL } else { number };
    (r, flag(is_signalling(a) | is_signalling(b), NV))
}

#[inline(always)]
pub fn equal(a: u32, b: u32) -> Out {
    let r = f32::from_bits(a) == f32::from_bits(b);
    (u32::from(r), flag(is_signalling(a) | is_signalling(b), NV))
}

#[inline(always)]
pub fn less(a: u32, b: u32) -> Out {
    let r = f32::from_bits(a) < f32::from_bits(b);
    (u32::from(r), flag(is_nan(a) | is_nan(b), NV))
}

#[inline(always)]
pub fn less_equal(a: u32, b: u32) -> Out {
    let r = f32::from_bits(a) <= f32::from_bits(b);
    (u32::from(r), flag(is_nan(a) | is_nan(b), NV))
}

/// The integer of a value, in f64.
#[inline(always)]
fn integral<const MODE: u8>(x: f64) -> f64 {
    // Adding and taking away 2^52 rounds to nearest even; from 2^23 on, singles are integers anyway.
    let size = x.abs();
    let near = if size < power(51) { (size + power(52)) - power(52) } else { size };
    let (above, below) = (near > size, near < size);
    let inward = if above { near - 1.0 } else { near };
    let outward = if below { near + 1.0 } else { near };
    let negative = x < 0.0;
    let rounded = match MODE {
        RTZ => inward,
        RDN if negative => outward,
        RDN => inward,
        RUP if negative => inward,
        RUP => outward,
        RMM => {
            if size - near == 0.5 {
                near + 1.0
            } else {
                near
            }
        }
        _ => near,
    };
    if negative { -rounded } else { rounded }
}

#[inline(always)]
pub fn to_signed<const MODE: u8>(a: u32) -> Out {
    let x = wide(a);
    let r = integral::<MODE>(x);
    let (low, high) = (f64::from(i32::MIN), f64::from(i32::MAX));
    let invalid = (r < low) | (r > high) | is_nan(a);
    let limit = if x < 0.0 { i32::MIN } else { i32::MAX };
    // Saturating: NaN and what is out of range are replaced.
    let value = if invalid { limit } else { r as i32 };
    (value as u32, if invalid { NV } else { flag(r != x, NX) })
}

#[inline(always)]
pub fn to_unsigned<const MODE: u8>(a: u32) -> Out {
    let x = wide(a);
    let r = integral::<MODE>(x);
    let invalid = (r < 0.0) | (r > f64::from(u32::MAX)) | is_nan(a);
    let limit = if x < 0.0 { 0 } else { u32::MAX };
    let value = if invalid { limit } else { r as u32 };
    (value, if invalid { NV } else { flag(r != x, NX) })
}

#[inline(always)]
pub fn from_signed<const MODE: u8>(a: u32) -> Out {
    narrow::<MODE>(f64::from(a as i32))
}

#[inline(always)]
pub fn from_unsigned<const MODE: u8>(a: u32) -> Out {
    narrow::<MODE>(f64::from(a))
}

/// One bit of ten for the kind of number.
#[inline(always)]
pub fn class(a: u32) -> u32 {
    let size = a & !SIGN;
    let negative = a & SIGN != 0;
    let mirrored = |low: u32, high: u32| if negative { 1 << low } else { 1 << high };
    if size > INFINITY {
        if is_signalling(a) { 1 << 8 } else { 1 << 9 }
    } else if size == INFINITY {
        mirrored(0, 7)
    } else if size >= 0x0080_0000 {
        mirrored(1, 6)
    } else if size > 0 {
        mirrored(2, 5)
    } else {
        mirrored(3, 4)
    }
}
