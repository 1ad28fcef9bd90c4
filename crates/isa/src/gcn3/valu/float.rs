//! f32 operations and conversions from and to f32.

use super::super::op::Op;
use super::super::state::mode;
use super::eight::{bf8_code, bf8_value, fp8_code, fp8_value};
use super::near::{Cos, Exp, Log, Sin};
use super::num::{self, fma32};
use super::row_engine::{Cx, QUIET32, Run, Src, flush};
use super::{div, transcendental};
use crate::vector::fused;

/// Multiplication where zero times anything is zero.
#[inline(always)]
fn legacy(a: f32, b: f32) -> f32 {
    if (a == 0.0) | (b == 0.0) { 0.0 } else { a * b }
}

/// Minimum of bits; a number wins over a NaN, −0 is below +0, in IEEE mode a signalling NaN comes out quiet.
#[inline(always)]
fn minimum(a: u32, b: u32, max: bool, ieee: bool) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let equal = if max { a & b } else { a | b };
    let first = if max { x > y } else { x < y };
    let r = if first { a } else { b };
    let r = if x == y { equal } else { r };
    let r = if y.is_nan() { a } else { r };
    let r = if x.is_nan() { b } else { r };
    let signalling = |v: u32, f: f32| ieee & f.is_nan() & (v & QUIET32 == 0);
    let r = if signalling(b, y) { b | QUIET32 } else { r };
    if signalling(a, x) { a | QUIET32 } else { r }
}

/// The smaller or larger of two numbers that are no NaN; −0 is below +0.
#[inline(always)]
fn plain_minimum(a: u32, b: u32, max: bool) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let equal = if max { a & b } else { a | b };
    let first = if max { x > y } else { x < y };
    let r = if first { a } else { b };
    if x == y { equal } else { r }
}

/// Without branches, so that loops vectorise.
#[inline(always)]
fn median(a: u32, b: u32, c: u32, ieee: bool) -> u32 {
    let nan = |v: u32| f32::from_bits(v).is_nan();
    let least = minimum(minimum(a, b, false, ieee), c, false, ieee);
    let upper = plain_minimum(plain_minimum(a, b, true), c, false);
    let middle = plain_minimum(plain_minimum(a, b, false), upper, true);
    if nan(a) | nan(b) | nan(c) { least } else { middle }
}

/// Major axis of a cube map direction: 0 x, 1 y, 2 z.
fn axis(x: f32, y: f32, z: f32) -> u8 {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        2
    } else if y.abs() >= x.abs() {
        1
    } else {
        0
    }
}

fn cube(op: Op, [x, y, z]: [f32; 3]) -> f32 {
    let axis = axis(x, y, z);
    let major = [x, y, z][usize::from(axis)];
    match (op, axis) {
        (Op::VCubeidF32, _) => f32::from(axis * 2) + if major < 0.0 { 1.0 } else { 0.0 },
        (Op::VCubemaF32, _) => 2.0 * major,
        (Op::VCubescF32, 2) => {
            if z < 0.0 {
                -x
            } else {
                x
            }
        }
        (Op::VCubescF32, 1) => x,
        (Op::VCubescF32, _) => {
            if x < 0.0 {
                z
            } else {
                -z
            }
        }
        (_, 1) => {
            if y < 0.0 {
                -z
            } else {
                z
            }
        }
        _ => -y,
    }
}

/// The product is exact in f64, the sum rounds it to a whole number, ties to even, in the low bits; 0 for a NaN.
#[inline(always)]
pub(super) fn normalized(v: f32, low: f32, steps: f32) -> u32 {
    let held = if v < low { low } else { v };
    let held = if held > 1.0 { 1.0 } else { held };
    let held = if v.is_nan() { 0.0 } else { held };
    (f64::from(held) * f64::from(steps) + num::WHOLE).to_bits() as u32 & 0xffff
}

/// One byte of `old` replaced by a number without its fraction, held within a byte; 0 for a NaN. In place of a cast, because loops with
/// that do not vectorise.
#[inline(always)]
fn pack(x: f32, at: u32, old: u32) -> u32 {
    /// Added to a number below 2^23, leaves it in the low bits.
    const WHOLE: f32 = 8_388_608.0;
    let shift = 8 * (at & 3);
    let held = if x > 0.0 { x } else { 0.0 };
    let held = if held > 255.0 { 255.0 } else { held };
    let byte = (num::floor32(held) + WHOLE).to_bits() & 0xff;
    old & !(0xff << shift) | byte << shift
}

/// An f32 as a half; a NaN keeps the top of its payload, quieted.
#[inline(always)]
fn half(x: f32, to_zero: bool, keep: u32) -> u32 {
    let h = if to_zero { num::half_toward_zero(x) } else { num::half_nearest(x) };
    let nan = x.to_bits() >> 16 & 0x8000 | 0x7e00 | x.to_bits() >> 13 & 0x3ff;
    if x.is_nan() { nan } else { num::flush_half(h, keep) }
}

/// Two f32 as 8-bit floats, in the low half; the other stays as it is.
fn pack_eight(cx: &mut Cx, code: fn(f32, bool) -> u8) {
    let limited = cx.mode & mode::FP16_OVFL != 0;
    let code = move |v: u32| u32::from(code(f32::from_bits(v), limited));
    cx.map(move |[a, b]| code(a) | code(b) << 8);
}

/// The loop of an operation; none if it is not one of these.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VAddF32 => |cx| cx.f32(|[a, b]| a + b),
        Op::VSubF32 => |cx| cx.f32(|[a, b]| a - b),
        Op::VSubrevF32 => |cx| cx.f32(|[a, b]| b - a),
        Op::VMulF32 => |cx| cx.f32(|[a, b]| a * b),
        Op::VMulLegacyF32 => |cx| cx.f32(|[a, b]| legacy(a, b)),
        Op::VMacF32 => |cx| cx.mac_f32(),
        Op::VMadF32 | Op::VMadmkF32 | Op::VMadakF32 => |cx| cx.mad_f32(),
        Op::VMadLegacyF32 => |cx| {
            cx.f32_flushing(|[a, b, c]| {
                let p = legacy(a, b);
                (if p.is_subnormal() { 0f32.copysign(p) } else { p }) + c
            });
        },
        Op::VFmaF32 | Op::VFmamkF32 | Op::VFmaakF32 => |cx| cx.fma_f32(fma32),
        Op::VCvtF32Fp8 => |cx| cx.map(|[a]| fp8_value(a as u8).to_bits()),
        Op::VCvtF32Bf8 => |cx| cx.map(|[a]| bf8_value(a as u8).to_bits()),
        Op::VCvtPkFp8F32 => |cx| pack_eight(cx, fp8_code),
        Op::VCvtPkBf8F32 => |cx| pack_eight(cx, bf8_code),
        Op::VFmacF32 => |cx| {
            cx.src[2] = Src::Row(cx.dst);
            cx.fma_f32(fma32);
        },
        Op::VMinF32 => |cx| cx.map_ieee(|[a, b], ieee| minimum(a, b, false, ieee)),
        Op::VMaxF32 => |cx| cx.map_ieee(|[a, b], ieee| minimum(a, b, true, ieee)),
        Op::VMin3F32 => {
            |cx| cx.map_ieee(|[a, b, c], ieee| minimum(minimum(a, b, false, ieee), c, false, ieee))
        }
        Op::VMax3F32 => |cx| cx.map_ieee(|[a, b, c], ieee| minimum(minimum(a, b, true, ieee), c, true, ieee)),
        Op::VMed3F32 => |cx| cx.map_ieee(|[a, b, c], ieee| median(a, b, c, ieee)),
        Op::VRndneF32 => |cx| cx.f32(|[a]| num::rndne32(a)),
        Op::VFloorF32 => |cx| cx.f32(|[a]| num::floor32(a)),
        Op::VCeilF32 => |cx| cx.f32(|[a]| num::ceil32(a)),
        Op::VTruncF32 => |cx| cx.f32(|[a]| num::trunc32(a)),
        // Never 1: the largest float below it is the limit.
        Op::VFractF32 => |cx| {
            cx.f32(|[a]| {
                let (r, limit) = (a - num::floor32(a), f32::from_bits(0x3f7f_ffff));
                if r > limit { limit } else { r }
            });
        },
        Op::VFrexpMantF32 => |cx| cx.f32(|[a]: [f32; 1]| f32::from_bits(num::frexp32(a.to_bits()).0)),
        Op::VFrexpExpI32F32 => |cx| cx.f32_bits(|[a]| num::frexp32(a.to_bits()).1),
        Op::VLdexpF32 => |cx| {
            let (keep, keep_out) = (cx.keep_in32(), cx.keep_out32());
            cx.map_float(move |[a, n]| {
                let a = flush(a, keep);
                let out = num::ldexp32(f32::from_bits(a), n as i32).to_bits();
                let out = if f32::from_bits(out).is_nan() { a | QUIET32 } else { out };
                flush(out, keep_out)
            });
        },
        Op::VCubeidF32 => |cx| cx.f32(|v| cube(Op::VCubeidF32, v)),
        Op::VCubescF32 => |cx| cx.f32(|v| cube(Op::VCubescF32, v)),
        Op::VCubetcF32 => |cx| cx.f32(|v| cube(Op::VCubetcF32, v)),
        Op::VCubemaF32 => |cx| cx.f32(|v| cube(Op::VCubemaF32, v)),
        Op::VDivFixupF32 => |cx| {
            let keep = cx.keep_out32();
            if cx.all::<3, false>(|[q, d, n]| div::plain_fixup32(q, d, n)) {
                cx.f32_bits(move |[q, d, n]| flush(div::signed32(q, d, n), keep));
            } else {
                cx.f32_bits(move |v| {
                    let [q, d, n] = v.map(f32::to_bits);
                    flush(div::fixup32(q, d, n), keep)
                });
            }
        },
        Op::VDivScaleF32 => |cx| {
            if cx.all::<3, false>(|[x, d, n]| div::plain_scale32(x, d, n)) {
                cx.map(|[x]| x);
            } else {
                cx.divide32(|[x, d, n], _| div::scale32(x, d, n));
            }
        },
        Op::VDivFmasF32 => |cx| match cx.mask_in & cx.lanes {
            0 => cx.fma_f32(fma32),
            _ => cx.divide32(|[a, b, c], undo| (div::fmas32(a, b, c, undo), false)),
        },
        Op::VRcpF32 | Op::VRcpIflagF32 => |cx| cx.f32_flushing(|[a]| transcendental::rcp32(a)),
        Op::VRsqF32 => |cx| {
            if fused() {
                cx.f32_flushing(|[a]| transcendental::rsq32_fused(a))
            } else {
                cx.f32_flushing(|[a]| transcendental::rsq32(a))
            }
        },
        Op::VSqrtF32 => |cx| cx.f32_flushing(|[a]| transcendental::sqrt32(a)),
        Op::VExpF32 | Op::VExpLegacyF32 => |cx| cx.function::<Exp>(),
        Op::VLogF32 | Op::VLogLegacyF32 => |cx| cx.function::<Log>(),
        Op::VSinF32 => |cx| cx.function::<Sin>(),
        Op::VCosF32 => |cx| cx.function::<Cos>(),
        Op::VCvtF32I32 => |cx| cx.map(|[a]| (a as i32 as f32).to_bits()),
        Op::VCvtF32U32 => |cx| cx.map(|[a]| (a as f32).to_bits()),
        Op::VCvtF32Ubyte0 => |cx| cx.map(|[a]| ((a & 0xff) as i32 as f32).to_bits()),
        Op::VCvtF32Ubyte1 => |cx| cx.map(|[a]| ((a >> 8 & 0xff) as i32 as f32).to_bits()),
        Op::VCvtF32Ubyte2 => |cx| cx.map(|[a]| ((a >> 16 & 0xff) as i32 as f32).to_bits()),
        Op::VCvtF32Ubyte3 => |cx| cx.map(|[a]| ((a >> 24) as i32 as f32).to_bits()),
        // A signed fraction of sixteenths.
        Op::VCvtOffF32I4 => |cx| cx.map(|[a]| (((a << 28) as i32 >> 28) as f32 / 16.0).to_bits()),
        Op::VCvtI32F32 => |cx| cx.f32_bits(|[a]| num::whole_i32(num::trunc32(a).into())),
        Op::VCvtU32F32 => |cx| cx.f32_bits(|[a]| num::whole_u32(num::trunc32(a).into())),
        Op::VCvtRpiI32F32 => |cx| cx.f32_bits(|[a]| num::whole_i32(num::floor64(f64::from(a) + 0.5))),
        Op::VCvtFlrI32F32 => |cx| cx.f32_bits(|[a]| num::whole_i32(num::floor32(a).into())),
        Op::VCvtF16F32 => |cx| {
            let keep = cx.keep_half();
            cx.f32_bits(move |[a]| half(a, false, keep));
        },
        Op::VCvtPkrtzF16F32 => |cx| {
            let keep = cx.keep_half();
            cx.f32_bits(move |[a, b]| half(a, true, keep) | half(b, true, keep) << 16);
        },
        Op::VCvtPknormI16F32 => {
            |cx| cx.f32_bits(|[a, b]| normalized(a, -1.0, 32767.0) | normalized(b, -1.0, 32767.0) << 16)
        }
        Op::VCvtPknormU16F32 => {
            |cx| cx.f32_bits(|[a, b]| normalized(a, 0.0, 65535.0) | normalized(b, 0.0, 65535.0) << 16)
        }
        Op::VCvtPkU8F32 => |cx| cx.map_float(|[a, at, old]| pack(f32::from_bits(a), at, old)),
        Op::VCvtPkaccumU8F32 => |cx| {
            cx.src[2] = Src::Row(cx.dst);
            cx.map_float(|[a, at, old]| pack(f32::from_bits(a), at, old));
        },
        _ => return None,
    };
    Some(run)
}
