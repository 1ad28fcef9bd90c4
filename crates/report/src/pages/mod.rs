//! Pages of HTML in one frame: no page loads anything. Pages of bounds and experiments run nothing; those of runs have a small
//! script of ours for their timelines, and say everything else without it.

pub mod bound;
pub mod compare;
mod digits;
mod frame;
pub mod run;

pub use frame::{card, close, open, section};
