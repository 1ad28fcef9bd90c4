//! A run as a user describes it: a file, a machine with changes, a launch. Command line, experiments,
//! filetests and benches all start runs through here.

use crate::args::{self, ArgSpec, Argument, FORMS};
use crate::data::reseed_argument;
use crate::data::{Buffer, Element, Extent};
use crate::error::AsmErrors;
use crate::error::{JobError, refused};
use crate::object::{self, CompileOptions, ObjectFile};
use crate::program::AnyProgram;
use crate::spec::JobSpec;
use crate::views::Views;
use crate::with_program;
use std::path::Path;
use wb_device::{Arg, Device, Dispatch, Module};
use wb_hw::{InstructionSet, Machine};
use wb_isa::guppy::{self, Guppy};
use wb_isa::harp::{self, Arch};
use wb_isa::{NO_PC, Pc, SourceFile};
use wb_objects::codeobject::KernelArg;
use wb_program::{Segment, guppy_program, harp_program};
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
}

impl Job {
    pub fn from_file(path: &Path, spec: &JobSpec) -> Result<Job, JobError> {
        let bytes = object::read(path, &CompileOptions::default())?;
        let isa = object::required_isa(path, &bytes, spec.isa)?;
        Job::from_bytes(&path.display().to_string(), &bytes, &JobSpec { isa: Some(isa), ..spec.clone() })
    }

    pub fn from_source(name: &str, text: &str, spec: &JobSpec) -> Result<Job, JobError> {
        Job::from_bytes(name, text.as_bytes(), spec)
    }

    /// Source text, or an object file told by its magic. `spec.isa` must be set.
    pub fn from_bytes(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let isa = spec.isa.ok_or_else(|| refused!(Program, "{name}: the instruction set is not named"))?;
        if !spec.split.is_empty() && isa != InstructionSet::Gcn3 {
            return Err(refused!(
                Program,
                help = "write split and join, or masks, into the program",
                "only GCN3 programs can be marked for splitting, this is {}",
                isa
            ));
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
        match isa {
            InstructionSet::Harp => Job::harp(name, bytes, spec),
            InstructionSet::Guppy => Job::guppy(name, bytes, spec),
            InstructionSet::Gcn3 => Job::gcn3(name, bytes, spec),
            InstructionSet::Vortex => Job::vortex(name, bytes, spec),
        }
    }

    fn harp(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let mut machine = spec.machine()?;
        if !spec.arch.is_empty() {
            machine.arch.clone_from(&spec.arch);
        }
        let object = bytes.starts_with(b"HARP").then(|| harp::Object::from_bytes(bytes)).transpose()?;
        let mut arch: Arch = match &object {
            Some(object) if spec.arch.is_empty() => object.arch,
            _ => machine.arch.parse().map_err(|e| refused!(Program, "arch: {e}"))?,
        };
        if spec.registers > 0 && object.is_none() {
            arch.gprs = spec.registers;
        }
        machine.core.lanes = arch.lanes.take().unwrap_or(machine.core.lanes);
        machine.core.waves = arch.warps.take().unwrap_or(machine.core.waves);
        machine.arch = arch.to_string();
        let (image, source) = match object {
            Some(object) => (harp::link(&[object])?, None),
            None => {
                let source = source_file(name, bytes)?;
                let image = harp::assemble_program(&source, &arch).map_err(|e| AsmErrors::new(name, e))?;
                (image, Some(source))
            }
        };
        let program = harp_program(&image, name, source)?;
        Ok(Job {
            file: name.to_owned(),
            program: AnyProgram::Harp(program),
            machine,
            launch: Launch::Boot,
            buffers: Vec::new(),
            kernarg: Vec::new(),
            args: Vec::new(),
            init: Vec::new(),
            positions: Vec::new(),
        })
    }

    fn guppy(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let mut machine = spec.machine()?;
        if spec.registers > 0 {
            machine.core.registers = spec.registers;
        }
        let (module, source) = if bytes.starts_with(b"GUPY") {
            (guppy::Module::from_bytes(bytes)?, None)
        } else {
            let source = source_file(name, bytes)?;
            (guppy::assemble(&source).map_err(|e| AsmErrors::new(name, e))?, Some(source))
        };
        let registers = if machine.core.registers == 0 { 64 } else { machine.core.registers };
        if module.registers_used() > registers {
            return Err(refused!(
                Program,
                help = "raise core.registers with --registers or --set",
                "the program uses {} registers, a lane has {registers}",
                module.registers_used()
            ));
        }
        let mut views = Views::default();
        spec.views.iter().try_for_each(|v| views.add(v))?;
        spec.samplers.iter().try_for_each(|s| views.add_sampler(s))?;
        let threads = if spec.grid == 0 { machine.core.lanes } else { spec.grid };
        let group = if spec.group == 0 { threads } else { spec.group };
        let program = guppy_program(module, Guppy::new(registers, views.bindings), name, source)?;
        Ok(Job {
            file: name.to_owned(),
            program: AnyProgram::Guppy(program),
            machine,
            launch: Launch::Grid { threads, group },
            buffers: views.buffers,
            kernarg: Vec::new(),
            args: Vec::new(),
            init: views.init,
            positions: Vec::new(),
        })
    }

    fn gcn3(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let machine = spec.machine()?;
        let mut device = Device::new(machine);
        let file = ObjectFile::marked(name, bytes, &spec.split)?;
        let module = device.place(name, file.object, file.source)?;
        let kernel = module.kernel(&spec.kernel)?;
        let slots: Vec<KernelArg> = wb_device::explicit(kernel).cloned().collect();
        let mut buffers = Vec::new();
        let mut args = Vec::new();
        let mut positions = Vec::new();
        for (i, text) in spec.args.iter().enumerate() {
            let slot = slots.get(i);
            let named = slot.map(|s| s.name.clone()).filter(|n| !n.is_empty());
            let what = named.as_ref().map_or(format!("argument {i}"), |n| format!("argument {i} ({n})"));
            let bad = |why: String| {
                refused!(Argument, help = format!("arguments: {FORMS}"), "{what} `{text}`: {why}")
            };
            args.push(match (text.read().map_err(bad)?, slot) {
                (Argument::Buffer(array), _) => {
                    let (addr, bytes) = (device.alloc(array.bytes.len() as u64)?, array.bytes.len() as u64);
                    device.write(addr, &array.bytes)?;
                    let name = named.unwrap_or_else(|| format!("arg{i}"));
                    positions.push((format!("arg{i}"), buffers.len()));
                    buffers.push(Buffer { name, addr, bytes, element: array.element });
                    Arg::Buffer(addr)
                }
                (Argument::Value(value), Some(slot)) => args::fit(value, slot).map_err(bad)?,
                (Argument::Value(value), None) => Arg::Value(value.bytes),
                (Argument::Local(bytes), _) => Arg::Local(bytes),
            });
        }
        let dispatch = Dispatch {
            kernel: spec.kernel.clone(),
            grid: spec.grid3.map(|n| n.max(1)),
            group: spec.group3.map(|n| n.max(1)),
            args,
            dynamic_lds: spec.dynamic_lds,
        };
        Ok(Job { positions, ..Job::from_device(&mut device, &module, &dispatch, buffers)? })
    }

    /// A launch of a kernel that is in place, with the device's memory as it is now.
    pub fn from_device(
        device: &mut Device,
        module: &Module,
        dispatch: &Dispatch,
        buffers: Vec<Buffer>,
    ) -> Result<Job, JobError> {
        let prepared = device.prepare(module, dispatch)?;
        let blocks = device.heap().blocks_in_use();
        let init = blocks.map(|(addr, bytes)| Ok((addr, device.read(addr, bytes)?.to_vec())));
        let init = init.collect::<Result<Vec<_>, JobError>>()?;
        Ok(Job {
            file: module.name.clone(),
            program: AnyProgram::Gcn3(prepared.program),
            machine: prepared.machine,
            launch: prepared.launch,
            buffers,
            kernarg: prepared.kernarg,
            args: module.kernel(&dispatch.kernel)?.args.clone(),
            init,
            positions: Vec::new(),
        })
    }

    fn vortex(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Job, JobError> {
        let machine = spec.machine()?;
        let prepared = crate::vortex::prepare(name, bytes, &spec.args, &machine)?;
        Ok(Job {
            file: name.to_owned(),
            program: AnyProgram::Vortex(prepared.program),
            launch: Launch::Cores { count: machine.cores },
            machine,
            buffers: prepared.buffers,
            kernarg: Vec::new(),
            args: Vec::new(),
            init: prepared.init,
            positions: Vec::new(),
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
        let mut memory = match &self.program {
            AnyProgram::Vortex(p) => crate::vortex::memory(p, &self.machine)?,
            AnyProgram::Harp(_) | AnyProgram::Guppy(_) | AnyProgram::Gcn3(_) => {
                DeviceMemory::new(self.machine.limits.memory)
            }
        };
        if matches!(self.program, AnyProgram::Gcn3(_)) {
            memory.forbid_below(wb_device::FIRST);
            memory.close();
            self.init.iter().for_each(|(addr, bytes)| memory.open(*addr, bytes.len() as u64));
        }
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
        let named = match &self.program {
            AnyProgram::Harp(p) => Some((&p.symbols, &p.segments, p.isa.arch.bytes)),
            AnyProgram::Vortex(p) => Some((&p.symbols, &p.segments, 4)),
            AnyProgram::Guppy(_) | AnyProgram::Gcn3(_) => None,
        };
        if let Some((symbols, segments, word)) = named
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

fn source_file(name: &str, bytes: &[u8]) -> Result<SourceFile, JobError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        refused!(
            Program,
            help = "object files start with HARP or GUPY; anything else is read as UTF-8 source text",
            "{name} is not text: {e}"
        )
    })?;
    Ok(SourceFile::new(name, text))
}
