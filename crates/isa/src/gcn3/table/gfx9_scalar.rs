//! Scalar ALU and program control that came with gfx9.

use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, I32, Imm16, None, U32};
use super::entry::Ctl::{Call, End};
use super::entry::implicit::{EXEC, SCC};
use super::entry::{Entry, sop1, sop2, sopk, sopp};

#[rustfmt::skip]
pub(super) const SOP2: &[Entry] = &[
    sop2(0x2c, Op::SMulHiU32, "s_mul_hi_u32", U32, [U32, U32, None]),
    sop2(0x2d, Op::SMulHiI32, "s_mul_hi_i32", I32, [I32, I32, None]),
    sop2(0x2e, Op::SLshl1AddU32, "s_lshl1_add_u32", U32, [U32, U32, None]).writes(SCC),
    sop2(0x2f, Op::SLshl2AddU32, "s_lshl2_add_u32", U32, [U32, U32, None]).writes(SCC),
    sop2(0x30, Op::SLshl3AddU32, "s_lshl3_add_u32", U32, [U32, U32, None]).writes(SCC),
    sop2(0x31, Op::SLshl4AddU32, "s_lshl4_add_u32", U32, [U32, U32, None]).writes(SCC),
    sop2(0x32, Op::SPackLlB32B16, "s_pack_ll_b32_b16", B32, [B32, B32, None]),
    sop2(0x33, Op::SPackLhB32B16, "s_pack_lh_b32_b16", B32, [B32, B32, None]),
    sop2(0x34, Op::SPackHhB32B16, "s_pack_hh_b32_b16", B32, [B32, B32, None]),
];

#[rustfmt::skip]
pub(super) const SOP1: &[Entry] = &[
    sop1(0x33, Op::SAndn1SaveexecB64, "s_andn1_saveexec_b64", B64, [B64, None, None]).reads(EXEC).writes(EXEC | SCC),
    sop1(0x34, Op::SOrn1SaveexecB64, "s_orn1_saveexec_b64", B64, [B64, None, None]).reads(EXEC).writes(EXEC | SCC),
    sop1(0x35, Op::SAndn1WrexecB64, "s_andn1_wrexec_b64", B64, [B64, None, None]).reads(EXEC).writes(EXEC | SCC),
    sop1(0x36, Op::SAndn2WrexecB64, "s_andn2_wrexec_b64", B64, [B64, None, None]).reads(EXEC).writes(EXEC | SCC),
    sop1(0x37, Op::SBitreplicateB64B32, "s_bitreplicate_b64_b32", B64, [B32, None, None]),
];

#[rustfmt::skip]
pub(super) const SOPK: &[Entry] = &[
    sopk(0x15, Op::SCallB64, "s_call_b64", B64, [Imm16, None, None]).flow(Call),
];

#[rustfmt::skip]
pub(super) const SOPP: &[Entry] = &[
    sopp(0x1e, Op::SEndpgmOrderedPsDone, "s_endpgm_ordered_ps_done", None, [None, None, None]).flow(End),
];
