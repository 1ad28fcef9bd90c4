//! Every operation, one flat enum in table order: an operation has one name whatever its encoding.

use super::table::{Entry, TABLE};

/// An operation. The name is the mnemonic in camel case.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u16)]
pub enum Op {
    SAddU32, SSubU32, SAddI32, SSubI32, SAddcU32, SSubbU32, SMinI32, SMinU32, SMaxI32, SMaxU32,
    SCselectB32, SCselectB64, SAndB32, SAndB64, SOrB32, SOrB64, SXorB32, SXorB64, SAndn2B32, SAndn2B64,
    SOrn2B32, SOrn2B64, SNandB32, SNandB64, SNorB32, SNorB64, SXnorB32, SXnorB64, SLshlB32, SLshlB64,
    SLshrB32, SLshrB64, SAshrI32, SAshrI64, SBfmB32, SBfmB64, SMulI32, SBfeU32, SBfeI32, SBfeU64,
    SBfeI64, SCbranchGFork, SAbsdiffI32, SRfeRestoreB64,
    SMovB32, SMovB64, SCmovB32, SCmovB64, SNotB32, SNotB64, SWqmB32, SWqmB64, SBrevB32, SBrevB64,
    SBcnt0I32B32, SBcnt0I32B64, SBcnt1I32B32, SBcnt1I32B64, SFf0I32B32, SFf0I32B64, SFf1I32B32,
    SFf1I32B64, SFlbitI32B32, SFlbitI32B64, SFlbitI32, SFlbitI32I64, SSextI32I8, SSextI32I16,
    SBitset0B32, SBitset0B64, SBitset1B32, SBitset1B64, SGetpcB64, SSetpcB64, SSwappcB64, SRfeB64,
    SAndSaveexecB64, SOrSaveexecB64, SXorSaveexecB64, SAndn2SaveexecB64, SOrn2SaveexecB64,
    SNandSaveexecB64, SNorSaveexecB64, SXnorSaveexecB64, SQuadmaskB32, SQuadmaskB64, SMovrelsB32,
    SMovrelsB64, SMovreldB32, SMovreldB64, SCbranchJoin, SAbsI32, SSetGprIdxIdx,
    SCmpEqI32, SCmpLgI32, SCmpGtI32, SCmpGeI32, SCmpLtI32, SCmpLeI32, SCmpEqU32, SCmpLgU32, SCmpGtU32,
    SCmpGeU32, SCmpLtU32, SCmpLeU32, SBitcmp0B32, SBitcmp1B32, SBitcmp0B64, SBitcmp1B64, SSetvskip,
    SSetGprIdxOn, SCmpEqU64, SCmpLgU64, Split, Merge,
    SMovkI32, SCmovkI32, SCmpkEqI32, SCmpkLgI32, SCmpkGtI32, SCmpkGeI32, SCmpkLtI32, SCmpkLeI32,
    SCmpkEqU32, SCmpkLgU32, SCmpkGtU32, SCmpkGeU32, SCmpkLtU32, SCmpkLeU32, SAddkI32, SMulkI32,
    SCbranchIFork, SGetregB32, SSetregB32, SSetregImm32B32,
    SNop, SEndpgm, SBranch, SCbranchScc0, SCbranchScc1, SCbranchVccz, SCbranchVccnz, SCbranchExecz,
    SCbranchExecnz, SBarrier, SSetkill, SWaitcnt, SSethalt, SSleep, SSetprio, SSendmsg, SSendmsghalt,
    STrap, SIcacheInv, SIncperflevel, SDecperflevel, STtracedata, SCbranchCdbgsys, SCbranchCdbguser,
    SCbranchCdbgsysOrUser, SCbranchCdbgsysAndUser, SEndpgmSaved, SSetGprIdxOff, SSetGprIdxMode,
    SLoadDword, SLoadDwordx2, SLoadDwordx4, SLoadDwordx8, SLoadDwordx16, SBufferLoadDword,
    SBufferLoadDwordx2, SBufferLoadDwordx4, SBufferLoadDwordx8, SBufferLoadDwordx16, SStoreDword,
    SStoreDwordx2, SStoreDwordx4, SBufferStoreDword, SBufferStoreDwordx2, SBufferStoreDwordx4,
    SDcacheInv, SDcacheWb, SDcacheInvVol, SDcacheWbVol, SMemtime, SMemrealtime,
    VNop, VMovB32, VReadfirstlaneB32, VCvtI32F64, VCvtF64I32, VCvtF32I32, VCvtF32U32, VCvtU32F32,
    VCvtI32F32, VCvtF16F32, VCvtF32F16, VCvtRpiI32F32, VCvtFlrI32F32, VCvtOffF32I4, VCvtF32F64,
    VCvtF64F32, VCvtF32Ubyte0, VCvtF32Ubyte1, VCvtF32Ubyte2, VCvtF32Ubyte3, VCvtU32F64, VCvtF64U32,
    VTruncF64, VCeilF64, VRndneF64, VFloorF64, VFractF32, VTruncF32, VCeilF32, VRndneF32, VFloorF32,
    VExpF32, VLogF32, VRcpF32, VRcpIflagF32, VRsqF32, VRcpF64, VRsqF64, VSqrtF32, VSqrtF64, VSinF32,
    VCosF32, VNotB32, VBfrevB32, VFfbhU32, VFfblB32, VFfbhI32, VFrexpExpI32F64, VFrexpMantF64,
    VFractF64, VFrexpExpI32F32, VFrexpMantF32, VClrexcp, VMovreldB32, VMovrelsB32, VMovrelsdB32,
    VCvtF16U16, VCvtF16I16, VCvtU16F16, VCvtI16F16, VRcpF16, VSqrtF16, VRsqF16, VLogF16, VExpF16,
    VFrexpMantF16, VFrexpExpI16F16, VFloorF16, VCeilF16, VTruncF16, VRndneF16, VFractF16, VSinF16,
    VCosF16, VExpLegacyF32, VLogLegacyF32,
    VCndmaskB32, VAddF32, VSubF32, VSubrevF32, VMulLegacyF32, VMulF32, VMulI32I24, VMulHiI32I24,
    VMulU32U24, VMulHiU32U24, VMinF32, VMaxF32, VMinI32, VMaxI32, VMinU32, VMaxU32, VLshrrevB32,
    VAshrrevI32, VLshlrevB32, VAndB32, VOrB32, VXorB32, VMacF32, VMadmkF32, VMadakF32, VAddU32, VSubU32,
    VSubrevU32, VAddcU32, VSubbU32, VSubbrevU32, VAddF16, VSubF16, VSubrevF16, VMulF16, VMacF16,
    VMadmkF16, VMadakF16, VAddU16, VSubU16, VSubrevU16, VMulLoU16, VLshlrevB16, VLshrrevB16,
    VAshrrevI16, VMaxF16, VMinF16, VMaxU16, VMaxI16, VMinU16, VMinI16, VLdexpF16,
    VCmpClassF32, VCmpxClassF32, VCmpClassF64, VCmpxClassF64, VCmpClassF16, VCmpxClassF16, VCmpFF16,
    VCmpLtF16, VCmpEqF16, VCmpLeF16, VCmpGtF16, VCmpLgF16, VCmpGeF16, VCmpOF16, VCmpUF16, VCmpNgeF16,
    VCmpNlgF16, VCmpNgtF16, VCmpNleF16, VCmpNeqF16, VCmpNltF16, VCmpTruF16, VCmpxFF16, VCmpxLtF16,
    VCmpxEqF16, VCmpxLeF16, VCmpxGtF16, VCmpxLgF16, VCmpxGeF16, VCmpxOF16, VCmpxUF16, VCmpxNgeF16,
    VCmpxNlgF16, VCmpxNgtF16, VCmpxNleF16, VCmpxNeqF16, VCmpxNltF16, VCmpxTruF16, VCmpFF32, VCmpLtF32,
    VCmpEqF32, VCmpLeF32, VCmpGtF32, VCmpLgF32, VCmpGeF32, VCmpOF32, VCmpUF32, VCmpNgeF32, VCmpNlgF32,
    VCmpNgtF32, VCmpNleF32, VCmpNeqF32, VCmpNltF32, VCmpTruF32, VCmpxFF32, VCmpxLtF32, VCmpxEqF32,
    VCmpxLeF32, VCmpxGtF32, VCmpxLgF32, VCmpxGeF32, VCmpxOF32, VCmpxUF32, VCmpxNgeF32, VCmpxNlgF32,
    VCmpxNgtF32, VCmpxNleF32, VCmpxNeqF32, VCmpxNltF32, VCmpxTruF32, VCmpFF64, VCmpLtF64, VCmpEqF64,
    VCmpLeF64, VCmpGtF64, VCmpLgF64, VCmpGeF64, VCmpOF64, VCmpUF64, VCmpNgeF64, VCmpNlgF64, VCmpNgtF64,
    VCmpNleF64, VCmpNeqF64, VCmpNltF64, VCmpTruF64, VCmpxFF64, VCmpxLtF64, VCmpxEqF64, VCmpxLeF64,
    VCmpxGtF64, VCmpxLgF64, VCmpxGeF64, VCmpxOF64, VCmpxUF64, VCmpxNgeF64, VCmpxNlgF64, VCmpxNgtF64,
    VCmpxNleF64, VCmpxNeqF64, VCmpxNltF64, VCmpxTruF64, VCmpFI16, VCmpLtI16, VCmpEqI16, VCmpLeI16,
    VCmpGtI16, VCmpNeI16, VCmpGeI16, VCmpTI16, VCmpFU16, VCmpLtU16, VCmpEqU16, VCmpLeU16, VCmpGtU16,
    VCmpNeU16, VCmpGeU16, VCmpTU16, VCmpxFI16, VCmpxLtI16, VCmpxEqI16, VCmpxLeI16, VCmpxGtI16,
    VCmpxNeI16, VCmpxGeI16, VCmpxTI16, VCmpxFU16, VCmpxLtU16, VCmpxEqU16, VCmpxLeU16, VCmpxGtU16,
    VCmpxNeU16, VCmpxGeU16, VCmpxTU16, VCmpFI32, VCmpLtI32, VCmpEqI32, VCmpLeI32, VCmpGtI32, VCmpNeI32,
    VCmpGeI32, VCmpTI32, VCmpFU32, VCmpLtU32, VCmpEqU32, VCmpLeU32, VCmpGtU32, VCmpNeU32, VCmpGeU32,
    VCmpTU32, VCmpxFI32, VCmpxLtI32, VCmpxEqI32, VCmpxLeI32, VCmpxGtI32, VCmpxNeI32, VCmpxGeI32,
    VCmpxTI32, VCmpxFU32, VCmpxLtU32, VCmpxEqU32, VCmpxLeU32, VCmpxGtU32, VCmpxNeU32, VCmpxGeU32,
    VCmpxTU32, VCmpFI64, VCmpLtI64, VCmpEqI64, VCmpLeI64, VCmpGtI64, VCmpNeI64, VCmpGeI64, VCmpTI64,
    VCmpFU64, VCmpLtU64, VCmpEqU64, VCmpLeU64, VCmpGtU64, VCmpNeU64, VCmpGeU64, VCmpTU64, VCmpxFI64,
    VCmpxLtI64, VCmpxEqI64, VCmpxLeI64, VCmpxGtI64, VCmpxNeI64, VCmpxGeI64, VCmpxTI64, VCmpxFU64,
    VCmpxLtU64, VCmpxEqU64, VCmpxLeU64, VCmpxGtU64, VCmpxNeU64, VCmpxGeU64, VCmpxTU64,
    VMadLegacyF32, VMadF32, VMadI32I24, VMadU32U24, VCubeidF32, VCubescF32, VCubetcF32, VCubemaF32,
    VBfeU32, VBfeI32, VBfiB32, VFmaF32, VFmaF64, VLerpU8, VAlignbitB32, VAlignbyteB32, VMin3F32,
    VMin3I32, VMin3U32, VMax3F32, VMax3I32, VMax3U32, VMed3F32, VMed3I32, VMed3U32, VSadU8, VSadHiU8,
    VSadU16, VSadU32, VCvtPkU8F32, VDivFixupF32, VDivFixupF64, VDivScaleF32, VDivScaleF64, VDivFmasF32,
    VDivFmasF64, VMsadU8, VQsadPkU16U8, VMqsadPkU16U8, VMqsadU32U8, VMadU64U32, VMadI64I32, VMadF16,
    VMadU16, VMadI16, VPermB32, VFmaF16, VDivFixupF16, VCvtPkaccumU8F32, VAddF64, VMulF64, VMinF64,
    VMaxF64, VLdexpF64, VMulLoU32, VMulHiU32, VMulHiI32, VLdexpF32, VReadlaneB32, VWritelaneB32,
    VBcntU32B32, VMbcntLoU32B32, VMbcntHiU32B32, VLshlrevB64, VLshrrevB64, VAshrrevI64, VTrigPreopF64,
    VBfmB32, VCvtPknormI16F32, VCvtPknormU16F32, VCvtPkrtzF16F32, VCvtPkU16U32, VCvtPkI16I32,
    DsAddU32, DsSubU32, DsRsubU32, DsIncU32, DsDecU32, DsMinI32, DsMaxI32, DsMinU32, DsMaxU32, DsAndB32,
    DsOrB32, DsXorB32, DsMskorB32, DsWriteB32, DsWrite2B32, DsWrite2st64B32, DsCmpstB32, DsCmpstF32,
    DsMinF32, DsMaxF32, DsNop, DsAddF32, DsWriteB8, DsWriteB16, DsAddRtnU32, DsSubRtnU32, DsRsubRtnU32,
    DsIncRtnU32, DsDecRtnU32, DsMinRtnI32, DsMaxRtnI32, DsMinRtnU32, DsMaxRtnU32, DsAndRtnB32,
    DsOrRtnB32, DsXorRtnB32, DsMskorRtnB32, DsWrxchgRtnB32, DsWrxchg2RtnB32, DsWrxchg2st64RtnB32,
    DsCmpstRtnB32, DsCmpstRtnF32, DsMinRtnF32, DsMaxRtnF32, DsWrapRtnB32, DsAddRtnF32, DsReadB32,
    DsRead2B32, DsRead2st64B32, DsReadI8, DsReadU8, DsReadI16, DsReadU16, DsSwizzleB32, DsPermuteB32,
    DsBpermuteB32, DsAddU64, DsSubU64, DsRsubU64, DsIncU64, DsDecU64, DsMinI64, DsMaxI64, DsMinU64,
    DsMaxU64, DsAndB64, DsOrB64, DsXorB64, DsMskorB64, DsWriteB64, DsWrite2B64, DsWrite2st64B64,
    DsCmpstB64, DsCmpstF64, DsMinF64, DsMaxF64, DsAddRtnU64, DsSubRtnU64, DsRsubRtnU64, DsIncRtnU64,
    DsDecRtnU64, DsMinRtnI64, DsMaxRtnI64, DsMinRtnU64, DsMaxRtnU64, DsAndRtnB64, DsOrRtnB64,
    DsXorRtnB64, DsMskorRtnB64, DsWrxchgRtnB64, DsWrxchg2RtnB64, DsWrxchg2st64RtnB64, DsCmpstRtnB64,
    DsCmpstRtnF64, DsMinRtnF64, DsMaxRtnF64, DsReadB64, DsRead2B64, DsRead2st64B64, DsCondxchg32RtnB64,
    DsAddSrc2U32, DsSubSrc2U32, DsRsubSrc2U32, DsIncSrc2U32, DsDecSrc2U32, DsMinSrc2I32, DsMaxSrc2I32,
    DsMinSrc2U32, DsMaxSrc2U32, DsAndSrc2B32, DsOrSrc2B32, DsXorSrc2B32, DsWriteSrc2B32, DsMinSrc2F32,
    DsMaxSrc2F32, DsAddSrc2F32, DsGwsSemaReleaseAll, DsGwsInit, DsGwsSemaV, DsGwsSemaBr, DsGwsSemaP,
    DsGwsBarrier, DsConsume, DsAppend, DsOrderedCount, DsAddSrc2U64, DsSubSrc2U64, DsRsubSrc2U64,
    DsIncSrc2U64, DsDecSrc2U64, DsMinSrc2I64, DsMaxSrc2I64, DsMinSrc2U64, DsMaxSrc2U64, DsAndSrc2B64,
    DsOrSrc2B64, DsXorSrc2B64, DsWriteSrc2B64, DsMinSrc2F64, DsMaxSrc2F64, DsWriteB96, DsWriteB128,
    DsReadB96, DsReadB128,
    FlatLoadUbyte, FlatLoadSbyte, FlatLoadUshort, FlatLoadSshort, FlatLoadDword, FlatLoadDwordx2,
    FlatLoadDwordx3, FlatLoadDwordx4, FlatStoreByte, FlatStoreShort, FlatStoreDword, FlatStoreDwordx2,
    FlatStoreDwordx3, FlatStoreDwordx4, FlatAtomicSwap, FlatAtomicCmpswap, FlatAtomicAdd, FlatAtomicSub,
    FlatAtomicSmin, FlatAtomicUmin, FlatAtomicSmax, FlatAtomicUmax, FlatAtomicAnd, FlatAtomicOr,
    FlatAtomicXor, FlatAtomicInc, FlatAtomicDec, FlatAtomicSwapX2, FlatAtomicCmpswapX2, FlatAtomicAddX2,
    FlatAtomicSubX2, FlatAtomicSminX2, FlatAtomicUminX2, FlatAtomicSmaxX2, FlatAtomicUmaxX2,
    FlatAtomicAndX2, FlatAtomicOrX2, FlatAtomicXorX2, FlatAtomicIncX2, FlatAtomicDecX2,
    BufferLoadFormatX, BufferLoadFormatXy, BufferLoadFormatXyz, BufferLoadFormatXyzw,
    BufferStoreFormatX, BufferStoreFormatXy, BufferStoreFormatXyz, BufferStoreFormatXyzw,
    BufferLoadFormatD16X, BufferLoadFormatD16Xy, BufferLoadFormatD16Xyz, BufferLoadFormatD16Xyzw,
    BufferStoreFormatD16X, BufferStoreFormatD16Xy, BufferStoreFormatD16Xyz, BufferStoreFormatD16Xyzw,
    BufferLoadUbyte, BufferLoadSbyte, BufferLoadUshort, BufferLoadSshort, BufferLoadDword,
    BufferLoadDwordx2, BufferLoadDwordx3, BufferLoadDwordx4, BufferStoreByte, BufferStoreShort,
    BufferStoreDword, BufferStoreDwordx2, BufferStoreDwordx3, BufferStoreDwordx4, BufferStoreLdsDword,
    BufferWbinvl1, BufferWbinvl1Vol, BufferAtomicSwap, BufferAtomicCmpswap, BufferAtomicAdd,
    BufferAtomicSub, BufferAtomicSmin, BufferAtomicUmin, BufferAtomicSmax, BufferAtomicUmax,
    BufferAtomicAnd, BufferAtomicOr, BufferAtomicXor, BufferAtomicInc, BufferAtomicDec,
    BufferAtomicSwapX2, BufferAtomicCmpswapX2, BufferAtomicAddX2, BufferAtomicSubX2, BufferAtomicSminX2,
    BufferAtomicUminX2, BufferAtomicSmaxX2, BufferAtomicUmaxX2, BufferAtomicAndX2, BufferAtomicOrX2,
    BufferAtomicXorX2, BufferAtomicIncX2, BufferAtomicDecX2,
    ImageLoad, ImageLoadMip, ImageLoadPck, ImageLoadPckSgn, ImageLoadMipPck, ImageLoadMipPckSgn,
    ImageStore, ImageStoreMip, ImageStorePck, ImageStoreMipPck, ImageGetResinfo, ImageSample,
    ImageSampleCl, ImageSampleD, ImageSampleDCl, ImageSampleL, ImageSampleB, ImageSampleBCl,
    ImageSampleLz, ImageSampleC, ImageSampleCCl, ImageSampleCD, ImageSampleCDCl, ImageSampleCL,
    ImageSampleCB, ImageSampleCBCl, ImageSampleCLz, ImageSampleO, ImageSampleClO, ImageSampleDO,
    ImageSampleDClO, ImageSampleLO, ImageSampleBO, ImageSampleBClO, ImageSampleLzO, ImageSampleCO,
    ImageSampleCClO, ImageSampleCDO, ImageSampleCDClO, ImageSampleCLO, ImageSampleCBO, ImageSampleCBClO,
    ImageSampleCLzO, ImageGather4, ImageGather4Cl, ImageGather4L, ImageGather4B, ImageGather4BCl,
    ImageGather4Lz, ImageGather4C, ImageGather4CCl, ImageGather4CL, ImageGather4CB, ImageGather4CBCl,
    ImageGather4CLz, ImageGather4O, ImageGather4ClO, ImageGather4LO, ImageGather4BO, ImageGather4BClO,
    ImageGather4LzO, ImageGather4CO, ImageGather4CClO, ImageGather4CLO, ImageGather4CBO,
    ImageGather4CBClO, ImageGather4CLzO, ImageGetLod, ImageSampleCd, ImageSampleCdCl, ImageSampleCCd,
    ImageSampleCCdCl, ImageSampleCdO, ImageSampleCdClO, ImageSampleCCdO, ImageSampleCCdClO,
}

impl Op {
    /// The table line of this operation.
    #[inline(always)]
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    /// The operation of a mnemonic without `_e32`, `_e64`, `_sdwa` or `_dpp`.
    pub fn from_name(name: &str) -> Option<Op> {
        super::table::by_name(name)
    }

    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub fn all() -> impl Iterator<Item = Op> {
        TABLE.iter().map(|entry| entry.op)
    }
}
