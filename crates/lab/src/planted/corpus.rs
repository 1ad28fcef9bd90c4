//! The cases as their sources describe them: a comment before each kernel gives its name, what is planted, geometry and arguments;
//! comments at the ends of lines say where. The sources are part of the command.

use super::error::PlantedError;
use wb_sanitize::Kind;

/// An argument of a kernel, in the words of a launch file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    Buffer {
        name: String,
        element: String,
        length: u64,
        from: String,
    },
    /// `i32:5`, `f32:0.5`.
    Value(String),
    /// Bytes of local memory.
    Local(u64),
}

/// One kernel with its launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    pub name: String,
    /// The file it is in.
    pub file: &'static str,
    /// None: the kernel is right.
    pub planted: Option<Kind>,
    /// Lines of the file at which a report is right.
    pub lines: Vec<u32>,
    /// Why a checker of machine code cannot tell, if so.
    pub known: Option<String>,
    /// Uses AMD's builtins, which only our machines have.
    pub amd: bool,
    /// A larger launch, whose time is measured.
    pub timed: bool,
    pub grid: [u32; 3],
    pub group: [u32; 3],
    pub args: Vec<Argument>,
}

impl Case {
    /// The name of its kernel.
    pub fn kernel(&self) -> String {
        self.name.replace('-', "_")
    }
}

/// All sources with their names.
pub(super) const SOURCES: [(&str, &str); 8] = [
    ("bounds.cl", include_str!("../../planted/bounds.cl")),
    ("uninitialised.cl", include_str!("../../planted/uninitialised.cl")),
    ("races.cl", include_str!("../../planted/races.cl")),
    ("barriers.cl", include_str!("../../planted/barriers.cl")),
    ("lanes.cl", include_str!("../../planted/lanes.cl")),
    ("alignment.cl", include_str!("../../planted/alignment.cl")),
    ("division.cl", include_str!("../../planted/division.cl")),
    ("timed.cl", include_str!("../../planted/timed.cl")),
];

/// Every case of the corpus.
pub fn cases() -> Result<Vec<Case>, PlantedError> {
    let mut all = Vec::new();
    for (file, text) in SOURCES {
        all.extend(parse(file, text)?);
    }
    Ok(all)
}

/// The cases of one source.
fn parse(file: &'static str, text: &str) -> Result<Vec<Case>, PlantedError> {
    let mut cases: Vec<Case> = Vec::new();
    let mut inside = false;
    for (line, words) in (1..).zip(text.lines()) {
        let wrong = |what: String| PlantedError::Corpus { file, line, what };
        if let Some(name) = words.strip_prefix("/* case ") {
            cases.push(empty(file, name.trim()));
            inside = true;
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if words.trim() == "*/" {
            inside = false;
        } else if inside {
            field(case, words.trim()).map_err(wrong)?;
        } else if let Some((_, kind)) = words.split_once("// ERROR ") {
            if case.planted.map(Kind::name) != Some(kind.trim()) {
                return Err(wrong(format!("`{}` is not what case {} plants", kind.trim(), case.name)));
            }
            case.lines.push(line);
        }
    }
    for case in &cases {
        let wrong =
            |what: &str| PlantedError::Corpus { file, line: 0, what: format!("{}: {what}", case.name) };
        if case.planted.is_some() == case.lines.is_empty() {
            return Err(wrong("an error needs a marked line, and a right kernel has none"));
        }
        if case.grid[0] == 0 || case.group[0] == 0 {
            return Err(wrong("the geometry is missing"));
        }
    }
    Ok(cases)
}

fn empty(file: &'static str, name: &str) -> Case {
    Case {
        name: name.to_owned(),
        file,
        planted: None,
        lines: Vec::new(),
        known: None,
        amd: false,
        timed: false,
        grid: [0; 3],
        group: [0; 3],
        args: Vec::new(),
    }
}

/// One line of a case's comment.
fn field(case: &mut Case, line: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["clean"] => {}
        ["amd"] => case.amd = true,
        ["timed"] => case.timed = true,
        ["known", why @ ..] => case.known = Some(why.join(" ")),
        ["error", kind] => {
            let found = Kind::of_name(kind);
            case.planted = Some(found.ok_or_else(|| format!("there is no kind `{kind}`"))?);
        }
        ["grid", grid, "group", group] => {
            (case.grid, case.group) = (size(grid)?, size(group)?);
        }
        [name, element, length, from] => {
            let length = length.parse().map_err(|_| format!("`{length}` is not a length"))?;
            let (name, element, from) = ((*name).to_owned(), (*element).to_owned(), (*from).to_owned());
            case.args.push(Argument::Buffer { name, element, length, from });
        }
        [_, value] => case.args.push(match value.strip_prefix("local:") {
            Some(bytes) => Argument::Local(bytes.parse().map_err(|_| format!("`{value}`"))?),
            None => Argument::Value((*value).to_owned()),
        }),
        _ => return Err(format!("`{line}` is no part of a case")),
    }
    Ok(())
}

/// `64` or `16,16`.
fn size(text: &str) -> Result<[u32; 3], String> {
    let mut all = [1; 3];
    for (slot, number) in all.iter_mut().zip(text.split(',')) {
        *slot = number.parse().map_err(|_| format!("`{text}` is not a size"))?;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_corpus_is_as_large_and_as_mixed_as_promised() {
        let all = cases().unwrap_or_else(|e| panic!("{e}"));
        let names: BTreeSet<&str> = all.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "a name is used twice");
        assert!(all.len() >= 80, "{}", all.len());
        assert!(all.iter().filter(|c| c.planted.is_none()).count() >= 25);
        // Use after free needs a host program that frees.
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::UseAfterFree) {
            assert!(all.iter().filter(|c| c.planted == Some(kind)).count() >= 3, "{}", kind.name());
        }
        assert!(all.iter().filter(|c| c.timed).all(|c| c.planted.is_none()));
    }

    #[test]
    fn mistakes_in_a_case_are_told_with_their_lines() {
        let said = |text: &str| match parse("x.cl", text) {
            Err(e) => e.to_string(),
            Ok(cases) => panic!("{cases:?}"),
        };
        let head = "/* case a\n   error race\n   grid 64 group 64\n*/\n";
        assert!(said(head).contains("marked line"));
        assert!(said(&format!("{head}x; // ERROR misaligned")).starts_with("x.cl, line 5: `misaligned`"));
        assert!(said("/* case a\n   error raze\n*/").contains("line 2: there is no kind `raze`"));
        assert!(said("/* case a\n   clean\n*/").contains("geometry"));
        assert!(said("/* case a\n   some words that are nothing\n*/").contains("no part of a case"));
    }
}
