//! What the command tells the library, in one environment variable; everything has a default, so that the
//! library also works without the command.

use miette::{Report, miette};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use wavebound::hw::Machine;
use wavebound::hw::MarkStyle;
use wavebound::jobs::object::SplitSpec;
use wavebound::sim::DeviceMemory;
use wavebound::trace::TraceOptions;
use wavebound::wcet::measure::Unmeasured;

/// Device memory if nobody says otherwise: 16 GiB, of which only what is touched costs anything. A host that refuses to
/// promise so much gets half of it, and half again, down to [`LEAST_MEMORY`].
const MEMORY: u64 = 16 << 30;
const LEAST_MEMORY: u64 = 1 << 30;
/// What the host must have beside it: decoded programs, waves, records.
const WORKING_MEMORY: u64 = 64 << 20;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Preset or machine file; empty = `gcn3`.
    pub machine: String,
    /// Machine fields to change.
    pub sets: Vec<String>,
    pub untimed: bool,
    /// Host threads of untimed launches; 0: as many as the computer has cores.
    pub threads: usize,
    /// Count no lanes, divergence and splits.
    pub no_stats: bool,
    /// Check the mask invariants after every instruction.
    pub check: bool,
    /// Branches to mark for splitting before kernels run.
    pub split_at: Vec<String>,
    pub split_all: bool,
    pub split_mode: bool,
    /// Trace files and pictures, one for each launch.
    pub trace: Option<PathBuf>,
    pub trace_options: TraceOptions,
    pub picture: Option<PathBuf>,
    /// Count every instruction, for a page.
    pub page: bool,
    /// A launch to write as a launch file, and the folder it goes to.
    pub capture: Option<Capture>,
    /// Check kernels while they run.
    pub sanitize: Option<Sanitize>,
    /// Bound the kernels when the program ends.
    pub wcet: Option<Wcet>,
    /// A line on standard error during long launches.
    pub progress: bool,
    /// Where records of launches go.
    pub records: Option<PathBuf>,
    /// Process id of the command: the program it started ends with it.
    pub command: Option<u32>,
}

/// `--capture KERNEL[:N]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capture {
    /// As the code object calls it, or as people do.
    pub kernel: String,
    /// Which launch of this kernel, from 1.
    pub number: usize,
    pub folder: PathBuf,
}

/// `--sanitize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sanitize {
    /// Lanes of a wave go in step.
    pub in_step: bool,
    /// Text of a file of suppressions.
    pub suppressions: String,
}

/// What the analysis may assume (as `wavebound wcet`).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wcet {
    /// Names and texts of facts files.
    pub facts: Vec<(String, String)>,
    pub facts_from_trace: bool,
    /// `error`, `exclude`, or a number of cycles.
    pub unmeasured: String,
    pub all_points: bool,
    /// Buffers whose contents are part of the launch.
    pub fixed: Vec<String>,
    /// Measured times only, or no measured times.
    pub hybrid: bool,
    pub proved: bool,
}

impl Options {
    /// From a variable of the environment; nothing there means all defaults.
    pub fn from_environment(variable: &str) -> Result<Options, Report> {
        match std::env::var(variable) {
            Ok(text) => serde_json::from_str(&text).map_err(|e| {
                miette!(help = "`wavebound hip` and `wavebound cl` set theirs", "{variable}: {e}")
            }),
            Err(_) => Ok(Options::default()),
        }
    }

    /// Whether the size of device memory is ours to choose.
    fn any_memory(&self) -> bool {
        !self.sets.iter().any(|s| s.trim_start().starts_with("limits.memory"))
    }

    pub fn machine(&self) -> Result<Machine, Report> {
        let name = if self.machine.is_empty() { "gcn3" } else { &self.machine };
        let mut sets =
            self.sets.iter().map(|s| wavebound::hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
        if self.any_memory() {
            sets.push(wavebound::hw::parse_set(&format!("limits.memory={MEMORY}"))?);
        }
        let machine = wavebound::hw::load(name)?.with_overrides(&sets)?;
        if machine.isa != wavebound::hw::InstructionSet::Gcn3 {
            return Err(miette!(
                help = "presets for these programs: gcn3, pws, vega, mi200",
                "machine {} runs {}, and kernels of HIP and OpenCL programs are gcn3",
                machine.name,
                machine.isa
            ));
        }
        Ok(machine)
    }

    /// The machine with memory that the host has: as much as was asked for, or as much as there is if nobody asked.
    pub fn affordable_machine(&self) -> Result<Machine, Report> {
        let mut machine = self.machine()?;
        let affordable =
            |bytes: u64| wavebound::sim::affordable(DeviceMemory::host_bytes(bytes) + WORKING_MEMORY);
        while self.any_memory() && machine.limits.memory > LEAST_MEMORY && !affordable(machine.limits.memory)
        {
            machine.limits.memory /= 2;
        }
        let size = machine.limits.memory;
        if affordable(size) {
            return Ok(machine);
        }
        Err(miette!(
            help = "give the device less: --set limits.memory=268435456",
            "this computer has no room for the {size} bytes of memory of the machine {}",
            machine.name
        ))
    }

    /// Where trace and picture of a launch go: `run.wbt` of launch 2 is `run-2.wbt`; of the run's third process it is
    /// `run-p3-2.wbt`.
    pub fn trace_of(&self, process: u32, number: usize) -> Option<PathBuf> {
        self.trace.as_deref().map(|path| numbered(path, process, number))
    }

    pub fn picture_of(&self, process: u32, number: usize) -> Option<PathBuf> {
        self.picture.as_deref().map(|path| numbered(path, process, number))
    }

    pub fn split(&self) -> SplitSpec {
        let style = if self.split_mode { MarkStyle::Thesis } else { MarkStyle::Pws };
        SplitSpec { at: self.split_at.clone(), all: self.split_all, style }
    }
}

fn numbered(path: &Path, process: u32, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    let process = if process > 1 { format!("-p{process}") } else { String::new() };
    path.with_file_name(format!("{stem}{process}-{number}{extension}"))
}

impl Wcet {
    pub fn options(&self) -> Result<wavebound::bound::Options, Report> {
        let unmeasured = match self.unmeasured.as_str() {
            "" | "error" => Unmeasured::Error,
            "exclude" => Unmeasured::Exclude,
            n => Unmeasured::Cost(n.parse().map_err(|_| miette!("unmeasured: `{n}` is not a number"))?),
        };
        Ok(wavebound::bound::Options {
            fixed: self.fixed.clone(),
            hybrid: self.hybrid,
            segments: false,
            proved: self.proved,
            facts: self.facts.clone(),
            facts_from_trace: self.facts_from_trace,
            unmeasured,
            all_points: self.all_points,
            free_skips: false,
            what_if: false,
            sources: Vec::new(),
            more_inputs: "The program decides its inputs: run it with others, larger and nastier ones"
                .to_owned(),
        })
    }
}
