//! Bounds of kernels, end to end.

mod runs;

pub use runs::{Launched, ProgramRef, Runs};
