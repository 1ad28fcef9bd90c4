//! Text inside HTML and SVG: the one place where it is escaped, for pages, graphs and reports.

/// Text as it may stand in an element or an attribute; characters XML does not have become a box.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || c == '\u{fffe}' || c == '\u{ffff}' => out.push('\u{25a1}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escape("<b a='1' c=\"2\">&\u{1}"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\u{25a1}");
        assert_eq!(escape("a\tb\nc\u{ffff}"), "a\tb\nc\u{25a1}");
    }
}
