//! What instructions of several encodings need.

use super::super::disasm::disassemble;
use super::super::inst::Inst;
use super::super::state::Regs;
use crate::{Mask, Trap};

/// Lanes that execute vector instructions: EXEC within the path's mask.
#[inline(always)]
pub fn active(regs: &Regs, mask: Mask) -> Mask {
    regs.exec() & mask
}

#[cold]
pub(super) fn unsupported(inst: &Inst) -> Trap {
    Trap::Other(format!("{} is not supported", disassemble(inst)))
}
