//! The assembler: single lines, and small files with labels, data words and `.amdhsa_kernel` blocks.
//! Bytes are llvm-mc's choice: the short form where the operands fit it, inline constants before literals.

mod argument;
mod brief;
mod cursor;
mod file;
mod graphics;
mod instruction;
mod kernel;
mod line;
mod modifiers;
mod operand;
mod symbolic;
mod vector;

pub use argument::{ArgHeader, ArgType};
pub use file::{Assembly, assemble, assemble_for};
pub use kernel::KernelHeader;

use super::encode::encode;
use super::generation::{GFX8, Generation};
use super::inst::Inst;
use crate::{AsmError, SourceFile};
use cursor::Cursor;
use line::Target;

/// Parses one instruction of gfx8 without labels.
pub fn parse_line(text: &str) -> Result<Inst, AsmError> {
    parse_line_for(&GFX8, text)
}

/// The same for a generation.
pub fn parse_line_for(generation: &'static Generation, text: &str) -> Result<Inst, AsmError> {
    let file = SourceFile::new("<line>", text);
    let mut cursor = Cursor::new(&file, generation, 0..file::without_comment(text).len());
    let line = instruction::instruction(&mut cursor)?;
    match line.target {
        None => Ok(line.inst),
        Some(Target { label, span, .. }) => {
            let error = AsmError::new(&file, span, format!("label `{label}` is not defined"), "here");
            Err(error.hint("a single line can only branch by a number of words"))
        }
    }
}

/// The words of one instruction of gfx8.
pub fn assemble_line(text: &str) -> Result<Vec<u32>, AsmError> {
    parse_line(text).map(|inst| encode(&inst))
}

/// The same for a generation.
pub fn assemble_line_for(generation: &'static Generation, text: &str) -> Result<Vec<u32>, AsmError> {
    parse_line_for(generation, text).map(|inst| encode(&inst))
}
