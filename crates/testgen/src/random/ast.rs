//! The programs: assignments, predicated assignments, stores to the thread's own slots, if, if/else,
//! while and do-while loops with data-dependent trip counts, and an early return.

use std::fmt::{self, Display, Formatter};

/// Something that can be read at no cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Var(u8),
    /// Number of the thread in the launch.
    Thread,
    /// Iterations left in an enclosing loop, 0 = the outermost.
    Counter(u8),
    Const(i16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
}

/// Words wrap; division is unsigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    Copy(Value),
    Binary(Op, Value, Value),
    /// By a constant below 32; whether `Shr` keeps the sign is the architecture's business.
    Shl(Value, u8),
    Shr(Value, u8),
    /// By a constant above 0.
    Div(Value, u8),
    Mod(Value, u8),
    /// 1 or 0.
    Test(Cond),
    /// `table[value mod TABLE]`.
    Load(Value),
    /// The thread's own word `value mod SCRATCH`.
    Own(Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Simple {
    NonZero(Value),
    Zero(Value),
    /// Top bit of the word.
    Negative(Value),
    /// Of the low four bits of both.
    Less(Value, Value),
    Equal(Value, Value),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cond {
    Is(Simple),
    Not(Simple),
    Both(Simple, Simple),
    Either(Simple, Simple),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `count & mask` iterations, perhaps none.
    While,
    /// `(count & mask) + 1` iterations.
    DoWhile,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    Assign(u8, Expr),
    /// Predicated where the ISA can; the expression is no [`Expr::Test`].
    Guarded(Cond, u8, Expr),
    /// The thread's own word `slot mod SCRATCH`.
    Store {
        slot: Value,
        value: Value,
    },
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    Loop {
        form: Form,
        count: Value,
        mask: u8,
        /// Leave early, even with iterations left.
        until: Option<Simple>,
        body: Vec<Stmt>,
    },
    /// The thread ends; its variables are not stored.
    Return,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ast {
    pub body: Vec<Stmt>,
}

impl Ast {
    /// Whether a thread can end before the end.
    pub fn returns(&self) -> bool {
        fn any(body: &[Stmt]) -> bool {
            body.iter().any(|s| match s {
                Stmt::Return => true,
                Stmt::If(_, yes, no) => any(yes) || any(no),
                Stmt::Loop { body, .. } => any(body),
                _ => false,
            })
        }
        any(&self.body)
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Value::Var(v) => write!(f, "v{v}"),
            Value::Thread => write!(f, "thread"),
            Value::Counter(d) => write!(f, "left{d}"),
            Value::Const(c) => write!(f, "{c}"),
        }
    }
}

impl Display for Simple {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Simple::NonZero(a) => write!(f, "{a} != 0"),
            Simple::Zero(a) => write!(f, "{a} == 0"),
            Simple::Negative(a) => write!(f, "top({a})"),
            Simple::Less(a, b) => write!(f, "({a} & 15) < ({b} & 15)"),
            Simple::Equal(a, b) => write!(f, "{a} == {b}"),
        }
    }
}

impl Display for Cond {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Cond::Is(a) => write!(f, "{a}"),
            Cond::Not(a) => write!(f, "!({a})"),
            Cond::Both(a, b) => write!(f, "{a} && {b}"),
            Cond::Either(a, b) => write!(f, "{a} || {b}"),
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Expr::Copy(a) => write!(f, "{a}"),
            Expr::Binary(op, a, b) => {
                let op = match op {
                    Op::Add => '+',
                    Op::Sub => '-',
                    Op::Mul => '*',
                    Op::And => '&',
                    Op::Or => '|',
                    Op::Xor => '^',
                };
                write!(f, "{a} {op} {b}")
            }
            Expr::Shl(a, k) => write!(f, "{a} << {k}"),
            Expr::Shr(a, k) => write!(f, "{a} >> {k}"),
            Expr::Div(a, k) => write!(f, "{a} / {k}"),
            Expr::Mod(a, k) => write!(f, "{a} % {k}"),
            Expr::Test(c) => write!(f, "({c}) ? 1 : 0"),
            Expr::Load(a) => write!(f, "table[{a}]"),
            Expr::Own(a) => write!(f, "own[{a}]"),
        }
    }
}

fn block(f: &mut Formatter, body: &[Stmt], indent: usize) -> fmt::Result {
    body.iter().try_for_each(|s| statement(f, s, indent))
}

fn statement(f: &mut Formatter, stmt: &Stmt, indent: usize) -> fmt::Result {
    let pad = "    ".repeat(indent);
    match stmt {
        Stmt::Assign(v, e) => writeln!(f, "{pad}v{v} = {e}"),
        Stmt::Guarded(c, v, e) => writeln!(f, "{pad}[{c}] v{v} = {e}"),
        Stmt::Store { slot, value } => writeln!(f, "{pad}own[{slot}] = {value}"),
        Stmt::If(c, yes, no) => {
            writeln!(f, "{pad}if {c} {{")?;
            block(f, yes, indent + 1)?;
            if !no.is_empty() {
                writeln!(f, "{pad}}} else {{")?;
                block(f, no, indent + 1)?;
            }
            writeln!(f, "{pad}}}")
        }
        Stmt::Loop { form, count, mask, until, body } => {
            let (form, extra) = match form {
                Form::While => ("while", ""),
                Form::DoWhile => ("do-while", " + 1"),
            };
            write!(f, "{pad}{form} ({count} & {mask}){extra}")?;
            if let Some(until) = until {
                write!(f, " until {until}")?;
            }
            writeln!(f, " {{")?;
            block(f, body, indent + 1)?;
            writeln!(f, "{pad}}}")
        }
        Stmt::Return => writeln!(f, "{pad}return"),
    }
}

impl Display for Ast {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        block(f, &self.body, 0)
    }
}
