//! Instructions that say what they do: what every analysis of registers asks first.

use wb_isa::gcn3::{Inst, Op, Operand};

/// Whether every register an instruction writes is named in it.
pub fn plain(inst: &Inst) -> bool {
    let indexed = matches!(
        inst.op,
        Op::SMovreldB32
            | Op::SMovreldB64
            | Op::VMovreldB32
            | Op::VMovrelsdB32
            | Op::SSetGprIdxOn
            | Op::SSetGprIdxIdx
            | Op::SSetGprIdxMode
            | Op::SSetvskip
            | Op::SCbranchGFork
            | Op::SCbranchIFork
            | Op::SCbranchJoin
            | Op::SRfeB64
            | Op::SRfeRestoreB64
    );
    let mode = matches!(inst.op, Op::SSetregB32 | Op::SSetregImm32B32) && {
        let (id, first, count) = wb_isa::gcn3::hwreg_fields(inst.imm);
        // The indexing and skipping bits of MODE.
        id == 1 && first + count > 27
    };
    !indexed && !mode && !inst.src.contains(&Operand::LdsDirect)
}
