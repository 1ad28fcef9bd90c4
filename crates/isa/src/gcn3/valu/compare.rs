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

/// The same in choices instead of branches: the numbers of both signs add up to 11.
#[inline(always)]
fn class64(v: u64) -> u32 {
    let magnitude = v & !(1 << 63);
    let class = if magnitude >= 1 << 52 { 8 } else { 7 };
    let class = if magnitude == 0 { 6 } else { class };
    let class = if magnitude == 0x7ff << 52 { 9 } else { class };
    let class = if v >> 63 != 0 { 11 - class } else { class };
    let quiet = if v & 1 << 51 != 0 { 1 } else { 0 };
    if magnitude > 0x7ff << 52 { quiet } else { class }
}

/// A comparison ready to run.
#[derive(Clone, Copy)]
pub(super) struct Test {
    /// None: it never holds.
    found: Option<fn(&mut Cx) -> Mask>,
    /// It asks about swapped sources.
    pub swap: bool,
    negate: bool,
}

impl Test {
    /// The lanes where it holds; the sources stand as [`Test::swap`] wants them.
    #[inline(always)]
    pub fn run(&self, cx: &mut Cx) -> Mask {
        let found = self.found.map_or(0, |found| found(cx));
        (if self.negate { !found } else { found }) & cx.lanes
    }
}

/// The test of a comparison of sources of type `ty`.
pub(super) fn find(compare: Compare, ty: Ty) -> Test {
    if compare.class {
        return Test { found: Some(class_test(ty)), swap: false, negate: false };
    }
    let (relation, swap, negate) =
        if ty.is_float() { float_condition(compare.condition) } else { int_condition(compare.condition) };
    let found: Option<fn(&mut Cx) -> Mask> = match ty {
        _ if relation == Relation::Never => None,
        Ty::F32 => Some(f32_relation(relation)),
        Ty::F64 => Some(f64_relation(relation)),
        Ty::F16 => Some(f16_relation(relation)),
        _ => Some(int_relation(relation == Relation::Eq, ty)),
    };
    Test { found, swap, negate }
}

/// The lanes where the comparison holds.
pub(super) fn run(compare: Compare, ty: Ty, cx: &mut Cx) -> Mask {
    let test = find(compare, ty);
    if test.swap {
        cx.src.swap(0, 1);
        cx.and.swap(0, 1);
        cx.xor.swap(0, 1);
    }
    test.run(cx)
}

fn class_test(ty: Ty) -> fn(&mut Cx) -> Mask {
    match ty {
        Ty::F64 => |cx| cx.test_class64(|v, mask| mask >> class64(v) & 1 == 1),
        Ty::F16 => |cx| cx.test(!0, |v, mask| mask >> half::class(v) & 1 == 1),
        _ => |cx| cx.test(!0, |v, mask| mask >> class32(v) & 1 == 1),
    }
}

fn f32_relation(relation: Relation) -> fn(&mut Cx) -> Mask {
    match relation {
        Relation::Lt => |cx| cx.test_f32(|a, b| a < b),
        Relation::Le => |cx| cx.test_f32(|a, b| a <= b),
        Relation::Eq => |cx| cx.test_f32(|a, b| a == b),
        Relation::Lg => |cx| cx.test_f32(|a, b| (a < b) | (a > b)),
        Relation::Never | Relation::Ordered => |cx| cx.test_f32(|a, b| !a.is_nan() & !b.is_nan()),
    }
}

fn f64_relation(relation: Relation) -> fn(&mut Cx) -> Mask {
    match relation {
        Relation::Lt => |cx| cx.test_f64(|a, b| a < b),
        Relation::Le => |cx| cx.test_f64(|a, b| a <= b),
        Relation::Eq => |cx| cx.test_f64(|a, b| a == b),
        Relation::Lg => |cx| cx.test_f64(|a, b| (a < b) | (a > b)),
        Relation::Never | Relation::Ordered => |cx| cx.test_f64(|a, b| !a.is_nan() & !b.is_nan()),
    }
}

fn f16_relation(relation: Relation) -> fn(&mut Cx) -> Mask {
    match relation {
        Relation::Lt => |cx| test_f16(cx, |a, b| a < b),
        Relation::Le => |cx| test_f16(cx, |a, b| a <= b),
        Relation::Eq => |cx| test_f16(cx, |a, b| a == b),
        Relation::Lg => |cx| test_f16(cx, |a, b| (a < b) | (a > b)),
        Relation::Never | Relation::Ordered => |cx| test_f16(cx, |a, b| !a.is_nan() & !b.is_nan()),
    }
}

#[inline(always)]
fn test_f16(cx: &mut Cx, f: impl Fn(f32, f32) -> bool) -> Mask {
    let keep = if cx.flush_in64() { 0x8000 } else { 0xffff };
    let value = move |v: u32| half_value(flush_half(v, keep));
    cx.test(!0, move |a, b| f(value(a), value(b)))
}

/// Equal, or less.
fn int_relation(equal: bool, ty: Ty) -> fn(&mut Cx) -> Mask {
    match (ty, equal) {
        (Ty::I16 | Ty::U16 | Ty::B16, true) => |cx| cx.test_bits(|a, b| a as u16 == b as u16),
        (Ty::I16, false) => |cx| cx.test_bits(|a, b| (a as i16) < b as i16),
        (Ty::U16 | Ty::B16, false) => |cx| cx.test_bits(|a, b| (a as u16) < b as u16),
        (Ty::I64 | Ty::U64 | Ty::B64, true) => |cx| cx.test_wide::<false>(|a, b| a == b),
        (Ty::I64, false) => |cx| cx.test_wide::<false>(|a, b| (a as i64) < b as i64),
        (Ty::U64 | Ty::B64, false) => |cx| cx.test_wide::<false>(|a, b| a < b),
        (_, true) => |cx| cx.test_bits(|a, b| a == b),
        (Ty::I32, false) => |cx| cx.test_bits(|a, b| (a as i32) < b as i32),
        (_, false) => |cx| cx.test_bits(|a, b| a < b),
    }
}
