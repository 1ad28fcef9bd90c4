//! How errors are shown. Lines of a source that are wider than a screen are cut around the place, and long texts are cut at
//! their end, for every diagnostic of the program: miette's handler cannot draw beyond column 65,535, and nobody reads that far.

use miette::{
    Diagnostic, LabeledSpan, MietteError, MietteHandler, MietteHandlerOpts, MietteSpanContents,
    ReportHandler, Severity, SourceCode, SourceSpan, SpanContents,
};
use std::error::Error;
use std::fmt;

/// Lines up to this many bytes are shown whole.
const WIDTH: usize = 240;
/// What is shown before and from the place on, of longer ones.
const BEFORE: usize = 60;
const FROM: usize = 120;
/// Characters of a message, a label or a hint.
const TEXT: usize = 4000;

/// From now on errors are shown this way.
pub fn install() {
    // It fails only if there is a hook already, which nobody else sets.
    let _ = miette::set_hook(Box::new(|_| Box::new(Handler(MietteHandlerOpts::new().build()))));
}

struct Handler(MietteHandler);

impl ReportHandler for Handler {
    fn debug(&self, diagnostic: &dyn Diagnostic, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(&Cut::new(diagnostic), f)
    }
}

/// A diagnostic with everything long in it cut.
struct Cut<'a> {
    inner: &'a dyn Diagnostic,
    excerpt: Option<(Excerpt, LabeledSpan)>,
    cause: Option<Box<Cut<'a>>>,
    related: Vec<Cut<'a>>,
}

impl<'a> Cut<'a> {
    fn new(inner: &'a dyn Diagnostic) -> Cut<'a> {
        Cut {
            inner,
            excerpt: excerpt(inner),
            cause: inner.diagnostic_source().map(|cause| Box::new(Cut::new(cause))),
            related: inner.related().into_iter().flatten().map(Cut::new).collect(),
        }
    }
}

impl fmt::Debug for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.inner, f)
    }
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&cut(self.inner.to_string()))
    }
}

impl Error for Cut<'_> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner.source()
    }
}

impl Diagnostic for Cut<'_> {
    fn code<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.inner.code()
    }

    fn severity(&self) -> Option<Severity> {
        self.inner.severity()
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.inner.help().map(|h| Box::new(cut(h.to_string())) as Box<dyn fmt::Display>)
    }

    fn url<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.inner.url()
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        match &self.excerpt {
            Some((text, _)) => Some(text),
            None => self.inner.source_code(),
        }
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        match &self.excerpt {
            Some((_, label)) => Some(Box::new(std::iter::once(label.clone()))),
            None => self.inner.labels(),
        }
    }

    fn related<'b>(&'b self) -> Option<Box<dyn Iterator<Item = &'b dyn Diagnostic> + 'b>> {
        let all = self.related.iter().map(|r| r as &dyn Diagnostic);
        if self.related.is_empty() { None } else { Some(Box::new(all)) }
    }

    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.cause.as_ref().map(|c| &**c as &dyn Diagnostic)
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(TEXT) {
        let more = text[at..].chars().count();
        text.truncate(at);
        text += &format!("… ({more} more characters)");
    }
    text
}

/// The line of the place, cut, where it or a neighbour is too wide to be shown; and the place in it.
fn excerpt(diagnostic: &dyn Diagnostic) -> Option<(Excerpt, LabeledSpan)> {
    let source = diagnostic.source_code()?;
    let labels: Vec<LabeledSpan> = diagnostic.labels()?.collect();
    let label = labels.iter().find(|l| l.primary()).or(labels.first())?;
    // With the lines before and behind, as the handler reads them.
    let around = source.read_span(label.inner(), 1, 1).ok()?;
    let (data, base) = (around.data(), around.span().offset());
    if data.split(|&b| b == b'\n').all(|line| line.len() <= WIDTH)
        && label.label().is_none_or(|l| l.len() <= TEXT)
    {
        return None;
    }
    let at = label.offset().saturating_sub(base).min(data.len());
    let start = data[..at].iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    let end = data[at..].iter().position(|&b| b == b'\n').map_or(data.len(), |i| at + i);
    let inside = |i: usize| data.get(i).is_some_and(|b| b & 0xc0 == 0x80);
    let mut from = at.saturating_sub(BEFORE).max(start);
    while inside(from) {
        from -= 1;
    }
    let mut to = (at + FROM).min(end);
    while to < end && inside(to) {
        to += 1;
    }
    let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut text = if from > start { "…".to_owned() } else { String::new() };
    text += &lossy(&data[from..at]);
    let place = text.len();
    text += &lossy(&data[at..to]);
    let length = label.len().min(text.len() - place);
    if to < end {
        text.push('…');
    }
    if text.is_empty() {
        text.push(' ');
    }
    let excerpt = Excerpt {
        name: around.name().map(str::to_owned),
        line: around.line() + data[..start].iter().filter(|&&b| b == b'\n').count(),
        column: lossy(&data[start..at]).chars().count(),
        text,
    };
    let label = LabeledSpan::new(label.label().map(|l| cut(l.to_owned())), place, length);
    Some((excerpt, label))
}

/// Part of one line, that knows where it is in its file.
struct Excerpt {
    name: Option<String>,
    text: String,
    line: usize,
    column: usize,
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (data, span) = (self.text.as_bytes(), (0, self.text.len()).into());
        Ok(Box::new(match &self.name {
            Some(name) => MietteSpanContents::new_named(name.clone(), data, span, self.line, self.column, 1),
            None => MietteSpanContents::new(data, span, self.line, self.column, 1),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miette::{NamedSource, Report, miette};

    fn shown(text: &str, offset: usize, length: usize) -> String {
        let label = LabeledSpan::new_primary_with_span(Some("here".into()), (offset, length));
        let report: Report =
            miette!(labels = vec![label], "wrong").with_source_code(NamedSource::new("x.s", text.to_owned()));
        struct Show<'a>(&'a Report);
        impl fmt::Display for Show<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Handler(MietteHandlerOpts::new().width(100).color(false).build()).debug(self.0.as_ref(), f)
            }
        }
        Show(&report).to_string()
    }

    #[test]
    fn wide_lines_are_cut_around_the_place() {
        for at in [0, 70, 65_534, 65_536, 199_999] {
            let text = format!("first\n{}?{}\nlast\n", "ä".repeat(at), "b".repeat(200_000 - at));
            let offset = 6 + 2 * at;
            for length in [0, 1, 150_000] {
                let shown = shown(&text, offset, length.min(text.len() - offset));
                assert!(shown.contains(&format!("x.s:2:{}", at + 1)), "{at}: {shown}");
                assert!(shown.contains('?') && shown.contains("here"), "{at}: {shown}");
                assert!(shown.len() < 2000, "{at}: {} bytes", shown.len());
            }
        }
    }

    #[test]
    fn other_errors_are_shown_as_always() {
        let shown = shown("one\ntwo three\nfour\n", 8, 5);
        assert!(shown.contains("one") && shown.contains("two three") && shown.contains("four"), "{shown}");
        assert_eq!(cut("é".repeat(TEXT + 7)).chars().rev().take(24).count(), 24);
        assert!(cut("é".repeat(TEXT + 7)).ends_with("… (7 more characters)"));
    }
}
