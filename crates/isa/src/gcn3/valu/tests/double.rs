//! f64 arithmetic and conversions against Rust's own operations.

use super::*;

fn expect(n: usize, mode: u32, input: [u64; 3], f: impl Fn([f64; 3]) -> f64) -> u64 {
    let flush = |v: f64, on: bool| if on && v.is_subnormal() { 0f64.copysign(v) } else { v };
    let src = input.map(|v| flush(f64::from_bits(v), mode & 0x40 == 0));
    let out = f(src);
    if out.is_nan() {
        return src[..n].iter().find(|v| v.is_nan()).map_or(0xfff8 << 48, |v| v.to_bits() | 1 << 51);
    }
    flush(out, mode & 0x80 == 0).to_bits()
}

fn both(op: Op, n: usize, f: impl Fn([f64; 3]) -> f64) {
    for mode in [COMPILED, COMPILED & !0xc0, COMPILED & !0x80] {
        check_mode(op, mode, &doubles(), |v| expect(n, mode, v, &f));
    }
}

#[test]
fn arithmetic() {
    both(Op::VAddF64, 2, |[a, b, _]| a + b);
    both(Op::VMulF64, 2, |[a, b, _]| a * b);
    both(Op::VFmaF64, 3, |[a, b, c]| a.mul_add(b, c));
    both(Op::VRndneF64, 1, |[a, ..]| a.round_ties_even());
    both(Op::VFloorF64, 1, |[a, ..]| a.floor());
    both(Op::VCeilF64, 1, |[a, ..]| a.ceil());
    both(Op::VTruncF64, 1, |[a, ..]| a.trunc());
    both(Op::VRcpF64, 1, |[a, ..]| 1.0 / a);
    both(Op::VSqrtF64, 1, |[a, ..]| a.sqrt());
    both(Op::VFractF64, 1, |[a, ..]| {
        if a.is_finite() { (a - a.floor()).min(1.0 - f64::EPSILON / 2.0) } else { f64::NAN }
    });
}

#[test]
fn minimum_and_maximum() {
    let f = f64::from_bits;
    let snan = |v: u64| f(v).is_nan() && v & 1 << 51 == 0;
    let rule = |a: u64, b: u64, max: bool| match () {
        () if snan(a) => a | 1 << 51,
        () if snan(b) => b | 1 << 51,
        () if f(a).is_nan() => b,
        () if f(b).is_nan() => a,
        () => {
            if f(a).total_cmp(&f(b)).is_lt() != max {
                a
            } else {
                b
            }
        }
    };
    check(Op::VMinF64, &doubles(), |[a, b, _]| rule(a, b, false));
    check(Op::VMaxF64, &doubles(), |[a, b, _]| rule(a, b, true));
}

#[test]
fn conversions() {
    let t = doubles();
    let clamp = |v: f64, low: f64, high: f64| {
        if v.is_nan() { 0 } else { v.trunc().clamp(low, high) as i64 as u64 & 0xffff_ffff }
    };
    check(Op::VCvtI32F64, &t, |[a, ..]| clamp(f64::from_bits(a), -2147483648.0, 2147483647.0));
    check(Op::VCvtU32F64, &t, |[a, ..]| clamp(f64::from_bits(a), 0.0, 4294967295.0));
    let i = ints();
    check(Op::VCvtF64I32, &i, |[a, ..]| (a as i32 as f64).to_bits());
    check(Op::VCvtF64U32, &i, |[a, ..]| (a as f64).to_bits());
    for mode in [COMPILED, KEEP] {
        check_mode(Op::VCvtF32F64, mode, &t, |[a, ..]| {
            let v = f64::from_bits(a);
            if v.is_nan() {
                return a >> 32 & 0x8000_0000 | 0x7fc0_0000 | a >> 29 & 0x7f_ffff;
            }
            u64::from(super::float::flush(v as f32, mode & 0x20 == 0).to_bits())
        });
        check_mode(Op::VCvtF64F32, mode, &floats(), |[a, ..]| {
            let v = super::float::flush(f32::from_bits(a as u32), mode & 0x10 == 0);
            if v.is_nan() {
                return (a & 0x8000_0000) << 32 | 0x7ff8 << 48 | (a & 0x7f_ffff) << 29;
            }
            f64::from(v).to_bits()
        });
    }
}

#[test]
fn parts() {
    let t = doubles();
    let (m, e) = (
        run(&inst(Op::VFrexpMantF64), COMPILED, &t, 0, 0),
        run(&inst(Op::VFrexpExpI32F64), COMPILED, &t, 0, 0),
    );
    for ((input, (m, _)), (e, _)) in t.iter().zip(m).zip(e) {
        let v = f64::from_bits(input[0]);
        let (m, e) = (f64::from_bits(m), e as i32);
        if v == 0.0 || !v.is_finite() {
            assert_eq!(e, 0);
            assert!(v.is_nan() && m.is_nan() || m.to_bits() == v.to_bits());
        } else {
            assert!((0.5..1.0).contains(&m.abs()), "{v:e} {m}");
            let scaled = (0..e.abs()).fold(m, |x, _| if e > 0 { x * 2.0 } else { x / 2.0 });
            assert_eq!(scaled, v, "{input:x?}");
        }
    }
    let mut t = Vec::new();
    for v in F64.into_iter().chain([0x3ff0_0000_0000_0003, 0x1234_5678_9abc_def1]) {
        for n in [
            -3000,
            -1100,
            -1075,
            -1074,
            -1023,
            -1000,
            -60,
            -53,
            -52,
            -2,
            -1,
            0,
            1,
            53,
            1000,
            1023,
            2100,
            4000,
            i32::MIN,
            i32::MAX,
        ] {
            t.push([v, n as u32 as u64, 0]);
        }
    }
    check(Op::VLdexpF64, &t, |v| {
        expect(1, COMPILED, v, |[a, ..]| {
            // Down in one last step, so that it rounds once; multiplications above that are exact.
            let n = (v[1] as i32).clamp(-3000, 3000);
            let (m, e) =
                if a == 0.0 || !a.is_finite() { return a } else { (a.abs().log2().floor() as i32, n) };
            let top = (m + e).clamp(-1200, 1200);
            if top >= -1000 || e >= 0 {
                return (0..e.abs()).fold(a, |x, _| if e > 0 { x * 2.0 } else { x * 0.5 });
            }
            let exact = (0..-e).try_fold((a, 0), |(x, k), _| {
                let next = x * 0.5;
                if next.is_normal() { Ok((next, k + 1)) } else { Err((x, k)) }
            });
            match exact {
                Ok((x, _)) => x,
                Err((x, k)) => match -e - k {
                    0..=1000 => x * 2f64.powi(-((-e - k).min(1000))),
                    _ => 0f64.copysign(a),
                },
            }
        })
    });
}

#[test]
fn signs() {
    let t = doubles();
    for bits in 0..64u8 {
        let mut i = inst(Op::VFmaF64);
        (i.abs, i.neg) = (bits & 7, bits >> 3);
        let t = &t[(usize::from(bits) * 40)..][..200];
        for (input, (out, _)) in t.iter().zip(run(&i, COMPILED, t, 0, 0)) {
            let mut v = input.map(f64::from_bits);
            for (n, x) in v.iter_mut().enumerate() {
                *x = if bits >> n & 1 == 1 { x.abs() } else { *x };
                *x = if bits >> (n + 3) & 1 == 1 { -*x } else { *x };
            }
            assert_eq!(out, expect(3, COMPILED, v.map(f64::to_bits), |[a, b, c]| a.mul_add(b, c)));
        }
    }
}
