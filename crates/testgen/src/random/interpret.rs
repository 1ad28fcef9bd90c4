//! What one thread computes, by walking the AST: plain Rust, one thread at a time.

use super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
use super::{MAX_LOOPS, SCRATCH, SLOT, TABLE, VARS, prelude};

/// The machine word: what arithmetic wraps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    pub bytes: u32,
    /// Shifts to the right keep the sign.
    pub arithmetic: bool,
}

impl Word {
    fn wrap(self, value: u64) -> u64 {
        if self.bytes == 8 { value } else { value & ((1 << (8 * self.bytes)) - 1) }
    }
}

/// The read-only input: small numbers, large ones, zeros.
pub fn table(word: Word) -> Vec<u64> {
    (0..TABLE as u64)
        .map(|i| {
            let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let value = match i % 4 {
                0 => mixed >> 61,
                1 => mixed,
                2 => mixed >> 40,
                _ => i / 4,
            };
            word.wrap(value)
        })
        .collect()
}

/// The thread's slot after the program.
pub fn interpret(ast: &Ast, word: Word, table: &[u64], thread: u64) -> [u64; SLOT] {
    let mut t = Thread::new(word, table, thread);
    let mut slot = [0; SLOT];
    let done = t.block(&prelude(), 0) && t.block(&ast.body, 0);
    slot[..SCRATCH].copy_from_slice(&t.own);
    if done {
        slot[SCRATCH..].copy_from_slice(&t.vars);
    }
    slot
}

/// One thread: its variables, its own memory, iterations left of the loops it is in.
pub(super) struct Thread<'a> {
    word: Word,
    table: &'a [u64],
    thread: u64,
    pub vars: [u64; VARS],
    pub own: [u64; SCRATCH],
    pub left: [u64; MAX_LOOPS],
}

impl<'a> Thread<'a> {
    /// Before the first statement.
    pub fn new(word: Word, table: &'a [u64], thread: u64) -> Self {
        Thread { word, table, thread, vars: [0; VARS], own: [0; SCRATCH], left: [0; MAX_LOOPS] }
    }

    /// False when the thread has ended.
    pub fn block(&mut self, body: &[Stmt], loops: usize) -> bool {
        body.iter().all(|stmt| self.statement(stmt, loops))
    }

    fn statement(&mut self, stmt: &Stmt, loops: usize) -> bool {
        match stmt {
            Stmt::Assign(var, expr) => self.vars[usize::from(*var)] = self.expr(expr),
            Stmt::Guarded(cond, var, expr) => {
                if self.cond(cond) {
                    self.vars[usize::from(*var)] = self.expr(expr);
                }
            }
            Stmt::Store { slot, value } => {
                self.own[self.value(slot) as usize % SCRATCH] = self.value(value);
            }
            Stmt::If(cond, yes, no) => return self.block(if self.cond(cond) { yes } else { no }, loops),
            Stmt::Loop { form, count, mask, until, body } => {
                self.left[loops] = self.value(count) & u64::from(*mask);
                let mut enters = false;
                if *form == Form::DoWhile {
                    self.left[loops] += 1;
                    enters = true;
                }
                loop {
                    if !enters && (self.left[loops] == 0 || until.as_ref().is_some_and(|u| self.simple(u))) {
                        return true;
                    }
                    enters = false;
                    if *form == Form::While {
                        self.left[loops] -= 1;
                    }
                    if !self.block(body, loops + 1) {
                        return false;
                    }
                    if *form == Form::DoWhile {
                        self.left[loops] -= 1;
                    }
                }
            }
            Stmt::Return => return false,
        }
        true
    }

    pub fn value(&self, value: &Value) -> u64 {
        match *value {
            Value::Var(v) => self.vars[usize::from(v)],
            Value::Thread => self.thread,
            Value::Counter(d) => self.left[usize::from(d)],
            Value::Const(c) => self.word.wrap(i64::from(c) as u64),
        }
    }

    pub fn expr(&self, expr: &Expr) -> u64 {
        let word = self.word;
        match expr {
            Expr::Copy(a) => self.value(a),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                word.wrap(match op {
                    Op::Add => a.wrapping_add(b),
                    Op::Sub => a.wrapping_sub(b),
                    Op::Mul => a.wrapping_mul(b),
                    Op::And => a & b,
                    Op::Or => a | b,
                    Op::Xor => a ^ b,
                })
            }
            Expr::Shl(a, k) => word.wrap(self.value(a) << k),
            Expr::Shr(a, k) if word.arithmetic => ((self.value(a) as i64) >> k) as u64,
            Expr::Shr(a, k) => self.value(a) >> k,
            Expr::Div(a, k) => self.value(a) / u64::from(*k),
            Expr::Mod(a, k) => self.value(a) % u64::from(*k),
            Expr::Test(cond) => u64::from(self.cond(cond)),
            Expr::Load(a) => self.table[self.value(a) as usize % TABLE],
            Expr::Own(a) => self.own[self.value(a) as usize % SCRATCH],
        }
    }

    fn simple(&self, test: &Simple) -> bool {
        match test {
            Simple::NonZero(a) => self.value(a) != 0,
            Simple::Zero(a) => self.value(a) == 0,
            Simple::Negative(a) => self.value(a) >> (8 * self.word.bytes - 1) & 1 == 1,
            Simple::Less(a, b) => self.value(a) % 16 < self.value(b) % 16,
            Simple::Equal(a, b) => self.value(a) == self.value(b),
        }
    }

    pub fn cond(&self, cond: &Cond) -> bool {
        match cond {
            Cond::Is(a) => self.simple(a),
            Cond::Not(a) => !self.simple(a),
            Cond::Both(a, b) => self.simple(a) && self.simple(b),
            Cond::Either(a, b) => self.simple(a) || self.simple(b),
        }
    }
}
