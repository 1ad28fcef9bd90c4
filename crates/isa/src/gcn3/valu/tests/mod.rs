//! Lane semantics against references written another way: wide integers, bit-by-bit definitions, Rust's own
//! float operations. Every check runs with full and partial masks, vector and scalar sources.

mod compare;
mod division;
mod double;
mod float;
mod half;
mod halves;
mod int;
mod matrix;
mod modify;
mod near;
mod same;
mod scaling;
mod speed;
mod transcendental;

use super::super::inst::{Format, Inst};
use super::super::op::Op;
use super::super::operand::{Operand, sreg};
use super::super::state::Regs;
use super::execute;

/// MODE of compiled kernels: f32 denormals flushed, f64 kept, IEEE and DX10_CLAMP on.
pub const COMPILED: u32 = 0xc0 | 1 << 8 | 1 << 9;
/// All denormals kept.
pub const KEEP: u32 = 0xf0 | 1 << 8 | 1 << 9;

pub const CARRY: u8 = 20;
const SRC: [u8; 3] = [0, 4, 8];
const DST: u8 = 12;

/// A small deterministic generator.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// An instruction on v0, v4, v8 with result in v12 (a comparison: VCC) and carry in s[20:21].
pub fn inst(op: Op) -> Inst {
    let entry = op.entry();
    let mut inst = Inst::new(op, Format::Vop3);
    for (i, first) in SRC.into_iter().enumerate() {
        if entry.src[i].dwords() > 0 {
            inst.src[i] = Operand::Vgpr(first);
        }
        if entry.src[i] == super::Ty::Mask {
            inst.src[i] = Operand::Sgpr(30);
        }
    }
    inst.dst = if entry.compare().is_some() { Operand::VCC } else { Operand::Vgpr(DST) };
    if entry.carry {
        inst.sdst = CARRY;
    }
    inst
}

pub fn regs(mode: u32) -> Regs {
    let mut regs = Regs::new(24, 64);
    regs.mode = mode;
    regs
}

pub fn fill(regs: &mut Regs, i: usize, lane: u32, value: u64) {
    regs.v.set(SRC[i].into(), lane, value as u32);
    regs.v.set(usize::from(SRC[i]) + 1, lane, (value >> 32) as u32);
}

pub fn result(regs: &Regs, dwords: u8, lane: u32) -> u64 {
    let low = u64::from(regs.v.get(DST.into(), lane));
    let high = if dwords > 1 { regs.v.get(usize::from(DST) + 1, lane).into() } else { 0u64 };
    low | high << 32
}

/// Results and carry bits of `inst` for each input; the accumulator (old destination) is `old`.
pub fn run(inst: &Inst, mode: u32, inputs: &[[u64; 3]], old: u64, carry_in: u64) -> Vec<(u64, bool)> {
    let mut out = Vec::new();
    for block in inputs.chunks(64) {
        let mut r = regs(mode);
        for (lane, input) in block.iter().enumerate() {
            for (i, v) in input.iter().enumerate() {
                fill(&mut r, i, lane as u32, *v);
            }
            r.v.set(DST.into(), lane as u32, old as u32);
            r.v.set(usize::from(DST) + 1, lane as u32, (old >> 32) as u32);
        }
        r.set_pair(30, carry_in);
        r.set_pair(sreg::VCC, carry_in);
        execute(inst, &mut r, !0).unwrap();
        let mask = if inst.entry().compare().is_some() { r.vcc() } else { r.pair(CARRY) };
        for lane in 0..block.len() as u32 {
            out.push((result(&r, inst.entry().dst.dwords(), lane), mask >> lane & 1 == 1));
        }
    }
    out
}

/// `op` on all inputs equals the reference; also with lanes off and with a scalar first source.
pub fn check_mode(op: Op, mode: u32, inputs: &[[u64; 3]], reference: impl Fn([u64; 3]) -> u64) {
    let plain = inst(op);
    let name = op.name();
    for (input, (out, _)) in inputs.iter().zip(run(&plain, mode, inputs, 0, 0)) {
        assert_eq!(
            out,
            reference(*input),
            "{name} of {input:x?}: {out:#x}, expected {:#x}",
            reference(*input)
        );
    }
    // Lanes off, scalar source.
    let mut rng = Rng(7);
    let mask = rng.next() & rng.next() | 0xff00;
    let mut r = regs(mode);
    let scalar = inputs[inputs.len() / 2][0];
    r.set_pair(14, scalar);
    let mut inst = plain;
    inst.src[0] = Operand::Sgpr(14);
    for lane in 0..64 {
        let input = inputs[lane as usize % inputs.len()];
        (1..3).for_each(|i| fill(&mut r, i, lane, input[i]));
        (0..4).for_each(|d| r.v.set(usize::from(DST) + d, lane, 0xdead_beef));
    }
    execute(&inst, &mut r, mask & !0xff).unwrap();
    let wide = op.entry().dst.dwords() > 1;
    for lane in 0..64 {
        let [_, b, c] = inputs[lane as usize % inputs.len()];
        let expected = match mask & !0xff & 1 << lane != 0 {
            true => reference([scalar, b, c]),
            false => {
                if wide {
                    0xdead_beef_dead_beef
                } else {
                    0xdead_beef
                }
            }
        };
        assert_eq!(
            result(&r, op.entry().dst.dwords(), lane),
            expected,
            "{name}, scalar {scalar:x}, lane {lane}"
        );
    }
}

pub fn check(op: Op, inputs: &[[u64; 3]], reference: impl Fn([u64; 3]) -> u64) {
    check_mode(op, COMPILED, inputs, reference);
}

/// All pairs and triples of interesting values, then random ones.
pub fn mix(special: &[u64], random: usize, mut draw: impl FnMut(&mut Rng) -> u64) -> Vec<[u64; 3]> {
    let mut out = Vec::new();
    let mut rng = Rng(1);
    for &a in special {
        for &b in special {
            out.push([a, b, special[rng.next() as usize % special.len()]]);
            out.push([a, b, draw(&mut rng)]);
        }
    }
    for _ in 0..random {
        out.push([draw(&mut rng), draw(&mut rng), draw(&mut rng)]);
    }
    out
}

pub fn ints() -> Vec<[u64; 3]> {
    let special = [
        0,
        1,
        2,
        7,
        8,
        15,
        16,
        31,
        32,
        33,
        0x7f,
        0x80,
        0xff,
        0x7fff,
        0x8000,
        0xffff,
        0x7f_ffff,
        0x80_0000,
        0xff_ffff,
        0x100_0000,
        0x7fff_ffff,
        0x8000_0000,
        0x8000_0001,
        0xffff_fffe,
        0xffff_ffff,
    ];
    mix(&special, 3000, |r| r.next() >> (r.next() & 31) & 0xffff_ffff)
}

pub const F32: [u32; 34] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x7f_ffff,
    0x807f_ffff,
    0x40_0000,
    0x80_0000,
    0x8080_0000,
    0x80_0001,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x3f7f_ffff,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0x4040_0000,
    0x4b00_0000,
    0x4b00_0001,
    0x4aff_ffff,
    0xcaff_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_1234,
    0xffc0_0001,
    0x7f80_0001,
    0xffa0_0000,
];

pub fn floats() -> Vec<[u64; 3]> {
    mix(&F32.map(u64::from), 6000, |r| {
        let v = r.next();
        // Half of them of moderate size.
        if v >> 40 & 1 == 1 { (v & 0x807f_ffff) + ((100 + (v >> 33 & 63)) << 23) } else { v & 0xffff_ffff }
    })
}

pub const F64: [u64; 30] = [
    0,
    1 << 63,
    1,
    1 << 63 | 1,
    0xf_ffff_ffff_ffff,
    0x10_0000_0000_0000,
    0x8010_0000_0000_0000,
    0x10_0000_0000_0001,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x3fef_ffff_ffff_ffff,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xc004_0000_0000_0000,
    0x4330_0000_0000_0000,
    0x432f_ffff_ffff_ffff,
    0x4330_0000_0000_0001,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0020_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_1234,
    0x7ff0_0000_0000_0001,
    0xfff4_0000_0000_0000,
];

pub fn doubles() -> Vec<[u64; 3]> {
    mix(&F64, 6000, |r| {
        let v = r.next();
        if r.next() & 1 == 1 { (v & 0x800f_ffff_ffff_ffff) + ((980 + (v >> 52 & 63)) << 52) } else { v }
    })
}
