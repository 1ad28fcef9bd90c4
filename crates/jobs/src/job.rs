//! A run as a user describes it: a file, a machine with changes, a launch. Command line, experiments,
//! filetests and benches all start runs through here.

use crate::args::ArgSpec;
use crate::data::{Buffer, Element, Extent, reseed_argument};
use crate::error::{JobError, refused};
use crate::known::Known;
use crate::language::{self, Language, Prepared};
use crate::languages::kernels;
use crate::object;
use crate::program::AnyProgram;
use crate::spec::JobSpec;
use crate::{with_isa, with_program};
use std::path::Path;
use wb_device::{Device, Dispatch, Module};
use wb_hw::{InstructionSet, Machine};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::riscv::Riscv;
use wb_isa::{Isa, NO_PC, Pc, SourceFile};
use wb_objects::codeobject::KernelArg;
use wb_program::{Program, Segment};
use wb_sim::{DeviceMemory, Launch, Outcome, RunOptions};
use wb_trace::{Observer, TraceInfo};

/// A run, ready: a program, a machine, a launch and what memory holds before it.
pub struct Job {
    /// The file it came from, or what stands for one.
    pub file: String,
    pub program: AnyProgram,
    pub machine: Machine,
    pub launch: Launch,
    pub buffers: Vec<Buffer>,
    /// GCN3: the argument segment, and what the arguments are.
    pub kernarg: Vec<u8>,
    pub args: Vec<KernelArg>,
    init: Vec<(u64, Vec<u8>)>,
    /// Buffers by the position of their argument, `arg1`, whatever their names are.
    positions: Vec<(String, usize)>,
    pub(crate) known: Known,
}

impl Job {
    pub fn from_file(path: &Path, spec: &JobSpec) -> Result<Job, JobError> {
        let bytes = object::read_for(path, &spec.compile_options()?, &spec.kernel)?;
        let isa = language::required_isa(path, &bytes, spec.isa)?;
        Job::from_bytes(&path.display().to_string(), &bytes, &JobSpec { isa: Some(isa), ..spec.clone() })
    }

    pub fn from_source(name: &str, text: &str, spec: &JobSpec) -> Result<Job, JobError> {
        Job::from_bytes(name, text.as_bytes(), spec)
    }

    /// Source text, or an object file told by its magic. `spec.isa` must be set.
    pub fn from_bytes(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let isa = spec.isa.ok_or_else(|| refused!(Program, "{name}: the instruction set is not named"))?;
        if !spec.split.is_empty() && isa != InstructionSet::Gcn3 {
            return Err(object::unmarkable(isa));
        }
        let mut reseeded = spec.clone();
        let texts = reseeded.args.iter_mut().filter_map(|a| match a {
            ArgSpec::Text(text) => Some(text),
            ArgSpec::Ready(_) => None,
        });
        for text in texts.chain(&mut reseeded.views).filter(|_| spec.run > 0) {
            if let Some(other) = reseed_argument(text, spec.run) {
                *text = other;
            }
        }
        let spec = &reseeded;
        Ok(with_isa!(isa, I => Job::of(name, I::prepare(name, bytes, spec)?)))
    }

    fn of<I: Isa>(file: &str, prepared: Prepared<I>) -> Job
    where
        AnyProgram: From<Program<I>>,
    {
        let Prepared { program, machine, launch, buffers, kernarg, args, init, positions, known } = prepared;
        let (file, program) = (file.to_owned(), program.into());
        Job { file, program, machine, launch, buffers, kernarg, args, init, positions, known }
    }

    /// A launch of a kernel that is in place, with the device's memory as it is now.
    pub fn from_device(
        device: &mut Device,
        module: &Module,
        dispatch: &Dispatch,
        buffers: Vec<Buffer>,
    ) -> Result<Job, JobError> {
        let name = &module.name;
        Ok(match module.object.isa {
            InstructionSet::Riscv => {
                Job::of(name, kernels::from_device::<Riscv>(device, module, dispatch, buffers)?)
            }
            _ => Job::of(name, kernels::from_device::<Gcn3>(device, module, dispatch, buffers)?),
        })
    }

    /// What is written to memory before the launch, with its addresses.
    pub fn initial(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.init.iter().map(|(addr, bytes)| (*addr, bytes.as_slice()))
    }

    /// Gives a buffer other contents before the launch; what does not fit into it is left out.
    pub fn set_contents(&mut self, buffer: &Buffer, bytes: &[u8]) {
        for (addr, block) in &mut self.init {
            let from = buffer.addr.checked_sub(*addr).and_then(|from| usize::try_from(from).ok());
            if let Some(old) = from.and_then(|from| block.get_mut(from..)) {
                let count =
                    old.len().min(bytes.len()).min(usize::try_from(buffer.bytes).unwrap_or(usize::MAX));
                old[..count].copy_from_slice(&bytes[..count]);
            }
        }
    }

    /// Device memory as the launch finds it.
    pub fn memory(&self) -> Result<DeviceMemory, JobError> {
        let program = self.program.borrow();
        let mut memory = with_program!(program, p => Language::memory(p, &self.machine, &self.init))?;
        for (addr, bytes) in &self.init {
            memory.write(*addr, bytes).map_err(|fault| {
                refused!(Program, help = "raise limits.memory with --set", "the views do not fit: {fault}")
            })?;
        }
        Ok(memory)
    }

    pub fn run(&self, options: RunOptions, observer: Option<&mut dyn Observer>) -> Result<Outcome, JobError> {
        self.run_on(&self.machine, options, observer)
    }

    /// Runs on a machine that differs from the job's in timing only: front end, policies, units, memory.
    pub fn run_on(
        &self,
        machine: &Machine,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, JobError> {
        let memory = self.memory()?;
        Ok(self.program.borrow().runnable().run(machine, self.launch, memory, options, observer)?)
    }

    pub fn trace_info(&self, timed: bool) -> TraceInfo {
        with_program!(self.program.borrow(), p => wb_sim::trace_info(p, &self.machine, timed))
    }

    /// Where the kernel begins whose schedule is watched: a label; empty = `task` where the program is one for Vortex that
    /// has it. [`NO_PC`] = there is no start-up code, the whole run counts.
    pub fn kernel_pc(&self, name: &str) -> Result<Pc, JobError> {
        let AnyProgram::Vortex(program) = &self.program else { return Ok(NO_PC) };
        let wanted = if name.is_empty() { "task" } else { name };
        match program.labels.iter().find(|l| l.0 == wanted) {
            Some((_, pc)) => Ok(*pc),
            None if name.is_empty() => Ok(NO_PC),
            None => {
                let known: Vec<&str> = program.labels.iter().map(|l| l.0.as_str()).take(20).collect();
                Err(refused!(
                    Program,
                    help = format!("labels: {}", known.join(", ")),
                    "there is no kernel `{name}`"
                ))
            }
        }
    }

    pub fn isa(&self) -> InstructionSet {
        self.machine.isa
    }

    pub fn source(&self) -> Option<&SourceFile> {
        self.program.borrow().source()
    }

    /// (address, instruction text) of a pc.
    pub fn instruction(&self, pc: Pc) -> (u64, String) {
        self.program.borrow().instruction(pc)
    }

    /// What `NAME[:COUNT[:TYPE]]` stands for in memory: a view, a buffer, or a label of a HARP or Vortex program.
    pub fn find_buffer(&self, what: &str) -> Result<Buffer, JobError> {
        Buffer::select(what, |name| {
            let named = self.buffers.iter().find(|b| b.name == name);
            let placed = || self.positions.iter().find(|p| p.0 == name).map(|p| &self.buffers[p.1]);
            match named.or_else(placed) {
                Some(b) => Ok((b.clone(), Extent::Exact)),
                None => self.symbol(name).map(|b| (b, Extent::Open)),
            }
        })
    }

    fn symbol(&self, name: &str) -> Result<Buffer, JobError> {
        let program = self.program.borrow();
        let word = program.word();
        if let Some((symbols, segments)) = program.memory_names()
            && let Some((_, addr)) = symbols.iter().find(|s| s.0 == name)
        {
            // Up to the next label, or to the end of the part of the program it is in.
            let part = |s: &&Segment| (s.addr..s.addr + s.bytes.len() as u64).contains(addr);
            let end = segments.iter().find(part).map_or(*addr, |s| s.addr + s.bytes.len() as u64);
            let end =
                symbols.iter().map(|s| s.1).filter(|a| a > addr).min().map_or(end, |next| next.min(end));
            let bytes = end.saturating_sub(*addr).max(u64::from(word));
            return Ok(Buffer { name: name.to_owned(), addr: *addr, bytes, element: Element::Word(word) });
        }
        let position = |i: usize| self.positions.iter().find(|p| p.1 == i && p.0 != self.buffers[i].name);
        let names: Vec<String> = (0..self.buffers.len())
            .map(|i| match position(i) {
                Some((arg, _)) => format!("{} ({arg})", self.buffers[i].name),
                None => self.buffers[i].name.clone(),
            })
            .collect();
        let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(refused!(
            Program,
            help = format!("buffers of this launch: {known}"),
            "there is no buffer, view or label `{name}`"
        ))
    }

    /// The elements of a buffer after a run, as text.
    pub fn values(&self, buffer: &Buffer, outcome: &Outcome) -> Result<Vec<String>, JobError> {
        let bytes = outcome.memory.read(buffer.addr, buffer.bytes)?;
        Ok(bytes.chunks(buffer.element.bytes() as usize).map(|c| buffer.element.show(c)).collect())
    }
}
