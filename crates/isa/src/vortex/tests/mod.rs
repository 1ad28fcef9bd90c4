//! Tests of the instruction set: the meaning of every instruction against independent references.

mod asm;
mod float;
mod integer;
mod machine;
mod memory;
mod waves;
