//! Packed f32 in one pass: both results from sources of which none has been written. What is not plain (a NaN among the results, a host
//! without fused multiplication) is left to the two operations that it consists of.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::op::Op;
use super::super::state::mode;
use super::row_engine::{LANES, Row, Src, each, flush, kept32, not_a_number, put, rows};
use crate::Mask;
use crate::vector::{fused, vector};

/// One packed instruction at work.
pub(super) struct Pairs<'a> {
    pub file: &'a mut [Row],
    /// Of the low and of the high result: where it goes, its sources, and what neg does to their signs.
    pub dst: [usize; 2],
    pub src: [[Src<'a>; 3]; 2],
    pub xor: [[u32; 3]; 2],
    /// neg stands somewhere; otherwise `xor` changes nothing.
    pub modified: bool,
    pub lanes: Mask,
    pub mode: u32,
}

/// The loop of one operation; false if it left everything as it was.
pub(super) type Run = fn(&mut Pairs) -> bool;

/// The loop of what does `op` to both parts, if there is one.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VAddF32 => |pairs| pairs.f32(|[a, b]| a + b),
        Op::VMulF32 => |pairs| pairs.f32(|[a, b]| a * b),
        Op::VFmaF32 => |pairs| fused() && pairs.f32(|[a, b, c]| a.mul_add(b, c)),
        Op::VMovB32 => |pairs| pairs.moved(),
        _ => return None,
    };
    Some(run)
}

impl Pairs<'_> {
    /// f32 arithmetic under MODE.
    #[inline(always)]
    fn f32<const N: usize>(&mut self, f: impl Fn([f32; N]) -> f32) -> bool {
        match self.mode & mode::F32_DENORMALS {
            mode::F32_DENORMALS => self.arithmetic::<N, false>(f),
            _ => self.arithmetic::<N, true>(f),
        }
    }

    /// Sources and results flushed if `FLUSH`.
    #[inline(never)]
    fn arithmetic<const N: usize, const FLUSH: bool>(&mut self, f: impl Fn([f32; N]) -> f32) -> bool {
        vector(
            #[inline(always)]
            move || {
                let (keep_in, keep_out) = kept32(self.mode);
                let flush = |v, keep| if FLUSH { flush(v, keep) } else { v };
                let mut src: [[Row; N]; 2] = [rows(self.file, &self.src[0]), rows(self.file, &self.src[1])];
                if self.modified {
                    for part in 0..2 {
                        for s in 0..N {
                            for i in 0..LANES {
                                src[part][s][i] ^= self.xor[part][s];
                            }
                        }
                    }
                }
                let (mut out, mut nan) = ([[0; LANES]; 2], 0);
                for part in 0..2 {
                    for i in 0..LANES {
                        let v = f(each(|s| f32::from_bits(flush(src[part][s][i], keep_in))));
                        out[part][i] = flush(v.to_bits(), keep_out);
                        nan |= not_a_number(out[part][i]);
                    }
                }
                if nan != 0 {
                    return false;
                }
                self.put(&out);
                true
            },
        )
    }

    /// Bits as they are.
    fn moved(&mut self) -> bool {
        vector(
            #[inline(always)]
            move || {
                let [[low], [high]]: [[Row; 1]; 2] =
                    [rows(self.file, &self.src[0]), rows(self.file, &self.src[1])];
                self.put(&[low, high]);
                true
            },
        )
    }

    #[inline(always)]
    fn put(&mut self, out: &[Row; 2]) {
        for part in 0..2 {
            put(&mut self.file[self.dst[part]], &out[part], self.lanes);
        }
    }
}
