//! What the machine tells the world. Events are plain data, emitted in batches, and cost nothing
//! when nobody listens; an observer never changes timing (docs/ARCHITECTURE.md, invariant 3).

use serde::{Deserialize, Serialize};
use std::any::Any;

/// Memory that one instruction touches.
#[derive(Clone, Copy, Debug)]
pub struct Touched<'a> {
    pub pc: Pc,
    pub write: bool,
    /// Local memory of its group; then there are no lines.
    pub local: bool,
    /// First byte of each line.
    pub lines: &'a [u64],
}

/// One bit per lane, lane 0 in bit 0.
pub type Mask = u64;
/// Index of an instruction in the program.
pub type Pc = u32;
pub const NO_PC: Pc = u32::MAX;
pub const NO_PATH: u16 = u16::MAX;

/// Something that happened to a path at a cycle (untimed runs count wave-instructions instead).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub cycle: u64,
    pub core: u16,
    /// Slot of the core the path lives in.
    pub slot: u16,
    pub wave: u32,
    /// Path of the wave; 0 unless the wave is split.
    pub path: u16,
    pub pc: Pc,
    /// Active lanes of the path before the event.
    pub mask: Mask,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The wave took its slot; `lanes` were launched.
    WaveStart {
        lanes: Mask,
    },
    WaveEnd,
    /// An instruction issued to copy `instance` of unit `unit` (index into [`TraceInfo::units`]; 255 = none),
    /// which is busy for `busy` cycles.
    Issue {
        unit: u8,
        instance: u8,
        class: u8,
        busy: u16,
    },
    /// An empty place of the wave's instruction queue issued (coordinated front end); `pc` is what follows. Not an
    /// instruction of the program.
    Nop,
    /// The path could not issue for `cycles` cycles, ending with the cycle before the next event of the path.
    /// `cycle` is the first of them.
    Stall {
        cycles: u32,
        reason: StallReason,
    },
    /// A split point executed: `taken` run first or jump, `other` wait or fall through.
    Split {
        taken: Mask,
        other: Mask,
    },
    /// The path's lanes changed to `new`. `live` are the wave's lanes that have not exited; `origin` is the
    /// pc of the instruction that narrowed the new mask ([`NO_PC`] when no lane is missing).
    Mask {
        new: Mask,
        live: Mask,
        origin: Pc,
        cause: MaskCause,
    },
    /// Lanes were set aside to run from `at` later, or now in a context of their own.
    PathNew {
        at: Pc,
        lanes: Mask,
    },
    /// Lanes that were set aside came together with this path again.
    PathMerge {
        lanes: Mask,
    },
    /// A split gave the wave this path, which is born with `lanes` (the event's path is the new one).
    PathStart {
        lanes: Mask,
    },
    /// The path merged into path `into`, or its last lane exited ([`NO_PATH`]).
    PathEnd {
        into: u16,
    },
    /// A split that did not happen; `lanes` stay where they are.
    SplitRefused {
        reason: RefusedReason,
        lanes: Mask,
    },
    /// A memory instruction touched `lines` lines; its slowest result arrives at `done`.
    Memory {
        port: PortKind,
        write: bool,
        lines: u16,
        hits: u16,
        misses: u16,
        evictions: u16,
        done: u64,
    },
    /// The wave is the `arrived`-th of `needed` at barrier `id`.
    Barrier {
        id: u64,
        arrived: u32,
        needed: u32,
    },
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StallReason {
    /// A register is not ready; the producer is an arithmetic unit.
    Dependency,
    /// A register is not ready; the producer is memory.
    Memory,
    /// The unit is busy.
    Unit,
    /// No instruction in the buffer.
    Fetch,
    Barrier,
    /// Ready, but the scheduler chose another wave.
    NotSelected,
    /// Waiting for a sibling path.
    Merge,
    /// Paying for stack operations.
    Divergence,
}

impl StallReason {
    pub const ALL: [StallReason; 8] = [
        StallReason::Dependency,
        StallReason::Memory,
        StallReason::Unit,
        StallReason::Fetch,
        StallReason::Barrier,
        StallReason::NotSelected,
        StallReason::Merge,
        StallReason::Divergence,
    ];

    pub fn name(self) -> &'static str {
        match self {
            StallReason::Dependency => "dependency",
            StallReason::Memory => "memory",
            StallReason::Unit => "unit",
            StallReason::Fetch => "fetch",
            StallReason::Barrier => "barrier",
            StallReason::NotSelected => "not-selected",
            StallReason::Merge => "merge",
            StallReason::Divergence => "divergence",
        }
    }
}

/// Why a wave did not split where it could have.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedReason {
    /// All contexts of the wave are in use.
    NoContext,
    /// One side would have no lanes, or nothing to do.
    OneSided,
    /// The code after the post-dominator is too long to run it twice (DWS).
    LongTail,
    /// The program keeps scalars in lanes of vector registers, which paths share.
    Spills,
    /// The paths would never meet again, and code that follows counts on lanes running together.
    Convergent,
}

impl RefusedReason {
    pub const ALL: [RefusedReason; 5] = [
        RefusedReason::NoContext,
        RefusedReason::OneSided,
        RefusedReason::LongTail,
        RefusedReason::Spills,
        RefusedReason::Convergent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RefusedReason::NoContext => "no-context",
            RefusedReason::OneSided => "one-sided",
            RefusedReason::LongTail => "long-tail",
            RefusedReason::Spills => "spills",
            RefusedReason::Convergent => "convergent",
        }
    }
}

/// Why a path's mask changed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum MaskCause {
    /// A split instruction or divergent branch: fewer lanes go on.
    Diverge,
    /// The next waiting side takes over.
    Switch,
    /// Sides came together.
    Reconverge,
    /// PDOM's "EXIT loop split".
    LoopExit,
    /// A mask test switched lanes off.
    MaskTest,
    /// The ISA set the lanes (HARP `jalis`, `jmprt`).
    Lanes,
    Interrupt,
    Exit,
}

impl MaskCause {
    pub const ALL: [MaskCause; 8] = [
        MaskCause::Diverge,
        MaskCause::Switch,
        MaskCause::Reconverge,
        MaskCause::LoopExit,
        MaskCause::MaskTest,
        MaskCause::Lanes,
        MaskCause::Interrupt,
        MaskCause::Exit,
    ];
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PortKind {
    Data,
    Sampler,
    Scalar,
    Lds,
    Fetch,
}

impl PortKind {
    pub const ALL: [PortKind; 5] =
        [PortKind::Data, PortKind::Sampler, PortKind::Scalar, PortKind::Lds, PortKind::Fetch];
}

/// What a reader needs to make sense of the events; stored at the head of a trace file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TraceInfo {
    pub program: String,
    pub isa: String,
    pub machine: String,
    pub mechanism: String,
    /// False for an untimed run: cycles are wave-instructions.
    pub timed: bool,
    pub lanes: u32,
    pub cores: u32,
    pub partitions: u32,
    /// Wave slots per core.
    pub slots: u32,
    pub units: Vec<UnitInfo>,
    pub classes: Vec<String>,
    /// Bytes of a line at each port, in the order of [`PortKind::ALL`]; empty or 0 = unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line_bytes: Vec<u32>,
    /// Banks of local memory; 0 = none, or unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lds_banks: u32,
    /// Source files; [`CodeLine::file`] is a place in this list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Instructions by pc (only those that are code).
    pub code: Vec<CodeLine>,
    /// Whether a trace file has the lines that memory instructions touch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub addresses: bool,
    /// What a trace file was limited to; none: it has all events of its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<TraceLimit>,
}

/// The events that a trace was limited to. A limited trace says nothing about the rest of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct TraceLimit {
    /// First cycle.
    pub from: u64,
    /// First cycle not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Waves by their numbers, as ranges with both ends; empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UnitInfo {
    pub name: String,
    /// Copies per core.
    pub instances: u32,
    /// `none`, `data`, `sampler`, `scalar`, `lds`.
    pub port: String,
    /// Cycles for which every instruction keeps its copy busy, whatever it waits for; 0 = unknown, or it depends on what is
    /// in the pipeline.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interval: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CodeLine {
    pub pc: Pc,
    pub addr: u64,
    pub text: String,
    /// Source line, 0 = unknown.
    pub line: u32,
    /// Label at this pc, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// True where lanes can part: branches, split points, mask tests.
    #[serde(default)]
    pub branch: bool,
    /// First instruction of a basic block.
    #[serde(default, skip_serializing_if = "is_false")]
    pub leads: bool,
    /// At the end of a basic block: the first instructions of those that may follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Pc>,
    /// Registers it writes and reads, with commas.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub writes: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reads: String,
    /// Source file, a place in [`TraceInfo::files`]; only where `line` is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub file: u32,
    /// Bytes that a lane accesses in memory, or the wave if the instruction is scalar; 0 = none, or unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub width: u32,
    /// Where the code was written if that is not `line`: in a header that was inlined there, as `file:line`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub inner: String,
    /// Its bytes in memory, for observers of the run; trace files do not have them.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Fields that say nothing are left out of trace files.
fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl TraceInfo {
    /// The source file of an instruction; empty if its line is not known.
    pub fn file_of(&self, line: &CodeLine) -> &str {
        let file = self.files.get(line.file as usize).filter(|_| line.line > 0);
        file.map_or("", String::as_str)
    }
}

/// Listens to a run.
pub trait Observer {
    /// Whether [`TraceInfo::code`] is looked at: a listing of the whole program costs more than a short run.
    fn wants_code(&self) -> bool {
        true
    }
    /// Called once before the first event.
    fn begin(&mut self, _info: &TraceInfo) {}
    /// Events in the order they happened; within a path, cycles never go back.
    fn events(&mut self, batch: &[Event]);
    /// Whether [`Observer::touched`] is called.
    fn wants_touched(&self) -> bool {
        false
    }
    /// The memory that an instruction touches; in timed runs, before the event of the instruction.
    fn touched(&mut self, _touched: &Touched) {}
    /// Called once after the last event of a run that ended without error.
    fn end(&mut self, _cycles: u64) {}
    /// For a launch that several threads run, each its share of the groups: an observer that counts for one of them, behind
    /// [`Observer::begin`]. None: the order of all events matters to it.
    fn fork(&self) -> Option<Box<dyn Fork>> {
        None
    }
    /// Takes over what such an observer counted.
    fn join(&mut self, _fork: Box<dyn Any>) {}
}

/// An observer of a part of a run.
pub trait Fork: Observer + Any + Send {}

impl<T: Observer + Any + Send> Fork for T {}
