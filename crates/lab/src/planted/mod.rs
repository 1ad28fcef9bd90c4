//! The corpus of planted errors: small OpenCL kernels, each with one error or none, and what two checkers find in them: ours
//! (`run --sanitize`) and Oclgrind. Kernels that only look wrong are as important as those that are (docs/planted.md).

mod clock;
mod corpus;
mod error;
mod oclgrind;
mod ours;
mod place;
mod run;
mod simulation;
mod table;
mod times;
mod verdict;

pub use corpus::{Argument, Case, cases};
pub use error::PlantedError;
pub use oclgrind::Oclgrind;
pub use ours::{check, check_with, launch};
pub use place::Place;
pub use run::run;
pub use table::{Report, Row, Sum, text};
pub use times::Time;
pub use verdict::{Finding, Verdict};
