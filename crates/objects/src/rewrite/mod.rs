//! Inserts words into the code of a GCN3 code object, or takes some out, and keeps the file valid: branches,
//! pc-relative addresses, kernel descriptors, symbols, headers, source lines. What to insert is decided elsewhere.

mod dwarf;
mod elf;
mod text;

use crate::codeobject::{CodeObject, CodeObjectError, bundle};
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Why a code object cannot be rewritten.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RewriteError {
    #[error(transparent)]
    Object(#[from] CodeObjectError),
    #[error("the branch at {at:#x} would have to jump {words} words; its field holds -32768 to 32767")]
    Branch { at: u64, words: i64 },
    #[error("the branch at {at:#x} leads out of .text")]
    Outside { at: u64 },
    #[error(
        "the address that s_getpc_b64 at {at:#x} begins is not finished by s_add_u32 and s_addc_u32 with literals"
    )]
    GetPc { at: u64 },
    #[error("a relocation of the object points into .text ({0:#x}): link it again after marking the source")]
    Relocation(u64),
    #[error("the layout of the file is not what linkers write: {0}")]
    Layout(&'static str),
    #[error("the debug information cannot be rewritten ({0}): remove it with llvm-objcopy --strip-debug")]
    Debug(String),
}

/// What to insert and remove, by word number in .text (the pc of the simulator).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// Words in front of an instruction; who jumps to it executes them.
    pub before: BTreeMap<u32, Vec<u32>>,
    /// Words behind an instruction; who jumps to the next one does not execute them.
    pub after: BTreeMap<u32, Vec<u32>>,
    /// Instructions that go; who jumps to one goes on behind it.
    pub remove: BTreeSet<u32>,
}

impl Edits {
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.remove.is_empty()
    }
}

/// The file with the edits made; without edits, the same bytes. An object in a bundle stays in its bundle.
pub fn rewrite(bytes: &[u8], edits: &Edits) -> Result<Vec<u8>, RewriteError> {
    let object = CodeObject::parse(bytes)?;
    if edits.is_empty() {
        return Ok(bytes.to_vec());
    }
    let inner = bundle::unwrap(bytes)?;
    let new = elf::rewrite(inner, &object, edits)?;
    Ok(bundle::replace(bytes, new)?)
}
