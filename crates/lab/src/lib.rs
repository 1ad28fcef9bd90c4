//! Experiments and everything that starts runs: jobs, published experiments, benches.

pub mod bench;
pub mod fuzzing;
pub mod job;
pub mod object;
pub mod random;
pub mod reproduce;
pub mod views;

pub use job::{AnyProgram, AsmErrors, Job, JobSpec};
