//! GCN3 programs as a user gives them: code objects, assembly and sources, launched by a device with arguments and buffers.

use crate::args::{self, Argument, FORMS};
use crate::data::Buffer;
use crate::error::{JobError, refused};
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared};
use crate::object::{self, ObjectFile, is_gcn3_assembly, is_object, is_source};
use crate::spec::JobSpec;
use std::path::Path;
use wb_device::{Arg, Device, Dispatch, Module};
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::RiscvImage;
use wb_objects::codeobject::KernelArg;
use wb_program::Program;
use wb_sim::DeviceMemory;

impl Language for Gcn3 {
    const FILES: &'static [&'static str] = &["co", "hsaco", "cl", "hip"];
    const ASSEMBLY: (&'static str, &'static str) = ("s", ";");
    const OBJECT: (&'static str, &'static [u8]) = ("co", b"");

    fn owns(extension: &str, bytes: &[u8]) -> bool {
        let code = matches!(extension, "co" | "hsaco" | "bundle") || is_source(extension) || is_object(bytes);
        match extension {
            "s" => is_gcn3_assembly(bytes),
            "vx" => false,
            _ => code && !RiscvImage::is_riscv(bytes),
        }
    }

    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Gcn3>, JobError> {
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
        Ok(Prepared { positions, ..from_device(&mut device, &module, &dispatch, buffers)? })
    }

    fn assemble(source: &SourceFile, _arch: &str) -> Result<Assembled, JobError> {
        let bytes = object::assemble(source)?;
        let kernels = ObjectFile::from_bytes(&source.name, &bytes)?.object.kernels.len();
        Ok(Assembled { bytes, what: format!("{kernels} kernel{}", if kernels == 1 { "" } else { "s" }) })
    }

    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError> {
        let file = ObjectFile::from_bytes(&path.display().to_string(), bytes)?;
        object::listing(&file, path, options)
    }

    fn word(&self) -> u32 {
        4
    }

    fn arguments(&self, kernarg: &[u8]) -> Vec<u8> {
        kernarg.to_vec()
    }

    fn names_memory() -> bool {
        false
    }

    /// Only what the launch was given may be touched.
    fn memory(_: &Program<Gcn3>, machine: &Machine, init: &Init) -> Result<DeviceMemory, JobError> {
        let mut memory = DeviceMemory::new(machine.limits.memory);
        memory.forbid_below(wb_device::FIRST);
        memory.close();
        init.iter().for_each(|(addr, bytes)| memory.open(*addr, bytes.len() as u64));
        Ok(memory)
    }
}

/// A launch of a kernel that is in place, with the device's memory as it is now.
pub(crate) fn from_device(
    device: &mut Device,
    module: &Module,
    dispatch: &Dispatch,
    buffers: Vec<Buffer>,
) -> Result<Prepared<Gcn3>, JobError> {
    let prepared = device.prepare(module, dispatch)?;
    let blocks = device.heap().blocks_in_use();
    let init = blocks.map(|(addr, bytes)| Ok((addr, device.read(addr, bytes)?.to_vec())));
    Ok(Prepared {
        program: prepared.program,
        machine: prepared.machine,
        launch: prepared.launch,
        buffers,
        kernarg: prepared.kernarg,
        args: module.kernel(&dispatch.kernel)?.args.clone(),
        init: init.collect::<Result<Vec<_>, JobError>>()?,
        positions: Vec::new(),
    })
}
