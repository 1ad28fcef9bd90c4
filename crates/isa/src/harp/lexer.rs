//! Tokens of the assembler: names, registers, numbers, strings, punctuation and statement ends, each
//! with its place in the source.

use crate::diag::MAX_ERRORS;
use crate::{AsmError, SourceFile};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    Name(String),
    /// `%` and what follows it.
    Reg(String),
    /// `@` and what follows it.
    Pred(String),
    Int(i128),
    Float(f64),
    Str(Vec<u8>),
    Punct(char),
    ShiftLeft,
    ShiftRight,
    /// A newline or `;`.
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Range<usize>,
    pub line: u32,
}

/// Splits a source into tokens; always ends with [`Tok::End`].
pub(super) fn tokens(file: &SourceFile, errors: &mut Vec<AsmError>) -> Vec<Token> {
    let mut lexer =
        Lexer { file, text: file.text.as_bytes(), pos: 0, line: 1, depth: 0, out: Vec::new(), errors };
    while lexer.pos < lexer.text.len() && lexer.errors.len() < MAX_ERRORS {
        lexer.step();
    }
    let end = lexer.pos;
    lexer.push(Tok::End, end);
    lexer.out
}

struct Lexer<'a> {
    file: &'a SourceFile,
    text: &'a [u8],
    pos: usize,
    line: u32,
    /// Open parentheses: inside them `%` is an operator.
    depth: u32,
    out: Vec<Token>,
    errors: &'a mut Vec<AsmError>,
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.'
}

/// Whether `name` can be a label.
pub(super) fn is_name(name: &str) -> bool {
    name.bytes().all(in_name) && name.bytes().next().is_some_and(|b| !b.is_ascii_digit()) && {
        // `.5` is a number.
        let b = name.as_bytes();
        !(b[0] == b'.' && b.get(1).is_some_and(u8::is_ascii_digit))
    }
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.pos + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, tok: Tok, start: usize) {
        self.out.push(Token { tok, span: start..self.pos, line: self.line });
    }

    fn error(&mut self, span: Range<usize>, message: String, label: &str, hint: &str) {
        let error = AsmError::new(self.file, span, message, label);
        self.errors.push(if hint.is_empty() { error } else { error.hint(hint) });
    }

    /// Advances over name characters and returns them.
    fn word(&mut self) -> &str {
        let start = self.pos;
        while self.pos < self.text.len() && in_name(self.text[self.pos]) {
            self.pos += 1;
        }
        &self.file.text[start..self.pos]
    }

    fn step(&mut self) {
        let start = self.pos;
        match self.peek(0) {
            b'\n' => {
                self.pos += 1;
                self.push(Tok::End, start);
                self.line += 1;
                self.depth = 0;
            }
            b' ' | b'\t' | b'\r' => self.pos += 1,
            b'/' if self.peek(1) == b'*' => self.block_comment(),
            b'/' if self.peek(1) == b'/' => {
                while self.pos < self.text.len() && self.text[self.pos] != b'\n' {
                    self.pos += 1;
                }
            }
            b';' => {
                self.pos += 1;
                self.push(Tok::End, start);
                self.depth = 0;
            }
            b'%' if self.depth == 0 => {
                self.pos += 1;
                let name = self.word().to_string();
                self.push(Tok::Reg(name), start);
            }
            b'@' => {
                self.pos += 1;
                let name = self.word().to_string();
                self.push(Tok::Pred(name), start);
            }
            b'"' => self.string(),
            b if b.is_ascii_digit() || b == b'.' && self.peek(1).is_ascii_digit() => self.number(),
            b if in_name(b) => {
                let name = self.word().to_string();
                self.push(Tok::Name(name), start);
            }
            b'<' | b'>' if self.peek(1) == self.peek(0) => {
                let tok = if self.peek(0) == b'<' { Tok::ShiftLeft } else { Tok::ShiftRight };
                self.pos += 2;
                self.push(tok, start);
            }
            b @ (b'#' | b',' | b':' | b'?' | b'(' | b')' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|'
            | b'^' | b'`') => {
                match b {
                    b'(' => self.depth += 1,
                    b')' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.pos += 1;
                self.push(Tok::Punct(b as char), start);
            }
            _ => {
                let c = self.file.text[start..].chars().next().unwrap_or(' ');
                self.pos += c.len_utf8();
                self.error(
                    start..self.pos,
                    format!("unexpected character `{}`", c.escape_default()),
                    "not part of the language",
                    "comments are /* … */ or // …",
                );
            }
        }
    }

    fn block_comment(&mut self) {
        let start = self.pos;
        self.pos += 2;
        while self.pos < self.text.len() {
            if self.peek(0) == b'*' && self.peek(1) == b'/' {
                self.pos += 2;
                return;
            }
            self.line += u32::from(self.text[self.pos] == b'\n');
            self.pos += 1;
        }
        self.error(start..start + 2, "comment is never closed".into(), "starts here", "close it with */");
    }

    fn string(&mut self) {
        let start = self.pos;
        self.pos += 1;
        let mut bytes = Vec::new();
        loop {
            match self.peek(0) {
                b'"' => break,
                b'\n' | 0 if self.pos >= self.text.len() || self.peek(0) == b'\n' => {
                    self.error(
                        start..self.pos,
                        "string is never closed".into(),
                        "starts here",
                        "close it with \" on the same line",
                    );
                    self.push(Tok::Str(bytes), start);
                    return;
                }
                b'\\' => {
                    self.pos += 1;
                    match self.peek(0) {
                        b'n' => bytes.push(b'\n'),
                        b't' => bytes.push(b'\t'),
                        b'r' => bytes.push(b'\r'),
                        b'0' => bytes.push(0),
                        b @ (b'"' | b'\\') => bytes.push(b),
                        _ => {
                            let at = self.pos - 1;
                            self.error(
                                at..at + 1,
                                "unknown escape in string".into(),
                                "here",
                                "known escapes: \\n \\t \\r \\0 \\\" \\\\",
                            );
                            continue;
                        }
                    }
                }
                b => bytes.push(b),
            }
            self.pos += 1;
        }
        self.pos += 1;
        self.push(Tok::Str(bytes), start);
    }

    fn number(&mut self) {
        let start = self.pos;
        self.word();
        let exponent = matches!(self.text[self.pos - 1], b'e' | b'E')
            && !self.file.text[start..self.pos].starts_with("0x")
            && matches!(self.peek(0), b'+' | b'-')
            && self.file.text[start..self.pos].contains('.');
        if exponent {
            self.pos += 1;
            self.word();
        }
        let tok = parse_number(&self.file.text[start..self.pos]);
        let tok = tok.unwrap_or_else(|why| {
            self.error(
                start..self.pos,
                format!("`{}` is not a number: {why}", &self.file.text[start..self.pos]),
                "here",
                "numbers are 12, 0x1f, 017 (octal), 1.5 or 2f (floating point), up to 64 bits",
            );
            Tok::Int(0)
        });
        self.push(tok, start);
    }
}

fn parse_number(text: &str) -> Result<Tok, &'static str> {
    let lower = text.to_ascii_lowercase();
    let int = |digits: &str, radix: u32, why: &'static str| {
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(why);
        }
        u64::from_str_radix(digits, radix).map(|v| Tok::Int(v.into())).map_err(|_| "it has more than 64 bits")
    };
    if let Some(digits) = lower.strip_prefix("0x") {
        return int(digits, 16, "bad hexadecimal digit");
    }
    if lower.contains('.') || lower.ends_with('f') {
        let digits = lower.strip_suffix('f').unwrap_or(&lower);
        return digits.parse().map(Tok::Float).map_err(|_| "bad floating-point number");
    }
    match lower.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => int(digits, 8, "a leading 0 means octal"),
        _ => int(&lower, 10, "bad decimal digit"),
    }
}
