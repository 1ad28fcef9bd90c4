//! f16 operations against exact arithmetic and a search for the nearest half.

use super::compare::halves;
use super::*;

/// Value of a half by its definition.
pub fn value(h: u16) -> f64 {
    let (e, m) = (i32::from(h >> 10 & 31), f64::from(h & 0x3ff));
    let v = match e {
        31 if m != 0.0 => f64::NAN,
        31 => f64::INFINITY,
        0 => m * 2f64.powi(-24),
        _ => (1024.0 + m) * 2f64.powi(e - 25),
    };
    if h & 0x8000 != 0 { -v } else { v }
}

/// Nearest half by bisection over all finite magnitudes; `sticky` is the sign of what `v` lacks.
fn nearest(v: f64, sticky: i32) -> u16 {
    let sign = if v.is_sign_negative() { 0x8000 } else { 0 };
    let (v, sticky) = (v.abs(), if sign == 0 { sticky } else { -sticky });
    if v.is_infinite() {
        return sign | 0x7c00;
    }
    let (mut low, mut high) = (0u16, 0x7c00u16);
    while high - low > 1 {
        let mid = low.midpoint(high);
        if value(mid) < v || value(mid) == v && sticky >= 0 { low = mid } else { high = mid }
    }
    let above = if high == 0x7c00 { 65536.0 } else { value(high) };
    let middle = (value(low) + above) / 2.0;
    let up = v > middle || v == middle && (sticky > 0 || sticky == 0 && low & 1 == 1);
    sign | if up { high } else { low }
}

fn expect(n: usize, mode: u32, input: [u64; 3], f: impl Fn([f64; 3]) -> (f64, i32)) -> u64 {
    let flush = |h: u16, on: bool| if on && h & 0x7c00 == 0 { h & 0x8000 } else { h };
    let src = input.map(|v| flush(v as u16, mode & 0x40 == 0));
    let (out, sticky) = f(src.map(value));
    if out.is_nan() {
        return src[..n].iter().find(|v| value(**v).is_nan()).map_or(0xfe00, |v| u64::from(v | 0x200));
    }
    flush(nearest(out, sticky), mode & 0x80 == 0).into()
}

fn both(op: Op, n: usize, f: impl Fn([f64; 3]) -> (f64, i32)) {
    for mode in [COMPILED, COMPILED & !0xc0] {
        check_mode(op, mode, &halves(), |v| expect(n, mode, v, &f));
    }
}

#[test]
fn arithmetic() {
    both(Op::VAddF16, 2, |[a, b, _]| (a + b, 0));
    both(Op::VSubF16, 2, |[a, b, _]| (a - b, 0));
    both(Op::VSubrevF16, 2, |[a, b, _]| (b - a, 0));
    both(Op::VMulF16, 2, |[a, b, _]| (a * b, 0));
    both(Op::VFmaF16, 3, |[a, b, c]| {
        let sum = a * b + c;
        // What the sum in f64 lost.
        let lost = a.mul_add(b, c - sum);
        (
            sum,
            if lost > 0.0 {
                1
            } else if lost < 0.0 {
                -1
            } else {
                0
            },
        )
    });
    let mad = |[a, b, c]: [f64; 3]| {
        let p = nearest(a * b, 0);
        let p = if (a * b).is_nan() { f64::NAN } else { value(if p & 0x7c00 == 0 { p & 0x8000 } else { p }) };
        (p + c, 0)
    };
    let flushing = COMPILED & !0xc0;
    for op in [Op::VMadF16, Op::VMadmkF16, Op::VMadakF16] {
        check(op, &halves(), |v| expect(3, flushing, v, mad));
    }
    for old in [0, 0x3c00, 0xfbff, 0x7e00, 0x7c00] {
        let t = halves();
        for (input, (out, _)) in t.iter().zip(run(&inst(Op::VMacF16), COMPILED, &t, old, 0)) {
            assert_eq!(out, expect(3, flushing, [input[0], input[1], old], mad), "{input:x?}");
        }
    }
    both(Op::VFloorF16, 1, |[a, ..]| (a.floor(), 0));
    both(Op::VCeilF16, 1, |[a, ..]| (a.ceil(), 0));
    both(Op::VTruncF16, 1, |[a, ..]| (a.trunc(), 0));
    both(Op::VRndneF16, 1, |[a, ..]| (a.round_ties_even(), 0));
    both(Op::VRcpF16, 1, |[a, ..]| (1.0 / a, 0));
    both(Op::VSqrtF16, 1, |[a, ..]| (a.sqrt(), 0));
    both(Op::VRsqF16, 1, |[a, ..]| (1.0 / a.sqrt(), 0));
    let t: Vec<[u64; 3]> =
        halves().iter().map(|[a, b, _]| [*a, (b % 60).wrapping_sub(30) & 0xffff, 0]).collect();
    check(Op::VLdexpF16, &t, |v| expect(1, COMPILED, v, |[a, ..]| (a * 2f64.powi((v[1] as i16).into()), 0)));
}

/// A host's own conversions give what ours give: values of all halves, and numbers about them, about the middles between them and of
/// all exponents, rounded to halves.
#[test]
fn conversions_are_the_same_on_every_host() {
    use super::super::num::{half_nearest, half_value};
    use crate::vector;
    let values = |h: &[u32; 64]| vector::vector(|| vector::values_of_halves(h, half_value));
    let nearest = |v: &[f32; 64]| vector::vector(|| vector::nearest_halves(v, half_nearest));
    let row = |first: u32| std::array::from_fn(|i| first + i as u32);
    for arch in vector::others().into_iter().map(Some).chain([None]) {
        vector::INSTEAD.set(arch);
        for first in (0..1 << 16).step_by(64) {
            let halves = row(first);
            let found = values(&halves.map(|h| h | 0x5a5a_0000));
            for (h, v) in halves.into_iter().zip(found) {
                let own = half_value(h);
                assert!(v.to_bits() == own.to_bits() || v.is_nan() && own.is_nan(), "{h:x} on {arch:?}");
            }
            for step in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff] {
                let numbers = halves.map(|h| f32::from_bits(half_value(h).to_bits() + step));
                for (h, v) in nearest(&numbers).into_iter().zip(numbers) {
                    assert!(v.is_nan() || h == half_nearest(v), "{v:e} on {arch:?}");
                }
            }
        }
        let numbers: [f32; 512] = std::array::from_fn(|high| f32::from_bits((high as u32) << 23 | 0x35_5001));
        for numbers in numbers.as_chunks().0 {
            let found = nearest(numbers);
            assert!(numbers.iter().zip(found).all(|(v, h)| v.is_nan() || h == half_nearest(*v)), "{arch:?}");
        }
        vector::INSTEAD.set(None);
    }
}

/// Functions that are looked up give what one lane in f64 gives.
#[test]
fn tables_have_every_half() {
    let t: Vec<[u64; 3]> = (0..=0xffff).map(|h| [h | 0x5a5a_0000, 0, 0]).collect();
    let cases: [(Op, &dyn Fn(f64) -> f64); 5] = [
        (Op::VRsqF16, &|a| 1.0 / a.sqrt()),
        (Op::VLogF16, &super::super::transcendental::log2),
        (Op::VExpF16, &super::super::transcendental::exp2),
        (Op::VSinF16, &super::super::transcendental::sin),
        (Op::VCosF16, &super::super::transcendental::cos),
    ];
    for (op, f) in cases {
        for mode in [COMPILED, COMPILED & !0xc0] {
            check_mode(op, mode, &t, |v| expect(1, mode, v, |[a, ..]| (f(a), 0)));
        }
    }
}

#[test]
fn all_fractions() {
    // Exact in f64; the largest half below 1 is the limit (tiny negative numbers), infinities have none.
    let t: Vec<[u64; 3]> = (0..=0xffff).map(|h| [h, 0, 0]).collect();
    for mode in [COMPILED, COMPILED & !0xc0] {
        check_mode(Op::VFractF16, mode, &t, |v| {
            expect(1, mode, v, |[a, ..]| {
                let part = a - a.floor();
                (if part > value(0x3bff) { value(0x3bff) } else { part }, 0)
            })
        });
    }
}

#[test]
fn all_halves_convert() {
    let t: Vec<[u64; 3]> = (0..=0xffff).map(|h| [h, 0, 0]).collect();
    check_mode(Op::VCvtF32F16, KEEP, &t, |[h, ..]| {
        let v = value(h as u16);
        if v.is_nan() {
            (h & 0x8000) << 16 | 0x7fc0_0000 | (h & 0x3ff) << 13
        } else {
            u64::from((v as f32).to_bits())
        }
    });
    check(Op::VCvtF16U16, &t, |[v, ..]| nearest(v as f64, 0).into());
    check(Op::VCvtF16I16, &t, |[v, ..]| nearest(f64::from(v as i16), 0).into());
    let int = |v: f64, low: f64, high: f64| {
        if v.is_nan() { 0 } else { v.trunc().clamp(low, high) as i64 as u64 & 0xffff }
    };
    check(Op::VCvtU16F16, &t, |[h, ..]| int(value(h as u16), 0.0, 65535.0));
    check(Op::VCvtI16F16, &t, |[h, ..]| int(value(h as u16), -32768.0, 32767.0));
    let m = run(&inst(Op::VFrexpMantF16), KEEP, &t, 0, 0);
    let e = run(&inst(Op::VFrexpExpI16F16), KEEP, &t, 0, 0);
    for ((input, (m, _)), (e, _)) in t.iter().zip(m).zip(e) {
        let v = value(input[0] as u16);
        if v != 0.0 && v.is_finite() {
            assert_eq!(value(m as u16) * 2f64.powi((e as i16).into()), v);
            assert!((0.5..1.0).contains(&value(m as u16).abs()));
        }
    }
}

#[test]
fn from_f32() {
    let mut t = floats();
    t.extend((0..0x7c00u32).map(|h| [u64::from((value(h as u16) as f32).to_bits() + (h & 1)), 0, 0]));
    // Middles between neighbours and their neighbours.
    for h in (0..0x7bff).step_by(37) {
        let middle = (((value(h) + value(h + 1)) / 2.0) as f32).to_bits();
        t.extend([middle - 1, middle, middle + 1].map(|v| [v.into(), (v | 1 << 31).into(), 0]));
    }
    let nan = |v: u64| v >> 16 & 0x8000 | 0x7e00 | v >> 13 & 0x3ff;
    check_mode(Op::VCvtF16F32, KEEP, &t, |[a, ..]| {
        let v = f32::from_bits(a as u32);
        if v.is_nan() { nan(a) } else { nearest(v.into(), 0).into() }
    });
    let zero = |a: u64| {
        let v = f64::from(f32::from_bits(a as u32));
        if v.is_nan() {
            return nan(a);
        }
        let n = nearest(v, 0);
        // One step back if it went away from zero.
        u64::from(if !v.is_infinite() && value(n).abs() > v.abs() { n - 1 } else { n })
    };
    check_mode(Op::VCvtPkrtzF16F32, KEEP, &t, |[a, b, _]| zero(a) | zero(b) << 16);
}

#[test]
fn minimum_and_maximum() {
    let nan = |h: u64| value(h as u16).is_nan();
    let snan = |h: u64| nan(h) && h & 0x200 == 0;
    let rule = |a: u64, b: u64, max: bool| match () {
        () if snan(a) => a | 0x200,
        () if snan(b) => b | 0x200,
        () if nan(a) => b,
        () if nan(b) => a,
        () => {
            if value(a as u16).total_cmp(&value(b as u16)).is_lt() != max {
                a
            } else {
                b
            }
        }
    };
    check(Op::VMinF16, &halves(), |[a, b, _]| rule(a, b, false));
    check(Op::VMaxF16, &halves(), |[a, b, _]| rule(a, b, true));
}
