//! Why a code object cannot be rewritten.

use crate::codeobject::CodeObjectError;
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
