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

/// The libraries a program links, by their names: symbols with their versions that jump into ours. Empty where there is none.
pub const SHIMS: [(&str, &[u8]); 2] = [
    ("libamdhip64.so.5", include_bytes!(concat!(env!("OUT_DIR"), "/libamdhip64.so.5"))),
    ("libamdhip64.so.6", include_bytes!(concat!(env!("OUT_DIR"), "/libamdhip64.so.6"))),
];

/// What the library behind it is called.
pub const LIBRARY: &str = "libwavebound_hip.so";
/// The names the stock library exports: name, version, `yes` if we have it; and what that of HIP 6 has more or otherwise.
pub const NAMES: &str = include_str!("names.txt");
pub const NAMES6: &str = include_str!("names6.txt");
