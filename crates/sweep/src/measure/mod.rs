//! What is measured at a point, and what came of it. This folder decides results: its hash is part of the version under which
//! results are stored.

mod hip;
mod run;
mod totals;

pub use run::Runner;

use crate::point::Target;
use crate::value::{Kind, Value};
use serde::{Deserialize, Serialize};
use wb_trace::StallReason;

/// Something to measure, with everything that decides it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Cycles of all launches.
    Cycles,
    /// Cycles, and where they went.
    Stats,
    /// The bound, as `wavebound wcet` prints it.
    Bound { runs: u32, unmeasured: String, facts_from_trace: bool, hybrid: bool },
    /// The bound without any measurement.
    Proved,
    /// The longest that a search for other inputs finds.
    Worst { tries: u64, seed: u64 },
}

/// Options of measures, as the plan has them.
#[derive(Clone, Debug)]
pub struct MeasureOptions {
    pub runs: u32,
    pub unmeasured: String,
    pub facts_from_trace: bool,
    pub hybrid: bool,
    pub tries: u64,
    pub seed: u64,
}

impl Default for MeasureOptions {
    fn default() -> MeasureOptions {
        MeasureOptions {
            runs: 1,
            unmeasured: "error".to_owned(),
            facts_from_trace: false,
            hybrid: false,
            tries: 100,
            seed: 1,
        }
    }
}

const RUN: [(&str, Kind); 6] = [
    ("cycles", Kind::Int),
    ("launches", Kind::Int),
    ("waves", Kind::Int),
    ("wave_instructions", Kind::Int),
    ("lane_instructions", Kind::Int),
    ("nops", Kind::Int),
];

const STATS: [(&str, Kind); 8] = [
    ("ipc", Kind::Float),
    ("lane_utilisation", Kind::Float),
    ("lane_cycles_lost", Kind::Int),
    ("splits", Kind::Int),
    ("merges", Kind::Int),
    ("max_paths", Kind::Int),
    ("cache_hits", Kind::Int),
    ("cache_misses", Kind::Int),
];

impl Measure {
    pub const NAMES: [&'static str; 5] = ["cycles", "stats", "bound", "proved", "worst"];

    pub fn name(&self) -> &'static str {
        match self {
            Measure::Cycles => "cycles",
            Measure::Stats => "stats",
            Measure::Bound { .. } => "bound",
            Measure::Proved => "proved",
            Measure::Worst { .. } => "worst",
        }
    }

    pub fn named(name: &str, options: &MeasureOptions) -> Option<Measure> {
        Some(match name {
            "cycles" => Measure::Cycles,
            "stats" => Measure::Stats,
            "bound" => Measure::Bound {
                runs: options.runs,
                unmeasured: options.unmeasured.clone(),
                facts_from_trace: options.facts_from_trace,
                hybrid: options.hybrid,
            },
            "proved" => Measure::Proved,
            "worst" => Measure::Worst { tries: options.tries, seed: options.seed },
            _ => return None,
        })
    }

    /// The columns it fills.
    pub fn columns(&self) -> Vec<(String, Kind)> {
        let named =
            |list: &[(&str, Kind)]| list.iter().map(|(n, k)| ((*n).to_owned(), *k)).collect::<Vec<_>>();
        match self {
            Measure::Cycles => named(&RUN),
            Measure::Stats => {
                let mut all = named(&RUN);
                all.extend(named(&STATS));
                all.extend(StallReason::ALL.map(|r| (stall(r), Kind::Int)));
                all
            }
            Measure::Bound { .. } => {
                named(&[("bound", Kind::Int), ("observed", Kind::Int), ("bound_status", Kind::Text)])
            }
            Measure::Proved => named(&[("proved_bound", Kind::Int)]),
            Measure::Worst { .. } => named(&[
                ("worst_cycles", Kind::Int),
                ("worst_start", Kind::Int),
                ("worst_failed_tries", Kind::Int),
            ]),
        }
    }

    /// Whether the input that a point names by `seed` matters: bounds and searches of workloads have inputs of their own.
    pub fn depends_on_seed(&self, target: &Target) -> bool {
        match (self, target) {
            (Measure::Cycles | Measure::Stats, _) => true,
            (_, Target::Workload { .. }) => false,
            (Measure::Worst { .. }, _) => true,
            (Measure::Bound { .. } | Measure::Proved, Target::Launch { .. }) => false,
            (Measure::Bound { .. } | Measure::Proved, _) => true,
        }
    }

    /// Whether it can be measured on that.
    pub fn goes_with(&self, target: &Target) -> bool {
        match self {
            Measure::Cycles | Measure::Stats | Measure::Bound { .. } => true,
            Measure::Proved | Measure::Worst { .. } => !matches!(target, Target::Hip { .. }),
        }
    }
}

/// The column of a reason to stall.
fn stall(reason: StallReason) -> String {
    format!("stall_{}", reason.name().replace('-', "_"))
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Everything was measured.
    Ok,
    /// The run was refused or ended with an error: cycle limit, wrong results, no bound.
    Failed,
    /// The worker was ended by the run itself.
    Crashed,
    /// There was not enough memory.
    Memory,
    /// The time for a point was over.
    Time,
    /// Something else ended the worker, again and again.
    Killed,
}

impl Status {
    pub const ALL: [Status; 6] =
        [Status::Ok, Status::Failed, Status::Crashed, Status::Memory, Status::Time, Status::Killed];

    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Failed => "failed",
            Status::Crashed => "crashed",
            Status::Memory => "memory",
            Status::Time => "time",
            Status::Killed => "killed",
        }
    }

    /// It follows from the point alone, and would be the same anywhere. The others follow from limits and circumstances.
    pub fn settled(self) -> bool {
        match self {
            Status::Ok | Status::Failed | Status::Crashed => true,
            Status::Memory | Status::Time | Status::Killed => false,
        }
    }
}

/// What came of measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    pub status: Status,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// In the order of [`Measure::columns`]; empty unless all is well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
}

impl Outcome {
    pub fn failed(status: Status, error: impl Into<String>) -> Outcome {
        Outcome { status, error: Some(error.into()), values: Vec::new() }
    }
}
