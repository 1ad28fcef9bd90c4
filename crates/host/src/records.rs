//! What the library tells the command: one line of JSON for each launch, for the end, for what went wrong.

use crate::counter::Counts;
use serde::{Deserialize, Serialize};
use wavebound::objects::codeobject::names;
use wavebound::report::pages::run::Part;
use wavebound::sanitize::Report;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// A process has loaded the library and has a machine; or it was forked from one that has. Processes are numbered by
    /// the order of these lines, from 1.
    Start {
        pid: u32,
        /// Tells apart programs that follow each other in one process.
        token: u64,
        machine: String,
        mechanism: String,
        lanes: u32,
        clock_mhz: u32,
        timed: bool,
    },
    Launch(LaunchRecord),
    /// All launches of a kernel, for a page.
    Part {
        process: u32,
        kernel: String,
        part: Box<Part>,
    },
    /// A kernel that was bounded: the text of its report and its JSON (docs/json.md).
    Bound {
        process: u32,
        kernel: String,
        text: String,
        report: Box<serde_json::Value>,
    },
    /// A kernel that was launched and could not be bounded.
    NoBound {
        process: u32,
        kernel: String,
        text: String,
    },
    /// What a process that was checked did wrong.
    Checked {
        process: u32,
        reports: Vec<Report>,
        suppressed: u64,
        left_out: u64,
    },
    /// A launch was written as a launch file.
    Captured {
        file: String,
    },
    /// Why the library ended the program, or could not do what was asked.
    Error {
        text: String,
    },
    /// The program ended by itself.
    End,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct LaunchRecord {
    /// Process of the run, from 1, and launch of the process, from 1.
    pub process: u32,
    pub number: usize,
    /// As the code object calls it.
    pub kernel: String,
    /// Groups, and threads of a group.
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cycles: u64,
    pub wave_instructions: u64,
    pub lane_instructions: u64,
    pub waves: u32,
    /// None if the run was not observed.
    pub counts: Option<Counts>,
    /// Seconds the simulation took on the host.
    pub seconds: f64,
    /// A signal ended the program during this launch: these are its numbers so far.
    #[serde(default)]
    pub interrupted: bool,
}

/// `_ZN3bfs4stepEPi` as `bfs::step`: names without their arguments; what is not understood stays.
pub fn short_name(mangled: &str) -> String {
    names::readable(mangled).unwrap_or_else(|| mangled.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_arguments() {
        assert_eq!(short_name("_Z3addPKfS0_Pfi"), "add");
        assert_eq!(short_name("_ZN3bfs4stepEPi"), "bfs::step");
        assert_eq!(short_name("_Z6reduceILi256EfEvPT0_"), "reduce<256, float>");
        assert_eq!(short_name("_ZN12_GLOBAL__N_15scaleEPf"), "(anonymous namespace)::scale");
        assert_eq!(short_name("_ZL4initPi"), "init");
        for odd in ["plain", "_Z", "_Z99x", "_ZNE", "", "_Z1"] {
            assert_eq!(short_name(odd), odd);
        }
    }
}
