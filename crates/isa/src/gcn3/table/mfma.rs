//! Matrix operations: dense (MFMA) and with one sparse matrix (SMFMAC). A name says rows, columns and depth of a block.

use super::super::gcn::Gcn::{Gfx90a, Gfx908, Gfx940};
use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B128, B256, B512, B1024};
use super::entry::{Entry, mfma, smfmac};

#[rustfmt::skip]
pub(super) const MFMA: &[Entry] = &[
    mfma(0x40, Op::VMfmaF3232x32x1f32, "v_mfma_f32_32x32x1f32", B1024, [B32, B32, B1024]).since(Gfx908),
    mfma(0x41, Op::VMfmaF3216x16x1f32, "v_mfma_f32_16x16x1f32", B512, [B32, B32, B512]).since(Gfx908),
    mfma(0x42, Op::VMfmaF324x4x1f32, "v_mfma_f32_4x4x1f32", B128, [B32, B32, B128]).since(Gfx908),
    mfma(0x44, Op::VMfmaF3232x32x2f32, "v_mfma_f32_32x32x2f32", B512, [B32, B32, B512]).since(Gfx908),
    mfma(0x45, Op::VMfmaF3216x16x4f32, "v_mfma_f32_16x16x4f32", B128, [B32, B32, B128]).since(Gfx908),
    mfma(0x48, Op::VMfmaF3232x32x4f16, "v_mfma_f32_32x32x4f16", B1024, [B64, B64, B1024]).since(Gfx908),
    mfma(0x49, Op::VMfmaF3216x16x4f16, "v_mfma_f32_16x16x4f16", B512, [B64, B64, B512]).since(Gfx908),
    mfma(0x4a, Op::VMfmaF324x4x4f16, "v_mfma_f32_4x4x4f16", B128, [B64, B64, B128]).since(Gfx908),
    mfma(0x4c, Op::VMfmaF3232x32x8f16, "v_mfma_f32_32x32x8f16", B512, [B64, B64, B512]).since(Gfx908),
    mfma(0x4d, Op::VMfmaF3216x16x16f16, "v_mfma_f32_16x16x16f16", B128, [B64, B64, B128]).since(Gfx908),
    mfma(0x50, Op::VMfmaI3232x32x4i8, "v_mfma_i32_32x32x4i8", B1024, [B32, B32, B1024]).since(Gfx908),
    mfma(0x51, Op::VMfmaI3216x16x4i8, "v_mfma_i32_16x16x4i8", B512, [B32, B32, B512]).since(Gfx908),
    mfma(0x52, Op::VMfmaI324x4x4i8, "v_mfma_i32_4x4x4i8", B128, [B32, B32, B128]).since(Gfx908),
    mfma(0x54, Op::VMfmaI3232x32x8i8, "v_mfma_i32_32x32x8i8", B512, [B32, B32, B512]).since(Gfx908).until(Gfx90a),
    mfma(0x55, Op::VMfmaI3216x16x16i8, "v_mfma_i32_16x16x16i8", B128, [B32, B32, B128]).since(Gfx908).until(Gfx90a),
    mfma(0x68, Op::VMfmaF3232x32x2bf16, "v_mfma_f32_32x32x2bf16", B1024, [B32, B32, B1024]).since(Gfx908).until(Gfx90a),
    mfma(0x69, Op::VMfmaF3216x16x2bf16, "v_mfma_f32_16x16x2bf16", B512, [B32, B32, B512]).since(Gfx908).until(Gfx90a),
    mfma(0x6b, Op::VMfmaF324x4x2bf16, "v_mfma_f32_4x4x2bf16", B128, [B32, B32, B128]).since(Gfx908).until(Gfx90a),
    mfma(0x6c, Op::VMfmaF3232x32x4bf16, "v_mfma_f32_32x32x4bf16", B512, [B32, B32, B512]).since(Gfx908).until(Gfx90a),
    mfma(0x6d, Op::VMfmaF3216x16x8bf16, "v_mfma_f32_16x16x8bf16", B128, [B32, B32, B128]).since(Gfx908).until(Gfx90a),
    mfma(0x63, Op::VMfmaF3232x32x4bf161k, "v_mfma_f32_32x32x4bf16_1k", B1024, [B64, B64, B1024]).since(Gfx90a),
    mfma(0x64, Op::VMfmaF3216x16x4bf161k, "v_mfma_f32_16x16x4bf16_1k", B512, [B64, B64, B512]).since(Gfx90a),
    mfma(0x65, Op::VMfmaF324x4x4bf161k, "v_mfma_f32_4x4x4bf16_1k", B128, [B64, B64, B128]).since(Gfx90a),
    mfma(0x66, Op::VMfmaF3232x32x8bf161k, "v_mfma_f32_32x32x8bf16_1k", B512, [B64, B64, B512]).since(Gfx90a),
    mfma(0x67, Op::VMfmaF3216x16x16bf161k, "v_mfma_f32_16x16x16bf16_1k", B128, [B64, B64, B128]).since(Gfx90a),
    mfma(0x6e, Op::VMfmaF6416x16x4f64, "v_mfma_f64_16x16x4f64", B256, [B64, B64, B256]).since(Gfx90a),
    mfma(0x6f, Op::VMfmaF644x4x4f64, "v_mfma_f64_4x4x4f64", B64, [B64, B64, B64]).since(Gfx90a),
    mfma(0x3e, Op::VMfmaF3216x16x8Xf32, "v_mfma_f32_16x16x8_xf32", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x3f, Op::VMfmaF3232x32x4Xf32, "v_mfma_f32_32x32x4_xf32", B512, [B64, B64, B512]).since(Gfx940),
    mfma(0x56, Op::VMfmaI3232x32x16I8, "v_mfma_i32_32x32x16_i8", B512, [B64, B64, B512]).since(Gfx940),
    mfma(0x57, Op::VMfmaI3216x16x32I8, "v_mfma_i32_16x16x32_i8", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x70, Op::VMfmaF3216x16x32Bf8Bf8, "v_mfma_f32_16x16x32_bf8_bf8", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x71, Op::VMfmaF3216x16x32Bf8Fp8, "v_mfma_f32_16x16x32_bf8_fp8", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x72, Op::VMfmaF3216x16x32Fp8Bf8, "v_mfma_f32_16x16x32_fp8_bf8", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x73, Op::VMfmaF3216x16x32Fp8Fp8, "v_mfma_f32_16x16x32_fp8_fp8", B128, [B64, B64, B128]).since(Gfx940),
    mfma(0x74, Op::VMfmaF3232x32x16Bf8Bf8, "v_mfma_f32_32x32x16_bf8_bf8", B512, [B64, B64, B512]).since(Gfx940),
    mfma(0x75, Op::VMfmaF3232x32x16Bf8Fp8, "v_mfma_f32_32x32x16_bf8_fp8", B512, [B64, B64, B512]).since(Gfx940),
    mfma(0x76, Op::VMfmaF3232x32x16Fp8Bf8, "v_mfma_f32_32x32x16_fp8_bf8", B512, [B64, B64, B512]).since(Gfx940),
    mfma(0x77, Op::VMfmaF3232x32x16Fp8Fp8, "v_mfma_f32_32x32x16_fp8_fp8", B512, [B64, B64, B512]).since(Gfx940),
];

#[rustfmt::skip]
pub(super) const SMFMAC: &[Entry] = &[
    smfmac(0x62, Op::VSmfmacF3216x16x32F16, "v_smfmac_f32_16x16x32_f16", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x64, Op::VSmfmacF3232x32x16F16, "v_smfmac_f32_32x32x16_f16", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x66, Op::VSmfmacF3216x16x32Bf16, "v_smfmac_f32_16x16x32_bf16", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x68, Op::VSmfmacF3232x32x16Bf16, "v_smfmac_f32_32x32x16_bf16", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x6a, Op::VSmfmacI3216x16x64I8, "v_smfmac_i32_16x16x64_i8", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x6c, Op::VSmfmacI3232x32x32I8, "v_smfmac_i32_32x32x32_i8", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x78, Op::VSmfmacF3216x16x64Bf8Bf8, "v_smfmac_f32_16x16x64_bf8_bf8", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x79, Op::VSmfmacF3216x16x64Bf8Fp8, "v_smfmac_f32_16x16x64_bf8_fp8", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7a, Op::VSmfmacF3216x16x64Fp8Bf8, "v_smfmac_f32_16x16x64_fp8_bf8", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7b, Op::VSmfmacF3216x16x64Fp8Fp8, "v_smfmac_f32_16x16x64_fp8_fp8", B128, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7c, Op::VSmfmacF3232x32x32Bf8Bf8, "v_smfmac_f32_32x32x32_bf8_bf8", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7d, Op::VSmfmacF3232x32x32Bf8Fp8, "v_smfmac_f32_32x32x32_bf8_fp8", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7e, Op::VSmfmacF3232x32x32Fp8Bf8, "v_smfmac_f32_32x32x32_fp8_bf8", B512, [B64, B128, B32]).since(Gfx940),
    smfmac(0x7f, Op::VSmfmacF3232x32x32Fp8Fp8, "v_smfmac_f32_32x32x32_fp8_fp8", B512, [B64, B128, B32]).since(Gfx940),
];
