//! v_cmp and v_cmpx. Float conditions come from five relations by swapping and negating, integer ones from
//! two; lanes outside the mask give 0.

use super::super::operand::Ty;
use super::super::table::Compare;
use super::half;
use super::num::{flush_half, half_value};
use super::row_engine::Cx;
use crate::Mask;

/// What a condition asks: a relation, of swapped sources, negated.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    Never,
    Lt,
    Le,
    Eq,
    /// Less or greater.
    Lg,
    Ordered,
}

fn float_condition(code: u8) -> (Relation, bool, bool) {
    let (relation, swap) = match code & 7 {
        0 => (Relation::Never, false),
        1 => (Relation::Lt, false),
        2 => (Relation::Eq, false),
        3 => (Relation::Le, false),
        4 => (Relation::Lt, true),
        5 => (Relation::Lg, false),
        6 => (Relation::Le, true),
        _ => (Relation::Ordered, false),
    };
    // The second eight are the negations in reverse order: u nge nlg ngt nle neq nlt tru.
    if code < 8 {
        (relation, swap, false)
    } else {
        let (relation, swap, _) = float_condition(15 - code);
        (relation, swap, true)
    }
}

fn int_condition(code: u8) -> (Relation, bool, bool) {
    match code & 7 {
        0 => (Relation::Never, false, false),
        1 => (Relation::Lt, false, false),
        2 => (Relation::Eq, false, false),
        3 => (Relation::Lt, true, true),
        4 => (Relation::Lt, true, false),
        5 => (Relation::Eq, false, true),
        6 => (Relation::Lt, false, true),
        _ => (Relation::Never, false, true),
    }
}

/// Bit number in a class mask: sNaN, qNaN, −inf, −normal, −denormal, −0, +0, +denormal, +normal, +inf.
fn class32(v: u32) -> u32 {
    let negative = usize::from(v >> 31 != 0);
    match (v & 0x7f80_0000, v & 0x007f_ffff) {
        (0x7f80_0000, 0) => [9, 2][negative],
        (0x7f80_0000, f) => u32::from(f & (1 << 22) != 0),
        (0, 0) => [6, 5][negative],
        (0, _) => [7, 4][negative],
        _ => [8, 3][negative],
    }
}

fn class64(v: u64) -> u32 {
    let negative = usize::from(v >> 63 != 0);
    let fraction = v & ((1 << 52) - 1);
    match (v >> 52 & 0x7ff, fraction) {
        (0x7ff, 0) => [9, 2][negative],
        (0x7ff, f) => u32::from(f >> 51 != 0),
        (0, 0) => [6, 5][negative],
        (0, _) => [7, 4][negative],
        _ => [8, 3][negative],
    }
}

fn class_test(cx: &mut Cx, ty: Ty) -> Mask {
    match ty {
        Ty::F64 => cx.test_class64(|v, mask| mask >> class64(v) & 1 == 1),
        Ty::F16 => cx.test(!0, |v, mask| mask >> half::class(v) & 1 == 1),
        _ => cx.test(!0, |v, mask| mask >> class32(v) & 1 == 1),
    }
}

/// The lanes where the comparison holds.
pub(super) fn run(compare: Compare, ty: Ty, cx: &mut Cx) -> Mask {
    if compare.class {
        return class_test(cx, ty);
    }
    let (relation, swap, negate) =
        if ty.is_float() { float_condition(compare.condition) } else { int_condition(compare.condition) };
    if swap {
        cx.src.swap(0, 1);
        cx.and.swap(0, 1);
        cx.xor.swap(0, 1);
    }
    let found = match ty {
        _ if relation == Relation::Never => 0,
        Ty::F32 => f32_relation(relation, cx),
        Ty::F64 if cx.flush_in64() => f64_relation::<true>(relation, cx),
        Ty::F64 => f64_relation::<false>(relation, cx),
        Ty::F16 => f16_relation(relation, cx),
        _ => int_relation(relation == Relation::Eq, ty, cx),
    };
    (if negate { !found } else { found }) & cx.lanes
}

fn f32_relation(relation: Relation, cx: &mut Cx) -> Mask {
    let f = f32::from_bits;
    let keep = cx.keep_in32();
    match relation {
        Relation::Lt => cx.test(keep, |a, b| f(a) < f(b)),
        Relation::Le => cx.test(keep, |a, b| f(a) <= f(b)),
        Relation::Eq => cx.test(keep, |a, b| f(a) == f(b)),
        Relation::Lg => cx.test(keep, |a, b| (f(a) < f(b)) | (f(a) > f(b))),
        _ => cx.test(keep, |a, b| !f(a).is_nan() & !f(b).is_nan()),
    }
}

fn f64_relation<const FLUSH: bool>(relation: Relation, cx: &mut Cx) -> Mask {
    let f = f64::from_bits;
    match relation {
        Relation::Lt => cx.test_wide::<FLUSH>(move |a, b| f(a) < f(b)),
        Relation::Le => cx.test_wide::<FLUSH>(move |a, b| f(a) <= f(b)),
        Relation::Eq => cx.test_wide::<FLUSH>(move |a, b| f(a) == f(b)),
        Relation::Lg => cx.test_wide::<FLUSH>(move |a, b| (f(a) < f(b)) | (f(a) > f(b))),
        _ => cx.test_wide::<FLUSH>(move |a, b| !f(a).is_nan() & !f(b).is_nan()),
    }
}

fn f16_relation(relation: Relation, cx: &mut Cx) -> Mask {
    let keep = if cx.flush_in64() { 0x8000 } else { 0xffff };
    let f = move |v: u32| half_value(flush_half(v, keep));
    match relation {
        Relation::Lt => cx.test(!0, move |a, b| f(a) < f(b)),
        Relation::Le => cx.test(!0, move |a, b| f(a) <= f(b)),
        Relation::Eq => cx.test(!0, move |a, b| f(a) == f(b)),
        Relation::Lg => cx.test(!0, move |a, b| (f(a) < f(b)) | (f(a) > f(b))),
        _ => cx.test(!0, move |a, b| !f(a).is_nan() & !f(b).is_nan()),
    }
}

/// Equal, or less.
fn int_relation(equal: bool, ty: Ty, cx: &mut Cx) -> Mask {
    match (ty, equal) {
        (Ty::I16 | Ty::U16 | Ty::B16, true) => cx.test_bits(move |a, b| a as u16 == b as u16),
        (Ty::I16, false) => cx.test_bits(move |a, b| (a as i16) < b as i16),
        (Ty::U16 | Ty::B16, false) => cx.test_bits(move |a, b| (a as u16) < b as u16),
        (Ty::I64 | Ty::U64 | Ty::B64, true) => cx.test_wide::<false>(move |a, b| a == b),
        (Ty::I64, false) => cx.test_wide::<false>(move |a, b| (a as i64) < b as i64),
        (Ty::U64 | Ty::B64, false) => cx.test_wide::<false>(move |a, b| a < b),
        (_, true) => cx.test_bits(move |a, b| a == b),
        (Ty::I32, false) => cx.test_bits(move |a, b| (a as i32) < b as i32),
        (_, false) => cx.test_bits(move |a, b| a < b),
    }
}
