//! Experiments and everything that starts runs: jobs, published experiments, benches.

pub mod args;
pub mod array;
pub mod bench;
pub mod bound;
pub mod cfg;
pub mod fills;
pub mod fuzzing;
mod html;
pub mod job;
pub mod kernels;
pub mod launch;
mod npy;
pub mod object;
pub mod random;
pub mod reproduce;
pub mod schedule;
pub mod synthetic;
pub mod views;
pub mod vortex;

pub use job::{AnyProgram, AsmErrors, Job, JobSpec};
