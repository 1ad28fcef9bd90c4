//! Integer and bit operations of 32 and 64 bits, and moves. With clamp (only through the prepared path)
//! results saturate instead of wrapping.

use super::super::op::Op;
use super::dot::{dot as elements_of, dot_integer};
use super::eight::{bf8_value, fp8_value};
use super::num::sat_u32;
use super::row_engine::{Cx, LANES, Row, Run, Src, rows};
use super::sums;
use crate::vector::vector;

#[inline(always)]
fn sext24(v: u32) -> i32 {
    (v << 8) as i32 >> 8
}

#[inline(always)]
fn low24(v: u32) -> u32 {
    v & 0xff_ffff
}

#[inline(always)]
fn sat_i32(v: i64) -> u32 {
    v.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32
}

#[inline(always)]
fn bfe_i32(v: u32, offset: u32, width: u32) -> u32 {
    let (offset, width) = (offset & 31, width & 31);
    if width == 0 {
        return 0;
    }
    let shifted = (v as i32 >> offset) as u32;
    let up = 32 - width;
    // Bits above the register read as its sign.
    ((shifted << up) as i32 >> up) as u32
}

#[inline(always)]
fn byte(v: u32, i: u32) -> u32 {
    v >> (8 * i) & 0xff
}

fn lerp(a: u32, b: u32, c: u32) -> u32 {
    (0..4).map(|i| ((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1) << (8 * i)).sum()
}

/// Four bytes of those of `b` and `a`, each named by a byte of `select`, or zeros (12), or ones (above that).
#[inline(always)]
fn perm(a: u32, b: u32, select: u32) -> u32 {
    let pick = |k: u32| {
        let s = byte(select, k);
        let word = if s & 4 != 0 { a } else { b };
        let v = word >> (8 * (s & 3)) & 0xff;
        let constant = if s == 12 { 0 } else { 0xff };
        if s < 8 { v } else { constant }
    };
    pick(0) | pick(1) << 8 | pick(2) << 16 | pick(3) << 24
}

/// `out` with signs of the odd bytes where a byte of `select` is 8 to 11.
#[inline(always)]
fn perm_signs(a: u32, b: u32, select: u32, out: u32) -> u32 {
    let signs = b >> 15 & 1 | b >> 31 << 1 | (a >> 15 & 1) << 2 | a >> 31 << 3;
    let (mut found, mut which) = (0, 0);
    for k in 0..4 {
        let s = byte(select, k);
        found |= (signs >> (s & 3) & 1) << (8 * k);
        which |= if s & !3 == 8 { 0xff << (8 * k) } else { 0 };
    }
    // Ones become bytes of ones.
    let found = (found << 8).wrapping_sub(found);
    out & !which | found & which
}

/// A byte of `select` is 8 to 11.
#[inline(always)]
fn takes_signs(select: u32) -> bool {
    let takes = |k| byte(select, k) & !3 == 8;
    takes(0) | takes(1) | takes(2) | takes(3)
}

impl Cx<'_> {
    /// Compilers hardly ask for signs: most rows are done without.
    #[inline(never)]
    fn perm(&mut self) {
        vector(
            #[inline(always)]
            move || {
                let [a, b, select]: [Row; 3] = rows(self.file, &self.src);
                let mut out = [0; LANES];
                let mut signs = 0;
                for i in 0..LANES {
                    signs |= if takes_signs(select[i]) { 1 } else { 0 };
                    out[i] = perm(a[i], b[i], select[i]);
                }
                if signs != 0 {
                    for i in 0..LANES {
                        out[i] = perm_signs(a[i], b[i], select[i], out[i]);
                    }
                }
                self.put(0, &out);
            },
        )
    }
}

#[inline(always)]
fn first(v: u32, zeros: u32) -> u32 {
    if v == 0 { u32::MAX } else { zeros }
}

#[inline(always)]
fn med<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.min(b).max(a.max(b).min(c))
}

/// The loop of an operation; none if it is not one of these.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VMovB32 => |cx| cx.map(|[a]| a),
        Op::VNotB32 => |cx| cx.map(|[a]| !a),
        Op::VBfrevB32 => |cx| cx.map(|[a]| a.reverse_bits()),
        Op::VFfbhU32 => |cx| cx.map(|[a]| first(a, a.leading_zeros())),
        Op::VFfblB32 => |cx| cx.map(|[a]| first(a, a.trailing_zeros())),
        Op::VFfbhI32 => |cx| {
            cx.map(|[a]| {
                let v = a ^ (a as i32 >> 31) as u32;
                first(v, v.leading_zeros())
            })
        },
        Op::VCndmaskB32 => |cx| cx.map_bit(|a, b, bit| if bit != 0 { b } else { a }),
        Op::VAndB32 => |cx| cx.map(|[a, b]| a & b),
        Op::VOrB32 => |cx| cx.map(|[a, b]| a | b),
        Op::VXorB32 => |cx| cx.map(|[a, b]| a ^ b),
        Op::VLshlrevB32 => |cx| cx.map(|[n, v]| v << (n & 31)),
        Op::VLshrrevB32 => |cx| cx.map(|[n, v]| v >> (n & 31)),
        Op::VAshrrevI32 => |cx| cx.map(|[n, v]| (v as i32 >> (n & 31)) as u32),
        Op::VMinI32 => |cx| cx.map(|[a, b]| (a as i32).min(b as i32) as u32),
        Op::VMaxI32 => |cx| cx.map(|[a, b]| (a as i32).max(b as i32) as u32),
        Op::VMinU32 => |cx| cx.map(|[a, b]| a.min(b)),
        Op::VMaxU32 => |cx| cx.map(|[a, b]| a.max(b)),
        Op::VMulLoU32 => |cx| cx.map(|[a, b]| a.wrapping_mul(b)),
        Op::VMulHiU32 => |cx| cx.map(|[a, b]| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        Op::VMulHiI32 => |cx| cx.map(|[a, b]| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32),
        Op::VBfeU32 => |cx| cx.map(|[v, n, w]| v >> (n & 31) & ((1 << (w & 31)) - 1)),
        Op::VBfeI32 => |cx| cx.map(|[v, n, w]| bfe_i32(v, n, w)),
        Op::VBfiB32 => |cx| cx.map(|[m, a, b]| m & a | !m & b),
        Op::VBfmB32 => |cx| cx.map(|[w, n]| ((1 << (w & 31)) - 1) << (n & 31)),
        Op::VAlignbitB32 => |cx| cx.map(|[a, b, n]| ((u64::from(a) << 32 | u64::from(b)) >> (n & 31)) as u32),
        Op::VAlignbyteB32 => {
            |cx| cx.map(|[a, b, n]| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (n & 3))) as u32)
        }
        Op::VPermB32 => |cx| cx.perm(),
        Op::VLerpU8 => |cx| cx.map(|[a, b, c]| lerp(a, b, c)),
        Op::VMin3I32 => {
            |cx| cx.map(|v: [u32; 3]| v.map(|x| x as i32).into_iter().fold(i32::MAX, i32::min) as u32)
        }
        Op::VMax3I32 => {
            |cx| cx.map(|v: [u32; 3]| v.map(|x| x as i32).into_iter().fold(i32::MIN, i32::max) as u32)
        }
        Op::VMin3U32 => |cx| cx.map(|[a, b, c]| a.min(b).min(c)),
        Op::VMax3U32 => |cx| cx.map(|[a, b, c]| a.max(b).max(c)),
        Op::VMed3I32 => |cx| cx.map(|[a, b, c]| med(a as i32, b as i32, c as i32) as u32),
        Op::VMed3U32 => |cx| cx.map(|[a, b, c]| med(a, b, c)),
        Op::VBcntU32B32 => |cx| cx.map(|[a, b]| a.count_ones().wrapping_add(b)),
        Op::VMbcntLoU32B32 => |cx| {
            cx.map_lane(|lane, a, b| {
                let below = (1u64 << lane.min(32)).wrapping_sub(1) as u32;
                (a & below).count_ones().wrapping_add(b)
            })
        },
        Op::VMbcntHiU32B32 => |cx| {
            cx.map_lane(|lane, a, b| {
                let below = (1u32 << lane.saturating_sub(32)) - 1;
                (a & below).count_ones().wrapping_add(b)
            })
        },
        Op::VLshlrevB64 => |cx| cx.shift_left(),
        Op::VLshrrevB64 => |cx| cx.map_shift(|n, v| v >> (n & 63)),
        Op::VAshrrevI64 => |cx| cx.map_shift(|n, v| (v as i64 >> (n & 63)) as u64),
        Op::VCvtPkU16U32 => |cx| cx.map(|[a, b]| a.min(0xffff) | b.min(0xffff) << 16),
        Op::VCvtPkI16I32 => |cx| {
            cx.map(|[a, b]| {
                let sat = |v: u32| (v as i32).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
                sat(a) | sat(b) << 16
            })
        },
        _ => {
            return adding(op)
                .or_else(|| multiplying(op))
                .or_else(|| sums::find(op))
                .or_else(|| combined(op));
        }
    };
    Some(run)
}

/// A dot product that is added to the destination.
fn dot(cx: &mut Cx, op: Op) {
    let Some(elements) = elements_of(op) else { return };
    cx.src[2] = Src::Row(cx.dst);
    let clamp = cx.clamp;
    cx.map(move |[a, b, c]| dot_integer(elements, a, b, c, clamp));
}

/// Two 8-bit floats as f32.
fn pair(a: u64, value: fn(u8) -> f32) -> ([u32; 4], bool) {
    ([value(a as u8).to_bits(), value((a >> 8) as u8).to_bits(), 0, 0], false)
}

/// What gfx9 added: two operations in one, additions without carry, and moves.
fn combined(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VXnorB32 => |cx| cx.map(|[a, b]| !(a ^ b)),
        Op::VXadU32 => |cx| cx.map(|[a, b, c]| (a ^ b).wrapping_add(c)),
        Op::VLshlAddU32 => |cx| cx.map(|[a, n, c]| (a << (n & 31)).wrapping_add(c)),
        Op::VAddLshlU32 => |cx| cx.map(|[a, b, n]| a.wrapping_add(b) << (n & 31)),
        Op::VAdd3U32 => |cx| cx.map(|[a, b, c]| a.wrapping_add(b).wrapping_add(c)),
        Op::VLshlOrB32 => |cx| cx.map(|[a, n, c]| a << (n & 31) | c),
        Op::VAndOrB32 => |cx| cx.map(|[a, b, c]| a & b | c),
        Op::VOr3B32 => |cx| cx.map(|[a, b, c]| a | b | c),
        Op::VLshlAddU64 => |cx| cx.shift_add(),
        Op::VMovB64 => |cx| cx.move_wide(),
        Op::VDot2cI32I16 => |cx| dot(cx, Op::VDot2cI32I16),
        Op::VDot4cI32I8 => |cx| dot(cx, Op::VDot4cI32I8),
        Op::VDot8cI32I4 => |cx| dot(cx, Op::VDot8cI32I4),
        Op::VCvtPkF32Fp8 => |cx| cx.slow(2, |_, [a, _, _]| pair(a, fp8_value)),
        Op::VCvtPkF32Bf8 => |cx| cx.slow(2, |_, [a, _, _]| pair(a, bf8_value)),
        Op::VSatPkU8I16 => |cx| {
            cx.map(|[a]| {
                let sat = |v: u32| (v as i16).clamp(0, 255) as u32;
                sat(a) | sat(a >> 16) << 8
            })
        },
        Op::VAddNcU32 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| a.wrapping_add(b)),
            true => cx.map(|[a, b]| a.saturating_add(b)),
        },
        Op::VSubNcU32 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| a.wrapping_sub(b)),
            true => cx.map(|[a, b]| a.saturating_sub(b)),
        },
        Op::VSubrevNcU32 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| b.wrapping_sub(a)),
            true => cx.map(|[a, b]| b.saturating_sub(a)),
        },
        Op::VAddI32 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| a.wrapping_add(b)),
            true => cx.map(|[a, b]| (a as i32).saturating_add(b as i32) as u32),
        },
        Op::VSubI32 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| a.wrapping_sub(b)),
            true => cx.map(|[a, b]| (a as i32).saturating_sub(b as i32) as u32),
        },
        Op::VMadU32U16 => |cx| match cx.clamp {
            false => cx.map(|[a, b, c]| ((a & 0xffff) * (b & 0xffff)).wrapping_add(c)),
            true => cx.map(|[a, b, c]| ((a & 0xffff) * (b & 0xffff)).saturating_add(c)),
        },
        Op::VMadI32I16 => |cx| {
            fn product(a: u32, b: u32) -> i32 {
                i32::from(a as i16) * i32::from(b as i16)
            }
            match cx.clamp {
                false => cx.map(|[a, b, c]| product(a, b).wrapping_add(c as i32) as u32),
                true => cx.map(|[a, b, c]| product(a, b).saturating_add(c as i32) as u32),
            }
        },
        _ => return None,
    };
    Some(run)
}

/// `a + b + carry` and the carry out.
#[inline(always)]
fn sum(a: u32, b: u32, carry: u32) -> (u32, bool) {
    let s = a.wrapping_add(b).wrapping_add(carry);
    (s, ((a & b | (a | b) & !s) as i32) < 0)
}

/// `a - b - borrow` and the borrow out.
#[inline(always)]
fn difference(a: u32, b: u32, borrow: u32) -> (u32, bool) {
    let s = a.wrapping_sub(b).wrapping_sub(borrow);
    (s, ((!a & b | (!a | b) & s) as i32) < 0)
}

/// Addition and subtraction with carry; they saturate with clamp.
fn adding(op: Op) -> Option<Run> {
    fn high((v, over): (u32, bool)) -> (u32, bool) {
        (if over { u32::MAX } else { v }, over)
    }
    fn low((v, under): (u32, bool)) -> (u32, bool) {
        (if under { 0 } else { v }, under)
    }
    let run: Run = match op {
        Op::VAddU32 => |cx| match cx.clamp {
            false => cx.map_add(|a, b| sum(a, b, 0)),
            true => cx.map_add(|a, b| high(sum(a, b, 0))),
        },
        Op::VSubU32 => |cx| match cx.clamp {
            false => cx.map_add(|a, b| difference(a, b, 0)),
            true => cx.map_add(|a, b| low(difference(a, b, 0))),
        },
        Op::VSubrevU32 => |cx| match cx.clamp {
            false => cx.map_add(|a, b| difference(b, a, 0)),
            true => cx.map_add(|a, b| low(difference(b, a, 0))),
        },
        Op::VAddcU32 => |cx| match cx.clamp {
            false => cx.map_carry(sum),
            true => cx.map_carry(|a, b, c| high(sum(a, b, c))),
        },
        Op::VSubbU32 => |cx| match cx.clamp {
            false => cx.map_carry(difference),
            true => cx.map_carry(|a, b, c| low(difference(a, b, c))),
        },
        Op::VSubbrevU32 => |cx| match cx.clamp {
            false => cx.map_carry(|a, b, c| difference(b, a, c)),
            true => cx.map_carry(|a, b, c| low(difference(b, a, c))),
        },
        _ => return None,
    };
    Some(run)
}

#[inline(always)]
fn mul_i24(a: u32, b: u32) -> i64 {
    i64::from(sext24(a)) * i64::from(sext24(b))
}

#[inline(always)]
fn mul_u24(a: u32, b: u32) -> u64 {
    u64::from(low24(a)) * u64::from(low24(b))
}

/// 24-bit and 64-bit multiplication.
fn multiplying(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VMulI32I24 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| sext24(a).wrapping_mul(sext24(b)) as u32),
            true => cx.map(|[a, b]| sat_i32(mul_i24(a, b))),
        },
        Op::VMulHiI32I24 => |cx| cx.map(|[a, b]| (mul_i24(a, b) >> 32) as u32),
        Op::VMulU32U24 => |cx| match cx.clamp {
            false => cx.map(|[a, b]| low24(a).wrapping_mul(low24(b))),
            true => cx.map(|[a, b]| sat_u32(mul_u24(a, b))),
        },
        Op::VMulHiU32U24 => |cx| cx.map(|[a, b]| (mul_u24(a, b) >> 32) as u32),
        Op::VMadI32I24 => |cx| match cx.clamp {
            false => cx.map(|[a, b, c]| (sext24(a).wrapping_mul(sext24(b)) as u32).wrapping_add(c)),
            true => cx.map(|[a, b, c]| sat_i32(mul_i24(a, b) + i64::from(c as i32))),
        },
        Op::VMadU32U24 => |cx| match cx.clamp {
            false => cx.map(|[a, b, c]| low24(a).wrapping_mul(low24(b)).wrapping_add(c)),
            true => cx.map(|[a, b, c]| sat_u32(mul_u24(a, b) + u64::from(c))),
        },
        Op::VMadU64U32 => |cx| {
            let clamp = cx.clamp;
            cx.map_mad64(move |a, b, c| {
                let (sum, carry) = (u64::from(a) * u64::from(b)).overflowing_add(c);
                (if clamp & carry { u64::MAX } else { sum }, carry)
            });
        },
        // The mask gets bit 64 of the exact sum, its sign: that of both if they agree, else there is no overflow.
        Op::VMadI64I32 => |cx| match cx.clamp {
            false => cx.map_mad64(|a, b, c| {
                let (product, c) = (i64::from(a as i32) * i64::from(b as i32), c as i64);
                let sum = product.wrapping_add(c);
                (sum as u64, (product & c | (product ^ c) & sum) < 0)
            }),
            true => cx.map_mad64(|a, b, c| {
                let product = i64::from(a as i32) * i64::from(b as i32);
                let sum = i128::from(product) + i128::from(c as i64);
                (sum.clamp(i64::MIN.into(), i64::MAX.into()) as u64, sum < 0)
            }),
        },
        _ => return None,
    };
    Some(run)
}
