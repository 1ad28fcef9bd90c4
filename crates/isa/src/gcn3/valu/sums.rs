//! Sums of absolute differences of bytes, halves and dwords.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use super::super::op::Op;
use super::num::sat_u32;
use super::row_engine::{Cx, LANES, Row, Run, Src, rows};
use crate::vector::vector;

/// Sums of byte differences; `masked` leaves out bytes where the reference, `b`, is zero. Differences byte by byte: the host
/// does four times as many at once.
#[inline(always)]
fn sads(a: &Row, b: &Row, masked: bool) -> Row {
    let [a, b]: [[u8; 4 * LANES]; 2] = [pulp::cast(*a), pulp::cast(*b)];
    let mut far = [0; 4 * LANES];
    for i in 0..4 * LANES {
        let difference = a[i].max(b[i]) - a[i].min(b[i]);
        far[i] = if masked & (b[i] == 0) { 0 } else { difference };
    }
    let far: Row = pulp::cast(far);
    let mut out = [0; LANES];
    for i in 0..LANES {
        let pairs = (far[i] & 0x00ff_00ff) + (far[i] >> 8 & 0x00ff_00ff);
        out[i] = (pairs + (pairs >> 16)) & 0xffff;
    }
    out
}

/// Sum of byte differences of one lane.
#[inline(always)]
fn sad(a: u32, b: u32, masked: bool) -> u32 {
    let difference = |i: u32| {
        let (a, b) = (a >> (8 * i) & 0xff, b >> (8 * i) & 0xff);
        let far = a.max(b) - a.min(b);
        if masked & (b == 0) { 0 } else { far }
    };
    difference(0) + difference(1) + difference(2) + difference(3)
}

/// A sum of two, saturated with clamp.
#[inline(always)]
fn total(clamp: bool, a: u32, b: u32) -> u32 {
    let sum = u64::from(a) + u64::from(b);
    if clamp { sat_u32(sum) } else { sum as u32 }
}

impl Cx<'_> {
    /// Sums of byte differences of four dwords of the first source, each a byte further up, and the second.
    #[inline(always)]
    fn quad_sad(&self, masked: bool) -> [Row; 4] {
        let [low, b]: [Row; 2] = rows(self.file, &self.src);
        let high = self.dword(0, 1);
        let mut out = [[0; LANES]; 4];
        for (k, out) in out.iter_mut().enumerate() {
            let shift = 8 * k as u32;
            let mut window = [0; LANES];
            for i in 0..LANES {
                // Nothing of the upper dword if nothing is shifted.
                window[i] = low[i] >> shift | high[i] << 1 << (31 - shift);
            }
            *out = sads(&window, &b, masked);
        }
        out
    }

    /// The first or second dword of a source; a row that was made for this instruction has no second one.
    #[inline(always)]
    fn dword(&self, s: usize, d: usize) -> Row {
        match self.src[s] {
            Src::Copy(row) if d == 0 => *row,
            Src::Copy(_) => [0; LANES],
            Src::Row(row) => self.file[row + d],
            Src::Splat(v) => [(v >> (32 * d)) as u32; LANES],
        }
    }

    /// They are added to the four halves of the third source.
    #[inline(never)]
    fn quad_sad_halves(&mut self, masked: bool) {
        vector(
            #[inline(always)]
            move || {
                let (clamp, sums) = (self.clamp, self.quad_sad(masked));
                let half = |v: u32| if clamp { v.min(0xffff) } else { v & 0xffff };
                let mut out = [self.dword(2, 0), self.dword(2, 1)];
                for d in 0..2 {
                    for i in 0..LANES {
                        let (even, odd, c) = (sums[2 * d][i], sums[2 * d + 1][i], out[d][i]);
                        out[d][i] = half(even + (c & 0xffff)) | half(odd + (c >> 16)) << 16;
                    }
                }
                self.put(0, &out[0]);
                self.put(1, &out[1]);
                self.mask_out = 0;
            },
        )
    }

    /// They are added to the four dwords of the third source.
    #[inline(never)]
    fn quad_sad_dwords(&mut self, masked: bool) {
        vector(
            #[inline(always)]
            move || {
                let (clamp, mut sums) = (self.clamp, self.quad_sad(masked));
                let mut add = [[0; LANES]; 4];
                if let Src::Row(row) = self.src[2] {
                    add.copy_from_slice(&self.file[row..row + 4]);
                } else {
                    for (i, dwords) in self.quad(2).into_iter().enumerate() {
                        for d in 0..4 {
                            add[d][i] = dwords[d];
                        }
                    }
                }
                for d in 0..4 {
                    for i in 0..LANES {
                        sums[d][i] = total(clamp, sums[d][i], add[d][i]);
                    }
                }
                for d in 0..4 {
                    self.put(d, &sums[d]);
                }
                self.mask_out = 0;
            },
        )
    }
}

/// The loop of an operation; none if it is not one of these.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VSadU8 => |cx| {
            let clamp = cx.clamp;
            cx.map(move |[a, b, c]| total(clamp, sad(a, b, false), c));
        },
        Op::VMsadU8 => |cx| {
            let clamp = cx.clamp;
            cx.map(move |[a, b, c]| total(clamp, sad(a, b, true), c));
        },
        Op::VSadHiU8 => |cx| {
            let clamp = cx.clamp;
            cx.map(move |[a, b, c]| total(clamp, sad(a, b, false) << 16, c));
        },
        Op::VSadU16 => |cx| {
            let clamp = cx.clamp;
            cx.map(move |[a, b, c]| {
                let d = (a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16);
                total(clamp, d, c)
            });
        },
        Op::VSadU32 => |cx| {
            let clamp = cx.clamp;
            cx.map(move |[a, b, c]| total(clamp, a.abs_diff(b), c));
        },
        Op::VQsadPkU16U8 => |cx| cx.quad_sad_halves(false),
        Op::VMqsadPkU16U8 => |cx| cx.quad_sad_halves(true),
        Op::VMqsadU32U8 => |cx| cx.quad_sad_dwords(true),
        _ => return None,
    };
    Some(run)
}
