//! Who is older among the waves of a scheduler. "Oldest first" asks for it in nearly every cycle, and it changes only where a wave
//! starts: so it is kept, not searched.

use wb_isa::lanes::bits;

/// Launch order of the waves in up to 64 slots, smaller = older; of two that are alike the one in the smaller slot is older.
#[derive(Clone, Debug)]
pub struct Ages {
    age: Vec<u64>,
    /// By slot, the slots whose wave is older. Right for slots that hold a wave.
    older: [u64; 64],
}

impl Ages {
    /// Of `slots` slots, at most 64.
    pub fn new(slots: usize) -> Ages {
        Ages { age: vec![0; slots], older: [0; 64] }
    }

    /// A wave launched as number `age` takes a slot; `held` are the slots that hold a wave.
    pub fn set(&mut self, slot: usize, age: u64, held: u64) {
        self.age[slot] = age;
        let bit = 1 << slot;
        let mut older = 0;
        for other in bits(held & !bit).map(|other| other as usize) {
            if (self.age[other], other) < (age, slot) {
                older |= 1 << other;
                self.older[other] &= !bit;
            } else {
                self.older[other] |= bit;
            }
        }
        self.older[slot] = older;
    }

    /// By slot.
    pub fn list(&self) -> &[u64] {
        &self.age
    }

    /// The slot whose wave is oldest among some that hold one.
    #[inline(always)]
    pub fn oldest(&self, among: u64) -> Option<u32> {
        if among == 0 {
            return None;
        }
        let mut slot = among.trailing_zeros();
        loop {
            let older = among & self.older[slot as usize & 63];
            if older == 0 {
                return Some(slot);
            }
            slot = older.trailing_zeros();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::oldest;

    /// Waves come and go; whoever is asked for is who a search finds.
    #[test]
    fn as_a_search() {
        let mut state = 3u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        for slots in [1, 2, 7, 10, 32, 64] {
            let (mut ages, mut held, mut age) = (Ages::new(slots), 0u64, 0);
            for _ in 0..3000 {
                let slot = random(slots as u64) as usize;
                if held >> slot & 1 == 1 && random(2) == 0 {
                    held &= !(1 << slot);
                } else {
                    // Now and then two are alike, or one comes that is older than others.
                    age += random(3);
                    ages.set(slot, age.saturating_sub(random(20) * random(2)), held);
                    held |= 1 << slot;
                }
                let among = held & (random(u64::MAX) << 31 ^ random(u64::MAX));
                assert_eq!(ages.oldest(among), oldest(among, ages.list()), "{among:#b}");
            }
        }
    }
}
