//! What one point runs: a program with its launch on a machine. Everything a worker needs is in it; the plan stays behind.

use serde::{Deserialize, Serialize};
use wb_hw::{InstructionSet, MarkStyle};
use wb_jobs::JobSpec;
use wb_jobs::launch::{MarkChoice, WorkloadSpec};
use wb_jobs::object::SplitSpec;

/// A point, ready to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub target: Target,
    /// Preset or machine file; empty: the default.
    #[serde(default)]
    pub machine: String,
    /// Fields of the machine, `core.waves=4`.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Which input.
    #[serde(default)]
    pub seed: u32,
    /// Branches to mark.
    #[serde(default)]
    pub split_at: Vec<String>,
    #[serde(default)]
    pub split_all: bool,
}

/// What runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Workload { name: String, size: String, marks: String },
    Launch { path: String },
    Program(Box<Program>),
    Hip { path: String, args: Vec<String>, files: Vec<String> },
}

impl Default for Target {
    fn default() -> Target {
        Target::Launch { path: String::new() }
    }
}

/// A program file and its launch, as the options of `wavebound run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    pub path: String,
    pub isa: String,
    pub arch: String,
    pub kernel: String,
    pub grid: Option<[u32; 3]>,
    pub group: Option<[u32; 3]>,
    pub args: Vec<String>,
    pub views: Vec<String>,
    pub samplers: Vec<String>,
    pub registers: u32,
    pub dynamic_lds: u32,
}

/// Which branches of a workload are marked.
pub fn choice(marks: &str) -> Option<MarkChoice> {
    match marks {
        "needed" => Some(MarkChoice::Needed),
        "default" => Some(MarkChoice::Default),
        "none" => Some(MarkChoice::None),
        _ => None,
    }
}

impl Point {
    /// As a job: the machine, the marks and the launch.
    pub fn spec(&self) -> JobSpec {
        let mut spec = JobSpec {
            machine: self.machine.clone(),
            sets: self.sets.clone(),
            run: self.seed,
            ..JobSpec::default()
        };
        if self.split_all || !self.split_at.is_empty() {
            let machine = JobSpec { isa: Some(InstructionSet::Gcn3), ..spec.clone() }.machine();
            let style = machine.ok().and_then(|m| m.divergence.mechanism.info().marks).unwrap_or_default();
            spec.split = SplitSpec { at: self.split_at.clone(), all: self.split_all, style };
        } else {
            spec.split.style = MarkStyle::default();
        }
        if let Target::Program(p) = &self.target {
            let total =
                |s: Option<[u32; 3]>| s.map_or(0, |s| s.iter().fold(1, |n: u32, &d| n.saturating_mul(d)));
            spec.isa = InstructionSet::parse(&p.isa);
            spec.arch.clone_from(&p.arch);
            spec.kernel.clone_from(&p.kernel);
            spec.registers = p.registers;
            spec.grid = total(p.grid);
            spec.group = total(p.group);
            spec.grid3 = p.grid.unwrap_or([64, 1, 1]);
            spec.group3 = p.group.unwrap_or([64, 1, 1]);
            spec.args = p.args.iter().cloned().map(Into::into).collect();
            spec.views.clone_from(&p.views);
            spec.samplers.clone_from(&p.samplers);
            spec.dynamic_lds = p.dynamic_lds;
        }
        spec
    }

    /// The workload, if it is one.
    pub fn workload(&self) -> Option<WorkloadSpec> {
        let Target::Workload { name, size, marks } = &self.target else { return None };
        let which = WorkloadSpec::new(name, size).ok()?;
        Some(WorkloadSpec { marks: choice(marks)?, ..which })
    }
}
