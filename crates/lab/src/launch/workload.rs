//! Workloads of the benchmark suite as launches: the machine and the marks as the user wants them, results compared with
//! the reference, limits of loops as facts.

use super::compare::Difference;
use super::stage::{Launches, Stage, Step, Verdict};
use crate::bound::{Best, Effort, KernelBound, Options, Place, Runs, best_places};
use crate::job::{Job, JobSpec};
use crate::object::SplitSpec;
use crate::views::{Buffer, Element};
use miette::Report;
use wb_device::Device;
use wb_hw::{Machine, SplitUnits};
use wb_program::marks::Style;
use wb_sim::RunOptions;
use wb_wcet::measure::Unmeasured;
use wb_workloads::{Input, Limit, Marks, OnDevice, Player, Size, Workload, WorkloadError};

/// Which branches of a workload are marked, where nothing is said in detail (`--split-at`, `--split-all`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkChoice {
    /// Its default marks if the mechanism needs marks.
    #[default]
    Needed,
    None,
    Default,
}

/// A workload and how to run it.
#[derive(Clone)]
pub struct WorkloadSpec {
    pub workload: &'static Workload,
    pub size: Size,
    pub marks: MarkChoice,
    /// Inputs that a bound is measured with: the suite's own, and others with other random numbers.
    pub runs: u32,
}

/// How marks are made for a mechanism.
fn style(machine: &Machine) -> Style {
    wb_sim::marks_of(&machine.divergence.mechanism).unwrap_or_default()
}

impl WorkloadSpec {
    pub fn new(name: &str, size: &str) -> Result<WorkloadSpec, WorkloadError> {
        let (workload, size) = (wb_workloads::find(name)?, Size::parse(size)?);
        Ok(WorkloadSpec { workload, size, marks: MarkChoice::default(), runs: 1 })
    }

    pub fn machine(&self, spec: &JobSpec) -> Result<Machine, Report> {
        Job::machine(&JobSpec { isa: "gcn3".into(), ..spec.clone() })
    }

    /// The marks for a machine: what the user says, or the workload's own.
    pub fn marks(&self, machine: &Machine, split: &SplitSpec) -> Marks {
        let needed = wb_sim::marks_of(&machine.divergence.mechanism).is_some();
        match self.marks {
            _ if split.all => Marks::All(split.style),
            _ if !split.at.is_empty() => Marks::At(split.at.clone(), split.style),
            MarkChoice::None => Marks::None,
            MarkChoice::Needed if !needed => Marks::None,
            _ => Marks::Default(style(machine)),
        }
    }

    /// The same launches with these places marked and so many contexts; no contexts: without splitting.
    pub fn placed(&self, spec: &JobSpec, places: &[Place], contexts: u32, style: Style) -> Runs {
        let mechanism = match (contexts, style) {
            (0, _) => "none",
            (_, Style::Pws) => "pws",
            (_, Style::Thesis) => "thesis",
        };
        let mut sets =
            vec![format!("divergence.mechanism={mechanism}"), format!("split.contexts={contexts}")];
        // Split units that serve as SIMDs are there for waves that never split, too: then the machine stays as it is.
        let reused = self.machine(spec).is_ok_and(|m| m.split.units == SplitUnits::Reprovisioned);
        if contexts == 0 && reused {
            sets.clear();
        }
        let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
        let split = SplitSpec { at, all: false, style };
        let spec = JobSpec { sets: [spec.sets.as_slice(), &sets].concat(), split, ..spec.clone() };
        let which = WorkloadSpec { marks: MarkChoice::None, ..self.clone() };
        Runs::Workload { which, spec: Box::new(spec) }
    }

    /// The places whose splits lower the bound most, for the machine's mechanism and contexts. Ways that no run took are
    /// left out, because places are compared, not proven.
    pub fn best(&self, spec: &JobSpec) -> Result<Best, Report> {
        let machine = self.machine(spec)?;
        let style = style(&machine);
        let options = Options { unmeasured: Unmeasured::Exclude, ..Options::default() };
        let marked = |places: &[Place], contexts: u32| {
            let runs = self.placed(spec, places, contexts, style);
            let options = runs.workload_options(&options)?;
            Ok((runs, options))
        };
        // The workload's own marks are one of the placements.
        let lines = self.workload.default_marks();
        let own = |kernels: &[KernelBound]| {
            let branches = kernels.iter().flat_map(|k| &k.branches).filter(|b| b.markable).map(|b| &b.branch);
            vec![branches.filter(|b| lines.contains(&b.source)).cloned().collect()]
        };
        best_places(&marked, &own, machine.split.contexts.max(1), Effort::GUIDE, &mut |_, _| ())
    }

    /// The best places, found at a size, as `--split-at` takes them; empty: not to split has the least bound.
    pub fn optimal(&self, spec: &JobSpec, size: Size) -> Result<SplitSpec, Report> {
        let best = WorkloadSpec { size, ..self.clone() }.best(spec)?;
        let places = best.best.map_or(&[][..], |i| &best.candidates[i].places);
        let at = places.iter().map(|p| format!("{:#x}", p.addr)).collect();
        Ok(SplitSpec { at, all: false, style: style(&self.machine(spec)?) })
    }

    /// What the analyser is told: limits of loops that data decide. DWS merges paths of different rounds, for which
    /// limits of lanes do not hold; there the rounds that were seen are taken, and the bound says so.
    pub fn options(&self, spec: &JobSpec, options: &Options) -> Result<Options, Report> {
        let mut options = options.clone();
        let text = (self.workload.name.to_owned() + "/kernel.cl", self.workload.source.to_owned());
        options.sources.push(text);
        if self.machine(spec)?.divergence.mechanism == "dws" {
            options.facts_from_trace = true;
            return Ok(options);
        }
        let mut played = Played::open(self, spec)?;
        // A limit holds for all inputs that are measured: the largest.
        for input in 1..self.runs {
            let more = (self.workload.build)(self.size, Input(input.into())).limits;
            widen(&mut played.player.run.limits, more);
        }
        options.facts.extend(self.workload.facts(&played.stage.module.object, &played.player.run)?);
        Ok(options)
    }

    /// One launch, counted from 1, as a job of its own; launches before it run untimed. None: there are fewer.
    pub fn job(&self, spec: &JobSpec, number: usize) -> Result<Option<Job>, Report> {
        let mut played = Played::open(self, spec)?;
        while let Some(step) = played.next_step()? {
            if step.number == number {
                let Stage { device, module, buffers, .. } = &mut played.stage;
                return Job::from_device(device, module, &step.dispatch, buffers.clone()).map(Some);
            }
            played.run(&step, RunOptions { timed: false, ..RunOptions::default() }, None)?;
        }
        Ok(None)
    }
}

/// The larger limit of each loop.
fn widen(limits: &mut Vec<Limit>, more: Vec<Limit>) {
    for limit in more {
        match limits.iter_mut().find(|l| (l.kernel, l.tag) == (limit.kernel, limit.tag)) {
            Some(known) if known.max < limit.max => *known = limit,
            Some(_) => {}
            None => limits.push(limit),
        }
    }
}

/// A workload on its way.
pub struct Played {
    stage: Stage,
    player: Player,
    places: Vec<(u64, u64)>,
    launched: usize,
}

impl Played {
    pub fn open(which: &WorkloadSpec, spec: &JobSpec) -> Result<Played, Report> {
        Played::open_input(which, spec, 0)
    }

    /// With another input; 0 is the suite's own.
    pub fn open_input(which: &WorkloadSpec, spec: &JobSpec, input: u64) -> Result<Played, Report> {
        let machine = which.machine(spec)?;
        let object = which.workload.object(&which.marks(&machine, &spec.split))?;
        let mut device = Device::new(machine);
        let module = device.load(which.workload.name, &object)?;
        let run = (which.workload.build)(which.size, Input(input));
        let places = wb_workloads::place(&mut device, &run)?;
        let (mut buffers, mut shapes) = (Vec::new(), Vec::new());
        for (b, &(addr, bytes)) in run.buffers.iter().zip(&places) {
            let element = Element::parse(b.data.type_name()).unwrap_or(Element::U32);
            buffers.push(Buffer { name: b.name.to_owned(), addr, bytes, element });
            shapes.push(vec![b.data.len() as u64]);
        }
        let stage = Stage { device, module, buffers, shapes };
        Ok(Played { stage, player: Player::new(run), places, launched: 0 })
    }
}

impl Launches for Played {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn next_step(&mut self) -> Result<Option<Step>, Report> {
        let mut memory = OnDevice { device: &mut self.stage.device, buffers: &self.places };
        let launch = self.player.next(&mut memory)?;
        self.launched += usize::from(launch.is_some());
        let step = |l| Step {
            number: self.launched,
            dispatch: wb_workloads::dispatch(&l, &self.places),
            span: 0..0,
        };
        Ok(launch.map(step))
    }

    fn verdicts(&self) -> Result<Vec<Verdict>, Report> {
        let read = |b: usize| {
            let (addr, bytes) = self.places[b];
            Ok(self.stage.device.read(addr, bytes)?.to_vec())
        };
        let found = wb_workloads::verdicts(&self.player.run, read)?;
        let verdict = |v: wb_workloads::Verdict| Verdict {
            buffer: v.buffer.to_owned(),
            elements: v.elements,
            difference: v.difference.map(|d| Difference {
                index: d.index,
                got: d.got,
                expected: d.expected,
                count: d.count,
                of: d.of,
            }),
        };
        Ok(found.into_iter().map(verdict).collect())
    }
}
