//! Pages of HTML in one frame: no page loads or runs anything.

pub mod bound;
mod frame;

pub use frame::{card, close, open, section};
