//! What each work-item computes, alone: no waves, no masks.

use super::work::{ACCUMULATORS, EVERYBODY, WORDS, What, Work, work};
use super::{LANES, Synthetic};

impl Synthetic {
    /// The buffer after the run: the work-items' own words, then their accumulators, item by item within each.
    pub fn expected(&self) -> Vec<u32> {
        let items = self.items as usize;
        // The buffer is filled with its own indices before the run.
        let mut memory: Vec<u32> = (0..(items * 2 * WORDS) as u32).collect();
        let (before, inside) = self.parts();
        let before = work(EVERYBODY, before, self.memory);
        let leaves: Vec<Vec<Work>> =
            (0..1 << self.layers).map(|path| work(path, inside, self.memory)).collect();
        for item in 0..items {
            // Waves are cut from groups, so lanes are numbered from the group's start.
            let lane = item as u32 % self.group % LANES;
            let leaf = &leaves[(lane >> (6 - self.layers)) as usize];
            let mut acc: [u32; ACCUMULATORS as usize] = std::array::from_fn(|k| item as u32 + k as u32);
            for _ in 0..self.trips {
                for step in before.iter().chain(leaf) {
                    let a = &mut acc[step.acc as usize];
                    match step.what {
                        What::Xor(c) => *a ^= c,
                        What::Mad(c) => *a = ((*a & 0xff_ffff) * c).wrapping_add(item as u32),
                        What::Rotate(n) => *a = a.rotate_right(n),
                        What::Load(word) => *a = memory[word * items + item],
                        What::Store(word) => memory[word * items + item] = *a,
                    }
                }
            }
            for (k, a) in acc.into_iter().enumerate() {
                memory[(WORDS + k) * items + item] = a;
            }
        }
        memory
    }
}
