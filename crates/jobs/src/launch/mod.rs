//! Launch files: a program, its buffers, a sequence of launches with loops, what must come out, what to keep.
//! The schema is `schema`, `plan` checks it against the program, `session` runs it (docs/launch-files.md); `workload`
//! does the same with the benchmark suite.

mod compare;
mod error;
mod inputs;
mod plan;
mod schema;
mod session;
mod stage;
mod workload;

pub use compare::{Difference, Tolerance, compare};
pub use error::LaunchError;
pub use inputs::LaunchInputs;
pub use plan::Plan;
pub use schema::LaunchFile;
pub use session::Session;
pub use stage::{Due, Launches, Look, RunLaunch, Stage, Step, Verdict};
pub use workload::{MarkChoice, WorkloadSession, WorkloadSpec, style};

use std::path::Path;

/// Whether a path is a launch file.
pub fn is_launch_file(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "toml")
}
