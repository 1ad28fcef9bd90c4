//! How undefined values travel through RISC-V instructions, for checked runs ([`crate::marks`]): a result is undefined if a source
//! is. Also for lane-pc machines.

use super::inst::Inst;
use super::regs::Regs;
use super::table::{Class, Format, Op};
use crate::Mask;
use crate::lanes::bits;
use crate::marks::{Found, Marks, Watch};

fn divides(op: Op) -> bool {
    matches!(op, Op::Div | Op::Divu | Op::Rem | Op::Remu)
}

/// What a checked run has to know of an instruction that accesses `bytes` bytes.
pub(crate) fn watch(inst: &Inst, bytes: u32) -> Watch {
    let entry = inst.entry();
    let [rd, _, data, _] = inst.registers();
    let atomic = matches!(entry.format, Format::Atomic | Format::Reserve);
    let stores = matches!(inst.op, Op::Sb | Op::Sh | Op::Sw | Op::Fsw) || atomic;
    Watch {
        memory: bytes > 0,
        atomic,
        replaces: inst.op == Op::AmoSwap,
        acquires: inst.op == Op::Fence,
        always: divides(inst.op),
        align: bytes,
        data: data.into_iter().filter(|_| bytes > 0 && stores).collect(),
        loads: rd.into_iter().filter(|_| bytes > 0).collect(),
        ..Watch::default()
    }
}

/// Follows one instruction in `lanes`.
pub(crate) fn follow(
    inst: &Inst,
    regs: &Regs,
    marks: &mut Marks,
    lanes: Mask,
    (reads, writes): (&[u16], &[u16]),
) {
    let [_, first, ..] = inst.registers();
    let marked = |marks: &Marks, id: u16| marks.lanes(id) & lanes;
    if inst.entry().class == Class::Mem && inst.entry().format != Format::Fence {
        if let Some(id) = first
            && marked(marks, id) != 0
        {
            let (lanes, origin) = (marked(marks, id), marks.origin(id));
            marks.found.push(Found::Address { lanes, origin });
            marks.clear(id, lanes);
        }
        writes.iter().for_each(|id| marks.clear(*id, lanes));
        return;
    }
    if divides(inst.op) {
        let zero = |lane: &u32| regs.get(inst.rs2.into(), *lane) == 0;
        let lanes = bits(lanes).filter(zero).fold(0, |all, lane| all | 1 << lane);
        if lanes != 0 {
            marks.found.push(Found::Division { lanes });
        }
    }
    if matches!(inst.op, Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu | Op::Jalr) {
        for &id in reads {
            if marked(marks, id) != 0 {
                let (lanes, origin) = (marked(marks, id), marks.origin(id));
                marks.found.push(Found::Branch { lanes, origin });
                marks.clear(id, lanes);
            }
        }
    }
    marks.any_to_all(reads, writes, lanes);
}
