//! What can go wrong on the host side, with what to do about it.

use miette::Diagnostic;
use thiserror::Error;
use wb_isa::MemFault;
use wb_isa::gcn3::GFX8;
use wb_objects::codeobject::CodeObjectError;
use wb_program::LoadError;
use wb_sim::SimError;

#[derive(Debug, Error, Diagnostic)]
pub enum DeviceError {
    #[error(transparent)]
    #[diagnostic(help("a GCN3 code object is what `clang -target amdgcn-amd-amdhsa -mcpu={}` writes", GFX8.usual.name))]
    Object(#[from] CodeObjectError),
    #[error("{}", no_kernel(name))]
    #[diagnostic(help("kernels in the file: {known}"))]
    NoKernel { name: String, known: String },
    #[error("kernel {kernel} takes {wanted} argument(s), {given} were given")]
    #[diagnostic(help("{usage}"))]
    ArgumentCount { kernel: String, wanted: usize, given: usize, usage: String },
    #[error("argument {index} of {kernel} ({name}): {what}")]
    Argument { kernel: String, index: usize, name: String, what: String },
    #[error("launch of {kernel}: {what}")]
    Launch { kernel: String, what: String },
    #[error("no room for {bytes} bytes in a device memory of {size} bytes")]
    #[diagnostic(help("raise limits.memory with --set"))]
    OutOfMemory { bytes: u64, size: u64 },
    #[error("{bytes} bytes at {addr:#x} are not free, not aligned to 256, or outside device memory")]
    #[diagnostic(help("addresses are for launches that were captured: take them as they are"))]
    Taken { addr: u64, bytes: u64 },
    #[error(transparent)]
    Memory(#[from] MemFault),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    #[diagnostic(transparent)]
    Run(Box<SimError>),
}

fn no_kernel(name: &str) -> String {
    match name {
        "" => "the file has several kernels: choose one with --kernel".to_owned(),
        name => format!("there is no kernel `{name}`"),
    }
}
