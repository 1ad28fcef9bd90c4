//! Checks while a program runs (docs/sanitizer.md): accesses outside what was allocated, values that nobody wrote, races, barriers
//! that not all reach, and more. The simulator tells the [`Checker`] of every wave, instruction and access; it belongs to device
//! memory, so that it knows of all launches and of what the host does between them.

mod blocks;
mod checker;
mod code;
mod kind;
mod order;
mod report;
mod reports;
mod shadow;
mod suppress;
mod values;

pub use blocks::Block;
pub use checker::{Checker, Options, Start};
pub use code::{Array, Code, Kernel};
pub use kind::Kind;
pub use report::{Other, Place, Report, Who};
pub use reports::Reports;
pub use suppress::Suppressions;
