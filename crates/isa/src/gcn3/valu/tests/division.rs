//! LLVM's division sequences, run instruction by instruction, against IEEE division.

use super::super::num;
use super::*;

/// Registers of the sequences: numerator v0, denominator v4, others from v8, each two wide.
struct Seq {
    regs: Regs,
    wide: bool,
}

impl Seq {
    fn op(&mut self, op: Op, dst: u8, src: &[u8], neg: u8, sdst: u8) {
        let mut i = inst(op);
        i.src = [Operand::None; 3];
        for (n, s) in src.iter().enumerate() {
            i.src[n] = if *s == 255 {
                Operand::InlineFloat(super::super::super::InlineFloat::One)
            } else {
                Operand::Vgpr(*s)
            };
        }
        (i.dst, i.neg, i.sdst) = (Operand::Vgpr(dst), neg, sdst);
        execute(&i, &mut self.regs, !0).unwrap();
    }

    /// The sequence of SIISelLowering for f32 (`flushing`: denormals on only in the middle) and for f64.
    fn divide(&mut self, flushing: bool) {
        let none = super::super::super::NO_SDST;
        let (n, d, ds, ns, r, e, q, t) = (0, 4, 8, 10, 12, 14, 16, 18);
        let [scale, rcp, fma, mul, fmas, fixup] = if self.wide {
            [Op::VDivScaleF64, Op::VRcpF64, Op::VFmaF64, Op::VMulF64, Op::VDivFmasF64, Op::VDivFixupF64]
        } else {
            [Op::VDivScaleF32, Op::VRcpF32, Op::VFmaF32, Op::VMulF32, Op::VDivFmasF32, Op::VDivFixupF32]
        };
        self.op(scale, ds, &[d, d, n], 0, 40);
        self.op(scale, ns, &[n, d, n], 0, sreg::VCC);
        self.op(rcp, r, &[ds], 0, none);
        let mode = self.regs.mode;
        if flushing {
            self.regs.mode |= 0x30;
        }
        self.op(fma, e, &[ds, r, 255], 1, none);
        self.op(fma, r, &[e, r, r], 0, none);
        if self.wide {
            self.op(fma, e, &[ds, r, 255], 1, none);
            self.op(fma, r, &[r, e, r], 0, none);
            self.op(mul, q, &[ns, r], 0, none);
            self.op(fma, t, &[ds, q, ns], 1, none);
        } else {
            self.op(mul, q, &[ns, r], 0, none);
            self.op(fma, e, &[ds, q, ns], 1, none);
            self.op(fma, q, &[e, r, q], 0, none);
            self.op(fma, t, &[ds, q, ns], 1, none);
        }
        self.regs.mode = mode;
        self.op(fmas, q, &[t, r, q], 0, none);
        self.op(fixup, q, &[q, d, n], 0, none);
    }
}

fn quotients(wide: bool, mode: u32, flushing: bool, pairs: &[[u64; 3]], expected: impl Fn(u64, u64) -> u64) {
    for block in pairs.chunks(64) {
        let mut seq = Seq { regs: regs(mode), wide };
        for (lane, [n, d, _]) in block.iter().enumerate() {
            fill(&mut seq.regs, 0, lane as u32, *n);
            fill(&mut seq.regs, 1, lane as u32, *d);
        }
        seq.divide(flushing);
        for (lane, [n, d, _]) in block.iter().enumerate() {
            let low = u64::from(seq.regs.v.get(16, lane as u32));
            let high = u64::from(seq.regs.v.get(17, lane as u32));
            let out = if wide { low | high << 32 } else { low };
            assert_eq!(out, expected(*n, *d), "{n:x} / {d:x} = {out:x}");
        }
    }
}

fn divide32(n: u64, d: u64, flush: bool) -> u64 {
    let (n, d) = (f32::from_bits(n as u32), f32::from_bits(d as u32));
    let (n, d) = (super::float::flush(n, flush), super::float::flush(d, flush));
    let q = super::float::flush(n / d, flush);
    u64::from(match () {
        () if n.is_nan() => n.to_bits() | 0x40_0000,
        () if d.is_nan() => d.to_bits() | 0x40_0000,
        () if q.is_nan() => 0xffc0_0000,
        () => q.to_bits(),
    })
}

#[test]
fn single() {
    let mut t = floats();
    let mut rng = Rng(3);
    t.extend((0..150_000).map(|_| [rng.next() & 0xffff_ffff, rng.next() & 0xffff_ffff, 0]));
    // Quotients near the ends of the range and tiny operands.
    t.extend((0..60_000).map(|_| {
        let (a, b) = (rng.next(), rng.next());
        let e = 1 + (a >> 40) % 24;
        let (x, y) = ((a & 0x807f_ffff) | e << 23, (b & 0x807f_ffff) | (100 + e + (b >> 40) % 60) << 23);
        match a >> 62 {
            0 => [x, y, 0],
            1 => [y, x, 0],
            2 => [a & 0x807f_ffff, y, 0],
            _ => [x, b & 0x80ff_ffff, 0],
        }
    }));
    quotients(false, KEEP, false, &t, |n, d| divide32(n, d, false));
    quotients(false, COMPILED, true, &t, |n, d| divide32(n, d, true));
}

#[test]
fn double() {
    let mut t = doubles();
    let mut rng = Rng(4);
    t.extend((0..100_000).map(|_| [rng.next(), rng.next(), 0]));
    t.extend((0..60_000).map(|_| {
        let (a, b) = (rng.next(), rng.next());
        let e = 1 + (a >> 56) % 56;
        let sign = 0x800f_ffff_ffff_ffff;
        let (x, y) = ((a & sign) | e << 52, (b & sign) | (990 + e + (b >> 57)) << 52);
        match rng.next() & 3 {
            0 => [x, y, 0],
            1 => [y, x, 0],
            2 => [a & sign, y, 0],
            _ => [x, b & sign, 0],
        }
    }));
    quotients(true, COMPILED, false, &t, |n, d| {
        let (n, d) = (f64::from_bits(n), f64::from_bits(d));
        match () {
            () if n.is_nan() => n.to_bits() | 1 << 51,
            () if d.is_nan() => d.to_bits() | 1 << 51,
            () if (n / d).is_nan() => 0xfff8 << 48,
            () => (n / d).to_bits(),
        }
    });
}

#[test]
fn half_fixup() {
    for (q, d, n, expected) in [
        (0x3c00, 0x4000, 0xc000, 0xbc00),
        (0x3c00, 0, 0, 0xfe00),
        (0x3c00, 0, 0xbc00, 0xfc00),
        (0x3c00, 0x7c00, 0x3c00, 0),
        (0x3c00, 0x7d00, 0x3c00, 0x7f00),
        (0x7e00, 1, 0x7bff, 0x7c00),
    ] {
        assert_eq!(run(&inst(Op::VDivFixupF16), COMPILED, &[[q, d, n]], 0, 0)[0].0, expected);
    }
}

#[test]
fn two_over_pi() {
    // The segments add up to 2/π, each exactly below the one before.
    let x = 1e5f64.to_bits();
    let t: Vec<[u64; 3]> = (0..18).map(|s| [x, s, 0]).collect();
    let parts: Vec<f64> =
        run(&inst(Op::VTrigPreopF64), COMPILED, &t, 0, 0).iter().map(|v| f64::from_bits(v.0)).collect();
    // The constant is rounded up, the segment cut off.
    assert_eq!(parts[0], std::f64::consts::FRAC_2_PI.next_down());
    for (i, part) in (0i32..).zip(&parts) {
        let bits = part * 2f64.powi(53 * i) * 2f64.powi(53);
        assert!(bits < 2f64.powi(53) && bits.fract() == 0.0, "{i} {part:e}");
    }
    // π/2 as three pieces times the sum is 1 as far as doubles reach.
    let (hi, mid) = (std::f64::consts::FRAC_PI_2, 6.123233995736766e-17);
    let rest = hi.mul_add(parts[0], -1.0) + hi * parts[1] + mid * parts[0] + mid * parts[1];
    assert!(rest.abs() < 1e-30, "{rest:e}");
    // A large argument starts further down: as many bits as its exponent is above 1077.
    let large = 2f64.powi(1077 + 30 - 1023).to_bits();
    let out = f64::from_bits(run(&inst(Op::VTrigPreopF64), COMPILED, &[[large, 0, 0]], 0, 0)[0].0);
    let below = (parts[0] * 2f64.powi(30)).fract() * 2f64.powi(-30);
    assert!((out - below - parts[1]).abs() <= 2f64.powi(-83), "{out:e}");
    assert_eq!(num::scale64(1.5, 0, -1074).to_bits(), 2);
}

/// By factors and by bits: the same, also where the result is a denormal or the exponent is far outside.
#[test]
fn powers_of_two_round_once() {
    let mut rng = Rng(7);
    let odd = [
        1,
        0x000f_ffff_ffff_ffff,
        0x0010_0000_0000_0000,
        0x0010_0000_0000_0001,
        0x7fef_ffff_ffff_ffff,
        0,
        1 << 63,
    ];
    for k in 0..400_000usize {
        let bits = match k % 4 {
            0 => odd[k / 4 % odd.len()],
            1 => rng.next() & 0x800f_ffff_ffff_ffff >> (k % 50),
            _ => rng.next(),
        };
        let (x, at) = (f64::from_bits(bits), (bits >> 52 & 0x7ff) as i32);
        let n = match k % 3 {
            // Among the denormals.
            0 => -at - (rng.next() % 60) as i32 + 4,
            1 => (rng.next() % 5000) as i32 - 2500,
            _ => rng.next() as i32,
        };
        if !x.is_nan() {
            assert_eq!(num::ldexp64(x, n).to_bits(), num::scale64(x, 0, n).to_bits(), "{x:e} {n}");
        }
    }
}
