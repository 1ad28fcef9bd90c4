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
use crate::Trap;
use crate::lanes::Row;
use crate::vector::vector;

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

/// The deepest operation.
const DEPTH: usize = 64;

/// Registers of a result.
const RESULTS: usize = 32;

/// What is multiplied and added.
trait Number: Copy + Default {
    /// Dwords that one takes.
    const DWORDS: usize;
    /// Rows of a result that stand together.
    const TALL: usize;
    /// The elements of all lanes that begin at bit `shift` of a row; of f64 `row` and `high` are the halves.
    fn unpack(element: Element, row: &Row<u32>, high: &Row<u32>, shift: u32) -> [Self; 64];
    /// A number of C, or of A and B where they have all bits.
    fn start(bits: u64) -> Self;
    fn add(self, a: Self, b: Self) -> Self;
    fn bits(self) -> u64;
}

/// `f` of the lowest bits of each dword of a row, after a shift.
#[inline(always)]
fn each<T: Number>(row: &Row<u32>, shift: u32, f: impl Fn(u32) -> T) -> [T; 64] {
    let mut out = [T::default(); 64];
    for (out, dword) in out.iter_mut().zip(row) {
        *out = f(dword >> shift);
    }
    out
}

impl Number for f32 {
    const DWORDS: usize = 1;
    const TALL: usize = 4;

    #[inline(always)]
    fn unpack(element: Element, row: &Row<u32>, _high: &Row<u32>, shift: u32) -> [f32; 64] {
        match element {
            Element::F16 => each(row, shift, |v| half_value(v & 0xffff)),
            Element::Bf16 => each(row, shift, |v| f32::from_bits(v << 16)),
            Element::Fp8 => each(row, shift, |v| fp8_value(v as u8)),
            Element::Bf8 => each(row, shift, |v| bf8_value(v as u8)),
            Element::Xf32 => each(row, shift, |v| f32::from_bits(v & !0x1fff)),
            Element::F32 | Element::F64 | Element::I8 => each(row, shift, f32::from_bits),
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
    const TALL: usize = 1;

    #[inline(always)]
    fn unpack(_element: Element, row: &Row<u32>, high: &Row<u32>, _shift: u32) -> [f64; 64] {
        std::array::from_fn(|lane| f64::from_bits(u64::from(row[lane]) | u64::from(high[lane]) << 32))
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
    const TALL: usize = 4;

    #[inline(always)]
    fn unpack(_element: Element, row: &Row<u32>, _high: &Row<u32>, shift: u32) -> [i32; 64] {
        each(row, shift, |v| i32::from(v as i8))
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

/// Elements of the lanes: those with number `n` in a lane stand together. `sign` changes f64.
#[inline(always)]
fn unpack<T: Number>(regs: &Regs, from: Matrix, element: Element, own: usize, sign: bool) -> [T; ELEMENTS] {
    let mut out = [T::default(); ELEMENTS];
    let width = element.bits();
    for (n, out) in out.as_chunks_mut::<64>().0.iter_mut().take(own).enumerate() {
        if T::DWORDS == 2 {
            let mut high = dwords(regs, from, 2 * n + 1, 2);
            high.iter_mut().for_each(|v| *v ^= u32::from(sign) << 31);
            *out = T::unpack(element, &dwords(regs, from, 2 * n, 2), &high, 0);
        } else {
            let per = 32 / width as usize;
            *out = T::unpack(element, &dwords(regs, from, n / per, 1), &[0; 64], (n % per) as u32 * width);
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
        let negated = |i: u8| self.negate >> i & 1 == 1;
        let own = shape.own();
        let stored = if shape.sparse { own / 2 } else { own };
        let a: [T; ELEMENTS] = unpack(regs, self.a, shape.a, stored, negated(0));
        let mut b: [T; ELEMENTS] = unpack(regs, self.b, shape.b, own, negated(1));
        if self.permute != 0 {
            for row in b.as_chunks_mut::<64>().0 {
                *row = std::array::from_fn(|lane| row[permuted(lane, self.permute)]);
            }
        }
        let mut out = [[0; 64]; RESULTS];
        for block in 0..shape.blocks {
            // Where the elements of each depth begin.
            let places = |block: usize, own: usize| {
                let (mut at, depth) = ([0; DEPTH], 64 * own / (N * shape.blocks));
                for (k, at) in at.iter_mut().enumerate().take(depth) {
                    let (lane, n) = shape.place(k, block, own);
                    *at = n * 64 + lane;
                }
                (at, depth)
            };
            let (a_at, depth) = places(self.block_of_a(block), stored);
            let (b_at, _) = places(block, own);
            for i in 0..N {
                let (register, lane) = Shape::result(N, T::TALL, i, block);
                let at = register * T::DWORDS;
                let (low, high) = match T::DWORDS {
                    2 => (dwords(regs, self.c, at, 2), dwords(regs, self.c, at + 1, 2)),
                    _ => (dwords(regs, self.c, at, 1), [0; 64]),
                };
                let sign = u64::from(negated(2)) << 63;
                let mut sums: [T; N] = std::array::from_fn(|j| {
                    let at = (lane + j) % 64;
                    T::start((u64::from(low[at]) | u64::from(high[at]) << 32) ^ sign)
                });
                for s in 0..depth {
                    let x = a[a_at[s] + i];
                    let k = match shape.sparse {
                        true => {
                            let (lane, n) = (a_at[s] % 64 + i, a_at[s] / 64);
                            s / 2 * 4 + (self.index[lane % 64] >> (2 * n) & 3) as usize
                        }
                        false => s,
                    };
                    let ys = &b[b_at[k % DEPTH]..][..N];
                    for (sum, y) in sums.iter_mut().zip(ys) {
                        *sum = sum.add(x, *y);
                    }
                }
                for (j, sum) in sums.into_iter().enumerate() {
                    let at_lane = (lane + j) % 64;
                    out[at][at_lane] = sum.bits() as u32;
                    if T::DWORDS == 2 {
                        out[at + 1][at_lane] = (sum.bits() >> 32) as u32;
                    }
                }
            }
        }
        out
    }

    #[inline(always)]
    fn of_size<T: Number>(&self, regs: &Regs) -> [Row<u32>; RESULTS] {
        match self.shape.rows {
            32 => vector(
                #[inline(always)]
                || self.results::<T, 32>(regs),
            ),
            16 => vector(
                #[inline(always)]
                || self.results::<T, 16>(regs),
            ),
            _ => vector(
                #[inline(always)]
                || self.results::<T, 4>(regs),
            ),
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
