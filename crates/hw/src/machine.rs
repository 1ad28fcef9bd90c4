//! A machine as data: everything the simulator and the analyser need to know about hardware.
//! Differences between GUPPY, HARP, GCN3 and Vortex are numbers and choices here, not code.

use crate::mechanism::{InstructionSet, Mechanism, Reconverge};
use crate::policy::Policy;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    pub name: String,
    pub description: String,
    pub isa: InstructionSet,
    /// Architecture string where the ISA has variants (HARP: `8w32/32`); empty otherwise.
    #[serde(default)]
    pub arch: String,
    /// Cycles per microsecond, only to print times.
    #[serde(default = "default_clock")]
    pub clock_mhz: u32,
    pub cores: u32,
    /// Where the next wave or group goes: `fill` the first core with room, or `round-robin`.
    #[serde(default)]
    pub dispatch: Dispatch,
    pub core: Core,
    pub frontend: FrontEnd,
    pub issue: Issue,
    pub divergence: Divergence,
    #[serde(default)]
    pub split: Split,
    pub memory: MemoryMap,
    pub dram: Dram,
    pub limits: Limits,
    pub units: Vec<Unit>,
    #[serde(default)]
    pub caches: Vec<Cache>,
}

fn default_clock() -> u32 {
    1000
}

impl Machine {
    /// Cycles from the request of an instruction that is in the cache until it can issue (t_F and decode), at least 1.
    pub fn fetch_cycles(&self) -> u64 {
        let f = &self.frontend;
        (self.instruction_hit() + u64::from(f.fetch_latency) + u64::from(f.decode_latency)).max(1)
    }

    /// Cycles the instruction cache itself adds on a hit.
    pub fn instruction_hit(&self) -> u64 {
        let cache = self.caches.iter().find(|c| c.name == self.memory.instruction);
        cache.map_or(0, |c| u64::from(c.latency))
    }

    /// Places of an instruction queue of the coordinated front end: as many as hide the fetch (SWAS section IV-B1).
    pub fn queue_places(&self) -> u64 {
        self.fetch_cycles()
    }

    /// What a taken jump costs at most beyond going straight on, if what it leads to is in the instruction cache: the
    /// penalty, and until the emptied queue has something again. Other waves of the partition may be served first.
    pub fn jump_cycles(&self) -> u64 {
        let f = &self.frontend;
        let seats = u64::from(self.core.waves / self.core.partitions.max(1)).max(1);
        let refill = match f.kind {
            FrontEndKind::Perfect => 0,
            FrontEndKind::Decoupled => {
                let ports = u64::from(f.ports.max(1));
                let turns = if f.policy.info().strict {
                    // A wave has one turn in as many cycles as there are slots: all that it had fetched is missed.
                    u64::from(f.buffer.max(1)).saturating_mul(seats).div_ceil(ports)
                } else {
                    (seats - 1).div_ceil(ports)
                };
                self.fetch_cycles().saturating_add(turns) + self.instruction_wait()
            }
            // NOPs fill the queue, and each of them waits for its turn to issue.
            FrontEndKind::Coordinated => self.queue_places().saturating_mul(seats) + self.instruction_wait(),
        };
        u64::from(f.branch_penalty).saturating_add(f.resolution.into()).saturating_add(refill)
    }

    /// Cycles until an instruction cache with few ports has time for a request, if all its cores ask at once.
    fn instruction_wait(&self) -> u64 {
        let cache = self.caches.iter().find(|c| c.name == self.memory.instruction && c.ports > 0);
        cache.map_or(0, |c| {
            let cores = if c.shared_by == 0 { self.cores } else { c.shared_by };
            let issuers = self.core.partitions * (1 + self.split.contexts);
            let requests = u64::from(cores) * u64::from(issuers) * u64::from(self.frontend.ports.max(1));
            requests.div_ceil(c.ports.into())
        })
    }
}

impl Machine {
    /// Waves can have several paths: the mechanism makes them, and there are contexts for them.
    pub fn splits(&self) -> bool {
        self.split.contexts > 0 && self.divergence.mechanism.info().splits
    }

    /// A path of a wave can go round a loop more often than any of its lanes: paths in different rounds become one.
    pub fn mixes_rounds(&self) -> bool {
        let d = &self.divergence;
        self.splits() && d.mechanism.info().mixes_rounds.contains(&d.reconverge)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    #[default]
    RoundRobin,
    Fill,
}

/// One core (compute unit, SM). Slot `s` belongs to partition `s mod partitions`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Core {
    /// Lanes of a wave, 1 to 64.
    pub lanes: u32,
    /// Wave slots of the core, divided evenly among the partitions.
    pub waves: u32,
    /// Independent schedulers (GCN SIMDs, GUPPY fetch/dispatch units).
    pub partitions: u32,
    /// Vector registers of a lane; 0 = what the ISA has. Limits occupancy when `register_file` is set.
    #[serde(default)]
    pub registers: u32,
    /// Vector registers per lane of a partition, shared by its waves; 0 = no limit.
    #[serde(default)]
    pub register_file: u32,
    /// Scalar registers of a partition, shared by its waves; 0 = no limit.
    #[serde(default)]
    pub scalar_register_file: u32,
    /// Local memory shared by a group, in bytes.
    #[serde(default)]
    pub lds_bytes: u32,
    #[serde(default)]
    pub lds_banks: u32,
    /// Groups of more than one wave that fit at a time; 0 = no limit.
    #[serde(default)]
    pub barriers: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FrontEndKind {
    /// The next instruction is always there; a taken jump costs `branch_penalty`.
    Perfect,
    /// Fetch policy and instruction buffer of their own, uncoordinated with issue.
    Decoupled,
    /// One scheduler for fetch and issue (SWAS section IV-B): the wave that issues fetches, queues are always full.
    Coordinated,
}

/// What a wave of a decoupled front end does after it missed the instruction cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterMiss {
    /// It goes on requesting what follows.
    #[default]
    GoOn,
    /// It requests nothing until the line is there (SWAS section VI-A3).
    Wait,
}

/// What a wave does between the issue of an instruction that can jump and the cycle in which it is known where to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unresolved {
    /// What follows in memory is requested and issues. If the jump is taken, that is without effect: cycles that are lost.
    #[default]
    GoOn,
    /// What follows in memory is requested, but nothing issues.
    Wait,
    /// Nothing is requested from the request of the jump on (Vortex: `VX_decode.sv` stalls the wave, `VX_schedule.sv` lets it go
    /// on when the branch comes from `VX_alu_int.sv`), and nothing issues.
    Stall,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontEnd {
    pub kind: FrontEndKind,
    /// Fetch policy; see `wavebound machines policies`.
    #[serde(default)]
    pub policy: Policy,
    /// Fetch requests per cycle and partition.
    #[serde(default = "one")]
    pub ports: u32,
    /// Instructions buffered per wave. A coordinated front end has as many as its latencies ask for.
    #[serde(default = "one")]
    pub buffer: u32,
    /// Whether a wave whose request missed goes on requesting.
    #[serde(default)]
    pub after_miss: AfterMiss,
    /// Cycles from request to delivery on a hit (t_F) and to decode.
    #[serde(default)]
    pub fetch_latency: u32,
    #[serde(default)]
    pub decode_latency: u32,
    /// Extra cycles after a taken jump.
    #[serde(default)]
    pub branch_penalty: u32,
    /// Cycles from the issue of a jump until the front end knows where it goes; 0 = at issue.
    #[serde(default)]
    pub resolution: u32,
    /// What the wave does until then.
    #[serde(default)]
    pub unresolved: Unresolved,
    /// Requests that a wave can have under way; 0 = as many as fit into `buffer`.
    #[serde(default)]
    pub requests: u32,
}

fn one() -> u32 {
    1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    pub policy: Policy,
    /// Instructions per cycle and partition (each from another wave).
    pub width: u32,
}

/// Divergence mechanism and the parameters stack mechanisms share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Divergence {
    pub mechanism: Mechanism,
    /// Which side of a divergent plain branch runs first.
    #[serde(default)]
    pub first: FirstSide,
    /// Extra cycles a path pays when entries are pushed or popped.
    #[serde(default)]
    pub push_cycles: u32,
    #[serde(default)]
    pub pop_cycles: u32,
    /// Which branches split (THESIS 4.5).
    #[serde(default)]
    pub choice: SplitChoice,
    /// Where split paths come together again, for mechanisms that leave it open.
    #[serde(default)]
    pub reconverge: Reconverge,
    /// DWS: no split before a post-dominator block of this many instructions or more.
    #[serde(default = "default_threshold")]
    pub threshold: u32,
    /// DWS as published: entries of the warp-split table of a partition, one for each path of a split wave; 0 = no limit.
    #[serde(default = "default_table")]
    pub table: u32,
    /// DWS as published: when lanes that hit the cache leave those that miss it.
    #[serde(default)]
    pub memory: MemorySplits,
    /// DWS as published: how far they run ahead.
    #[serde(default)]
    pub ahead: RunAhead,
    /// Convergence barriers: a path that has gone round so often lets others run.
    #[serde(default = "default_quantum")]
    pub quantum: u32,
    /// LWM: waves of a group that make up a large warp; and slots of a fetch group of its scheduler.
    #[serde(default = "default_rows")]
    pub rows: u32,
    #[serde(default = "default_rows")]
    pub fetch_group: u32,
    /// VWS: lanes of a slice.
    #[serde(default = "default_slice")]
    pub slice: u32,
}

fn default_rows() -> u32 {
    8
}

fn default_slice() -> u32 {
    4
}

fn default_quantum() -> u32 {
    64
}

fn default_table() -> u32 {
    16
}

fn default_threshold() -> u32 {
    50
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitChoice {
    /// Where the program marks them (MODE bit 21).
    #[default]
    Marked,
    /// The first ones that find a context.
    Opportunistic,
}

/// Which loads that hit for some lanes and miss for others split the wave (Meng et al.).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MemorySplits {
    #[default]
    Never,
    /// Each of them.
    Aggressive,
    /// Those that leave the partition without a ready path.
    Lazy,
    /// These, and when the partition has nothing ready later, waves of which some lanes have their data.
    Revive,
}

/// How far lanes that hit run ahead of those that missed (Meng et al.).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunAhead {
    /// To the next branch or post-dominator.
    #[default]
    Branch,
    /// Past branches, until both stand at the same pc.
    Unlimited,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FirstSide {
    #[default]
    Taken,
    NotTaken,
    Larger,
    Smaller,
}

/// Split contexts: S per wave slot, and where the units that run them come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// S, 0 to 63.
    #[serde(default)]
    pub contexts: u32,
    #[serde(default)]
    pub units: SplitUnits,
    /// Whether paths share the registers of their wave, or its contexts reserve registers of their own.
    #[serde(default)]
    pub registers: SplitRegisters,
    /// Cycles of a split (e_s) and of a merge (e_m).
    #[serde(default)]
    pub split_cycles: u32,
    #[serde(default)]
    pub merge_cycles: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitUnits {
    /// Split paths share the partition's units (DWS, THESIS serialised).
    #[default]
    Shared,
    /// Each context has units of scope `split` of its own (THESIS parallel, PWS SpSIMD).
    Extra,
    /// As `extra`, but unused ones serve as ordinary partitions (PWS re-provisioning).
    Reprovisioned,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRegisters {
    /// Contexts need none of their own (PWS 4.1).
    #[default]
    Shared,
    /// A wave takes vector and scalar registers for itself and each of its contexts (THESIS 4.3.2: a reserve slot is there
    /// whenever it is needed, so its registers are reserved when the wave starts).
    Own,
}

/// The cache (by name) each kind of access enters at; `dram` = no cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryMap {
    pub data: String,
    #[serde(default = "dram_name")]
    pub sampler: String,
    #[serde(default = "dram_name")]
    pub scalar: String,
    /// `none` = instruction fetch never misses.
    #[serde(default = "none_name")]
    pub instruction: String,
    /// Cycles of an LDS access without bank conflict.
    #[serde(default)]
    pub lds_latency: u32,
    /// Cycles of a vector memory access on the way to the first cache and back.
    #[serde(default)]
    pub request_latency: u32,
    #[serde(default)]
    pub response_latency: u32,
}

fn dram_name() -> String {
    "dram".into()
}

fn none_name() -> String {
    "none".into()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dram {
    /// Cycles of an access (of a row miss when banked).
    pub latency: u32,
    /// Bytes per cycle, 0 = unlimited.
    pub bandwidth: u32,
    /// Bytes moved per access: the line of the last cache, or of an uncached access.
    #[serde(default = "line")]
    pub line: u32,
    /// 0 = fixed latency; otherwise a row-buffer model with this many banks.
    #[serde(default)]
    pub banks: u32,
    #[serde(default)]
    pub row_bytes: u32,
    #[serde(default)]
    pub row_hit_latency: u32,
}

fn line() -> u32 {
    64
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// A run that is not done after this many cycles (untimed: wave-instructions) is an error.
    pub cycles: u64,
    /// Bytes of device memory.
    pub memory: u64,
    /// Entries of a divergence stack.
    pub stack_depth: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One set shared by all partitions.
    #[default]
    Core,
    /// One set per partition.
    Partition,
    /// One set per split context (SpSIMD).
    Split,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Port {
    /// Not a memory unit.
    #[default]
    None,
    Data,
    Sampler,
    Scalar,
    Lds,
}

/// An execution pipeline and the instruction classes it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    pub name: String,
    /// ISA classes executed here.
    pub classes: Vec<String>,
    #[serde(default)]
    pub scope: Scope,
    /// Identical copies per scope; 0 = always available (no structural limit).
    #[serde(default = "one")]
    pub count: u32,
    /// Lanes per cycle; 0 = a whole wave.
    #[serde(default)]
    pub lanes: u32,
    /// Cycles until the result can be used.
    #[serde(default = "one")]
    pub latency: u32,
    /// Latency of single classes where it differs.
    #[serde(default)]
    pub latencies: BTreeMap<String, u32>,
    /// Cycles between two issues to one copy (times the passes `lanes` needs).
    #[serde(default = "one")]
    pub interval: u32,
    /// Interval of single classes that take longer. Units with a way to memory or with a depth have none.
    #[serde(default)]
    pub intervals: BTreeMap<String, u32>,
    /// In-order pipeline of this many stages: a long operation at the end holds the rest. 0 = no limit.
    #[serde(default)]
    pub depth: u32,
    /// Memory this unit accesses; its latency comes before the cache's.
    #[serde(default)]
    pub port: Port,
}

/// Classes that a machine need not name: the unit of another one runs them.
fn stand_in(class: &str) -> Option<&'static str> {
    match class {
        "matrix2" | "matrix4" | "matrix8" | "matrix16" => Some("valu64"),
        _ => None,
    }
}

impl Unit {
    fn names(&self, class: &str) -> bool {
        self.classes.iter().any(|c| c == class)
    }

    /// The class whose times count here.
    fn named<'a>(&self, class: &'a str) -> &'a str {
        if self.names(class) { class } else { stand_in(class).unwrap_or(class) }
    }

    /// Cycles until the result of an instruction of a class can be used.
    pub fn latency_of(&self, class: &str) -> u32 {
        self.latencies.get(self.named(class)).copied().unwrap_or(self.latency)
    }

    /// Cycles between an instruction of a class and the next on one copy, for each pass of the lanes.
    pub fn interval_of(&self, class: &str) -> u32 {
        self.intervals.get(self.named(class)).copied().unwrap_or(self.interval).max(1)
    }
}

impl Machine {
    /// The unit that runs a class; `split`: the one of split contexts.
    pub fn unit_of(&self, class: &str, split: bool) -> Option<usize> {
        let find = |class: &str| {
            self.units.iter().position(|u| (u.scope == Scope::Split) == split && u.names(class))
        };
        find(class).or_else(|| find(stand_in(class)?))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Stores take no time and no bandwidth (GUPPY).
    Free,
    /// Stores go through to the next level and do not allocate.
    #[default]
    Through,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub name: String,
    /// Cores that share one copy; 0 = all of them.
    #[serde(default = "one")]
    pub shared_by: u32,
    pub size: u32,
    #[serde(default = "line")]
    pub line: u32,
    pub ways: u32,
    /// Cycles of a hit; a miss adds the next level's.
    pub latency: u32,
    /// Lines looked up per cycle, 0 = unlimited.
    #[serde(default)]
    pub ports: u32,
    #[serde(default)]
    pub write: WritePolicy,
    /// Next level by name, or `dram`.
    pub next: String,
}
