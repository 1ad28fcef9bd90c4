//! Marks for splitting, made in memory before a program is loaded: the same pass as `wavebound split`, so a run gives
//! what the rewritten file would give.

use super::{ObjectFile, assemble, is_object};
use crate::error::{JobError, refused};
use std::borrow::Cow;
use wb_hw::{InstructionSet, MarkStyle};
use wb_isa::SourceFile;
use wb_objects::codeobject::CodeObject;
use wb_objects::marks::{self, MarkError, Marked, Request, Wanted};

/// Which branches of a GCN3 program are marked before the run; none by default.
#[derive(Clone, Debug, Default)]
pub struct SplitSpec {
    /// Addresses, pcs, FILE:LINE, LABEL.
    pub at: Vec<String>,
    pub all: bool,
    pub style: MarkStyle,
}

impl SplitSpec {
    pub fn is_empty(&self) -> bool {
        self.at.is_empty() && !self.all
    }

    fn request(&self) -> Request {
        let wanted = if self.all { Wanted::All } else { Wanted::At(self.at.clone()) };
        Request { kernel: String::new(), wanted, style: self.style }
    }
}

/// The bytes of a code object; assembly text is assembled.
pub fn code<'a>(name: &str, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, JobError> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !is_object(bytes) => Ok(Cow::Owned(assemble(&SourceFile::new(name, text))?)),
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

/// A marking error with the file's name and its hint.
pub fn mark_report(name: &str, error: MarkError) -> JobError {
    match error.hint() {
        Some(hint) => refused!(Program, help = hint.to_owned(), "{name}: {error}"),
        None => refused!(Program, "{name}: {error}"),
    }
}

pub fn mark(name: &str, bytes: &[u8], request: &Request) -> Result<Marked, JobError> {
    marks::mark(bytes, request).map_err(|e| mark_report(name, e))
}

/// Programs that have no place for marks.
pub(crate) fn unmarkable(isa: InstructionSet) -> JobError {
    refused!(
        Program,
        help = "write split and join, or masks, into the program",
        "only GCN3 programs can be marked for splitting, this is {isa}"
    )
}

impl ObjectFile {
    /// A program from its bytes, marked as `split` says.
    pub fn marked(name: &str, bytes: &[u8], split: &SplitSpec) -> Result<ObjectFile, JobError> {
        let mut file = ObjectFile::from_bytes(name, bytes)?;
        if !split.is_empty() {
            if file.object.isa != InstructionSet::Gcn3 {
                return Err(unmarkable(file.object.isa));
            }
            let new = mark(name, &code(name, bytes)?, &split.request())?.bytes;
            file.object = CodeObject::parse(&new).map_err(|e| refused!(Program, "{name}: {e}"))?;
        }
        Ok(file)
    }
}
