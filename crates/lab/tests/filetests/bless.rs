//! The block of expected text at the end of a test: compared, or rewritten when `WAVEBOUND_BLESS=1`.

use similar::TextDiff;
use std::path::Path;

/// A titled piece of expected text.
pub struct Section {
    pub title: String,
    pub text: String,
}

const START: &str = "expect:";

/// The program, and the lines of the block after it without their comment leader.
pub fn split<'a>(text: &'a str, leader: &str) -> (&'a str, Option<String>) {
    let start = format!("{leader} {START}");
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == start {
            let block = text[offset..].lines().skip(1);
            let block = block.map(|l| l.strip_prefix(leader).unwrap_or(l));
            let block = block.map(|l| format!("{}\n", l.strip_prefix(' ').unwrap_or(l)));
            return (&text[..offset], Some(block.collect()));
        }
        offset += line.len();
    }
    (text, None)
}

/// Sections of equal text become one with the common part of their titles.
fn render(sections: &[Section]) -> String {
    let mut out = String::new();
    let mut seen: Vec<&Section> = Vec::new();
    for section in sections {
        if seen.iter().any(|s| s.text == section.text && word(&s.title) == word(&section.title)) {
            continue;
        }
        seen.push(section);
    }
    for section in seen {
        let same = sections.iter().filter(|s| word(&s.title) == word(&section.title));
        let alone = same.clone().all(|s| s.text == section.text);
        let title = if alone { word(&section.title) } else { &section.title };
        out.push_str(&format!("[{title}]\n"));
        for line in section.text.trim_end().lines() {
            out.push_str(&format!("{}\n", line.trim_end()));
        }
    }
    out
}

fn word(title: &str) -> &str {
    title.split(' ').next().unwrap_or("")
}

pub fn compare(
    path: &Path,
    name: &str,
    program: &str,
    leader: &str,
    expected: Option<String>,
    sections: &[Section],
) -> Result<(), String> {
    let found = render(sections);
    let expected = expected.unwrap_or_default();
    if found == expected {
        return Ok(());
    }
    if std::env::var("WAVEBOUND_BLESS").is_ok_and(|v| v == "1") {
        let mut text = program.trim_end().to_owned() + "\n";
        if !found.is_empty() {
            text.push_str(&format!("\n{leader} {START}\n"));
            for line in found.lines() {
                text.push_str(format!("{leader} {line}").trim_end());
                text.push('\n');
            }
        }
        return std::fs::write(path, text).map_err(|e| format!("{name}: {e}"));
    }
    let diff = TextDiff::from_lines(&expected, &found);
    let diff = diff.unified_diff().context_radius(3).header("expected", "found").to_string();
    Err(format!(
        "{name}: the expected text differs\n{diff}\nif the new text is right, bless it: \
         WAVEBOUND_BLESS=1 cargo test -p wb-lab --test filetests -- {name}"
    ))
}
