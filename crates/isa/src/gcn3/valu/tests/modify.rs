//! SDWA, DPP, clamp, omod, lane access and what is refused.

use super::super::super::inst::{flag, omod};
use super::super::super::operand::Ty;
use super::super::super::table::Halves;
use super::*;

const FIELDS: [(u32, u32); 7] = [(0, 8), (8, 8), (16, 8), (24, 8), (0, 16), (16, 16), (0, 32)];

fn field(v: u64, sel: usize, sext: bool) -> u64 {
    let (shift, width) = FIELDS[sel];
    let part = v >> shift & ((1 << width) - 1);
    if sext && part >> (width - 1) & 1 == 1 { (part | !0 << width) & 0xffff_ffff } else { part }
}

#[test]
fn sub_dword() {
    let t: Vec<[u64; 3]> = ints().into_iter().rev().take(200).collect();
    let old = 0x1122_3344u64;
    for sel in 0..7 {
        for (dst, unused) in (0..7).flat_map(|d| (0..3).map(move |u| (d, u))) {
            for sext in [false, true] {
                let mut i = inst(Op::VAddU32);
                i.format = Format::Sdwa;
                let second = (sel + 3) % 7;
                i.imm = (dst << 8 | unused << 11 | sel << 16 | usize::from(sext) << 19 | second << 24) as i32;
                for (input, (out, carry)) in t.iter().zip(run(&i, COMPILED, &t, old, 0)) {
                    let exact = field(input[0], sel, sext) + field(input[1], second, false);
                    let (shift, width) = FIELDS[dst];
                    let part = exact & ((1 << width) - 1);
                    let mut expected = part << shift;
                    let filled = ((1u64 << width) - 1) << shift;
                    match unused {
                        1 if part >> (width - 1) & 1 == 1 => expected |= !0 << (shift + width) & 0xffff_ffff,
                        2 => expected |= old & !filled,
                        _ => {}
                    }
                    assert_eq!(out, expected, "sel {sel} sext {sext} dst {dst} unused {unused} {input:x?}");
                    assert_eq!(carry, exact >> 32 != 0);
                }
            }
        }
    }
    // Compiled code: sext(v4) as shift operand, half floats from the high word with neg.
    let mut i = inst(Op::VAshrrevI16);
    i.format = Format::Sdwa;
    i.imm = 6 << 8 | 6 << 16 | 8 << 24;
    assert_eq!(run(&i, COMPILED, &[[4, 0x1280, 0]], 0, 0)[0].0, 0xfff8);
    let mut i = inst(Op::VAddF16);
    i.format = Format::Sdwa;
    i.imm = 5 << 8 | 2 << 11 | 5 << 16 | 4 << 24;
    i.neg = 1;
    assert_eq!(run(&i, COMPILED, &[[0x3c00_0000, 0x4200, 0]], 0xabcd, 0)[0].0, 0x4000_abcd);
    let mut i = inst(Op::VCmpLtI32);
    i.format = Format::Sdwa;
    i.imm = 8 << 16 | 6 << 24;
    assert!(run(&i, COMPILED, &[[0xff, 0, 0]], 0, 0)[0].1);
}

/// Lane each lane reads under a control, by the drawings of the manual; 99 for none.
fn reads(ctrl: u32, lane: u32) -> u32 {
    let (row, at) = (lane / 16 * 16, lane % 16);
    match ctrl {
        0..=0xff => lane / 4 * 4 + (ctrl >> (2 * (lane % 4)) & 3),
        0x101..=0x10f => {
            if at + ctrl - 0x100 < 16 {
                lane + ctrl - 0x100
            } else {
                99
            }
        }
        0x111..=0x11f => {
            if at >= ctrl - 0x110 {
                lane - (ctrl - 0x110)
            } else {
                99
            }
        }
        0x121..=0x12f => row + (at + 16 - (ctrl - 0x120)) % 16,
        0x130 => {
            if lane == 63 {
                99
            } else {
                lane + 1
            }
        }
        0x134 => (lane + 1) % 64,
        0x138 => {
            if lane == 0 {
                99
            } else {
                lane - 1
            }
        }
        0x13c => (lane + 63) % 64,
        0x140 => row + 15 - at,
        0x141 => lane / 8 * 8 + 7 - lane % 8,
        0x142 => {
            if lane < 16 {
                99
            } else {
                row - 1
            }
        }
        _ => {
            if lane < 32 {
                99
            } else {
                31
            }
        }
    }
}

#[test]
fn data_from_other_lanes() {
    let mut controls = vec![0x1b, 0xe4, 0xb1, 0x130, 0x134, 0x138, 0x13c, 0x140, 0x141, 0x142, 0x143];
    controls.extend((0x101..0x110).chain(0x111..0x120).chain(0x121..0x130));
    for ctrl in controls {
        for (bound, banks, rows, mask) in
            [(0, 15, 15, !0), (1, 15, 15, !0), (0, 5, 10, !0), (1, 15, 15, 0xf0f0_ffff_5555_ff0f)]
        {
            let mut i = inst(Op::VMovB32);
            i.format = Format::Dpp;
            i.imm = (ctrl << 8 | bound << 19 | banks << 24 | rows << 28) as i32;
            let mut r = regs(COMPILED);
            for lane in 0..64 {
                fill(&mut r, 0, lane, u64::from(lane) + 100);
                r.v.set(12, lane, 7);
            }
            execute(&i, &mut r, mask).unwrap();
            for lane in 0..64 {
                let from = reads(ctrl, lane);
                let valid = from < 64 && mask >> from & 1 == 1;
                let on =
                    mask >> lane & 1 == 1 && banks >> (lane / 4 % 4) & 1 == 1 && rows >> (lane / 16) & 1 == 1;
                let expected = match () {
                    () if !on => 7,
                    () if valid => u64::from(from) + 100,
                    () if bound == 1 => 0,
                    () => 7,
                };
                assert_eq!(
                    result(&r, 1, lane),
                    expected,
                    "ctrl {ctrl:x} bound {bound} lane {lane} mask {mask:x}"
                );
            }
        }
    }
    // A sum over a row as compilers write it.
    let mut r = regs(COMPILED);
    (0..64).for_each(|lane| fill(&mut r, 1, lane, lane.into()));
    for shift in [1, 2, 4, 8] {
        let mut i = inst(Op::VAddU32);
        i.format = Format::Dpp;
        (i.src[0], i.dst) = (Operand::Vgpr(4), Operand::Vgpr(4));
        i.imm = (0x110 + shift) << 8 | 0xff << 24;
        execute(&i, &mut r, !0).unwrap();
    }
    assert_eq!((r.v.get(4, 15), r.v.get(4, 16), r.v.get(4, 31)), (120, 16, 376));
}

fn with(op: Op, omod: u8, clamp: bool) -> Inst {
    let mut i = inst(op);
    i.omod = omod;
    i.flags |= if clamp { flag::CLAMP } else { 0 };
    i
}

#[test]
fn results_clamped_and_scaled() {
    let f = |v: f32| u64::from(v.to_bits());
    let mul =
        |i: Inst, mode: u32, v: f32| f32::from_bits(run(&i, mode, &[[f(v), f(1.0), 0]], 0, 0)[0].0 as u32);
    let clamp = with(Op::VMulF32, 0, true);
    for (v, expected) in
        [(0.5, 0.5), (2.0, 1.0), (-3.0, 0.0), (f32::INFINITY, 1.0), (f32::NAN, 0.0), (f32::NEG_INFINITY, 0.0)]
    {
        assert_eq!(mul(clamp, COMPILED, v), expected);
    }
    assert!(mul(clamp, COMPILED & !(1 << 8), f32::NAN).is_nan());
    // Ignored with IEEE mode or kept denormals.
    let free = COMPILED & !(1 << 9);
    for (m, factor) in [(omod::MUL2, 2.0), (omod::MUL4, 4.0), (omod::DIV2, 0.5)] {
        assert_eq!(mul(with(Op::VMulF32, m, false), free, 3.0), 3.0 * factor);
        assert_eq!(mul(with(Op::VMulF32, m, false), COMPILED, 3.0), 3.0);
        assert_eq!(mul(with(Op::VMulF32, m, false), free | 0x20, 3.0), 3.0);
        assert_eq!(mul(with(Op::VMulF32, m, true), free, 0.75), (0.75f32 * factor).min(1.0));
    }
    assert_eq!(mul(with(Op::VMulF32, omod::DIV2, false), free, f32::MIN_POSITIVE), 0.0);
    assert_eq!(mul(with(Op::VMulF32, omod::MUL2, false), free, -0.0).to_bits(), 0);
    let d = |v: f64| v.to_bits();
    let add = |i: Inst, mode: u32, v: f64| f64::from_bits(run(&i, mode, &[[d(v), d(0.0), 0]], 0, 0)[0].0);
    assert_eq!(add(with(Op::VAddF64, 0, true), COMPILED, 7.0), 1.0);
    assert_eq!(add(with(Op::VAddF64, omod::MUL4, false), free & !0xc0, 7.0), 28.0);
    assert_eq!(add(with(Op::VAddF64, omod::MUL4, false), free, 7.0), 7.0);
    let (half, _) = run(&with(Op::VAddF16, 0, true), COMPILED, &[[0x4200, 0x3c00, 0]], 0, 0)[0];
    assert_eq!(half, 0x3c00);
    // Integers saturate.
    let t = ints();
    for (input, (out, _)) in t.iter().zip(run(&with(Op::VMadI32I24, 0, true), COMPILED, &t, 0, 0)) {
        let s24 = |v: u64| i64::from((v as u32) << 8) << 32 >> 40;
        let exact = s24(input[0]) * s24(input[1]) + i64::from(input[2] as i32);
        assert_eq!(out, u64::from(exact.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32));
    }
    let (out, _) = run(&with(Op::VAddU16, 0, true), COMPILED, &[[0xfff0, 0x20, 0]], 0, 0)[0];
    assert_eq!(out, 0xffff);
}

#[test]
fn select_with_signs() {
    let mut i = inst(Op::VCndmaskB32);
    (i.abs, i.neg) = (1, 2);
    let t = [[0x8000_0001, 5, 0]; 2];
    assert_eq!(run(&i, COMPILED, &t, 0, 2), [(1, false), (0x8000_0005, false)]);
}

#[test]
fn single_lanes() {
    let mut r = regs(COMPILED);
    (0..64).for_each(|lane| fill(&mut r, 0, lane, u64::from(lane) + 1000));
    let mut i = inst(Op::VReadfirstlaneB32);
    i.dst = Operand::Sgpr(5);
    for (lanes, first) in [(!0, 0), (0xff00, 8), (1 << 63, 63), (0, 0)] {
        execute(&i, &mut r, lanes).unwrap();
        assert_eq!(r.s[5], 1000 + first);
    }
    let mut i = inst(Op::VReadlaneB32);
    (i.dst, i.src[1]) = (Operand::Sgpr(6), Operand::Sgpr(7));
    r.s[7] = 64 + 21;
    execute(&i, &mut r, 0).unwrap();
    assert_eq!(r.s[6], 1021);
    let mut i = inst(Op::VWritelaneB32);
    (i.src[0], i.src[1]) = (Operand::Sgpr(6), Operand::InlineInt(40));
    execute(&i, &mut r, 0).unwrap();
    assert_eq!((result(&r, 1, 40), result(&r, 1, 39)), (1021, 0));
    // Relative moves.
    r.s[usize::from(sreg::M0)] = 3;
    let mut i = inst(Op::VMovreldB32);
    i.dst = Operand::Vgpr(14);
    execute(&i, &mut r, 0b11).unwrap();
    assert_eq!([0, 1, 2].map(|lane| r.v.get(17, lane)), [1000, 1001, 0]);
    let mut i = inst(Op::VMovrelsB32);
    (i.src[0], i.dst) = (Operand::Vgpr(14), Operand::Vgpr(20));
    execute(&i, &mut r, 0b10).unwrap();
    assert_eq!([0, 1].map(|lane| r.v.get(20, lane)), [0, 1001]);
    let mut i = inst(Op::VMovrelsdB32);
    (i.src[0], i.dst) = (Operand::Vgpr(14), Operand::Vgpr(18));
    execute(&i, &mut r, 0b1).unwrap();
    assert_eq!([0, 1].map(|lane| r.v.get(21, lane)), [1000, 0], "both registers move");
    // Two that do nothing.
    let before = r.v.clone();
    for op in [Op::VNop, Op::VClrexcp] {
        execute(&inst(op), &mut r, !0).unwrap();
    }
    assert!((0..24).all(|row| before.row(row) == r.v.row(row)));
    r.s[usize::from(sreg::M0)] = 30;
    let mut i = inst(Op::VMovrelsB32);
    i.src[0] = Operand::Vgpr(14);
    assert!(execute(&i, &mut r, 1).is_err());
}

#[test]
fn refused() {
    let mut r = regs(COMPILED);
    let mut i = inst(Op::VAddF32);
    i.src[1] = Operand::Vgpr(24);
    let text = execute(&i, &mut r, 1).unwrap_err().to_string();
    assert!(text.contains("v_add_f32") && text.contains("v24"), "{text}");
    i = inst(Op::VAddF64);
    i.dst = Operand::Vgpr(23);
    assert!(execute(&i, &mut r, 1).is_err());
    i = inst(Op::VAddF32);
    i.src[0] = Operand::LdsDirect;
    assert!(execute(&i, &mut r, 1).unwrap_err().to_string().contains("LDS"));
    i = inst(Op::VFractF32);
    r.mode = COMPILED | 3;
    assert!(execute(&i, &mut r, 1).unwrap_err().to_string().contains("toward zero"));
    assert!(execute(&inst(Op::VAndB32), &mut r, 1).is_ok());
    assert!(execute(&inst(Op::VMulF64), &mut r, 1).is_ok());
    let scalar = Inst::new(Op::SAddU32, Format::Sop2);
    assert!(execute(&scalar, &mut r, 1).is_err());
}

#[test]
fn every_vector_operation_runs() {
    let mut missing = Vec::new();
    for op in Op::all() {
        let vector = matches!(op.entry().format, Format::Vop1 | Format::Vop2 | Format::Vop3 | Format::Vopc);
        if !vector || op.entry().halves == Halves::Attribute {
            continue;
        }
        let mut r = regs(COMPILED);
        let mut i = inst(op);
        if op.entry().scalar_dst {
            i.dst = Operand::Sgpr(3);
        }
        if execute(&i, &mut r, !0).is_err() {
            missing.push(op.name());
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn few_lanes() {
    // Waves narrower than 64 lanes, rows of one or two chunks.
    for lanes in [1, 4, 8, 13, 16, 32] {
        let mut r = Regs::new(24, lanes);
        r.mode = COMPILED;
        for lane in 0..lanes {
            r.v.set(0, lane, lane);
            r.v.set(4, lane, 3);
        }
        execute(&inst(Op::VAddU32), &mut r, !0).unwrap();
        execute(&inst(Op::VCmpGtU32), &mut r, !0).unwrap();
        assert!((0..lanes).all(|lane| r.v.get(12, lane) == lane + 3));
        assert_eq!(r.vcc(), crate::first_lanes(lanes) & !0xf);
        let mut i = with(Op::VAddU32, 0, true);
        i.src[1] = Operand::InlineInt(-1);
        execute(&i, &mut r, !0).unwrap();
        assert!((0..lanes).all(|lane| r.v.get(12, lane) == u32::MAX));
    }
}

/// The roundings of MODE: to nearest even, up, down, to zero; f32 by bits 1:0, halves and doubles by bits 3:2.
#[test]
fn roundings() {
    let third = 1.0f32 / 3.0;
    let cases: [(Op, [u64; 3], [f64; 4]); 8] = [
        (Op::VAddF32, [1f32.to_bits().into(), 1e-20f32.to_bits().into(), 0], {
            let (one, up) = (1.0, f64::from(1f32.next_up()));
            [one, up, one, one]
        }),
        (Op::VSubF32, [1f32.to_bits().into(), 1e-20f32.to_bits().into(), 0], {
            let (one, down) = (1.0, f64::from(1f32.next_down()));
            [one, one, down, down]
        }),
        (Op::VMulF32, [third.to_bits().into(), third.to_bits().into(), 0], {
            let exact = f64::from(third) * f64::from(third);
            let near = exact as f32;
            let (up, down) = match f64::from(near) > exact {
                true => (near, near.next_down()),
                false => (near.next_up(), near),
            };
            [near, up, down, down].map(f64::from)
        }),
        (Op::VFmaF32, [1f32.to_bits().into(), (-1f32).to_bits().into(), 1f32.to_bits().into()], {
            [0.0, 0.0, -0.0, 0.0]
        }),
        (Op::VCvtF32U32, [0xffff_ffff, 0, 0], {
            let (high, low) = (4_294_967_296.0, f64::from(4_294_967_296f32.next_down()));
            [high, high, low, low]
        }),
        (Op::VCvtF32I32, [0x8000_0001, 0, 0], {
            let (low, high) = (-2_147_483_648.0, f64::from((-2_147_483_648f32).next_up()));
            [low, high, low, high]
        }),
        (Op::VAddF64, [1f64.to_bits(), (-1e-30f64).to_bits(), 0], {
            let (one, down) = (1.0, 1f64.next_down());
            [one, one, down, down]
        }),
        (Op::VFmaF64, [1f64.next_up().to_bits(), 1f64.next_up().to_bits(), 0], {
            let near = 1f64.next_up().next_up();
            [near, near.next_up(), near, near]
        }),
    ];
    for (op, values, want) in cases {
        for (round, want) in want.into_iter().enumerate() {
            let mut r = regs(KEEP | ((round as u32) * 5));
            for lane in 0..64 {
                for (i, value) in values.into_iter().enumerate() {
                    fill(&mut r, i, lane, value);
                }
            }
            execute(&inst(op), &mut r, !0).unwrap();
            let low = r.v.get(usize::from(DST), 17);
            let got = match op.entry().dst {
                Ty::F64 => {
                    f64::from_bits(u64::from(r.v.get(usize::from(DST) + 1, 17)) << 32 | u64::from(low))
                }
                _ => f64::from(f32::from_bits(low)),
            };
            assert_eq!(got.to_bits(), want.to_bits(), "{op:?} rounding {round}: {got:e}, not {want:e}");
        }
    }
}
