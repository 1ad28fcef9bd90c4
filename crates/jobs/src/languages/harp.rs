//! HARP programs as a user gives them: assembly or object files, for an architecture that says how words and instructions look.

use crate::error::{AsmErrors, JobError, refused};
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared, source_file};
use crate::object::is_gcn3_assembly;
use crate::spec::JobSpec;
use std::fmt::Write as _;
use std::path::Path;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::harp::{self, Arch, Harp, Image, Object};
use wb_program::{Program, harp_program};
use wb_sim::{DeviceMemory, Launch};

impl Language for Harp {
    const FILES: &'static [&'static str] = &["harp", "s", "hof"];
    const ASSEMBLY: (&'static str, &'static str) = ("harp", "//");
    const OBJECT: (&'static str, &'static [u8]) = ("hof", b"HARP");

    fn owns(extension: &str, bytes: &[u8]) -> bool {
        matches!(extension, "harp" | "hof") || extension == "s" && !is_gcn3_assembly(bytes)
    }

    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Harp>, JobError> {
        let mut machine = spec.machine()?;
        if !spec.arch.is_empty() {
            machine.arch.clone_from(&spec.arch);
        }
        let object = bytes.starts_with(Self::OBJECT.1).then(|| Object::from_bytes(bytes)).transpose()?;
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
        Ok(Prepared::new(harp_program(&image, name, source)?, machine, Launch::Boot))
    }

    fn assemble(source: &SourceFile, arch: &str) -> Result<Assembled, JobError> {
        let object =
            harp::assemble(source, &self::arch(arch)?).map_err(|e| AsmErrors::new(&source.name, e))?;
        let what = format!("{} chunks", object.chunks.len());
        Ok(Assembled { bytes: object.to_file()?, what })
    }

    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError> {
        let image = if bytes.starts_with(Self::OBJECT.1) {
            harp::link(&[Object::from_bytes(bytes)?])?
        } else {
            let source = source_file(&path.display().to_string(), bytes)?;
            let arch = arch(&options.arch)?;
            harp::assemble_program(&source, &arch).map_err(|e| AsmErrors::new(&source.name, e))?
        };
        if options.assembly { Ok(harp::disassemble(&image)) } else { listing(&image) }
    }

    fn word(&self) -> u32 {
        self.arch.bytes
    }

    fn arguments(&self, kernarg: &[u8]) -> Vec<u8> {
        kernarg.to_vec()
    }

    fn names_memory() -> bool {
        true
    }

    fn memory(_: &Program<Harp>, machine: &Machine, _: &Init) -> Result<DeviceMemory, JobError> {
        Ok(DeviceMemory::new(machine.limits.memory))
    }
}

fn arch(text: &str) -> Result<Arch, JobError> {
    text.parse().map_err(|e| refused!(Program, "--arch {text}: {e}"))
}

/// Addresses, bytes and instructions of an image.
fn listing(image: &Image) -> Result<String, JobError> {
    let program = harp_program(image, "", None)?;
    let mut out = format!("; arch {}, entry {:#x}\n", image.arch, image.entry);
    for (pc, op) in program.ops.iter().enumerate().filter(|(_, op)| op.inst.is_some()) {
        let granule = u64::from(program.isa.granule);
        let (addr, end) = (pc as u64 * granule, u64::from(op.next) * granule);
        for (name, _) in program.symbols.iter().filter(|s| s.1 == addr) {
            let _ = writeln!(out, "{name}:");
        }
        let code: String = (addr..end)
            .filter_map(|a| image.bytes_at(a)?.first().copied())
            .map(|b| format!("{b:02x}"))
            .collect::<Vec<_>>()
            .join(" ");
        let _ = writeln!(out, "  {addr:06x}  {code:<32} {}", program.text_at(pc as u32));
    }
    Ok(out)
}
