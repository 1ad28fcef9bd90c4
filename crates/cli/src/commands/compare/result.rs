//! What came of the variants, and whether their results are equal.

use super::args::CompareArgs;
use super::variants::Variant;
use crate::commands::page::readable;
use wavebound::isa::SourceFile;
use wavebound::jobs::data::Element;
use wavebound::jobs::last_part;
use wavebound::trace::Stats;

/// A buffer after the last launch.
pub struct Contents {
    pub name: String,
    pub element: Element,
    pub bytes: Vec<u8>,
}

/// A variant that ran.
pub struct Ran {
    pub kernel: String,
    pub file: String,
    pub source: Option<SourceFile>,
    pub stats: Stats,
    pub contents: Vec<Contents>,
    /// Bits of state that the mechanism adds to a core.
    pub state_bits: u64,
    /// What a launch file or a workload expects and did not find.
    pub expected: Option<String>,
}

pub enum Outcome {
    Ran(Box<Ran>),
    /// The machine does not take it, and says why.
    Refused(String),
    /// It went wrong on the way.
    Failed(String),
}

impl Outcome {
    pub fn ran(&self) -> Option<&Ran> {
        match self {
            Outcome::Ran(ran) => Some(ran),
            Outcome::Refused(_) | Outcome::Failed(_) => None,
        }
    }

    /// Why it did not run to its end.
    pub fn why(&self) -> Option<&str> {
        match self {
            Outcome::Ran(_) => None,
            Outcome::Refused(why) | Outcome::Failed(why) => Some(why),
        }
    }
}

/// A row of the table.
pub struct Row {
    pub variant: Variant,
    pub outcome: Outcome,
    /// How its results differ from those of the first that ran, or from what was expected.
    pub differs: Option<String>,
}

/// All variants.
pub struct Compared {
    /// The program or the workload.
    pub what: String,
    pub machine: String,
    pub rows: Vec<Row>,
    /// Names of what was compared in memory.
    pub names: Vec<String>,
}

impl Compared {
    pub fn new(args: &CompareArgs, variants: Vec<Variant>, outcomes: Vec<Outcome>) -> Compared {
        let mut rows: Vec<Row> = variants
            .into_iter()
            .zip(outcomes)
            .map(|(variant, outcome)| Row { variant, outcome, differs: None })
            .collect();
        let (mut names, mut what, mut machine) = (Vec::new(), String::new(), String::new());
        let first = rows.iter().position(|r| r.outcome.ran().is_some());
        if let Some(first) = first {
            let name = rows[first].variant.name.clone();
            let found: Vec<Option<String>> = rows
                .iter()
                .map(|r| {
                    let (ran, reference) = (r.outcome.ran()?, rows[first].outcome.ran()?);
                    let wrong = ran.expected.as_ref().map(|e| format!("not as expected: {e}"));
                    wrong.or_else(|| difference(&reference.contents, &ran.contents, &name))
                })
                .collect();
            rows.iter_mut().zip(found).for_each(|(r, found)| r.differs = found);
            if let Some(ran) = rows[first].outcome.ran() {
                names = ran.contents.iter().map(|c| c.name.clone()).collect();
                what = readable(&ran.kernel);
                machine.clone_from(&ran.stats.machine);
            }
        }
        if let Some(workload) = &args.target.workload.workload {
            what = workload.to_string();
        } else if what.is_empty() {
            last_part(&args.target.file().display().to_string()).clone_into(&mut what);
        }
        Compared { what, machine, rows, names }
    }

    /// What was compared, as a sentence has it.
    pub fn memory(&self) -> String {
        match self.names.as_slice() {
            [] => "there is no buffer to compare".into(),
            [one] => format!("compared: {one}"),
            many if many.len() <= 6 => format!("compared: {}", many.join(", ")),
            many => format!("compared: {} and {} more", many[..6].join(", "), many.len() - 6),
        }
    }

    /// Nothing differs.
    pub fn equal(&self) -> bool {
        self.rows.iter().all(|r| r.differs.is_none())
    }
}

/// The first element in which two results differ. `of`: the variant that `a` belongs to.
fn difference(a: &[Contents], b: &[Contents], of: &str) -> Option<String> {
    for b in b {
        let Some(a) = a.iter().find(|a| a.name == b.name) else {
            return Some(format!("{} exists only here", b.name));
        };
        if a.bytes.len() != b.bytes.len() {
            return Some(format!("{} has {} bytes, with {of} {}", b.name, b.bytes.len(), a.bytes.len()));
        }
        let size = (b.element.bytes() as usize).max(1);
        let pairs = || a.bytes.chunks(size).zip(b.bytes.chunks(size)).enumerate();
        let differing = pairs().filter(|(_, (a, b))| a != b).count();
        if let Some((i, (was, is))) = pairs().find(|(_, (a, b))| a != b) {
            let (is, was) = (b.element.show(is), b.element.show(was));
            let all = b.bytes.len().div_ceil(size);
            return Some(format!(
                "{}[{i}] is {is}, with {of} {was}; {differing} of {all} elements differ",
                b.name
            ));
        }
    }
    a.iter().find(|a| !b.iter().any(|b| b.name == a.name)).map(|a| format!("{} is missing", a.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(name: &str, bytes: &[u8]) -> Contents {
        Contents { name: name.into(), element: Element::U32, bytes: bytes.to_vec() }
    }

    #[test]
    fn a_planted_difference_is_found() {
        let a = || vec![contents("x", &[1, 0, 0, 0, 2, 0, 0, 0]), contents("y", &[7, 0, 0, 0])];
        assert_eq!(difference(&a(), &a(), "none"), None);
        let mut b = a();
        b[0].bytes[4] = 3;
        let found = difference(&a(), &b, "none").expect("a difference");
        assert_eq!(found, "x[1] is 3, with none 2; 1 of 2 elements differ");
        b = a();
        b.pop();
        assert_eq!(difference(&a(), &b, "none").as_deref(), Some("y is missing"));
        assert_eq!(difference(&b, &a(), "none").as_deref(), Some("y exists only here"));
        b = a();
        b[1].bytes.push(0);
        assert!(difference(&a(), &b, "none").is_some_and(|d| d.contains("5 bytes")));
    }
}
