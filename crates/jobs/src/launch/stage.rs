//! What launches share, wherever they come from: a device with a program and named buffers, and the interface of whoever
//! hands out one launch at a time (launch files, workloads of the suite).

use super::compare::Difference;
use crate::data::{Array, is_npy};
use crate::data::{Buffer, Extent};
use crate::error::{JobError, refused};
use crate::program::ProgramRef;
use std::ops::Range;
use std::path::{Path, PathBuf};
use wb_device::{Device, DeviceError, Dispatch, Module, OnDevice};
use wb_hw::{InstructionSet, Machine};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::riscv::Riscv;
use wb_objects::codeobject::KernelArg;
use wb_program::Program;
use wb_sim::{Launch, Outcome, RunOptions, Touchable};
use wb_trace::Observer;

/// Runs a launch that was prepared.
pub type RunLaunch<'a> = dyn FnMut(RunOptions, Option<&mut dyn Observer>) -> Result<Outcome, JobError> + 'a;

/// Looks at a launch before it runs, and may run it.
pub type Look<'a> = dyn FnMut(&Due, &[KernelArg], &mut RunLaunch) -> Result<(), JobError> + 'a;

/// A launch that was prepared.
pub struct Due<'a> {
    pub program: ProgramRef<'a>,
    pub machine: &'a Machine,
    pub launch: Launch,
    /// The argument segment.
    pub kernarg: &'a [u8],
    /// Where its accesses can go.
    pub touchable: &'a Touchable,
}

/// A launch that is due.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counted from 1.
    pub number: usize,
    pub dispatch: Dispatch,
    /// Where the launch file says so; empty otherwise.
    pub(super) span: Range<usize>,
}

/// What was found where something was expected.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub buffer: String,
    pub elements: u64,
    /// None: as expected.
    pub difference: Option<Difference>,
}

/// A device with a program in place and buffers that have names.
pub struct Stage {
    pub device: Device,
    pub module: Module,
    pub buffers: Vec<Buffer>,
    pub(super) shapes: Vec<Vec<u64>>,
    /// Addresses of buffers that the file does not fill.
    pub(crate) unwritten: Vec<u64>,
}

impl Stage {
    /// The program's file.
    pub fn program_file(&self) -> &str {
        &self.module.name
    }

    pub fn machine(&self) -> &Machine {
        &self.device.machine
    }

    /// What `NAME[:COUNT[:TYPE]]` stands for.
    pub fn buffer(&self, what: &str) -> Result<Buffer, JobError> {
        let names = || self.buffers.iter().map(|b| b.name.as_str()).collect::<Vec<_>>().join(" ");
        Buffer::select(what, |name| {
            let found = self.buffers.iter().find(|b| b.name == name).cloned();
            found.map(|b| (b, Extent::Exact)).ok_or_else(|| {
                refused!(Buffer, help = format!("buffers: {}", names()), "there is no buffer `{name}`")
            })
        })
    }

    /// The elements of a buffer as text.
    pub fn values(&self, buffer: &Buffer) -> Result<Vec<String>, JobError> {
        let bytes = self.device.read(buffer.addr, buffer.bytes)?;
        Ok(bytes.chunks(buffer.element.bytes() as usize).map(|c| buffer.element.show(c)).collect())
    }

    /// Writes a buffer (`NAME[:COUNT[:TYPE]]`) to .npy or raw bytes.
    pub fn save(&self, what: &str, path: &Path) -> Result<(), JobError> {
        let buffer = self.buffer(what)?;
        let bytes = self.device.read(buffer.addr, buffer.bytes)?.to_vec();
        let whole = self.buffers.iter().position(|b| b.name == what);
        let shape = match whole.map(|i| self.shapes[i].clone()) {
            Some(shape) => shape,
            None => vec![buffer.bytes / buffer.element.bytes()],
        };
        debug_assert!(
            !is_npy(path) || shape.iter().product::<u64>() * buffer.element.bytes() == buffer.bytes
        );
        Array { element: buffer.element, shape, bytes }.write(path)
    }
}

/// Hands out launches one after the other; the caller decides how each runs and who watches it.
pub trait Launches {
    fn stage(&self) -> &Stage;
    fn stage_mut(&mut self) -> &mut Stage;

    /// The next launch, if there is one. Loops look at device memory here.
    fn next_step(&mut self) -> Result<Option<Step>, JobError>;

    /// Compares results with what is expected, at the end.
    fn verdicts(&self) -> Result<Vec<Verdict>, JobError>;

    /// Files that [`Launches::write_outputs`] writes.
    fn outputs(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Writes what is to be kept; returns buffers and files.
    fn write_outputs(&self) -> Result<Vec<(String, PathBuf)>, JobError> {
        Ok(Vec::new())
    }

    /// A launch that could not run, with its place.
    fn failed(&self, step: &Step, e: DeviceError) -> JobError {
        JobError::from(e).within(format!("launch {}", step.number))
    }

    /// Runs a step; its effects stay in device memory.
    fn run(
        &mut self,
        step: &Step,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, JobError> {
        let stage = self.stage_mut();
        let outcome = stage.device.launch(&stage.module, &step.dispatch, options, observer);
        outcome.map_err(|e| self.failed(step, e))
    }

    /// Shows what a step will run, and on which machine; `look` may run it. Its effects stay in device memory.
    fn with_prepared(&mut self, step: &Step, look: &mut Look) -> Result<(), JobError> {
        match self.stage().module.object.isa {
            InstructionSet::Riscv => with_prepared::<Riscv, Self>(self, step, look, |p| ProgramRef::Riscv(p)),
            _ => with_prepared::<Gcn3, Self>(self, step, look, |p| ProgramRef::Gcn3(p)),
        }
    }
}

fn with_prepared<I: OnDevice, L: Launches + ?Sized>(
    launches: &mut L,
    step: &Step,
    look: &mut Look,
    program: impl Fn(&Program<I>) -> ProgramRef<'_>,
) -> Result<(), JobError> {
    let stage = launches.stage_mut();
    let prepared = match stage.device.prepare_for::<I>(&stage.module, &step.dispatch) {
        Ok(prepared) => prepared,
        Err(e) => return Err(launches.failed(step, e)),
    };
    let stage = launches.stage_mut();
    let args = stage.module.kernel(&step.dispatch.kernel)?.args.clone();
    let device = &mut stage.device;
    let mut run = |options: RunOptions, observer: Option<&mut dyn Observer>| {
        Ok(device.run(&prepared, options, observer)?)
    };
    let due = Due {
        program: program(&prepared.program),
        machine: &prepared.machine,
        launch: prepared.launch,
        kernarg: &prepared.kernarg,
        touchable: &prepared.touchable,
    };
    let seen = look(&due, &args, &mut run);
    stage.device.finish(prepared);
    seen.map_err(|e| e.within(format!("launch {}", step.number)))
}
