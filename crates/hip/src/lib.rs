//! HIP's runtime on the simulated GPU: what `libwavebound_hip.so` does when an unmodified HIP program calls it
//! (docs/hip.md). Logic is safe code; `ffi` is the thin layer that reads and writes the program's pointers.

mod errors;
mod fatbin;
#[allow(unsafe_code)]
pub mod ffi;
pub mod fuzzing;
mod graph;
mod launches;
mod memory;
mod modules;
mod props;
mod runtime;
mod state;
mod streams;
mod textures;

pub use errors::{Code, Failure};

/// What `wavebound hip` tells the library: JSON of [`wb_host::Options`].
pub const ENVIRONMENT: &str = "WAVEBOUND_HIP";

/// The library a program links (`libamdhip64.so.5`): symbols with their versions that jump into ours. Empty where there is none.
pub const SHIM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libamdhip64.so.5"));

/// What the library behind it is called.
pub const LIBRARY: &str = "libwavebound_hip.so";
/// What programs link.
pub const SONAME: &str = "libamdhip64.so.5";
/// The names the stock library exports: name, version, `yes` if we have it.
pub const NAMES: &str = include_str!("names.txt");
