//! Runs as a user describes them: a program file of any instruction set, a machine with changes, buffers and arguments;
//! launch files and workloads of the suite; code objects from sources, assembly and disk. Everything that starts a run
//! (command line, analyser, experiments, tests) starts it here.

pub mod args;
pub mod data;
pub mod error;
mod job;
pub mod launch;
mod load;
pub mod object;
mod program;
mod spec;
mod views;
pub mod vortex;

pub use error::{AsmErrors, JobError, Part, Refusal};
pub use job::Job;
pub use load::{Loaded, load, load_bytes};
pub use program::{AnyProgram, ProgramRef, last_part};
pub use spec::JobSpec;
