//! Local, flat, buffer and image memory that came with gfx9 and its later members.

use super::super::gcn::Gcn::{Gfx90a, Gfx908, Gfx940};
use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B128, B256, F32, F64, None, U32};
use super::entry::implicit::M0;
use super::entry::segment::{ALL, FLAT as FLAT_SEGMENT, GLOBAL, SCRATCH};
use super::entry::{Entry, ds, flat, mimg, mubuf};

#[rustfmt::skip]
pub(super) const DS: &[Entry] = &[
    ds(0x1d, Op::DsWriteAddtidB32, "ds_write_addtid_b32", None, [None, B32, None]).reads(M0),
    ds(0x54, Op::DsWriteB8D16Hi, "ds_write_b8_d16_hi", None, [B32, B32, None]),
    ds(0x55, Op::DsWriteB16D16Hi, "ds_write_b16_d16_hi", None, [B32, B32, None]),
    ds(0x56, Op::DsReadU8D16, "ds_read_u8_d16", B32, [B32, None, None]).reads_dst(),
    ds(0x57, Op::DsReadU8D16Hi, "ds_read_u8_d16_hi", B32, [B32, None, None]).reads_dst(),
    ds(0x58, Op::DsReadI8D16, "ds_read_i8_d16", B32, [B32, None, None]).reads_dst(),
    ds(0x59, Op::DsReadI8D16Hi, "ds_read_i8_d16_hi", B32, [B32, None, None]).reads_dst(),
    ds(0x5a, Op::DsReadU16D16, "ds_read_u16_d16", B32, [B32, None, None]).reads_dst(),
    ds(0x5b, Op::DsReadU16D16Hi, "ds_read_u16_d16_hi", B32, [B32, None, None]).reads_dst(),
    ds(0xb6, Op::DsReadAddtidB32, "ds_read_addtid_b32", B32, [None, None, None]).reads(M0),
    ds(0x5c, Op::DsAddF64, "ds_add_f64", None, [B32, F64, None]).atomic().since(Gfx90a),
    ds(0x7c, Op::DsAddRtnF64, "ds_add_rtn_f64", F64, [B32, F64, None]).atomic().since(Gfx90a),
    ds(0x17, Op::DsPkAddF16, "ds_pk_add_f16", None, [B32, B32, None]).atomic().since(Gfx940),
    ds(0x18, Op::DsPkAddBf16, "ds_pk_add_bf16", None, [B32, B32, None]).atomic().since(Gfx940),
    ds(0xb7, Op::DsPkAddRtnF16, "ds_pk_add_rtn_f16", B32, [B32, B32, None]).atomic().since(Gfx940),
    ds(0xb8, Op::DsPkAddRtnBf16, "ds_pk_add_rtn_bf16", B32, [B32, B32, None]).atomic().since(Gfx940),
];

#[rustfmt::skip]
pub(super) const FLAT: &[Entry] = &[
    flat(0x19, Op::FlatStoreByteD16Hi, "flat_store_byte_d16_hi", None, [B64, B32, None]).segments(ALL),
    flat(0x1b, Op::FlatStoreShortD16Hi, "flat_store_short_d16_hi", None, [B64, B32, None]).segments(ALL),
    flat(0x20, Op::FlatLoadUbyteD16, "flat_load_ubyte_d16", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x21, Op::FlatLoadUbyteD16Hi, "flat_load_ubyte_d16_hi", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x22, Op::FlatLoadSbyteD16, "flat_load_sbyte_d16", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x23, Op::FlatLoadSbyteD16Hi, "flat_load_sbyte_d16_hi", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x24, Op::FlatLoadShortD16, "flat_load_short_d16", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x25, Op::FlatLoadShortD16Hi, "flat_load_short_d16_hi", B32, [B64, None, None]).reads_dst().segments(ALL),
    flat(0x26, Op::FlatLoadLdsUbyte, "flat_load_lds_ubyte", None, [B64, None, None]).reads(M0).segments(GLOBAL | SCRATCH).since(Gfx940),
    flat(0x27, Op::FlatLoadLdsSbyte, "flat_load_lds_sbyte", None, [B64, None, None]).reads(M0).segments(GLOBAL | SCRATCH).since(Gfx940),
    flat(0x28, Op::FlatLoadLdsUshort, "flat_load_lds_ushort", None, [B64, None, None]).reads(M0).segments(GLOBAL | SCRATCH).since(Gfx940),
    flat(0x29, Op::FlatLoadLdsSshort, "flat_load_lds_sshort", None, [B64, None, None]).reads(M0).segments(GLOBAL | SCRATCH).since(Gfx940),
    flat(0x2a, Op::FlatLoadLdsDword, "flat_load_lds_dword", None, [B64, None, None]).reads(M0).segments(GLOBAL | SCRATCH).since(Gfx940),
    flat(0x4d, Op::FlatAtomicAddF32, "flat_atomic_add_f32", F32, [B64, F32, None]).atomic().segments(GLOBAL).since(Gfx908),
    flat(0x4e, Op::FlatAtomicPkAddF16, "flat_atomic_pk_add_f16", B32, [B64, B32, None]).atomic().segments(GLOBAL).since(Gfx908),
    flat(0x4f, Op::FlatAtomicAddF64, "flat_atomic_add_f64", F64, [B64, F64, None]).atomic().segments(FLAT_SEGMENT | GLOBAL).since(Gfx90a),
    flat(0x50, Op::FlatAtomicMinF64, "flat_atomic_min_f64", F64, [B64, F64, None]).atomic().segments(FLAT_SEGMENT | GLOBAL).since(Gfx90a),
    flat(0x51, Op::FlatAtomicMaxF64, "flat_atomic_max_f64", F64, [B64, F64, None]).atomic().segments(FLAT_SEGMENT | GLOBAL).since(Gfx90a),
    flat(0x52, Op::FlatAtomicPkAddBf16, "flat_atomic_pk_add_bf16", B32, [B64, B32, None]).atomic().segments(FLAT_SEGMENT | GLOBAL).since(Gfx940),
];

#[rustfmt::skip]
pub(super) const MUBUF: &[Entry] = &[
    mubuf(0x19, Op::BufferStoreByteD16Hi, "buffer_store_byte_d16_hi", B32, [B64, B128, U32]).store(),
    mubuf(0x1b, Op::BufferStoreShortD16Hi, "buffer_store_short_d16_hi", B32, [B64, B128, U32]).store(),
    mubuf(0x20, Op::BufferLoadUbyteD16, "buffer_load_ubyte_d16", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x21, Op::BufferLoadUbyteD16Hi, "buffer_load_ubyte_d16_hi", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x22, Op::BufferLoadSbyteD16, "buffer_load_sbyte_d16", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x23, Op::BufferLoadSbyteD16Hi, "buffer_load_sbyte_d16_hi", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x24, Op::BufferLoadShortD16, "buffer_load_short_d16", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x25, Op::BufferLoadShortD16Hi, "buffer_load_short_d16_hi", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x26, Op::BufferLoadFormatD16HiX, "buffer_load_format_d16_hi_x", B32, [B64, B128, U32]).reads_dst(),
    mubuf(0x27, Op::BufferStoreFormatD16HiX, "buffer_store_format_d16_hi_x", B32, [B64, B128, U32]).store(),
    mubuf(0x4d, Op::BufferAtomicAddF32, "buffer_atomic_add_f32", F32, [B64, B128, U32]).atomic().since(Gfx908),
    mubuf(0x4e, Op::BufferAtomicPkAddF16, "buffer_atomic_pk_add_f16", B32, [B64, B128, U32]).atomic().since(Gfx908),
    mubuf(0x4f, Op::BufferAtomicAddF64, "buffer_atomic_add_f64", F64, [B64, B128, U32]).atomic().since(Gfx90a),
    mubuf(0x50, Op::BufferAtomicMinF64, "buffer_atomic_min_f64", F64, [B64, B128, U32]).atomic().since(Gfx90a),
    mubuf(0x51, Op::BufferAtomicMaxF64, "buffer_atomic_max_f64", F64, [B64, B128, U32]).atomic().since(Gfx90a),
    mubuf(0x28, Op::BufferWbl2, "buffer_wbl2", None, [None, None, None]).since(Gfx90a),
    mubuf(0x29, Op::BufferInvl2, "buffer_invl2", None, [None, None, None]).since(Gfx90a),
];

#[rustfmt::skip]
pub(super) const MIMG: &[Entry] = &[
    mimg(0x42, Op::ImageGather4h, "image_gather4h", B32, [B32, B256, B128]).until(Gfx908),
];
