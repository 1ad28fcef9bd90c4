//! Object files as compilers write them: AMD code objects and RISC-V executables read into [`wb_program::Program`]s,
//! written from assembly, rewritten with their addresses and line tables kept, and marked for wave splitting.

mod calls;
pub mod codeobject;
mod load;
pub mod marks;
pub mod rewrite;
mod riscv;
mod riscv_kernels;
mod riscv_write;

pub use load::{gcn3_program, gcn3_setup};
pub use riscv::{RiscvError, RiscvImage, riscv_program, vortex_program};
pub use riscv_kernels::{ENTRY, KERNELS, LOCAL_OF, has_kernels, riscv_assembly, riscv_object};
