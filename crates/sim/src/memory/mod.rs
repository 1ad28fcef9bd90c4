//! Memory: contents (one flat, bounds-checked space) and, apart from them, timing (caches, DRAM).
//! An instruction takes effect when it issues; timing only decides when its results may be used.

mod ahead;
mod bus;
mod cache;
mod calendar;
mod copies;
mod device;
mod dram;
#[cfg(test)]
mod each_tests;
mod guard;
mod hierarchy;
mod hostcall;
mod lanes;
mod lines;
mod rows;
#[cfg(test)]
mod rows_tests;
mod serve;
mod windows;

pub(crate) use ahead::{Request, Times, is_known};
pub use bus::MemBus;
pub(crate) use copies::Written;
pub use device::{DeviceMemory, Touchable, affordable};
pub use hierarchy::{Access, Hierarchy};
pub use hostcall::HostCalls;
pub use lines::{Exact, Lines};
