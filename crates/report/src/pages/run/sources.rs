//! Source files of a part: which lines its instructions come from, and their text where it is known.

use super::part::{Part, Sum};
use std::collections::BTreeMap;
use std::path::Path;
use wb_jobs::last_part;
use wb_trace::{Pc, Stats};

/// Lines of text shown around a line whose code ran.
const AROUND: u32 = 3;
/// Longer files are not sources of kernels.
const LONGEST: u64 = 4 << 20;

/// A source file with what its lines cost.
pub struct File {
    pub name: String,
    pub found: bool,
    pub lines: Vec<Line>,
}

pub struct Line {
    pub line: u32,
    pub text: String,
    pub sum: Sum,
    /// The first instruction of the line.
    pub first: Option<Pc>,
}

/// The files of a part, the one that takes the most cycles first.
pub fn files(p: &Part) -> Vec<File> {
    let mut lines: BTreeMap<&str, BTreeMap<u32, Line>> = BTreeMap::new();
    for pc in p.stats.pcs.iter().filter(|pc| pc.executed > 0 && pc.line > 0 && !pc.file.is_empty()) {
        let fresh = || Line { line: pc.line, text: String::new(), sum: Sum::default(), first: Some(pc.pc) };
        lines.entry(&pc.file).or_default().entry(pc.line).or_insert_with(fresh).sum.add(pc);
    }
    let cycles = |lines: &BTreeMap<u32, Line>| lines.values().map(|l| l.sum.cycles).sum::<u64>();
    let mut all: Vec<_> = lines.into_iter().filter(|(_, lines)| cycles(lines) > 0).collect();
    all.sort_by_key(|(name, lines)| (std::cmp::Reverse(cycles(lines)), *name));
    all.into_iter().map(|(name, lines)| with_text(name, lines, p)).collect()
}

fn with_text(name: &str, mut lines: BTreeMap<u32, Line>, p: &Part) -> File {
    let Some(source) = p.sources.iter().find(|s| s.0 == name) else {
        return File { name: name.to_owned(), found: false, lines: lines.into_values().collect() };
    };
    let coded: Vec<u32> = lines.keys().copied().collect();
    for (number, text) in (1u32..).zip(source.1.lines()) {
        let near = coded.partition_point(|&c| c.saturating_add(AROUND) < number);
        if let Some(line) = lines.get_mut(&number) {
            text.clone_into(&mut line.text);
        } else if coded.get(near).is_some_and(|&c| c <= number.saturating_add(AROUND)) {
            let text = text.to_owned();
            lines.insert(number, Line { line: number, text, sum: Sum::default(), first: None });
        }
    }
    File { name: name.to_owned(), found: true, lines: lines.into_values().collect() }
}

/// Names and texts of the files that executed code comes from: given ones, or files of their names in these folders.
pub fn find_sources(stats: &Stats, given: Option<(&str, &str)>, folders: &[&Path]) -> Vec<(String, String)> {
    let mut names: Vec<&str> =
        stats.pcs.iter().filter(|p| p.executed > 0 && p.line > 0).map(|p| p.file.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let read = |path: &Path| {
        let short = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LONGEST);
        short.then(|| wb_files::read_text(path, wb_files::Kind::Source).ok()).flatten()
    };
    // What is given is known by its name, wherever it was compiled.
    let text = |name: &str| match given.filter(|g| g.0 == name || Path::new(name).ends_with(g.0)) {
        Some((_, text)) => Some(text.to_owned()),
        // As the compiler was told, or beside the program.
        None => folders
            .iter()
            .find_map(|folder| read(&folder.join(name)).or_else(|| read(&folder.join(last_part(name))))),
    };
    names.into_iter().filter(|n| !n.is_empty()).filter_map(|n| Some((n.to_owned(), text(n)?))).collect()
}
