//! Random structured programs: an AST, a scalar interpreter that says what each thread must compute, and
//! code generators for every mechanism. The interpreter knows nothing of waves, masks or pipelines, so it
//! is the independent side of the differential test in `tests/random_programs.rs`.

pub mod addresses;
pub mod ast;
pub mod contents;
mod differential;
mod emit;
mod fixed;
pub mod gcn3;
mod generate;
mod guppy;
mod harp;
mod interpret;
pub mod later;
pub mod loops;
mod policies;
pub mod riscv;
pub(crate) mod setup;
pub mod times;
pub mod vortex;

pub use ast::{Ast, Cond, Expr, Form, Op, Simple, Stmt, Value};
pub use differential::{Checked, Failure, Thorough, check};
pub use fixed::fixed_programs;
pub use generate::{Choices, generate};
pub use interpret::{Word, interpret, table};
pub use setup::{ARCHES, Case, FRONT_ENDS, LANES, PARTITIONS, Setup, Style, TARGETS, Target, mix};

/// Variables of a thread.
pub const VARS: usize = 4;
/// Words of a thread's own memory that the program stores to and loads from while it runs.
pub const SCRATCH: usize = 4;
/// Words of a thread's slot: its own memory, then the final value of each variable.
pub const SLOT: usize = SCRATCH + VARS;
/// Words of the read-only input table.
pub const TABLE: usize = 64;
/// Loops inside each other, at most.
pub const MAX_LOOPS: usize = 4;

/// Every program starts with these: variables that differ between threads.
pub fn prelude() -> [Stmt; VARS] {
    [
        Stmt::Assign(0, Expr::Copy(Value::Thread)),
        Stmt::Assign(1, Expr::Binary(Op::Mul, Value::Thread, Value::Const(37))),
        Stmt::Assign(2, Expr::Load(Value::Thread)),
        Stmt::Assign(3, Expr::Copy(Value::Const(5))),
    ]
}
