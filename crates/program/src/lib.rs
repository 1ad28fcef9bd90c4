//! Programs ready to run: decoded once, with static facts per instruction and the control-flow graph.
//! Mechanisms that need a post-dominator get it here, so they also work on code without explicit joins.

pub mod cfg;
mod liveness;
mod load;
mod masks;
mod program;
mod regions;

pub use cfg::{Block, Cfg, TooComplex};
pub use load::{LoadError, MAX_TEXT, guppy_program, harp_program};
pub use program::{Decoded, FlowMap, Op, Program, Segment};
pub use regions::{Region, RegionKind};
