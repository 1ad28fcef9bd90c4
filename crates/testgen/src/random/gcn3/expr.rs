//! Expressions and conditions in GCN3 assembly. Conditions end up in VCC, with zeros for lanes that are off.

use super::super::ast::{Cond, Expr, Op, Simple, Value};
use super::super::emit::{Text, asm};
use super::super::{SCRATCH, TABLE};

/// Registers: number of the thread, address of its slot, variables, loop counters, temporaries.
pub(super) const THREAD: &str = "v1";
pub(super) const SLOT_ADDRESS: (&str, &str) = ("v2", "v3");
pub(super) const VARS: [&str; super::super::VARS] = ["v4", "v5", "v6", "v7"];
pub(super) const LEFT: [&str; super::super::MAX_LOOPS] = ["v8", "v9", "v10", "v11"];
/// A pair that no expression uses for long.
const PAIR: &str = "v[14:15]";
/// Where the table is, and a mask for the first half of a condition.
pub(super) const TABLE_ADDRESS: (&str, &str) = ("s4", "s5");
const HALF: &str = "s[12:13]";

/// A register with the value; constants go to `spare`.
pub(super) fn value(text: &mut Text, value: &Value, spare: &'static str) -> &'static str {
    match *value {
        Value::Var(v) => VARS[usize::from(v)],
        Value::Thread => THREAD,
        Value::Counter(d) => LEFT[usize::from(d)],
        Value::Const(c) => {
            asm!(text, "v_mov_b32 {spare}, {:#x}", i32::from(c) as u32);
            spare
        }
    }
}

/// v[14:15] = `base` + 4 * v14.
fn address(text: &mut Text, base: (&str, &str)) {
    asm!(text, "v_lshlrev_b32 v14, 2, v14");
    asm!(text, "v_mov_b32 v15, {}", base.1);
    asm!(text, "v_add_u32 v14, vcc, {}, v14", base.0);
    asm!(text, "v_addc_u32 v15, vcc, 0, v15, vcc");
}

/// v[14:15] = the address of the thread's own word.
pub(super) fn own_word(text: &mut Text, slot: &Value) -> &'static str {
    let slot = value(text, slot, "v12");
    asm!(text, "v_and_b32 v14, {}, {slot}", SCRATCH - 1);
    address(text, SLOT_ADDRESS);
    PAIR
}

/// `to` = the expression. Uses v12 to v16 and VCC; `to` may be a variable it reads.
pub(super) fn expr(text: &mut Text, to: &str, expr: &Expr) {
    match expr {
        Expr::Copy(a) => {
            let a = value(text, a, "v12");
            asm!(text, "v_mov_b32 {to}, {a}");
        }
        Expr::Binary(op, a, b) => {
            let (a, b) = (value(text, a, "v12"), value(text, b, "v13"));
            match op {
                Op::Add => asm!(text, "v_add_u32 {to}, vcc, {a}, {b}"),
                Op::Sub => asm!(text, "v_sub_u32 {to}, vcc, {a}, {b}"),
                Op::Mul => asm!(text, "v_mul_lo_u32 {to}, {a}, {b}"),
                Op::And => asm!(text, "v_and_b32 {to}, {a}, {b}"),
                Op::Or => asm!(text, "v_or_b32 {to}, {a}, {b}"),
                Op::Xor => asm!(text, "v_xor_b32 {to}, {a}, {b}"),
            }
        }
        Expr::Shl(a, k) => {
            let a = value(text, a, "v12");
            asm!(text, "v_lshlrev_b32 {to}, {k}, {a}");
        }
        Expr::Shr(a, k) => {
            let a = value(text, a, "v12");
            asm!(text, "v_lshrrev_b32 {to}, {k}, {a}");
        }
        Expr::Div(a, k) => {
            let a = value(text, a, "v12");
            quotient(text, a, u32::from(*k));
            asm!(text, "v_mov_b32 {to}, v14");
        }
        Expr::Mod(a, k) => {
            let a = value(text, a, "v12");
            quotient(text, a, u32::from(*k));
            asm!(text, "v_mul_lo_u32 v14, v14, {k}");
            asm!(text, "v_sub_u32 {to}, vcc, {a}, v14");
        }
        Expr::Test(c) => {
            cond(text, c);
            asm!(text, "v_cndmask_b32_e64 {to}, 0, 1, vcc");
        }
        Expr::Load(a) => {
            let a = value(text, a, "v12");
            asm!(text, "v_and_b32 v14, {}, {a}", TABLE - 1);
            address(text, TABLE_ADDRESS);
            asm!(text, "flat_load_dword {to}, {PAIR}");
            asm!(text, "s_waitcnt vmcnt(0) lgkmcnt(0)");
        }
        Expr::Own(a) => {
            let word = own_word(text, a);
            asm!(text, "flat_load_dword {to}, {word}");
            asm!(text, "s_waitcnt vmcnt(0) lgkmcnt(0)");
        }
    }
}

/// v14 = a / k by a multiplication with 2^(32 + l) / k, l = the bits of k - 1; uses v15 and v16.
fn quotient(text: &mut Text, a: &str, k: u32) {
    let l = 32 - (k - 1).leading_zeros();
    let rest = (1u64 << l) - u64::from(k);
    let factor = (rest << 32) / u64::from(k) + 1;
    asm!(text, "v_mov_b32 v15, {:#x}", factor as u32);
    asm!(text, "v_mul_hi_u32 v15, {a}, v15");
    asm!(text, "v_sub_u32 v16, vcc, {a}, v15");
    asm!(text, "v_lshrrev_b32 v16, {}, v16", l.min(1));
    asm!(text, "v_add_u32 v14, vcc, v15, v16");
    asm!(text, "v_lshrrev_b32 v14, {}, v14", l.saturating_sub(1));
}

/// VCC = the lanes for which the condition holds.
pub(super) fn cond(text: &mut Text, cond: &Cond) {
    match cond {
        Cond::Is(a) => simple(text, a, "vcc"),
        Cond::Not(a) => {
            simple(text, a, "vcc");
            // Two ways LLVM writes it.
            if text.coin() {
                asm!(text, "s_xor_b64 vcc, exec, vcc");
            } else {
                asm!(text, "s_andn2_b64 vcc, exec, vcc");
            }
        }
        Cond::Both(a, b) => {
            simple(text, a, HALF);
            simple(text, b, "vcc");
            asm!(text, "s_and_b64 vcc, {HALF}, vcc");
        }
        Cond::Either(a, b) => {
            simple(text, a, HALF);
            simple(text, b, "vcc");
            asm!(text, "s_or_b64 vcc, {HALF}, vcc");
        }
    }
}

fn simple(text: &mut Text, test: &Simple, to: &str) {
    let form = if to == "vcc" { "" } else { "_e64" };
    match test {
        Simple::NonZero(a) => {
            let a = value(text, a, "v12");
            asm!(text, "v_cmp_ne_u32{form} {to}, 0, {a}");
        }
        Simple::Zero(a) => {
            let a = value(text, a, "v12");
            asm!(text, "v_cmp_eq_u32{form} {to}, 0, {a}");
        }
        Simple::Negative(a) => {
            let a = value(text, a, "v12");
            asm!(text, "v_cmp_gt_i32{form} {to}, 0, {a}");
        }
        Simple::Less(a, b) => {
            let (a, b) = (value(text, a, "v12"), value(text, b, "v13"));
            asm!(text, "v_and_b32 v14, 15, {a}");
            asm!(text, "v_and_b32 v15, 15, {b}");
            asm!(text, "v_cmp_lt_u32{form} {to}, v14, v15");
        }
        Simple::Equal(a, b) => {
            let (a, b) = (value(text, a, "v12"), value(text, b, "v13"));
            asm!(text, "v_cmp_eq_u32{form} {to}, {a}, {b}");
        }
    }
}
