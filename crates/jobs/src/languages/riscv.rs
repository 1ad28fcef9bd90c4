//! Kernels for lane-pc machines as a user gives them (docs/riscv.md): executables that `compile --target riscv` writes, OpenCL sources,
//! and assembly of one kernel.

use super::{kernels, vortex};
use crate::error::{JobError, refused};
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared};
use crate::object::ObjectFile;
use crate::spec::JobSpec;
use std::path::Path;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::riscv::{Riscv, TEXT};
use wb_objects::{RiscvImage, has_kernels, riscv_assembly};
use wb_program::Program;
use wb_sim::DeviceMemory;

impl Language for Riscv {
    const FILES: &'static [&'static str] = &["rv"];
    const ASSEMBLY: (&'static str, &'static str) = ("rv", "#");
    const OBJECT: (&'static str, &'static [u8]) = ("elf", b"");

    fn owns(extension: &str, bytes: &[u8]) -> bool {
        extension == "rv" || RiscvImage::is_riscv(bytes) && has_kernels(bytes)
    }

    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Riscv>, JobError> {
        kernels::prepare(name, file(name, bytes)?, spec)
    }

    fn assemble(source: &SourceFile, _arch: &str) -> Result<Assembled, JobError> {
        let (image, _) = vortex::image_at(&source.name, source.text.as_bytes(), TEXT)?;
        Ok(Assembled { bytes: image.to_elf(), what: format!("{} instructions", image.words().count()) })
    }

    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError> {
        vortex::listing_at(&path.display().to_string(), bytes, options.assembly, TEXT)
    }

    fn word(&self) -> u32 {
        4
    }

    fn arguments(&self, kernarg: &[u8]) -> Vec<u8> {
        kernarg.to_vec()
    }

    fn names_memory() -> bool {
        true
    }

    fn memory(_: &Program<Riscv>, machine: &Machine, init: &Init) -> Result<DeviceMemory, JobError> {
        Ok(kernels::memory(machine, init))
    }
}

/// An executable of kernels, or assembly.
pub(crate) fn file(name: &str, bytes: &[u8]) -> Result<ObjectFile, JobError> {
    if bytes.starts_with(b"\x7fELF") && has_kernels(bytes) {
        return ObjectFile::from_bytes(name, bytes);
    }
    let (image, source) = vortex::image_at(name, bytes, TEXT)?;
    let object = riscv_assembly(image, name).map_err(|e| refused!(Program, "{name}: {e}"))?;
    Ok(ObjectFile { name: name.to_owned(), object, source })
}
