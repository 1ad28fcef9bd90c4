//! GCN3 programs as a user gives them: code objects, assembly and sources, launched by a device with arguments and buffers.

use super::kernels;
use crate::error::JobError;
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared};
use crate::object::{self, ObjectFile, is_gcn3_assembly, is_object, is_source};
use crate::spec::JobSpec;
use std::path::Path;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::gcn3::isa::Gcn3;
use wb_objects::RiscvImage;
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
        kernels::prepare(name, ObjectFile::marked(name, bytes, &spec.split)?, spec)
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

    fn memory(_: &Program<Gcn3>, machine: &Machine, init: &Init) -> Result<DeviceMemory, JobError> {
        Ok(kernels::memory(machine, init))
    }
}
