//! Scalar memory.

use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B128, B256, B512, None, U32};
use super::entry::{Entry, smem};

#[rustfmt::skip]
pub(super) const SMEM: &[Entry] = &[
    smem(0x00, Op::SLoadDword, "s_load_dword", B32, [B64, U32, None]),
    smem(0x01, Op::SLoadDwordx2, "s_load_dwordx2", B64, [B64, U32, None]),
    smem(0x02, Op::SLoadDwordx4, "s_load_dwordx4", B128, [B64, U32, None]),
    smem(0x03, Op::SLoadDwordx8, "s_load_dwordx8", B256, [B64, U32, None]),
    smem(0x04, Op::SLoadDwordx16, "s_load_dwordx16", B512, [B64, U32, None]),
    smem(0x08, Op::SBufferLoadDword, "s_buffer_load_dword", B32, [B128, U32, None]),
    smem(0x09, Op::SBufferLoadDwordx2, "s_buffer_load_dwordx2", B64, [B128, U32, None]),
    smem(0x0a, Op::SBufferLoadDwordx4, "s_buffer_load_dwordx4", B128, [B128, U32, None]),
    smem(0x0b, Op::SBufferLoadDwordx8, "s_buffer_load_dwordx8", B256, [B128, U32, None]),
    smem(0x0c, Op::SBufferLoadDwordx16, "s_buffer_load_dwordx16", B512, [B128, U32, None]),
    smem(0x10, Op::SStoreDword, "s_store_dword", B32, [B64, U32, None]).store(),
    smem(0x11, Op::SStoreDwordx2, "s_store_dwordx2", B64, [B64, U32, None]).store(),
    smem(0x12, Op::SStoreDwordx4, "s_store_dwordx4", B128, [B64, U32, None]).store(),
    smem(0x18, Op::SBufferStoreDword, "s_buffer_store_dword", B32, [B128, U32, None]).store(),
    smem(0x19, Op::SBufferStoreDwordx2, "s_buffer_store_dwordx2", B64, [B128, U32, None]).store(),
    smem(0x1a, Op::SBufferStoreDwordx4, "s_buffer_store_dwordx4", B128, [B128, U32, None]).store(),
    smem(0x20, Op::SDcacheInv, "s_dcache_inv", None, [None, None, None]),
    smem(0x21, Op::SDcacheWb, "s_dcache_wb", None, [None, None, None]),
    smem(0x22, Op::SDcacheInvVol, "s_dcache_inv_vol", None, [None, None, None]),
    smem(0x23, Op::SDcacheWbVol, "s_dcache_wb_vol", None, [None, None, None]),
    smem(0x24, Op::SMemtime, "s_memtime", B64, [None, None, None]),
    smem(0x25, Op::SMemrealtime, "s_memrealtime", B64, [None, None, None]),
];
