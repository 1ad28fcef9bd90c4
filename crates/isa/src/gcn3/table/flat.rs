//! Flat memory.

use super::super::op::Op;
use super::super::operand::Ty::{B32, B64, B96, B128, None};
use super::entry::{Entry, flat};

#[rustfmt::skip]
pub(super) const FLAT: &[Entry] = &[
    flat(0x10, Op::FlatLoadUbyte, "flat_load_ubyte", B32, [B64, None, None]),
    flat(0x11, Op::FlatLoadSbyte, "flat_load_sbyte", B32, [B64, None, None]),
    flat(0x12, Op::FlatLoadUshort, "flat_load_ushort", B32, [B64, None, None]),
    flat(0x13, Op::FlatLoadSshort, "flat_load_sshort", B32, [B64, None, None]),
    flat(0x14, Op::FlatLoadDword, "flat_load_dword", B32, [B64, None, None]),
    flat(0x15, Op::FlatLoadDwordx2, "flat_load_dwordx2", B64, [B64, None, None]),
    flat(0x16, Op::FlatLoadDwordx3, "flat_load_dwordx3", B96, [B64, None, None]),
    flat(0x17, Op::FlatLoadDwordx4, "flat_load_dwordx4", B128, [B64, None, None]),
    flat(0x18, Op::FlatStoreByte, "flat_store_byte", None, [B64, B32, None]),
    flat(0x1a, Op::FlatStoreShort, "flat_store_short", None, [B64, B32, None]),
    flat(0x1c, Op::FlatStoreDword, "flat_store_dword", None, [B64, B32, None]),
    flat(0x1d, Op::FlatStoreDwordx2, "flat_store_dwordx2", None, [B64, B64, None]),
    flat(0x1e, Op::FlatStoreDwordx3, "flat_store_dwordx3", None, [B64, B96, None]),
    flat(0x1f, Op::FlatStoreDwordx4, "flat_store_dwordx4", None, [B64, B128, None]),
    flat(0x40, Op::FlatAtomicSwap, "flat_atomic_swap", B32, [B64, B32, None]).atomic(),
    flat(0x41, Op::FlatAtomicCmpswap, "flat_atomic_cmpswap", B32, [B64, B64, None]).atomic(),
    flat(0x42, Op::FlatAtomicAdd, "flat_atomic_add", B32, [B64, B32, None]).atomic(),
    flat(0x43, Op::FlatAtomicSub, "flat_atomic_sub", B32, [B64, B32, None]).atomic(),
    flat(0x44, Op::FlatAtomicSmin, "flat_atomic_smin", B32, [B64, B32, None]).atomic(),
    flat(0x45, Op::FlatAtomicUmin, "flat_atomic_umin", B32, [B64, B32, None]).atomic(),
    flat(0x46, Op::FlatAtomicSmax, "flat_atomic_smax", B32, [B64, B32, None]).atomic(),
    flat(0x47, Op::FlatAtomicUmax, "flat_atomic_umax", B32, [B64, B32, None]).atomic(),
    flat(0x48, Op::FlatAtomicAnd, "flat_atomic_and", B32, [B64, B32, None]).atomic(),
    flat(0x49, Op::FlatAtomicOr, "flat_atomic_or", B32, [B64, B32, None]).atomic(),
    flat(0x4a, Op::FlatAtomicXor, "flat_atomic_xor", B32, [B64, B32, None]).atomic(),
    flat(0x4b, Op::FlatAtomicInc, "flat_atomic_inc", B32, [B64, B32, None]).atomic(),
    flat(0x4c, Op::FlatAtomicDec, "flat_atomic_dec", B32, [B64, B32, None]).atomic(),
    flat(0x60, Op::FlatAtomicSwapX2, "flat_atomic_swap_x2", B64, [B64, B64, None]).atomic(),
    flat(0x61, Op::FlatAtomicCmpswapX2, "flat_atomic_cmpswap_x2", B64, [B64, B128, None]).atomic(),
    flat(0x62, Op::FlatAtomicAddX2, "flat_atomic_add_x2", B64, [B64, B64, None]).atomic(),
    flat(0x63, Op::FlatAtomicSubX2, "flat_atomic_sub_x2", B64, [B64, B64, None]).atomic(),
    flat(0x64, Op::FlatAtomicSminX2, "flat_atomic_smin_x2", B64, [B64, B64, None]).atomic(),
    flat(0x65, Op::FlatAtomicUminX2, "flat_atomic_umin_x2", B64, [B64, B64, None]).atomic(),
    flat(0x66, Op::FlatAtomicSmaxX2, "flat_atomic_smax_x2", B64, [B64, B64, None]).atomic(),
    flat(0x67, Op::FlatAtomicUmaxX2, "flat_atomic_umax_x2", B64, [B64, B64, None]).atomic(),
    flat(0x68, Op::FlatAtomicAndX2, "flat_atomic_and_x2", B64, [B64, B64, None]).atomic(),
    flat(0x69, Op::FlatAtomicOrX2, "flat_atomic_or_x2", B64, [B64, B64, None]).atomic(),
    flat(0x6a, Op::FlatAtomicXorX2, "flat_atomic_xor_x2", B64, [B64, B64, None]).atomic(),
    flat(0x6b, Op::FlatAtomicIncX2, "flat_atomic_inc_x2", B64, [B64, B64, None]).atomic(),
    flat(0x6c, Op::FlatAtomicDecX2, "flat_atomic_dec_x2", B64, [B64, B64, None]).atomic(),
];
