//! Shapes of matrix operations: what elements are, how many there are, and in which lane and register each is.
//!
//! An element of A is in the lane of its row (of B: of its column); lanes of the blocks follow each other, then those of the next
//! elements in depth. Results stand in pieces of four rows (f64: of one), as wide as the block, side by side in a register.

use super::super::op::Op;

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
    pub const fn bits(self) -> u32 {
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
    /// Of four elements of A in depth, two are there; an index says which.
    pub sparse: bool,
}

const fn shape(rows: usize, depth: usize, blocks: usize, a: Element, b: Element) -> Option<Shape> {
    Some(Shape { rows, depth, blocks, a, b, sparse: false })
}

const fn sparse(rows: usize, depth: usize, a: Element, b: Element) -> Option<Shape> {
    Some(Shape { rows, depth, blocks: 1, a, b, sparse: true })
}

/// The shape of an operation; all blocks are square.
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
        Op::VSmfmacF3216x16x32F16 => sparse(16, 32, F16, F16),
        Op::VSmfmacF3232x32x16F16 => sparse(32, 16, F16, F16),
        Op::VSmfmacF3216x16x32Bf16 => sparse(16, 32, Bf16, Bf16),
        Op::VSmfmacF3232x32x16Bf16 => sparse(32, 16, Bf16, Bf16),
        Op::VSmfmacI3216x16x64I8 => sparse(16, 64, I8, I8),
        Op::VSmfmacI3232x32x32I8 => sparse(32, 32, I8, I8),
        Op::VSmfmacF3216x16x64Bf8Bf8 => sparse(16, 64, Bf8, Bf8),
        Op::VSmfmacF3216x16x64Bf8Fp8 => sparse(16, 64, Bf8, Fp8),
        Op::VSmfmacF3216x16x64Fp8Bf8 => sparse(16, 64, Fp8, Bf8),
        Op::VSmfmacF3216x16x64Fp8Fp8 => sparse(16, 64, Fp8, Fp8),
        Op::VSmfmacF3232x32x32Bf8Bf8 => sparse(32, 32, Bf8, Bf8),
        Op::VSmfmacF3232x32x32Bf8Fp8 => sparse(32, 32, Bf8, Fp8),
        Op::VSmfmacF3232x32x32Fp8Bf8 => sparse(32, 32, Fp8, Bf8),
        Op::VSmfmacF3232x32x32Fp8Fp8 => sparse(32, 32, Fp8, Fp8),
        _ => None,
    }
}

impl Shape {
    /// Elements of B in a lane; of a sparse A there are half as many.
    pub const fn own(self) -> usize {
        self.depth * self.rows * self.blocks / 64
    }

    /// Lane of the first row (or column), and number in its registers, of elements of depth `k` of a block; the lanes of the
    /// other rows follow. `own` elements of the matrix are in a lane.
    pub fn place(self, k: usize, block: usize, own: usize) -> (usize, usize) {
        (block * self.rows + k / own * self.rows * self.blocks, k % own)
    }

    /// Register (of the result's width) and first lane of a row of results of blocks with `n` rows, `tall` of which stand
    /// together; the other columns follow.
    #[inline(always)]
    pub const fn result(n: usize, tall: usize, i: usize, block: usize) -> (usize, usize) {
        let (side, in_register) = (64 / n, (64 * tall).div_ceil(n * n));
        let register = block * (n * n / 64) + i / (tall * side) * tall + i % tall;
        (register, block % in_register * n + i / tall % side * in_register * n)
    }
}
