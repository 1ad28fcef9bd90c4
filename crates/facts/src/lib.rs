//! Flow facts: what is known about how often code runs – limits of loops, linear facts – from a TOML file, from FFX of
//! OTAWA, or proven from the code (wcet.md, pipeline 2). A file is for one kernel and refused when its code has changed.

pub mod check;
mod checksum;
mod error;
mod ffx;
mod file;
pub mod infer;
mod loops;
mod place;
mod returns;
mod template;

pub use check::{Calls, FlowError, analysable, analysable_with, calls_of, code_blocks, require_bounds};
pub use checksum::checksum;
pub use error::FactsError;
pub use infer::{Inferred, Known, NeverTaken, SideCondition, infer_gcn3, infer_unchecked, recheck};
pub use loops::{LoopView, loops};
pub use place::find_blocks;
pub use template::template;

use std::collections::BTreeMap;
use wb_isa::{Isa, Pc, SourceFile};
use wb_program::Program;

/// Where a limit comes from; a bound that rests on anything but proofs says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Follows from the code and the launch.
    Proved,
    /// The user says so.
    User,
    /// Seen in runs, not proven.
    Observed,
    /// An FFX file says so.
    Ffx,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Origin::Proved => "proved",
            Origin::User => "user",
            Origin::Observed => "observed",
            Origin::Ffx => "ffx",
        }
    }
}

/// The edges back to the loop's header are taken at most `max` times for each time the loop is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFact {
    /// First instruction of the header.
    pub header: Pc,
    pub max: u64,
    pub origin: Origin,
    /// The proof, or the reason the user gave.
    pub why: String,
}

/// What a linear fact counts in one execution of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// How often the block that begins with this pc runs.
    Block(Pc),
    /// How often the loop with this header goes round, over all times it is entered.
    Rounds(Pc),
}

/// Σ factor · count ≤ limit, for every execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearFact {
    pub name: String,
    pub terms: Vec<(i64, Counted)>,
    pub limit: i64,
    pub origin: Origin,
}

/// Everything known about the flow of one kernel; loops by header, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFacts {
    pub loops: Vec<LoopFact>,
    pub facts: Vec<LinearFact>,
}

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

    /// The limit of the loop with this header.
    pub fn bound(&self, header: Pc) -> Option<&LoopFact> {
        self.loops.iter().find(|l| l.header == header)
    }

    /// Adds limits; of two for the same loop the smaller one stays, both being true.
    pub fn add(&mut self, more: impl IntoIterator<Item = LoopFact>) {
        let mut best: BTreeMap<Pc, LoopFact> = BTreeMap::new();
        for fact in std::mem::take(&mut self.loops).into_iter().chain(more) {
            match best.get(&fact.header) {
                Some(known) if (known.max, known.origin) <= (fact.max, fact.origin) => {}
                _ => _ = best.insert(fact.header, fact),
            }
        }
        self.loops = best.into_values().collect();
    }
}
