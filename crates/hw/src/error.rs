//! What is wrong with a machine description: which field, what is allowed instead and, for a file,
//! the line and column. Printed by miette with the offending line, or as one line of text.

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use thiserror::Error;

#[derive(Clone, Debug, Error)]
#[error("{}{message}", prefix(.place))]
pub struct HwError {
    pub message: String,
    /// Dotted path of the field, as `--set` takes it: `core.lanes`, `units.alu.latency`.
    pub field: Option<String>,
    pub help: Option<String>,
    /// Where in a machine file; `None` for values that came from elsewhere.
    pub place: Option<Box<Place>>,
}

#[derive(Clone, Debug)]
pub struct Place {
    pub source: NamedSource<String>,
    /// Counted from 1, in characters.
    pub line: usize,
    pub column: usize,
    /// Byte offset and length.
    pub span: (usize, usize),
}

impl HwError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        HwError { message: message.into(), field: None, help: None, place: None }
    }

    /// An error about one field; the message starts with its path.
    pub(crate) fn field(path: impl fmt::Display, what: impl fmt::Display) -> Self {
        let path = path.to_string();
        HwError { message: format!("`{path}`: {what}"), field: Some(path), help: None, place: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the place in a file unless a more precise one is known already.
    pub(crate) fn at(mut self, file: &str, text: &str, span: std::ops::Range<usize>) -> Self {
        if self.place.is_none() {
            let before = text.get(..span.start.min(text.len())).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            self.place = Some(Box::new(Place {
                source: NamedSource::new(file, text.to_owned()),
                line: before.matches('\n').count() + 1,
                column: before[line_start..].chars().count() + 1,
                span: (span.start, span.len()),
            }));
        }
        self
    }
}

fn prefix(place: &Option<Box<Place>>) -> String {
    place.as_ref().map_or(String::new(), |p| format!("{}:{}:{}: ", p.source.name(), p.line, p.column))
}

impl Diagnostic for HwError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|h| Box::new(h) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|p| &p.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let p = self.place.as_ref()?;
        Some(Box::new(std::iter::once(LabeledSpan::new(Some("here".into()), p.span.0, p.span.1))))
    }
}

/// The candidate a mistyped word most likely meant, if any is close.
pub(crate) fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).clamp(1, 4);
    let word = word.to_lowercase();
    among
        .into_iter()
        .map(|c| (distance(&word, &c.to_lowercase()), c))
        .min_by_key(|d| d.0)
        .filter(|d| d.0 <= limit)
        .map(|d| d.1)
}

/// "did you mean …?" where something is close, then the list of what exists.
pub(crate) fn suggest(word: &str, what: &str, among: &[&str]) -> String {
    let list = if among.is_empty() { "none".to_owned() } else { among.join(", ") };
    match nearest(word, among.iter().copied()) {
        Some(n) => format!("did you mean `{n}`? {what}: {list}"),
        None => format!("{what}: {list}"),
    }
}

/// Edits between two words; swapping two neighbours counts as one.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in d.iter_mut().enumerate() {
        row[0] = i;
    }
    d[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (d[i - 1][j] + 1).min(d[i][j - 1] + 1).min(d[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(d[i - 2][j - 2] + 1);
            }
            d[i][j] = best;
        }
    }
    d[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_takes_small_mistakes_only() {
        assert_eq!(nearest("lane", ["lanes", "waves"]), Some("lanes"));
        assert_eq!(nearest("wvaes", ["lanes", "waves"]), Some("waves"));
        assert_eq!(nearest("banana", ["lanes", "waves"]), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn a_place_counts_lines_and_columns_from_one() {
        let e = HwError::field("core.lanes", "bad").at("m.toml", "a = 1\nbé = 2\n", 10..11);
        let p = e.place.as_ref().expect("place");
        assert_eq!((p.line, p.column), (2, 4));
        assert_eq!(e.to_string(), "m.toml:2:4: `core.lanes`: bad");
    }
}
