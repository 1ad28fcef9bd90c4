//! Programs of any instruction set without a launch: what a control-flow graph or a facts file needs.

use crate::error::{JobError, refused};
use crate::job::Job;
use crate::language::required_isa;
use crate::languages::riscv;
use crate::object::{self, CompileOptions, ObjectFile};
use crate::program::AnyProgram;
use crate::spec::JobSpec;
use std::path::Path;
use wb_hw::InstructionSet;
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::riscv::Setup;
use wb_objects::codeobject::KernelArg;
use wb_objects::{gcn3_program, gcn3_setup, riscv_program};

/// A program of one kernel, as linked.
pub struct Loaded {
    pub program: AnyProgram,
    /// The kernel's arguments, where it is one.
    pub args: Vec<KernelArg>,
}

/// Loads a file by its extension; `kernel` chooses one of several.
pub fn load(path: &Path, kernel: &str) -> Result<Loaded, JobError> {
    let name = path.display().to_string();
    let bytes = object::read_for(path, &CompileOptions::default(), kernel)?;
    let isa = required_isa(path, &bytes, None)?;
    load_bytes(&name, &bytes, isa, kernel)
}

/// The same for a program that is in memory; `name` is its file's, for messages.
pub fn load_bytes(name: &str, bytes: &[u8], isa: InstructionSet, kernel: &str) -> Result<Loaded, JobError> {
    if !matches!(isa, InstructionSet::Gcn3 | InstructionSet::Riscv) {
        if !kernel.is_empty() {
            return Err(refused!(
                Kernel,
                help = "leave out --kernel",
                "{name}: only GCN3 programs and those for lane-pc machines have kernels to choose from"
            ));
        }
        let spec = JobSpec { isa: Some(isa), ..JobSpec::default() };
        let program = Job::from_bytes(name, bytes, &spec)?.program;
        return Ok(Loaded { program, args: Vec::new() });
    }
    let file = match isa {
        InstructionSet::Riscv => riscv::file(name, bytes)?,
        _ => ObjectFile::from_bytes(name, bytes)?,
    };
    let found = file.object.kernel(kernel).ok_or_else(|| {
        let help = format!("kernels in the file: {}", file.object.kernel_names());
        match kernel {
            "" => refused!(Kernel, help = help, "{name} has several kernels: choose one with --kernel"),
            _ => refused!(Kernel, help = help, "{name}: there is no kernel `{kernel}`"),
        }
    })?;
    if file.object.isa == InstructionSet::Riscv {
        let program = riscv_program(&file.object, found, Setup::default(), name, file.source.clone())?;
        return Ok(Loaded { program: AnyProgram::Riscv(program), args: found.args.clone() });
    }
    let isa = Gcn3 { setup: gcn3_setup(found), ..Gcn3::default() };
    let program = gcn3_program(&file.object, found, isa, 0, name, file.source.clone())?;
    Ok(Loaded { program: AnyProgram::Gcn3(program), args: found.args.clone() })
}
