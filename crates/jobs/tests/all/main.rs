//! One test binary of the crate.

mod riscv;
