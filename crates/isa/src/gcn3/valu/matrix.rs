//! Matrix operations (MFMA): `D = A × B + C` for one or more blocks, spread over all lanes of the wave, whatever EXEC says.
//!
//! An element of A is in the lane of its row (of B: of its column); lanes of the blocks follow each other, then those of the next
//! elements in depth. Results stand in pieces of four rows (f64: of one), as wide as the block, side by side in a register.
//! Products are added in the order of depth, beginning with C; f32 and f64 sums are fused and rounded to nearest even, halves and
//! smaller floats become f32 first. MODE has no say, denormals are kept. Integers wrap around.

use super::super::inst::Inst;
use super::super::op::Op;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::eight::{bf8_value, fp8_value};
use super::num::half_value;
use super::operation::{resolve, vector_row};
use super::row_engine::Src;
use crate::Trap;

/// What elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F32,
    /// f32 whose 13 lowest bits do not count.
    Xf32,
    F64,
    F16,
    Bf16,
    I8,
    Fp8,
    Bf8,
}

impl Element {
    const fn bits(self) -> u32 {
        match self {
            Element::F64 => 64,
            Element::F32 | Element::Xf32 => 32,
            Element::F16 | Element::Bf16 => 16,
            Element::I8 | Element::Fp8 | Element::Bf8 => 8,
        }
    }
}

/// Rows and columns of a block, depth, number of blocks, elements of A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub rows: usize,
    pub depth: usize,
    pub blocks: usize,
    pub a: Element,
    pub b: Element,
}

const fn shape(rows: usize, depth: usize, blocks: usize, a: Element, b: Element) -> Option<Shape> {
    Some(Shape { rows, depth, blocks, a, b })
}

/// The shape of a dense operation; all blocks are square.
pub(super) fn of(op: Op) -> Option<Shape> {
    use Element::{Bf8, Bf16, F16, F32, F64, Fp8, I8, Xf32};
    match op {
        Op::VMfmaF3232x32x1f32 => shape(32, 1, 2, F32, F32),
        Op::VMfmaF3216x16x1f32 => shape(16, 1, 4, F32, F32),
        Op::VMfmaF324x4x1f32 => shape(4, 1, 16, F32, F32),
        Op::VMfmaF3232x32x2f32 => shape(32, 2, 1, F32, F32),
        Op::VMfmaF3216x16x4f32 => shape(16, 4, 1, F32, F32),
        Op::VMfmaF3232x32x4f16 => shape(32, 4, 2, F16, F16),
        Op::VMfmaF3216x16x4f16 => shape(16, 4, 4, F16, F16),
        Op::VMfmaF324x4x4f16 => shape(4, 4, 16, F16, F16),
        Op::VMfmaF3232x32x8f16 => shape(32, 8, 1, F16, F16),
        Op::VMfmaF3216x16x16f16 => shape(16, 16, 1, F16, F16),
        Op::VMfmaI3232x32x4i8 => shape(32, 4, 2, I8, I8),
        Op::VMfmaI3216x16x4i8 => shape(16, 4, 4, I8, I8),
        Op::VMfmaI324x4x4i8 => shape(4, 4, 16, I8, I8),
        Op::VMfmaI3232x32x8i8 => shape(32, 8, 1, I8, I8),
        Op::VMfmaI3216x16x16i8 => shape(16, 16, 1, I8, I8),
        Op::VMfmaF3232x32x2bf16 => shape(32, 2, 2, Bf16, Bf16),
        Op::VMfmaF3216x16x2bf16 => shape(16, 2, 4, Bf16, Bf16),
        Op::VMfmaF324x4x2bf16 => shape(4, 2, 16, Bf16, Bf16),
        Op::VMfmaF3232x32x4bf16 => shape(32, 4, 1, Bf16, Bf16),
        Op::VMfmaF3216x16x8bf16 => shape(16, 8, 1, Bf16, Bf16),
        Op::VMfmaF3232x32x4bf161k => shape(32, 4, 2, Bf16, Bf16),
        Op::VMfmaF3216x16x4bf161k => shape(16, 4, 4, Bf16, Bf16),
        Op::VMfmaF324x4x4bf161k => shape(4, 4, 16, Bf16, Bf16),
        Op::VMfmaF3232x32x8bf161k => shape(32, 8, 1, Bf16, Bf16),
        Op::VMfmaF3216x16x16bf161k => shape(16, 16, 1, Bf16, Bf16),
        Op::VMfmaF6416x16x4f64 => shape(16, 4, 1, F64, F64),
        Op::VMfmaF644x4x4f64 => shape(4, 4, 4, F64, F64),
        Op::VMfmaF3216x16x8Xf32 => shape(16, 8, 1, Xf32, Xf32),
        Op::VMfmaF3232x32x4Xf32 => shape(32, 4, 1, Xf32, Xf32),
        Op::VMfmaI3232x32x16I8 => shape(32, 16, 1, I8, I8),
        Op::VMfmaI3216x16x32I8 => shape(16, 32, 1, I8, I8),
        Op::VMfmaF3216x16x32Bf8Bf8 => shape(16, 32, 1, Bf8, Bf8),
        Op::VMfmaF3216x16x32Bf8Fp8 => shape(16, 32, 1, Bf8, Fp8),
        Op::VMfmaF3216x16x32Fp8Bf8 => shape(16, 32, 1, Fp8, Bf8),
        Op::VMfmaF3216x16x32Fp8Fp8 => shape(16, 32, 1, Fp8, Fp8),
        Op::VMfmaF3232x32x16Bf8Bf8 => shape(32, 16, 1, Bf8, Bf8),
        Op::VMfmaF3232x32x16Bf8Fp8 => shape(32, 16, 1, Bf8, Fp8),
        Op::VMfmaF3232x32x16Fp8Bf8 => shape(32, 16, 1, Fp8, Bf8),
        Op::VMfmaF3232x32x16Fp8Fp8 => shape(32, 16, 1, Fp8, Fp8),
        _ => None,
    }
}

impl Shape {
    /// Lane and number in the lane's registers of element `k` in row (or column) `i` of a block.
    fn place(self, i: usize, k: usize, block: usize) -> (usize, usize) {
        let groups = 64 / (self.rows * self.blocks);
        let own = self.depth / groups;
        (block * self.rows + k / own * self.rows * self.blocks + i, k % own)
    }

    /// Register (of the result's width) and lane of a result.
    fn result(self, i: usize, j: usize, block: usize) -> (usize, usize) {
        let n = self.rows;
        let tall: usize = if self.a == Element::F64 { 1 } else { 4 };
        let (side, in_register) = (64 / n, (64 * tall).div_ceil(n * n));
        let register = block * (n * n / 64) + i / (tall * side) * tall + i % tall;
        let lane = block % in_register * n + i / tall % side * in_register * n + j;
        (register, lane)
    }
}

/// The lane of B that a lane takes instead of its own.
fn permuted(lane: usize, blgp: u8) -> usize {
    match blgp {
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        4..=7 => lane % 16 + 16 * usize::from(blgp - 4),
        _ => lane,
    }
}

/// An operand: rows of registers, or a constant.
enum Matrix {
    Rows(usize),
    Constant(u64),
}

fn matrix(inst: &Inst, regs: &mut Regs, i: usize) -> Result<Matrix, Trap> {
    let ty = inst.entry().src[i];
    Ok(match (inst.src[i], resolve(inst, regs, i, ty)?) {
        (_, Src::Row(row)) => Matrix::Rows(row),
        (Operand::InlineInt(v), _) => Matrix::Constant(v as i64 as u64),
        (Operand::InlineFloat(f), _) => {
            let double = of(inst.op).is_some_and(|s| s.a == Element::F64);
            Matrix::Constant(if double { f.bits64() } else { f.bits32().into() })
        }
        (_, Src::Splat(v)) => Matrix::Constant(v),
        (_, Src::Copy(row)) => Matrix::Constant(row[0].into()),
    })
}

/// Element `n` of a lane's registers, as bits.
fn bits_at(regs: &Regs, from: &Matrix, element: Element, n: usize, lane: usize) -> u64 {
    let row = match from {
        Matrix::Rows(row) => *row,
        Matrix::Constant(v) => return *v,
    };
    let dword = |d: usize| u64::from(regs.v.get(row + d, lane as u32));
    match element.bits() {
        64 => dword(2 * n) | dword(2 * n + 1) << 32,
        width => {
            let per = 32 / width as usize;
            dword(n / per) >> (n % per * width as usize) & (u64::MAX >> (64 - width))
        }
    }
}

/// A float that is not larger than f32.
fn value(element: Element, bits: u64) -> f32 {
    match element {
        Element::F16 => half_value(bits as u32),
        Element::Bf16 => f32::from_bits((bits as u32) << 16),
        Element::Fp8 => fp8_value(bits as u8),
        Element::Bf8 => bf8_value(bits as u8),
        Element::Xf32 => f32::from_bits(bits as u32 & !0x1fff),
        Element::F32 | Element::F64 | Element::I8 => f32::from_bits(bits as u32),
    }
}

/// One result.
fn sum(shape: Shape, c: u64, factors: impl Iterator<Item = (u64, u64)>) -> u64 {
    match shape.a {
        Element::F64 => {
            let sum =
                factors.fold(f64::from_bits(c), |s, (a, b)| f64::from_bits(a).mul_add(f64::from_bits(b), s));
            sum.to_bits()
        }
        Element::I8 => {
            let product = |(a, b): (u64, u64)| i32::from(a as i8) * i32::from(b as i8);
            factors.fold(c as i32, |s, f| s.wrapping_add(product(f))) as u32 as u64
        }
        Element::F32 | Element::Xf32 | Element::F16 | Element::Bf16 | Element::Fp8 | Element::Bf8 => {
            let sum = factors
                .fold(f32::from_bits(c as u32), |s, (a, b)| value(shape.a, a).mul_add(value(shape.b, b), s));
            sum.to_bits().into()
        }
    }
}

pub(super) fn execute(inst: &Inst, regs: &mut Regs) -> Result<(), Trap> {
    let Some(shape) = of(inst.op) else {
        return Err(Trap::Other(format!("the matrix operation {} is not supported", inst.entry().name)));
    };
    if regs.v.lanes() != 64 {
        return Err(Trap::Other(format!("{}: a wave has 64 lanes", inst.entry().name)));
    }
    let [a, b, c] = [matrix(inst, regs, 0)?, matrix(inst, regs, 1)?, matrix(inst, regs, 2)?];
    let dst = vector_row(inst, regs, inst.dst, inst.entry().dst)?;
    let (cbsz, abid, blgp) = inst.blocks();
    // Of f64 these bits negate operands, from gfx940 on.
    let double = shape.a == Element::F64;
    let (permute, negate) = if double { (0, blgp) } else { (blgp, 0) };
    let wide = if double { 2 } else { 1 };
    let width = if double { Element::F64 } else { Element::F32 };
    let sign = |i: u8| u64::from(negate >> i & 1) << 63;
    let mut out = Vec::with_capacity(shape.rows * shape.rows * shape.blocks);
    for block in 0..shape.blocks {
        // One block of A for 2^cbsz blocks.
        let shared = 1usize.checked_shl(cbsz.into()).unwrap_or(1);
        let from = if shared > 1 { block / shared * shared + usize::from(abid) } else { block };
        let from = from % shape.blocks;
        for i in 0..shape.rows {
            for j in 0..shape.rows {
                let (register, lane) = shape.result(i, j, block);
                let start = bits_at(regs, &c, width, register, lane) ^ sign(2);
                let factors = (0..shape.depth).map(|k| {
                    let (a_lane, a_n) = shape.place(i, k, from);
                    let (b_lane, b_n) = shape.place(j, k, block);
                    let x = bits_at(regs, &a, shape.a, a_n, a_lane);
                    let y = bits_at(regs, &b, shape.b, b_n, permuted(b_lane, permute));
                    (x ^ sign(0), y ^ sign(1))
                });
                out.push((register * wide, lane as u32, sum(shape, start, factors)));
            }
        }
    }
    for (register, lane, bits) in out {
        regs.v.set(dst + register, lane, bits as u32);
        if double {
            regs.v.set(dst + register + 1, lane, (bits >> 32) as u32);
        }
    }
    Ok(())
}
