//! HARP assembly in three styles: split/join as the PDOM document uses them, split/join as harptool needs
//! them, and plain branches for a hardware stack. Two predicates and 16 registers are enough for all.

use super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
use super::emit::{Text, asm};
use super::interpret::{Word, table};
use super::{SCRATCH, SLOT, TABLE, prelude};

/// How control flow is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    Pdom,
    Harptool,
    Plain,
}

/// The launch a source is written for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub word: Word,
    pub warps: u32,
    /// Lanes of the machine, and how many of them run the program.
    pub lanes: u32,
    pub active: u32,
    /// All warps meet at a barrier before and after the program.
    pub barrier: bool,
}

// %r0 thread number, %r1…%r4 variables, %r5 the way back, %r6 %r7 at hand,
// %r8… iterations left per loop level, %r12… splits to undo per loop level (harptool).
const VAR: u8 = 1;
const LINK: u8 = 5;
const LEFT: u8 = 8;
const UNDO: u8 = 12;

pub(super) fn source(ast: &Ast, flavour: Flavour, shape: &Shape) -> String {
    let mut h = Harp {
        text: Text::default(),
        flavour,
        shift: shape.word.bytes.trailing_zeros(),
        loops: 0,
        guard: "",
    };
    h.start(shape);
    h.block(&prelude());
    if shape.barrier {
        h.barrier(0, shape);
    }
    h.block(&ast.body);
    if shape.barrier {
        h.barrier(1, shape);
    }
    h.finish(ast, shape);
    h.text.out
}

struct Harp {
    text: Text,
    flavour: Flavour,
    /// log2 of the word's bytes.
    shift: u32,
    loops: u8,
    /// Written before each instruction of a predicated assignment.
    guard: &'static str,
}

impl Harp {
    /// Warp 0 starts the others; each warp copies its first lane to the others and starts them.
    fn start(&mut self, shape: &Shape) {
        let t = &mut self.text;
        let half = 4 * shape.word.bytes;
        t.out.push_str("    .perm x\n    .entry\nstart:\n");
        if shape.warps > 1 {
            asm!(t, "ldi %r6, warp");
            asm!(t, "ldi %r1, #1");
            t.place("spawn");
            asm!(t, "wspawn %r1, %r6, %r1");
            asm!(t, "addi %r1, %r1, #1");
            asm!(t, "subi %r2, %r1, #{}", shape.warps);
            asm!(t, "rtop @p0, %r2");
            asm!(t, "@p0 ? jmpi spawn");
        }
        asm!(t, "ldi %r1, #0");
        t.place("warp");
        if shape.active == shape.lanes {
            asm!(t, "shri %r2, %r0, #{half}");
        } else {
            asm!(t, "ldi %r2, #{}", shape.active);
        }
        asm!(t, "mul %r3, %r1, %r2");
        asm!(t, "ldi %r4, #1");
        t.place("copy");
        asm!(t, "sub %r6, %r4, %r2");
        asm!(t, "iszero @p0, %r6");
        asm!(t, "@p0 ? jmpi go");
        asm!(t, "clone %r4");
        asm!(t, "addi %r4, %r4, #1");
        asm!(t, "jmpi copy");
        t.place("go");
        asm!(t, "jalis %r{LINK}, %r2, body");
        asm!(t, "halt");
        t.place("body");
        asm!(t, "tid %r0");
        asm!(t, "add %r0, %r0, %r3");
    }

    fn barrier(&mut self, id: u32, shape: &Shape) {
        asm!(self.text, "ldi %r6, #{id}");
        asm!(self.text, "ldi %r7, #{}", shape.warps);
        asm!(self.text, "bar %r6, %r7");
    }

    fn finish(&mut self, ast: &Ast, shape: &Shape) {
        let bytes = shape.word.bytes;
        asm!(self.text, "shli %r6, %r0, #{}", self.shift + SLOT.trailing_zeros());
        asm!(self.text, "addi %r6, %r6, #{}", SCRATCH as u32 * bytes);
        for var in 0..super::VARS as u8 {
            asm!(self.text, "st %r{}, %r6, out", VAR + var);
            asm!(self.text, "addi %r6, %r6, #{bytes}");
        }
        if ast.returns() {
            asm!(self.text, "halt");
        } else {
            asm!(self.text, "jmprt %r{LINK}");
        }
        self.text.out.push_str("    .perm rw\ntable:\n");
        for row in table(shape.word).chunks(8) {
            let words: Vec<String> = row.iter().map(|w| format!("{w:#x}")).collect();
            asm!(self.text, ".word {}", words.join(" "));
        }
        let words = u64::from(shape.warps * shape.active) * SLOT as u64;
        self.text.out.push_str("out:\n");
        asm!(self.text, ".space {words}");
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.statement(s));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign(var, expr) => self.expr(VAR + var, expr),
            Stmt::Guarded(cond, var, expr) => {
                self.cond(1, cond);
                self.guard = "@p1 ? ";
                self.expr(VAR + var, expr);
                self.guard = "";
            }
            Stmt::Store { slot, value } => {
                self.own(slot);
                let value = self.register(value, 7);
                asm!(self.text, "st %r{value}, %r6, out");
            }
            Stmt::If(cond, yes, no) => self.an_if(cond, yes, no),
            Stmt::Loop { form, count, mask, until, body } => {
                self.a_loop(*form, count, *mask, until.as_ref(), body)
            }
            Stmt::Return => asm!(self.text, "halt"),
        }
    }

    fn split(&mut self) {
        match self.flavour {
            Flavour::Pdom => asm!(self.text, "split"),
            Flavour::Harptool => asm!(self.text, "@p0 ? split"),
            Flavour::Plain => {}
        }
    }

    fn an_if(&mut self, cond: &Cond, yes: &[Stmt], no: &[Stmt]) {
        let (then, end) = (self.text.fresh("then"), self.text.fresh("end"));
        self.cond(0, cond);
        if yes == [Stmt::Return] && no.is_empty() && self.text.coin() {
            asm!(self.text, "@p0 ? halt");
            return;
        }
        if no.is_empty() && self.text.coin() {
            asm!(self.text, "notp @p0, @p0");
            self.split();
            asm!(self.text, "@p0 ? jmpi {end}");
            self.block(yes);
        } else {
            self.split();
            asm!(self.text, "@p0 ? jmpi {then}");
            self.block(no);
            asm!(self.text, "jmpi {end}");
            self.text.place(&then);
            self.block(yes);
        }
        self.text.place(&end);
        if self.flavour != Flavour::Plain {
            asm!(self.text, "join");
        }
    }

    fn a_loop(&mut self, form: Form, count: &Value, mask: u8, until: Option<&Simple>, body: &[Stmt]) {
        let (left, undo) = (LEFT + self.loops, UNDO + self.loops);
        let (head, inside, exit) = (self.text.fresh("head"), self.text.fresh("in"), self.text.fresh("exit"));
        let count = self.register(count, 6);
        asm!(self.text, "andi %r{left}, %r{count}, #{mask}");
        if form == Form::DoWhile {
            asm!(self.text, "addi %r{left}, %r{left}, #1");
        }
        if self.flavour == Flavour::Harptool {
            asm!(self.text, "ldi %r{undo}, #0");
        }
        self.text.place(&head);
        self.loops += 1;
        if form == Form::While {
            self.stay(left, undo, until);
            if self.flavour == Flavour::Plain && self.text.coin() {
                asm!(self.text, "notp @p0, @p0");
                asm!(self.text, "@p0 ? jmpi {exit}");
            } else {
                asm!(self.text, "@p0 ? jmpi {inside}");
                asm!(self.text, "jmpi {exit}");
                self.text.place(&inside);
            }
            asm!(self.text, "subi %r{left}, %r{left}, #1");
            self.block(body);
            asm!(self.text, "jmpi {head}");
        } else {
            self.block(body);
            asm!(self.text, "subi %r{left}, %r{left}, #1");
            self.stay(left, undo, until);
            asm!(self.text, "@p0 ? jmpi {head}");
        }
        self.loops -= 1;
        self.text.place(&exit);
        if self.flavour == Flavour::Harptool {
            // Each iteration's split is still open. Lanes that left at split k wait there with `undo` = k; the
            // last ones join them one split at a time, counting down, until all are together again.
            asm!(self.text, "join");
            asm!(self.text, "subi %r{undo}, %r{undo}, #1");
            asm!(self.text, "rtop @p0, %r{undo}");
            asm!(self.text, "@p0 ? jmpi {exit}");
        }
    }

    /// @p0 = another iteration; then the loop's split.
    fn stay(&mut self, left: u8, undo: u8, until: Option<&Simple>) {
        if let Some(until) = until {
            self.simple(1, until);
            asm!(self.text, "notp @p1, @p1");
        }
        asm!(self.text, "rtop @p0, %r{left}");
        if until.is_some() {
            asm!(self.text, "andp @p0, @p0, @p1");
        }
        if self.flavour == Flavour::Harptool {
            asm!(self.text, "addi %r{undo}, %r{undo}, #1");
        }
        self.split();
    }

    /// The register that holds a value; constants go to `spare`.
    fn register(&mut self, value: &Value, spare: u8) -> u8 {
        match *value {
            Value::Var(v) => VAR + v,
            Value::Thread => 0,
            Value::Counter(d) => LEFT + d,
            Value::Const(c) => {
                asm!(self.text, "{}ldi %r{spare}, #{c}", self.guard);
                spare
            }
        }
    }

    /// %r6 = offset of the thread's own word `slot`.
    fn own(&mut self, slot: &Value) {
        let (g, shift) = (self.guard, self.shift);
        let slot = self.register(slot, 6);
        asm!(self.text, "{g}andi %r6, %r{slot}, #{}", SCRATCH - 1);
        asm!(self.text, "{g}shli %r6, %r6, #{shift}");
        asm!(self.text, "{g}shli %r7, %r0, #{}", shift + SLOT.trailing_zeros());
        asm!(self.text, "{g}add %r6, %r6, %r7");
    }

    fn expr(&mut self, d: u8, expr: &Expr) {
        let g = self.guard;
        match expr {
            Expr::Copy(Value::Const(c)) => asm!(self.text, "{g}ldi %r{d}, #{c}"),
            Expr::Copy(a) => {
                let a = self.register(a, 6);
                asm!(self.text, "{g}ori %r{d}, %r{a}, #0");
            }
            Expr::Binary(op, a, b) => {
                let name = match op {
                    Op::Add => "add",
                    Op::Sub => "sub",
                    Op::Mul => "mul",
                    Op::And => "and",
                    Op::Or => "or",
                    Op::Xor => "xor",
                };
                let a = self.register(a, 6);
                if let Value::Const(c) = b {
                    asm!(self.text, "{g}{name}i %r{d}, %r{a}, #{c}");
                } else {
                    let b = self.register(b, 7);
                    asm!(self.text, "{g}{name} %r{d}, %r{a}, %r{b}");
                }
            }
            Expr::Shl(a, k) => self.by_constant("shl", d, a, *k),
            Expr::Shr(a, k) => self.by_constant("shr", d, a, *k),
            Expr::Div(a, k) => self.by_constant("div", d, a, *k),
            Expr::Mod(a, k) => self.by_constant("mod", d, a, *k),
            Expr::Test(cond) => {
                self.cond(1, cond);
                asm!(self.text, "ldi %r{d}, #0");
                asm!(self.text, "@p1 ? ldi %r{d}, #1");
            }
            Expr::Load(a) => {
                let a = self.register(a, 6);
                asm!(self.text, "{g}andi %r6, %r{a}, #{}", TABLE - 1);
                asm!(self.text, "{g}shli %r6, %r6, #{}", self.shift);
                asm!(self.text, "{g}ld %r{d}, %r6, table");
            }
            Expr::Own(a) => {
                self.own(a);
                asm!(self.text, "{g}ld %r{d}, %r6, out");
            }
        }
    }

    /// As an immediate or in a register.
    fn by_constant(&mut self, name: &str, d: u8, a: &Value, k: u8) {
        let g = self.guard;
        let a = self.register(a, 6);
        if self.text.coin() {
            asm!(self.text, "{g}{name}i %r{d}, %r{a}, #{k}");
        } else {
            asm!(self.text, "{g}ldi %r7, #{k}");
            asm!(self.text, "{g}{name} %r{d}, %r{a}, %r7");
        }
    }

    fn simple(&mut self, p: u8, test: &Simple) {
        match test {
            Simple::NonZero(a) => {
                let a = self.register(a, 6);
                asm!(self.text, "rtop @p{p}, %r{a}");
            }
            Simple::Zero(a) => {
                let a = self.register(a, 6);
                asm!(self.text, "iszero @p{p}, %r{a}");
            }
            Simple::Negative(a) => {
                let a = self.register(a, 6);
                asm!(self.text, "isneg @p{p}, %r{a}");
            }
            Simple::Less(a, b) => {
                let (a, b) = (self.register(a, 6), self.register(b, 7));
                asm!(self.text, "andi %r6, %r{a}, #15");
                asm!(self.text, "andi %r7, %r{b}, #15");
                asm!(self.text, "sub %r6, %r6, %r7");
                asm!(self.text, "isneg @p{p}, %r6");
            }
            Simple::Equal(a, b) => {
                let (a, b) = (self.register(a, 6), self.register(b, 7));
                asm!(self.text, "xor %r6, %r{a}, %r{b}");
                asm!(self.text, "iszero @p{p}, %r6");
            }
        }
    }

    /// Sets predicate `p`; the other one is overwritten by a condition of two parts.
    fn cond(&mut self, p: u8, cond: &Cond) {
        match cond {
            Cond::Is(a) => self.simple(p, a),
            Cond::Not(a) => {
                self.simple(p, a);
                asm!(self.text, "notp @p{p}, @p{p}");
            }
            Cond::Both(a, b) | Cond::Either(a, b) => {
                let other = 1 - p;
                self.simple(p, a);
                self.simple(other, b);
                let name = if matches!(cond, Cond::Both(..)) { "andp" } else { "orp" };
                asm!(self.text, "{name} @p{p}, @p{p}, @p{other}");
            }
        }
    }
}
