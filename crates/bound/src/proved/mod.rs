//! Proved bounds of launches: what the proof asks of a launch is collected here, from the code, the arguments, the facts that are given
//! and the memory that is open to the kernel (docs/proved-bounds.md). Nothing runs.

mod accesses;
mod ask;
mod certificate;
mod kernel;
mod verify;

pub(crate) use ask::{Asked, refusal};
pub use ask::{ProvedLaunch, prove_launch};
pub(crate) use certificate::geometry;
pub use certificate::is_proved_certificate;
pub(crate) use kernel::{ProvedKernel, assumptions, collect};
pub use verify::verify_proved;
pub use wb_proved::Fault;
