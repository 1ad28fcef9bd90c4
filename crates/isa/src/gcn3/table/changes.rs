//! What is different in later generations about lines that they share with earlier ones: other names, codes, forms, widths.
//! A change holds from its generation on. Whether an operation exists at all is said by its line (`since`, `until`).

use super::super::format::Format;
use super::super::gcn::Gcn::{self, Gfx90a, Gfx900, Gfx940};
use super::super::op::Op;
use super::super::operand::Ty;
use super::entry::modifier::{DPP, E64, SDWA};
use super::entry::{Entry, segment};

/// How the line of an operation differs from a generation on.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    pub since: Gcn,
    pub op: Op,
    name: Option<&'static str>,
    code: Option<u16>,
    /// Format of the shortest encoding.
    format: Option<Format>,
    forms: Option<u8>,
    dst: Option<Ty>,
}

const fn change(since: Gcn, op: Op) -> Change {
    Change { since, op, name: None, code: None, format: None, forms: None, dst: None }
}

const fn called(since: Gcn, op: Op, name: &'static str) -> Change {
    Change { name: Some(name), ..change(since, op) }
}

const fn moved(since: Gcn, op: Op, name: &'static str, code: u16) -> Change {
    Change { code: Some(code), ..called(since, op, name) }
}

const fn forms(since: Gcn, op: Op, forms: u8) -> Change {
    Change { forms: Some(forms), ..change(since, op) }
}

const fn wide(op: Op, dst: Ty) -> Change {
    Change { dst: Some(dst), ..change(Gfx900, op) }
}

impl Change {
    /// The line with the change.
    pub const fn apply(&self, mut line: Entry) -> Entry {
        if let Some(name) = self.name {
            line.name = name;
        }
        if let Some(code) = self.code {
            line.code = code;
        }
        if let Some(format) = self.format {
            line.format = format;
        }
        if let Some(forms) = self.forms {
            line.forms = forms;
        }
        if let Some(dst) = self.dst {
            line.dst = dst;
        }
        line
    }
}

/// All changes, earlier generations first.
#[rustfmt::skip]
pub const CHANGES: &[Change] = &[
    // Additions without carry took the plain names.
    called(Gfx900, Op::VAddU32, "v_add_co_u32"),
    called(Gfx900, Op::VSubU32, "v_sub_co_u32"),
    called(Gfx900, Op::VSubrevU32, "v_subrev_co_u32"),
    called(Gfx900, Op::VAddcU32, "v_addc_co_u32"),
    called(Gfx900, Op::VSubbU32, "v_subb_co_u32"),
    called(Gfx900, Op::VSubbrevU32, "v_subbrev_co_u32"),
    called(Gfx900, Op::VAddNcU32, "v_add_u32"),
    called(Gfx900, Op::VSubNcU32, "v_sub_u32"),
    called(Gfx900, Op::VSubrevNcU32, "v_subrev_u32"),
    // Those that keep the other half of the destination took the plain names.
    called(Gfx900, Op::VMadF16, "v_mad_legacy_f16"),
    called(Gfx900, Op::VMadU16, "v_mad_legacy_u16"),
    called(Gfx900, Op::VMadI16, "v_mad_legacy_i16"),
    called(Gfx900, Op::VFmaF16, "v_fma_legacy_f16"),
    called(Gfx900, Op::VDivFixupF16, "v_div_fixup_legacy_f16"),
    called(Gfx900, Op::VMadOpselF16, "v_mad_f16"),
    called(Gfx900, Op::VMadOpselU16, "v_mad_u16"),
    called(Gfx900, Op::VMadOpselI16, "v_mad_i16"),
    called(Gfx900, Op::VFmaOpselF16, "v_fma_f16"),
    called(Gfx900, Op::VDivFixupOpselF16, "v_div_fixup_f16"),
    forms(Gfx900, Op::VMacF32, E64 | DPP),
    forms(Gfx900, Op::VMacF16, E64 | DPP),
    // Halves are packed.
    wide(Op::BufferLoadFormatD16Xy, Ty::B32),
    wide(Op::BufferLoadFormatD16Xyz, Ty::B64),
    wide(Op::BufferLoadFormatD16Xyzw, Ty::B64),
    wide(Op::BufferStoreFormatD16Xy, Ty::B32),
    wide(Op::BufferStoreFormatD16Xyz, Ty::B64),
    wide(Op::BufferStoreFormatD16Xyzw, Ty::B64),
    wide(Op::TbufferLoadFormatD16Xy, Ty::B32),
    wide(Op::TbufferLoadFormatD16Xyz, Ty::B64),
    wide(Op::TbufferLoadFormatD16Xyzw, Ty::B64),
    wide(Op::TbufferStoreFormatD16Xy, Ty::B32),
    wide(Op::TbufferStoreFormatD16Xyz, Ty::B64),
    wide(Op::TbufferStoreFormatD16Xyzw, Ty::B64),
    moved(Gfx900, Op::VInterpP2F16, "v_interp_p2_f16", 0x277),
    // v_fmac_f64 took its place.
    Change { format: Some(Format::Vop3), forms: Some(E64), ..moved(Gfx90a, Op::VMulLegacyF32, "v_mul_legacy_f32", 0x2a1) },
    forms(Gfx90a, Op::VCvtI32F64, E64 | DPP),
    forms(Gfx90a, Op::VCvtF64I32, E64 | DPP),
    forms(Gfx90a, Op::VCvtF32F64, E64 | DPP),
    forms(Gfx90a, Op::VCvtF64F32, E64 | DPP),
    forms(Gfx90a, Op::VCvtU32F64, E64 | DPP),
    forms(Gfx90a, Op::VCvtF64U32, E64 | DPP),
    forms(Gfx90a, Op::VTruncF64, E64 | DPP),
    forms(Gfx90a, Op::VCeilF64, E64 | DPP),
    forms(Gfx90a, Op::VRndneF64, E64 | DPP),
    forms(Gfx90a, Op::VFloorF64, E64 | DPP),
    forms(Gfx90a, Op::VRcpF64, E64 | DPP),
    forms(Gfx90a, Op::VRsqF64, E64 | DPP),
    forms(Gfx90a, Op::VSqrtF64, E64 | DPP),
    forms(Gfx90a, Op::VFrexpExpI32F64, E64 | DPP),
    forms(Gfx90a, Op::VFrexpMantF64, E64 | DPP),
    forms(Gfx90a, Op::VFractF64, E64 | DPP),
    forms(Gfx940, Op::VCvtF32Fp8, E64 | SDWA | DPP),
    forms(Gfx940, Op::FlatAtomicAddF32, segment::FLAT | segment::GLOBAL),
    forms(Gfx940, Op::FlatAtomicPkAddF16, segment::FLAT | segment::GLOBAL),
    called(Gfx940, Op::BufferInvl2, "buffer_inv"),
    // Names tell the number of blocks.
    called(Gfx940, Op::VMfmaF3232x32x1f32, "v_mfma_f32_32x32x1_2b_f32"),
    called(Gfx940, Op::VMfmaF3216x16x1f32, "v_mfma_f32_16x16x1_4b_f32"),
    called(Gfx940, Op::VMfmaF324x4x1f32, "v_mfma_f32_4x4x1_16b_f32"),
    called(Gfx940, Op::VMfmaF3232x32x2f32, "v_mfma_f32_32x32x2_f32"),
    called(Gfx940, Op::VMfmaF3216x16x4f32, "v_mfma_f32_16x16x4_f32"),
    called(Gfx940, Op::VMfmaF3232x32x4f16, "v_mfma_f32_32x32x4_2b_f16"),
    called(Gfx940, Op::VMfmaF3216x16x4f16, "v_mfma_f32_16x16x4_4b_f16"),
    called(Gfx940, Op::VMfmaF324x4x4f16, "v_mfma_f32_4x4x4_16b_f16"),
    called(Gfx940, Op::VMfmaF3232x32x8f16, "v_mfma_f32_32x32x8_f16"),
    called(Gfx940, Op::VMfmaF3216x16x16f16, "v_mfma_f32_16x16x16_f16"),
    called(Gfx940, Op::VMfmaI3232x32x4i8, "v_mfma_i32_32x32x4_2b_i8"),
    called(Gfx940, Op::VMfmaI3216x16x4i8, "v_mfma_i32_16x16x4_4b_i8"),
    called(Gfx940, Op::VMfmaI324x4x4i8, "v_mfma_i32_4x4x4_16b_i8"),
    moved(Gfx940, Op::VMfmaF3232x32x4bf161k, "v_mfma_f32_32x32x4_2b_bf16", 93),
    moved(Gfx940, Op::VMfmaF3216x16x4bf161k, "v_mfma_f32_16x16x4_4b_bf16", 94),
    moved(Gfx940, Op::VMfmaF324x4x4bf161k, "v_mfma_f32_4x4x4_16b_bf16", 95),
    moved(Gfx940, Op::VMfmaF3232x32x8bf161k, "v_mfma_f32_32x32x8_bf16", 96),
    moved(Gfx940, Op::VMfmaF3216x16x16bf161k, "v_mfma_f32_16x16x16_bf16", 97),
    called(Gfx940, Op::VMfmaF6416x16x4f64, "v_mfma_f64_16x16x4_f64"),
    called(Gfx940, Op::VMfmaF644x4x4f64, "v_mfma_f64_4x4x4_4b_f64"),
];
