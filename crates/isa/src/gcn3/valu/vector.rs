//! Row loops compiled three times: for every x86-64 (or other host), for AVX2 with FMA, and for AVX-512, chosen when the program
//! runs. All give the same bits: the compiler never fuses or reorders float operations by itself.

use pulp::Arch;
use std::sync::LazyLock;

static HOST: LazyLock<Arch> = LazyLock::new(Arch::new);

/// What the host has, or nothing where a test asks for the other version.
#[inline(always)]
fn host() -> Arch {
    #[cfg(test)]
    if PLAIN.get() {
        return Arch::Scalar;
    }
    *HOST
}

#[cfg(test)]
thread_local! {
    /// Run the loops for any host.
    pub(super) static PLAIN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs `f`, whose loops are compiled for the host's vector instructions. What it calls must be inlined to
/// take part.
#[inline(always)]
pub(super) fn vector<R>(f: impl FnOnce() -> R) -> R {
    host().dispatch(f)
}

/// The host has a fused multiply-add of its own; in [`vector`] `mul_add` is then one instruction.
#[inline(always)]
pub(super) fn fused() -> bool {
    !matches!(host(), Arch::Scalar)
}
