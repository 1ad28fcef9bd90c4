//! Packed mathematics (VOP3P): two halves or two f32 in one operand, mixed precision, dot products, accumulators.

use super::super::gcn::Gcn::{Gfx90a, Gfx900, Gfx906, Gfx908};
use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, F16, F32, I32, None, PkB16, PkF16, PkF32, PkI16, PkU16, U32};
use super::entry::Class::Valu64;
use super::entry::{Entry, vop3p};

#[rustfmt::skip]
pub(super) const VOP3P: &[Entry] = &[
    vop3p(0x00, Op::VPkMadI16, "v_pk_mad_i16", B32, [PkI16, PkI16, PkI16]),
    vop3p(0x01, Op::VPkMulLoU16, "v_pk_mul_lo_u16", B32, [PkU16, PkU16, None]),
    vop3p(0x02, Op::VPkAddI16, "v_pk_add_i16", B32, [PkI16, PkI16, None]),
    vop3p(0x03, Op::VPkSubI16, "v_pk_sub_i16", B32, [PkI16, PkI16, None]),
    vop3p(0x04, Op::VPkLshlrevB16, "v_pk_lshlrev_b16", B32, [PkB16, PkB16, None]),
    vop3p(0x05, Op::VPkLshrrevB16, "v_pk_lshrrev_b16", B32, [PkB16, PkB16, None]),
    vop3p(0x06, Op::VPkAshrrevI16, "v_pk_ashrrev_i16", B32, [PkI16, PkI16, None]),
    vop3p(0x07, Op::VPkMaxI16, "v_pk_max_i16", B32, [PkI16, PkI16, None]),
    vop3p(0x08, Op::VPkMinI16, "v_pk_min_i16", B32, [PkI16, PkI16, None]),
    vop3p(0x09, Op::VPkMadU16, "v_pk_mad_u16", B32, [PkU16, PkU16, PkU16]),
    vop3p(0x0a, Op::VPkAddU16, "v_pk_add_u16", B32, [PkU16, PkU16, None]),
    vop3p(0x0b, Op::VPkSubU16, "v_pk_sub_u16", B32, [PkU16, PkU16, None]),
    vop3p(0x0c, Op::VPkMaxU16, "v_pk_max_u16", B32, [PkU16, PkU16, None]),
    vop3p(0x0d, Op::VPkMinU16, "v_pk_min_u16", B32, [PkU16, PkU16, None]),
    vop3p(0x0e, Op::VPkFmaF16, "v_pk_fma_f16", B32, [PkF16, PkF16, PkF16]),
    vop3p(0x0f, Op::VPkAddF16, "v_pk_add_f16", B32, [PkF16, PkF16, None]),
    vop3p(0x10, Op::VPkMulF16, "v_pk_mul_f16", B32, [PkF16, PkF16, None]),
    vop3p(0x11, Op::VPkMinF16, "v_pk_min_f16", B32, [PkF16, PkF16, None]),
    vop3p(0x12, Op::VPkMaxF16, "v_pk_max_f16", B32, [PkF16, PkF16, None]),
    vop3p(0x20, Op::VMadMixF32, "v_mad_mix_f32", F32, [F32, F32, F32]).mix().until(Gfx900),
    vop3p(0x21, Op::VMadMixloF16, "v_mad_mixlo_f16", F16, [F32, F32, F32]).mix().reads_dst().until(Gfx900),
    vop3p(0x22, Op::VMadMixhiF16, "v_mad_mixhi_f16", F16, [F32, F32, F32]).mix().reads_dst().until(Gfx900),
    vop3p(0x20, Op::VFmaMixF32, "v_fma_mix_f32", F32, [F32, F32, F32]).mix().since(Gfx906),
    vop3p(0x21, Op::VFmaMixloF16, "v_fma_mixlo_f16", F16, [F32, F32, F32]).mix().reads_dst().since(Gfx906),
    vop3p(0x22, Op::VFmaMixhiF16, "v_fma_mixhi_f16", F16, [F32, F32, F32]).mix().reads_dst().since(Gfx906),
    vop3p(0x23, Op::VDot2F32F16, "v_dot2_f32_f16", F32, [PkF16, PkF16, F32]).since(Gfx906),
    vop3p(0x26, Op::VDot2I32I16, "v_dot2_i32_i16", I32, [PkI16, PkI16, I32]).since(Gfx906),
    vop3p(0x27, Op::VDot2U32U16, "v_dot2_u32_u16", U32, [PkU16, PkU16, U32]).since(Gfx906),
    vop3p(0x28, Op::VDot4I32I8, "v_dot4_i32_i8", I32, [B32, B32, I32]).since(Gfx906),
    vop3p(0x29, Op::VDot4U32U8, "v_dot4_u32_u8", U32, [B32, B32, U32]).since(Gfx906),
    vop3p(0x2a, Op::VDot8I32I4, "v_dot8_i32_i4", I32, [B32, B32, I32]).since(Gfx906),
    vop3p(0x2b, Op::VDot8U32U4, "v_dot8_u32_u4", U32, [B32, B32, U32]).since(Gfx906),
    vop3p(0x30, Op::VPkFmaF32, "v_pk_fma_f32", B64, [PkF32, PkF32, PkF32]).class(Valu64).since(Gfx90a),
    vop3p(0x31, Op::VPkMulF32, "v_pk_mul_f32", B64, [PkF32, PkF32, None]).class(Valu64).since(Gfx90a),
    vop3p(0x32, Op::VPkAddF32, "v_pk_add_f32", B64, [PkF32, PkF32, None]).class(Valu64).since(Gfx90a),
    vop3p(0x33, Op::VPkMovB32, "v_pk_mov_b32", B64, [PkF32, PkF32, None]).class(Valu64).since(Gfx90a),
    vop3p(0x58, Op::VAccvgprReadB32, "v_accvgpr_read_b32", B32, [B32, None, None]).acc_source().plain().since(Gfx908),
    vop3p(0x59, Op::VAccvgprWriteB32, "v_accvgpr_write_b32", B32, [B32, None, None]).acc_dst().plain().since(Gfx908),
];
