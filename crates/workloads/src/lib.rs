//! The benchmark suite: twenty workloads of the Rodinia class (THESIS 6.1, Table 6.1; PWS section 7), our own kernels in
//! OpenCL C with host side, inputs by size, reference results, marks for splitting and limits of loops.

#![allow(clippy::needless_range_loop)] // references use the indices of their kernels

pub mod data;
mod error;
mod facts;
mod noise;
pub mod run;
mod simulate;

mod backprop;
mod bfs;
mod btree;
mod cfd;
mod dwt2d;
mod gaussian;
mod heartwall;
mod hotspot;
mod hybridsort;
mod kmeans;
mod lavamd;
mod leukocyte;
mod lud;
mod myocyte;
mod nn;
mod nw;
mod particlefilter;
mod pathfinder;
mod srad;
mod streamcluster;

pub use data::{Data, Difference, Within};
pub use error::WorkloadError;
pub use noise::{Input, Noise};
pub use run::{Arg, BufferId, Launch, Limit, Memory, Player, Run};
pub use simulate::{OnDevice, Simulation, Verdict, dispatch, place, verdicts};

use std::fmt;
use wb_hw::MarkStyle;
use wb_objects::codeobject::CodeObject;
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
    /// What the sizes mean.
    pub sizes: [&'static str; 4],
    /// Inputs, launches and wanted results.
    pub build: fn(Size, Input) -> Run,
}

impl Workload {
    /// The code object with branches marked.
    pub fn object(&self, marks: &Marks) -> Result<Vec<u8>, WorkloadError> {
        let (wanted, style) = match marks {
            Marks::None => return Ok(self.code.to_vec()),
            Marks::Default(style) => (Wanted::At(self.default_marks()), *style),
            Marks::All(style) => (Wanted::All, *style),
            Marks::At(places, style) => (Wanted::At(places.clone()), *style),
        };
        if matches!(&wanted, Wanted::At(places) if places.is_empty()) {
            return Ok(self.code.to_vec());
        }
        Ok(marks::mark(self.code, &Request { kernel: String::new(), wanted, style })?.bytes)
    }

    /// Name of its folder and page: `b+tree` is btree, lavaMD lavamd.
    pub fn folder(&self) -> String {
        self.name.replace('+', "").to_lowercase()
    }

    /// The default places: lines of the source that end in `// split`.
    pub fn default_marks(&self) -> Vec<String> {
        tagged(self.source, "split", "").iter().map(|line| format!("kernel.cl:{line}")).collect()
    }

    /// Facts files for the loops that data decide: names and texts, for a code object as it was marked.
    pub fn facts(&self, object: &CodeObject, run: &Run) -> Result<Vec<(String, String)>, WorkloadError> {
        facts::files(self, object, &run.limits)
    }
}

/// Numbers of the lines that end in `// WORD` (empty tag) or `// WORD: TAG`; several tags are separated by `;`.
fn tagged(source: &str, word: &str, tag: &str) -> Vec<usize> {
    let wanted = if tag.is_empty() { word.to_owned() } else { format!("{word}: {tag}") };
    let has = |line: &str| {
        let comment = line.rsplit_once("// ").map_or("", |(_, c)| c);
        comment.split(';').any(|c| c.trim() == wanted)
    };
    source.lines().zip(1..).filter(|(line, _)| has(line)).map(|(_, n)| n).collect()
}

/// All workloads, by name.
pub fn all() -> &'static [Workload] {
    &ALL
}

pub fn find(name: &str) -> Result<&'static Workload, WorkloadError> {
    let names = || ALL.iter().map(|w| w.name);
    ALL.iter().find(|w| w.name == name).ok_or_else(|| WorkloadError::Unknown {
        name: name.to_owned(),
        hint: match wb_isa::diag::nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("workloads: {}", names().collect::<Vec<_>>().join(", ")),
        },
    })
}

static ALL: [Workload; 20] = [
    backprop::WORKLOAD,
    bfs::WORKLOAD,
    btree::WORKLOAD,
    cfd::WORKLOAD,
    dwt2d::WORKLOAD,
    gaussian::WORKLOAD,
    heartwall::WORKLOAD,
    hotspot::WORKLOAD,
    hybridsort::WORKLOAD,
    kmeans::WORKLOAD,
    lavamd::WORKLOAD,
    leukocyte::WORKLOAD,
    lud::WORKLOAD,
    myocyte::WORKLOAD,
    nn::WORKLOAD,
    nw::WORKLOAD,
    particlefilter::WORKLOAD,
    pathfinder::WORKLOAD,
    srad::WORKLOAD,
    streamcluster::WORKLOAD,
];
