//! The host side: a simulated device with memory, code objects, kernels and launches – what a runtime or a
//! workload calls. Kernels run in sequence on one device memory.

mod checks;
mod dispatch;
mod error;
mod heap;
mod kernarg;
mod launch;
mod riscv;

pub use dispatch::{Arg, Dispatch, OpenCl};
pub use error::DeviceError;
pub use heap::Heap;
pub use kernarg::explicit;
pub use launch::{OnDevice, Prepared, provision};

use heap::ALIGN;
use std::collections::BTreeMap;
use std::sync::Arc;
use wb_hw::{InstructionSet, Machine};
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::riscv::{Riscv, TEXT};
use wb_objects::codeobject::{CodeObject, Kernel};
use wb_objects::{RiscvImage, riscv_object};
use wb_program::Program;
use wb_sim::{DeviceMemory, Touchable};

/// Everything below this address faults, so that null pointers show up.
pub const FIRST: u64 = 0x1_0000;

/// A code object in device memory.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub object: CodeObject,
    /// What was added to its addresses.
    pub base: u64,
    /// The block of device memory it lies in.
    block: u64,
    /// The assembly it was made from, for error messages.
    pub source: Option<SourceFile>,
}

/// Bytes of the block that a code object takes: it begins at a page.
fn block_bytes(object: &CodeObject) -> u64 {
    let end = object.segments.iter().map(|s| s.addr + s.bytes.len() as u64).max().unwrap_or(0);
    match object.isa {
        InstructionSet::Riscv => end.saturating_sub(TEXT.into()),
        _ => end + 0x1000,
    }
}

impl Module {
    /// First address of the block of device memory that it lies in.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// The kernel called `name`; an empty name is enough when there is only one.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, DeviceError> {
        self.object
            .kernel(name)
            .ok_or_else(|| DeviceError::NoKernel { name: name.to_owned(), known: self.object.kernel_names() })
    }
}

pub struct Device {
    pub machine: Arc<Machine>,
    memory: DeviceMemory,
    heap: Heap,
    /// Address of the buffer through which kernels call the host; 0: they cannot.
    pub hostcall: u64,
    /// Address of the buffer that kernels print into (OpenCL); 0: there is none.
    pub printf: u64,
    /// Decoded programs of kernels that ran, by their module's base and their entry: decoding takes longer than a short launch.
    programs: BTreeMap<(u64, u64), Program<Gcn3>>,
    riscv_programs: BTreeMap<(u64, u64), Program<Riscv>>,
}

impl Device {
    pub fn new(machine: Machine) -> Self {
        let mut memory = DeviceMemory::new(machine.limits.memory);
        memory.forbid_below(FIRST);
        memory.close();
        let heap = Heap::new(FIRST, memory.size());
        Device::with(machine, memory, heap)
    }

    /// A device whose addresses are the host's: pointers to its memory work in the program that uses it.
    pub fn mapped(machine: Machine) -> Self {
        let mut memory = DeviceMemory::mapped(machine.limits.memory);
        memory.close();
        let heap = Heap::new(memory.first_line(), memory.origin() + memory.size());
        Device::with(machine, memory, heap)
    }

    /// A device whose memory begins at `origin`, to run again what ran there.
    pub fn placed(machine: Machine, origin: u64) -> Self {
        let mut memory = DeviceMemory::placed(origin, machine.limits.memory);
        memory.close();
        let heap = Heap::new(memory.first_line(), memory.origin().saturating_add(memory.size()));
        Device::with(machine, memory, heap)
    }

    fn with(machine: Machine, memory: DeviceMemory, heap: Heap) -> Self {
        Device {
            memory,
            machine: Arc::new(machine),
            heap,
            hostcall: 0,
            printf: 0,
            programs: BTreeMap::new(),
            riscv_programs: BTreeMap::new(),
        }
    }

    /// Everything in use lies below this address.
    pub fn used(&self) -> u64 {
        self.heap.used_end()
    }

    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    pub fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    pub fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }

    /// What kernels may touch: the blocks in use. The heap knows them without a look at all of memory, which every launch would pay.
    pub fn touchable(&self) -> Touchable {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for (at, bytes) in self.heap.blocks_in_use() {
            let end = at + bytes.next_multiple_of(ALIGN);
            match ranges.last_mut() {
                Some(last) if last.1 == at => last.1 = end,
                _ => ranges.push((at, end)),
            }
        }
        Touchable { origin: self.memory.first_line(), ranges }
    }

    /// Reserves `bytes` bytes; memory that was never used before is zero.
    pub fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceError> {
        self.alloc_for(bytes, false)
    }

    /// The same; `own`: for the runtime, not for the program.
    pub(crate) fn alloc_for(&mut self, bytes: u64, own: bool) -> Result<u64, DeviceError> {
        let size = self.heap.total();
        let addr = self.heap.alloc(bytes).ok_or(DeviceError::OutOfMemory { bytes, size })?;
        self.memory.open(addr, bytes.max(1));
        self.checks_block(addr, bytes, own);
        Ok(addr)
    }

    /// Reserves `bytes` bytes at a certain address.
    pub fn alloc_at(&mut self, addr: u64, bytes: u64) -> Result<(), DeviceError> {
        if !self.heap.take(addr, bytes) {
            return Err(DeviceError::Taken { addr, bytes });
        }
        self.memory.open(addr, bytes.max(1));
        self.checks_block(addr, bytes, false);
        Ok(())
    }

    /// Gives back what starts at `addr`; false if nothing does.
    pub fn free(&mut self, addr: u64) -> bool {
        self.leave(addr);
        self.heap.free(addr)
    }

    /// The same for a block of the runtime, which nobody uses any more.
    pub(crate) fn free_own(&mut self, addr: u64) {
        self.leave(addr);
        self.heap.free_now(addr);
    }

    /// Nobody may touch the block at `addr` any more.
    fn leave(&mut self, addr: u64) {
        if let Some((at, bytes)) = self.heap.block(addr)
            && at == addr
        {
            self.memory.close_again(at, bytes.max(1));
            if let Some(checker) = &mut self.memory.checker {
                checker.freed(at);
            }
        }
    }

    pub fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        Ok(self.memory.write(addr, bytes)?)
    }

    pub fn read(&self, addr: u64, bytes: u64) -> Result<&[u8], DeviceError> {
        Ok(self.memory.read(addr, bytes)?)
    }

    /// Parses a code object, or an executable of kernels for a lane-pc machine, and places it.
    pub fn load(&mut self, name: &str, bytes: &[u8]) -> Result<Module, DeviceError> {
        let object = match RiscvImage::is_riscv(bytes) {
            true => riscv_object(bytes)?,
            false => CodeObject::parse(bytes)?,
        };
        self.place(name, object, None)
    }

    /// Places a code object; `source` is the assembly it was made from.
    pub fn place(
        &mut self,
        name: &str,
        object: CodeObject,
        source: Option<SourceFile>,
    ) -> Result<Module, DeviceError> {
        match object.isa {
            InstructionSet::Riscv => self.place_at(TEXT.into(), name, object, source),
            _ => {
                let block = self.alloc(block_bytes(&object))?;
                self.place_in(block, name, object, source)
            }
        }
    }

    /// The same at a certain address.
    pub fn place_at(
        &mut self,
        block: u64,
        name: &str,
        object: CodeObject,
        source: Option<SourceFile>,
    ) -> Result<Module, DeviceError> {
        self.alloc_at(block, block_bytes(&object))?;
        self.place_in(block, name, object, source)
    }

    fn place_in(
        &mut self,
        block: u64,
        name: &str,
        object: CodeObject,
        source: Option<SourceFile>,
    ) -> Result<Module, DeviceError> {
        self.own_block(block);
        // Kernels of lane-pc machines stand where they were linked.
        let base = if object.isa == InstructionSet::Riscv { 0 } else { block.next_multiple_of(0x1000) };
        for s in &object.segments {
            self.memory.write(base + s.addr, &s.bytes)?;
        }
        for r in &object.relocations {
            self.memory.write(base + r.place, &base.wrapping_add_signed(r.addend).to_le_bytes())?;
        }
        Ok(Module { name: name.to_owned(), object, base, block, source })
    }

    /// Takes a code object off the device.
    pub fn unload(&mut self, module: &Module) {
        self.programs.retain(|(base, _), _| *base != module.base);
        self.riscv_programs.retain(|(base, _), _| *base != module.base);
        self.free(module.block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heap and the guard of memory agree about what is in use, also where blocks lie close together.
    #[test]
    fn what_is_in_use_is_what_may_be_touched() {
        let mut machine = wb_hw::preset("gcn3").expect("a preset");
        machine.limits.memory = 1 << 20;
        for mut device in [Device::new(machine.clone()), Device::mapped(machine)] {
            let mut blocks = Vec::new();
            for n in 0..200u64 {
                blocks.extend(device.alloc(n * 37 % 9000).ok());
                if n % 3 == 0 && !blocks.is_empty() {
                    device.free(blocks.remove((n as usize * 7) % blocks.len()));
                }
                let (ours, guards) = (device.touchable(), device.memory().touchable());
                assert_eq!((ours.origin, &ours.ranges), (guards.origin, &guards.ranges), "after {n} blocks");
            }
            assert!(device.touchable().ranges.len() > 3 && blocks.len() > 50);
        }
    }
}
