//! Matrix operations: `D = A × B + C` for one or more blocks (MFMA), or with half of A's elements (SMFMAC), spread over all lanes of the
//! wave, whatever EXEC says. `shapes.rs` says which element is where.
//!
//! Products are added in the order of depth, beginning with C; f32 and f64 sums are fused and rounded to nearest even, halves and
//! smaller floats become f32 first. MODE has no say, denormals are kept, a NaN is the usual one. Integers wrap around.
//!
//! Of a sparse A two of four neighbours in depth are there. Two bits for each say which; they are in `src2`, in the lane that has the
//! elements. A dword has four sets of indices for 16-bit elements and two for 8-bit ones: abid chooses, if cbsz is zero.

use super::super::inst::Inst;
use super::super::operand::Operand;
use super::super::state::Regs;
use super::eight::{bf8_value, fp8_value};
use super::num::half_value;
use super::operation::{resolve, vector_row};
use super::row_engine::Src;
use super::shapes::{Element, Shape, of};
use super::vector::vector;
use crate::Trap;
use crate::lanes::Row;

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

/// Elements of a matrix: 64 lanes with up to sixteen each.
const ELEMENTS: usize = 1024;

/// Registers of a result.
const RESULTS: usize = 32;

/// What is multiplied and added.
trait Number: Copy + Default {
    /// Dwords that one takes.
    const DWORDS: usize;
    /// Bits of an element, and of C.
    fn of(element: Element, bits: u64) -> Self;
    fn start(bits: u64) -> Self;
    fn add(self, a: Self, b: Self) -> Self;
    fn bits(self) -> u64;
}

impl Number for f32 {
    const DWORDS: usize = 1;

    #[inline(always)]
    fn of(element: Element, bits: u64) -> f32 {
        match element {
            Element::F16 => half_value(bits as u32),
            Element::Bf16 => f32::from_bits((bits as u32) << 16),
            Element::Fp8 => fp8_value(bits as u8),
            Element::Bf8 => bf8_value(bits as u8),
            Element::Xf32 => f32::from_bits(bits as u32 & !0x1fff),
            Element::F32 | Element::F64 | Element::I8 => f32::from_bits(bits as u32),
        }
    }

    #[inline(always)]
    fn start(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        a.mul_add(b, self)
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7fc0_0000 } else { self.to_bits().into() }
    }
}

impl Number for f64 {
    const DWORDS: usize = 2;

    #[inline(always)]
    fn of(_element: Element, bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn start(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn add(self, a: f64, b: f64) -> f64 {
        a.mul_add(b, self)
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        if self.is_nan() { 0x7ff8 << 48 } else { self.to_bits() }
    }
}

impl Number for i32 {
    const DWORDS: usize = 1;

    #[inline(always)]
    fn of(_element: Element, bits: u64) -> i32 {
        i32::from(bits as i8)
    }

    #[inline(always)]
    fn start(bits: u64) -> i32 {
        bits as i32
    }

    #[inline(always)]
    fn add(self, a: i32, b: i32) -> i32 {
        self.wrapping_add(a.wrapping_mul(b))
    }

    #[inline(always)]
    fn bits(self) -> u64 {
        (self as u32).into()
    }
}

/// An operand: rows of registers, or a constant.
#[derive(Clone, Copy)]
enum Matrix {
    Rows(usize),
    Constant(u64),
}

fn matrix(inst: &Inst, regs: &mut Regs, i: usize, double: bool) -> Result<Matrix, Trap> {
    let ty = inst.entry().src[i];
    Ok(match (inst.src[i], resolve(inst, regs, i, ty)?) {
        (_, Src::Row(row)) => Matrix::Rows(row),
        (Operand::InlineInt(v), _) => Matrix::Constant(v as i64 as u64),
        (Operand::InlineFloat(f), _) => Matrix::Constant(if double { f.bits64() } else { f.bits32().into() }),
        (_, Src::Splat(v)) => Matrix::Constant(v),
        (_, Src::Copy(row)) => Matrix::Constant(row[0].into()),
    })
}

/// Row `d` of an operand.
fn dwords(regs: &Regs, from: Matrix, d: usize, wide: usize) -> Row<u32> {
    match from {
        Matrix::Rows(row) => regs.v.whole(row + d).copied().unwrap_or([0; 64]),
        Matrix::Constant(v) => [(v >> (32 * (d % wide))) as u32; 64],
    }
}

/// Elements of the lanes: those with number `n` in a lane stand together, `sign` is changed in each.
#[inline(always)]
fn unpack<T: Number>(regs: &Regs, from: Matrix, element: Element, own: usize, sign: u64) -> [T; ELEMENTS] {
    let mut out = [T::default(); ELEMENTS];
    let width = element.bits();
    for (n, out) in out.as_chunks_mut::<64>().0.iter_mut().take(own).enumerate() {
        if T::DWORDS == 2 {
            let (low, high) = (dwords(regs, from, 2 * n, 2), dwords(regs, from, 2 * n + 1, 2));
            for ((out, low), high) in out.iter_mut().zip(low).zip(high) {
                *out = T::of(element, (u64::from(low) | u64::from(high) << 32) ^ sign);
            }
            continue;
        }
        let per = 32 / width as usize;
        let row = dwords(regs, from, n / per, 1);
        let shift = (n % per) as u32 * width;
        for (out, dword) in out.iter_mut().zip(row) {
            *out = T::of(element, u64::from(dword >> shift) & (u64::MAX >> (64 - width)));
        }
    }
    out
}

/// Everything that is the same for all numbers.
struct Operation {
    shape: Shape,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    /// Which block of A each block takes: 2^cbsz of them the same.
    cbsz: u8,
    abid: u8,
    /// The lanes of B that are taken; of f64 signs instead.
    permute: u8,
    negate: u8,
    /// Bits of each lane that say which elements of a sparse A there are.
    index: Row<u32>,
}

impl Operation {
    fn block_of_a(&self, block: usize) -> usize {
        let shared = 1usize.checked_shl(self.cbsz.into()).unwrap_or(1);
        let from = match self.shape.sparse {
            false if shared > 1 => block / shared * shared + usize::from(self.abid),
            _ => block,
        };
        from % self.shape.blocks
    }

    /// All results, row by row of registers.
    #[inline(always)]
    fn results<T: Number, const N: usize>(&self, regs: &Regs) -> [Row<u32>; RESULTS] {
        let shape = self.shape;
        let sign = |i: u8| u64::from(self.negate >> i & 1) << 63;
        let own = shape.own();
        let stored = if shape.sparse { own / 2 } else { own };
        let a: [T; ELEMENTS] = unpack(regs, self.a, shape.a, stored, sign(0));
        let mut b: [T; ELEMENTS] = unpack(regs, self.b, shape.b, own, sign(1));
        if self.permute != 0 {
            for row in b.as_chunks_mut::<64>().0 {
                *row = std::array::from_fn(|lane| row[permuted(lane, self.permute)]);
            }
        }
        let mut out = [[0; 64]; RESULTS];
        for block in 0..shape.blocks {
            let from = self.block_of_a(block);
            for i in 0..N {
                let (register, lane) = shape.result(i, block);
                let at = register * T::DWORDS;
                let (low, high) = match T::DWORDS {
                    2 => (dwords(regs, self.c, at, 2), dwords(regs, self.c, at + 1, 2)),
                    _ => (dwords(regs, self.c, at, 1), [0; 64]),
                };
                let mut sums: [T; N] = std::array::from_fn(|j| {
                    T::start((u64::from(low[lane + j]) | u64::from(high[lane + j]) << 32) ^ sign(2))
                });
                for s in 0..shape.depth * stored / own {
                    let (a_lane, a_n) = shape.place(s, from, stored);
                    let x = a[a_n * 64 + a_lane + i];
                    let k = match shape.sparse {
                        true => s / 2 * 4 + (self.index[a_lane + i] >> (2 * a_n) & 3) as usize,
                        false => s,
                    };
                    let (b_lane, b_n) = shape.place(k, block, own);
                    let ys = &b[b_n * 64 + b_lane..][..N];
                    for (sum, y) in sums.iter_mut().zip(ys) {
                        *sum = sum.add(x, *y);
                    }
                }
                for (j, sum) in sums.into_iter().enumerate() {
                    out[at][lane + j] = sum.bits() as u32;
                    if T::DWORDS == 2 {
                        out[at + 1][lane + j] = (sum.bits() >> 32) as u32;
                    }
                }
            }
        }
        out
    }

    #[inline(always)]
    fn of_size<T: Number>(&self, regs: &Regs) -> [Row<u32>; RESULTS] {
        match self.shape.rows {
            32 => vector(|| self.results::<T, 32>(regs)),
            16 => vector(|| self.results::<T, 16>(regs)),
            _ => vector(|| self.results::<T, 4>(regs)),
        }
    }
}

/// The set of indices of each lane, in its lowest bits.
fn index(inst: &Inst, regs: &mut Regs, element: Element) -> Result<Row<u32>, Trap> {
    let (cbsz, abid, _) = inst.blocks();
    let (sets, bits) = if element.bits() == 8 { (2, 16) } else { (4, 8) };
    let set = if cbsz == 0 { u32::from(abid) % sets } else { 0 };
    let from = matrix(inst, regs, 2, false)?;
    Ok(dwords(regs, from, 0, 1).map(|dword| dword >> (set * bits)))
}

pub(super) fn execute(inst: &Inst, regs: &mut Regs) -> Result<(), Trap> {
    let entry = inst.entry();
    let Some(shape) = of(inst.op) else {
        return Err(Trap::Other(format!("the matrix operation {} is not supported", entry.name)));
    };
    if regs.v.lanes() != 64 {
        return Err(Trap::Other(format!("{}: a wave has 64 lanes", entry.name)));
    }
    let double = shape.a == Element::F64;
    let [a, b] = [matrix(inst, regs, 0, double)?, matrix(inst, regs, 1, double)?];
    let dst = vector_row(inst, regs, inst.dst, entry.dst)?;
    let (c, index) = match shape.sparse {
        true => (Matrix::Rows(dst), index(inst, regs, shape.a)?),
        false => (matrix(inst, regs, 2, double)?, [0; 64]),
    };
    let (cbsz, abid, blgp) = inst.blocks();
    // Of f64 these bits negate operands, from gfx940 on.
    let (permute, negate) = if double { (0, blgp) } else { (blgp, 0) };
    let operation = Operation { shape, a, b, c, cbsz, abid, permute, negate, index };
    let out = match shape.a {
        Element::F64 => operation.of_size::<f64>(regs),
        Element::I8 => operation.of_size::<i32>(regs),
        _ => operation.of_size::<f32>(regs),
    };
    for (d, row) in out.iter().take(usize::from(entry.dst.dwords())).enumerate() {
        regs.v.blend(dst + d, u64::MAX, row);
    }
    Ok(())
}
