//! Tests of the debugger: scripts in the terminal, exchanges with editors, and travels in time through random programs.

mod common;
mod dap;
mod golden;
mod repl;
mod travel;
