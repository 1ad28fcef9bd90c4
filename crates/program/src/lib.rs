//! Programs ready to run: decoded once, with static facts per instruction and the control-flow graph.
//! Mechanisms that need a post-dominator get it here, so they also work on code without explicit joins.

mod ahead;
pub mod cfg;
mod flow;
mod liveness;
mod load;
mod masks;
mod op;
mod program;
mod region;
mod regions;
mod too_complex;

pub use ahead::Ahead;
pub use cfg::{Block, Cfg};
pub use flow::FlowMap;
pub use load::{LoadError, MAX_TEXT, guppy_program, harp_program};
pub use op::{Op, Step};
pub use program::{Decoded, Inlined, Program, Segment};
pub use region::{Region, RegionKind};
pub use too_complex::TooComplex;
