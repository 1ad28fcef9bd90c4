//! Every comparison of every type, class tests, and where the mask goes.

use super::*;
use std::cmp::Ordering;

/// Text of the condition, as in the mnemonic, decides.
fn holds(condition: &str, order: Option<Ordering>) -> bool {
    let (negated, base) = match condition {
        "neq" => (true, "eq"),
        "nge" | "nlg" | "ngt" | "nle" | "nlt" => (true, &condition[1..]),
        _ => (false, condition),
    };
    let found = match base {
        "f" => false,
        "t" | "tru" => true,
        "o" => order.is_some(),
        "u" => order.is_none(),
        "lt" => order == Some(Ordering::Less),
        "eq" => order == Some(Ordering::Equal),
        "gt" => order == Some(Ordering::Greater),
        "le" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        "ge" => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        "lg" => matches!(order, Some(Ordering::Less | Ordering::Greater)),
        "ne" => order != Some(Ordering::Equal),
        other => panic!("condition {other}"),
    };
    found != negated
}

fn order(ty: &str, a: u64, b: u64, mode: u32) -> Option<Ordering> {
    let flush32 = |v: u64| {
        let f = f32::from_bits(v as u32);
        if mode & 0x10 == 0 && f.is_subnormal() { 0.0 } else { f }
    };
    let half = |v: u64| {
        let h = v as u16;
        let (e, m) = (i32::from(h >> 10 & 31), f64::from(h & 0x3ff));
        let v = match e {
            31 if m != 0.0 => f64::NAN,
            31 => f64::INFINITY,
            0 => m / 1024.0 / 16384.0,
            _ => (1.0 + m / 1024.0) * 2f64.powi(e - 15),
        };
        if h & 0x8000 != 0 { -v } else { v }
    };
    match ty {
        "i16" => (a as i16).partial_cmp(&(b as i16)),
        "u16" => (a as u16).partial_cmp(&(b as u16)),
        "i32" => (a as i32).partial_cmp(&(b as i32)),
        "u32" => (a as u32).partial_cmp(&(b as u32)),
        "i64" => (a as i64).partial_cmp(&(b as i64)),
        "u64" => a.partial_cmp(&b),
        "f16" => half(a).partial_cmp(&half(b)),
        "f32" => flush32(a).partial_cmp(&flush32(b)),
        "f64" => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        other => panic!("type {other}"),
    }
}

#[test]
fn every_comparison() {
    let mut count = 0;
    for op in Op::all().filter(|op| op.name().starts_with("v_cmp")) {
        let parts: Vec<&str> = op.name().split('_').collect();
        let (condition, ty) = (parts[2], parts[3]);
        if condition == "class" {
            continue;
        }
        count += 1;
        let inputs = match ty {
            "f32" => floats(),
            "f64" => doubles(),
            "f16" => halves(),
            "i64" | "u64" => mix(&[0, 1, !0, 1 << 63, (1 << 63) - 1, 0xffff_ffff, 1 << 32], 500, |r| {
                r.next() >> (r.next() & 63)
            }),
            _ => ints(),
        };
        let inputs = &inputs[..inputs.len().min(2600)];
        for mode in [COMPILED, KEEP] {
            for (input, (_, found)) in inputs.iter().zip(run(&inst(op), mode, inputs, 0, 0)) {
                let expected = holds(condition, order(ty, input[0], input[1], mode));
                assert_eq!(found, expected, "{} {input:x?}", op.name());
            }
        }
    }
    assert_eq!(count, 2 * (3 * 16 + 6 * 8));
}

#[test]
fn destinations() {
    // Lanes off give 0; v_cmpx writes EXEC too.
    let mut r = regs(COMPILED);
    (0..64).for_each(|lane| fill(&mut r, 0, lane, lane.into()));
    (0..64).for_each(|lane| fill(&mut r, 1, lane, 32));
    r.set_pair(sreg::EXEC, !0);
    let mut i = inst(Op::VCmpGtU32);
    i.dst = Operand::Sgpr(40);
    execute(&i, &mut r, 0xffff_0000_ffff_0000).unwrap();
    assert_eq!(r.pair(40), 0xffff_0000_0000_0000 & !(1 << 32));
    assert_eq!((r.exec(), r.vcc()), (!0, 0));
    execute(&inst(Op::VCmpxLeU32), &mut r, 0x0000_ffff_ffff_0000).unwrap();
    assert_eq!(r.exec(), 0x0000_0001_ffff_0000);
    assert_eq!(r.vcc(), r.exec());
    execute(&inst(Op::VCmpxTruF32), &mut r, 0b1010).unwrap();
    assert_eq!(r.exec(), 0b1010);
}

#[test]
fn classes() {
    let class32 = |v: f32| -> u32 {
        let quiet = v.to_bits() & 0x40_0000 != 0;
        match v.classify() {
            std::num::FpCategory::Nan => {
                if quiet {
                    1
                } else {
                    0
                }
            }
            std::num::FpCategory::Infinite => {
                if v < 0.0 {
                    2
                } else {
                    9
                }
            }
            std::num::FpCategory::Normal => {
                if v < 0.0 {
                    3
                } else {
                    8
                }
            }
            std::num::FpCategory::Subnormal => {
                if v < 0.0 {
                    4
                } else {
                    7
                }
            }
            std::num::FpCategory::Zero => {
                if v.is_sign_negative() {
                    5
                } else {
                    6
                }
            }
        }
    };
    for bit in 0..10 {
        let t: Vec<[u64; 3]> = F32.iter().map(|v| [u64::from(*v), 1 << bit, 0]).collect();
        for (input, (_, found)) in t.iter().zip(run(&inst(Op::VCmpClassF32), COMPILED, &t, 0, 0)) {
            assert_eq!(found, class32(f32::from_bits(input[0] as u32)) == bit, "{input:x?}");
        }
        let t: Vec<[u64; 3]> = F64.iter().map(|v| [*v, 1 << bit, 0]).collect();
        for (input, (_, found)) in t.iter().zip(run(&inst(Op::VCmpClassF64), COMPILED, &t, 0, 0)) {
            let v = f64::from_bits(input[0]);
            let number = match () {
                () if v.is_nan() => u32::from(input[0] & 1 << 51 != 0),
                () if v.is_subnormal() => {
                    if v < 0.0 {
                        4
                    } else {
                        7
                    }
                }
                () => class32(v as f32),
            };
            // The conversion may leave the normal range of f32.
            if v.is_nan() || v.is_subnormal() || (v as f32).is_normal() || v == 0.0 || v.is_infinite() {
                assert_eq!(found, number == bit, "{input:x?} {bit}");
            }
        }
        for (h, number) in [
            (0x7c01u64, 0),
            (0xfe00, 1),
            (0xfc00, 2),
            (0xbc00, 3),
            (0x8001, 4),
            (0x8000, 5),
            (0, 6),
            (0x3ff, 7),
            (0x400, 8),
            (0x7c00, 9),
        ] {
            let (_, found) = run(&inst(Op::VCmpClassF16), COMPILED, &[[h, 1 << bit, 0]], 0, 0)[0];
            assert_eq!(found, number == bit, "{h:x} {bit}");
        }
    }
    // The forms that write EXEC find the same lanes.
    for (op, exec_op, values) in [
        (Op::VCmpClassF16, Op::VCmpxClassF16, halves()),
        (Op::VCmpClassF32, Op::VCmpxClassF32, floats()),
        (Op::VCmpClassF64, Op::VCmpxClassF64, doubles()),
    ] {
        let mut r = regs(COMPILED);
        for (lane, input) in (0..64).zip(&values) {
            fill(&mut r, 0, lane, input[0]);
            fill(&mut r, 1, lane, input[1] & 0x3ff | 1 << (lane % 10));
        }
        execute(&inst(op), &mut r, 0xffff_00ff_ffff_fff0).unwrap();
        let found = r.vcc();
        r.set_pair(sreg::EXEC, !0);
        execute(&inst(exec_op), &mut r, 0xffff_00ff_ffff_fff0).unwrap();
        assert_eq!((r.vcc(), r.exec()), (found, found), "{}", exec_op.name());
        assert!(found != 0 && found & 0x0000_ff00_0000_000f == 0);
    }
    // Modifiers come first: |-0| is +0.
    let mut i = inst(Op::VCmpClassF32);
    i.abs = 1;
    assert!(run(&i, COMPILED, &[[0x8000_0000, 1 << 6, 0]], 0, 0)[0].1);
    i = inst(Op::VCmpLtF64);
    i.neg = 1;
    let one = 1f64.to_bits();
    assert!(run(&i, COMPILED, &[[one, one, 0]], 0, 0)[0].1);
    i = inst(Op::VCmpGtF32);
    i.abs = 2;
    assert!(!run(&i, COMPILED, &[[0x3f80_0000, 0xc000_0000, 0]], 0, 0)[0].1);
}

pub fn halves() -> Vec<[u64; 3]> {
    let special = [
        0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3800, 0x4200, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
        0x7e01, 0x7d00, 0xfc01,
    ];
    mix(&special, 4000, |r| r.next() & 0xffff)
}
