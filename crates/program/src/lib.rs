//! Programs ready to run: decoded once, with static facts per instruction and the control-flow graph.
//! Mechanisms that need a post-dominator get it here, so they also work on code without explicit joins.

mod calls;
pub mod cfg;
pub mod codeobject;
pub mod facts;
mod liveness;
mod load;
pub mod marks;
mod masks;
mod program;
mod regions;
pub mod rewrite;
mod vortex;
mod vortex_write;

pub use cfg::{Block, Cfg, TooComplex};
pub use load::{LoadError, gcn3_program, gcn3_setup, guppy_program, harp_program};
pub use program::{FlowMap, Op, Program, Segment};
pub use regions::{Region, RegionKind};
pub use vortex::{RiscvError, RiscvImage, vortex_program};
