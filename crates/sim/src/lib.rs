//! The machine: memory, front ends, schedulers, divergence mechanisms, units, scoreboard; a timed run and an
//! untimed one with the same semantics. Deterministic: same inputs, same cycles, observed or not.

mod barrier;
mod checked;
mod console;
pub mod divergence;
mod divide;
mod error;
mod estimate;
mod exec;
mod frontend;
mod functional;
mod inspect;
mod invariants;
mod launch;
mod memory;
mod origins;
mod parallel;
mod regroup;
mod residency;
mod resident;
mod run;
mod sample;
pub mod sched;
mod schedule;
mod seen;
mod sink;
mod sofar;
mod stretch;
mod timed;
mod wave;

pub use error::{ErrorKind, SimError};
pub use estimate::{Estimate, Sample};
pub use inspect::{Did, Inspected, Inspector, PathSeen, PathState, WaveSeen};
pub use launch::{Groups, Launch, Outcome, RunOptions, WaveRegisters, threads};
pub use memory::{DeviceMemory, Exact, HostCalls, Touchable, affordable};
pub use run::{Runnable, trace_info};
pub use schedule::{Cause, Causes, Decision, Schedule};
pub use sofar::Sofar;

/// Wave-instructions between two progress reports.
pub(crate) const PROGRESS_EVERY: u64 = 1 << 20;
