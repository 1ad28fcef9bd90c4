//! The debugger for editors: the Debug Adapter Protocol. A thread reads messages; everything else happens where the run stands, so
//! that requests are answered from the state of the run itself, also those that come while it goes on.

mod adapter;
mod breakpoints;
mod fields;
mod handles;
mod placed;
mod requests;
mod session;
mod variables;
mod wire;

pub use session::{Launcher, serve};
