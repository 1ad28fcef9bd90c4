//! Row loops compiled three times: for every x86-64 (or other host), for AVX2 with FMA, and for AVX-512, chosen when the program
//! runs. All give the same bits: the compiler never fuses or reorders float operations by itself.

pub(crate) use pulp::NullaryFnOnce;

use pulp::Arch;
use std::sync::LazyLock;

static HOST: LazyLock<Arch> = LazyLock::new(Arch::new);

/// What the host has, or nothing where a test asks for the other version.
#[inline(always)]
fn host() -> Arch {
    #[cfg(test)]
    if let Some(arch) = INSTEAD.get() {
        return arch;
    }
    *HOST
}

#[cfg(test)]
thread_local! {
    /// Run the loops for another host.
    pub(crate) static INSTEAD: std::cell::Cell<Option<Arch>> = const { std::cell::Cell::new(None) };
}

/// The other hosts whose loops can run here.
#[cfg(test)]
pub(crate) fn others() -> Vec<Arch> {
    #[cfg(target_arch = "x86_64")]
    let avx2 = pulp::x86::V3::try_new().map(Arch::V3);
    #[cfg(not(target_arch = "x86_64"))]
    let avx2 = None;
    [Some(Arch::Scalar), avx2].into_iter().flatten().collect()
}

/// Runs `f`, whose loops are compiled for the host's vector instructions. What it calls must be inlined to
/// take part.
#[inline(always)]
pub(crate) fn vector<R>(f: impl FnOnce() -> R) -> R {
    host().dispatch(f)
}

/// The same for what is a type of its own, whose call is inlined however long it is.
#[inline(always)]
pub(crate) fn vector_of<F: NullaryFnOnce>(f: F) -> F::Output {
    host().dispatch(f)
}

/// The host has a fused multiply-add of its own; in [`vector`] `mul_add` is then one instruction.
#[inline(always)]
pub(crate) fn fused() -> bool {
    !matches!(host(), Arch::Scalar)
}
