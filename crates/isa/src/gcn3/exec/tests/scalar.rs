//! Scalar ALU: every operation over edge values, against bit-by-bit or wide references.

use super::{S, inst, machine, with};
use crate::gcn3::op::Op;
use crate::gcn3::operand::{InlineFloat, Operand, sreg};
use crate::{Flow, Mask, Trap};

const EDGES: [u32; 16] = [
    0,
    1,
    2,
    5,
    31,
    32,
    33,
    63,
    64,
    0xff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0x0007_0003,
];

fn edges64() -> Vec<u64> {
    let highs = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
    EDGES.iter().flat_map(|&low| highs.map(|high: u64| high << 32 | u64::from(low))).collect()
}

/// dst s[8:9], sources s[4:5] and s[6:7], which hold the values. Returns result and SCC.
fn run64(op: Op, a: u64, b: u64, scc: bool) -> (u64, bool) {
    let mut m = machine();
    m.regs.set_pair(4, a);
    m.regs.set_pair(6, b);
    m.regs.set_pair(8, 0xaaaa_5555_1234_8765);
    m.regs.scc = scc;
    m.ok(inst(op, S(8), &[S(4), S(6)]));
    (m.regs.pair(8), m.regs.scc)
}

fn run32(op: Op, a: u32, b: u32, scc: bool) -> (u32, bool) {
    let (result, scc) =
        run64(op, 0xdead_0000_0000_0000 | u64::from(a), 0xbeef_0000_0000_0000 | u64::from(b), scc);
    assert_eq!(result >> 32, 0xaaaa_5555, "{op:?} leaves the next register");
    (result as u32, scc)
}

#[test]
fn add_and_subtract() {
    let signed = |v: i128| (v as u32, v != i128::from(v as i32));
    for a in EDGES {
        for b in EDGES {
            for c in [false, true] {
                let (x, y, k) = (i128::from(a), i128::from(b), i128::from(c));
                let (sx, sy) = (i128::from(a as i32), i128::from(b as i32));
                let unsigned = |v: i128| (v as u32, !(0..=0xffff_ffff).contains(&v));
                assert_eq!(run32(Op::SAddU32, a, b, c), unsigned(x + y));
                assert_eq!(run32(Op::SSubU32, a, b, c), unsigned(x - y));
                assert_eq!(run32(Op::SAddcU32, a, b, c), unsigned(x + y + k));
                assert_eq!(run32(Op::SSubbU32, a, b, c), unsigned(x - y - k));
                assert_eq!(run32(Op::SAddI32, a, b, c), signed(sx + sy));
                assert_eq!(run32(Op::SSubI32, a, b, c), signed(sx - sy));
                assert_eq!(run32(Op::SMulI32, a, b, c), ((sx * sy) as u32, c));
                let difference = (a.wrapping_sub(b)) as i32;
                let expect =
                    if difference < 0 { 0u32.wrapping_sub(difference as u32) } else { difference as u32 };
                assert_eq!(run32(Op::SAbsdiffI32, a, b, c), (expect, expect != 0));
            }
        }
    }
    assert_eq!(run32(Op::SAbsdiffI32, 0x8000_0000, 0xffff_fffe, false).0, 0x7fff_fffe);
}

#[test]
fn choices() {
    for a in EDGES {
        for b in EDGES {
            let (sa, sb) = (a as i32, b as i32);
            assert_eq!(run32(Op::SMinI32, a, b, true), (if sa < sb { a } else { b }, sa < sb));
            assert_eq!(run32(Op::SMaxI32, a, b, true), (if sa > sb { a } else { b }, sa > sb));
            assert_eq!(run32(Op::SMinU32, a, b, true), (if a < b { a } else { b }, a < b));
            assert_eq!(run32(Op::SMaxU32, a, b, true), (if a > b { a } else { b }, a > b));
            assert_eq!(run32(Op::SCselectB32, a, b, true), (a, true));
            assert_eq!(run32(Op::SCselectB32, a, b, false), (b, false));
        }
    }
    assert_eq!(run64(Op::SCselectB64, 5, 1 << 40, true), (5, true));
    assert_eq!(run64(Op::SCselectB64, 5, 1 << 40, false), (1 << 40, false));
    assert_eq!(run64(Op::SCmovB64, 5, 0, false), (0xaaaa_5555_1234_8765, false));
    assert_eq!(run64(Op::SCmovB64, 5, 0, true), (5, true));
    assert_eq!(run32(Op::SCmovB32, 5, 0, true), (5, true));
    assert_eq!(run32(Op::SCmovB32, 5, 0, false), (0x1234_8765, false));
}

/// Truth tables: result for (a, b) = 00, 01, 10, 11.
const LOGIC: [(Op, Op, [u64; 4]); 8] = [
    (Op::SAndB32, Op::SAndB64, [0, 0, 0, 1]),
    (Op::SOrB32, Op::SOrB64, [0, 1, 1, 1]),
    (Op::SXorB32, Op::SXorB64, [0, 1, 1, 0]),
    (Op::SAndn2B32, Op::SAndn2B64, [0, 0, 1, 0]),
    (Op::SOrn2B32, Op::SOrn2B64, [1, 0, 1, 1]),
    (Op::SNandB32, Op::SNandB64, [1, 1, 1, 0]),
    (Op::SNorB32, Op::SNorB64, [1, 0, 0, 0]),
    (Op::SXnorB32, Op::SXnorB64, [1, 0, 0, 1]),
];

fn by_table(table: [u64; 4], a: u64, b: u64, width: u32) -> u64 {
    (0..width).fold(0, |r, i| r | table[((a >> i & 1) << 1 | b >> i & 1) as usize] << i)
}

#[test]
fn logic() {
    for (narrow, wide, table) in LOGIC {
        for &a in &edges64() {
            for b in [0, 1, 0x8000_0000_0000_0000, u64::MAX, 0x1234_5678_9abc_def0, a] {
                let expect = by_table(table, a, b, 64);
                assert_eq!(run64(wide, a, b, expect == 0), (expect, expect != 0), "{wide:?}");
                let expect = by_table(table, a, b, 32) as u32;
                assert_eq!(
                    run32(narrow, a as u32, b as u32, expect == 0),
                    (expect, expect != 0),
                    "{narrow:?}"
                );
            }
        }
    }
}

#[test]
fn shifts() {
    for &a in &edges64() {
        for count in (0..70).chain([255, 0x8000_0001, 0xffff_ffff]) {
            let (n, w) = (count % 32, count % 64);
            let low = a as u32;
            let l = (0..n).fold(low, |v, _| v.wrapping_add(v));
            assert_eq!(run32(Op::SLshlB32, low, count, false), (l, l != 0));
            let r = low / (1u64 << n) as u32;
            assert_eq!(run32(Op::SLshrB32, low, count, false), (r, r != 0));
            let s = i64::from(low as i32).div_euclid(1 << n) as u32;
            assert_eq!(run32(Op::SAshrI32, low, count, false), (s, s != 0));
            let l = (0..w).fold(a, |v, _| v.wrapping_add(v));
            assert_eq!(run64(Op::SLshlB64, a, count.into(), false), (l, l != 0));
            let r = (u128::from(a) / (1u128 << w)) as u64;
            assert_eq!(run64(Op::SLshrB64, a, count.into(), false), (r, r != 0));
            let s = i128::from(a as i64).div_euclid(1 << w) as u64;
            assert_eq!(run64(Op::SAshrI64, a, count.into(), false), (s, s != 0));
        }
    }
}

/// Bits `offset..offset + width` one by one, those past the top zero or copies of the last real bit.
fn extract(a: u64, bits: u32, offset: u32, width: u32, signed: bool) -> u64 {
    let mut out = 0;
    let mut last = 0;
    for i in 0..64 {
        let bit = match () {
            () if i >= width && !signed => 0,
            () if i >= width => last,
            () if offset + i < bits => a >> (offset + i) & 1,
            () if signed => a >> (bits - 1) & 1,
            () => 0,
        };
        last = bit;
        out |= bit << i;
    }
    out
}

#[test]
fn bit_fields() {
    for &a in &edges64() {
        for offset in [0, 1, 7, 31, 32, 40, 63] {
            for width in [0, 1, 5, 24, 31, 32, 33, 63, 64, 127] {
                let b = width << 16 | offset;
                let r = extract(a & 0xffff_ffff, 32, offset % 32, width, false) as u32;
                assert_eq!(run32(Op::SBfeU32, a as u32, b, false), (r, r != 0), "{a:x} {b:x}");
                let r = extract(a & 0xffff_ffff, 32, offset % 32, width, true) as u32;
                assert_eq!(run32(Op::SBfeI32, a as u32, b, false), (r, r != 0), "{a:x} {b:x}");
                let r = extract(a, 64, offset, width, false);
                assert_eq!(run64(Op::SBfeU64, a, b.into(), false), (r, r != 0), "{a:x} {b:x}");
                let r = extract(a, 64, offset, width, true);
                assert_eq!(run64(Op::SBfeI64, a, b.into(), false), (r, r != 0), "{a:x} {b:x}");
            }
        }
    }
    for width in 0..64u64 {
        for offset in [0, 1, 4, 31, 33, 63u64] {
            let mask = |limit: u64, w: u64, o: u64| (o..limit.min(o + w)).fold(0u64, |m, i| m | 1 << i);
            let narrow = mask(32, width % 32, offset % 32) as u32;
            assert_eq!(run32(Op::SBfmB32, width as u32, offset as u32, true), (narrow, true));
            assert_eq!(run64(Op::SBfmB64, width, offset, false), (mask(64, width, offset), false));
        }
    }
}

fn count_bits(a: u64, bits: u32, value: u64) -> u32 {
    (0..bits).filter(|i| a >> i & 1 == value).count() as u32
}

fn lowest(a: u64, bits: u32, value: u64) -> u32 {
    (0..bits).find(|i| a >> i & 1 == value).unwrap_or(u32::MAX)
}

fn highest(a: u64, bits: u32, differs_from: u64) -> u32 {
    (0..bits).find(|i| a >> (bits - 1 - i) & 1 != differs_from).unwrap_or(u32::MAX)
}

#[test]
fn one_source() {
    for &a in &edges64() {
        let low = a as u32;
        let wide = |op| run64(op, a, 0, true);
        let narrow = |op| run32(op, low, 0, true);
        // Results of 32 bits from 64: the second register stays.
        let cut = |op| {
            let (result, scc) = run64(op, a, 0, true);
            assert_eq!(result >> 32, 0xaaaa_5555);
            (result as u32, scc)
        };
        let short = u64::from(low);
        let reverse = |v: u64, bits: u32| (0..bits).fold(0, |r, i| r | (v >> i & 1) << (bits - 1 - i));
        let quad = |v: u64, i: u32| u64::from(v >> (4 * i) & 15 != 0);
        let wqm = |v: u64, bits: u32| (0..bits / 4).fold(0, |r, i| r | (quad(v, i) * 15) << (4 * i));
        let quadmask = |v: u64, bits: u32| (0..bits / 4).fold(0, |r, i| r | quad(v, i) << i);
        assert_eq!(narrow(Op::SMovB32), (low, true));
        assert_eq!(wide(Op::SMovB64), (a, true));
        assert_eq!(narrow(Op::SNotB32), (u32::MAX - low, u32::MAX != low));
        assert_eq!(wide(Op::SNotB64), (u64::MAX - a, u64::MAX != a));
        assert_eq!(narrow(Op::SBrevB32), (reverse(short, 32) as u32, true));
        assert_eq!(wide(Op::SBrevB64), (reverse(a, 64), true));
        assert_eq!(narrow(Op::SWqmB32), (wqm(short, 32) as u32, low != 0));
        assert_eq!(wide(Op::SWqmB64), (wqm(a, 64), a != 0));
        assert_eq!(narrow(Op::SQuadmaskB32), (quadmask(short, 32) as u32, low != 0));
        assert_eq!(wide(Op::SQuadmaskB64), (quadmask(a, 64), a != 0));
        for (op32, op64, value) in
            [(Op::SBcnt0I32B32, Op::SBcnt0I32B64, 0), (Op::SBcnt1I32B32, Op::SBcnt1I32B64, 1)]
        {
            let (n, w) = (count_bits(short, 32, value), count_bits(a, 64, value));
            assert_eq!(narrow(op32), (n, n != 0));
            assert_eq!(cut(op64), (w, w != 0));
        }
        for (op32, op64, value) in [(Op::SFf0I32B32, Op::SFf0I32B64, 0), (Op::SFf1I32B32, Op::SFf1I32B64, 1)]
        {
            assert_eq!(narrow(op32), (lowest(short, 32, value), true));
            assert_eq!(cut(op64), (lowest(a, 64, value), true));
        }
        assert_eq!(narrow(Op::SFlbitI32B32), (highest(short, 32, 0), true));
        assert_eq!(cut(Op::SFlbitI32B64), (highest(a, 64, 0), true));
        assert_eq!(narrow(Op::SFlbitI32), (highest(short, 32, short >> 31), true));
        assert_eq!(cut(Op::SFlbitI32I64), (highest(a, 64, a >> 63), true));
        let sext = |bits: u32| if short >> (bits - 1) & 1 == 1 { u32::MAX << bits } else { 0 };
        assert_eq!(narrow(Op::SSextI32I8), (low & 0xff | sext(8), true));
        assert_eq!(narrow(Op::SSextI32I16), (low & 0xffff | sext(16), true));
        let abs = if low >> 31 == 1 { 0u32.wrapping_sub(low) } else { low };
        assert_eq!(narrow(Op::SAbsI32), (abs, abs != 0));
        let (n, w) = (low % 32, low % 64);
        assert_eq!(narrow(Op::SBitset0B32), (0x1234_8765 & !(1 << n), true));
        assert_eq!(narrow(Op::SBitset1B32), (0x1234_8765 | 1 << n, true));
        assert_eq!(wide(Op::SBitset0B64), (0xaaaa_5555_1234_8765 & !(1 << w), true));
        assert_eq!(wide(Op::SBitset1B64), (0xaaaa_5555_1234_8765 | 1 << w, true));
    }
}

#[test]
fn compares() {
    type Reference = fn(i64, i64) -> bool;
    let conditions: [(Op, Op, Op, Op, Reference); 6] = [
        (Op::SCmpEqI32, Op::SCmpEqU32, Op::SCmpkEqI32, Op::SCmpkEqU32, |a, b| a == b),
        (Op::SCmpLgI32, Op::SCmpLgU32, Op::SCmpkLgI32, Op::SCmpkLgU32, |a, b| a != b),
        (Op::SCmpGtI32, Op::SCmpGtU32, Op::SCmpkGtI32, Op::SCmpkGtU32, |a, b| a > b),
        (Op::SCmpGeI32, Op::SCmpGeU32, Op::SCmpkGeI32, Op::SCmpkGeU32, |a, b| a >= b),
        (Op::SCmpLtI32, Op::SCmpLtU32, Op::SCmpkLtI32, Op::SCmpkLtU32, |a, b| a < b),
        (Op::SCmpLeI32, Op::SCmpLeU32, Op::SCmpkLeI32, Op::SCmpkLeU32, |a, b| a <= b),
    ];
    let mut m = machine();
    for a in EDGES {
        for b in EDGES {
            for (signed, unsigned, k_signed, k_unsigned, reference) in conditions {
                (m.regs.s[0], m.regs.s[1]) = (a, b);
                let (ua, ub, sa, sb) = (i64::from(a), i64::from(b), i64::from(a as i32), i64::from(b as i32));
                let k = i64::from(b as u16 as i16);
                let literal = inst(k_signed, Operand::None, &[S(0)]);
                for (inst, expect) in [
                    (inst(signed, Operand::None, &[S(0), S(1)]), reference(sa, sb)),
                    (inst(unsigned, Operand::None, &[S(0), S(1)]), reference(ua, ub)),
                    (with(literal, k as i32, 0), reference(sa, k)),
                    (
                        with(inst(k_unsigned, Operand::None, &[S(0)]), (b & 0xffff) as i32, 0),
                        reference(ua, ub & 0xffff),
                    ),
                ] {
                    m.regs.scc = !expect;
                    m.ok(inst);
                    assert_eq!(m.regs.scc, expect, "{:?} {a:x} {b:x}", inst.op);
                }
            }
            m.regs.set_pair(2, u64::from(a) << 32 | u64::from(b));
            m.regs.set_pair(4, u64::from(b) << 32 | u64::from(b));
            m.ok(inst(Op::SCmpEqU64, Operand::None, &[S(2), S(4)]));
            assert_eq!(m.regs.scc, a == b);
            m.ok(inst(Op::SCmpLgU64, Operand::None, &[S(2), S(4)]));
            assert_eq!(m.regs.scc, a != b);
            let bits = [(Op::SBitcmp0B32, 32, false), (Op::SBitcmp1B32, 32, true)];
            for (op, width, value) in
                bits.into_iter().chain([(Op::SBitcmp0B64, 64, false), (Op::SBitcmp1B64, 64, true)])
            {
                m.ok(inst(op, Operand::None, &[S(2), S(0)]));
                let bit = m.regs.pair(2) >> (a % width) & 1 == 1;
                assert_eq!(m.regs.scc, bit == value, "{op:?}");
            }
        }
    }
}

#[test]
fn constants_and_immediates() {
    let mut m = machine();
    let mov = |op, value| inst(op, S(8), &[value]);
    m.ok(mov(Op::SMovB64, Operand::InlineInt(-16)));
    assert_eq!(m.regs.pair(8), (-16i64) as u64);
    m.ok(mov(Op::SMovB64, Operand::Literal(0x8000_0000)));
    assert_eq!(m.regs.pair(8), 0x8000_0000, "a literal is extended with zeros");
    m.ok(mov(Op::SMovB64, Operand::InlineFloat(InlineFloat::One)));
    assert_eq!(m.regs.pair(8), 1f64.to_bits());
    m.ok(mov(Op::SMovB32, Operand::InlineFloat(InlineFloat::MinusFour)));
    assert_eq!(m.regs.s[8], (-4f32).to_bits());
    m.regs.scc = true;
    m.ok(mov(Op::SMovB32, Operand::Scc));
    assert_eq!(m.regs.s[8], 1);
    m.ok(mov(Op::SMovB32, Operand::VccZ));
    assert_eq!(m.regs.s[8], 1);
    m.ok(mov(Op::SMovB32, Operand::ExecZ));
    assert_eq!(m.regs.s[8], 0);
    m.ok(inst(Op::SAshrI64, S(8), &[Operand::Literal(0x8000_0000), Operand::InlineInt(4)]));
    assert_eq!(m.regs.pair(8), 0xffff_ffff_f800_0000, "signed operations extend a literal's sign");
    m.ok(with(inst(Op::SMovkI32, S(8), &[]), -3, 0));
    assert_eq!(m.regs.s[8], -3i32 as u32);
    m.ok(with(inst(Op::SMulkI32, S(8), &[]), -5, 0));
    assert_eq!((m.regs.s[8], m.regs.scc), (15, true));
    m.ok(with(inst(Op::SAddkI32, S(8), &[]), -16, 0));
    assert_eq!((m.regs.s[8], m.regs.scc), (u32::MAX, false));
    m.regs.s[8] = 0x7fff_ffff;
    m.ok(with(inst(Op::SAddkI32, S(8), &[]), 1, 0));
    assert_eq!((m.regs.s[8], m.regs.scc), (0x8000_0000, true));
    m.ok(with(inst(Op::SCmovkI32, S(8), &[]), 7, 0));
    assert_eq!(m.regs.s[8], 7);
    m.regs.scc = false;
    m.ok(with(inst(Op::SCmovkI32, S(8), &[]), 9, 0));
    assert_eq!(m.regs.s[8], 7);
}

#[test]
fn relative_moves() {
    let mut m = machine();
    for n in 0..102 {
        m.regs.s[n] = 1000 + n as u32;
    }
    m.regs.s[usize::from(sreg::M0)] = 6;
    m.ok(inst(Op::SMovrelsB32, S(0), &[S(4)]));
    m.ok(inst(Op::SMovrelsB64, S(2), &[S(20)]));
    m.ok(inst(Op::SMovreldB32, S(30), &[S(50)]));
    m.ok(inst(Op::SMovreldB64, S(40), &[S(60)]));
    assert_eq!(m.regs.s[0], 1010);
    assert_eq!(m.regs.s[2..4], [1026, 1027]);
    assert_eq!(m.regs.s[36], 1050);
    assert_eq!(m.regs.s[46..48], [1060, 1061]);
    m.regs.s[usize::from(sreg::M0)] = u32::MAX;
    assert!(m.message(inst(Op::SMovrelsB32, S(0), &[S(4)])).contains("m0 = -1"));
}

#[test]
fn saveexec_family() {
    type Reference = fn(u64, u64) -> u64;
    let ops: [(Op, Reference); 8] = [
        (Op::SAndSaveexecB64, |s, e| s & e),
        (Op::SOrSaveexecB64, |s, e| s | e),
        (Op::SXorSaveexecB64, |s, e| (s | e) - (s & e)),
        (Op::SAndn2SaveexecB64, |s, e| s - (s & e)),
        (Op::SOrn2SaveexecB64, |s, e| s | (u64::MAX - e)),
        (Op::SNandSaveexecB64, |s, e| u64::MAX - (s & e)),
        (Op::SNorSaveexecB64, |s, e| u64::MAX - (s | e)),
        (Op::SXnorSaveexecB64, |s, e| u64::MAX - ((s | e) - (s & e))),
    ];
    for (op, reference) in ops {
        for source in [0, 1, 0xff00_ff00_ff00_ff00, u64::MAX] {
            for exec in [0, 0xf0f0_0000_ffff_0001, u64::MAX] {
                for (mask, live) in [(Mask::MAX, Mask::MAX), (0x0000_ffff_0000_ffff, Mask::MAX)] {
                    let mut m = machine();
                    (m.at.mask, m.at.live) = (mask, live);
                    m.regs.set_pair(126, exec);
                    m.regs.set_pair(10, source);
                    m.ok(inst(op, S(10), &[S(10)]));
                    let expect = reference(source, exec & mask) & mask;
                    assert_eq!(m.regs.exec(), expect, "{op:?}");
                    assert_eq!(m.regs.pair(10), exec & mask, "{op:?}");
                    assert_eq!(m.regs.scc, expect != 0, "{op:?}");
                }
            }
        }
    }
}

/// A split path reads EXEC within its mask and cannot switch on other lanes.
#[test]
fn exec_within_the_path() {
    let mask = 0x0000_0f0f_0000_f0f0;
    let mut m = machine();
    m.at.mask = mask;
    m.ok(inst(Op::SMovB64, S(4), &[Operand::EXEC]));
    assert_eq!(m.regs.pair(4), mask);
    m.ok(inst(Op::SMovB32, S(6), &[S(127)]));
    assert_eq!(m.regs.s[6], (mask >> 32) as u32);
    assert_eq!(m.regs.exec(), Mask::MAX, "reading changes nothing");
    m.ok(inst(Op::SXorB64, S(8), &[Operand::EXEC, Operand::InlineInt(-1)]));
    assert_eq!(m.regs.pair(8), !mask, "data is not masked");
    m.ok(inst(Op::SMovB32, S(126), &[Operand::InlineInt(-1)]));
    assert_eq!(m.regs.s[126], mask as u32);
    m.ok(inst(Op::SNotB64, Operand::EXEC, &[Operand::InlineInt(0)]));
    assert_eq!((m.regs.exec(), m.regs.scc), (mask, true));
    m.regs.set_pair(4, !mask);
    m.ok(inst(Op::SOrB64, Operand::EXEC, &[S(4), Operand::InlineInt(0)]));
    assert_eq!((m.regs.exec(), m.regs.scc), (0, false), "SCC is of what was stored");
    m.regs.set_pair(126, !mask);
    assert_eq!(m.run(&with(inst(Op::SCbranchExecz, Operand::None, &[]), 4, 0)), Ok(Flow::Jump(15)));
    assert_eq!(m.run(&with(inst(Op::SCbranchExecnz, Operand::None, &[]), 4, 0)), Ok(Flow::Next));
    // The whole wave, some lanes of which were never launched: EXEC is as written.
    (m.at.mask, m.at.live) = (0xffff, 0xffff);
    m.ok(inst(Op::SMovB64, Operand::EXEC, &[Operand::InlineInt(-1)]));
    assert_eq!(m.regs.exec(), Mask::MAX);
    assert_eq!(super::super::active(&m.regs, m.at.mask), 0xffff);
}

#[test]
fn every_scalar_operation_is_there() {
    let refused = [
        Op::SCbranchGFork,
        Op::SRfeRestoreB64,
        Op::SRfeB64,
        Op::SCbranchJoin,
        Op::SCbranchIFork,
        Op::SSendmsg,
        Op::SSendmsghalt,
        Op::STrap,
    ];
    use crate::gcn3::inst::Format::{Smem, Sop1, Sop2, Sopc, Sopk, Sopp};
    for op in Op::all().filter(|op| matches!(op.entry().format, Sop1 | Sop2 | Sopc | Sopk | Sopp | Smem)) {
        let mut m = machine();
        m.regs.s[usize::from(sreg::M0)] = 0;
        m.regs.set_pair(4, 0x1004);
        let mut i = inst(op, S(8), &[S(4), S(6)]);
        i.imm = if op.entry().format == Sopk { 0x4041 } else { 0 };
        let result = m.run(&i);
        let other = matches!(result, Err(Trap::Other(_)));
        assert_eq!(other, refused.contains(&op), "{op:?}: {result:?}");
    }
}
