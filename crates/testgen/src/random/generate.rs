//! Programs from a list of numbers. Number 0 always stands for the simplest choice and a list that has
//! run out gives zeros, so a test that shortens the list or lowers its numbers shrinks the program.

use super::ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
use super::{MAX_LOOPS, VARS};

/// Statements of a program, at most.
const MAX_STATEMENTS: u32 = 40;
/// Ifs and loops inside each other, at most.
const MAX_DEPTH: u32 = 4;
/// Times a statement may run, at most.
const MAX_TRIPS: u32 = 64;

/// A stream of choices.
pub struct Choices<'a> {
    numbers: &'a [u16],
}

impl<'a> Choices<'a> {
    pub fn new(numbers: &'a [u16]) -> Self {
        Choices { numbers }
    }

    pub(super) fn below(&mut self, n: u32) -> u32 {
        let Some((&first, rest)) = self.numbers.split_first() else { return 0 };
        self.numbers = rest;
        u32::from(first) % n
    }

    pub(super) fn is_over(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// The program a list of choices stands for. `returns`: threads may end early.
pub fn generate(numbers: &[u16], returns: bool) -> Ast {
    let mut g =
        Generator { choices: Choices::new(numbers), returns, statements: 0, depth: 0, loops: 0, trips: 1 };
    Ast { body: g.block() }
}

/// Makes statements; other statement languages take its expressions.
pub(super) struct Generator<'a> {
    pub choices: Choices<'a>,
    returns: bool,
    statements: u32,
    depth: u32,
    /// Loops around the statement.
    pub loops: u8,
    /// Times the current block may run.
    pub trips: u32,
}

impl<'a> Generator<'a> {
    /// For expressions only.
    pub fn expressions(numbers: &'a [u16]) -> Self {
        let choices = Choices::new(numbers);
        Generator { choices, returns: false, statements: 0, depth: 0, loops: 0, trips: 1 }
    }

    fn block(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        while self.statements < MAX_STATEMENTS && !self.choices.is_over() {
            let kind = self.choices.below(24);
            // Deeper blocks are shorter.
            if kind <= self.depth {
                break;
            }
            self.statements += 1;
            body.push(self.statement(kind));
        }
        body
    }

    fn statement(&mut self, kind: u32) -> Stmt {
        let nested = self.depth < MAX_DEPTH;
        match kind {
            9 | 10 => {
                let (cond, var) = (self.cond(), self.var());
                Stmt::Guarded(cond, var, self.plain())
            }
            11..=13 => Stmt::Store { slot: self.value(), value: self.value() },
            14..=17 if nested => {
                let cond = self.cond();
                let yes = self.inner();
                let no = if kind >= 16 { self.inner() } else { Vec::new() };
                Stmt::If(cond, yes, no)
            }
            18..=22 if nested && usize::from(self.loops) < MAX_LOOPS => self.a_loop(),
            23 if self.returns && self.depth > 0 && self.choices.below(2) == 0 => Stmt::Return,
            23 if self.returns => Stmt::If(self.cond(), vec![Stmt::Return], Vec::new()),
            _ => {
                let var = self.var();
                Stmt::Assign(var, self.expr())
            }
        }
    }

    fn inner(&mut self) -> Vec<Stmt> {
        self.depth += 1;
        let body = self.block();
        self.depth -= 1;
        body
    }

    fn a_loop(&mut self) -> Stmt {
        let form = if self.choices.below(2) == 0 { Form::While } else { Form::DoWhile };
        let count = self.value();
        let mask = self.trip_mask();
        let outside = self.trips;
        self.trips *= u32::from(mask) + 1;
        self.loops += 1;
        let until = (self.choices.below(3) == 2).then(|| self.simple());
        let body = self.inner();
        self.loops -= 1;
        self.trips = outside;
        Stmt::Loop { form, count, mask, until, body }
    }

    /// What a loop's trip count is masked with, so that no statement runs too often.
    pub fn trip_mask(&mut self) -> u8 {
        let mut mask = [7, 3, 1, 5, 15][self.choices.below(5) as usize];
        while mask > 1 && self.trips * (u32::from(mask) + 1) > MAX_TRIPS {
            mask >>= 1;
        }
        mask
    }

    pub fn var(&mut self) -> u8 {
        self.choices.below(VARS as u32) as u8
    }

    pub fn value(&mut self) -> Value {
        match self.choices.below(10) {
            0..=4 => Value::Var(self.var()),
            5 | 6 => Value::Thread,
            7 if self.loops > 0 => Value::Counter(self.choices.below(u32::from(self.loops)) as u8),
            8 => Value::Const(self.choices.below(65_536) as u16 as i16),
            _ => Value::Const(self.choices.below(32) as i16 - 8),
        }
    }

    fn simple(&mut self) -> Simple {
        match self.choices.below(6) {
            0 => Simple::NonZero(self.value()),
            1 => Simple::Zero(self.value()),
            2 => Simple::Negative(self.value()),
            3 | 4 => Simple::Less(self.value(), self.value()),
            _ => Simple::Equal(self.value(), self.value()),
        }
    }

    pub fn cond(&mut self) -> Cond {
        match self.choices.below(8) {
            0..=4 => Cond::Is(self.simple()),
            5 => Cond::Not(self.simple()),
            6 => Cond::Both(self.simple(), self.simple()),
            _ => Cond::Either(self.simple(), self.simple()),
        }
    }

    pub fn expr(&mut self) -> Expr {
        match self.choices.below(8) {
            7 => Expr::Test(self.cond()),
            _ => self.plain(),
        }
    }

    pub fn plain(&mut self) -> Expr {
        const OPS: [Op; 6] = [Op::Add, Op::Sub, Op::Mul, Op::And, Op::Or, Op::Xor];
        match self.choices.below(14) {
            0 => Expr::Copy(self.value()),
            1 => Expr::Shl(self.value(), self.choices.below(32) as u8),
            2 => Expr::Shr(self.value(), self.choices.below(32) as u8),
            3 => Expr::Div(self.value(), 1 + self.choices.below(31) as u8),
            4 => Expr::Mod(self.value(), 1 + self.choices.below(31) as u8),
            5 | 6 => Expr::Load(self.value()),
            7 => Expr::Own(self.value()),
            _ => {
                let op = OPS[self.choices.below(6) as usize];
                Expr::Binary(op, self.value(), self.value())
            }
        }
    }
}
