//! One test binary of the crate.

mod compilers;
mod folding;
mod gpu;
mod riscv;
mod tdr;
