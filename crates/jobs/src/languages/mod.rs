//! What the product asks of each instruction set, beyond what its instructions do: a file for each, with its answers to
//! [`crate::Language`], and what those with kernels share.

mod gcn3;
mod guppy;
mod harp;
pub(crate) mod kernels;
pub(crate) mod riscv;
pub mod vortex;
