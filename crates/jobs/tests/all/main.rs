//! One test binary of the crate.

mod gpu;
mod riscv;
