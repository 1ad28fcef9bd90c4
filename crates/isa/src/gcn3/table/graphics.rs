//! What only graphics need: atomics on images, interpolation, export. They are decoded, printed and assembled; executing one is
//! an error that names it.

use super::super::gcn::Gcn::{Gfx90a, Gfx900, Gfx908};
use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B128, B256, F16, F32, Imm16, None, U32};
use super::entry::modifier::OMOD;
use super::entry::{Entry, export, interpolate, interpolate_long, mimg, smem};

#[rustfmt::skip]
pub(super) const MIMG: &[Entry] = &[
    mimg(0x10, Op::ImageAtomicSwap, "image_atomic_swap", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x11, Op::ImageAtomicCmpswap, "image_atomic_cmpswap", B64, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x12, Op::ImageAtomicAdd, "image_atomic_add", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x13, Op::ImageAtomicSub, "image_atomic_sub", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x14, Op::ImageAtomicSmin, "image_atomic_smin", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x15, Op::ImageAtomicUmin, "image_atomic_umin", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x16, Op::ImageAtomicSmax, "image_atomic_smax", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x17, Op::ImageAtomicUmax, "image_atomic_umax", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x18, Op::ImageAtomicAnd, "image_atomic_and", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x19, Op::ImageAtomicOr, "image_atomic_or", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x1a, Op::ImageAtomicXor, "image_atomic_xor", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x1b, Op::ImageAtomicInc, "image_atomic_inc", B32, [B32, B256, None]).atomic().until(Gfx90a),
    mimg(0x1c, Op::ImageAtomicDec, "image_atomic_dec", B32, [B32, B256, None]).atomic().until(Gfx90a),
];

/// `src[1]` is the barycentric coordinate or the corner, `src[2]` what is added; the attribute stands where `src[0]` would be.
#[rustfmt::skip]
pub(super) const VINTRP: &[Entry] = &[
    interpolate(0, Op::VInterpP1F32, "v_interp_p1_f32", F32, [None, F32, None]),
    interpolate(1, Op::VInterpP2F32, "v_interp_p2_f32", F32, [None, F32, None]).reads_dst(),
    interpolate(2, Op::VInterpMovF32, "v_interp_mov_f32", F32, [None, Imm16, None]),
    interpolate_long(0x274, Op::VInterpP1llF16, "v_interp_p1ll_f16", F32, [None, F32, None]),
    interpolate_long(0x275, Op::VInterpP1lvF16, "v_interp_p1lv_f16", F32, [None, F32, F16]),
    interpolate_long(0x276, Op::VInterpP2F16, "v_interp_p2_f16", F16, [None, F32, F32]).without(OMOD),
    interpolate_long(0x276, Op::VInterpP2LegacyF16, "v_interp_p2_legacy_f16", F16, [None, F32, F32]).without(OMOD).since(Gfx900),
];

pub(super) const EXP: &[Entry] = &[export(Op::Exp, "exp", F32, [F32, F32, F32]).until(Gfx908)];

/// Whether an address can be translated; nothing changes. What is asked stands where data would.
#[rustfmt::skip]
pub(super) const SMEM: &[Entry] = &[
    smem(0x26, Op::SAtcProbe, "s_atc_probe", Imm16, [B64, U32, None]),
    smem(0x27, Op::SAtcProbeBuffer, "s_atc_probe_buffer", Imm16, [B128, U32, None]),
];
