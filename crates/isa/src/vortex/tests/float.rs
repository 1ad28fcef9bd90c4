//! Floating point: to nearest against the host's own arithmetic, every mode and every flag against integer arithmetic
//! with a sticky bit, which shares nothing with the f64 method under test; conversions, comparisons, classes.

use super::machine::{Machine, Random, three};
use crate::vector;
use crate::vortex::float::{CANONICAL, DZ, NV, NX, OF, UF};
use crate::vortex::{DYNAMIC, Inst, Op};

const RNE: u8 = 0;
const RTZ: u8 = 1;
const RDN: u8 = 2;
const RUP: u8 = 3;
const RMM: u8 = 4;

/// A finite number: magnitude · 2^exponent, a little more if `more`.
#[derive(Clone, Copy, Debug)]
struct Exact {
    negative: bool,
    size: u128,
    exponent: i32,
    more: bool,
}

fn nan(x: u32) -> bool {
    f32::from_bits(x).is_nan()
}

fn signalling(x: u32) -> bool {
    nan(x) && x >> 22 & 1 == 0
}

fn infinite(x: u32) -> bool {
    x & 0x7fff_ffff == 0x7f80_0000
}

fn exact(x: u32) -> Exact {
    let (e, m) = ((x >> 23 & 0xff) as i32, x & 0x7f_ffff);
    let size = if e == 0 { m } else { m | 1 << 23 };
    Exact { negative: x >> 31 == 1, size: size.into(), exponent: e.max(1) - 150, more: false }
}

fn times(a: Exact, b: Exact) -> Exact {
    Exact {
        negative: a.negative != b.negative,
        size: a.size * b.size,
        exponent: a.exponent + b.exponent,
        more: false,
    }
}

fn plus(a: Exact, b: Exact, mode: u8) -> Exact {
    if a.size == 0 && b.size == 0 {
        let negative = if a.negative == b.negative { a.negative } else { mode == RDN };
        return Exact { negative, ..a };
    }
    let (a, b) = if a.size == 0 || (b.size != 0 && b.exponent > a.exponent) { (b, a) } else { (a, b) };
    // a has the larger exponent: give it 60 more bits, and cut b where it has more.
    let exponent = a.exponent - 60;
    let big = (a.size << 60) as i128;
    let down = exponent - b.exponent;
    let (small, more) = if down <= 0 {
        ((b.size << (-down).min(60)) as i128, false)
    } else {
        let kept = if down > 100 { 0 } else { b.size >> down };
        (kept as i128, b.size != 0 && (down > 100 || b.size & ((1 << down) - 1) != 0))
    };
    let signed = |v: i128, negative: bool| if negative { -v } else { v };
    let mut sum = signed(big, a.negative) + signed(small, b.negative);
    // What was cut off moves the sum towards b's sign.
    let mut size_less = false;
    if more && b.negative != (sum < 0) {
        size_less = true;
    }
    let negative = if sum == 0 && !more {
        mode == RDN
    } else if sum == 0 {
        b.negative
    } else {
        sum < 0
    };
    sum = sum.abs() - i128::from(size_less);
    Exact { negative, size: sum as u128, exponent, more }
}

/// Rounds to 24 bits or where subnormals end.
fn round(x: Exact, mode: u8) -> (u32, u32) {
    let sign = u32::from(x.negative) << 31;
    if x.size == 0 && !x.more {
        return (sign, 0);
    }
    let cut = |x: Exact, drop: i32| -> (u128, bool, bool) {
        // Kept part, whether something is lost, whether it rounds up.
        let (kept, half, rest) = if drop <= 0 {
            (x.size << -drop, false, x.more)
        } else if drop > 120 {
            (0, false, true)
        } else {
            let rest = x.size & ((1 << drop) - 1);
            let half = 1u128 << (drop - 1);
            (x.size >> drop, rest & half != 0, rest & (half - 1) != 0 || x.more)
        };
        let up = match mode {
            RNE => half && (rest || kept & 1 == 1),
            RTZ => false,
            RDN => x.negative && (half || rest),
            RUP => !x.negative && (half || rest),
            _ => half,
        };
        (kept + u128::from(up), half || rest, up)
    };
    let length = 128 - x.size.leading_zeros() as i32;
    // With an unbounded exponent: is it tiny after rounding?
    let (unbounded, ..) = cut(x, length - 24);
    let carried = i32::from(unbounded >= 1 << 24);
    let tiny = length - 24 + x.exponent + carried < -149;
    let drop = (length - 24).max(-149 - x.exponent);
    let (kept, inexact, _) = cut(x, drop);
    let exponent = x.exponent + drop;
    let mut bits = if kept >= 1 << 23 {
        // 2^exponent · kept with 24 bits, or 25 after a carry, which the addition handles.
        (((exponent + 149) as u64) << 23) + kept as u64
    } else {
        kept as u64
    };
    let mut flags = if inexact { NX } else { 0 } | if inexact && tiny { UF } else { 0 };
    if bits >= 0x7f80_0000 {
        flags = NX | OF;
        let outward = match mode {
            RTZ => false,
            RDN => x.negative,
            RUP => !x.negative,
            _ => true,
        };
        bits = if outward { 0x7f80_0000 } else { 0x7f7f_ffff };
    }
    (sign | bits as u32, flags)
}

fn add(a: u32, b: u32, mode: u8) -> (u32, u32) {
    if nan(a) || nan(b) {
        return (CANONICAL, if signalling(a) || signalling(b) { NV } else { 0 });
    }
    match (infinite(a), infinite(b)) {
        (true, true) if a != b => (CANONICAL, NV),
        (true, _) => (a, 0),
        (_, true) => (b, 0),
        _ => round(plus(exact(a), exact(b), mode), mode),
    }
}

fn mul(a: u32, b: u32, mode: u8) -> (u32, u32) {
    if nan(a) || nan(b) {
        return (CANONICAL, if signalling(a) || signalling(b) { NV } else { 0 });
    }
    let zero = |x: u32| x & 0x7fff_ffff == 0;
    if infinite(a) || infinite(b) {
        let sign = (a ^ b) & 1 << 31;
        return if zero(a) || zero(b) { (CANONICAL, NV) } else { (sign | 0x7f80_0000, 0) };
    }
    round(times(exact(a), exact(b)), mode)
}

fn fma(a: u32, b: u32, c: u32, mode: u8) -> (u32, u32) {
    let (product, product_flags) = mul(a, b, RNE);
    let wrong = |x: u32| signalling(x);
    let invalid = wrong(a) || wrong(b) || wrong(c) || product_flags & NV != 0;
    if nan(a) || nan(b) || nan(c) || nan(product) {
        return (CANONICAL, if invalid { NV } else { 0 });
    }
    if infinite(a) || infinite(b) {
        return add(product, c, mode);
    }
    if infinite(c) {
        return (c, 0);
    }
    round(plus(times(exact(a), exact(b)), exact(c), mode), mode)
}

fn div(a: u32, b: u32, mode: u8) -> (u32, u32) {
    if nan(a) || nan(b) {
        return (CANONICAL, if signalling(a) || signalling(b) { NV } else { 0 });
    }
    let (x, y) = (exact(a), exact(b));
    let sign = (a ^ b) & 1 << 31;
    let zero = |x: u32| x & 0x7fff_ffff == 0;
    match () {
        () if infinite(a) && infinite(b) || zero(a) && zero(b) => (CANONICAL, NV),
        () if infinite(a) => (sign | 0x7f80_0000, 0),
        () if zero(b) => (sign | 0x7f80_0000, DZ),
        () if infinite(b) || zero(a) => (sign, 0),
        () => {
            let size = (x.size << 64) / y.size;
            let more = (x.size << 64) % y.size != 0;
            let exponent = x.exponent - y.exponent - 64;
            round(Exact { negative: sign != 0, size, exponent, more }, mode)
        }
    }
}

fn sqrt(a: u32, mode: u8) -> (u32, u32) {
    if nan(a) || a >> 31 == 1 && a != 1 << 31 {
        return (CANONICAL, if signalling(a) || !nan(a) { NV } else { 0 });
    }
    if infinite(a) || a & 0x7fff_ffff == 0 {
        return (a, 0);
    }
    let x = exact(a);
    let shift = 60 + (x.exponent & 1);
    let square = x.size << shift;
    let mut root = 0u128;
    for bit in (0..50).rev() {
        let next = root | 1 << bit;
        if next * next <= square {
            root = next;
        }
    }
    let exponent = (x.exponent - shift) / 2;
    round(Exact { negative: false, size: root, exponent, more: root * root != square }, mode)
}

/// Runs `op` on 32 lanes of operands and compares bits and flags.
fn check(op: Op, mode: u8, operands: &[[u32; 3]], expected: impl Fn([u32; 3]) -> (u32, u32)) {
    for (round, part) in operands.chunks(32).enumerate() {
        let mut m = Machine::new(32);
        for (lane, values) in part.iter().enumerate() {
            let files = op.entry().files;
            for (i, &value) in values.iter().enumerate() {
                let register = if files[i + 1] == crate::vortex::File::F { 33 } else { 1 } + i;
                m.regs.set(register, lane as u32, value);
            }
        }
        // Half of the time the mode comes from frm.
        let dynamic = round % 2 == 1;
        if dynamic {
            (0..32).for_each(|l| m.regs.set_rounding(l, mode.into()));
        }
        let rm = if dynamic { DYNAMIC } else { mode };
        m.run(Inst { rm, rs3: 3, rd: 9, ..three(op) });
        let d = if op.entry().files[0] == crate::vortex::File::F { 32 + 9 } else { 9 };
        for (lane, &values) in part.iter().enumerate() {
            let got = (m.regs.get(d, lane as u32), m.regs.flags(lane as u32));
            let want = expected(values);
            assert_eq!(
                got, want,
                "{op:?} mode {mode} {values:x?}: got {:x} {:x}, want {:x} {:x}",
                got.0, got.1, want.0, want.1
            );
        }
    }
}

fn operands(seed: u64, count: usize) -> Vec<[u32; 3]> {
    let mut random = Random(seed);
    let close = |r: &mut Random, x: u32| match r.below(4) {
        0 => x ^ 1 << 31,
        1 => x.wrapping_add(r.word() % 3),
        _ => r.float(),
    };
    (0..count)
        .map(|_| {
            let a = random.float();
            let b = close(&mut random, a);
            let product = f32::from_bits(a) * f32::from_bits(b);
            let c = match random.below(3) {
                0 => close(&mut random, (-product).to_bits()),
                _ => random.float(),
            };
            [a, b, c]
        })
        .collect()
}

const COUNT: usize = 24_000;

#[test]
fn arithmetic_in_every_mode() {
    // Loops are compiled for several hosts: each of them computes its share.
    let hosts: Vec<_> = vector::others().into_iter().map(Some).chain([None]).collect();
    for (part, mode) in (0..hosts.len()).flat_map(|part| [RNE, RTZ, RDN, RUP, RMM].map(|mode| (part, mode))) {
        vector::INSTEAD.set(hosts[part]);
        let all = operands(11 + u64::from(mode) + 100 * part as u64, COUNT / hosts.len());
        check(Op::Fadd, mode, &all, |[a, b, _]| add(a, b, mode));
        check(Op::Fsub, mode, &all, |[a, b, _]| add(a, b ^ 1 << 31, mode));
        check(Op::Fmul, mode, &all, |[a, b, _]| mul(a, b, mode));
        check(Op::Fdiv, mode, &all, |[a, b, _]| div(a, b, mode));
        check(Op::Fsqrt, mode, &all, |[a, _, _]| sqrt(a, mode));
        let minus = 1 << 31;
        check(Op::Fmadd, mode, &all, |[a, b, c]| fma(a, b, c, mode));
        check(Op::Fmsub, mode, &all, |[a, b, c]| fma(a, b, c ^ minus, mode));
        check(Op::Fnmsub, mode, &all, |[a, b, c]| fma(a ^ minus, b, c, mode));
        check(Op::Fnmadd, mode, &all, |[a, b, c]| fma(a ^ minus, b, c ^ minus, mode));
    }
    vector::INSTEAD.set(None);
}

/// The reference itself, and the instructions, against the host's arithmetic.
#[test]
fn to_nearest_is_what_the_host_computes() {
    let bits = |x: f32| if x.is_nan() { CANONICAL } else { x.to_bits() };
    for [a, b, c] in operands(5, 60_000) {
        let [x, y, z] = [a, b, c].map(f32::from_bits);
        assert_eq!(add(a, b, RNE).0, bits(x + y), "{x} + {y}");
        assert_eq!(mul(a, b, RNE).0, bits(x * y), "{x} * {y}");
        assert_eq!(div(a, b, RNE).0, bits(x / y), "{x} / {y}");
        assert_eq!(sqrt(a, RNE).0, bits(x.sqrt()), "sqrt {x}");
        assert_eq!(fma(a, b, c, RNE).0, bits(x.mul_add(y, z)), "{x} * {y} + {z}");
    }
}

/// The integer a float rounds to, by cutting bits; saturated.
fn integer(a: u32, mode: u8, low: i128, high: i128) -> (u32, u32) {
    let negative = a >> 31 == 1;
    if nan(a) || infinite(a) {
        return (if negative && !nan(a) { low } else { high } as u32, NV);
    }
    let x = exact(a);
    let (kept, half, rest) = if x.exponent >= 0 {
        (x.size << x.exponent.min(64), false, false)
    } else {
        let drop = (-x.exponent).min(100);
        let lost = x.size & ((1 << drop) - 1);
        (x.size >> drop, lost >> (drop - 1) & 1 == 1, lost & ((1 << (drop - 1)) - 1) != 0)
    };
    let up = match mode {
        RNE => half && (rest || kept & 1 == 1),
        RTZ => false,
        RDN => negative && (half || rest),
        RUP => !negative && (half || rest),
        _ => half,
    };
    let size = (kept + u128::from(up)) as i128;
    let value = if negative { -size } else { size };
    if value < low || value > high {
        return (value.clamp(low, high) as u32, NV);
    }
    (value as u32, if half || rest { NX } else { 0 })
}

#[test]
fn conversions_saturate() {
    for mode in [RNE, RTZ, RDN, RUP, RMM] {
        let all = operands(31 + u64::from(mode), COUNT);
        check(Op::FcvtWS, mode, &all, |[a, ..]| integer(a, mode, -(1 << 31), (1 << 31) - 1));
        check(Op::FcvtWuS, mode, &all, |[a, ..]| integer(a, mode, 0, (1 << 32) - 1));
        let mut random = Random(77);
        let ints: Vec<[u32; 3]> = (0..COUNT).map(|_| [random.integer(), 0, 0]).collect();
        let number = |negative: bool, size: u32| {
            round(Exact { negative, size: size.into(), exponent: 0, more: false }, mode)
        };
        check(Op::FcvtSW, mode, &ints, |[a, ..]| number((a as i32) < 0, (a as i32).unsigned_abs()));
        check(Op::FcvtSWu, mode, &ints, |[a, ..]| number(false, a));
    }
}

#[test]
fn comparisons_signs_and_classes() {
    let all = operands(3, COUNT);
    let any_nan = |a: u32, b: u32| nan(a) || nan(b);
    let quiet = |a: u32, b: u32| if signalling(a) || signalling(b) { NV } else { 0 };
    let f = f32::from_bits;
    check(Op::Feq, RNE, &all, |[a, b, _]| (u32::from(f(a) == f(b)), quiet(a, b)));
    let loud = |a: u32, b: u32| if any_nan(a, b) { NV } else { 0 };
    check(Op::Flt, RNE, &all, |[a, b, _]| (u32::from(f(a) < f(b)), loud(a, b)));
    check(Op::Fle, RNE, &all, |[a, b, _]| (u32::from(f(a) <= f(b)), loud(a, b)));
    let pick = |a: u32, b: u32, want_less: bool| {
        let value = match (nan(a), nan(b)) {
            (true, true) => CANONICAL,
            (true, false) => b,
            (false, true) => a,
            _ if f(a) == 0.0 && f(b) == 0.0 => {
                if want_less {
                    a | b
                } else {
                    a & b
                }
            }
            _ => {
                if (f(a) < f(b)) == want_less || f(a) == f(b) {
                    a
                } else {
                    b
                }
            }
        };
        (value, quiet(a, b))
    };
    check(Op::Fmin, RNE, &all, |[a, b, _]| pick(a, b, true));
    check(Op::Fmax, RNE, &all, |[a, b, _]| pick(a, b, false));
    check(Op::Fsgnj, RNE, &all, |[a, b, _]| (f(a).copysign(f(b)).to_bits(), 0));
    check(Op::Fsgnjn, RNE, &all, |[a, b, _]| (a & 0x7fff_ffff | !b & 1 << 31, 0));
    check(Op::Fsgnjx, RNE, &all, |[a, b, _]| (a ^ b & 1 << 31, 0));
    check(Op::FmvXW, RNE, &all, |[a, ..]| (a, 0));
    check(Op::FmvWX, RNE, &all, |[a, ..]| (a, 0));
    use std::num::FpCategory;
    check(Op::Fclass, RNE, &all, |[a, ..]| {
        let bit = match (f(a).classify(), a >> 31 == 1) {
            (FpCategory::Infinite, true) => 0,
            (FpCategory::Normal, true) => 1,
            (FpCategory::Subnormal, true) => 2,
            (FpCategory::Zero, true) => 3,
            (FpCategory::Zero, false) => 4,
            (FpCategory::Subnormal, false) => 5,
            (FpCategory::Normal, false) => 6,
            (FpCategory::Infinite, false) => 7,
            (FpCategory::Nan, _) => {
                if signalling(a) {
                    8
                } else {
                    9
                }
            }
        };
        (1 << bit, 0)
    });
}

/// Straight-line programs of floating-point instructions, every lane against the host's own arithmetic.
#[test]
fn random_programs_compute_what_the_host_computes() {
    // Bits, not floats: compilers may take any NaN for any other.
    let canonical = |x: f32| if x.is_nan() { CANONICAL } else { x.to_bits() };
    let mut random = Random(0x5eed);
    for _ in 0..60 {
        let mut m = Machine::new(32);
        let mut host = [[0u32; 32]; 8];
        for (r, row) in host.iter_mut().enumerate() {
            for (lane, value) in row.iter_mut().enumerate() {
                let bits = random.float();
                *value = bits;
                m.regs.set(32 + r, lane as u32, bits);
            }
        }
        for _ in 0..200 {
            let [d, a, b, c] = [0; 4].map(|_: u8| random.below(8) as u8);
            let ops = [
                Op::Fadd,
                Op::Fsub,
                Op::Fmul,
                Op::Fdiv,
                Op::Fsqrt,
                Op::Fmadd,
                Op::Fmsub,
                Op::Fnmsub,
                Op::Fnmadd,
                Op::Fsgnjn,
            ];
            let op = ops[random.below(10) as usize];
            let rm = if random.below(2) == 0 { DYNAMIC } else { RNE };
            m.run(Inst { rd: d, rs1: a, rs2: b, rs3: c, rm, ..Inst::new(op) });
            // Rows of three registers are read and one is written.
            #[allow(clippy::needless_range_loop)]
            for lane in 0..32 {
                let bits = [a, b, c].map(|r| host[usize::from(r)][lane]);
                let [x, y, z] = bits.map(f32::from_bits);
                host[usize::from(d)][lane] = match op {
                    Op::Fadd => canonical(x + y),
                    Op::Fsub => canonical(x - y),
                    Op::Fmul => canonical(x * y),
                    Op::Fdiv => canonical(x / y),
                    Op::Fsqrt => canonical(x.sqrt()),
                    Op::Fmadd => canonical(x.mul_add(y, z)),
                    Op::Fmsub => canonical(x.mul_add(y, -z)),
                    Op::Fnmsub => canonical((-x).mul_add(y, z)),
                    Op::Fnmadd => canonical((-x).mul_add(y, -z)),
                    _ => bits[0] & 0x7fff_ffff | !bits[1] & 1 << 31,
                };
            }
        }
        for (r, row) in host.iter().enumerate() {
            assert_eq!(m.row(32 + r), row, "f{r}");
        }
    }
}

/// Values worked out by hand from the manual's text.
#[test]
fn cases_by_hand() {
    let one = |op: Op, mode: u8, a: u32, b: u32| {
        let mut m = Machine::new(4);
        m.set(33, &[a]);
        m.set(34, &[b]);
        m.run(Inst { rm: mode, ..three(op) });
        let d = if op.entry().files[0] == crate::vortex::File::F { 35 } else { 3 };
        (m.regs.get(d, 0), m.regs.flags(0))
    };
    let (one_f, max, least) = (0x3f80_0000, 0x7f7f_ffff, 1);
    assert_eq!(one(Op::Fadd, RNE, one_f, 0xbf80_0000), (0, 0), "x - x = +0");
    assert_eq!(one(Op::Fadd, RDN, one_f, 0xbf80_0000), (0x8000_0000, 0), "but -0 rounding down");
    assert_eq!(one(Op::Fadd, RNE, max, max), (0x7f80_0000, OF | NX));
    assert_eq!(one(Op::Fadd, RTZ, max, max), (max, OF | NX));
    assert_eq!(one(Op::Fmul, RNE, least, least), (0, UF | NX));
    assert_eq!(one(Op::Fmul, RUP, least, least), (1, UF | NX));
    assert_eq!(one(Op::Fmul, RUP, 0x8000_0001, least), (0x8000_0000, UF | NX));
    assert_eq!(
        one(Op::Fmul, RNE, 0x0080_0000, 0x3f7f_ffff),
        (0x0080_0000, UF | NX),
        "tiny before, tiny after"
    );
    assert_eq!(one(Op::Fdiv, RNE, one_f, 0), (0x7f80_0000, DZ));
    assert_eq!(one(Op::Fdiv, RNE, 0, 0), (CANONICAL, NV));
    assert_eq!(one(Op::Fadd, RNE, 0x7f80_0001, one_f), (CANONICAL, NV), "a signalling NaN");
    assert_eq!(one(Op::Fadd, RNE, 0xffc1_2345, one_f), (CANONICAL, 0), "payload and sign are lost");
    assert_eq!(one(Op::Fmin, RNE, 0x7f80_0001, one_f), (one_f, NV));
    assert_eq!(one(Op::Fmax, RNE, 0x8000_0000, 0), (0, 0));
    assert_eq!(one(Op::FcvtWuS, RNE, 0xbf00_0000, 0), (0, NX), "-0.5 rounds to 0");
    assert_eq!(one(Op::FcvtWuS, RMM, 0xbf00_0000, 0), (0, NV), "-0.5 rounds to -1");
    assert_eq!(one(Op::FcvtWS, RTZ, 0xcf00_0000, 0), (0x8000_0000, 0), "exactly the least integer");
    assert_eq!(one(Op::FcvtWS, RMM, 0x4020_0000, 0), (3, NX), "2.5 away from zero");
    assert_eq!(one(Op::FcvtWS, RNE, 0x4020_0000, 0), (2, NX));
}

/// Lanes that set different modes each get theirs; a reserved one is an error; lanes that are off keep everything.
#[test]
fn modes_and_flags_are_per_lane() {
    let mut m = Machine::masked(8, 0x1f);
    m.set(33, &[0x3f80_0000; 8]);
    m.set(34, &[0x4040_0000; 8]);
    m.set(35, &[7; 8]);
    for lane in 0..5 {
        m.regs.set_rounding(lane, lane);
    }
    let third = Inst { rm: DYNAMIC, ..three(Op::Fdiv) };
    m.run(third);
    assert_eq!(m.row(35), [0x3eaa_aaab, 0x3eaa_aaaa, 0x3eaa_aaaa, 0x3eaa_aaab, 0x3eaa_aaab, 7, 7, 7]);
    assert_eq!((0..8).map(|l| m.regs.flags(l)).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 0, 0, 0]);
    m.regs.set_rounding(2, 5);
    assert!(m.exec(third).unwrap_err().to_string().contains("reserved rounding mode"));
    // Flags accrue.
    m.regs.set_rounding(2, 0);
    m.set(34, &[0; 8]);
    m.run(third);
    assert_eq!(m.regs.flags(0), NX | DZ);
}
