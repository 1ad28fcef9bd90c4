//! Random GCN3 kernels: the statements real kernels have beyond [`super::ast`], a reference that runs each thread
//! alone, and assembly in the shapes LLVM gives to divergent code, with random marks for the splitting mechanisms.

mod ast;
mod differential;
mod emit;
mod ending;
mod expr;
mod generate;
mod interpret;
pub mod masks;
mod setup;
mod threads;

pub use ast::{Kernel, LoopShape, Segment, Serial, Shape, Shared, Stmt};
pub use differential::{Checked, Failure, check, check_later, job};
pub use emit::source;
pub use generate::generate;
pub use interpret::{Memory, run};
pub use setup::{CONTEXTS, MARKINGS, MASK_WAYS, Marking, NEWER_WAYS, Setup, WAYS, Way};
pub use threads::{Beside, check_threads};

use super::interpret::Word;

/// What arithmetic wraps to.
const WORD: Word = Word { bytes: 4, arithmetic: false };
