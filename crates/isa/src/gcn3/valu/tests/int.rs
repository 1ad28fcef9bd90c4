//! Integer operations against wide integers and per-bit definitions.

use super::*;

const M: u64 = 0xffff_ffff;

fn s(v: u64) -> i128 {
    i128::from(v as u32 as i32)
}

fn u(v: u64) -> u128 {
    u128::from(v as u32)
}

fn s24(v: u64) -> i128 {
    let v = i128::from(v & 0xff_ffff);
    if v >= 0x80_0000 { v - 0x100_0000 } else { v }
}

fn low(v: i128) -> u64 {
    v as u64 & M
}

#[test]
fn logic_and_moves() {
    let t = ints();
    let bitwise = |f: &dyn Fn(u64, u64) -> u64, a: u64, b: u64| -> u64 {
        (0..32).map(|i| (f(a >> i & 1, b >> i & 1) & 1) << i).sum()
    };
    check(Op::VMovB32, &t, |[a, ..]| a);
    check(Op::VNotB32, &t, |[a, ..]| M - a);
    check(Op::VAndB32, &t, |[a, b, _]| bitwise(&|x, y| x * y, a, b));
    check(Op::VOrB32, &t, |[a, b, _]| bitwise(&|x, y| (x + y > 0).into(), a, b));
    check(Op::VXorB32, &t, |[a, b, _]| bitwise(&|x, y| x + y, a, b));
    check(Op::VBfiB32, &t, |[m, a, b]| (0..32).map(|i| (if m >> i & 1 == 1 { a } else { b }) & 1 << i).sum());
    check(Op::VBfrevB32, &t, |[a, ..]| (0..32).map(|i| (a >> i & 1) << (31 - i)).sum());
    let highest = |a: u64| (0..32).rev().find(|i| a >> i & 1 == 1);
    check(Op::VFfbhU32, &t, |[a, ..]| highest(a).map_or(M, |i| 31 - i));
    check(Op::VFfblB32, &t, |[a, ..]| (0..32).find(|i| a >> i & 1 == 1).map_or(M, |i| i));
    check(Op::VFfbhI32, &t, |[a, ..]| {
        let sign = a >> 31 & 1;
        (0..32).find(|i| a >> (31 - i) & 1 != sign).unwrap_or(M)
    });
    check(Op::VBcntU32B32, &t, |[a, b, _]| ((0..32).map(|i| a >> i & 1).sum::<u64>() + b) & M);
}

#[test]
fn shifts_by_every_count() {
    let mut t = Vec::new();
    for value in [0u64, 1, 0x8000_0000, 0xdead_beef, 0x7fff_ffff, M] {
        for n in (0..70).chain([0xffff_ffe1, 0x8000_0000]) {
            t.push([n, value | value << 32 ^ 0x1234_5678 << 32, 0]);
        }
    }
    check(Op::VLshlrevB32, &t, |[n, v, _]| (u(v) << (n % 32)) as u64 & M);
    check(Op::VLshrrevB32, &t, |[n, v, _]| (u(v) >> (n % 32)) as u64);
    check(Op::VAshrrevI32, &t, |[n, v, _]| low(s(v).div_euclid(1 << (n % 32))));
    check(Op::VLshlrevB64, &t, |[n, v, _]| (u128::from(v) << (n % 64)) as u64);
    check(Op::VLshrrevB64, &t, |[n, v, _]| (u128::from(v) >> (n % 64)) as u64);
    check(Op::VAshrrevI64, &t, |[n, v, _]| i128::from(v as i64).div_euclid(1 << (n % 64)) as u64);
    check(Op::VLshlrevB16, &t, |[n, v, _]| (v & 0xffff) << (n % 16) & 0xffff);
    check(Op::VLshrrevB16, &t, |[n, v, _]| (v & 0xffff) >> (n % 16));
    check(Op::VAshrrevI16, &t, |[n, v, _]| i128::from(v as i16).div_euclid(1 << (n % 16)) as u64 & 0xffff);
}

#[test]
fn fields() {
    let mut t = Vec::new();
    for v in [0xdead_beefu64, 0x8000_0001, 0x7fff_ffff, M] {
        for offset in 0..34 {
            for width in 0..34 {
                t.push([v, offset, width]);
            }
        }
    }
    let field = |v: u64, o: u64, w: u64| (u(v) >> (o % 32)) as u64 & ((1 << (w % 32)) - 1);
    check(Op::VBfeU32, &t, |[v, o, w]| field(v, o, w));
    check(Op::VBfeI32, &t, |[v, o, w]| {
        let (o, w) = (o % 32, w % 32);
        // Bit i of the result: bit min(i, w-1) of the field, bits above 31 are the sign.
        (0..32).map(|i| if w == 0 { 0 } else { (v >> (o + i.min(w - 1)).min(31) & 1) << i }).sum()
    });
    check(Op::VBfmB32, &t.iter().map(|[_, a, b]| [*a, *b, 0]).collect::<Vec<_>>(), |[w, o, _]| {
        (((1u64 << (w % 32)) - 1) << (o % 32)) & M
    });
    let mut t = ints();
    t.extend((0..40).map(|n| [0x0123_4567, 0x89ab_cdef, n]));
    check(Op::VAlignbitB32, &t, |[a, b, n]| ((u(a) << 32 | u(b)) >> (n % 32)) as u64 & M);
    check(Op::VAlignbyteB32, &t, |[a, b, n]| ((u(a) << 32 | u(b)) >> (8 * (n % 4))) as u64 & M);
    check(Op::VPermB32, &t, |[a, b, sel]| {
        let bytes: Vec<u64> =
            (0..4).map(|i| b >> (8 * i) & 255).chain((0..4).map(|i| a >> (8 * i) & 255)).collect();
        (0..4)
            .map(|i| {
                let pick = (sel >> (8 * i) & 255) as usize;
                let byte = match pick {
                    0..8 => bytes[pick],
                    8..12 => {
                        if bytes[2 * (pick - 8) + 1] >= 128 {
                            255
                        } else {
                            0
                        }
                    }
                    12 => 0,
                    _ => 255,
                };
                byte << (8 * i)
            })
            .sum()
    });
}

#[test]
fn multiplication() {
    let t = ints();
    check(Op::VMulLoU32, &t, |[a, b, _]| (u(a) * u(b)) as u64 & M);
    check(Op::VMulHiU32, &t, |[a, b, _]| ((u(a) * u(b)) >> 32) as u64);
    check(Op::VMulHiI32, &t, |[a, b, _]| low((s(a) * s(b)) >> 32));
    check(Op::VMulI32I24, &t, |[a, b, _]| low(s24(a) * s24(b)));
    check(Op::VMulHiI32I24, &t, |[a, b, _]| low((s24(a) * s24(b)) >> 32));
    let u24 = |v: u64| i128::from(v % 0x100_0000);
    check(Op::VMulU32U24, &t, |[a, b, _]| low(u24(a) * u24(b)));
    check(Op::VMulHiU32U24, &t, |[a, b, _]| low((u24(a) * u24(b)) >> 32));
    check(Op::VMadI32I24, &t, |[a, b, c]| low(s24(a) * s24(b) + s(c)));
    check(Op::VMadU32U24, &t, |[a, b, c]| low(u24(a) * u24(b) + s(c)));
    let wide: Vec<[u64; 3]> = t.iter().map(|[a, b, c]| [*a, *b, c << 32 | !a & M]).collect();
    check(Op::VMadU64U32, &wide, |[a, b, c]| (u(a) * u(b) + u128::from(c)) as u64);
    check(Op::VMadI64I32, &wide, |[a, b, c]| (s(a) * s(b) + i128::from(c as i64)) as u64);
    for (input, (_, carry)) in wide.iter().zip(run(&inst(Op::VMadU64U32), COMPILED, &wide, 0, 0)) {
        let [a, b, c] = *input;
        assert_eq!(carry, u(a) * u(b) + u128::from(c) > u128::from(u64::MAX));
    }
}

#[test]
fn carries() {
    let t = ints();
    for carry_in in [0, !0] {
        let c = i128::from(carry_in & 1);
        type Exact<'a> = &'a dyn Fn(i128, i128) -> i128;
        let cases: [(Op, Exact); 6] = [
            (Op::VAddU32, &|a, b| a + b),
            (Op::VSubU32, &|a, b| a - b),
            (Op::VSubrevU32, &|a, b| b - a),
            (Op::VAddcU32, &|a, b| a + b + c),
            (Op::VSubbU32, &|a, b| a - b - c),
            (Op::VSubbrevU32, &|a, b| b - a - c),
        ];
        for (op, f) in cases {
            for (input, (out, carry)) in t.iter().zip(run(&inst(op), COMPILED, &t, 0, carry_in)) {
                let exact = f(u(input[0]) as i128, u(input[1]) as i128);
                assert_eq!(out, low(exact), "{} {input:x?}", op.name());
                assert_eq!(carry, !(0..1 << 32).contains(&exact), "{} {input:x?}", op.name());
            }
            let mut clamped = inst(op);
            clamped.flags |= super::super::super::flag::CLAMP;
            for (input, (out, _)) in t.iter().zip(run(&clamped, COMPILED, &t, 0, carry_in)) {
                let exact = f(u(input[0]) as i128, u(input[1]) as i128);
                assert_eq!(out, low(exact.clamp(0, (1 << 32) - 1)), "{} clamp {input:x?}", op.name());
            }
        }
    }
    // Carry bits of lanes that are off are 0, of lanes that are on come from the pair.
    let mut r = regs(COMPILED);
    for lane in 0..64 {
        fill(&mut r, 0, lane, M);
        fill(&mut r, 1, lane, (lane % 2).into());
    }
    r.set_pair(30, 0x0f0f_0f0f_0f0f_0f0f);
    r.set_pair(CARRY, !0);
    execute(&inst(Op::VAddcU32), &mut r, 0x0000_ffff_00ff_0ff0).unwrap();
    assert_eq!(r.pair(CARRY), (0xaaaa_aaaa_aaaa_aaaa | 0x0f0f_0f0f_0f0f_0f0f) & 0x0000_ffff_00ff_0ff0);
}

#[test]
fn extremes() {
    let t = ints();
    check(Op::VMinI32, &t, |[a, b, _]| low(s(a).min(s(b))));
    check(Op::VMaxI32, &t, |[a, b, _]| low(s(a).max(s(b))));
    check(Op::VMinU32, &t, |[a, b, _]| a.min(b));
    check(Op::VMaxU32, &t, |[a, b, _]| a.max(b));
    let sorted = |v: [u64; 3]| {
        let mut v = v.map(s);
        v.sort();
        v.map(low)
    };
    check(Op::VMin3I32, &t, |v| sorted(v)[0]);
    check(Op::VMed3I32, &t, |v| sorted(v)[1]);
    check(Op::VMax3I32, &t, |v| sorted(v)[2]);
    let sorted = |mut v: [u64; 3]| {
        v.sort();
        v
    };
    check(Op::VMin3U32, &t, |v| sorted(v)[0]);
    check(Op::VMed3U32, &t, |v| sorted(v)[1]);
    check(Op::VMax3U32, &t, |v| sorted(v)[2]);
}

#[test]
fn sums_of_differences() {
    let t = ints();
    let parts = |v: u64, bits: u64| (0..32 / bits).map(move |i| (v >> (bits * i) & ((1 << bits) - 1)) as i64);
    let sad = |a: u64, b: u64, bits: u64| {
        parts(a, bits).zip(parts(b, bits)).map(|(x, y)| (x - y).unsigned_abs()).sum::<u64>()
    };
    let masked = |a: u64, b: u64| {
        parts(a, 8).zip(parts(b, 8)).filter(|p| p.1 != 0).map(|(x, y)| (x - y).unsigned_abs()).sum::<u64>()
    };
    check(Op::VSadU8, &t, |[a, b, c]| (sad(a, b, 8) + c) & M);
    check(Op::VSadHiU8, &t, |[a, b, c]| ((sad(a, b, 8) << 16) + c) & M);
    check(Op::VSadU16, &t, |[a, b, c]| (sad(a, b, 16) + c) & M);
    check(Op::VSadU32, &t, |[a, b, c]| (sad(a, b, 32) + c) & M);
    check(Op::VMsadU8, &t, |[a, b, c]| (masked(a, b) + c) & M);
    check(Op::VLerpU8, &t, |[a, b, c]| {
        (0..4)
            .map(|i| (((a >> (8 * i) & 255) + (b >> (8 * i) & 255) + (c >> (8 * i) & 1)) / 2) << (8 * i))
            .sum()
    });
    let wide: Vec<[u64; 3]> = t.iter().map(|[a, b, c]| [a << 32 | b ^ c, *b, c << 32 | a]).collect();
    check(Op::VQsadPkU16U8, &wide, |[a, b, c]| {
        (0..4).map(|i| ((sad(a >> (8 * i) & M, b, 8) + (c >> (16 * i) & 0xffff)) & 0xffff) << (16 * i)).sum()
    });
    check(Op::VMqsadPkU16U8, &wide, |[a, b, c]| {
        (0..4).map(|i| ((masked(a >> (8 * i) & M, b) + (c >> (16 * i) & 0xffff)) & 0xffff) << (16 * i)).sum()
    });
}

#[test]
fn four_masked_sums() {
    // Four windows of eight bytes against four bytes; bytes of the reference that are zero do not count.
    let mut rng = Rng(3);
    let mut r = regs(COMPILED);
    let mut expected = Vec::new();
    for lane in 0..64 {
        let data = rng.next();
        let reference = rng.next() & [0xffff_ffff, 0x00ff_00ff, 0, 0xff00_0000][lane as usize % 4];
        let add: [u32; 4] = std::array::from_fn(|_| rng.next() as u32);
        fill(&mut r, 0, lane, data);
        fill(&mut r, 1, lane, reference);
        (0..4).for_each(|k| r.v.set(usize::from(SRC[2]) + k, lane, add[k]));
        let byte = |v: u64, i: usize| v.to_le_bytes()[i];
        expected.push([0, 1, 2, 3].map(|window| {
            let differences = (0..4)
                .filter(|&i| byte(reference, i) != 0)
                .map(|i| u32::from(byte(data, window + i).abs_diff(byte(reference, i))));
            differences.sum::<u32>().wrapping_add(add[window])
        }));
    }
    execute(&inst(Op::VMqsadU32U8), &mut r, !0).unwrap();
    for (lane, expected) in expected.iter().enumerate() {
        let out = [0, 1, 2, 3].map(|d| r.v.get(usize::from(DST) + d, lane as u32));
        assert_eq!(out, *expected, "lane {lane}");
    }
}

#[test]
fn lane_counts() {
    for (lo, hi) in [(M, M), (0xdead_beef, 0x1234_5678), (0, 1)] {
        let t = vec![[lo, 5, 0]; 64];
        for (lane, (out, _)) in run(&inst(Op::VMbcntLoU32B32), COMPILED, &t, 0, 0).into_iter().enumerate() {
            assert_eq!(out, 5 + (0..lane.min(32)).map(|i| lo >> i & 1).sum::<u64>());
        }
        let t = vec![[hi, 5, 0]; 64];
        for (lane, (out, _)) in run(&inst(Op::VMbcntHiU32B32), COMPILED, &t, 0, 0).into_iter().enumerate() {
            assert_eq!(out, 5 + (32..lane.max(32)).map(|i| hi >> (i - 32) & 1).sum::<u64>());
        }
    }
}

#[test]
fn words() {
    let t = ints();
    let (s16, u16) = (|v: u64| i128::from(v as i16), |v: u64| i128::from(v as u16));
    let low = |v: i128| v as u64 & 0xffff;
    check(Op::VAddU16, &t, |[a, b, _]| low(u16(a) + u16(b)));
    check(Op::VSubU16, &t, |[a, b, _]| low(u16(a) - u16(b)));
    check(Op::VSubrevU16, &t, |[a, b, _]| low(u16(b) - u16(a)));
    check(Op::VMulLoU16, &t, |[a, b, _]| low(u16(a) * u16(b)));
    check(Op::VMadU16, &t, |[a, b, c]| low(u16(a) * u16(b) + u16(c)));
    check(Op::VMadI16, &t, |[a, b, c]| low(s16(a) * s16(b) + s16(c)));
    check(Op::VMinU16, &t, |[a, b, _]| low(u16(a).min(u16(b))));
    check(Op::VMaxU16, &t, |[a, b, _]| low(u16(a).max(u16(b))));
    check(Op::VMinI16, &t, |[a, b, _]| low(s16(a).min(s16(b))));
    check(Op::VMaxI16, &t, |[a, b, _]| low(s16(a).max(s16(b))));
    check(Op::VCvtPkU16U32, &t, |[a, b, _]| a.min(0xffff) | b.min(0xffff) << 16);
    check(Op::VCvtPkI16I32, &t, |[a, b, _]| {
        low(s(a).clamp(-0x8000, 0x7fff)) | low(s(b).clamp(-0x8000, 0x7fff)) << 16
    });
}

#[test]
fn select_by_mask() {
    let t = vec![[10, 20, 0]; 64];
    let mask = 0xf0f0_1234_5678_9abc;
    for (lane, (out, _)) in run(&inst(Op::VCndmaskB32), COMPILED, &t, 0, mask).into_iter().enumerate() {
        assert_eq!(out, if mask >> lane & 1 == 1 { 20 } else { 10 });
    }
}

/// Shifts of 64 bits that all lanes share, with a scalar or a vector added, also onto their own sources.
#[test]
fn shared_shifts_of_64_bits() {
    let mut rng = Rng(23);
    for shift in 0..64i8 {
        for (scalar, dst) in [(false, DST), (true, DST), (false, SRC[0] + 1), (true, SRC[0])] {
            let mask = if shift % 2 == 0 { !0 } else { rng.next() };
            let mut r = regs(COMPILED);
            let values: Vec<[u64; 2]> = (0..64).map(|_| [rng.next(), rng.next() >> (shift % 40)]).collect();
            let shared = rng.next();
            r.set_pair(14, shared);
            for (lane, [a, c]) in values.iter().enumerate() {
                fill(&mut r, 0, lane as u32, *a);
                fill(&mut r, 2, lane as u32, *c);
            }
            let mut add = inst(Op::VLshlAddU64);
            add.src[1] = Operand::InlineInt(shift);
            if scalar {
                add.src[2] = Operand::Sgpr(14);
            }
            let mut left = inst(Op::VLshlrevB64);
            (left.src[0], left.src[1]) = (Operand::InlineInt(shift), Operand::Vgpr(SRC[0]));
            for mut inst in [add, left] {
                inst.dst = Operand::Vgpr(dst);
                let mut after = r.clone();
                execute(&inst, &mut after, mask).unwrap();
                let both = |r: &Regs, lane: u32| {
                    let [low, high] = [0, 1].map(|d| u64::from(r.v.get(usize::from(dst) + d, lane)));
                    low | high << 32
                };
                for (lane, [a, c]) in (0u32..).zip(&values) {
                    let c = if scalar { shared } else { *c };
                    let expected = match inst.op {
                        _ if mask >> lane & 1 == 0 => both(&r, lane),
                        Op::VLshlAddU64 => (a << (shift & 7)).wrapping_add(c),
                        _ => a << shift,
                    };
                    assert_eq!(both(&after, lane), expected, "{} by {shift}, lane {lane}", inst.op.name());
                }
            }
        }
    }
}
