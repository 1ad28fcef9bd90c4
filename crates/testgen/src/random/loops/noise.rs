//! Pseudo-random choices of a case: the same number gives the same loops on every machine (SplitMix64).

pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x2545_f491_4f6c_dd1d)
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// 0 to `n` − 1.
    pub fn below(&mut self, n: u64) -> u64 {
        self.bits() % n.max(1)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    /// A number near something interesting: small, or at an end of a number line.
    pub fn number(&mut self) -> u32 {
        match self.below(10) {
            0..=5 => self.below(40) as u32,
            6 => (self.below(40) as u32).wrapping_neg(),
            7 => 0x7fff_fff0u32.wrapping_add(self.below(32) as u32),
            8 => self.below(300) as u32,
            _ => self.pick(&[0, 1, 63, 64, 0xffff, 0x10000, 0x7fff_ffff, 0x8000_0000, u32::MAX]),
        }
    }

    /// An amount to step by.
    pub fn step(&mut self) -> u32 {
        match self.below(8) {
            0..=3 => 1,
            4 | 5 => 1 + self.below(7) as u32,
            6 => self.below(64) as u32,
            _ => self.number(),
        }
    }
}
