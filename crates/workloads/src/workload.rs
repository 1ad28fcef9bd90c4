//! What a workload is: its program, its inputs by size, and the branches marked for splitting.

use crate::error::WorkloadError;
use crate::noise::Input;
use crate::run::Run;
use std::fmt;
use wb_hw::MarkStyle;
use wb_isa::gcn3::GFX8;
use wb_objects::marks::{self, Request, Wanted};

/// How large the input is. Tiny is for tests; the others are those of THESIS Table 6.1 where it has the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    Tiny,
    Small,
    Medium,
    Large,
}

impl Size {
    pub const ALL: [Size; 4] = [Size::Tiny, Size::Small, Size::Medium, Size::Large];

    pub fn name(self) -> &'static str {
        match self {
            Size::Tiny => "tiny",
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Large => "large",
        }
    }

    pub fn parse(name: &str) -> Result<Size, WorkloadError> {
        let found = Size::ALL.into_iter().find(|s| s.name() == name);
        found.ok_or_else(|| WorkloadError::Size { name: name.to_owned() })
    }

    /// One of four values.
    pub fn pick<T>(self, [tiny, small, medium, large]: [T; 4]) -> T {
        match self {
            Size::Tiny => tiny,
            Size::Small => small,
            Size::Medium => medium,
            Size::Large => large,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Which branches are marked for splitting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// None: the program as it was compiled.
    #[default]
    None,
    /// The workload's own choice: lines tagged `split` in its source.
    Default(MarkStyle),
    /// Every branch that can be marked.
    All(MarkStyle),
    /// Places as `wavebound split --at` takes them.
    At(Vec<String>, MarkStyle),
}

/// A workload of the suite.
pub struct Workload {
    pub name: &'static str,
    /// One line: what it computes.
    pub about: &'static str,
    /// One page: docs/workloads/NAME.md.
    pub page: &'static str,
    /// kernel.cl.
    pub source: &'static str,
    /// kernel.cl compiled (scripts/build-workloads.sh).
    pub code: &'static [u8],
    /// The same for later targets and for lane-pc machines, by name.
    pub later: [(&'static str, &'static [u8]); 4],
    /// What the sizes mean.
    pub sizes: [&'static str; 4],
    /// Inputs, launches and wanted results.
    pub build: fn(Size, Input) -> Run,
}

impl Workload {
    /// The code for a target; none named is gfx803.
    pub fn code_for(&self, target: &str) -> Result<&'static [u8], WorkloadError> {
        if target.is_empty() || target == GFX8.usual.name {
            return Ok(self.code);
        }
        let found = self.later.iter().find(|(name, _)| *name == target);
        found.map(|(_, code)| *code).ok_or_else(|| WorkloadError::Target {
            name: target.to_owned(),
            known: format!("{}, {}", GFX8.usual.name, self.later.map(|(name, _)| name).join(", ")),
        })
    }

    /// The code object for a target with branches marked.
    pub fn object(&self, target: &str, marks: &Marks) -> Result<Vec<u8>, WorkloadError> {
        let code = self.code_for(target)?;
        let (wanted, style) = match marks {
            Marks::None => return Ok(code.to_vec()),
            Marks::Default(style) => (Wanted::At(self.default_marks()), *style),
            Marks::All(style) => (Wanted::All, *style),
            Marks::At(places, style) => (Wanted::At(places.clone()), *style),
        };
        if matches!(&wanted, Wanted::At(places) if places.is_empty()) {
            return Ok(code.to_vec());
        }
        Ok(marks::mark(code, &Request { kernel: String::new(), wanted, style })?.bytes)
    }

    /// Name of its folder and page: `b+tree` is btree, lavaMD lavamd.
    pub fn folder(&self) -> String {
        self.name.replace('+', "").to_lowercase()
    }

    /// The default places: lines of the source that end in `// split`.
    pub fn default_marks(&self) -> Vec<String> {
        tagged(self.source, "split", "").iter().map(|line| format!("kernel.cl:{line}")).collect()
    }
}

/// Numbers of the lines that end in `// WORD` (empty tag) or `// WORD: TAG`; several tags are separated by `;`.
pub(crate) fn tagged(source: &str, word: &str, tag: &str) -> Vec<usize> {
    let wanted = if tag.is_empty() { word.to_owned() } else { format!("{word}: {tag}") };
    let has = |line: &str| {
        let comment = line.rsplit_once("// ").map_or("", |(_, c)| c);
        comment.split(';').any(|c| c.trim() == wanted)
    };
    source.lines().zip(1..).filter(|(line, _)| has(line)).map(|(_, n)| n).collect()
}
