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

/// Values of the halves in the low 16 bits, by the host's own conversion; `each` is what it does where a host has none for whole rows.
/// A signalling NaN may become quiet.
#[inline(always)]
pub(crate) fn values_of_halves(halves: &[u32; 64], each: impl Fn(u32) -> f32) -> [f32; 64] {
    let mut out = [0.0; 64];
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let chunks = halves.as_chunks::<16>().0.iter();
            for (out, halves) in out.as_chunks_mut::<16>().0.iter_mut().zip(chunks) {
                let narrow = host.avx512f._mm512_cvtepi32_epi16(pulp::cast(*halves));
                *out = pulp::cast(host.avx512f._mm512_cvtph_ps(narrow));
            }
        }
        _ => {
            for (out, half) in out.iter_mut().zip(halves) {
                *out = each(*half);
            }
        }
    }
    out
}

/// The halves nearest to numbers, ties to even, by the host's own conversion; `each` is what it does where a host has none for whole
/// rows. What a NaN gives differs.
#[inline(always)]
pub(crate) fn nearest_halves(values: &[f32; 64], each: impl Fn(f32) -> u32) -> [u32; 64] {
    let mut out = [0; 64];
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let chunks = values.as_chunks::<16>().0.iter();
            for (out, values) in out.as_chunks_mut::<16>().0.iter_mut().zip(chunks) {
                // To nearest, whatever the host is set to.
                let narrow = host.avx512f._mm512_cvtps_ph::<0>(pulp::cast(*values));
                *out = pulp::cast(host.avx512f._mm512_cvtepu16_epi32(narrow));
            }
        }
        _ => {
            for (out, value) in out.iter_mut().zip(values) {
                *out = each(*value);
            }
        }
    }
    out
}

/// `row[from[i]]` for every lane; lanes count modulo 64.
#[inline(always)]
pub(crate) fn picked(row: &[u32; 64], from: &[u32; 64]) -> [u32; 64] {
    let mut out = [0; 64];
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let host = host.avx512f;
            let [a, b, c, d]: [std::arch::x86_64::__m512i; 4] = pulp::cast(*row);
            for (out, from) in out.as_chunks_mut::<16>().0.iter_mut().zip(from.as_chunks::<16>().0) {
                // Five bits choose among two vectors; the sixth one says which two.
                let from = pulp::cast(*from);
                let low = host._mm512_permutex2var_epi32(a, from, b);
                let high = host._mm512_permutex2var_epi32(c, from, d);
                let upper = host._mm512_test_epi32_mask(from, host._mm512_set1_epi32(32));
                *out = pulp::cast(host._mm512_mask_blend_epi32(upper, low, high));
            }
        }
        _ => {
            for (out, from) in out.iter_mut().zip(from) {
                *out = row[*from as usize % 64];
            }
        }
    }
    out
}

/// Sixteen lanes' numbers in memory, which lie `STEP` apart.
pub(crate) type Group<const STEP: usize> = [[[u8; 4]; 16]; STEP];

/// Which numbers make the columns of a [`Group`]: by the first two vectors or, of four, by the last two; and by what these gave and
/// a third one.
const fn columns_of<const STEP: usize>() -> [[[u32; 16]; 2]; STEP] {
    let mut index = [[[0; 16]; 2]; STEP];
    let mut k = 0;
    while k < STEP * 16 {
        let (lane, column) = (k / STEP, k % STEP);
        index[column][0][lane] = k as u32;
        index[column][1][lane] = if k < 32 { lane as u32 } else { k as u32 - 16 };
        k += 1;
    }
    index
}

/// The columns of four groups, one row for each from the column on that each group says. False: nothing was done, because the host
/// has no such exchanges.
#[inline(always)]
pub(crate) fn columns<const STEP: usize>(groups: [(&Group<STEP>, usize); 4], out: &mut [[u32; 64]]) -> bool {
    const { assert!(STEP >= 2 && STEP <= 4) };
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let (host, index) = (host.avx512f, const { &columns_of::<STEP>() });
            for (d, out) in out.iter_mut().enumerate() {
                for (out, (group, first)) in out.as_chunks_mut::<16>().0.iter_mut().zip(groups) {
                    let numbers = |k: usize| -> std::arch::x86_64::__m512i { pulp::cast(group[k % STEP]) };
                    let [index, late] = index[(first + d) % STEP];
                    let two = host._mm512_permutex2var_epi32(numbers(0), pulp::cast(index), numbers(1));
                    *out = pulp::cast(match STEP {
                        2 => two,
                        3 => host._mm512_permutex2var_epi32(two, pulp::cast(late), numbers(2)),
                        _ => {
                            let far =
                                host._mm512_permutex2var_epi32(numbers(2), pulp::cast(index), numbers(3));
                            host._mm512_mask_blend_epi32(0xff00, two, far)
                        }
                    });
                }
            }
            true
        }
        _ => false,
    }
}

/// The dwords of a vector of bytes, lowest byte first, and back.
#[inline(always)]
pub(crate) fn dwords_of(bytes: &[u8; 64]) -> [u32; 16] {
    let dwords: [u32; 16] = pulp::cast(*bytes);
    dwords.map(u32::from_le)
}

#[inline(always)]
pub(crate) fn bytes_of_dwords(dwords: &[u32; 16]) -> [u8; 64] {
    pulp::cast(dwords.map(u32::to_le))
}

/// Every second one of sixteen numbers, from `first` on.
#[inline(always)]
pub(crate) fn every_second(from: &[[u8; 8]; 16], first: usize) -> [u64; 8] {
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            let [a, b]: [std::arch::x86_64::__m512i; 2] = pulp::cast(*from);
            let index: [u64; 8] = std::array::from_fn(|i| (2 * i + first) as u64);
            pulp::cast(host.avx512f._mm512_permutex2var_epi64(a, pulp::cast(index), b))
        }
        _ => std::array::from_fn(|i| u64::from_le_bytes(from[(2 * i + first) % 16])),
    }
}

/// Every second one of sixteen numbers, from `first` on, becomes another.
#[inline(always)]
pub(crate) fn put_every_second(to: &mut [[u8; 8]; 16], first: usize, numbers: &[u64; 8]) {
    match host() {
        #[cfg(target_arch = "x86_64")]
        Arch::V4(host) => {
            const TWICE: [[u64; 8]; 2] = [[0, 0, 1, 1, 2, 2, 3, 3], [4, 4, 5, 5, 6, 6, 7, 7]];
            let host = host.avx512f;
            let mut halves: [std::arch::x86_64::__m512i; 2] = pulp::cast(*to);
            for (half, twice) in halves.iter_mut().zip(TWICE) {
                let new = host._mm512_permutexvar_epi64(pulp::cast(twice), pulp::cast(*numbers));
                *half = host._mm512_mask_blend_epi64(0x55 << first, *half, new);
            }
            *to = pulp::cast(halves);
        }
        _ => {
            for (i, number) in numbers.iter().enumerate() {
                to[(2 * i + first) % 16] = number.to_le_bytes();
            }
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
    fn lanes_are_picked_on_every_host() {
        let row = std::array::from_fn(|lane| (lane as u32).wrapping_mul(0x9e37_79b9));
        for seed in 0..200u32 {
            let from =
                std::array::from_fn(|lane| (lane as u32 + 1).wrapping_mul(2_654_435_761 ^ seed << 8) >> 7);
            for arch in others().into_iter().map(Some).chain([None]) {
                INSTEAD.set(arch);
                let found = vector(|| picked(&row, &from));
                INSTEAD.set(None);
                assert_eq!(found, from.map(|lane: u32| row[lane as usize & 63]), "{arch:?}");
            }
        }
    }

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
