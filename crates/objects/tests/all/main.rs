//! Code objects, marks and RISC-V executables. One binary, so that everything is linked once.

mod marked;
mod redundant;
mod regions;
mod riscv;
