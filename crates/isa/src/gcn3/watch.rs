//! What a checked run has to know of GCN instructions before they run ([`crate::marks`]): what they do to memory, and which of them
//! have to be looked at whether or not a value is undefined.

use super::follow::id;
use super::inst::{Format, Inst, flag};
use super::op::Op;
use super::operand::Operand;
use super::table::implicit;
use crate::marks::Watch;

/// The multiplier of 64-bit division behind the reciprocal: a little less than 2⁶⁴.
const NEARLY_TWO_TO_64: u32 = 0x5f7f_fffc;

/// What a checked run has to know of an instruction.
pub(super) fn watch(inst: &Inst, ahead: &[&Inst], bytes: u32) -> Watch {
    let entry = inst.entry();
    let ids = |operand: Operand, dwords: u8| (0..u16::from(dwords)).filter_map(move |d| id(operand, d));
    let memory = matches!(
        inst.format,
        Format::Smem
            | Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
    ) && !matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32);
    let uses = inst.uses();
    let mut watch = Watch { memory, scalar: inst.format == Format::Smem, ..Watch::default() };
    if memory {
        watch.atomic =
            entry.atomic || inst.format != Format::Smem && (inst.has(flag::GLC) || inst.has(flag::SC1));
        watch.replaces =
            entry.name.contains("swap") && !entry.name.contains("cmpswap") || entry.name.contains("wrxchg");
        watch.acquires = matches!(
            inst.op,
            Op::BufferWbinvl1 | Op::BufferWbinvl1Vol | Op::BufferInvl2 | Op::SDcacheInv | Op::SDcacheInvVol
        );
        watch.align = match (inst.format, bytes) {
            (Format::Ds, 8) if entry.name.contains("2_b32") || entry.name.contains("2st64_b32") => 4,
            (Format::Ds, 8) => 8,
            (_, 2) => 2,
            (_, 0 | 1) => 0,
            _ => 4,
        };
        watch.keeps = entry.name.contains("_d16");
        let buffer = matches!(inst.format, Format::Mubuf | Format::Mtbuf);
        watch.indexed =
            buffer && inst.has(flag::OFFEN) || inst.format == Format::Scratch && inst.src[0] != Operand::None;
        let data: &[(Operand, u8)] = &match inst.format {
            Format::Ds => [(inst.src[1], inst.src_dwords(1)), (inst.src[2], inst.src_dwords(2))],
            Format::Flat | Format::Global | Format::Scratch => {
                [(inst.src[1], inst.src_dwords(1)), (Operand::None, 0)]
            }
            _ => [(inst.dst, inst.dst_dwords()), (Operand::None, 0)],
        };
        let reads = |operand: Operand| uses.iter().any(|u| u.operand == operand && u.read);
        for &(operand, dwords) in data.iter().filter(|(operand, _)| reads(*operand)) {
            watch.data.extend(ids(operand, dwords));
        }
        if uses.iter().any(|u| u.operand == inst.dst && u.write) {
            watch.loads.extend(ids(inst.dst, inst.dst_dwords()));
        }
    }
    watch.always = match inst.op {
        Op::VReadlaneB32 | Op::VWritelaneB32 | Op::VRcpIflagF32 => true,
        Op::VReadfirstlaneB32 => {
            let compares = |next: &&&Inst| {
                next.entry().name.starts_with("v_cmp_eq")
                    && next.src.contains(&inst.dst)
                    && next.src.contains(&inst.src[0])
            };
            !ahead.iter().any(|next| compares(&next) || pairs(inst, next))
        }
        Op::VRcpF32 => {
            let scales = |next: &&&Inst| {
                next.src.contains(&Operand::Literal(NEARLY_TWO_TO_64)) && next.src.contains(&inst.dst)
            };
            ahead.iter().any(|next| scales(&next))
        }
        Op::SOrSaveexecB64 | Op::SMovB64 | Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32 => true,
        _ => {
            let sets_exec = entry.writes & implicit::EXEC != 0;
            inst.format == Format::Dpp || inst.dst == Operand::EXEC || sets_exec
        }
    };
    watch
}

/// A comparison of a pair of registers that the instruction reads half of.
fn pairs(inst: &Inst, next: &Inst) -> bool {
    let near = |operand: Operand, other: Operand| match (operand, other) {
        (Operand::Vgpr(a), Operand::Vgpr(b)) | (Operand::Sgpr(a), Operand::Sgpr(b)) => a == b || a == b + 1,
        _ => false,
    };
    next.entry().name.starts_with("v_cmp_eq_u64")
        && next.src.iter().any(|&o| near(inst.src[0], o))
        && next.src.iter().any(|&o| near(inst.dst, o))
}
