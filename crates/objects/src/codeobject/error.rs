//! Why a code object is refused.

use thiserror::Error;
use wb_isa::gcn3::{GENERATIONS, Generation};

/// Why a file is not a code object we can run; names the place and what would be right.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CodeObjectError {
    #[error("not an ELF file: {0}")]
    Elf(String),
    #[error("an ELF file for machine {0:#x}, not an AMD GPU code object (machine 0xe0)")]
    Machine(u16),
    #[error("the object is for another AMD GPU (machine {machine:#x}); {known} are known here", machine = .0, known = known_targets())]
    Target(u32),
    #[error("the offload bundle is damaged: {0}")]
    Bundle(String),
    #[error("the bundle has no entry for {wanted}; it has: {found}")]
    NoEntry { wanted: String, found: String },
    #[error("the metadata note is damaged: {0}")]
    Metadata(String),
    #[error("kernel {kernel}: {what}")]
    Kernel { kernel: String, what: String },
    #[error("{what}")]
    Code { what: String },
    #[error("variable {name}: its {bytes} bytes at {addr:#x} lie outside the object: the file is damaged")]
    Variable { name: String, addr: u64, bytes: u64 },
    #[error("the object has no kernels")]
    Empty,
    #[error("cannot write the object: {0}")]
    Write(String),
}

/// Names of all processors that are known, for messages.
pub(super) fn known_targets() -> String {
    GENERATIONS.map(Generation::target_names).join(", ")
}
