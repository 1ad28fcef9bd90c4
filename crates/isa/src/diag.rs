//! Assembler diagnostics: every error points into the source (line, column, caret) and carries a hint.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::sync::Arc;
use thiserror::Error;

/// A source text with its name, shared by diagnostics and listings.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub name: String,
    pub text: Arc<str>,
}

impl SourceFile {
    pub fn new(name: impl Into<String>, text: impl Into<Arc<str>>) -> Self {
        SourceFile { name: name.into(), text: text.into() }
    }

    /// Line (from 1) and column (from 1, in characters) of a byte offset.
    pub fn line_column(&self, offset: usize) -> (u32, u32) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line = before.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        (line, before[start..].chars().count() as u32 + 1)
    }

    pub fn line(&self, number: u32) -> Option<&str> {
        self.text.lines().nth(number.checked_sub(1)? as usize)
    }
}

/// Assemblers stop at this many errors: beyond it, one error usually caused the next.
pub const MAX_ERRORS: usize = 50;

/// One thing wrong in an assembly source.
#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct AsmError {
    pub message: String,
    #[source_code]
    source_code: NamedSource<Arc<str>>,
    #[label("{label}")]
    pub span: SourceSpan,
    pub label: String,
    #[help]
    pub hint: Option<String>,
}

impl AsmError {
    /// `span` is a byte range of `file`'s text.
    pub fn new(
        file: &SourceFile,
        span: std::ops::Range<usize>,
        message: impl Into<String>,
        label: impl Into<String>,
    ) -> Self {
        let end = span.end.min(file.text.len()).max(span.start.min(file.text.len()));
        let start = span.start.min(end);
        AsmError {
            message: message.into(),
            source_code: NamedSource::new(&file.name, file.text.clone()),
            span: (start..end).into(),
            label: label.into(),
            hint: None,
        }
    }

    /// Line of the place, counted from 1.
    pub fn line(&self) -> usize {
        let text = self.source_code.inner().as_bytes();
        1 + text[..self.span.offset().min(text.len())].iter().filter(|&&b| b == b'\n').count()
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// The candidate closest to `word`, for "did you mean" hints; none when nothing is near.
///
/// A file full of mistakes asks this for every line and every name there is, so a candidate is given up as soon as it is too far.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().collect();
    let mut best: Option<(usize, &str)> = None;
    let mut row = Vec::new();
    for candidate in candidates {
        let allowed = 1 + candidate.len().min(word.len()) / 4;
        let limit = best.map_or(allowed, |(d, _)| allowed.min(d.saturating_sub(1)));
        let closer = best.is_none_or(|(d, _)| d > 0);
        if let Some(d) = edit_distance(&word, candidate, limit, &mut row).filter(|_| closer) {
            best = Some((d, candidate));
        }
    }
    best.map(|(_, c)| c)
}

/// Edits between two words if there are at most `limit`; words of more than 64 letters are near nothing.
fn edit_distance(a: &[char], b: &str, limit: usize, row: &mut Vec<usize>) -> Option<usize> {
    let length = b.chars().count();
    if a.len() > 64 || length > 64 || a.len().abs_diff(length) > limit {
        return None;
    }
    row.clear();
    row.extend(0..=length);
    for (i, &ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, cb) in b.chars().enumerate() {
            let substitute = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
            least = least.min(row[j + 1]);
        }
        if least > limit {
            return None;
        }
    }
    Some(row[length]).filter(|&d| d <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_suggestions() {
        let file = SourceFile::new("x", "ab\ncdé f\n");
        assert_eq!(file.line_column(3), (2, 1));
        assert_eq!(file.line_column(8), (2, 5));
        assert_eq!(file.line_column(5000), (3, 1));
        assert_eq!(nearest("adi", ["addi", "subi", "ld"]), Some("addi"));
        assert_eq!(nearest("zzzzzz", ["addi", "subi"]), None);
        assert_eq!(nearest("v_add_f32", ["v_add_f64", "v_add_f32", "v_adc_f32"]), Some("v_add_f32"));
        assert_eq!(nearest("v_ad_f23", ["v_mad_f32", "v_add_f32", "v_ad_f22"]), Some("v_ad_f22"));
        assert_eq!(nearest("", ["a", "ab"]), Some("a"));
    }
}
