//! f64 operations and conversions from and to f64.

use super::super::op::Op;
use super::row_engine::{Run, Src};
use super::wide::QUIET64;
use super::{div, num, transcendental};
use crate::vector::fused;

/// As of f32: a number wins over a NaN, −0 is below +0, in IEEE mode a signalling NaN comes out quiet.
#[inline(always)]
fn minimum(a: u64, b: u64, max: bool, ieee: bool) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    let equal = if max { a & b } else { a | b };
    let first = if max { x > y } else { x < y };
    let r = if first { a } else { b };
    let r = if x == y { equal } else { r };
    let r = if y.is_nan() { a } else { r };
    let r = if x.is_nan() { b } else { r };
    let signalling = |v: u64, f: f64| ieee & f.is_nan() & (v & QUIET64 == 0);
    let r = if signalling(b, y) { b | QUIET64 } else { r };
    if signalling(a, x) { a | QUIET64 } else { r }
}

/// The loop of an operation; none if it is not one of these.
pub(super) fn find(op: Op) -> Option<Run> {
    let run: Run = match op {
        Op::VAddF64 => |cx| cx.f64(|[a, b]| a + b),
        Op::VMulF64 => |cx| cx.f64(|[a, b]| a * b),
        Op::VFmaF64 => |cx| cx.f64(|[a, b, c]| a.mul_add(b, c)),
        Op::VFmacF64 => |cx| {
            cx.src[2] = Src::Row(cx.dst);
            cx.f64(|[a, b, c]| a.mul_add(b, c));
        },
        Op::VMinF64 => |cx| {
            let ieee = cx.ieee();
            cx.map_double(move |a, b| minimum(a, b, false, ieee));
        },
        Op::VMaxF64 => |cx| {
            let ieee = cx.ieee();
            cx.map_double(move |a, b| minimum(a, b, true, ieee));
        },
        Op::VRndneF64 => |cx| cx.f64(|[a]| num::rndne64(a)),
        Op::VFloorF64 => |cx| cx.f64(|[a]| num::floor64(a)),
        Op::VCeilF64 => |cx| cx.f64(|[a]| num::ceil64(a)),
        Op::VTruncF64 => |cx| cx.f64(|[a]| num::trunc64(a)),
        // Never 1: the largest number below it is the limit.
        Op::VFractF64 => |cx| {
            cx.f64(|[a]| {
                let (r, limit) = (a - num::floor64(a), f64::from_bits(0x3fef_ffff_ffff_ffff));
                if r > limit { limit } else { r }
            });
        },
        Op::VLdexpF64 => |cx| {
            if !cx.ldexp_plain() {
                cx.f64_int(num::ldexp64);
            }
        },
        Op::VFrexpMantF64 => |cx| cx.f64(|[a]| num::frexp64(a).0),
        Op::VFrexpExpI32F64 => |cx| cx.f64_bits(|a| num::frexp64(a).1 as u32),
        Op::VCvtI32F64 => |cx| cx.f64_bits(|a| num::whole_i32(num::trunc64(a))),
        Op::VCvtU32F64 => |cx| cx.f64_bits(|a| num::whole_u32(num::trunc64(a))),
        Op::VCvtF32F64 => |cx| {
            let keep = cx.keep_out32();
            cx.f64_bits(move |a| {
                let out = num::f64_to_f32(a).to_bits();
                if out & 0x7f80_0000 == 0 { out & keep } else { out }
            });
        },
        Op::VCvtF64F32 => |cx| {
            let keep = cx.keep_in32();
            cx.widen(move |a| num::f32_to_f64(if a & 0x7f80_0000 == 0 { a & keep } else { a }));
        },
        Op::VCvtF64I32 => |cx| cx.widen(|a| f64::from(a as i32).to_bits()),
        Op::VCvtF64U32 => |cx| cx.widen(|a| f64::from(a).to_bits()),
        Op::VRcpF64 => |cx| cx.f64(|[a]| transcendental::rcp64(a)),
        Op::VRsqF64 => |cx| {
            if fused() {
                cx.f64(|[a]| transcendental::rsq64_fused(a))
            } else {
                cx.f64(|[a]| transcendental::rsq64(a))
            }
        },
        Op::VSqrtF64 => |cx| cx.f64(|[a]| transcendental::sqrt64(a)),
        Op::VTrigPreopF64 => |cx| cx.trig_preop(),
        Op::VDivFixupF64 => |cx| {
            if cx.all::<3, true>(|[q, d, n]| div::plain_fixup64(q, d, n)) {
                cx.f64_with::<3, false>(|[q, d, n]| {
                    let sign = (d.to_bits() ^ n.to_bits()) & (1 << 63);
                    f64::from_bits(q.to_bits() & !(1 << 63) | sign)
                });
            } else {
                cx.f64_with::<3, false>(|v| {
                    let [q, d, n] = v.map(f64::to_bits);
                    f64::from_bits(div::fixup64(q, d, n))
                });
            }
        },
        Op::VDivScaleF64 => |cx| {
            if cx.all::<3, true>(|[x, d, n]| div::plain_scale64(x, d, n)) {
                cx.f64_with::<1, false>(|[x]| x);
            } else {
                cx.divide64(|[x, d, n], _| div::scale64(x, d, n));
            }
        },
        Op::VDivFmasF64 => |cx| match cx.mask_in & cx.lanes {
            0 => cx.f64(|[a, b, c]| a.mul_add(b, c)),
            _ => cx.divide64(|[a, b, c], undo| (div::fmas64(a, b, c, undo), false)),
        },
        _ => return None,
    };
    Some(run)
}
