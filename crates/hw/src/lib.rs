//! Machine descriptions as data: serde structures, validation, presets in TOML, overrides.
//! Simulator and analyser read every latency from here (docs/ARCHITECTURE.md, invariant 1).

mod machine;

pub use machine::*;
