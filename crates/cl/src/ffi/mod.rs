//! The C interface: every function reads its arguments, calls the runtime and writes results. The loader finds them through a table
//! (cl_khr_icd); only three have names of their own. This is the only module with unsafe code.
#![allow(non_snake_case, clippy::missing_safety_doc, clippy::too_many_arguments)]

mod base;
mod context;
mod enqueue;
mod event;
mod exported;
mod kernel;
mod launch;
mod memory;
mod missing;
mod platform;
mod program;
mod rect;
mod svm;
mod table;
mod work;

pub use table::NAMES;
