//! GUPPY assembly for the mask stack: br_push for two sides, push_mask and mask_nz for one side and for
//! loops. What the ISA lacks (xor, shifts, remainder) is built from what it has.

use super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
use super::emit::{Text, asm};
use super::{SCRATCH, SLOT, TABLE, prelude};

/// Registers of variables and loop counters; r3 is at hand.
const VARS: [&str; super::VARS] = ["r1.x", "r1.y", "r2.w", "r2.z"];
const LEFT: [&str; super::MAX_LOOPS] = ["r4.x", "r4.y", "r4.z", "r4.w"];

pub(super) fn source(ast: &Ast) -> String {
    let mut g = Guppy { text: Text::default(), loops: 0 };
    asm!(g.text, "mov r0.x, thread_id");
    g.block(&prelude());
    g.block(&ast.body);
    asm!(g.text, "mul.u32 r3.x, r0.x, u({})", 4 * SLOT);
    for (i, var) in VARS.iter().enumerate() {
        asm!(g.text, "add.u32 r3.y, r3.x, u({})", 4 * (SCRATCH + i));
        asm!(g.text, "st u0.x, r3.y, {var}");
    }
    asm!(g.text, "ret");
    g.text.out
}

struct Guppy {
    text: Text,
    loops: usize,
}

impl Guppy {
    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    fn value(&mut self, value: &Value) -> String {
        match *value {
            Value::Var(v) => VARS[usize::from(v)].into(),
            Value::Thread if self.text.coin() => "thread_id".into(),
            Value::Thread => "r0.x".into(),
            Value::Counter(d) => LEFT[usize::from(d)].into(),
            Value::Const(c) => format!("u({})", i32::from(c) as u32),
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(var, expr) => self.expr(VARS[usize::from(*var)], expr),
            Stmt::Guarded(cond, var, expr) => {
                let assign = [Stmt::Assign(*var, expr.clone())];
                self.one_side(cond, &assign);
            }
            Stmt::Store { slot, value } => {
                self.own(slot);
                let value = self.value(value);
                asm!(self.text, "st u0.x, r3.x, {value}");
            }
            Stmt::If(cond, yes, no) if no.is_empty() && self.text.coin() => self.one_side(cond, yes),
            Stmt::If(cond, yes, no) => {
                let (other, end) = (self.text.fresh("else"), self.text.fresh("end"));
                let test = self.cond(cond);
                asm!(self.text, "br_push {test}, {other}, {end}");
                self.block(yes);
                asm!(self.text, "pop_mask");
                self.text.place(&other);
                self.block(no);
                asm!(self.text, "pop_mask");
                self.text.place(&end);
            }
            Stmt::Loop { form, count, mask, until, body } => {
                self.a_loop(*form, count, *mask, until.as_ref(), body);
            }
            Stmt::Return => asm!(self.text, "ret"),
        }
    }

    fn one_side(&mut self, cond: &Cond, body: &[Stmt]) {
        let end = self.text.fresh("end");
        if self.text.coin() {
            asm!(self.text, "push_mask {end}");
            let test = self.cond(cond);
            asm!(self.text, "mask_nz {test}");
        } else {
            let test = self.cond(cond);
            asm!(self.text, "push_mask {end}");
            asm!(self.text, "mask_nz {test}");
        }
        self.block(body);
        asm!(self.text, "pop_mask");
        self.text.place(&end);
    }

    fn a_loop(&mut self, form: Form, count: &Value, mask: u8, until: Option<&Simple>, body: &[Stmt]) {
        let left = LEFT[self.loops];
        let (head, end) = (self.text.fresh("head"), self.text.fresh("end"));
        let count = self.value(count);
        asm!(self.text, "and {left}, {count}, u({mask})");
        if form == Form::DoWhile {
            asm!(self.text, "add.u32 {left}, {left}, u(1)");
        }
        asm!(self.text, "push_mask {end}");
        self.text.place(&head);
        self.loops += 1;
        if form == Form::While {
            self.stay(left, until);
            asm!(self.text, "sub.u32 {left}, {left}, u(1)");
            self.block(body);
        } else {
            self.block(body);
            asm!(self.text, "sub.u32 {left}, {left}, u(1)");
            self.stay(left, until);
        }
        self.loops -= 1;
        asm!(self.text, "jmp {head}");
        self.text.place(&end);
    }

    fn stay(&mut self, left: &str, until: Option<&Simple>) {
        match until {
            None => asm!(self.text, "mask_nz {left}"),
            Some(until) => {
                self.simple("r3.z", until);
                asm!(self.text, "lt.u32 r3.z, r3.z, u(1)");
                asm!(self.text, "gt.u32 r3.x, {left}, u(0)");
                asm!(self.text, "and r3.z, r3.z, r3.x");
                asm!(self.text, "mask_nz r3.z");
            }
        }
    }

    /// r3.x = byte offset of the thread's own word `slot`.
    fn own(&mut self, slot: &Value) {
        let slot = self.value(slot);
        asm!(self.text, "and r3.x, {slot}, u({})", SCRATCH - 1);
        asm!(self.text, "mul.u32 r3.x, r3.x, u(4)");
        asm!(self.text, "mad.u32 r3.x, r0.x, u({}), r3.x", 4 * SLOT);
    }

    fn expr(&mut self, d: &str, expr: &Expr) {
        match expr {
            Expr::Copy(a) => {
                let a = self.value(a);
                asm!(self.text, "mov {d}, {a}");
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let name = match op {
                    Op::Add => "add.u32",
                    Op::Sub => "sub.u32",
                    Op::Mul => "mul.u32",
                    Op::And => "and",
                    Op::Or => "or",
                    Op::Xor => {
                        // a ^ b = (a | b) - (a & b)
                        asm!(self.text, "or r3.x, {a}, {b}");
                        asm!(self.text, "and r3.y, {a}, {b}");
                        asm!(self.text, "sub.u32 {d}, r3.x, r3.y");
                        return;
                    }
                };
                asm!(self.text, "{name} {d}, {a}, {b}");
            }
            Expr::Shl(a, k) => {
                let a = self.value(a);
                asm!(self.text, "mul.u32 {d}, {a}, u({})", 1u32 << k);
            }
            Expr::Shr(a, k) => {
                let a = self.value(a);
                asm!(self.text, "div.u32 {d}, {a}, u({})", 1u32 << k);
            }
            Expr::Div(a, k) => {
                let a = self.value(a);
                asm!(self.text, "div.u32 {d}, {a}, u({k})");
            }
            Expr::Mod(a, k) => {
                let a = self.value(a);
                asm!(self.text, "div.u32 r3.x, {a}, u({k})");
                asm!(self.text, "mul.u32 r3.x, r3.x, u({k})");
                asm!(self.text, "sub.u32 {d}, {a}, r3.x");
            }
            Expr::Test(cond) => {
                self.flag(cond);
                asm!(self.text, "mov {d}, r3.z");
            }
            Expr::Load(a) => {
                let a = self.value(a);
                asm!(self.text, "and r3.x, {a}, u({})", TABLE - 1);
                asm!(self.text, "mul.u32 r3.x, r3.x, u(4)");
                asm!(self.text, "ld {d}, t0.x, r3.x");
            }
            Expr::Own(a) => {
                self.own(a);
                asm!(self.text, "ld {d}, t1.x, r3.x");
            }
        }
    }

    /// `d` = 1 or 0.
    fn simple(&mut self, d: &str, test: &Simple) {
        match test {
            Simple::NonZero(a) => {
                let a = self.value(a);
                asm!(self.text, "gt.u32 {d}, {a}, u(0)");
            }
            Simple::Zero(a) => {
                let a = self.value(a);
                asm!(self.text, "lt.u32 {d}, {a}, u(1)");
            }
            Simple::Negative(a) => {
                let a = self.value(a);
                asm!(self.text, "gt.u32 {d}, {a}, u({})", i32::MAX);
            }
            Simple::Less(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                asm!(self.text, "and r3.x, {a}, u(15)");
                asm!(self.text, "and r3.y, {b}, u(15)");
                asm!(self.text, "lt.u32 {d}, r3.x, r3.y");
            }
            Simple::Equal(a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                asm!(self.text, "sub.u32 {d}, {a}, {b}");
                asm!(self.text, "lt.u32 {d}, {d}, u(1)");
            }
        }
    }

    /// r3.z = 1 or 0.
    fn flag(&mut self, cond: &Cond) {
        match cond {
            Cond::Is(a) => self.simple("r3.z", a),
            Cond::Not(a) => {
                self.simple("r3.z", a);
                asm!(self.text, "lt.u32 r3.z, r3.z, u(1)");
            }
            Cond::Both(a, b) | Cond::Either(a, b) => {
                self.simple("r3.z", a);
                self.simple("r3.w", b);
                let name = if matches!(cond, Cond::Both(..)) { "and" } else { "or" };
                asm!(self.text, "{name} r3.z, r3.z, r3.w");
            }
        }
    }

    /// A register that is not 0 where the condition holds.
    fn cond(&mut self, cond: &Cond) -> String {
        if let Cond::Is(Simple::NonZero(value @ (Value::Var(_) | Value::Counter(_)))) = cond {
            return self.value(value);
        }
        self.flag(cond);
        "r3.z".into()
    }
}
