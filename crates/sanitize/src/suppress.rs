//! Reports that somebody has looked at and does not want to see again: a file with a line for each.
//!
//! ```text
//! # kind, place: a file, file:line, a kernel, or * for any
//! race  bfs.cl:31
//! uninitialised  kernel:reduce
//! ```

use crate::kind::Kind;
use crate::report::Report;

#[derive(Clone, Debug)]
struct Line {
    number: usize,
    /// None: all kinds.
    kind: Option<Kind>,
    place: Where,
}

#[derive(Clone, Debug)]
enum Where {
    Anywhere,
    Kernel(String),
    File(String),
    FileLine(String, u32),
}

/// A file of suppressions.
#[derive(Clone, Debug, Default)]
pub struct Suppressions(Vec<Line>);

impl Suppressions {
    /// Reads the text of a file; an error says which line and why.
    pub fn parse(text: &str) -> Result<Suppressions, String> {
        let mut lines = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            let number = i + 1;
            let bad = |why: String| format!("line {number}: {why}");
            let mut words = line.split_whitespace();
            let (kind, place) = (words.next().unwrap_or(""), words.next().unwrap_or("*"));
            if let Some(more) = words.next() {
                return Err(bad(format!("`{more}` is too much: a line has a kind and a place")));
            }
            let kind = match kind {
                "*" => None,
                name => Some(Kind::of_name(name).ok_or_else(|| {
                    let known: Vec<&str> = Kind::ALL.iter().map(|k| k.name()).collect();
                    bad(format!("`{name}` is no kind of report; kinds are {}, * for all", known.join(", ")))
                })?),
            };
            let place = match place {
                "*" => Where::Anywhere,
                text => match (text.strip_prefix("kernel:"), text.rsplit_once(':')) {
                    (Some(kernel), _) => Where::Kernel(kernel.to_owned()),
                    (None, Some((file, line))) => {
                        let line = line.parse();
                        let line =
                            line.map_err(|_| bad(format!("`{text}` is no file:line or kernel:name")))?;
                        Where::FileLine(file.to_owned(), line)
                    }
                    (None, None) => Where::File(text.to_owned()),
                },
            };
            lines.push(Line { number, kind, place });
        }
        Ok(Suppressions(lines))
    }

    /// Line of the file that takes out a report.
    pub fn matches(&self, report: &Report) -> Option<usize> {
        let same = |file: &str, wanted: &str| file == wanted || file.ends_with(&format!("/{wanted}"));
        let fits = |line: &&Line| {
            line.kind.is_none_or(|kind| kind == report.kind)
                && match &line.place {
                    Where::Anywhere => true,
                    Where::Kernel(name) => *name == report.place.kernel,
                    Where::File(file) => same(&report.place.file, file),
                    Where::FileLine(file, n) => same(&report.place.file, file) && *n == report.place.line,
                }
        };
        self.0.iter().find(fits).map(|line| line.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Place, Who};

    fn report(kind: Kind, kernel: &str, file: &str, line: u32) -> Report {
        let place = Place { kernel: kernel.into(), file: file.into(), line, ..Place::default() };
        Report {
            kind,
            message: String::new(),
            place,
            who: Who::default(),
            other: None,
            memory: None,
            allocated: None,
            launch: 1,
            count: 1,
        }
    }

    #[test]
    fn lines_name_kinds_and_places() {
        let file = "# looked at\nrace bfs.cl:31\nuninitialised kernel:reduce # padding\n* old.cl\n";
        let s = Suppressions::parse(file).expect("a file");
        assert_eq!(s.matches(&report(Kind::Race, "k", "src/bfs.cl", 31)), Some(2));
        assert_eq!(s.matches(&report(Kind::Race, "k", "src/bfs.cl", 32)), None);
        assert_eq!(s.matches(&report(Kind::Race, "k", "xbfs.cl", 31)), None, "another file");
        assert_eq!(s.matches(&report(Kind::Uninitialised, "reduce", "a.cl", 1)), Some(3));
        assert_eq!(s.matches(&report(Kind::Misaligned, "k", "old.cl", 9)), Some(4));
        for (bad, why) in
            [("races x.cl:1", "kinds are"), ("race a b c", "too much"), ("race a.cl:x", "file:line")]
        {
            let error = Suppressions::parse(bad).expect_err("wrong");
            assert!(error.starts_with("line 1:") && error.contains(why), "{error}");
        }
    }
}
