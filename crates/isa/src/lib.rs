//! Instruction sets: table, decode, assemble, disassemble and lane semantics, a folder per ISA.
//! An instruction's meaning is written once, in `exec`; functional and timed runs share it.
//! ISA code never names a divergence mechanism: it returns a [`Flow`], the mechanism decides.

mod basics;
pub mod bus;
pub mod diag;
pub mod flow;
pub mod gather;
pub mod gcn3;
pub mod guppy;
pub mod harp;
mod isa;
pub mod lanes;
pub mod marks;
pub mod riscv;
pub mod touch;
mod vector;
pub mod vortex;

pub use basics::{MAX_LANES, Mask, NO_PC, Pc, first_lanes};
pub use bus::{Bus, MemFault, Use, access, numbers_to_rows, one_by_one, rows_to_numbers};
pub use diag::{AsmError, SourceFile};
pub use flow::{EnterWhy, Facts, Flow, FlowKind, LaneEffect, MaskOp, Trap};
pub use isa::{At, COUNTERS, Isa, NEEDED_WORDS, Needed, Quick, Waits, WaveStart};

/// The list. `isas!([then] more)` gives it to the macro `then`, behind `(more)`: for each instruction set its name in machines
/// and its type.
#[macro_export]
macro_rules! isas {
    ([$($then:tt)+] $($more:tt)*) => {
        $($then)+! {
            ($($more)*)
            Harp: $crate::harp::Harp,
            Guppy: $crate::guppy::Guppy,
            Gcn3: $crate::gcn3::isa::Gcn3,
            Vortex: $crate::vortex::Vortex,
            Riscv: $crate::riscv::Riscv,
        }
    };
}
