//! Facts from text: a facts file, or FFX of OTAWA.

use crate::error::FactsError;
use crate::facts::FlowFacts;
use crate::{ffx, file};
use wb_isa::{Isa, SourceFile};
use wb_program::Program;

impl FlowFacts {
    /// Reads a facts file and finds its places in the program. `name` is the file's, for messages.
    pub fn from_toml<I: Isa>(
        text: &str,
        name: &str,
        program: &Program<I>,
    ) -> Result<FlowFacts, Box<FactsError>> {
        file::read(&SourceFile::new(name, text), program)
    }

    /// Reads flow facts in OTAWA's FFX format.
    pub fn from_ffx<I: Isa>(
        text: &str,
        name: &str,
        program: &Program<I>,
    ) -> Result<FlowFacts, Box<FactsError>> {
        ffx::read(&SourceFile::new(name, text), program)
    }

    /// By the look of the text: XML or TOML.
    pub fn parse<I: Isa>(text: &str, name: &str, program: &Program<I>) -> Result<FlowFacts, Box<FactsError>> {
        if text.trim_start().starts_with('<') {
            FlowFacts::from_ffx(text, name, program)
        } else {
            FlowFacts::from_toml(text, name, program)
        }
    }
}
