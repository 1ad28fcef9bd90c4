//! Machine descriptions as data: serde structures, validation, presets in TOML, overrides.
//! Simulator and analyser read every latency from here (docs/ARCHITECTURE.md, invariant 1).

mod error;
mod file;
mod listed;
mod machine;
mod mechanism;
mod occupancy;
mod overrides;
mod policy;
mod presets;
mod provision;
mod schema;
mod state;
mod validate;

pub use error::{HwError, Place};
pub use file::load;
pub use machine::*;
pub use mechanism::{
    InstructionSet, InstructionSetInfo, MarkStyle, Mechanism, MechanismInfo, Reconverge, Reconvergence,
    SureSplits,
};
pub use occupancy::{Limit, Needs, Occupancy, Room};
pub use overrides::parse_set;
pub use policy::{Policy, PolicyInfo};
pub use presets::{Preset, preset, presets};
pub use schema::{Field, Kind, SCHEMA};
