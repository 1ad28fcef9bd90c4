//! Flow facts: what is known about how often code runs – limits of loops, linear facts – from a TOML file, from FFX of
//! OTAWA, or proven from the code (wcet.md, pipeline 2). A file is for one kernel and refused when its code has changed.

pub mod access;
mod calls;
pub mod check;
mod checksum;
mod code;
mod error;
mod facts;
mod ffx;
mod file;
mod group;
pub mod infer;
mod loops;
mod parse;
mod place;
mod plain;
mod returns;
pub mod taint;
mod template;

pub use access::{AccessFact, AccessShape, Local, accesses};
pub use calls::{Calls, code_blocks};
pub use check::{FlowError, analysable, analysable_with, calls_of, require_bounds};
pub use checksum::checksum;
pub use error::FactsError;
pub use facts::{BranchSide, Counted, FlowFacts, HomogeneousFact, LinearFact, LoopFact, Origin};
pub use group::group_branches;
pub use infer::{Inferred, Known, NeverTaken, SideCondition, infer_gcn3, infer_unchecked, recheck};
pub use loops::{LoopView, loops};
pub use place::find_blocks;
pub use template::template;
