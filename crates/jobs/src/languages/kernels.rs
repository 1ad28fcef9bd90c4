//! Kernels as a user starts them, whatever their instruction set: a device with the object in place, arguments and buffers.

use crate::args::{self, Argument, FORMS};
use crate::data::{Buffer, UNINITIALISED};
use crate::error::{JobError, refused};
use crate::gpu;
use crate::known::Known;
use crate::language::{Init, Prepared};
use crate::object::ObjectFile;
use crate::spec::JobSpec;
use std::sync::Arc;
use wb_device::{Arg, Device, Dispatch, Module, OnDevice};
use wb_hw::Machine;
use wb_objects::codeobject::KernelArg;
use wb_sim::DeviceMemory;

/// The launch that a user describes.
pub(super) fn prepare<I: OnDevice>(
    name: &str,
    file: ObjectFile,
    spec: &JobSpec,
) -> Result<Prepared<I>, JobError> {
    let machine = gpu::machine(name, &file.object, spec)?;
    let mut device = Device::new(machine);
    let module = device.place(name, file.object, file.source)?;
    let kernel = module.kernel(&spec.kernel)?;
    let slots: Vec<KernelArg> = wb_device::explicit(kernel).cloned().collect();
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    let mut positions = Vec::new();
    let mut unwritten = Vec::new();
    for (i, text) in spec.args.iter().enumerate() {
        let slot = slots.get(i);
        let named = slot.map(|s| s.name.clone()).filter(|n| !n.is_empty());
        let what = named.as_ref().map_or(format!("argument {i}"), |n| format!("argument {i} ({n})"));
        let bad =
            |why: String| refused!(Argument, help = format!("arguments: {FORMS}"), "{what} `{text}`: {why}");
        args.push(match (text.read().map_err(bad)?, slot) {
            (Argument::Buffer(array), _) => {
                let (addr, bytes) = (device.alloc(array.bytes.len() as u64)?, array.bytes.len() as u64);
                device.write(addr, &array.bytes)?;
                let name = named.unwrap_or_else(|| format!("arg{i}"));
                positions.push((format!("arg{i}"), buffers.len()));
                if text.to_string().ends_with(&format!(":{UNINITIALISED}")) {
                    unwritten.push(addr);
                }
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
        opencl: Default::default(),
    };
    let prepared: Prepared<I> = from_device(&mut device, &module, &dispatch, buffers)?;
    let known = Known { unwritten, ..prepared.known };
    Ok(Prepared { positions, known, ..prepared })
}

/// Only what the launch was given may be touched.
pub(super) fn memory(machine: &Machine, init: &Init) -> DeviceMemory {
    let mut memory = DeviceMemory::new(machine.limits.memory);
    memory.forbid_below(wb_device::FIRST);
    memory.close();
    init.iter().for_each(|(addr, bytes)| memory.open(*addr, bytes.len() as u64));
    memory
}

/// A launch of a kernel that is in place, with the device's memory as it is now.
pub(crate) fn from_device<I: OnDevice>(
    device: &mut Device,
    module: &Module,
    dispatch: &Dispatch,
    buffers: Vec<Buffer>,
) -> Result<Prepared<I>, JobError> {
    let prepared = device.prepare_for::<I>(module, dispatch)?;
    let blocks = device.heap().blocks_in_use();
    let init = blocks.map(|(addr, bytes)| Ok((addr, device.read(addr, bytes)?.to_vec())));
    Ok(Prepared {
        program: prepared.program,
        machine: Arc::unwrap_or_clone(prepared.machine),
        launch: prepared.launch,
        buffers,
        kernarg: prepared.kernarg,
        args: module.kernel(&dispatch.kernel)?.args.clone(),
        init: init.collect::<Result<Vec<_>, JobError>>()?,
        positions: Vec::new(),
        known: Known { kernel: prepared.checks, blocks: true, unwritten: Vec::new() },
    })
}
