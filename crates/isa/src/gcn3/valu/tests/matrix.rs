//! Matrix operations against a model of its own: whole matrices, filled from registers by the way the documents go, from a register
//! and a lane to the element, where the operation goes from the element to the register.

use super::super::shapes::{Element, Shape, of};
use super::*;
use crate::gcn3::gcn::Gcn;
use crate::gcn3::table::{Halves, lines_of};

/// Where registers begin: A, B, C and the result.
const AT: [u8; 4] = [0, 8, 32, 64];

fn value(element: Element, bits: u64) -> f64 {
    match element {
        Element::F64 => f64::from_bits(bits),
        Element::F32 => f32::from_bits(bits as u32).into(),
        Element::Xf32 => f32::from_bits(bits as u32 >> 13 << 13).into(),
        Element::F16 => {
            let (sign, exponent, rest) = (bits >> 15 & 1, bits >> 10 & 31, (bits & 0x3ff) as f64);
            let magnitude = match exponent {
                0 => rest * 2f64.powi(-24),
                e => (1.0 + rest / 1024.0) * 2f64.powi(e as i32 - 15),
            };
            if sign == 1 { -magnitude } else { magnitude }
        }
        Element::Bf16 => f32::from_bits((bits as u32) << 16).into(),
        Element::I8 => f64::from(bits as i8),
        Element::Fp8 | Element::Bf8 => {
            let (fraction, bias) = if element == Element::Fp8 { (3, 8) } else { (2, 16) };
            let (exponent, rest) = ((bits & 0x7f) >> fraction, (bits & ((1 << fraction) - 1)) as f64);
            let part = rest / f64::from(1u32 << fraction);
            let magnitude = match exponent {
                0 => part * 2f64.powi(1 - bias),
                e => (1.0 + part) * 2f64.powi(e as i32 - bias),
            };
            if bits & 0x80 != 0 { -magnitude } else { magnitude }
        }
    }
}

fn width(element: Element) -> usize {
    match element {
        Element::F64 => 64,
        Element::F32 | Element::Xf32 => 32,
        Element::F16 | Element::Bf16 => 16,
        Element::I8 | Element::Fp8 | Element::Bf8 => 8,
    }
}

/// Bits of an ordinary number of an element, small so that sums stay exact in f64.
fn random(rng: &mut Rng, element: Element) -> u64 {
    let v = rng.next();
    match element {
        Element::F64 => (((v % 4001) as f64 - 2000.0) / 64.0).to_bits(),
        Element::F32 | Element::Xf32 => (((v % 4001) as f32 - 2000.0) / 64.0).to_bits().into(),
        Element::F16 => v & 0x8000 | 0x3000 | v & 0x7ff,
        Element::Bf16 => v & 0x8000 | 0x3f00 | v & 0xff,
        Element::I8 => v & 0xff,
        Element::Fp8 => v & 0x80 | 0x30 | v & 0x1f,
        Element::Bf8 => v & 0x80 | 0x38 | v & 0xf,
    }
}

/// A matrix by block, row (or column) and depth, read out of the registers in the order of lanes.
fn input(r: &Regs, first: u8, shape: Shape, element: Element) -> Vec<Vec<Vec<u64>>> {
    let own = shape.depth * shape.rows * shape.blocks / 64;
    let mut out = vec![vec![vec![0; shape.depth]; shape.rows]; shape.blocks];
    for lane in 0..64 {
        let (i, block, group) =
            (lane % shape.rows, lane / shape.rows % shape.blocks, lane / (shape.rows * shape.blocks));
        for n in 0..own {
            let bit = n * width(element);
            let dword = |d: usize| u64::from(r.v.get(usize::from(first) + d, lane as u32));
            let bits = match width(element) {
                64 => dword(2 * n) | dword(2 * n + 1) << 32,
                w => dword(bit / 32) >> (bit % 32) & ((1 << w) - 1),
            };
            out[block][i][group * own + n] = bits;
        }
    }
    out
}

/// The element of the result in a register and a lane.
fn element(shape: Shape, register: usize, lane: usize) -> (usize, usize, usize) {
    let (n, tall) = (shape.rows, if shape.a == Element::F64 { 1 } else { 4 });
    match n {
        32 => (register / 16, register % 16 / 4 * 8 + lane / 32 * 4 + register % 4, lane % 32),
        16 if tall == 1 => (0, register * 4 + lane / 16, lane % 16),
        16 => (register / 4, lane / 16 * 4 + register % 4, lane % 16),
        _ if tall == 1 => (lane / 4 % 4, lane / 16, lane % 4),
        _ => (lane / 4, register, lane % 4),
    }
}

fn filled(shape: Shape, rng: &mut Rng) -> Regs {
    let mut r = Regs::new(128, 64);
    for lane in 0..64 {
        for (first, element) in [(AT[0], shape.a), (AT[1], shape.b)] {
            for d in 0..2 {
                let mut dword = 0;
                match width(element) {
                    64 if d == 0 => {
                        let v = random(rng, element);
                        r.v.set(usize::from(first) + 1, lane, (v >> 32) as u32);
                        dword = v as u32;
                    }
                    64 => continue,
                    w => (0..32 / w).for_each(|k| dword |= (random(rng, element) as u32) << (k * w)),
                }
                r.v.set(usize::from(first) + d, lane, dword);
            }
        }
        for d in 0..32 {
            let v = match shape.a {
                Element::I8 => rng.next() as u32,
                Element::F64 if d % 2 == 0 => 0,
                Element::F64 => (((rng.next() % 1000) as f64 / 8.0).to_bits() >> 32) as u32,
                _ => ((rng.next() % 1000) as f32 / 8.0).to_bits(),
            };
            r.v.set(usize::from(AT[2]) + d, lane, v);
        }
    }
    r.set_pair(sreg::EXEC, rng.next());
    r
}

fn instruction(op: Op, gcn: Gcn) -> Inst {
    let mut inst = Inst::of(gcn, op, Format::Vop3p);
    inst.src = [Operand::Vgpr(AT[0]), Operand::Vgpr(AT[1]), Operand::Vgpr(AT[2])];
    inst.dst = Operand::Vgpr(AT[3]);
    inst
}

/// The result in a register and a lane: products in the order of depth, every sum rounded.
fn wanted(shape: Shape, c: u64, a: &[u64], b: &[u64]) -> u64 {
    let products = a.iter().zip(b).map(|(&x, &y)| value(shape.a, x) * value(shape.b, y));
    match shape.a {
        Element::I8 => products.fold(c as u32, |s, p| s.wrapping_add(p as i32 as u32)).into(),
        Element::F64 => products.fold(f64::from_bits(c), |s, p| s + p).to_bits(),
        // Products and sums of these inputs are exact in f64, so that one rounding is left.
        _ => products.fold(f32::from_bits(c as u32), |s, p| (f64::from(s) + p) as f32).to_bits().into(),
    }
}

#[test]
fn dense_matrices() {
    let mut rng = Rng(31);
    let mut seen = 0;
    for gcn in [Gcn::Gfx908, Gcn::Gfx90a, Gcn::Gfx940] {
        for entry in lines_of(gcn).filter(|e| e.halves == Halves::Blocks && !e.dst_read) {
            let shape = of(entry.op).unwrap_or_else(|| panic!("{} has a shape", entry.name));
            let wide = if shape.a == Element::F64 { 2 } else { 1 };
            let registers = usize::from(entry.dst.dwords()) / wide;
            assert_eq!(shape.rows * shape.rows * shape.blocks, registers * 64, "{}", entry.name);
            let per_lane = shape.depth * shape.rows * shape.blocks / 64;
            assert_eq!(per_lane * width(shape.a), 32 * usize::from(entry.src[0].dwords()), "{}", entry.name);
            let mut r = filled(shape, &mut rng);
            let (a, b) = (input(&r, AT[0], shape, shape.a), input(&r, AT[1], shape, shape.b));
            let before = r.clone();
            execute(&instruction(entry.op, gcn), &mut r, 1).expect("a matrix operation");
            for register in 0..registers {
                for lane in 0..64 {
                    let (block, i, j) = element(shape, register, lane);
                    let at = |r: &Regs, first: u8| {
                        let dword = |d: usize| {
                            u64::from(r.v.get(usize::from(first) + register * wide + d, lane as u32))
                        };
                        if wide == 2 { dword(0) | dword(1) << 32 } else { dword(0) }
                    };
                    let want = wanted(shape, at(&before, AT[2]), &a[block][i], &b[block][j]);
                    assert_eq!(at(&r, AT[3]), want, "{} register {register} lane {lane}", entry.name);
                }
            }
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}

/// cbsz and abid give a block of A to others, blgp takes B from other lanes, a constant is added everywhere.
#[test]
fn blocks_are_shared() {
    let mut rng = Rng(8);
    let op = Op::VMfmaF3216x16x1f32;
    let shape = of(op).expect("a shape");
    let first = filled(shape, &mut rng);
    let run = |imm: i32, src: Option<Operand>| {
        let mut r = first.clone();
        let mut inst = Inst { imm, ..instruction(op, Gcn::Gfx90a) };
        inst.src[2] = src.unwrap_or(Operand::InlineInt(0));
        execute(&inst, &mut r, u64::MAX).expect("a matrix operation");
        r
    };
    let product = |a: usize, b: usize| {
        let f = |at: u8, lane: usize| f32::from_bits(first.v.get(usize::from(at), lane as u32));
        f(AT[0], a) * f(AT[1], b)
    };
    let result = |r: &Regs, block: usize, i: usize, j: usize| {
        f32::from_bits(r.v.get(usize::from(AT[3]) + block * 4 + i % 4, (i / 4 * 16 + j) as u32))
    };
    let (plain, shared, moved) = (run(0, None), run(2 | 3 << 3, None), run(3 << 7, None));
    let one = run(0, Some(Operand::InlineFloat(crate::gcn3::operand::InlineFloat::One)));
    for block in 0..4 {
        for (i, j) in [(0, 0), (5, 9), (15, 15)] {
            let (a, b) = (block * 16 + i, block * 16 + j);
            assert_eq!(result(&plain, block, i, j), product(a, b));
            // All four blocks take block 3 of A.
            assert_eq!(result(&shared, block, i, j), product(48 + i, b));
            assert_eq!(result(&moved, block, i, j), product(a, (b + 16) % 64));
            assert_eq!(result(&one, block, i, j), product(a, b) + 1.0);
        }
    }
}

/// A sparse matrix is a dense one with zeros: written out, then multiplied in the order of depth.
#[test]
fn sparse_matrices() {
    let mut rng = Rng(77);
    let mut seen = 0;
    for entry in lines_of(Gcn::Gfx940).filter(|e| e.halves == Halves::Blocks && e.dst_read) {
        let shape = of(entry.op).unwrap_or_else(|| panic!("{} has a shape", entry.name));
        for (cbsz, abid) in [(0, 0), (0, 1), (0, 3), (1, 2)] {
            let mut r = filled(shape, &mut rng);
            // Four dwords of B, and two of four places for each pair of elements of A.
            for lane in 0..64 {
                for d in 2..4 {
                    let v = (0..32 / width(shape.b))
                        .fold(0, |v, k| v | (random(&mut rng, shape.b) as u32) << (k * width(shape.b)));
                    r.v.set(usize::from(AT[1]) + d, lane, v);
                }
                let pair =
                    |rng: &mut Rng| [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110][rng.next() as usize % 6];
                let index = (0..8).fold(0, |v, k| v | pair(&mut rng) << (4 * k));
                r.v.set(usize::from(AT[2]), lane, index);
            }
            let (rows, bits) = (shape.rows, width(shape.a));
            let (sets, set_bits) = if bits == 8 { (2, 16) } else { (4, 8) };
            let set = if cbsz == 0 { abid % sets } else { 0 };
            let b = input(&r, AT[1], shape, shape.b);
            // Every lane has the elements of one row and of `deep` places in depth, half of which are there.
            let deep = shape.depth * rows / 64;
            let mut a = vec![vec![0u64; shape.depth]; rows];
            for lane in 0..64 {
                let dword = |at: u8, d: usize| r.v.get(usize::from(at) + d, lane as u32);
                let index = dword(AT[2], 0) >> (set * set_bits);
                for n in 0..deep / 2 {
                    let place = n / 2 * 4 + (index >> (2 * n) & 3) as usize;
                    let element = dword(AT[0], n * bits / 32) >> (n * bits % 32);
                    a[lane % rows][lane / rows * deep + place] = u64::from(element) & ((1 << bits) - 1);
                }
            }
            let before = r.clone();
            let imm = cbsz | abid << 3;
            execute(&Inst { imm, ..instruction(entry.op, Gcn::Gfx940) }, &mut r, 1)
                .expect("a matrix operation");
            for register in 0..rows * rows / 64 {
                for lane in 0..64 {
                    let (_, i, j) = element(shape, register, lane);
                    let at = |r: &Regs| u64::from(r.v.get(usize::from(AT[3]) + register, lane as u32));
                    let want = wanted(shape, at(&before), &a[i], &b[0][j]);
                    assert_eq!(at(&r), want, "{} register {register} lane {lane}", entry.name);
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 14 * 4);
}

/// The same bits on hosts with other vector instructions.
#[test]
fn matrices_on_other_hosts() {
    let mut rng = Rng(5);
    for gcn in [Gcn::Gfx908, Gcn::Gfx90a, Gcn::Gfx940] {
        for entry in lines_of(gcn).filter(|e| e.halves == Halves::Blocks) {
            let mut r = filled(of(entry.op).expect("a shape"), &mut rng);
            // Anything, NaN and infinities among them.
            for row in 0..100 {
                for lane in 0..64 {
                    r.v.set(row, lane, rng.next() as u32);
                }
            }
            let run = || {
                let mut r = r.clone();
                execute(&instruction(entry.op, gcn), &mut r, 1).expect("a matrix operation");
                (0..128).map(|row| r.v.row(row).to_vec()).collect::<Vec<_>>()
            };
            let here = run();
            for host in crate::vector::others() {
                crate::vector::INSTEAD.set(Some(host));
                assert!(here == run(), "{}", entry.name);
                crate::vector::INSTEAD.set(None);
            }
        }
    }
}
