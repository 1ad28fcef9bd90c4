//! Vortex assembly of a random program: with split, join and pred for the mechanisms of Vortex, or with plain branches for
//! a SIMT stack. Some integer work goes through the float units, exactly, so that every unit is used.

use super::super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
use super::super::emit::{Text, asm};
use super::super::interpret::{Word, table};
use super::super::{MAX_LOOPS, SCRATCH, SLOT, TABLE, prelude};

/// Registers of variables, iterations left, masks to bring back behind a loop, and what `join` needs. a4 is the thread,
/// a5 its own words, a6 the table; t0 to t3, ft0 and ft1 are at hand.
const VARS: [&str; super::super::VARS] = ["a0", "a1", "a2", "a3"];
const LEFT: [&str; MAX_LOOPS] = ["s0", "s1", "s2", "s3"];
const SAVED: [&str; MAX_LOOPS] = ["s4", "s5", "s6", "s7"];
const TOKENS: [&str; 8] = ["s8", "s9", "s10", "s11", "t4", "t5", "t6", "a7"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `vx_split`, `vx_join` and `vx_pred` around branches; they do nothing under a SIMT stack.
    pub split: bool,
    /// A kernel for a lane-pc machine: groups of work-items start at once, plain branches, lanes end one by one.
    pub kernel: bool,
    /// Waves meet before they store their results.
    pub barrier: bool,
    /// Wave 0 starts the others a second time, when they have ended.
    pub again: bool,
    pub threads: u32,
}

pub fn source(ast: &Ast, shape: &Shape) -> String {
    let mut e = Emitter { text: Text::default(), split: shape.split, kernel: shape.kernel, loops: 0, ifs: 0 };
    let t = &mut e.text;
    if shape.kernel {
        return kernel(e, ast, shape);
    }
    t.place("_start");
    asm!(t, "csrr t0, vx_num_waves");
    asm!(t, "la t1, wave");
    asm!(t, "vx_wspawn t0, t1");
    t.place("wave");
    asm!(t, "csrr t0, vx_num_threads");
    asm!(t, "li t1, 32");
    asm!(t, "sub t1, t1, t0");
    asm!(t, "li t2, -1");
    asm!(t, "srl t2, t2, t1");
    asm!(t, "vx_tmc t2");
    asm!(t, "csrr a4, mhartid");
    asm!(t, "li t0, {}", 4 * SLOT);
    asm!(t, "mul a5, a4, t0");
    asm!(t, "la t0, out");
    asm!(t, "add a5, a5, t0");
    asm!(t, "la a6, table");
    e.block(&prelude());
    e.block(&ast.body);
    let t = &mut e.text;
    if shape.barrier {
        asm!(t, "li t0, 3");
        asm!(t, "csrr t1, vx_num_waves");
        asm!(t, "vx_bar t0, t1");
    }
    for (i, var) in VARS.iter().enumerate() {
        asm!(t, "sw {var}, {}(a5)", 4 * (SCRATCH + i));
    }
    if shape.again {
        asm!(t, "csrr t0, vx_wave_id");
        asm!(t, "bnez t0, done");
        asm!(t, "csrr t0, vx_num_waves");
        asm!(t, "la t1, done");
        asm!(t, "vx_wspawn t0, t1");
    }
    t.place("done");
    asm!(t, "vx_tmc zero");
    e.data(shape.threads)
}

/// The program as a kernel; work-item and group are those of its CSRs.
fn kernel(mut e: Emitter, ast: &Ast, shape: &Shape) -> String {
    let t = &mut e.text;
    asm!(t, "csrr t0, 0xcd4");
    asm!(t, "csrr t1, 0xcdc");
    asm!(t, "mul t0, t0, t1");
    asm!(t, "csrr a4, 0xcd0");
    asm!(t, "add a4, a4, t0");
    asm!(t, "li t0, {}", 4 * SLOT);
    asm!(t, "mul a5, a4, t0");
    asm!(t, "la t0, out");
    asm!(t, "add a5, a5, t0");
    asm!(t, "la a6, table");
    e.block(&prelude());
    e.block(&ast.body);
    let t = &mut e.text;
    if shape.barrier {
        asm!(t, "vx_bar zero, zero");
    }
    t.place("done");
    for (i, var) in VARS.iter().enumerate() {
        asm!(t, "sw {var}, {}(a5)", 4 * (SCRATCH + i));
    }
    asm!(t, "ret");
    e.data(shape.threads)
}

struct Emitter {
    text: Text,
    split: bool,
    kernel: bool,
    loops: usize,
    ifs: usize,
}

impl Emitter {
    /// The input, and what threads write.
    fn data(mut self, threads: u32) -> String {
        let t = &mut self.text;
        t.out.push_str("    .data\n");
        t.place("table");
        for word in table(Word { bytes: 4, arithmetic: false }) {
            asm!(t, ".word {word:#x}");
        }
        t.place("out");
        asm!(t, ".zero {}", 4 * SLOT as u32 * threads);
        self.text.out
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    /// A register with the value; constants go to `at`.
    fn value(&mut self, value: &Value, at: &'static str) -> &'static str {
        match *value {
            Value::Var(v) => VARS[usize::from(v)],
            Value::Thread => "a4",
            Value::Counter(d) => LEFT[usize::from(d)],
            Value::Const(c) => {
                asm!(self.text, "li {at}, {c}");
                at
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(var, expr) => self.expr(VARS[usize::from(*var)], expr),
            Stmt::Guarded(cond, var, expr) => {
                self.branch(cond, &[Stmt::Assign(*var, expr.clone())], &[]);
            }
            Stmt::Store { slot, value } => {
                self.own(slot);
                let value = self.value(value, "t1");
                asm!(self.text, "sw {value}, 0(t0)");
            }
            Stmt::If(cond, yes, no) => self.branch(cond, yes, no),
            Stmt::Loop { form, count, mask, until, body } => {
                self.a_loop(*form, count, *mask, until.as_ref(), body);
            }
            Stmt::Return if self.kernel => asm!(self.text, "ret"),
            // Programs for Vortex have no early return: the mechanisms cannot end single lanes.
            Stmt::Return => {}
        }
    }

    fn branch(&mut self, cond: &Cond, yes: &[Stmt], no: &[Stmt]) {
        let (other, end) = (self.text.fresh("else"), self.text.fresh("end"));
        let token = TOKENS[self.ifs];
        self.cond(cond);
        if self.split {
            if self.text.coin() {
                asm!(self.text, "vx_split {token}, t0");
            } else {
                // The lanes whose register is even come first.
                asm!(self.text, "vx_split_n {token}, t0");
            }
        }
        asm!(self.text, "beqz t0, {other}");
        self.ifs += 1;
        self.block(yes);
        if !no.is_empty() {
            asm!(self.text, "j {end}");
        }
        self.text.place(&other);
        self.block(no);
        self.ifs -= 1;
        self.text.place(&end);
        if self.split {
            asm!(self.text, "vx_join {token}");
        }
    }

    fn a_loop(&mut self, form: Form, count: &Value, mask: u8, until: Option<&Simple>, body: &[Stmt]) {
        let (left, saved) = (LEFT[self.loops], SAVED[self.loops]);
        let (head, end) = (self.text.fresh("head"), self.text.fresh("end"));
        let count = self.value(count, "t0");
        asm!(self.text, "andi {left}, {count}, {mask}");
        if form == Form::DoWhile {
            asm!(self.text, "addi {left}, {left}, 1");
        }
        if self.split {
            asm!(self.text, "csrr {saved}, vx_active_threads");
        }
        self.text.place(&head);
        self.loops += 1;
        if form == Form::While {
            self.stay(left, saved, &end, until);
            asm!(self.text, "addi {left}, {left}, -1");
            self.block(body);
        } else {
            self.block(body);
            asm!(self.text, "addi {left}, {left}, -1");
            self.stay(left, saved, &end, until);
        }
        self.loops -= 1;
        asm!(self.text, "j {head}");
        self.text.place(&end);
    }

    /// Lanes that have iterations left and are not told to leave go on, the others to `end`.
    fn stay(&mut self, left: &str, saved: &str, end: &str, until: Option<&Simple>) {
        match until {
            None => asm!(self.text, "snez t0, {left}"),
            Some(until) => {
                self.simple("t3", until);
                asm!(self.text, "xori t3, t3, 1");
                asm!(self.text, "snez t0, {left}");
                asm!(self.text, "and t0, t0, t3");
            }
        }
        if self.split {
            asm!(self.text, "vx_pred t0, {saved}");
        }
        asm!(self.text, "beqz t0, {end}");
    }

    /// t0 = address of the thread's own word `slot`.
    fn own(&mut self, slot: &Value) {
        let slot = self.value(slot, "t0");
        asm!(self.text, "andi t0, {slot}, {}", SCRATCH - 1);
        asm!(self.text, "slli t0, t0, 2");
        asm!(self.text, "add t0, t0, a5");
    }

    fn expr(&mut self, d: &str, expr: &Expr) {
        match expr {
            Expr::Copy(a) => {
                let a = self.value(a, "t0");
                if self.text.coin() {
                    asm!(self.text, "fmv.w.x ft0, {a}");
                    asm!(self.text, "fmv.x.w {d}, ft0");
                } else {
                    asm!(self.text, "mv {d}, {a}");
                }
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(a, "t0"), self.value(b, "t1"));
                let name = match op {
                    Op::Add => "add",
                    Op::Sub => "sub",
                    Op::Mul => "mul",
                    Op::And => "and",
                    Op::Or => "or",
                    Op::Xor => "xor",
                };
                asm!(self.text, "{name} {d}, {a}, {b}");
            }
            Expr::Shl(a, k) | Expr::Shr(a, k) => {
                let a = self.value(a, "t0");
                let name = if matches!(expr, Expr::Shl(..)) { "slli" } else { "srli" };
                asm!(self.text, "{name} {d}, {a}, {k}");
            }
            Expr::Div(a, k) | Expr::Mod(a, k) => {
                let a = self.value(a, "t0");
                let name = if matches!(expr, Expr::Div(..)) { "divu" } else { "remu" };
                asm!(self.text, "li t1, {k}");
                asm!(self.text, "{name} {d}, {a}, t1");
            }
            Expr::Test(cond) => {
                self.cond(cond);
                self.through_floats();
                asm!(self.text, "mv {d}, t0");
            }
            Expr::Load(a) => {
                let a = self.value(a, "t0");
                asm!(self.text, "andi t0, {a}, {}", TABLE - 1);
                asm!(self.text, "slli t0, t0, 2");
                asm!(self.text, "add t0, t0, a6");
                asm!(self.text, "lw {d}, 0(t0)");
            }
            Expr::Own(a) => {
                self.own(a);
                asm!(self.text, "lw {d}, 0(t0)");
            }
        }
    }

    /// t0, which is 0 or 1, on a way through the float units that leaves it as it is.
    fn through_floats(&mut self) {
        if self.text.coin() {
            return;
        }
        asm!(self.text, "fcvt.s.wu ft0, t0");
        match self.text.coin() {
            true => asm!(self.text, "fsqrt.s ft0, ft0"),
            false => {
                asm!(self.text, "li t1, 3");
                asm!(self.text, "fcvt.s.w ft1, t1");
                asm!(self.text, "fmul.s ft0, ft0, ft1");
                asm!(self.text, "fdiv.s ft0, ft0, ft1");
            }
        }
        asm!(self.text, "fcvt.wu.s t0, ft0, rtz");
    }

    /// `d` = 1 or 0.
    fn simple(&mut self, d: &str, test: &Simple) {
        match test {
            Simple::NonZero(a) => {
                let a = self.value(a, "t1");
                asm!(self.text, "snez {d}, {a}");
            }
            Simple::Zero(a) => {
                let a = self.value(a, "t1");
                asm!(self.text, "seqz {d}, {a}");
            }
            Simple::Negative(a) => {
                let a = self.value(a, "t1");
                asm!(self.text, "srli {d}, {a}, 31");
            }
            Simple::Less(a, b) => {
                let (a, b) = (self.value(a, "t1"), self.value(b, "t2"));
                asm!(self.text, "andi t1, {a}, 15");
                asm!(self.text, "andi t2, {b}, 15");
                if self.text.coin() {
                    asm!(self.text, "fcvt.s.w ft0, t1");
                    asm!(self.text, "fcvt.s.w ft1, t2");
                    asm!(self.text, "flt.s {d}, ft0, ft1");
                } else {
                    asm!(self.text, "sltu {d}, t1, t2");
                }
            }
            Simple::Equal(a, b) => {
                let (a, b) = (self.value(a, "t1"), self.value(b, "t2"));
                asm!(self.text, "sub {d}, {a}, {b}");
                asm!(self.text, "seqz {d}, {d}");
            }
        }
    }

    /// t0 = 1 or 0.
    fn cond(&mut self, cond: &Cond) {
        match cond {
            Cond::Is(a) => self.simple("t0", a),
            Cond::Not(a) => {
                self.simple("t0", a);
                asm!(self.text, "xori t0, t0, 1");
            }
            Cond::Both(a, b) | Cond::Either(a, b) => {
                self.simple("t0", a);
                self.simple("t3", b);
                let name = if matches!(cond, Cond::Both(..)) { "and" } else { "or" };
                asm!(self.text, "{name} t0, t0, t3");
            }
        }
    }
}
