//! Tokens of one source line, with byte spans into the file. Signs and dots belong to words, so that
//! `-1.5e-3`, `r0.xyzw` and `add.f32` are one token each; `;` starts a comment.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Comma,
    Colon,
    Open,
    Close,
    /// A character that has no meaning in this language.
    Stray,
}

#[derive(Clone, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Range<usize>,
}

/// Tokens of `line`, which starts at byte `base` of the file.
pub fn tokens(line: &str, base: usize) -> Vec<Token<'_>> {
    let mut out: Vec<Token> = Vec::new();
    let code = &line[..line.find(';').unwrap_or(line.len())];
    let mut word = None;
    for (i, c) in code.char_indices().chain([(code.len(), ' ')]) {
        if c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '+' | '-') {
            word.get_or_insert(i);
            continue;
        }
        if let Some(start) = word.take() {
            out.push(Token { kind: Kind::Word, text: &code[start..i], span: base + start..base + i });
        }
        let kind = match c {
            ',' => Kind::Comma,
            ':' => Kind::Colon,
            '(' => Kind::Open,
            ')' => Kind::Close,
            c if c.is_whitespace() => continue,
            _ => Kind::Stray,
        };
        let end = i + c.len_utf8();
        out.push(Token { kind, text: &code[i..end], span: base + i..base + end });
    }
    out
}

/// Whether a word can name a label: a letter or `_`, then letters, digits, `_`, `.` or `$`.
pub fn is_label(word: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && word.chars().all(rest)
}
