//! GUPPY programs as a user gives them: assembly or modules, with views and samplers bound to a launch of threads.

use crate::error::{AsmErrors, JobError, refused};
use crate::language::{Assembled, Init, Language, ListingOptions, Prepared, source_file};
use crate::spec::JobSpec;
use crate::views::Views;
use std::path::Path;
use wb_hw::Machine;
use wb_isa::SourceFile;
use wb_isa::guppy::{self, Guppy, Module};
use wb_program::{Program, guppy_program};
use wb_sim::{DeviceMemory, Launch};

impl Language for Guppy {
    const FILES: &'static [&'static str] = &["guppy", "gupm"];
    const ASSEMBLY: (&'static str, &'static str) = ("guppy", ";");
    const OBJECT: (&'static str, &'static [u8]) = ("gupm", b"GUPY");

    fn owns(extension: &str, _bytes: &[u8]) -> bool {
        matches!(extension, "guppy" | "gup" | "gupm")
    }

    fn prepare(name: &str, bytes: &[u8], spec: &JobSpec) -> Result<Prepared<Guppy>, JobError> {
        let mut machine = spec.machine()?;
        if spec.registers > 0 {
            machine.core.registers = spec.registers;
        }
        let (module, source) = module(name, bytes)?;
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
        let prepared = Prepared::new(program, machine, Launch::Grid { threads, group });
        Ok(Prepared { buffers: views.buffers, init: views.init, ..prepared })
    }

    fn assemble(source: &SourceFile, _arch: &str) -> Result<Assembled, JobError> {
        let module = guppy::assemble(source).map_err(|e| AsmErrors::new(&source.name, e))?;
        let what = format!("{} instructions", module.insts.len());
        Ok(Assembled { bytes: module.to_bytes(), what })
    }

    fn list(path: &Path, bytes: &[u8], options: &ListingOptions) -> Result<String, JobError> {
        let (module, _) = module(&path.display().to_string(), bytes)?;
        if options.assembly { Ok(module.disassemble()) } else { Ok(listing(&module)) }
    }

    fn word(&self) -> u32 {
        4
    }

    /// A program reads its views from tables of the machine, not from memory.
    fn arguments(&self, _kernarg: &[u8]) -> Vec<u8> {
        format!("{:?}", self.bindings).into_bytes()
    }

    fn names_memory() -> bool {
        false
    }

    fn memory(_: &Program<Guppy>, machine: &Machine, _: &Init) -> Result<DeviceMemory, JobError> {
        Ok(DeviceMemory::new(machine.limits.memory))
    }
}

fn module(name: &str, bytes: &[u8]) -> Result<(Module, Option<SourceFile>), JobError> {
    if bytes.starts_with(Guppy::OBJECT.1) {
        return Ok((Module::from_bytes(bytes)?, None));
    }
    let source = source_file(name, bytes)?;
    Ok((guppy::assemble(&source).map_err(|e| AsmErrors::new(name, e))?, Some(source)))
}

/// The disassembly with numbers before its instructions; labels and blank lines have none.
fn listing(module: &Module) -> String {
    let mut pc = 0;
    module
        .disassemble()
        .lines()
        .map(|line| {
            let is_instruction =
                line.starts_with(' ') && !line.trim().is_empty() && !line.trim().starts_with(';');
            if is_instruction {
                pc += 1;
                format!("  {:04}{line}\n", pc - 1)
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}
