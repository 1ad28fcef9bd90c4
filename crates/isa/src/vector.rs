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

/// One bit for each byte that is 1 of bytes that are 0 or 1. The host gathers them in an instruction or two; the compiler would make
/// long multiplications of the general way.
#[inline(always)]
pub(crate) fn bits_of(flags: &[u8; 64]) -> u64 {
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let all = pulp::cast(*flags);
            host.avx512bw._mm512_test_epi8_mask(all, all)
        }
        #[cfg(target_arch = "x86_64")]
        Arch::V3(host) => {
            // The sign bits are what is gathered.
            let halves: [std::arch::x86_64::__m256i; 2] = pulp::cast(*flags);
            let [low, high] = halves.map(|half| {
                let signs = host.avx2._mm256_sub_epi8(host.avx._mm256_setzero_si256(), half);
                u64::from(host.avx2._mm256_movemask_epi8(signs) as u32)
            });
            low | high << 32
        }
        _ => {
            let bits = |bytes: &[u8; 8]| {
                // The product gathers the lowest bits of the bytes in its highest byte.
                u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56
            };
            let eights = flags.as_chunks().0.iter().enumerate();
            eights.fold(0, |mask, (c, bytes)| mask | bits(bytes) << (8 * c))
        }
    }
}

/// The host has a fused multiply-add of its own; in [`vector`] `mul_add` is then one instruction.
#[inline(always)]
pub(crate) fn fused() -> bool {
    !matches!(host(), Arch::Scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_bits_on_every_host() {
        let masks =
            (0..64).map(|bit| 1 << bit).chain([0, u64::MAX, 0x8000_0001_7fff_fffe, 0x0123_4567_89ab_cdef]);
        for mask in masks {
            let flags = std::array::from_fn(|lane| (mask >> lane & 1) as u8);
            for arch in others().into_iter().map(Some).chain([None]) {
                INSTEAD.set(arch);
                assert_eq!(bits_of(&flags), mask);
            }
            INSTEAD.set(None);
        }
    }
}
