//! Inserts words into the code of a GCN3 code object, or takes some out, and keeps the file valid: branches,
//! pc-relative addresses, kernel descriptors, symbols, headers, source lines. What to insert is decided elsewhere.

mod dwarf;
mod edits;
mod elf;
mod error;
mod text;

pub use edits::Edits;
pub use error::RewriteError;

use crate::codeobject::{CodeObject, bundle};

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
