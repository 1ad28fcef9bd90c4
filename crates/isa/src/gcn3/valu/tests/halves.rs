//! f16 operations that run over rows against the same operation in one lane, computed in f64 and rounded once: every half
//! where there is one source, all kinds of halves where there are more; denormals kept and flushed, abs and neg, for any
//! host and for this one.

use super::super::half::half_op;
use super::super::num::{add_odd, ceil64, floor64, flush16, half_from_f64, half_to_f64, rndne64, trunc64};
use super::*;
use crate::vector;

/// Which denormals are flushed: of sources, of results.
const MODES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

fn mode((flush_in, flush_out): (bool, bool)) -> u32 {
    KEEP & !(u32::from(flush_in) << 6 | u32::from(flush_out) << 7)
}

/// Halves around every power of two, with both signs; denormals, infinities, NaNs of both kinds.
fn kinds() -> Vec<u16> {
    let mut all = Vec::new();
    for exponent in 0..32u16 {
        for fraction in [0, 1, 2, 0x155, 0x1ff, 0x200, 0x201, 0x3fe, 0x3ff] {
            all.extend([exponent << 10 | fraction, 0x8000 | exponent << 10 | fraction]);
        }
    }
    all
}

/// Runs `inst` on the inputs, 64 at a time, and compares each lane.
fn compare(inst: &Inst, mode: u32, inputs: &[[u16; 3]], wanted: impl Fn([u16; 3]) -> u16) {
    for arch in vector::others().into_iter().map(Some).chain([None]) {
        vector::INSTEAD.set(arch);
        for some in inputs.chunks(64) {
            let mut r = regs(mode);
            for (lane, input) in some.iter().enumerate() {
                for (i, h) in input.iter().enumerate() {
                    // What is above a half does not matter.
                    fill(&mut r, i, lane as u32, u64::from(*h) | 0xabcd_0000);
                }
                r.v.set(DST.into(), lane as u32, u32::from(input[2]) | 0x1234_0000);
            }
            execute(inst, &mut r, !0 >> (64 - some.len())).expect("runs");
            for (lane, input) in some.iter().enumerate() {
                let (got, wanted) = (result(&r, 1, lane as u32), wanted(*input));
                assert_eq!(
                    got,
                    u64::from(wanted),
                    "{} of {input:x?}, mode {mode:#x}, {arch:?}, abs {:b}, neg {:b}",
                    inst.op.name(),
                    inst.abs,
                    inst.neg
                );
            }
        }
    }
}

fn unary(op: Op, f: impl Fn(f64) -> f64) {
    let all: Vec<[u16; 3]> = (0..=u16::MAX).map(|h| [h, 0, 0]).collect();
    for (flush_in, flush_out) in MODES {
        compare(&inst(op), mode((flush_in, flush_out)), &all, |[h, ..]| {
            half_op([h], flush_in, flush_out, |[a]| f(a))
        });
    }
}

#[test]
fn one_source() {
    unary(Op::VFloorF16, floor64);
    unary(Op::VCeilF16, ceil64);
    unary(Op::VTruncF16, trunc64);
    unary(Op::VRndneF16, rndne64);
    unary(Op::VRcpF16, |a| 1.0 / a);
    unary(Op::VSqrtF16, f64::sqrt);
    unary(Op::VFractF16, |a| {
        let r = a - floor64(a);
        if r > 2047.0 / 2048.0 { 2047.0 / 2048.0 } else { r }
    });
}

/// All pairs of kinds, with abs and neg.
fn binary(op: Op, f: impl Fn(f64, f64) -> f64) {
    let kinds = kinds();
    let pairs: Vec<[u16; 3]> = kinds.iter().flat_map(|&a| kinds.iter().map(move |&b| [a, b, 0])).collect();
    for (flush_in, flush_out) in MODES {
        for (abs, neg) in [(0, 0), (0b01, 0b10), (0b10, 0b11)] {
            let signed = |h: u16, i: u32| {
                let h = if abs >> i & 1 == 1 { h & 0x7fff } else { h };
                if neg >> i & 1 == 1 { h ^ 0x8000 } else { h }
            };
            let inst = Inst { abs, neg, ..inst(op) };
            // Each pair once with modifiers, under each mode without.
            let inputs = if abs | neg == 0 { &pairs[..] } else { &pairs[..pairs.len() / 4] };
            compare(&inst, mode((flush_in, flush_out)), inputs, |[a, b, _]| {
                half_op([signed(a, 0), signed(b, 1)], flush_in, flush_out, |[a, b]| f(a, b))
            });
        }
    }
}

#[test]
fn two_sources() {
    binary(Op::VAddF16, |a, b| a + b);
    binary(Op::VSubrevF16, |a, b| b - a);
    binary(Op::VMulF16, |a, b| a * b);
}

/// Triples of kinds, and sums that nearly cancel.
fn triples() -> Vec<[u16; 3]> {
    let (kinds, mut rng) = (kinds(), Rng(16));
    let mut pick = |n: usize| rng.next() as usize % n;
    let mut all = Vec::new();
    for _ in 0..60_000 {
        let [a, b] = [kinds[pick(kinds.len())], pick(0x1_0000) as u16];
        let product = half_from_f64(half_to_f64(a) * half_to_f64(b), false) ^ 0x8000;
        let near = product.wrapping_add(pick(5) as u16).wrapping_sub(2);
        let c = [kinds[pick(kinds.len())], pick(0x1_0000) as u16, near][pick(3)];
        all.push([a, b, c]);
    }
    all
}

#[test]
fn three_sources() {
    let inputs = triples();
    let mad = |[a, b, c]: [f64; 3]| half_to_f64(flush16(half_from_f64(a * b, false))) + c;
    for (flush_in, flush_out) in MODES {
        let mode = mode((flush_in, flush_out));
        compare(&inst(Op::VFmaF16), mode, &inputs, |v| {
            half_op(v, flush_in, flush_out, |[a, b, c]| add_odd(a * b, c))
        });
        compare(&inst(Op::VMadF16), mode, &inputs, |v| half_op(v, true, true, mad));
        compare(&inst(Op::VMacF16), mode, &inputs, |v| half_op(v, true, true, mad));
    }
}

/// Numbers that round up, down, to even, to infinity and to nothing.
#[test]
fn conversions() {
    let mut rng = Rng(32);
    for k in 0..400_000u64 {
        let v = match k {
            0..0x20000 => ((k as u32) << 15) ^ (rng.next() as u32 & 0x3fff),
            // Halves, middles between them, and their neighbours.
            0x20000..0x50000 => {
                let h = half_to_f64(rng.next() as u16) as f32;
                (h.to_bits() ^ (u32::from(k & 1 == 1) << 12)).wrapping_add(k as u32 % 3).wrapping_sub(1)
            }
            _ => (rng.next() as u32 & 0x807f_ffff) + ((100 + (rng.next() as u32 & 31)) << 23),
        };
        let x = f32::from_bits(v);
        if x.is_nan() {
            continue;
        }
        for to_zero in [false, true] {
            use super::super::num::{half_nearest, half_toward_zero};
            let got = if to_zero { half_toward_zero(x) } else { half_nearest(x) };
            assert_eq!(got, u32::from(half_from_f64(x.into(), to_zero)), "{v:#x}, to zero {to_zero}");
        }
    }
}
