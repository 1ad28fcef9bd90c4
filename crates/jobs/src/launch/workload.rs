//! Workloads of the benchmark suite as launches: the machine and the marks as the user wants them, results compared with
//! the reference, limits of loops as facts.

use super::compare::Difference;
use super::stage::{Launches, Stage, Step, Verdict};
use crate::data::{Buffer, Element};
use crate::error::JobError;
use crate::job::Job;
use crate::object::SplitSpec;
use crate::spec::JobSpec;
use wb_device::Device;
use wb_hw::{InstructionSet, Machine, MarkStyle};
use wb_sim::RunOptions;
use wb_workloads::{Input, Marks, OnDevice, Player, Size, Workload, WorkloadError};

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
pub fn style(machine: &Machine) -> MarkStyle {
    machine.divergence.mechanism.info().marks.unwrap_or_default()
}

impl WorkloadSpec {
    pub fn new(name: &str, size: &str) -> Result<WorkloadSpec, WorkloadError> {
        let (workload, size) = (wb_workloads::find(name)?, Size::parse(size)?);
        Ok(WorkloadSpec { workload, size, marks: MarkChoice::default(), runs: 1 })
    }

    pub fn machine(&self, spec: &JobSpec) -> Result<Machine, JobError> {
        JobSpec { isa: Some(InstructionSet::Gcn3), ..spec.clone() }.machine()
    }

    /// The marks for a machine: what the user says, or the workload's own.
    pub fn marks(&self, machine: &Machine, split: &SplitSpec) -> Marks {
        // Branches of lane-pc code split without marks.
        let needed =
            machine.divergence.mechanism.info().marks.is_some() && machine.isa == InstructionSet::Gcn3;
        match self.marks {
            _ if split.all => Marks::All(split.style),
            _ if !split.at.is_empty() => Marks::At(split.at.clone(), split.style),
            MarkChoice::None => Marks::None,
            MarkChoice::Needed if !needed => Marks::None,
            _ => Marks::Default(style(machine)),
        }
    }

    /// One launch, counted from 1, as a job of its own; launches before it run untimed. None: there are fewer.
    pub fn job(&self, spec: &JobSpec, number: usize) -> Result<Option<Job>, JobError> {
        let mut session = WorkloadSession::open(self, spec)?;
        while let Some(step) = session.next_step()? {
            if step.number == number {
                let Stage { device, module, buffers, .. } = &mut session.stage;
                return Job::from_device(device, module, &step.dispatch, buffers.clone()).map(Some);
            }
            session.run(&step, RunOptions { timed: false, ..RunOptions::default() }, None)?;
        }
        Ok(None)
    }
}

/// A workload on its way.
pub struct WorkloadSession {
    pub stage: Stage,
    pub player: Player,
    places: Vec<(u64, u64)>,
    launched: usize,
}

impl WorkloadSession {
    pub fn open(which: &WorkloadSpec, spec: &JobSpec) -> Result<WorkloadSession, JobError> {
        WorkloadSession::open_input(which, spec, 0)
    }

    /// With another input; 0 is the suite's own.
    pub fn open_input(which: &WorkloadSpec, spec: &JobSpec, input: u64) -> Result<WorkloadSession, JobError> {
        let machine = which.machine(spec)?;
        let object = which.workload.object(&machine.arch, &which.marks(&machine, &spec.split))?;
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
        let stage = Stage { device, module, buffers, shapes, unwritten: Vec::new() };
        Ok(WorkloadSession { stage, player: Player::new(run), places, launched: 0 })
    }
}

impl Launches for WorkloadSession {
    fn stage(&self) -> &Stage {
        &self.stage
    }

    fn stage_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }

    fn next_step(&mut self) -> Result<Option<Step>, JobError> {
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

    fn verdicts(&self) -> Result<Vec<Verdict>, JobError> {
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
