//! Tokens of one line. Comments start with `#` or `//`; `;` ends a statement, as in other RISC-V assemblers.

use crate::{AsmError, SourceFile};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// Mnemonics, labels, registers, directives; `%hi` with its sign.
    Name(String),
    Number(i64),
    /// Only where a directive takes floats.
    Float(f32),
    Text(Vec<u8>),
    /// `1f` and `1b`: the next or the last label of that number.
    Local {
        number: u32,
        forward: bool,
    },
    Punct(char),
    /// `<<` and `>>`.
    Shift(char),
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub span: Range<usize>,
}

/// Statements of a line: tokens between `;`.
pub(super) fn statements(
    file: &SourceFile,
    line: &str,
    start: usize,
) -> Result<Vec<Vec<Token>>, Box<AsmError>> {
    let mut all = vec![Vec::new()];
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &line[at..];
        let c = bytes[at];
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if c == b'#' || rest.starts_with("//") {
            break;
        }
        if c == b';' {
            all.push(Vec::new());
            at += 1;
            continue;
        }
        let (tok, length) = token(rest).map_err(|(message, label, length)| {
            let span = start + at..start + at + length;
            Box::new(AsmError::new(file, span, message, label))
        })?;
        if let Some(last) = all.last_mut() {
            last.push(Token { tok, span: start + at..start + at + length });
        }
        at += length;
    }
    Ok(all)
}

type Wrong = (String, &'static str, usize);

fn token(rest: &str) -> Result<(Tok, usize), Wrong> {
    let bytes = rest.as_bytes();
    let run = |f: fn(u8) -> bool, from: usize| from + bytes[from..].iter().take_while(|b| f(**b)).count();
    let in_name = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$');
    match bytes[0] {
        b'"' => text(rest),
        b'0'..=b'9' => number(&rest[..run(in_name, 0)]),
        b'%' => {
            let length = run(in_name, 1);
            Ok((Tok::Name(rest[..length].to_owned()), length))
        }
        b if in_name(b) => {
            let length = run(in_name, 0);
            Ok((Tok::Name(rest[..length].to_owned()), length))
        }
        b'<' | b'>' if bytes.get(1) == Some(&bytes[0]) => Ok((Tok::Shift(bytes[0] as char), 2)),
        b',' | b'(' | b')' | b':' | b'+' | b'-' | b'*' | b'/' | b'&' | b'|' | b'^' | b'~' | b'=' | b'@' => {
            Ok((Tok::Punct(bytes[0] as char), 1))
        }
        _ => {
            let c = rest.chars().next().unwrap_or(' ');
            Err((format!("`{c}` does not belong here"), "unexpected character", c.len_utf8()))
        }
    }
}

fn number(text: &str) -> Result<(Tok, usize), Wrong> {
    let wrong = || (format!("`{text}` is not a number"), "not a number", text.len());
    let lower = text.to_ascii_lowercase();
    let value = if let Some(hex) = lower.strip_prefix("0x") {
        u64::from_str_radix(hex, 16).ok()
    } else if let Some(binary) = lower.strip_prefix("0b").filter(|b| !b.is_empty()) {
        u64::from_str_radix(binary, 2).ok()
    } else if let Some(digits) =
        lower.strip_suffix(['f', 'b']).filter(|d| d.bytes().all(|b| b.is_ascii_digit()))
    {
        let number = digits.parse().map_err(|_| wrong())?;
        return Ok((Tok::Local { number, forward: lower.ends_with('f') }, text.len()));
    } else if lower.contains('.') || lower.contains('e') {
        return Ok((Tok::Float(lower.parse().map_err(|_| wrong())?), text.len()));
    } else {
        lower.parse().ok()
    };
    let value = value.filter(|v| *v <= u64::from(u32::MAX)).ok_or_else(wrong)?;
    Ok((Tok::Number(value as i64), text.len()))
}

fn text(rest: &str) -> Result<(Tok, usize), Wrong> {
    let mut out = Vec::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((Tok::Text(out), at + 1)),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push(b'\n'),
                Some((_, 't')) => out.push(b'\t'),
                Some((_, '0')) => out.push(0),
                Some((_, c @ ('"' | '\\'))) => out.push(c as u8),
                _ => {
                    return Err((
                        "an escape that does not exist".into(),
                        "use \\n \\t \\0 \\\" \\\\",
                        at + 2,
                    ));
                }
            },
            c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Err(("the string does not end".into(), "no closing quote on this line", rest.trim_end().len()))
}
