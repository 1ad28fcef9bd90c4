//! Accuracy of the transcendental operations against the host's f64 functions, in units of the last place.

use super::*;

/// Distance of `out` from `exact` in units of the last place of f32 there.
fn ulps(out: f32, exact: f64) -> f64 {
    let near = exact as f32;
    if near.is_infinite() || out.is_infinite() {
        return if out == near { 0.0 } else { f64::INFINITY };
    }
    let step = f64::from(f32::from_bits(near.abs().to_bits().max(0x80_0000) + 1))
        - f64::from(f32::from_bits(near.abs().to_bits().max(0x80_0000)));
    (f64::from(out) - exact).abs() / step
}

fn sweep(op: Op, values: impl Iterator<Item = f32>, exact: impl Fn(f64) -> f64) -> f64 {
    let t: Vec<[u64; 3]> = values.map(|v| [v.to_bits().into(), 0, 0]).collect();
    let mut worst = 0f64;
    for (input, (out, _)) in t.iter().zip(run(&inst(op), COMPILED, &t, 0, 0)) {
        let x = f32::from_bits(input[0] as u32);
        let (out, exact) = (f32::from_bits(out as u32), exact(x.into()));
        // Denormal results are flushed.
        if exact.abs() < f32::MIN_POSITIVE.into() {
            assert!(out == 0.0 || out == f32::MIN_POSITIVE, "{} {x:e} {out:e}", op.name());
            continue;
        }
        let error = ulps(out, exact);
        assert!(error <= 0.51, "{}({x:e}) = {out:e}, not {exact:e}: {error} ulp", op.name());
        worst = worst.max(error);
    }
    worst
}

/// Positive normal floats, evenly over the bits.
fn positive(n: u32) -> impl Iterator<Item = f32> {
    (0..n).map(move |i| f32::from_bits(0x80_0000 + (0x7f00_0000 / n) * i + i % 97))
}

fn range(low: f32, high: f32, n: u32) -> impl Iterator<Item = f32> {
    (0..=n).map(move |i| low + (high - low) * (i as f32 / n as f32))
}

#[test]
fn accuracy() {
    let n = 40_000;
    sweep(Op::VRcpF32, positive(n), |x| 1.0 / x);
    sweep(Op::VRcpIflagF32, positive(n), |x| 1.0 / x);
    sweep(Op::VSqrtF32, positive(n), f64::sqrt);
    sweep(Op::VRsqF32, positive(n), |x| 1.0 / x.sqrt());
    sweep(Op::VLogF32, positive(n), f64::log2);
    sweep(Op::VLogF32, range(0.9, 1.1, n), f64::log2);
    sweep(Op::VExpF32, range(-150.0, 130.0, n), f64::exp2);
    sweep(Op::VExpF32, range(-1e-3, 1e-3, 1000), f64::exp2);
    let tau = std::f64::consts::TAU;
    // Exact reduction first: the host's sine of a large angle would lose the input's precision.
    let turn = |x: f64| (x - x.round()) * tau;
    sweep(Op::VSinF32, range(-0.24, 0.24, n), |x| (x * tau).sin());
    for (low, high) in [(-1.0, 1.0), (-256.0, 256.0)] {
        let check = |op: Op, f: fn(f64) -> f64| {
            let t: Vec<[u64; 3]> = range(low, high, n).map(|v| [v.to_bits().into(), 0, 0]).collect();
            for (input, (out, _)) in t.iter().zip(run(&inst(op), COMPILED, &t, 0, 0)) {
                let x = f64::from(f32::from_bits(input[0] as u32));
                let error = (f64::from(f32::from_bits(out as u32)) - f(turn(x))).abs();
                assert!(error < 6e-8, "{} {x} {error:e}", op.name());
            }
        };
        check(Op::VSinF32, f64::sin);
        check(Op::VCosF32, f64::cos);
    }
}

#[test]
fn legacy_forms() {
    let t = floats();
    for (legacy, op) in [(Op::VExpLegacyF32, Op::VExpF32), (Op::VLogLegacyF32, Op::VLogF32)] {
        assert_eq!(run(&inst(legacy), COMPILED, &t, 0, 0), run(&inst(op), COMPILED, &t, 0, 0));
    }
}

#[test]
fn double_roots() {
    let t = doubles();
    for (input, (out, _)) in t.iter().zip(run(&inst(Op::VRsqF64), COMPILED, &t, 0, 0)) {
        let x = f64::from_bits(input[0]);
        if x > 0.0 && x.is_finite() {
            // out² x is 1: the error of out in last places is half of what is missing.
            let out = f64::from_bits(out);
            let (a, b) = (out * x.sqrt(), out.mul_add(x.sqrt(), -(out * x.sqrt())));
            assert!(((a - 1.0) + b).abs() <= 2.3e-16, "{x:e}");
        }
    }
}

#[test]
fn special_values() {
    let (inf, nan, neg_inf) = (0x7f80_0000u64, 0xffc0_0000u64, 0xff80_0000u64);
    let (one, minus, zero, minus_zero, tiny) = (0x3f80_0000, 0xbf80_0000, 0, 0x8000_0000, 1);
    let cases: [(Op, &[(u64, u64)]); 7] = [
        (
            Op::VRcpF32,
            &[
                (zero, inf),
                (minus_zero, neg_inf),
                (inf, 0),
                (neg_inf, minus_zero),
                (tiny, inf),
                (0x7f00_0001, 0),
                (0x7fa0_0000, 0x7fe0_0000),
            ],
        ),
        (Op::VRsqF32, &[(zero, inf), (minus_zero, neg_inf), (inf, 0), (minus, nan), (tiny, inf)]),
        (Op::VSqrtF32, &[(zero, 0), (minus_zero, minus_zero), (inf, inf), (minus, nan), (tiny, 0)]),
        (
            Op::VExpF32,
            &[
                (zero, one),
                (inf, inf),
                (neg_inf, 0),
                (0x4300_0000, inf),
                (0xc2fc_0000, 0x80_0000),
                (0xc2fe_0000, 0),
                (one, 0x4000_0000),
            ],
        ),
        (
            Op::VLogF32,
            &[
                (zero, neg_inf),
                (minus_zero, neg_inf),
                (inf, inf),
                (minus, nan),
                (one, 0),
                (0x4100_0000, 0x4040_0000),
                (tiny, neg_inf),
            ],
        ),
        (
            Op::VSinF32,
            &[
                (zero, 0),
                (minus_zero, minus_zero),
                (0x3e80_0000, one),
                (0x3f00_0000, 0),
                (0x3f40_0000, minus),
                (inf, nan),
                (0x4380_8000, 0),
                (0xbf00_0000, minus_zero),
            ],
        ),
        (
            Op::VCosF32,
            &[
                (zero, one),
                (0x3e80_0000, 0),
                (0x3f00_0000, minus),
                (0x3f40_0000, 0),
                (neg_inf, nan),
                (0x4380_8000, one),
            ],
        ),
    ];
    for (op, list) in cases {
        for &(x, expected) in list {
            let (out, _) = run(&inst(op), KEEP, &[[x, 0, 0]], 0, 0)[0];
            assert_eq!(out, expected, "{}({x:x}) = {out:x}", op.name());
        }
    }
}

#[test]
fn halves() {
    let t: Vec<[u64; 3]> = (0..=0xffff).map(|h| [h, 0, 0]).collect();
    let tau = std::f64::consts::TAU;
    let cases: [(Op, &dyn Fn(f64) -> f64); 4] = [
        (Op::VLogF16, &f64::log2),
        (Op::VExpF16, &f64::exp2),
        (Op::VSinF16, &|x| ((x - x.round()) * tau).sin()),
        (Op::VCosF16, &|x| ((x - x.round()) * tau).cos()),
    ];
    for (op, exact) in cases {
        let trig = matches!(op, Op::VSinF16 | Op::VCosF16);
        for (input, (out, _)) in t.iter().zip(run(&inst(op), COMPILED, &t, 0, 0)) {
            let x = super::half::value(input[0] as u16);
            let (out, exact) = (super::half::value(out as u16), exact(x));
            if trig && (x.is_nan() || x.abs() > 256.0) || exact.is_nan() {
                continue;
            }
            let error = if exact.abs() > 65519.0 {
                0.0
            } else {
                (out - exact).abs() / exact.abs().max(2f64.powi(-14))
            };
            assert!(error < 4.9e-4, "{} {x} {out} {exact}", op.name());
        }
    }
}

/// Both ways to a reciprocal root: for every significand with an even and an odd exponent, which are all there are but for powers of
/// four, by which everything is scaled exactly; and for some of all other floats.
#[test]
fn reciprocal_roots_by_one_step() {
    use crate::gcn3::valu::transcendental::{rsq32, rsq32_fused};
    let two_binades = 1f32.to_bits()..4f32.to_bits();
    let some = (0..u32::MAX / 1009).map(|i| i * 1009);
    let special =
        [0u32, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f7f_ffff, 0x80_0000, 1, 0x8000_0001];
    for bits in two_binades.chain(some).chain(special) {
        let x = f32::from_bits(bits);
        let (one, other) = (rsq32(x), rsq32_fused(x));
        assert!(
            one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan(),
            "{x:e}: {one:e}, {other:e}"
        );
    }
}

/// The same of f64: significands near powers of two and near those whose reciprocal lies near the middle of two numbers, any others.
#[test]
fn reciprocal_roots_without_a_division() {
    use crate::gcn3::valu::transcendental::{rsq64, rsq64_fused};
    let same = |bits: u64| {
        let x = f64::from_bits(bits);
        let (one, other) = (rsq64(x), rsq64_fused(x));
        assert!(
            one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan(),
            "{bits:#x}: {one:e}, {other:e}"
        );
    };
    let inf = f64::INFINITY.to_bits();
    for sign in [0, 1 << 63] {
        for near in
            [0, 1, inf - 1, inf, inf + 1, f64::NAN.to_bits(), f64::MIN_POSITIVE.to_bits(), u64::MAX >> 1]
        {
            same(near | sign);
        }
    }
    // Of every exponent, denormals included: roots of one bit, of all ones, and what lies around.
    for exponent in 0..2047u64 {
        for by in 0..200 {
            same((exponent << 52) + by);
            same(((exponent + 1) << 52).wrapping_sub(by));
        }
    }
    for exponent in 0..52 {
        same(1 << exponent);
        same((2 << exponent) - 1);
    }
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    for _ in 0..1_000_000 {
        let bits = random();
        same(bits & !(1 << 63));
        // A root with few bits, or few that are zero, or one that is exact.
        let few = 0x3ff0_0000_0000_0000 | bits >> 12 & bits << 7 & bits >> 31;
        let root = f64::from_bits(if bits & 1 == 0 { few } else { few ^ 0x000f_ffff_ffff_ffff });
        same((root * root).to_bits());
    }
}
