//! What to run and on which machine: the options `run` and `picture` share.

use super::style::StyleArg;
use super::workloads::{MarksArg, WorkloadArgs};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use miette::miette;
use std::io::IsTerminal;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::{Duration, Instant};
use wavebound::hw::{InstructionSet, MarkStyle};
use wavebound::jobs::launch::{Launches, MarkChoice, Session, WorkloadSession, WorkloadSpec, is_launch_file};
use wavebound::jobs::object::SplitSpec;
use wavebound::jobs::{Job, JobSpec};
use wavebound::sim::Sofar;

/// A launch size in up to three dimensions.
#[derive(Clone, Copy, Debug)]
pub struct Size([u32; 3]);

impl Size {
    pub fn dimensions(self) -> [u32; 3] {
        self.0
    }

    pub fn three(self) -> [u32; 3] {
        self.0
    }

    fn total(self) -> u32 {
        self.0.iter().fold(1, |n, &d| n.saturating_mul(d))
    }
}

pub fn size(text: &str) -> Result<Size, String> {
    let parts: Result<Vec<u32>, _> = text.split(['x', ',']).map(str::parse).collect();
    match parts.as_deref() {
        Ok(all) if all.contains(&0) => Err("a size is at least 1 in every dimension".into()),
        Ok([x]) => Ok(Size([*x, 1, 1])),
        Ok([x, y]) => Ok(Size([*x, *y, 1])),
        Ok([x, y, z]) => Ok(Size([*x, *y, *z])),
        _ => Err("a size looks like 1024, 64x64 or 16x16x4".into()),
    }
}

/// Which machine, with what changes.
#[derive(Args, Clone)]
pub struct MachineArgs {
    /// Machine: a preset (`wavebound machines` lists them) or a .toml file [default: the ISA's own preset]
    #[arg(long, short)]
    pub machine: Option<String>,
    /// Change a field of the machine, e.g. --set core.waves=4 --set units.alu.count=2; repeatable
    #[arg(long = "set", value_name = "FIELD=VALUE")]
    pub sets: Vec<String>,
    /// Lanes of a wave (core.lanes)
    #[arg(long)]
    pub lanes: Option<u32>,
    /// Wave slots of a core (core.waves)
    #[arg(long)]
    pub waves: Option<u32>,
    /// Divergence mechanism; `wavebound mechanisms` lists them
    #[arg(long)]
    pub mechanism: Option<String>,
    /// Number S of split contexts of a wave (split.contexts)
    #[arg(long = "s", value_name = "S")]
    pub contexts: Option<u32>,
    /// Issue policy; `wavebound machines policies` lists them
    #[arg(long)]
    pub policy: Option<String>,
    /// Fetch policy of a decoupled front end
    #[arg(long)]
    pub fetch_policy: Option<String>,
    /// Front end: perfect, decoupled or coordinated (frontend.kind)
    #[arg(long)]
    pub frontend: Option<String>,
    /// Stop with an error after this many cycles (limits.cycles)
    #[arg(long)]
    pub max_cycles: Option<u64>,
    /// The run is checked.
    #[arg(skip)]
    pub checked: bool,
}

impl MachineArgs {
    /// Something is said about the machine.
    pub fn given(&self) -> bool {
        let texts = [&self.machine, &self.mechanism, &self.policy, &self.fetch_policy, &self.frontend];
        let numbers = [self.lanes, self.waves, self.contexts];
        !self.sets.is_empty()
            || texts.iter().any(|t| t.is_some())
            || numbers.iter().any(Option::is_some)
            || self.max_cycles.is_some()
    }

    /// A job on the machine, with everything else left open.
    pub fn spec(&self) -> JobSpec {
        let mut sets = self.sets.clone();
        let mut set = |field: &str, value: Option<String>| {
            if let Some(value) = value {
                sets.push(format!("{field}={value}"));
            }
        };
        set("core.lanes", self.lanes.map(|v| v.to_string()));
        set("core.waves", self.waves.map(|v| v.to_string()));
        set("divergence.mechanism", self.mechanism.clone());
        set("split.contexts", self.contexts.map(|s| s.to_string()));
        set("issue.policy", self.policy.clone());
        set("frontend.policy", self.fetch_policy.clone());
        set("frontend.kind", self.frontend.clone());
        set("limits.cycles", self.max_cycles.map(|v| v.to_string()));
        let machine = self.machine.clone().unwrap_or_default();
        JobSpec { machine, sets, checked: self.checked, ..JobSpec::default() }
    }

    /// How branches are to be marked: as the user says, or as the machine's mechanism reads it. Says so, once, if the
    /// mechanism does not read what is `wanted`.
    pub fn style(&self, given: Option<StyleArg>, wanted: bool) -> MarkStyle {
        // What is wrong with the machine is said when it is used.
        let machine = JobSpec { isa: Some(InstructionSet::Gcn3), ..self.spec() }.machine().ok();
        let read = machine.as_ref().and_then(|m| m.divergence.mechanism.info().marks);
        let style = given.map_or(read.unwrap_or_default(), MarkStyle::from);
        if let Some(machine) = machine.filter(|_| wanted && read != Some(style)) {
            static SAID: Once = Once::new();
            let mechanism = &machine.divergence.mechanism;
            let advice = match read {
                Some(read) => format!("it reads those of --split-style {}", read.name()),
                None => "--mechanism pws and --mechanism thesis read marks".to_owned(),
            };
            SAID.call_once(|| {
                super::tell(&format!("wavebound: warning: mechanism {mechanism} ignores the marks: {advice}"))
            });
        }
        style
    }
}

/// A program and how to run it.
#[derive(Args, Clone)]
pub struct Target {
    /// Program, or launch file (.toml): .co .hsaco .s .cl .hip (GCN3), .elf .vx (Vortex), .harp .s .hof (HARP), .guppy .gupm (GUPPY)
    #[arg(required_unless_present = "workload")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub how: How,
}

impl Deref for Target {
    type Target = How;

    fn deref(&self) -> &How {
        &self.how
    }
}

/// The launch and the machine of a program.
#[derive(Args, Clone)]
pub struct How {
    #[command(flatten)]
    pub workload: WorkloadArgs,
    /// Branches of the workload to mark for splitting [default: its own, under pws and thesis]
    #[arg(long, value_enum, requires = "workload")]
    pub marks: Option<MarksArg>,
    /// Instruction set, if the extension does not say: harp, guppy, gcn3, vortex, riscv
    #[arg(long)]
    pub isa: Option<InstructionSet>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Registers of a lane
    #[arg(long)]
    pub registers: Option<u32>,
    /// HARP architecture string, e.g. 4w8/1 or 8w32/32/8/8
    #[arg(long)]
    pub arch: Option<String>,
    /// Threads to launch: N, or XxYxZ for GCN3 [default: one wave]
    #[arg(long, value_parser = size)]
    pub grid: Option<Size>,
    /// Threads of a group: N, or XxYxZ for GCN3 [default: one wave on GCN3, all threads on GUPPY]
    #[arg(long, value_parser = size)]
    pub group: Option<Size>,
    /// GCN3: the kernel, if a code object has several; Vortex: the function that --oracle watches (default: task)
    #[arg(long, default_value = "")]
    pub kernel: String,
    /// Kernel arguments in order: buf:f32:1024:iota, buf:f32:data.npy, i32:5, f32:1,2,3,4 (float4), "struct:i32:5;f32:0.5"
    /// (members), hex:0a0b0c0d, local:4096
    #[arg(long = "arg", value_name = "ARG", allow_hyphen_values = true)]
    pub args: Vec<String>,
    /// Local memory beyond what the kernel asks for, in bytes (HIP's third launch parameter)
    #[arg(long, default_value_t = 0)]
    pub dynamic_lds: u32,
    /// Mark a branch for splitting before the run, by address, pc, FILE:LINE or LABEL; repeatable (docs/splitting.md)
    #[arg(long = "split-at", value_name = "PLACE")]
    pub split_at: Vec<String>,
    /// Mark all divergent branches for splitting before the run (docs/splitting.md)
    #[arg(long)]
    pub split_all: bool,
    /// How --split-at and --split-all mark: split and merge, or the MODE bit [default: what the mechanism reads]
    #[arg(long, value_enum)]
    pub split_style: Option<StyleArg>,
    /// GUPPY: bind a buffer or texture, e.g. t0=buf:u32:256:iota, u0=buf:f32:64, t1=tex:64x64:checker, t1=u0
    #[arg(long = "view", value_name = "VIEW=SPEC")]
    pub views: Vec<String>,
    /// GUPPY: bind a sampler, e.g. s0=linear:repeat, s1=nearest:clamp
    #[arg(long = "sampler", value_name = "SAMPLER=SPEC")]
    pub samplers: Vec<String>,
}

impl Target {
    /// The program; empty for a workload.
    pub fn file(&self) -> &Path {
        self.file.as_deref().unwrap_or(Path::new(""))
    }

    /// The workload and how to run it, if it is one.
    pub fn workload(&self) -> miette::Result<Option<(WorkloadSpec, JobSpec)>> {
        let Some(which) = self.workload.spec()? else { return Ok(None) };
        let mut spec = self.launch_spec()?;
        let marks = match self.marks {
            None => MarkChoice::Needed,
            Some(MarksArg::Default) => MarkChoice::Default,
            Some(MarksArg::None) => MarkChoice::None,
            Some(MarksArg::Optimal) => {
                spec.split =
                    wavebound::bound::optimal_splits(&which, &spec, wavebound::workloads::Size::Tiny)?;
                MarkChoice::None
            }
        };
        Ok(Some((WorkloadSpec { marks, ..which }, spec)))
    }

    /// Who hands out launches, if it is a launch file or a workload.
    pub fn launches(&self) -> miette::Result<Option<Box<dyn Launches>>> {
        if let Some((which, spec)) = self.workload()? {
            return Ok(Some(Box::new(WorkloadSession::open(&which, &spec)?)));
        }
        if is_launch_file(self.file()) {
            return Ok(Some(Box::new(Session::open(self.file(), &self.launch_spec()?)?)));
        }
        Ok(None)
    }

    /// For a launch file or a workload, which say themselves what to launch: only the machine can be chosen.
    pub fn launch_spec(&self) -> miette::Result<JobSpec> {
        let given = [
            ("--isa", self.isa.is_some()),
            ("--arch", self.arch.is_some()),
            ("--registers", self.registers.is_some()),
            ("--grid", self.grid.is_some()),
            ("--group", self.group.is_some()),
            ("--kernel", !self.kernel.is_empty()),
            ("--arg", !self.args.is_empty()),
            ("--dynamic-lds", self.dynamic_lds > 0),
            ("--view", !self.views.is_empty()),
            ("--sampler", !self.samplers.is_empty()),
            ("a file", self.workload.workload.is_some() && self.file.is_some()),
        ];
        match given.iter().find(|g| g.1) {
            Some((option, _)) if self.workload.workload.is_some() => Err(miette!(
                help =
                    "a workload is a program with its launches; --size, --machine, --set and the like work",
                "{option} does not go with --workload"
            )),
            Some((option, _)) => Err(miette!(
                help = "write it into the launch file (docs/launch-files.md); --machine, --set and the like work",
                "{option} does not go with a launch file"
            )),
            None => Ok(self.spec()),
        }
    }

    pub fn job(&self) -> miette::Result<Job> {
        Ok(Job::from_file(self.file(), &self.spec())?)
    }

    /// The same with other random numbers in its buffers.
    pub fn job_with_seed(&self, run: u32) -> miette::Result<Job> {
        Ok(Job::from_file(self.file(), &JobSpec { run, ..self.spec() })?)
    }

    /// A launch is described: by a file, a workload, sizes or arguments.
    pub fn launches_given(&self) -> bool {
        is_launch_file(self.file())
            || self.workload.workload.is_some()
            || self.grid.is_some()
            || self.group.is_some()
            || !self.args.is_empty()
            || !self.views.is_empty()
    }

    pub fn spec(&self) -> JobSpec {
        JobSpec {
            isa: self.isa,
            arch: self.arch.clone().unwrap_or_default(),
            registers: self.registers.unwrap_or(0),
            grid: self.grid.map_or(0, Size::total),
            group: self.group.map_or(0, Size::total),
            kernel: self.kernel.clone(),
            grid3: self.grid.map_or([64, 1, 1], |s| s.0),
            group3: self.group.map_or([64, 1, 1], |s| s.0),
            args: self.args.iter().cloned().map(Into::into).collect(),
            dynamic_lds: self.dynamic_lds,
            split: SplitSpec {
                at: self.split_at.clone(),
                all: self.split_all,
                style: self.machine.style(self.split_style, self.split_all || !self.split_at.is_empty()),
            },
            views: self.views.clone(),
            samplers: self.samplers.clone(),
            ..self.machine.spec()
        }
    }
}

/// A line on the terminal for long runs; nothing when standard error is not a terminal.
pub struct Progress {
    bar: Option<ProgressBar>,
    began: Instant,
}

impl Progress {
    pub fn new() -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Progress { bar, began: Instant::now() }
    }

    pub fn show(&self, sofar: Sofar) {
        if let Some(bar) = &self.bar {
            bar.set_message(sofar.words(self.began.elapsed()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
