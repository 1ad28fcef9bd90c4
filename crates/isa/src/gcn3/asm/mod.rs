//! The assembler: single lines, and small files with labels, data words and `.amdhsa_kernel` blocks.
//! Bytes are llvm-mc's choice: the short form where the operands fit it, inline constants before literals.

mod cursor;
mod file;
mod instruction;
mod kernel;
mod modifiers;
mod operand;
mod symbolic;
mod vector;

pub use file::{Assembly, assemble};
pub use kernel::KernelHeader;

use super::encode::encode;
use super::inst::Inst;
use crate::{AsmError, SourceFile};
use cursor::Cursor;
use std::ops::Range;

/// A parsed instruction; `target` is the label it branches to, if it names one.
struct Line {
    inst: Inst,
    target: Option<(String, Range<usize>)>,
}

/// Parses one instruction without labels.
pub fn parse_line(text: &str) -> Result<Inst, AsmError> {
    let file = SourceFile::new("<line>", text);
    let mut cursor = Cursor::new(&file, 0..file::without_comment(text).len());
    let line = instruction::instruction(&mut cursor)?;
    match line.target {
        None => Ok(line.inst),
        Some((name, span)) => Err(AsmError::new(&file, span, format!("label `{name}` is not defined"), "here")
            .hint("a single line can only branch by a number of words")),
    }
}

/// The words of one instruction.
pub fn assemble_line(text: &str) -> Result<Vec<u32>, AsmError> {
    parse_line(text).map(|inst| encode(&inst))
}
