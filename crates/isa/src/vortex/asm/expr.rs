//! Operands: registers, CSRs, and expressions over numbers and symbols that are evaluated once all addresses are known.

use super::lexer::{Tok, Token};
use crate::diag::nearest;
use crate::vortex::exec::{CSRS, csr_number};
use crate::vortex::names::{ROUNDING, register};
use crate::vortex::table::File;
use crate::{AsmError, SourceFile};
use std::ops::Range;

/// Parentheses deeper than this are refused rather than overflowing the stack.
const MAX_DEPTH: u32 = 64;
/// Terms of a sum or factors of a product.
const MAX_TERMS: u32 = 100;

#[derive(Clone, Debug)]
pub(super) enum Expr {
    Number(i64),
    Symbol(String, Range<usize>),
    Negate(Box<Expr>),
    Not(Box<Expr>),
    Binary(char, Box<Expr>, Box<Expr>),
    /// `%hi(x)` and `%lo(x)`: parts that `lui` and a 12-bit immediate put together.
    High(Box<Expr>),
    Low(Box<Expr>),
}

impl Expr {
    /// The value, asking `symbol` for names; a name that is unknown is the error.
    pub fn value(&self, symbol: &dyn Fn(&str) -> Option<i64>) -> Result<i64, (String, Range<usize>)> {
        Ok(match self {
            Expr::Number(n) => *n,
            Expr::Symbol(name, span) => symbol(name).ok_or_else(|| (name.clone(), span.clone()))?,
            Expr::Negate(e) => e.value(symbol)?.wrapping_neg(),
            Expr::Not(e) => !e.value(symbol)?,
            Expr::High(e) => (e.value(symbol)?.wrapping_add(0x800) >> 12) & 0xf_ffff,
            Expr::Low(e) => e.value(symbol)? << 52 >> 52,
            Expr::Binary(op, a, b) => {
                let (a, b) = (a.value(symbol)?, b.value(symbol)?);
                match op {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    '*' => a.wrapping_mul(b),
                    '/' => a.checked_div(b).unwrap_or(0),
                    '&' => a & b,
                    '|' => a | b,
                    '^' => a ^ b,
                    '<' => a.checked_shl(b.clamp(0, 63) as u32).unwrap_or(0),
                    _ => a >> b.clamp(0, 63),
                }
            }
        })
    }
}

/// The tokens of one statement.
pub(super) struct Cursor<'a> {
    pub file: &'a SourceFile,
    pub tokens: &'a [Token],
    pub pos: usize,
    /// How many labels of each number have been seen, for `1f` and `1b`.
    pub local: &'a dyn Fn(u32) -> u32,
}

impl<'a> Cursor<'a> {
    pub fn peek(&self) -> Option<&'a Tok> {
        self.tokens.get(self.pos).map(|t| &t.tok)
    }

    pub fn is(&self, c: char) -> bool {
        self.peek() == Some(&Tok::Punct(c))
    }

    pub fn take(&mut self, c: char) -> bool {
        let found = self.is(c);
        self.pos += usize::from(found);
        found
    }

    pub fn at_end(&self) -> bool {
        self.pos >= self.tokens.len()
    }

    /// Place of the current token, or just after the last one.
    pub fn span(&self) -> Range<usize> {
        match (self.tokens.get(self.pos), self.tokens.last()) {
            (Some(token), _) => token.span.clone(),
            (None, Some(last)) => last.span.end..last.span.end,
            (None, None) => 0..0,
        }
    }

    pub fn error(&self, message: impl Into<String>, label: impl Into<String>) -> AsmError {
        AsmError::new(self.file, self.span(), message, label)
    }

    pub fn found(&self) -> String {
        match self.tokens.get(self.pos) {
            Some(token) => format!("`{}`", &self.file.text[token.span.clone()]),
            None => "the end of the statement".into(),
        }
    }

    pub fn need(&mut self, c: char) -> Result<(), AsmError> {
        if self.take(c) {
            return Ok(());
        }
        Err(self.error(format!("expected `{c}`, not {}", self.found()), format!("`{c}` goes here")))
    }

    pub fn end(&self) -> Result<(), AsmError> {
        if self.at_end() {
            return Ok(());
        }
        Err(self.error(format!("{} does not belong to this statement", self.found()), "too much"))
    }

    /// The name at this place, if it is one.
    pub fn name(&mut self) -> Option<&'a str> {
        match self.peek() {
            Some(Tok::Name(name)) => {
                self.pos += 1;
                Some(name)
            }
            _ => None,
        }
    }

    /// A register of the file; its number there.
    pub fn register(&mut self, file: File) -> Result<u8, AsmError> {
        let (what, example) = match file {
            File::F => ("floating-point register", "f0 to f31, or fa0, ft0, fs0, …"),
            _ => ("general-purpose register", "x0 to x31, or a0, t0, s0, sp, …"),
        };
        let id = match self.peek() {
            Some(Tok::Name(name)) => register(name),
            _ => None,
        };
        match id {
            Some(id) if (id >= 32) == (file == File::F) => {
                self.pos += 1;
                Ok((id % 32) as u8)
            }
            _ => Err(self
                .error(format!("expected a {what}, not {}", self.found()), format!("a {what} goes here"))
                .hint(example)),
        }
    }

    /// Whether a register comes next.
    pub fn at_register(&self) -> bool {
        matches!(self.peek(), Some(Tok::Name(name)) if register(name).is_some())
    }

    /// `, rne` and so on; `none` where there is nothing.
    pub fn rounding(&mut self) -> Result<Option<u8>, AsmError> {
        if !self.take(',') {
            return Ok(None);
        }
        let span = self.span();
        let mode = self.name().and_then(|n| ROUNDING.iter().position(|m| !m.is_empty() && *m == n));
        let wrong =
            || AsmError::new(self.file, span, "there is no such rounding mode", "not a rounding mode");
        mode.map(|m| Some(m as u8)).ok_or_else(|| wrong().hint("rne, rtz, rdn, rup, rmm or dyn"))
    }

    /// A CSR by name or number.
    pub fn csr(&mut self) -> Result<Expr, AsmError> {
        if let Some(Tok::Name(name)) = self.peek() {
            if let Some(number) = csr_number(name) {
                self.pos += 1;
                return Ok(Expr::Number(number.into()));
            }
            if let Some(near) = nearest(name, CSRS.iter().map(|c| c.1)) {
                return Err(self
                    .error(format!("there is no CSR `{name}`"), "unknown CSR")
                    .hint(format!("did you mean `{near}`?")));
            }
        }
        self.expr()
    }

    pub fn expr(&mut self) -> Result<Expr, AsmError> {
        self.sum(0)
    }

    fn sum(&mut self, depth: u32) -> Result<Expr, AsmError> {
        let mut left = self.product(depth)?;
        let mut terms = 0;
        while let Some(Tok::Punct(op @ ('+' | '-' | '|' | '^'))) = self.peek() {
            self.pos += 1;
            self.one_more(&mut terms)?;
            left = Expr::Binary(*op, Box::new(left), Box::new(self.product(depth)?));
        }
        Ok(left)
    }

    fn product(&mut self, depth: u32) -> Result<Expr, AsmError> {
        let mut left = self.factor(depth)?;
        let mut terms = 0;
        loop {
            let op = match self.peek() {
                Some(Tok::Punct(op @ ('*' | '/' | '&'))) | Some(Tok::Shift(op)) => *op,
                _ => return Ok(left),
            };
            self.pos += 1;
            self.one_more(&mut terms)?;
            left = Expr::Binary(op, Box::new(left), Box::new(self.factor(depth)?));
        }
    }

    /// Every term is a level of the tree, which is walked recursively.
    fn one_more(&self, terms: &mut u32) -> Result<(), AsmError> {
        *terms += 1;
        if *terms > MAX_TERMS {
            return Err(self.error(format!("the expression has more than {MAX_TERMS} terms"), "here"));
        }
        Ok(())
    }

    fn factor(&mut self, depth: u32) -> Result<Expr, AsmError> {
        if depth > MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply", "here"));
        }
        let span = self.span();
        let expr = match self.peek() {
            Some(Tok::Number(n)) => Expr::Number(*n),
            Some(Tok::Local { number, forward }) => {
                let seen = (self.local)(*number);
                let which = if *forward { seen + 1 } else { seen };
                Expr::Symbol(local_name(*number, which), span)
            }
            Some(Tok::Name(name)) if name == "%hi" || name == "%lo" => {
                self.pos += 1;
                self.need('(')?;
                let inner = Box::new(self.sum(depth + 1)?);
                self.need(')')?;
                return Ok(if name == "%hi" { Expr::High(inner) } else { Expr::Low(inner) });
            }
            Some(Tok::Name(name)) if !name.starts_with('%') && register(name).is_none() => {
                Expr::Symbol(name.clone(), span)
            }
            Some(Tok::Punct('-')) => {
                self.pos += 1;
                return Ok(Expr::Negate(Box::new(self.factor(depth + 1)?)));
            }
            Some(Tok::Punct('~')) => {
                self.pos += 1;
                return Ok(Expr::Not(Box::new(self.factor(depth + 1)?)));
            }
            Some(Tok::Punct('(')) => {
                self.pos += 1;
                let inner = self.sum(depth + 1)?;
                self.need(')')?;
                return Ok(inner);
            }
            _ => {
                return Err(self
                    .error(format!("expected a number or a label, not {}", self.found()), "not a value")
                    .hint("a number, a label, %hi(label), %lo(label), or a sum of them"));
            }
        };
        self.pos += 1;
        Ok(expr)
    }
}

/// The name the assembler gives the `which`-th label `number:`.
pub(super) fn local_name(number: u32, which: u32) -> String {
    format!("{number}:{which}")
}
