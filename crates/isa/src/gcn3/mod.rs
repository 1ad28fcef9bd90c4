//! GCN3 ("VI"): instruction table, decoder, disassembler and assembler.
//! LLVM 19 is the outside witness for text and bytes (docs/gcn3.md, tests/gcn3_llvm.rs).

#[expect(clippy::result_large_err, reason = "a diagnostic is built once per wrong line")]
pub mod asm;
pub mod decode;
pub mod disasm;
pub mod encode;
pub mod exec;
mod follow;
pub mod format;
pub mod gcn;
pub mod generation;
pub mod inst;
pub mod isa;
mod masks;
pub mod op;
pub mod operand;
mod repeat;
pub mod state;
pub mod symbols;
pub mod table;
pub mod valu;
mod watch;

pub use asm::{
    ArgHeader, ArgType, Assembly, KernelHeader, assemble, assemble_for, assemble_line, assemble_line_for,
    parse_line, parse_line_for,
};
pub use decode::{DecodeError, decode, decode_for};
pub use disasm::{disassemble, disassemble_to};
pub use encode::{encode, encode_for};
pub use format::Format;
pub use gcn::Gcn;
pub use generation::{
    Accumulators, Caching, GENERATIONS, GFX8, GFX90A, GFX900, GFX906, GFX908, GFX940, Generation, Target,
};
pub use inst::{Dpp, DppCtrl, Inst, NO_SDST, Sdwa, Sel, Unused, Use, flag, omod};
pub use op::Op;
pub use operand::{InlineFloat, Operand, Ty, Window, sreg};
pub use repeat::{Repeated, sample};
pub use symbols::{Waitcnt, hwreg_fields};
pub use table::{CLASSES, Class, Compare, Ctl, Entry, Halves, TABLE, lines_of};
