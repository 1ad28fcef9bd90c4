//! Reading tokens of one statement: values, labels and `( )` expressions over constants. Operators
//! rank as in harptool (shifts lowest, then + − | ^, then * / % &) but group from the left.

use super::arch::Arch;
use super::float::Format;
use super::lexer::{Tok, Token};
use crate::{AsmError, SourceFile};
use std::collections::HashMap;
use std::ops::Range;

/// An operand that becomes a number: known now, or the address of a label later.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(i128),
    Label(String),
}

pub(super) type Defs = HashMap<String, i128>;

/// Parentheses deeper than this are refused rather than overflowing the stack.
const MAX_DEPTH: u32 = 64;

/// The tokens of one statement, without its end.
pub(super) struct Cursor<'a> {
    pub file: &'a SourceFile,
    pub tokens: &'a [Token],
    pub pos: usize,
    /// Where the statement ends, for "something is missing" errors.
    pub end: Range<usize>,
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

    /// Place of the current token, or the statement's end.
    pub fn span(&self) -> Range<usize> {
        self.tokens.get(self.pos).map_or(self.end.clone(), |t| t.span.clone())
    }

    /// From token `start` to the last one taken.
    pub fn since(&self, start: usize) -> Range<usize> {
        match self.tokens.get(start..self.pos) {
            Some([first, .., last]) => first.span.start..last.span.end,
            Some([one]) => one.span.clone(),
            _ => self.span(),
        }
    }

    pub fn error(&self, message: impl Into<String>, label: impl Into<String>) -> AsmError {
        AsmError::new(self.file, self.span(), message, label)
    }

    /// What stands at the current position, for messages.
    pub fn found(&self) -> String {
        match self.tokens.get(self.pos) {
            Some(token) => format!("`{}`", &self.file.text[token.span.clone()]),
            None => "the end of the statement".into(),
        }
    }

    /// A signed number, a constant, a label or an expression in parentheses.
    pub fn value(&mut self, arch: &Arch, defs: &Defs) -> Result<Value, AsmError> {
        match self.peek() {
            Some(Tok::Name(name)) => {
                self.pos += 1;
                Ok(match defs.get(name) {
                    Some(&number) => Value::Number(number),
                    None => Value::Label(name.clone()),
                })
            }
            Some(Tok::Punct('(')) => self.expression(defs, 0).map(Value::Number),
            _ => self.number(arch).map(Value::Number),
        }
    }

    /// A number that is known now.
    pub fn constant(&mut self, arch: &Arch, defs: &Defs) -> Result<i128, AsmError> {
        let at = self.span();
        match self.value(arch, defs)? {
            Value::Number(number) => Ok(number),
            Value::Label(name) => {
                Err(AsmError::new(self.file, at, format!("`{name}` is not a constant"), "must be known here")
                    .hint(format!("define it before this line: .def {name} 1")))
            }
        }
    }

    /// `[+-] number`; a float becomes its bit pattern.
    pub fn number(&mut self, arch: &Arch) -> Result<i128, AsmError> {
        let negative = self.is('-');
        if negative || self.is('+') {
            self.pos += 1;
        }
        let number = match self.peek() {
            Some(&Tok::Int(value)) => {
                if negative {
                    -value
                } else {
                    value
                }
            }
            Some(&Tok::Float(value)) => {
                Format::of(arch).from_f64(if negative { -value } else { value }).into()
            }
            _ => return Err(self.error(format!("expected a number, found {}", self.found()), "here")),
        };
        self.pos += 1;
        Ok(number)
    }

    /// `( … )` with the cursor at the opening parenthesis.
    fn expression(&mut self, defs: &Defs, depth: u32) -> Result<i128, AsmError> {
        if depth > MAX_DEPTH {
            return Err(self.error("expression is nested too deeply", "here"));
        }
        let open = self.span();
        self.pos += 1;
        let value = self.level(defs, depth, 0)?;
        if !self.take(')') {
            let error = AsmError::new(self.file, open, "parenthesis is never closed", "opened here");
            return Err(error.hint(format!("expected an operator or `)`, found {}", self.found())));
        }
        Ok(value)
    }

    fn level(&mut self, defs: &Defs, depth: u32, level: usize) -> Result<i128, AsmError> {
        const LEVELS: [&[Tok]; 3] = [
            &[Tok::ShiftLeft, Tok::ShiftRight],
            &[Tok::Punct('+'), Tok::Punct('-'), Tok::Punct('|'), Tok::Punct('^')],
            &[Tok::Punct('*'), Tok::Punct('/'), Tok::Punct('%'), Tok::Punct('&')],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary(defs, depth) };
        let mut left = self.level(defs, depth, level + 1)?;
        while let Some(operator) = self.peek().filter(|t| operators.contains(t)) {
            let at = self.span();
            self.pos += 1;
            let right = self.level(defs, depth, level + 1)?;
            left = apply(operator, left, right).ok_or_else(|| {
                AsmError::new(self.file, at, format!("{left} and {right}: no result"), "here")
                    .hint("division by zero, a shift by less than 0 or more than 63, or more than 64 bits")
            })?;
        }
        Ok(left)
    }

    fn unary(&mut self, defs: &Defs, depth: u32) -> Result<i128, AsmError> {
        let mut signs = Vec::new();
        while let Some(&Tok::Punct(c @ ('-' | '+' | '`'))) = self.peek() {
            signs.push((c, self.span()));
            self.pos += 1;
        }
        let mut value = match self.peek() {
            Some(&Tok::Int(value)) => {
                self.pos += 1;
                value
            }
            Some(Tok::Punct('(')) => self.expression(defs, depth + 1)?,
            Some(Tok::Name(name)) => {
                let Some(&value) = defs.get(name) else {
                    let error =
                        self.error(format!("`{name}` is not a constant"), "not defined by .def above");
                    return Err(error.hint("labels have no address yet; only .def names can be used in ( )"));
                };
                self.pos += 1;
                value
            }
            Some(Tok::Float(_)) => {
                return Err(self.error("floating-point number in an expression", "only integers in ( )"));
            }
            _ => return Err(self.error(format!("expected a number, found {}", self.found()), "here")),
        };
        for (sign, at) in signs.into_iter().rev() {
            value = match sign {
                '-' => -value,
                '+' => value,
                _ if value > 0 => i128::from(127 - value.leading_zeros()),
                _ => {
                    let message = format!("logarithm of {value}");
                    return Err(AsmError::new(self.file, at, message, "needs a positive number"));
                }
            };
        }
        Ok(value)
    }
}

/// One operation, if its result is a number of at most 65 bits with sign.
fn apply(operator: &Tok, left: i128, right: i128) -> Option<i128> {
    let shift = |f: fn(i128, u32) -> i128| (0..=63).contains(&right).then(|| f(left, right as u32));
    let value = match operator {
        Tok::ShiftLeft => shift(|x, n| x << n)?,
        Tok::ShiftRight => shift(|x, n| x >> n)?,
        Tok::Punct('+') => left + right,
        Tok::Punct('-') => left - right,
        Tok::Punct('|') => left | right,
        Tok::Punct('^') => left ^ right,
        Tok::Punct('*') => left.checked_mul(right)?,
        Tok::Punct('/') => left.checked_div(right)?,
        Tok::Punct('%') => left.checked_rem(right)?,
        Tok::Punct('&') => left & right,
        _ => return None,
    };
    (value.unsigned_abs() < 1 << 64).then_some(value)
}
