//! Buffer memory, typed: the instruction names the format.

use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B96, B128, U32};
use super::entry::{Entry, mtbuf};

#[rustfmt::skip]
pub(super) const MTBUF: &[Entry] = &[
    mtbuf(0x00, Op::TbufferLoadFormatX, "tbuffer_load_format_x", B32, [B64, B128, U32]),
    mtbuf(0x01, Op::TbufferLoadFormatXy, "tbuffer_load_format_xy", B64, [B64, B128, U32]),
    mtbuf(0x02, Op::TbufferLoadFormatXyz, "tbuffer_load_format_xyz", B96, [B64, B128, U32]),
    mtbuf(0x03, Op::TbufferLoadFormatXyzw, "tbuffer_load_format_xyzw", B128, [B64, B128, U32]),
    mtbuf(0x04, Op::TbufferStoreFormatX, "tbuffer_store_format_x", B32, [B64, B128, U32]).store(),
    mtbuf(0x05, Op::TbufferStoreFormatXy, "tbuffer_store_format_xy", B64, [B64, B128, U32]).store(),
    mtbuf(0x06, Op::TbufferStoreFormatXyz, "tbuffer_store_format_xyz", B96, [B64, B128, U32]).store(),
    mtbuf(0x07, Op::TbufferStoreFormatXyzw, "tbuffer_store_format_xyzw", B128, [B64, B128, U32]).store(),
    mtbuf(0x08, Op::TbufferLoadFormatD16X, "tbuffer_load_format_d16_x", B32, [B64, B128, U32]),
    mtbuf(0x09, Op::TbufferLoadFormatD16Xy, "tbuffer_load_format_d16_xy", B64, [B64, B128, U32]),
    mtbuf(0x0a, Op::TbufferLoadFormatD16Xyz, "tbuffer_load_format_d16_xyz", B96, [B64, B128, U32]),
    mtbuf(0x0b, Op::TbufferLoadFormatD16Xyzw, "tbuffer_load_format_d16_xyzw", B128, [B64, B128, U32]),
    mtbuf(0x0c, Op::TbufferStoreFormatD16X, "tbuffer_store_format_d16_x", B32, [B64, B128, U32]).store(),
    mtbuf(0x0d, Op::TbufferStoreFormatD16Xy, "tbuffer_store_format_d16_xy", B64, [B64, B128, U32]).store(),
    mtbuf(0x0e, Op::TbufferStoreFormatD16Xyz, "tbuffer_store_format_d16_xyz", B96, [B64, B128, U32]).store(),
    mtbuf(0x0f, Op::TbufferStoreFormatD16Xyzw, "tbuffer_store_format_d16_xyzw", B128, [B64, B128, U32]).store(),
];
