//! The machines that come with the tool: TOML files embedded at build time, with the source of
//! their numbers in comments.

use crate::error::{HwError, suggest};
use crate::machine::Machine;
use std::sync::OnceLock;

pub struct Preset {
    pub name: &'static str,
    /// The file as written, comments included.
    pub text: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(Preset { name: $name, text: include_str!(concat!("../presets/", $name, ".toml")) }),*]
    };
}

const PRESETS: &[Preset] = presets![
    "gcn3",
    "gcn3-fixed",
    "guppy",
    "guppy-fig1",
    "guppy-fig2",
    "guppy-fig3",
    "harp",
    "harp-pdom",
    "harp-pipelined",
    "lanepc",
    "lanepc-64",
    "mi200",
    "mi300",
    "pws",
    "vega",
    "vega-4",
    "vortex-16sm",
    "vortex-2sm",
    "vortex-4sm",
    "vortex-like-simx",
    "vortex-swas",
    "vortex-swas-fixed",
    "vortex-swas-late",
];

pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// The machine of a preset, or an error with the names there are. Each is read once: sweeps ask for it at every point.
pub fn preset(name: &str) -> Result<Machine, HwError> {
    static READ: [OnceLock<Machine>; PRESETS.len()] = [const { OnceLock::new() }; PRESETS.len()];
    match PRESETS.iter().position(|p| p.name == name) {
        Some(at) => match READ[at].get() {
            Some(machine) => Ok(machine.clone()),
            None => {
                let p = &PRESETS[at];
                let machine = Machine::from_toml(p.text, &format!("{}.toml", p.name))?;
                Ok(READ[at].get_or_init(|| machine).clone())
            }
        },
        None => {
            let names: Vec<_> = PRESETS.iter().map(|p| p.name).collect();
            Err(HwError::new(format!("no machine `{name}`"))
                .help(format!("{}; or a file ending in .toml", suggest(name, "presets", &names))))
        }
    }
}
