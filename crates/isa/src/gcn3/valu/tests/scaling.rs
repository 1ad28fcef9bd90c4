//! div_scale, div_fmas and div_fixup lane by lane, in the order of the manual's cases, and what loops over rows make of them.

use super::super::num::{add_odd, exp2i, ldexp32, ldexp64, scale64};
use super::super::row_engine::{NAN32, QUIET32};
use super::super::wide::{NAN64, QUIET64, flush64};
use super::*;
use crate::vector;

fn exponent32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

fn exponent64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

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

/// `x` is the denominator or the numerator. Returns the scaled value and the bit for div_fmas.
fn scale32(x: f32, denominator: f32, numerator: f32) -> (f32, bool) {
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

fn scale_f64(x: f64, denominator: f64, numerator: f64) -> (f64, bool) {
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

/// `a * b + c`, times 2^±64 if `undo`, rounded once. The size of `c`, the quotient, tells the direction.
fn fmas32(a: f32, b: f32, c: f32, undo: bool) -> f32 {
    let sum = add_odd(f64::from(a) * f64::from(b), f64::from(c));
    let n = match undo {
        false => 0,
        true if exponent32(c) > 127 => 64,
        true => -64,
    };
    (sum * exp2i(n)) as f32
}

/// The same with 2^±128.
fn fmas64(a: f64, b: f64, c: f64, undo: bool) -> f64 {
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

fn fixup32(quotient: f32, denominator: f32, numerator: f32) -> f32 {
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

fn fixup64(quotient: f64, denominator: f64, numerator: f64) -> f64 {
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

/// What `f` makes of sources and its result under MODE.
fn single(v: [u64; 3], mode: u32, f: impl Fn([f32; 3]) -> f32) -> u64 {
    let src = v.map(|v| super::float::flush(f32::from_bits(v as u32), mode & 0x10 == 0));
    let out = f(src);
    u64::from(match src.into_iter().find(|v| v.is_nan()) {
        Some(nan) if out.is_nan() => nan.to_bits() | QUIET32,
        None if out.is_nan() => NAN32,
        _ => super::float::flush(out, mode & 0x20 == 0).to_bits(),
    })
}

fn double(v: [u64; 3], mode: u32, f: impl Fn([f64; 3]) -> f64) -> u64 {
    let src = v.map(|v| f64::from_bits(if mode & 0x40 == 0 { flush64(v) } else { v }));
    let out = f(src);
    match src.into_iter().find(|v| v.is_nan()) {
        Some(nan) if out.is_nan() => nan.to_bits() | QUIET64,
        None if out.is_nan() => NAN64,
        _ if mode & 0x80 == 0 => flush64(out.to_bits()),
        _ => out.to_bits(),
    }
}

/// Results and bits of an operation on every host, with a part of the lanes marked in the mask.
fn same(op: Op, inputs: &[[u64; 3]], reference: impl Fn([u64; 3], u32, bool) -> (u64, bool)) {
    let marks = 0x9c3a_0ff1_5a5a_7be6;
    for mode in [COMPILED, KEEP, COMPILED & !0xc0] {
        for arch in vector::others().into_iter().map(Some).chain([None]) {
            vector::INSTEAD.set(arch);
            let outs = run(&inst(op), mode, inputs, 0, marks);
            vector::INSTEAD.set(None);
            for (k, (input, out)) in inputs.iter().zip(outs).enumerate() {
                let expected = reference(*input, mode, marks >> (k % 64) & 1 == 1);
                assert_eq!(out, expected, "{} of {input:x?}, mode {mode:x}, {arch:?}", op.name());
            }
        }
    }
}

/// Numbers about the limits of the cases: a fraction of few or of many bits and an exponent `near` one of `exponents`.
fn about(rng: &mut Rng, exponents: &[u64], bits: u32) -> u64 {
    let (v, at) = (rng.next(), rng.next());
    let fraction = match at & 3 {
        0 => 0,
        1 => (v & 1).wrapping_neg() ^ 1 << (at >> 40 & 31),
        _ => v,
    } & ((1 << bits) - 1);
    let largest = if bits == 23 { 0xff } else { 0x7ff };
    let exponent =
        (exponents[(at >> 8) as usize % exponents.len()] + (at >> 16) % 5).saturating_sub(2).min(largest);
    (at >> 60 & 1) << if bits == 23 { 31 } else { 63 } | exponent << bits | fraction
}

fn triples(exponents: &[u64], bits: u32, equal: bool) -> Vec<[u64; 3]> {
    let mut rng = Rng(21);
    let mut all = if bits == 23 { floats() } else { doubles() };
    all.extend((0..20_000).map(|k| {
        let [a, b, c] = std::array::from_fn(|_| about(&mut rng, exponents, bits));
        match k % 3 {
            0 if equal => [b, b, c],
            1 if equal => [c, b, c],
            _ => [a, b, c],
        }
    }));
    all
}

const SINGLE: [u64; 14] = [0, 1, 23, 24, 31, 63, 64, 96, 120, 127, 160, 191, 250, 254];
const DOUBLE: [u64; 14] = [0, 1, 53, 54, 129, 181, 511, 513, 768, 1023, 1281, 1535, 2040, 2046];

#[test]
fn scales_are_those_of_the_manual_on_every_host() {
    same(Op::VDivScaleF32, &triples(&SINGLE, 23, true), |v, mode, _| {
        let bit = std::cell::Cell::new(false);
        let out = single(v, mode, |[x, d, n]| {
            let (out, undo) = scale32(x, d, n);
            bit.set(undo);
            out
        });
        (out, bit.get())
    });
    same(Op::VDivScaleF64, &triples(&DOUBLE, 52, true), |v, mode, _| {
        let bit = std::cell::Cell::new(false);
        let out = double(v, mode, |[x, d, n]| {
            let (out, undo) = scale_f64(x, d, n);
            bit.set(undo);
            out
        });
        (out, bit.get())
    });
}

#[test]
fn scales_are_taken_back_with_one_rounding_on_every_host() {
    same(Op::VDivFmasF32, &triples(&SINGLE, 23, false), |v, mode, undo| {
        (single(v, mode, |[a, b, c]| fmas32(a, b, c, undo)), false)
    });
    // Products about the last place of the third number, which is about the least that stays a number.
    let mut rng = Rng(5);
    let mut t = triples(&DOUBLE, 52, false);
    t.extend((0..60_000).map(|_| {
        let c = about(&mut rng, &[128, 125, 129, 100, 80, 76, 75, 1100], 52);
        let e = c >> 52 & 0x7ff;
        let low = [50, 52, 54, 100][rng.next() as usize % 4] + rng.next() % 3;
        let a = about(&mut rng, &[(e + 1023).saturating_sub(low + 600)], 52);
        [a, about(&mut rng, &[600], 52), c]
    }));
    same(Op::VDivFmasF64, &t, |v, mode, undo| (double(v, mode, |[a, b, c]| fmas64(a, b, c, undo)), false));
}

#[test]
fn special_quotients_are_put_in_on_every_host() {
    let flush = super::float::flush;
    same(Op::VDivFixupF32, &triples(&SINGLE, 23, true), |v, mode, _| {
        let [q, d, n] = v.map(|v| flush(f32::from_bits(v as u32), mode & 0x10 == 0));
        (flush(fixup32(q, d, n), mode & 0x20 == 0).to_bits().into(), false)
    });
    same(Op::VDivFixupF64, &triples(&DOUBLE, 52, true), |v, mode, _| {
        let [q, d, n] = v.map(|v| f64::from_bits(if mode & 0x40 == 0 { flush64(v) } else { v }));
        let out = fixup64(q, d, n).to_bits();
        (if mode & 0x80 == 0 { flush64(out) } else { out }, false)
    });
}
