//! Instructions that say what they do: what every analysis of registers asks first.

use wb_isa::gcn3::{Inst, NO_SDST, Op, Operand, sreg};

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
    !indexed && !mode && !inst.is_later() && !inst.src.contains(&Operand::LdsDirect)
}

/// The pair that gets a bit for every lane: a carry, or what a comparison says.
pub fn mask_written(inst: &Inst) -> Option<u8> {
    match (inst.sdst, inst.dst, inst.entry().compare()) {
        (n, ..) if n != NO_SDST => Some(n),
        (_, Operand::Sgpr(n), Some(_)) => Some(n),
        (_, _, Some(_)) => Some(sreg::VCC),
        _ => None,
    }
}

/// What becomes of a lane's bits in two masks.
pub type MaskOperation = fn(bool, bool) -> bool;

/// What an operation on masks does to a lane's bits. With EXEC as its second operand if it saves EXEC: then the result
/// goes there, and the old EXEC to the destination.
pub fn mask_operation(op: Op) -> Option<(MaskOperation, bool)> {
    Some(match op {
        Op::SMovB64 => (|a, _| a, false),
        Op::SNotB64 => (|a, _| !a, false),
        Op::SAndB64 => (|a, b| a & b, false),
        Op::SOrB64 => (|a, b| a | b, false),
        Op::SXorB64 => (|a, b| a ^ b, false),
        Op::SAndn2B64 => (|a, b| a & !b, false),
        Op::SOrn2B64 => (|a, b| a | !b, false),
        Op::SNandB64 => (|a, b| !(a & b), false),
        Op::SNorB64 => (|a, b| !(a | b), false),
        Op::SXnorB64 => (|a, b| a == b, false),
        Op::SAndSaveexecB64 => (|a, b| a & b, true),
        Op::SOrSaveexecB64 => (|a, b| a | b, true),
        Op::SXorSaveexecB64 => (|a, b| a ^ b, true),
        Op::SAndn2SaveexecB64 => (|a, b| a & !b, true),
        Op::SOrn2SaveexecB64 => (|a, b| a | !b, true),
        Op::SNandSaveexecB64 => (|a, b| !(a & b), true),
        Op::SNorSaveexecB64 => (|a, b| !(a | b), true),
        Op::SXnorSaveexecB64 => (|a, b| a == b, true),
        _ => return None,
    })
}
