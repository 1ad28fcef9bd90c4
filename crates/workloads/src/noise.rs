//! Seeded numbers for inputs (SplitMix64): the same for every run and host.

/// Which input of a workload: 0 is the suite's own, others have other random numbers in the same places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Input(pub u64);

impl Input {
    /// Numbers for one part of the input, which has a seed of its own.
    pub fn noise(self, seed: u64) -> Noise {
        Noise::new(seed.wrapping_add(self.0.wrapping_mul(0x1_0000_0001)))
    }
}

pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed)
    }

    pub fn u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    pub fn u32(&mut self) -> u32 {
        (self.u64() >> 32) as u32
    }

    /// From 0 up to, not including, `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.u32()) * u64::from(n.max(1))) >> 32) as u32
    }

    /// From `low` up to `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        let unit = (self.u64() >> 40) as f32 / (1u64 << 24) as f32;
        low + (high - low) * unit
    }

    pub fn many<T>(&mut self, n: usize, mut f: impl FnMut(&mut Noise) -> T) -> Vec<T> {
        (0..n).map(|_| f(self)).collect()
    }
}
