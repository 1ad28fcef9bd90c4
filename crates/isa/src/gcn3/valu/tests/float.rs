//! f32 arithmetic and conversions against Rust's own operations.

use super::*;

pub fn flush(v: f32, on: bool) -> f32 {
    if on && v.is_subnormal() { 0f32.copysign(v) } else { v }
}

/// What an operation of `n` sources gives: flushed sources and results, NaN as the machine makes it.
pub fn expect(n: usize, mode: u32, input: [u64; 3], f: impl Fn([f32; 3]) -> f32) -> u64 {
    let src = input.map(|v| flush(f32::from_bits(v as u32), mode & 0x10 == 0));
    let out = f(src);
    if out.is_nan() {
        let nan = src[..n].iter().find(|v| v.is_nan());
        return nan.map_or(0xffc0_0000, |v| u64::from(v.to_bits() | 0x40_0000));
    }
    flush(out, mode & 0x20 == 0).to_bits().into()
}

fn both(op: Op, n: usize, f: impl Fn([f32; 3]) -> f32) {
    for mode in [COMPILED, KEEP, COMPILED | 0x10, COMPILED | 0x20] {
        check_mode(op, mode, &floats(), |v| expect(n, mode, v, &f));
    }
}

#[test]
fn arithmetic() {
    both(Op::VAddF32, 2, |[a, b, _]| a + b);
    both(Op::VSubF32, 2, |[a, b, _]| a - b);
    both(Op::VSubrevF32, 2, |[a, b, _]| b - a);
    both(Op::VMulF32, 2, |[a, b, _]| a * b);
    both(Op::VMulLegacyF32, 2, |[a, b, _]| if a == 0.0 || b == 0.0 { 0.0 } else { a * b });
    both(Op::VFmaF32, 3, |[a, b, c]| a.mul_add(b, c));
}

#[test]
fn fused_rounds_once() {
    // Products whose sum lies next to a tie, in all sizes down to denormals.
    let mut rng = Rng(5);
    let mut t = Vec::new();
    for _ in 0..60_000 {
        let r = rng.next();
        let a = (r as u32 & 0x807f_ffff) | (64 + (r >> 32) as u32 % 128) << 23;
        let b = rng.next() as u32 & 0x807f_ffff | (20 + (r >> 40) as u32 % 120) << 23;
        let product = f32::from_bits(a) * f32::from_bits(b);
        let c = match r >> 60 & 3 {
            0 => (product * f32::from_bits(0x4b80_0000)).to_bits() & !0xfff,
            1 => (-product).to_bits(),
            2 => (product * 2f32.powi((r >> 52) as i32 % 50 - 25)).to_bits() & !0xff,
            _ => 1 << (r >> 50 & 15),
        };
        t.push([a.into(), b.into(), c.into()]);
    }
    check_mode(Op::VFmaF32, KEEP, &t, |v| expect(3, KEEP, v, |[a, b, c]| a.mul_add(b, c)));
}

#[test]
fn unfused() {
    let mad = |[a, b, c]: [f32; 3]| flush(a * b, true) + c;
    for mode in [COMPILED, KEEP] {
        // Denormals never count, whatever MODE says.
        let no = mode & !0xf0;
        check_mode(Op::VMadF32, mode, &floats(), |v| expect(3, no, v, mad));
        check_mode(Op::VMadmkF32, mode, &floats(), |v| expect(3, no, v, mad));
        check_mode(Op::VMadakF32, mode, &floats(), |v| expect(3, no, v, mad));
        check_mode(Op::VMadLegacyF32, mode, &floats(), |v| {
            expect(3, no, v, |[a, b, c]| if a == 0.0 || b == 0.0 { 0.0 + c } else { flush(a * b, true) + c })
        });
        for old in F32 {
            let t = floats();
            let t = &t[..700];
            for (input, (out, _)) in t.iter().zip(run(&inst(Op::VMacF32), mode, t, old.into(), 0)) {
                let [a, b, _] = *input;
                assert_eq!(out, expect(3, no, [a, b, old.into()], mad), "{input:x?} {old:x}");
            }
        }
    }
}

fn min_rule(a: u32, b: u32, max: bool, ieee: bool) -> u32 {
    let f = f32::from_bits;
    let snan = |v: u32| f(v).is_nan() && v & 0x40_0000 == 0;
    match () {
        () if ieee && snan(a) => a | 0x40_0000,
        () if ieee && snan(b) => b | 0x40_0000,
        () if f(a).is_nan() => b,
        () if f(b).is_nan() => a,
        // total_cmp puts −0 below +0.
        () => {
            if f(a).total_cmp(&f(b)).is_lt() != max {
                a
            } else {
                b
            }
        }
    }
}

#[test]
fn minimum_and_maximum() {
    for mode in [COMPILED, COMPILED & !(1 << 9)] {
        let ieee = mode & 1 << 9 != 0;
        let m = |a: u64, b: u64, max| u64::from(min_rule(a as u32, b as u32, max, ieee));
        check_mode(Op::VMinF32, mode, &floats(), |[a, b, _]| m(a, b, false));
        check_mode(Op::VMaxF32, mode, &floats(), |[a, b, _]| m(a, b, true));
        check_mode(Op::VMin3F32, mode, &floats(), |[a, b, c]| m(m(a, b, false), c, false));
        check_mode(Op::VMax3F32, mode, &floats(), |[a, b, c]| m(m(a, b, true), c, true));
        check_mode(Op::VMed3F32, mode, &floats(), |v| {
            let mut f = v.map(|x| f32::from_bits(x as u32));
            if f.iter().any(|x| x.is_nan()) {
                return m(m(v[0], v[1], false), v[2], false);
            }
            f.sort_by(f32::total_cmp);
            f[1].to_bits().into()
        });
    }
}

#[test]
fn rounding() {
    both(Op::VRndneF32, 1, |[a, ..]| a.round_ties_even());
    both(Op::VFloorF32, 1, |[a, ..]| a.floor());
    both(Op::VCeilF32, 1, |[a, ..]| a.ceil());
    both(Op::VTruncF32, 1, |[a, ..]| a.trunc());
    both(Op::VFractF32, 1, |[a, ..]| {
        (a - a.floor()).min(1.0 - f32::EPSILON / 2.0) + if a.is_finite() { 0.0 } else { f32::NAN }
    });
}

#[test]
fn parts() {
    for mode in [COMPILED, KEEP] {
        let t = floats();
        let (m, e) =
            (run(&inst(Op::VFrexpMantF32), mode, &t, 0, 0), run(&inst(Op::VFrexpExpI32F32), mode, &t, 0, 0));
        for ((input, (m, _)), (e, _)) in t.iter().zip(m).zip(e) {
            let v = flush(f32::from_bits(input[0] as u32), mode & 0x10 == 0);
            let (m, e) = (f32::from_bits(m as u32), e as i32);
            if v == 0.0 || !v.is_finite() {
                assert_eq!(e, 0);
                assert!(v.is_nan() && m.is_nan() || m.to_bits() == v.to_bits());
            } else {
                assert!((0.5..1.0).contains(&m.abs()), "{v:e} {m}");
                assert_eq!(f64::from(m) * 2f64.powi(e), f64::from(v));
            }
        }
        // By powers of two one step at a time in f64, rounded at the end.
        let mut t = Vec::new();
        for v in F32 {
            for n in [
                -500,
                -300,
                -160,
                -150,
                -149,
                -126,
                -24,
                -2,
                -1,
                0,
                1,
                5,
                100,
                127,
                200,
                280,
                400,
                i32::MIN,
                i32::MAX,
            ] {
                t.push([v.into(), n as u32 as u64, 0]);
            }
        }
        check_mode(Op::VLdexpF32, mode, &t, |v| {
            expect(1, mode, v, |[a, ..]| {
                let mut x = f64::from(a);
                for _ in 0..(v[1] as i32).unsigned_abs().min(700) {
                    x *= if v[1] as i32 > 0 { 2.0 } else { 0.5 };
                }
                x as f32
            })
        });
    }
}

#[test]
fn conversions() {
    let t = floats();
    let f = |v: u64| f64::from(flush(f32::from_bits(v as u32), true));
    let clamp = |v: f64, low: f64, high: f64| {
        if v.is_nan() { 0 } else { v.clamp(low, high) as i64 as u64 & 0xffff_ffff }
    };
    let (imin, imax, umax) = (-2147483648.0, 2147483647.0, 4294967295.0);
    check(Op::VCvtI32F32, &t, |[a, ..]| clamp(f(a).trunc(), imin, imax));
    check(Op::VCvtU32F32, &t, |[a, ..]| clamp(f(a).trunc(), 0.0, umax));
    check(Op::VCvtFlrI32F32, &t, |[a, ..]| clamp(f(a).floor(), imin, imax));
    check(Op::VCvtRpiI32F32, &t, |[a, ..]| clamp((f(a) + 0.5).floor(), imin, imax));
    let bits = |v: f64| u64::from((v as f32).to_bits());
    let i = ints();
    check(Op::VCvtF32I32, &i, |[a, ..]| bits(f64::from(a as i32)));
    check(Op::VCvtF32U32, &i, |[a, ..]| bits(f64::from(a as u32)));
    for (n, op) in
        [Op::VCvtF32Ubyte0, Op::VCvtF32Ubyte1, Op::VCvtF32Ubyte2, Op::VCvtF32Ubyte3].into_iter().enumerate()
    {
        check(op, &i, |[a, ..]| bits(((a as u32).to_le_bytes()[n]).into()));
    }
    check(Op::VCvtOffF32I4, &i, |[a, ..]| {
        let v = (a & 15) as f64;
        bits(if v >= 8.0 { v - 16.0 } else { v } / 16.0)
    });
    let byte = |v: f64| clamp(v.trunc(), 0.0, 255.0);
    let packs: Vec<[u64; 3]> = t.iter().enumerate().map(|(n, [a, b, _])| [*a, n as u64 % 5, *b]).collect();
    check(Op::VCvtPkU8F32, &packs, |[a, n, old]| {
        let mut bytes = (old as u32).to_le_bytes();
        bytes[n as usize % 4] = byte(f(a)) as u8;
        u32::from_le_bytes(bytes).into()
    });
    // The accumulating form replaces a byte of its destination.
    for old in [0u32, u32::MAX, 0x1234_5678] {
        let out = run(&inst(Op::VCvtPkaccumU8F32), COMPILED, &packs, old.into(), 0);
        for (input, (out, _)) in packs.iter().zip(out) {
            let mut bytes = old.to_le_bytes();
            bytes[input[1] as usize % 4] = byte(f(input[0])) as u8;
            assert_eq!(out, u64::from(u32::from_le_bytes(bytes)), "{input:x?} {old:x}");
        }
    }
    let norm = |v: f64, low: f64, steps: f64| {
        let v = if v.is_nan() { 0.0 } else { v.clamp(low, 1.0) };
        (v * steps).round_ties_even() as i64 as u64 & 0xffff
    };
    check(Op::VCvtPknormI16F32, &t, |[a, b, _]| norm(f(a), -1.0, 32767.0) | norm(f(b), -1.0, 32767.0) << 16);
    check(Op::VCvtPknormU16F32, &t, |[a, b, _]| norm(f(a), 0.0, 65535.0) | norm(f(b), 0.0, 65535.0) << 16);
}

#[test]
fn cube_faces() {
    let v = |x: f32, y: f32, z: f32| [x, y, z].map(|c| u64::from(c.to_bits()));
    let cases = [
        (v(1.0, 0.25, -0.5), [0.0, 0.5, -0.25, 2.0]),
        (v(-1.0, 0.25, -0.5), [1.0, -0.5, -0.25, -2.0]),
        (v(0.5, 2.0, 1.0), [2.0, 0.5, 1.0, 4.0]),
        (v(0.5, -2.0, 1.0), [3.0, 0.5, -1.0, -4.0]),
        (v(1.0, 1.0, 1.0), [4.0, 1.0, -1.0, 2.0]),
        (v(0.5, 0.25, -1.0), [5.0, -0.5, -0.25, -2.0]),
    ];
    let ops = [Op::VCubeidF32, Op::VCubescF32, Op::VCubetcF32, Op::VCubemaF32];
    for (input, expected) in cases {
        for (op, e) in ops.into_iter().zip(expected) {
            let (out, _) = run(&inst(op), COMPILED, &[input], 0, 0)[0];
            assert_eq!(f32::from_bits(out as u32), e, "{} {input:x?}", op.name());
        }
    }
}

#[test]
fn signs() {
    // abs, then neg, of each source, on rows and scalars.
    let t = floats();
    for bits in 0..64u8 {
        let mut i = inst(Op::VMadF32);
        (i.abs, i.neg) = (bits & 7, bits >> 3);
        let t = &t[(usize::from(bits) * 40)..][..200];
        for (input, (out, _)) in t.iter().zip(run(&i, COMPILED, t, 0, 0)) {
            let mut v = input.map(|v| f32::from_bits(v as u32));
            for (n, x) in v.iter_mut().enumerate() {
                *x = if bits >> n & 1 == 1 { x.abs() } else { *x };
                *x = if bits >> (n + 3) & 1 == 1 { -*x } else { *x };
            }
            let v = v.map(|x| u64::from(x.to_bits()));
            assert_eq!(out, expect(3, COMPILED, v, |[a, b, c]| flush(a * b, true) + c));
        }
    }
    let mut r = regs(COMPILED);
    let mut i = inst(Op::VAddF32);
    (i.src[0], i.neg, i.abs) = (Operand::InlineFloat(super::super::super::InlineFloat::MinusTwo), 1, 1);
    fill(&mut r, 1, 3, 1f32.to_bits().into());
    execute(&i, &mut r, 8).unwrap();
    assert_eq!(result(&r, 1, 3), u64::from((-1f32).to_bits()));
}
