//! Programs: loaded, compiled or assembled.

use crate::error::Error;
use std::path::Path;
use wb_hw::InstructionSet;
use wb_jobs::object::{self, CompileOptions, ObjectFile};
use wb_jobs::{ProgramRef, with_program};
use wb_report::flow::{self, KernelGraph};

/// A program of any instruction set: a code object, an executable, assembly, or an OpenCL or HIP source that was compiled.
///
/// ```
/// # fn main() -> Result<(), wavebound::Error> {
/// use wavebound::{InstructionSet, Program};
///
/// let program = Program::from_source(InstructionSet::Gcn3, "stop.s", ".kernel stop\n  s_endpgm\n");
/// assert_eq!(program.kernels()?, ["stop"]);
/// assert_eq!(program.graph("stop")?.blocks.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) isa: InstructionSet,
}

impl Program {
    /// Opens a file. Its extension and its first bytes say what it is; `.cl` and `.hip` are compiled with the system's
    /// clang.
    pub fn open(path: impl AsRef<Path>) -> Result<Program, Error> {
        Program::compile(path, &CompileOptions::default())
    }

    /// Opens a file; a source is compiled with these options.
    pub fn compile(path: impl AsRef<Path>, options: &CompileOptions) -> Result<Program, Error> {
        let path = path.as_ref();
        let bytes = object::read(path, options)?;
        let isa = wb_jobs::required_isa(path, &bytes, None)?;
        Ok(Program { name: path.display().to_string(), bytes, isa })
    }

    /// Assembly text. What is wrong in it shows when it is used, with its line.
    pub fn from_source(isa: InstructionSet, name: &str, text: &str) -> Program {
        Program { name: name.to_owned(), bytes: text.as_bytes().to_vec(), isa }
    }

    /// A code object or an executable that is in memory.
    pub fn from_bytes(isa: InstructionSet, name: &str, bytes: &[u8]) -> Program {
        Program { name: name.to_owned(), bytes: bytes.to_vec(), isa }
    }

    /// What it is called in messages: its file, mostly.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, the text, or what the compiler made of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The instruction set it is written in.
    pub fn instruction_set(&self) -> InstructionSet {
        self.isa
    }

    /// Names of its kernels; programs that are not GCN3 are a kernel of their own and have no names.
    pub fn kernels(&self) -> Result<Vec<String>, Error> {
        if self.isa != InstructionSet::Gcn3 {
            return Ok(Vec::new());
        }
        let file = ObjectFile::from_bytes(&self.name, &self.bytes)?;
        Ok(file.object.kernels.iter().map(|k| k.name.clone()).collect())
    }

    /// Blocks, edges, loops and divergent regions of a kernel: what `wavebound cfg` prints.
    pub fn graph(&self, kernel: &str) -> Result<KernelGraph, Error> {
        let loaded = wb_jobs::load_bytes(&self.name, &self.bytes, self.isa, kernel)?;
        let program: ProgramRef = loaded.program.borrow();
        Ok(with_program!(program, p => flow::graph(p, &self.name))?)
    }
}
