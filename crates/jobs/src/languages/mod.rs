//! What the product asks of each instruction set, beyond what its instructions do: a file for each, with its answers to
//! [`crate::Language`].

pub(crate) mod gcn3;
mod guppy;
mod harp;
pub mod vortex;
