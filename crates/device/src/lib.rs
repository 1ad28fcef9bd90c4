//! The host side: a simulated device with memory, code objects, kernels and launches – what a runtime or a
//! workload calls. Kernels run in sequence on one device memory.

mod error;
mod kernarg;
mod launch;

pub use error::DeviceError;
pub use kernarg::{Arg, explicit};
pub use launch::{Dispatch, Prepared};

use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_program::codeobject::{CodeObject, Kernel};
use wb_sim::{DeviceMemory, Outcome, RunOptions, Runnable};
use wb_trace::Observer;

/// Everything below this address faults, so that null pointers show up.
pub const FIRST: u64 = 0x1_0000;
const ALIGN: u64 = 256;

/// A code object in device memory.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub object: CodeObject,
    /// What was added to its addresses.
    pub base: u64,
    /// The assembly it was made from, for error messages.
    pub source: Option<SourceFile>,
}

impl Module {
    /// The kernel called `name`; an empty name is enough when there is only one.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, DeviceError> {
        self.object.kernel(name).ok_or_else(|| DeviceError::NoKernel {
            name: name.to_owned(),
            known: self.object.kernels.iter().map(|k| k.name.clone()).collect::<Vec<_>>().join(", "),
        })
    }
}

pub struct Device {
    pub machine: Machine,
    memory: DeviceMemory,
    next: u64,
}

impl Device {
    pub fn new(machine: Machine) -> Self {
        let mut memory = DeviceMemory::new(machine.limits.memory);
        memory.forbid_below(FIRST);
        Device { memory, machine, next: FIRST }
    }

    /// Bytes of device memory in use, from address 0.
    pub fn used(&self) -> u64 {
        self.next
    }

    /// Reserves `bytes` bytes, zeroed.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        let addr = self.next;
        let end = addr.checked_add(bytes.max(1)).and_then(|e| e.checked_next_multiple_of(ALIGN));
        match end.filter(|&e| e <= self.memory.size()) {
            Some(end) => {
                self.next = end;
                Ok(addr)
            }
            None => Err(DeviceError::OutOfMemory { bytes, size: self.memory.size() }),
        }
    }

    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        Ok(self.memory.write(addr, bytes)?)
    }

    pub fn read(&self, addr: u64, bytes: u64) -> Result<&[u8], DeviceError> {
        Ok(self.memory.read(addr, bytes)?)
    }

    /// Parses a code object and places it.
    pub fn load(&mut self, name: &str, bytes: &[u8]) -> Result<Module, DeviceError> {
        self.place(name, CodeObject::parse(bytes)?, None)
    }

    /// Places a code object; `source` is the assembly it was made from.
    pub fn place(
        &mut self,
        name: &str,
        object: CodeObject,
        source: Option<SourceFile>,
    ) -> Result<Module, DeviceError> {
        let end = object.segments.iter().map(|s| s.addr + s.bytes.len() as u64).max().unwrap_or(0);
        let base = self.alloc(end + 0x1000)?.next_multiple_of(0x1000);
        for s in &object.segments {
            self.memory.write(base + s.addr, &s.bytes)?;
        }
        Ok(Module { name: name.to_owned(), object, base, source })
    }

    /// Runs a kernel to its end; its effects stay in device memory. A run that fails takes the memory with it:
    /// start again with a new device.
    pub fn launch(
        &mut self,
        module: &Module,
        dispatch: &Dispatch,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, DeviceError> {
        let mark = self.next;
        let prepared = self.prepare(module, dispatch)?;
        self.run(&prepared, mark, options, observer)
    }

    /// Runs what [`Device::prepare`] made; memory in use goes back to `mark`.
    pub fn run(
        &mut self,
        prepared: &Prepared,
        mark: u64,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, DeviceError> {
        let memory = std::mem::replace(&mut self.memory, DeviceMemory::new(0));
        let outcome = prepared.program.run(&prepared.machine, prepared.launch, memory, options, observer);
        self.next = mark;
        let mut outcome = outcome.map_err(|e| DeviceError::Run(Box::new(*e)))?;
        self.memory = std::mem::replace(&mut outcome.memory, DeviceMemory::new(0));
        Ok(outcome)
    }
}
