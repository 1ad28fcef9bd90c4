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
            return (tidy(&text[..offset]), Some(block.collect()));
        }
        offset += line.len();
    }
    (tidy(text), None)
}

/// Without the empty lines at its end, so that a diagnostic shows the same with and without a block.
fn tidy(program: &str) -> &str {
    let end = program.trim_end().len();
    &program[..program.len().min(end + 1)]
}

/// Sections of one kind with equal text become one, whose title names them all unless there is no other.
fn render(sections: &[Section]) -> String {
    let mut groups: Vec<(&Section, Vec<&str>)> = Vec::new();
    for section in sections {
        let (kind, rest) = section.title.split_once(' ').unwrap_or((&section.title, ""));
        let same = |g: &&mut (&Section, Vec<&str>)| word(&g.0.title) == kind && g.0.text == section.text;
        match groups.iter_mut().find(same) {
            Some(group) => group.1.push(rest),
            None => groups.push((section, vec![rest])),
        }
    }
    let mut out = String::new();
    for (section, names) in &groups {
        let kind = word(&section.title);
        let alone = groups.iter().filter(|g| word(&g.0.title) == kind).count() == 1;
        let names = if alone { String::new() } else { names.join(", ") };
        out.push_str(&format!("[{}]\n", format!("{kind} {names}").trim_end()));
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
         WAVEBOUND_BLESS=1 cargo test -p wb-filetests --test filetests -- {name}"
    ))
}
