//! From a kernel and its launch parameters to something the machine can run: argument segment, dispatch
//! packet, queue, local and private memory, and the registers every wave starts with.

use crate::dispatch::Dispatch;
use crate::kernarg::{self, Host, Pointers};
use crate::{Device, DeviceError, Module};
use std::collections::BTreeMap;
use std::sync::Arc;
use wb_hw::{InstructionSet, Machine, SplitUnits};
use wb_isa::gcn3::isa::{Gcn3, Setup};
use wb_isa::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use wb_isa::gcn3::{Inst, Operand};
use wb_isa::riscv::Riscv;
use wb_isa::{FlowKind, Isa, Pc};
use wb_objects::codeobject::Kernel;
use wb_objects::{gcn3_program, gcn3_setup};
use wb_program::Program;
use wb_sim::{DeviceMemory, Groups, Launch, Outcome, RunOptions, Runnable, Touchable};
use wb_trace::Observer;

/// More private memory per work-item is taken for damage.
const MAX_SCRATCH: u32 = 1 << 20;

/// A program with its launch, ready for the machine.
pub struct Prepared<I: Isa = Gcn3> {
    pub program: Program<I>,
    pub launch: Launch,
    /// The machine as this kernel finds it (PWS re-provisioning).
    pub machine: Arc<Machine>,
    /// The argument segment.
    pub kernarg: Vec<u8>,
    /// Where its accesses can go.
    pub touchable: Touchable,
    /// What a checker should know of the kernel.
    pub checks: wb_sanitize::Kernel,
    /// Blocks of device memory that are free again after the launch.
    pub(crate) reserved: Vec<u64>,
    pub(crate) key: (u64, u64),
}

/// An instruction set whose kernels a device launches.
pub trait OnDevice: Isa + Sized {
    /// A program of it as something that runs.
    fn runnable(program: &Program<Self>) -> &dyn Runnable;

    /// Decoded programs of kernels that ran, by their module's base and their entry.
    fn programs(device: &mut Device) -> &mut BTreeMap<(u64, u64), Program<Self>>;

    /// Places what the launch of a kernel needs. `reserved` takes the blocks of memory that are free again afterwards.
    fn prepare(
        device: &mut Device,
        module: &Module,
        dispatch: &Dispatch,
        reserved: &mut Vec<u64>,
    ) -> Result<Prepared<Self>, DeviceError>;
}

impl OnDevice for Gcn3 {
    fn runnable(program: &Program<Gcn3>) -> &dyn Runnable {
        program
    }

    fn programs(device: &mut Device) -> &mut BTreeMap<(u64, u64), Program<Gcn3>> {
        &mut device.programs
    }

    fn prepare(
        device: &mut Device,
        module: &Module,
        dispatch: &Dispatch,
        reserved: &mut Vec<u64>,
    ) -> Result<Prepared<Gcn3>, DeviceError> {
        device.prepare_in(module, dispatch, reserved)
    }
}

impl Device {
    /// Runs a kernel to its end; its effects stay in device memory, also those of a run that fails.
    pub fn launch(
        &mut self,
        module: &Module,
        dispatch: &Dispatch,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, DeviceError> {
        match module.object.isa {
            InstructionSet::Riscv => self.launch_for::<Riscv>(module, dispatch, options, observer),
            _ => self.launch_for::<Gcn3>(module, dispatch, options, observer),
        }
    }

    fn launch_for<I: OnDevice>(
        &mut self,
        module: &Module,
        dispatch: &Dispatch,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, DeviceError> {
        let prepared = self.prepare_for::<I>(module, dispatch)?;
        let outcome = self.run(&prepared, options, observer);
        self.finish(prepared);
        outcome
    }

    /// Runs what [`Device::prepare`] made.
    pub fn run<I: OnDevice>(
        &mut self,
        prepared: &Prepared<I>,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, DeviceError> {
        let mut memory = std::mem::replace(&mut self.memory, DeviceMemory::new(0));
        if let Some(checker) = &mut memory.checker {
            checker.kernel = prepared.checks.clone();
        }
        let program = I::runnable(&prepared.program);
        match program.run(&prepared.machine, prepared.launch, memory, options, observer) {
            Ok(mut outcome) => {
                self.memory = std::mem::replace(&mut outcome.memory, DeviceMemory::new(0));
                Ok(outcome)
            }
            Err(mut error) => {
                if let Some(memory) = error.memory.take() {
                    self.memory = *memory;
                }
                Err(DeviceError::Run(error))
            }
        }
    }

    /// Takes back what [`Device::prepare`] reserved; the launch can be run again on a copy of the memory.
    pub fn keep<I: OnDevice>(&mut self, mut prepared: Prepared<I>) -> Prepared<I> {
        for addr in prepared.reserved.drain(..) {
            self.free_own(addr);
        }
        prepared
    }

    /// Takes back what [`Device::prepare`] reserved, and keeps the decoded program for the next launch.
    pub fn finish<I: OnDevice>(&mut self, prepared: Prepared<I>) {
        for addr in prepared.reserved {
            self.free_own(addr);
        }
        I::programs(self).insert(prepared.key, prepared.program);
    }

    /// Places arguments, packet and memories of a launch; [`Device::finish`] takes them back.
    pub fn prepare(&mut self, module: &Module, dispatch: &Dispatch) -> Result<Prepared, DeviceError> {
        self.prepare_for(module, dispatch)
    }

    /// The same for the kernels of any instruction set that devices launch.
    pub fn prepare_for<I: OnDevice>(
        &mut self,
        module: &Module,
        dispatch: &Dispatch,
    ) -> Result<Prepared<I>, DeviceError> {
        let mut reserved = Vec::new();
        let prepared = I::prepare(self, module, dispatch, &mut reserved);
        match prepared {
            Ok(mut prepared) => {
                prepared.reserved = reserved;
                prepared.touchable = self.touchable();
                Ok(prepared)
            }
            Err(error) => {
                for addr in reserved {
                    self.free_own(addr);
                }
                Err(error)
            }
        }
    }

    pub(crate) fn reserve(&mut self, bytes: u64, reserved: &mut Vec<u64>) -> Result<u64, DeviceError> {
        let addr = self.alloc_for(bytes, true)?;
        reserved.push(addr);
        Ok(addr)
    }

    /// Work-items of a group, and groups; an error if a kernel cannot be launched like that.
    pub(crate) fn shape(&self, kernel: &Kernel, dispatch: &Dispatch) -> Result<(u32, u32), DeviceError> {
        let wrong = |what: String| DeviceError::Launch { kernel: kernel.name.clone(), what };
        let size: u64 = dispatch.group.iter().map(|&n| u64::from(n)).product();
        if size == 0 || dispatch.grid.contains(&0) {
            return Err(wrong("grid and group need at least one work-item in every dimension".into()));
        }
        if size > 1024 {
            return Err(wrong(format!("a group of {size} work-items; the limit is 1024")));
        }
        let mut count = 1u64;
        for d in 0..3 {
            count = count.saturating_mul(dispatch.grid[d].div_ceil(dispatch.group[d]).into());
        }
        let count = u32::try_from(count).map_err(|_| wrong("more than 2^32 groups".into()))?;

        if kernel.scratch_bytes > MAX_SCRATCH {
            let bytes = kernel.scratch_bytes;
            return Err(wrong(format!(
                "{bytes} bytes of private memory per work-item; the limit is {MAX_SCRATCH}"
            )));
        }
        Ok((size as u32, count))
    }

    fn prepare_in(
        &mut self,
        module: &Module,
        dispatch: &Dispatch,
        reserved: &mut Vec<u64>,
    ) -> Result<Prepared, DeviceError> {
        let kernel = module.kernel(&dispatch.kernel)?;
        let (size, count) = self.shape(kernel, dispatch)?;
        let gap = self.local_gap(kernel, dispatch);
        let pointers = Pointers { bytes: 8, local: 0, gap };
        let host = Host { hostcall: self.hostcall, printf: self.printf };
        let (args, local) = kernarg::build(kernel, dispatch, pointers, host)?;
        let lds_bytes = kernel.lds_bytes.saturating_add(local).saturating_add(dispatch.dynamic_lds);
        let kernarg = self.reserve(args.len() as u64, reserved)?;
        self.write(kernarg, &args)?;
        let queue = self.reserve(256, reserved)?;
        self.write(queue + 0x40, &SHARED_APERTURE.to_le_bytes())?;
        self.write(queue + 0x44, &PRIVATE_APERTURE.to_le_bytes())?;
        let packet = self.reserve(64, reserved)?;
        let scratch_per_lane = kernel.scratch_bytes.next_multiple_of(4);
        self.write(packet, &packet_bytes(dispatch, scratch_per_lane, lds_bytes, kernarg))?;

        let descriptor = kernel.descriptor;
        let mut groups = Groups {
            count,
            size,
            grid: dispatch.grid,
            group: dispatch.group,
            vgprs: descriptor.vgprs(),
            sgprs: descriptor.sgprs(),
            lds_bytes,
            lds_region: 0,
            scratch_per_wave: u64::from(scratch_per_lane) * 64,
            scratch_region: 0,
        };
        let (first, count) = descriptor.preloaded();
        let dwords = args.chunks(4).map(|b| b.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b)));
        let setup = Setup {
            preloaded: dwords.chain(std::iter::repeat(0)).skip(first as usize).take(count as usize).collect(),
            grid: dispatch.grid,
            group: dispatch.group,
            kernarg,
            packet,
            queue,
            lds_bytes,
            scratch_per_lane,
            ..gcn3_setup(kernel)
        };
        let key = (module.base, kernel.entry);
        let mut program = match self.programs.remove(&key) {
            Some(program) => program,
            None => {
                let isa = Gcn3 { setup: setup.clone(), ..Gcn3::default() };
                let source = module.source.clone();
                let mut program =
                    gcn3_program(&module.object, kernel, isa, module.base, &module.name, source)?;
                if !names_accumulators(&program) {
                    // Its waves need not carry them.
                    program.isa.setup.agprs = 0;
                }
                program
            }
        };
        program.isa.setup = Setup { agprs: program.isa.setup.agprs, ..setup };
        // The device has placed the object already; its data keeps what earlier launches left there.
        program.segments.clear();
        let machine = match reprovisioned(&self.machine, &program) {
            Some(machine) => Arc::new(machine),
            None => self.machine.clone(),
        };
        groups.lds_region = self.reserve(groups.lds_region_bytes(&machine), reserved)?;
        groups.scratch_region = self.reserve(groups.scratch_region_bytes(&machine), reserved)?;
        program.isa.setup.scratch_region = groups.scratch_region;
        let launch = Launch::Groups(groups);
        Ok(Prepared {
            program,
            launch,
            machine,
            kernarg: args,
            touchable: Touchable::default(),
            checks: crate::checks::kernel(module, kernel, dispatch, gap),
            reserved: Vec::new(),
            key,
        })
    }
}

/// The machine for a program: under PWS with `split.units = "reprovisioned"`, the split units beyond the `split`
/// instructions it can reach become partitions. A kernel that calls what is not known may reach any of them.
pub fn provision(machine: &Machine, program: &Program<Gcn3>) -> Machine {
    reprovisioned(machine, program).unwrap_or_else(|| machine.clone())
}

/// The same, if it differs from the machine as it is: launches come by the thousand and do not copy it.
fn reprovisioned(machine: &Machine, program: &Program<Gcn3>) -> Option<Machine> {
    if machine.split.units != SplitUnits::Reprovisioned || !machine.divergence.mechanism.info().reprovisions {
        return None;
    }
    let kind = |pc: &Pc| program.flow.kind[*pc as usize];
    let blocks = program.cfg.reachable(program.cfg.block_at(program.entry));
    let mut pcs: Vec<Pc> = blocks.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow)).collect();
    let elsewhere = |k| matches!(k, FlowKind::Call { target: None, .. } | FlowKind::Indirect { .. });
    if pcs.iter().map(kind).any(elsewhere) {
        pcs = (0..program.flow.kind.len() as Pc).collect();
    }
    let splits = pcs.iter().filter(|pc| matches!(kind(pc), FlowKind::SplitLanes { .. })).count();
    Some(machine.reprovisioned(splits as u32))
}

/// Whether an instruction has an accumulator as operand; a kernel may ask for some only because registers come in portions.
fn names_accumulators(program: &Program<Gcn3>) -> bool {
    let accumulator = |operand: &Operand| matches!(operand, Operand::Agpr(_));
    let named = |inst: &Inst| accumulator(&inst.dst) || inst.src.iter().any(accumulator);
    program.isa.setup.agprs != 0 && program.ops.iter().any(|op| op.inst.as_ref().is_some_and(named))
}

/// The dispatch packet (HSA kernel dispatch packet): kernels read group and grid sizes from it.
fn packet_bytes(d: &Dispatch, scratch: u32, lds: u32, kernarg: u64) -> [u8; 64] {
    let mut p = [0; 64];
    p[2] = d.dimensions() as u8;
    for i in 0..3 {
        p[4 + 2 * i..6 + 2 * i].copy_from_slice(&(d.group[i] as u16).to_le_bytes());
        p[12 + 4 * i..16 + 4 * i].copy_from_slice(&d.grid[i].to_le_bytes());
    }
    p[24..28].copy_from_slice(&scratch.to_le_bytes());
    p[28..32].copy_from_slice(&lds.to_le_bytes());
    p[40..48].copy_from_slice(&kernarg.to_le_bytes());
    p
}
