//! What can go wrong in a run: every error names wave, pc and source line, and what to do.

use crate::memory::DeviceMemory;
use miette::{Diagnostic, NamedSource, SourceSpan};
use std::sync::Arc;
use thiserror::Error;
use wb_isa::{Isa, Mask, Pc, lanes::mask_text};
use wb_program::Program;

/// What kind of thing went wrong, for programs that look at errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The machine or launch is not usable.
    Setup,
    /// An instruction could not execute.
    Trap,
    /// The divergence mechanism refused.
    Divergence,
    /// Cycle budget used up.
    Budget,
    /// The caller wanted no more.
    Stopped,
    /// All waves wait for each other.
    Deadlock,
    /// A mask invariant does not hold: an error in Wavebound itself.
    Invariant,
}

#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct SimError {
    pub kind: ErrorKind,
    pub message: String,
    pub wave: Option<u32>,
    pub pc: Option<Pc>,
    #[source_code]
    source_code: Option<NamedSource<Arc<str>>>,
    #[label("here")]
    span: Option<SourceSpan>,
    #[help]
    pub hint: Option<String>,
    /// An access to memory failed: what it was.
    pub fault: Option<String>,
    /// Device memory as the failure left it.
    pub memory: Option<Box<DeviceMemory>>,
}

impl SimError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        SimError {
            kind,
            message: message.into(),
            wave: None,
            pc: None,
            source_code: None,
            span: None,
            hint: None,
            fault: None,
            memory: None,
        }
    }

    /// Gives device memory back to who started the run.
    pub(crate) fn with_memory(mut self: Box<Self>, memory: DeviceMemory) -> Box<Self> {
        self.memory = Some(Box::new(memory));
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: Option<impl Into<String>>) -> Self {
        self.hint = hint.map(Into::into);
        self
    }

    /// Adds where it happened.
    #[must_use]
    pub fn at<I: Isa>(mut self, program: &Program<I>, wave: u32, pc: Pc, mask: Mask, lanes: u32) -> Self {
        self.message = format!(
            "{}\n  {}wave {wave}, lanes {}, pc {:#x}: {}",
            self.message,
            if program.kernel.is_empty() { String::new() } else { format!("kernel {}, ", program.kernel) },
            mask_text(mask, lanes),
            program.linked(pc),
            program.place(pc),
        );
        (self.wave, self.pc) = (Some(wave), Some(pc));
        let line = program.line_of(pc);
        if let (Some(source), true) = (&program.source, line > 0) {
            let start: usize = source.text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
            let text = source.line(line).unwrap_or("");
            let indent = text.len() - text.trim_start().len();
            self.source_code = Some(NamedSource::new(&source.name, source.text.clone()));
            self.span = Some((start + indent, text.trim().len()).into());
        }
        self
    }
}
