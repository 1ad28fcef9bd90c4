//! The way into the vector ALU: the indexing mode, and EXEC as the path sees it.

use super::super::inst::{Inst, NO_SDST};
use super::super::operand::{Operand, sreg};
use super::super::state::{Regs, mode};
use super::super::table::{Halves, implicit};
use super::super::valu;
use super::scalar1::m0;
use crate::{Mask, Trap};

#[inline]
pub(super) fn exec(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    if regs.mode & mode::GPR_IDX != 0 {
        let inst = indexed(inst, regs)?;
        return visible(&inst, regs, path);
    }
    visible(inst, regs, path)
}

#[inline(always)]
fn visible(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    let exec = regs.exec();
    if exec & path == exec { valu::execute(inst, regs, exec) } else { masked(inst, regs, path) }
}

/// EXEC holds lanes of another path: they are hidden from the instruction and come back unless it
/// writes EXEC.
#[cold]
fn masked(inst: &Inst, regs: &mut Regs, path: Mask) -> Result<(), Trap> {
    if inst.entry().halves == Halves::Blocks {
        let name = inst.entry().name;
        return Err(Trap::Other(format!(
            "{name}: a matrix operation needs all lanes, but the wave is split"
        )));
    }
    let exec = regs.exec();
    regs.set_pair(sreg::EXEC, exec & path);
    let result = valu::execute(inst, regs, exec & path);
    let names_exec = |n: u8| n >= sreg::EXEC && n != NO_SDST;
    let written = inst.entry().writes & implicit::EXEC != 0
        || names_exec(inst.sdst)
        || matches!(inst.dst, Operand::Sgpr(n) if names_exec(n));
    let after = if written { regs.exec() & path } else { exec };
    regs.set_pair(sreg::EXEC, after);
    result
}

/// The instruction with M0 added to the vector registers the index mode names.
#[cold]
fn indexed(inst: &Inst, regs: &Regs) -> Result<Inst, Trap> {
    let (index, which) = (m0(regs) & 0xff, m0(regs) >> 12);
    let mut inst = *inst;
    let [a, b, c] = &mut inst.src;
    for (bit, operand) in [a, b, c, &mut inst.dst].into_iter().enumerate() {
        if let Operand::Vgpr(n) = operand
            && which >> bit & 1 == 1
        {
            let moved = u32::from(*n) + index;
            *n = u8::try_from(moved).map_err(|_| {
                Trap::Other(format!("v{n} indexed by m0 = {index} is past the last register"))
            })?;
        }
    }
    Ok(inst)
}
