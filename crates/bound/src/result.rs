//! What an analysis found, as data: the text, JSON and HTML reports all print this.

use crate::shape::Shape;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use wb_isa::Pc;

/// How far a bound can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Nothing that decides time depends on the contents of buffers: one run is the time of every run.
    Exact,
    /// Own time and demand follow from the code, the launch and the hardware's latencies; nothing was measured.
    Proved,
    /// Loop limits are proven or given; times are the longest that were measured, for the inputs of the runs.
    Hybrid,
    /// Loop limits are proven or given; times are what a table says, whatever it says.
    Given,
    /// A loop limit was only observed, or ways that no run took are left out.
    Observed,
}

/// An instruction and where it comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CodePlace {
    pub pc: Pc,
    /// As linked.
    pub addr: u64,
    /// `file.cl:12`, empty where unknown.
    pub source: String,
}

impl std::fmt::Display for CodePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{:#x}", self.addr)?;
        if self.source.is_empty() { write!(f, " (pc {})", self.pc) } else { write!(f, " ({})", self.source) }
    }
}

impl CodePlace {
    /// The source line, or the address.
    pub fn short(&self) -> String {
        if self.source.is_empty() { format!("{:#x}", self.addr) } else { self.source.clone() }
    }
}

/// A loop, its limit and why.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LoopRow {
    pub header: CodePlace,
    /// Most rounds (back edges) for each entry.
    pub max: u64,
    pub origin: &'static str,
    pub why: String,
    /// Most rounds that were seen; none if the loop was never entered.
    pub observed: Option<u64>,
    /// Its time was measured from entry to exit, not round by round.
    pub whole: bool,
}

/// One step of the worst way.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct StepRow {
    /// From this point (none: the wave's start) to that one (none: its end).
    pub from: Option<CodePlace>,
    pub to: Option<CodePlace>,
    /// Blocks on the way.
    pub blocks: Vec<usize>,
    pub count: u64,
    /// Longest and mean time that was measured, and how often.
    pub cycles: u64,
    pub mean: f64,
    pub samples: u64,
    pub total: u64,
}

/// What a basic block adds to the bound. A measured segment is divided among its blocks by their mean times.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BlockRow {
    pub block: usize,
    pub first: CodePlace,
    pub last: CodePlace,
    pub instructions: u32,
    pub succs: Vec<usize>,
    /// On the worst way.
    pub worst: bool,
    pub cycles: f64,
    pub percent: f64,
    /// Text of its instructions with addresses.
    pub code: Vec<(CodePlace, String)>,
}

/// A step from one block to another.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct FlowRow {
    pub from: usize,
    pub to: usize,
    /// Times waves and paths took it in the runs.
    pub taken: u64,
    /// On the worst way, and how often at most.
    pub worst: bool,
    pub count: u64,
}

/// A source file and what its lines add to the bound. Only lines near code of the kernel are kept.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SourceRow {
    pub file: String,
    /// Its text was found beside the program.
    pub found: bool,
    pub lines: Vec<SourceLine>,
}

/// A line of source. The cycles of a block are divided among its instructions equally.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SourceLine {
    pub line: u32,
    pub text: String,
    pub instructions: u32,
    pub cycles: f64,
    pub percent: f64,
    pub worst: bool,
}

/// A divergent branch and what splitting there does to the bound of a wave.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct BranchRow {
    pub branch: CodePlace,
    pub markable: bool,
    pub marked: bool,
    /// Sure to split whenever lanes disagree.
    pub sure: bool,
    /// Bound of a wave with a segment for every block, with this split and without it. Where the runs did not split
    /// here, `with` is an estimate.
    pub with: Option<u64>,
    pub without: Option<u64>,
    pub note: String,
}

/// One launch of the kernel, measured once or several times.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LaunchRow {
    /// Which launch it is; runs of the same one have the same number.
    #[serde(skip)]
    pub number: usize,
    pub groups: u64,
    pub waves_per_group: u32,
    pub group_threads: u32,
    #[serde(skip)]
    pub seats: wb_wcet::kernel::Seats,
    /// Groups that run at once, and what limits them.
    pub at_once: u64,
    pub limit: String,
    pub rounds: u64,
    pub bound: u64,
    /// Longest run.
    pub observed: u64,
    pub runs: u32,
    /// Geometries and arguments it was launched with, that with the most rounds first, each with hashes of the memory found.
    #[serde(serialize_with = "shapes")]
    #[schemars(with = "Vec<LaunchHashes>")]
    pub shapes: Vec<(Shape, Vec<String>)>,
}

/// As JSON: hashes only; the certificate has it all.
fn shapes<S: Serializer>(shapes: &[(Shape, Vec<String>)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer
        .collect_seq(shapes.iter().map(|(s, data)| LaunchHashes { launch: s.hash(), data: data.clone() }))
}

/// A launch, and the contents of memory it was run with.
#[derive(Serialize, schemars::JsonSchema)]
struct LaunchHashes {
    launch: String,
    data: Vec<String>,
}

/// A bound by one of the published formulas, to compare.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PaperRow {
    pub rule: String,
    pub source: String,
    pub wave: u64,
    pub kernel: u64,
    pub note: String,
}

/// A way that no wave of the launches takes, with the proof.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct NeverRow {
    /// The branch, and the first instruction of the way.
    pub from: CodePlace,
    pub to: CodePlace,
    pub why: String,
}

/// How much of the kernel the runs have shown.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct CoverageRow {
    /// Runs of all launches, and launches that were measured in them.
    pub runs: u32,
    pub launches: u32,
    pub waves: u64,
    /// Ways between points: measured, all.
    pub ways: (usize, usize),
    /// Steps from block to block: taken, all.
    pub steps: (usize, usize),
    /// Sides that were never skipped.
    pub never_skipped: usize,
    pub gaps: Vec<(CodePlace, Option<CodePlace>)>,
    /// Points of the first measurement (every block) and of the last.
    pub points: (usize, usize),
}

/// A place where time depends on contents, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UseRow {
    pub place: CodePlace,
    /// The instruction.
    pub text: String,
    /// What depends on contents: `whether the branch is taken`, `the addresses of the access`, …
    pub what: &'static str,
    /// A load that it comes from.
    pub from: Option<CodePlace>,
}

/// Whether the time of a kernel's launches is the same for all contents.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ExactRow {
    pub holds: bool,
    /// Why nothing could be shown, where the analysis did not apply at all.
    pub why_not: Option<String>,
    /// Where time depends on contents.
    pub uses: Vec<UseRow>,
    /// Buffers that were declared fixed, with the hashes of their contents.
    pub fixed: Vec<(String, String)>,
}

/// A part of a proved bound, over all launches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TermRow {
    pub name: &'static str,
    pub cycles: u64,
    /// Waves in the way, in the launch where they are most; 0: it is no sum over waves.
    pub waves: u64,
}

/// An access of which little is known, and what is charged for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct UnknownRow {
    pub place: CodePlace,
    pub text: String,
    /// Lines, or passes through the banks of local memory, that one execution is charged.
    pub lines: u64,
    pub local: bool,
    pub why: String,
}

/// The proved bound of a kernel's launches.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ProvedRow {
    /// None if there is no proof, and why.
    pub bound: Option<u64>,
    pub why_not: Option<String>,
    pub help: Option<String>,
    /// What it is made of.
    pub terms: Vec<TermRow>,
    /// Own time of one wave, what one wave asks of each resource of its partition, barriers a wave passes at most.
    pub wave: u64,
    pub demand: Vec<(&'static str, u64)>,
    pub barriers: u64,
    /// Caches that keep all that the launch touches.
    pub kept: Vec<String>,
    /// Accesses whose lines are not known, the most expensive ones first.
    pub unknown: Vec<UnknownRow>,
    /// Limits of loops that it rests on.
    pub loops: Vec<LoopRow>,
}

/// The hybrid bound of a kernel's launches by own time and waits.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ComposedRow {
    /// None if there is none, and why.
    pub bound: Option<u64>,
    pub why_not: Option<String>,
    pub status: Option<Status>,
    /// What it is made of.
    pub terms: Vec<TermRow>,
    /// The bound if each wave asks for as much as on its heaviest way, and what that adds.
    pub heaviest: Option<u64>,
    pub demand: Vec<TermRow>,
    /// Bounds of launches by number.
    #[serde(skip)]
    pub launches: BTreeMap<usize, u64>,
    #[serde(skip)]
    pub assumptions: Vec<String>,
    #[serde(skip)]
    pub certificate: String,
}

/// The bound of one kernel and everything it rests on.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct KernelBound {
    pub kernel: String,
    pub file: String,
    pub machine: String,
    pub clock_mhz: u32,
    pub mechanism: String,
    pub contexts: u32,
    /// Sum over the launches, each once; observed is the longest run of each.
    pub bound: u64,
    pub observed: u64,
    pub ratio: f64,
    /// How often each launch was measured, and with how many different inputs (data and arguments); none: not known.
    pub runs: u32,
    pub distinct_inputs: Option<u32>,
    pub status: Status,
    /// Whether the time is the same for all contents of buffers, and if not, why.
    pub exact: ExactRow,
    /// What follows without any measurement.
    pub proved: ProvedRow,
    /// Where the bound is exact or proved: what the measured times alone would say.
    pub hybrid_bound: Option<u64>,
    /// What the hybrid bound is made by: `segments` or `own time and waits`; none where times are given.
    pub hybrid_by: &'static str,
    /// The bound by segments.
    pub segment_bound: u64,
    /// The bound by own time and waits.
    pub composed: ComposedRow,
    /// What a reader must know before relying on the number.
    pub warnings: Vec<String>,
    /// Where times come from: `measured`, `trace` or `given`. Nothing is observed when they are given.
    pub times: &'static str,
    pub wave_bound: u64,
    pub wave_observed: u64,
    /// With a segment for every basic block: more maxima add up, and more ways they can go together are covered.
    pub wave_bound_by_blocks: u64,
    /// The same for all launches together.
    pub bound_by_blocks: u64,
    pub start_delay: u64,
    pub launches: Vec<LaunchRow>,
    pub loops: Vec<LoopRow>,
    /// Ways that cannot be taken: they are not in the graph.
    pub never: Vec<NeverRow>,
    pub worst: Vec<StepRow>,
    pub blocks: Vec<BlockRow>,
    pub edges: Vec<FlowRow>,
    pub sources: Vec<SourceRow>,
    pub branches: Vec<BranchRow>,
    pub splits: u64,
    pub refused: u64,
    pub most_paths: u32,
    pub coverage: CoverageRow,
    pub paper: Vec<PaperRow>,
    pub assumptions: Vec<String>,
    /// Name and xxh3 of everything the bound depends on.
    pub inputs: Vec<(String, String)>,
    #[serde(skip)]
    pub certificate: String,
    /// The linear program of a wave's bound, as text.
    #[serde(skip)]
    pub lp: String,
}
