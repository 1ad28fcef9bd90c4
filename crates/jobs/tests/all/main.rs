//! One test binary of the crate.

mod folding;
mod gpu;
mod riscv;
