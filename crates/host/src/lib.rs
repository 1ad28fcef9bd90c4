//! What runtimes for unmodified host programs share (crates `hip` and `cl`): a session with one simulated device, options from the
//! command, launches that are watched, captured, bounded and reported, what kernels print, and how a program ends.

mod bounds;
mod capture;
mod checker;
mod checks;
mod counter;
#[allow(unsafe_code)]
pub mod ffi;
mod launch;
mod options;
mod pages;
pub mod printf;
mod progress;
mod recording;
mod records;
mod session;

pub use counter::Counts;
pub use launch::Work;
pub use options::{Capture, Options, Sanitize, Wcet};
pub use records::{LaunchRecord, Record, short_name};
pub use session::{Session, describe};
