//! OpenCL's runtime on the simulated GPU: what `libwavebound_cl.so` does when the loader of an unmodified OpenCL program calls it
//! (docs/opencl.md). Logic is safe code; `ffi` is the thin layer that reads and writes the program's pointers.

mod buffers;
mod codes;
mod commands;
mod device;
#[allow(unsafe_code)]
pub mod ffi;
mod info;
mod kernels;
mod launches;
mod objects;
mod options;
mod printf;
mod programs;
mod range;
mod runtime;
mod state;

pub use codes::{Code, Failure};
pub use ffi::NAMES;
pub use options::words as build_words;

/// What the library is called.
pub const LIBRARY: &str = "libwavebound_cl.so";
/// What `wavebound cl` tells the library: JSON of [`wb_host::Options`].
pub const ENVIRONMENT: &str = "WAVEBOUND_CL";
