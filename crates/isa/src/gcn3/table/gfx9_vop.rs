//! Vector ALU that came with gfx9 and its later members; what VOP2 and VOP3 have of it.

use super::super::gcn::Gcn::{Gfx90a, Gfx906, Gfx908, Gfx940};
use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, F16, F32, F64, I16, I32, None, PkF16, U16, U32, U64};
use super::entry::Class::Valu64;
use super::entry::modifier::{ABS0, ABS1, CLAMP, DPP, E64, NAMED, NEG0, NEG1, OMOD};
use super::entry::{Entry, vop1, vop2, vop3};

#[rustfmt::skip]
pub(super) const VOP1: &[Entry] = &[
    vop1(0x37, Op::VScreenPartition4seB32, "v_screen_partition_4se_b32", B32, [B32, None, None]),
    vop1(0x4d, Op::VCvtNormI16F16, "v_cvt_norm_i16_f16", I16, [F16, None, None]).mods(ABS0 | NEG0 | CLAMP | OMOD),
    vop1(0x4e, Op::VCvtNormU16F16, "v_cvt_norm_u16_f16", U16, [F16, None, None]).mods(ABS0 | NEG0 | CLAMP | OMOD),
    vop1(0x4f, Op::VSatPkU8I16, "v_sat_pk_u8_i16", B32, [B32, None, None]),
    vop1(0x51, Op::VSwapB32, "v_swap_b32", B32, [B32, None, None]).forms(0).reads_dst().writes_source(),
    vop1(0x52, Op::VAccvgprMovB32, "v_accvgpr_mov_b32", B32, [B32, None, None]).forms(0).acc_dst().acc_source().since(Gfx90a),
    vop1(0x38, Op::VMovB64, "v_mov_b64", B64, [B64, None, None]).class(Valu64).forms(E64 | DPP).since(Gfx940),
    vop1(0x54, Op::VCvtF32Fp8, "v_cvt_f32_fp8", F32, [B32, None, None]).since(Gfx940),
    vop1(0x55, Op::VCvtF32Bf8, "v_cvt_f32_bf8", F32, [B32, None, None]).since(Gfx940),
    vop1(0x56, Op::VCvtPkF32Fp8, "v_cvt_pk_f32_fp8", B64, [B32, None, None]).mods(CLAMP | OMOD).since(Gfx940),
    vop1(0x57, Op::VCvtPkF32Bf8, "v_cvt_pk_f32_bf8", B64, [B32, None, None]).mods(CLAMP | OMOD).since(Gfx940),
];

#[rustfmt::skip]
pub(super) const VOP2: &[Entry] = &[
    vop2(0x34, Op::VAddNcU32, "v_add_nc_u32", U32, [U32, U32, None]).mods(CLAMP),
    vop2(0x35, Op::VSubNcU32, "v_sub_nc_u32", U32, [U32, U32, None]).mods(CLAMP),
    vop2(0x36, Op::VSubrevNcU32, "v_subrev_nc_u32", U32, [U32, U32, None]).mods(CLAMP),
    vop2(0x37, Op::VDot2cF32F16, "v_dot2c_f32_f16", F32, [PkF16, PkF16, None]).reads_dst().forms(E64 | DPP).mods(ABS0 | ABS1 | NEG0 | NEG1 | CLAMP | OMOD).since(Gfx908),
    vop2(0x38, Op::VDot2cI32I16, "v_dot2c_i32_i16", I32, [B32, B32, None]).reads_dst().forms(E64 | DPP).mods(CLAMP).since(Gfx908),
    vop2(0x39, Op::VDot4cI32I8, "v_dot4c_i32_i8", I32, [B32, B32, None]).reads_dst().forms(E64 | DPP).mods(CLAMP).since(Gfx908),
    vop2(0x3a, Op::VDot8cI32I4, "v_dot8c_i32_i4", I32, [B32, B32, None]).reads_dst().forms(E64 | DPP).mods(CLAMP).since(Gfx908),
    vop2(0x3b, Op::VFmacF32, "v_fmac_f32", F32, [F32, F32, None]).reads_dst().forms(E64 | DPP).since(Gfx906),
    vop2(0x3c, Op::VPkFmacF16, "v_pk_fmac_f16", B32, [PkF16, PkF16, None]).mods(0).reads_dst().forms(NAMED).since(Gfx908),
    vop2(0x3d, Op::VXnorB32, "v_xnor_b32", B32, [B32, B32, None]).since(Gfx906),
    vop2(0x04, Op::VFmacF64, "v_fmac_f64", F64, [F64, F64, None]).reads_dst().class(Valu64).forms(E64 | DPP).since(Gfx90a),
    vop2(0x17, Op::VFmamkF32, "v_fmamk_f32", F32, [F32, F32, F32]).forms(0).since(Gfx940),
    vop2(0x18, Op::VFmaakF32, "v_fmaak_f32", F32, [F32, F32, F32]).forms(0).since(Gfx940),
];

#[rustfmt::skip]
pub(super) const VOP3: &[Entry] = &[
    vop3(0x1f1, Op::VMadU32U16, "v_mad_u32_u16", U32, [U16, U16, U32]).mods(CLAMP).op_sel(),
    vop3(0x1f2, Op::VMadI32I16, "v_mad_i32_i16", I32, [I16, I16, I32]).mods(CLAMP).op_sel(),
    vop3(0x1f3, Op::VXadU32, "v_xad_u32", U32, [U32, U32, U32]),
    vop3(0x1f4, Op::VMin3F16, "v_min3_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x1f5, Op::VMin3I16, "v_min3_i16", I16, [I16, I16, I16]).mods(CLAMP).op_sel(),
    vop3(0x1f6, Op::VMin3U16, "v_min3_u16", U16, [U16, U16, U16]).mods(CLAMP).op_sel(),
    vop3(0x1f7, Op::VMax3F16, "v_max3_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x1f8, Op::VMax3I16, "v_max3_i16", I16, [I16, I16, I16]).mods(CLAMP).op_sel(),
    vop3(0x1f9, Op::VMax3U16, "v_max3_u16", U16, [U16, U16, U16]).mods(CLAMP).op_sel(),
    vop3(0x1fa, Op::VMed3F16, "v_med3_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x1fb, Op::VMed3I16, "v_med3_i16", I16, [I16, I16, I16]).mods(CLAMP).op_sel(),
    vop3(0x1fc, Op::VMed3U16, "v_med3_u16", U16, [U16, U16, U16]).mods(CLAMP).op_sel(),
    vop3(0x1fd, Op::VLshlAddU32, "v_lshl_add_u32", U32, [U32, U32, U32]),
    vop3(0x1fe, Op::VAddLshlU32, "v_add_lshl_u32", U32, [U32, U32, U32]),
    vop3(0x1ff, Op::VAdd3U32, "v_add3_u32", U32, [U32, U32, U32]),
    vop3(0x200, Op::VLshlOrB32, "v_lshl_or_b32", B32, [B32, U32, B32]),
    vop3(0x201, Op::VAndOrB32, "v_and_or_b32", B32, [B32, B32, B32]),
    vop3(0x202, Op::VOr3B32, "v_or3_b32", B32, [B32, B32, B32]),
    vop3(0x203, Op::VMadOpselF16, "v_mad_opsel_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x204, Op::VMadOpselU16, "v_mad_opsel_u16", U16, [U16, U16, U16]).mods(CLAMP).op_sel(),
    vop3(0x205, Op::VMadOpselI16, "v_mad_opsel_i16", I16, [I16, I16, I16]).mods(CLAMP).op_sel(),
    vop3(0x206, Op::VFmaOpselF16, "v_fma_opsel_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x207, Op::VDivFixupOpselF16, "v_div_fixup_opsel_f16", F16, [F16, F16, F16]).op_sel(),
    vop3(0x208, Op::VLshlAddU64, "v_lshl_add_u64", U64, [U64, U32, U64]).class(Valu64).since(Gfx940),
    vop3(0x299, Op::VCvtPknormI16F16, "v_cvt_pknorm_i16_f16", B32, [F16, F16, None]).mods(ABS0 | ABS1 | NEG0 | NEG1 | CLAMP).op_sel(),
    vop3(0x29a, Op::VCvtPknormU16F16, "v_cvt_pknorm_u16_f16", B32, [F16, F16, None]).mods(ABS0 | ABS1 | NEG0 | NEG1 | CLAMP).op_sel(),
    vop3(0x29c, Op::VAddI32, "v_add_i32", I32, [I32, I32, None]).mods(CLAMP),
    vop3(0x29d, Op::VSubI32, "v_sub_i32", I32, [I32, I32, None]).mods(CLAMP),
    vop3(0x29e, Op::VAddI16, "v_add_i16", I16, [I16, I16, None]).mods(CLAMP).op_sel(),
    vop3(0x29f, Op::VSubI16, "v_sub_i16", I16, [I16, I16, None]).mods(CLAMP).op_sel(),
    vop3(0x2a0, Op::VPackB32F16, "v_pack_b32_f16", B32, [F16, F16, None]).mods(ABS0 | ABS1 | NEG0 | NEG1 | CLAMP).op_sel(),
    vop3(0x2a2, Op::VCvtPkFp8F32, "v_cvt_pk_fp8_f32", B32, [F32, F32, None]).mods(ABS0 | ABS1 | NEG0 | NEG1).op_sel().reads_dst().since(Gfx940),
    vop3(0x2a3, Op::VCvtPkBf8F32, "v_cvt_pk_bf8_f32", B32, [F32, F32, None]).mods(ABS0 | ABS1 | NEG0 | NEG1).op_sel().reads_dst().since(Gfx940),
    vop3(0x2a4, Op::VCvtSrFp8F32, "v_cvt_sr_fp8_f32", B32, [F32, U32, None]).mods(ABS0 | NEG0).op_sel().reads_dst().since(Gfx940),
    vop3(0x2a5, Op::VCvtSrBf8F32, "v_cvt_sr_bf8_f32", B32, [F32, U32, None]).mods(ABS0 | NEG0).op_sel().reads_dst().since(Gfx940),
];
