//! Which parts of device memory programs may touch: what the host has reserved. One bit for each granule of 256 bytes, to
//! which the host's allocator aligns, so that the question costs a load from a small table and a shift. Memory without a
//! guard (machines without allocations) is open everywhere.

/// Bytes that are open or closed together.
pub const GRANULE: u64 = 256;

#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// One bit per granule; empty if there is no guard.
    open: Vec<u64>,
    /// The first granule.
    first: u64,
}

impl Guard {
    /// Everything from `origin` on, `size` bytes, is closed.
    pub fn new(origin: u64, size: u64) -> Guard {
        Guard { open: vec![0; Guard::words(size) as usize], first: origin / GRANULE }
    }

    fn words(size: u64) -> u64 {
        (size.div_ceil(GRANULE) + 1).div_ceil(64)
    }

    /// What a guard of that much memory takes of the host.
    pub fn host_bytes(size: u64) -> u64 {
        Guard::words(size) * size_of::<u64>() as u64
    }

    fn place(&self, addr: u64) -> (usize, u64) {
        let granule = (addr / GRANULE).wrapping_sub(self.first);
        ((granule / 64) as usize, granule % 64)
    }

    /// The words that have the granules of a range, and which of their bits.
    fn masks(first: u64, addr: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> {
        let last = addr.saturating_add(bytes.max(1) - 1) / GRANULE;
        let mut granule = addr / GRANULE;
        std::iter::from_fn(move || {
            let left = (last + 1).checked_sub(granule).filter(|left| *left > 0)?;
            let at = granule.wrapping_sub(first);
            // Up to the end of the word at once.
            let count = (64 - at % 64).min(left);
            granule += count;
            Some(((at / 64) as usize, (u64::MAX >> (64 - count)) << (at % 64)))
        })
    }

    /// Opens or closes the granules of a range.
    pub fn set(&mut self, addr: u64, bytes: u64, open: bool) {
        if self.open.is_empty() || bytes == 0 {
            return;
        }
        for (word, mask) in Guard::masks(self.first, addr, bytes) {
            match self.open.get_mut(word) {
                Some(word) if open => *word |= mask,
                Some(word) => *word &= !mask,
                None => return,
            }
        }
    }

    /// What is open: first byte and the byte behind, in order. None if nothing is guarded.
    pub fn ranges(&self) -> Option<Vec<(u64, u64)>> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (word, bits) in self.open.iter().enumerate().filter(|w| *w.1 != 0) {
            for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
                let at = (self.first + word as u64 * 64 + bit) * GRANULE;
                match found.last_mut() {
                    Some(last) if last.1 == at => last.1 += GRANULE,
                    _ => found.push((at, at + GRANULE)),
                }
            }
        }
        (!self.open.is_empty()).then_some(found)
    }

    #[inline(always)]
    fn is_open(&self, addr: u64) -> bool {
        let (word, bit) = self.place(addr);
        self.open.get(word).is_some_and(|w| w >> bit & 1 == 1)
    }

    /// Whether an access of at most a granule may be made; also if nothing is guarded.
    #[inline(always)]
    pub fn allows(&self, addr: u64, bytes: u32) -> bool {
        if self.open.is_empty() {
            return true;
        }
        let last = addr.wrapping_add(u64::from(bytes.max(1)) - 1);
        self.is_open(addr) && ((addr ^ last) < GRANULE || self.is_open(last))
    }

    /// Whether all of so many bytes may be touched; also if nothing is guarded.
    #[inline]
    pub fn allows_all(&self, addr: u64, bytes: u64) -> bool {
        if self.open.is_empty() {
            return true;
        }
        let (word, bit) = self.place(addr);
        let (end, last) = self.place(addr.saturating_add(bytes.max(1) - 1));
        if word == end {
            // The usual case: one word has the bits of all granules.
            let mask = (u64::MAX >> (63 - (last - bit))) << bit;
            return self.open.get(word).is_some_and(|w| w & mask == mask);
        }
        self.allows_words(addr, bytes)
    }

    /// The same, word by word.
    #[inline(never)]
    fn allows_words(&self, addr: u64, bytes: u64) -> bool {
        Guard::masks(self.first, addr, bytes)
            .all(|(word, mask)| self.open.get(word).is_some_and(|w| w & mask == mask))
    }

    /// Bytes from the end of what lies before an address, and to the start of what lies behind it.
    pub fn neighbours(&self, addr: u64) -> (Option<u64>, Option<u64>) {
        let at = (addr / GRANULE).saturating_sub(self.first);
        let (word, bit) = ((at / 64) as usize, at % 64);
        let start = |granule: u64| (self.first + granule) * GRANULE;
        let here = self.open.get(word).copied().unwrap_or(0);
        let below = here & !(u64::MAX << bit);
        let before = std::iter::once((word, below))
            .chain((0..word.min(self.open.len())).rev().map(|w| (w, self.open[w])))
            .find(|(_, bits)| *bits != 0)
            .map(|(w, bits)| start(w as u64 * 64 + 64 - u64::from(bits.leading_zeros())));
        let above = here & (u64::MAX << bit);
        let behind = std::iter::once((word, above))
            .chain((word + 1..self.open.len()).map(|w| (w, self.open[w])))
            .find(|(_, bits)| *bits != 0)
            .map(|(w, bits)| start(w as u64 * 64 + u64::from(bits.trailing_zeros())));
        (before.map(|end| addr.saturating_sub(end)), behind.map(|start| start.saturating_sub(addr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_open_may_be_touched() {
        // The first byte need not be aligned: mapped memory lies anywhere.
        let origin = 0x7f12_3456_7890;
        let mut g = Guard::new(origin, 1 << 20);
        let at = |n: u64| (origin / GRANULE + 1 + n) * GRANULE;
        g.set(at(10), 256 * 200, true);
        let all = |g: &Guard| (0..4000).filter(|&n| g.allows(at(n), 4)).map(|n| n as u32).collect::<Vec<_>>();
        assert_eq!(all(&g), (10..210).collect::<Vec<_>>());
        assert!(g.allows(at(210) - 4, 4) && !g.allows(at(210) - 2, 4), "the last byte counts, too");
        assert!(!g.allows(at(10) - 2, 4) && !g.allows(at(10) - 1, 1));
        g.set(at(74), 1, false);
        assert_eq!(all(&g).len(), 199);
        assert_eq!(g.ranges(), Some(vec![(at(10), at(74)), (at(75), at(210))]));
        assert!(!g.allows(at(73) + 254, 4) && !g.allows(0, 4) && !g.allows(u64::MAX, 4));
        assert_eq!(g.neighbours(at(74) + 5), (Some(5), Some(251)));
        assert_eq!(g.neighbours(at(300)), (Some(90 * 256), None));
        assert_eq!(g.neighbours(at(3)), (None, Some(7 * 256)));
        g.set(at(0), 1 << 19, false);
        assert!(all(&g).is_empty());
        assert_eq!(g.neighbours(at(9)), (None, None));
    }

    #[test]
    fn ranges_in_one_word_and_in_several() {
        let origin = 0x7f12_3456_7890;
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut g = Guard::new(origin, 1 << 17);
        for _ in 0..20 {
            g.set(origin + random(1 << 17), random(20_000), true);
        }
        let mut told = [0; 2];
        for _ in 0..5000 {
            let (addr, bytes) = (origin - 1000 + random(1 << 17), random(8000) / (1 + random(20)));
            let all = (addr..addr + bytes.max(1)).all(|a| g.allows(a, 1));
            assert_eq!(g.allows_all(addr, bytes), all, "{addr:#x} {bytes}");
            told[usize::from(all)] += 1;
        }
        assert!(told.iter().all(|n| *n > 500), "{told:?}");
    }

    #[test]
    fn without_a_guard_everything_is_open() {
        let mut g = Guard::default();
        g.set(0, 100, false);
        assert!(g.allows(0, 4) && g.allows(u64::MAX - 8, 8));
    }
}
