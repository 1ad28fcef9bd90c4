//! A cursor over one line of source: words, numbers, punctuation, and errors that point into the file.

use crate::gcn3::generation::Generation;
use crate::{AsmError, SourceFile};
use std::ops::Range;

pub(super) type Parse<T> = Result<T, AsmError>;

/// A position in a line; offsets are those of the whole file.
pub(super) struct Cursor<'a> {
    file: &'a SourceFile,
    /// What is assembled for.
    pub generation: &'static Generation,
    pub pos: usize,
    end: usize,
}

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Int(i128),
    Float(f64),
}

impl<'a> Cursor<'a> {
    pub fn new(file: &'a SourceFile, generation: &'static Generation, line: Range<usize>) -> Self {
        Cursor { file, generation, pos: line.start, end: line.end }
    }

    pub fn error(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> AsmError {
        AsmError::new(self.file, span, message, label)
    }

    pub fn rest(&self) -> &'a str {
        &self.file.text[self.pos..self.end]
    }

    pub fn skip_space(&mut self) {
        let rest = self.rest();
        self.pos += rest.len() - rest.trim_start().len();
    }

    pub fn at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    pub fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.rest().chars().next()
    }

    /// Takes `punctuation` if it comes next.
    pub fn eat(&mut self, punctuation: char) -> bool {
        let found = self.peek() == Some(punctuation);
        if found {
            self.pos += punctuation.len_utf8();
        }
        found
    }

    pub fn expect(&mut self, punctuation: char) -> Parse<()> {
        if self.eat(punctuation) {
            return Ok(());
        }
        let here = self.here();
        Err(self.error(here, format!("expected `{punctuation}`"), "here"))
    }

    /// The next token, or the end of the line, for error messages.
    pub fn here(&mut self) -> Range<usize> {
        self.skip_space();
        let word = word_length(self.rest());
        let length = if word > 0 { word } else { self.rest().chars().next().map_or(0, char::len_utf8) };
        self.pos..self.pos + length
    }

    /// The next word without taking it.
    pub fn peek_word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        &rest[..word_length(rest)]
    }

    /// Takes a word: letters, digits, `_`, `.`, `$`, `@`.
    pub fn word(&mut self) -> Option<(&'a str, Range<usize>)> {
        let word = self.peek_word();
        let span = self.pos..self.pos + word.len();
        self.pos = span.end;
        (!word.is_empty()).then_some((word, span))
    }

    /// Whether a number, perhaps negative, comes next.
    pub fn at_number(&mut self) -> bool {
        self.skip_space();
        let rest = self.rest();
        rest.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
            && rest.len() - rest.trim_start_matches(['-', '+']).len() <= 1
    }

    pub fn number(&mut self) -> Parse<(Number, Range<usize>)> {
        self.skip_space();
        let start = self.pos;
        let negative = self.rest().starts_with('-');
        if negative || self.rest().starts_with('+') {
            self.pos += 1;
        }
        let body = self.pos;
        let length = number_length(self.rest());
        self.pos += length;
        let (text, span) = (&self.file.text[body..self.pos], start..self.pos);
        let sign = if negative { -1 } else { 1 };
        let lower = text.to_ascii_lowercase();
        let parsed = if let Some(hex) = lower.strip_prefix("0x") {
            i128::from_str_radix(hex, 16).ok().map(|v| Number::Int(sign * v))
        } else if let Some(binary) = lower.strip_prefix("0b") {
            i128::from_str_radix(binary, 2).ok().map(|v| Number::Int(sign * v))
        } else if lower.contains(['.', 'e']) {
            lower.parse::<f64>().ok().map(|v| Number::Float(if negative { -v } else { v }))
        } else {
            lower.parse::<i128>().ok().map(|v| Number::Int(sign * v))
        };
        match parsed {
            Some(number) => Ok((number, span)),
            None => Err(self.error(span, "this is not a number", "here")),
        }
    }

    pub fn int(&mut self) -> Parse<(i128, Range<usize>)> {
        if !self.at_number() {
            let here = self.here();
            return Err(self.error(here, "expected a number", "here"));
        }
        match self.number()? {
            (Number::Int(v), span) => Ok((v, span)),
            (Number::Float(_), span) => Err(self.error(span, "expected an integer", "this is a float")),
        }
    }

    /// An integer from `low` to `high`; `what` names it in the message.
    pub fn int_in(&mut self, what: &str, low: i128, high: i128) -> Parse<i128> {
        let (value, span) = self.int()?;
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        Err(self.error(span, format!("{what} must be {low} to {high}"), "does not fit"))
    }

    pub fn done(&mut self) -> Parse<()> {
        if self.at_end() {
            return Ok(());
        }
        let here = self.here();
        Err(self.error(here, "unexpected text after the instruction", "this is too much"))
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '@')
}

fn word_length(text: &str) -> usize {
    text.find(|c| !is_word(c)).unwrap_or(text.len())
}

/// Digits, letters and dots, and the sign of an exponent.
fn number_length(text: &str) -> usize {
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let bytes = text.as_bytes();
    let mut n = 0;
    while n < bytes.len() {
        let exponent =
            n > 0 && !hex && matches!(bytes[n - 1], b'e' | b'E') && matches!(bytes[n], b'-' | b'+');
        if !(bytes[n].is_ascii_alphanumeric() || bytes[n] == b'.' || exponent) {
            break;
        }
        n += 1;
    }
    n
}
