//! What atomics do to the value in memory, the same for FLAT, buffers and LDS.

use super::super::state::mode;
use super::super::valu::{half_from_f64, half_to_f64};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Swap,
    /// The second operand is what memory must hold.
    Cmpswap,
    Add,
    Sub,
    /// Data minus memory.
    Rsub,
    Smin,
    Umin,
    Smax,
    Umax,
    And,
    Or,
    Xor,
    /// Up to data, then from zero.
    Inc,
    /// Down to zero, then from data.
    Dec,
    /// Clears the bits of data, sets those of the second operand.
    Mskor,
    /// Minus data if that much is there, else plus the second operand.
    Wrap,
    /// Compares as floats: −0 is +0, a NaN is nothing.
    CmpswapF,
    MinF,
    MaxF,
    AddF,
    /// Two halves, each rounded on its own.
    PkAddF16,
    PkAddBf16,
}

impl Kind {
    /// By the operation number of FLAT and MUBUF.
    pub fn of_memory(code: u16) -> Option<Kind> {
        use Kind::*;
        const KINDS: [Kind; 19] = [
            Swap, Cmpswap, Add, Sub, Smin, Umin, Smax, Umax, And, Or, Xor, Inc, Dec, AddF, PkAddF16, AddF,
            MinF, MaxF, PkAddBf16,
        ];
        KINDS.get(usize::from(code & 0x1f)).copied()
    }

    /// By the operation number of DS; only those on one place.
    pub fn of_ds(code: u16) -> Option<Kind> {
        use Kind::*;
        Some(match code & 0x1f {
            0x00 => Add,
            0x01 => Sub,
            0x02 => Rsub,
            0x03 => Inc,
            0x04 => Dec,
            0x05 => Smin,
            0x06 => Smax,
            0x07 => Umin,
            0x08 => Umax,
            0x09 => And,
            0x0a => Or,
            0x0b => Xor,
            0x0c => Mskor,
            0x0d => Swap,
            0x10 => Cmpswap,
            0x11 => CmpswapF,
            0x12 => MinF,
            0x13 => MaxF,
            0x14 => Wrap,
            0x15 | 0x1c => AddF,
            0x17 => PkAddF16,
            0x18 => PkAddBf16,
            _ => return None,
        })
    }
}

/// The new value. `data` is the operand, `second` the other operand of the kinds that have one.
#[inline(always)]
pub(super) fn apply(kind: Kind, wide: bool, old: u64, data: u64, second: u64, mode: u32) -> u64 {
    if wide {
        return apply64(kind, old, data, second);
    }
    apply32(kind, old as u32, data as u32, second as u32, mode).into()
}

macro_rules! integer {
    ($name:ident, $unsigned:ty, $signed:ty, $float:expr) => {
        #[inline(always)]
        fn $name(kind: Kind, old: $unsigned, data: $unsigned, second: $unsigned, mode: u32) -> $unsigned {
            match kind {
                Kind::Swap => data,
                Kind::Cmpswap if old == second => data,
                Kind::Cmpswap => old,
                Kind::Add => old.wrapping_add(data),
                Kind::Sub => old.wrapping_sub(data),
                Kind::Rsub => data.wrapping_sub(old),
                Kind::Smin => (old as $signed).min(data as $signed) as $unsigned,
                Kind::Umin => old.min(data),
                Kind::Smax => (old as $signed).max(data as $signed) as $unsigned,
                Kind::Umax => old.max(data),
                Kind::And => old & data,
                Kind::Or => old | data,
                Kind::Xor => old ^ data,
                Kind::Inc if old >= data => 0,
                Kind::Inc => old + 1,
                Kind::Dec if old == 0 || old > data => data,
                Kind::Dec => old - 1,
                Kind::Mskor => old & !data | second,
                Kind::Wrap if old >= data => old - data,
                Kind::Wrap => old.wrapping_add(second),
                Kind::CmpswapF | Kind::MinF | Kind::MaxF | Kind::AddF | Kind::PkAddF16 | Kind::PkAddBf16 => {
                    $float(kind, old, data, second, mode)
                }
            }
        }
    };
}

integer!(apply32, u32, i32, float32);
integer!(integer64, u64, i64, float64);

#[inline(always)]
fn apply64(kind: Kind, old: u64, data: u64, second: u64) -> u64 {
    integer64(kind, old, data, second, 0)
}

#[inline(always)]
fn float32(kind: Kind, old: u32, data: u32, second: u32, mode: u32) -> u32 {
    let (a, b) = (f32::from_bits(old), f32::from_bits(data));
    let replaced = match kind {
        Kind::CmpswapF => a == f32::from_bits(second),
        Kind::MinF => b < a,
        Kind::MaxF => b > a,
        Kind::PkAddF16 => return halves(old, data, add_f16),
        Kind::PkAddBf16 => return halves(old, data, add_bf16),
        _ => return add_f32(old, data, mode),
    };
    if replaced { data } else { old }
}

/// A sum of which the host does not choose the NaN: that of the first operand that is one, quiet, or the positive one.
#[inline(always)]
fn add_f32(a: u32, b: u32, mode: u32) -> u32 {
    let is_nan = |v: u32| v & 0x7fff_ffff > 0x7f80_0000;
    let sum = (f32::from_bits(flush(a, mode)) + f32::from_bits(flush(b, mode))).to_bits();
    let given = if is_nan(a) { a } else { b };
    let nan = if is_nan(given) { given | 1 << 22 } else { 0x7fc0_0000 };
    if is_nan(sum) { nan } else { flush(sum, mode) }
}

#[inline(always)]
fn add_f64(a: u64, b: u64) -> u64 {
    let is_nan = |v: u64| v & u64::MAX >> 1 > 0x7ff << 52;
    let sum = (f64::from_bits(a) + f64::from_bits(b)).to_bits();
    let given = if is_nan(a) { a } else { b };
    let nan = if is_nan(given) { given | 1 << 51 } else { 0x7ff8 << 48 };
    if is_nan(sum) { nan } else { sum }
}

/// Both halves on their own.
fn halves(a: u32, b: u32, f: fn(u32, u32) -> u32) -> u32 {
    f(a & 0xffff, b & 0xffff) | f(a >> 16, b >> 16) << 16
}

/// The sum of two halves is exact in f64, and rounded once.
fn add_f16(a: u32, b: u32) -> u32 {
    let sum = half_to_f64(a as u16) + half_to_f64(b as u16);
    if sum.is_nan() { 0x7e00 } else { half_from_f64(sum, false).into() }
}

/// The sum of two bf16 is rounded to f32 first, which has more than twice as many bits and two more.
fn add_bf16(a: u32, b: u32) -> u32 {
    let sum = f32::from_bits(a << 16) + f32::from_bits(b << 16);
    let bits = sum.to_bits();
    if sum.is_nan() { 0x7fc0 } else { (bits + 0x7fff + (bits >> 16 & 1)) >> 16 }
}

/// Denormals become zero, with their sign, unless MODE keeps them.
#[inline(always)]
fn flush(bits: u32, mode: u32) -> u32 {
    let small = bits & 0x7f80_0000 == 0 && mode & mode::F32_DENORMALS == 0;
    if small { bits & 1 << 31 } else { bits }
}

#[inline(always)]
fn float64(kind: Kind, old: u64, data: u64, second: u64, _mode: u32) -> u64 {
    let (a, b) = (f64::from_bits(old), f64::from_bits(data));
    let replaced = match kind {
        Kind::CmpswapF => a == f64::from_bits(second),
        Kind::MinF => b < a,
        Kind::MaxF => b > a,
        _ => return add_f64(old, data),
    };
    if replaced { data } else { old }
}
