//! The debugger: runs a launch untimed, stops it where a user wants, and shows registers, masks and memory as they are there. Going
//! backwards is running again from the beginning, which gives the same states because the simulator is deterministic. A terminal and
//! the Debug Adapter Protocol are two front ends of one engine.

mod breaks;
mod calls;
mod code;
mod context;
mod dap;
mod engine;
mod error;
mod expr;
mod goal;
mod launch;
mod repl;
mod search;
mod target;
mod view;

pub use code::Sources;
pub use dap::{Launcher, serve};
pub use engine::Engine;
pub use error::DebugError;
pub use goal::{Focus, Go, Goal, Reason};
pub use repl::{COMMANDS, Repl};
pub use target::{Open, Target};
pub use view::{Front, View};
