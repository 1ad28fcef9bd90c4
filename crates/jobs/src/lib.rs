//! Runs as a user describes them: a program file of any instruction set, a machine with changes, buffers and arguments;
//! launch files and workloads of the suite; code objects from sources, assembly and disk. Everything that starts a run
//! (command line, analyser, experiments, tests) starts it here.

pub mod args;
mod checks;
pub mod data;
pub mod error;
mod gpu;
mod job;
mod known;
mod language;
mod languages;
pub mod launch;
mod load;
pub mod object;
mod program;
mod spec;
mod views;

pub use checks::Checks;
pub use error::{AsmErrors, JobError, Part, Refusal};
pub use job::Job;
pub use known::Known;
pub use language::{Assembled, Init, Language, ListingOptions, Prepared, isa_by_magic, isa_of, required_isa};
pub use languages::vortex;
pub use load::{Loaded, load, load_bytes};
pub use program::{AnyProgram, ProgramRef, last_part};
pub use spec::JobSpec;
// What the macros name.
#[doc(hidden)]
pub use wb_hw::InstructionSet;
#[doc(hidden)]
pub use wb_isa::isas;
