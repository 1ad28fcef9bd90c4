//! Which points of a product are taken: all of them, some by chance, or some that use every value of every axis equally often
//! (Latin hypercube). Everything follows from the seed, and nothing is kept: point j is computed from j.

/// How many points of a product are taken, and which.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// All.
    #[default]
    Grid,
    /// So many different ones, by chance.
    Random { count: u64, seed: u64 },
    /// So many, each axis cut into as many equal parts, each part used once.
    Latin { count: u64, seed: u64 },
}

fn mix(mut x: u64) -> u64 {
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// The numbers below `size` in another order: where `at` stands. A Feistel network, walked until it is inside.
pub fn shuffled(at: u64, size: u64, seed: u64) -> u64 {
    if size <= 1 {
        return 0;
    }
    let half = (64 - (size - 1).leading_zeros()).div_ceil(2);
    let mask = (1_u64 << half) - 1;
    let mut x = at;
    loop {
        let (mut left, mut right) = (x >> half, x & mask);
        for round in 0..6 {
            let key = mix(seed.wrapping_add((round + 1_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            (left, right) = (right, left ^ (mix(right ^ key) & mask));
        }
        x = left << half | right;
        if x < size {
            return x;
        }
    }
}

/// Which of an axis's `values` sample `j` of `count` has; `axis` tells axes apart.
pub fn latin(j: u64, count: u64, values: u64, axis: u64, seed: u64) -> u64 {
    let seed = mix(seed ^ mix(axis + 1));
    let stratum = shuffled(j, count, seed);
    // Somewhere inside of its part, so that more values than samples all have a chance.
    let within = (mix(seed ^ mix(j.wrapping_add(0x5851_f42d_4c95_7f2d))) >> 11) as f64 / (1_u64 << 53) as f64;
    let at = (stratum as f64 + within) / count as f64 * values as f64;
    (at as u64).min(values - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_shuffle_has_every_number_once() {
        for size in [1, 2, 3, 7, 64, 65, 1000] {
            let mut seen: Vec<u64> = (0..size).map(|at| shuffled(at, size, 7)).collect();
            let plain: Vec<u64> = (0..size).collect();
            assert!(size < 7 || seen != plain, "{size}: it is in order");
            seen.sort_unstable();
            assert_eq!(seen, plain);
        }
        assert!(shuffled(3, u64::MAX, 1) < u64::MAX);
        let other: Vec<u64> = (0..64).map(|at| shuffled(at, 64, 8)).collect();
        assert_ne!(other, (0..64).map(|at| shuffled(at, 64, 7)).collect::<Vec<_>>());
    }

    #[test]
    fn a_latin_hypercube_uses_every_value_equally_often() {
        for (count, values) in [(12, 4), (10, 4), (5, 5), (3, 10)] {
            for axis in 0..3 {
                let mut uses: BTreeMap<u64, u64> = BTreeMap::new();
                for j in 0..count {
                    *uses.entry(latin(j, count, values, axis, 5)).or_default() += 1;
                }
                let most = count.div_ceil(values) + u64::from(count % values != 0);
                assert!(uses.values().all(|&n| n <= most), "{count} {values}: {uses:?}");
                if count % values == 0 {
                    assert_eq!(uses.len() as u64, values);
                }
            }
        }
        let axes = |axis| (0..50).map(|j| latin(j, 50, 50, axis, 1)).collect::<Vec<_>>();
        assert_ne!(axes(0), axes(1), "axes are shuffled apart");
    }
}
