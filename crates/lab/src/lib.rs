//! Experiments and everything that starts runs: jobs, published experiments, benches.

pub mod bench;
pub mod job;
pub mod views;

pub use job::{AnyProgram, AsmErrors, Job, JobSpec};
