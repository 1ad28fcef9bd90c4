//! One test binary of the crate.

mod compilers;
mod gpu;
mod riscv;
mod tdr;
