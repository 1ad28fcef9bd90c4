//! Sets of cache lines as intervals, and whether a cache keeps all of them.

use wb_hw::Cache;

/// Line numbers, first and the one behind the last, in order and apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(Vec<(u64, u64)>);

impl Lines {
    /// The lines of address ranges (first byte and the byte behind), counted from `origin`.
    pub fn of(ranges: impl IntoIterator<Item = (u64, u64)>, origin: u64, line: u32) -> Lines {
        let shift = line.trailing_zeros();
        let lines = ranges.into_iter().filter(|r| r.1 > r.0).map(|(from, to)| {
            (from.wrapping_sub(origin) >> shift, ((to - 1).wrapping_sub(origin) >> shift) + 1)
        });
        let mut all: Vec<(u64, u64)> = lines.collect();
        all.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in all {
            match joined.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => joined.push((from, to)),
            }
        }
        Lines(joined)
    }

    pub fn union(&self, other: &Lines) -> Lines {
        Lines::of(self.0.iter().chain(&other.0).copied(), 0, 1)
    }

    /// Lines in both.
    pub fn common(&self, other: &Lines) -> u64 {
        let both = |a: &(u64, u64), b: &(u64, u64)| a.1.min(b.1).saturating_sub(a.0.max(b.0));
        self.0.iter().map(|a| other.0.iter().map(|b| both(a, b)).sum::<u64>()).sum()
    }

    pub fn count(&self) -> u64 {
        self.0.iter().map(|r| r.1 - r.0).sum()
    }

    /// In no set of the cache are there more of these lines than it has ways: none of them is ever evicted by another.
    pub fn fit(&self, cache: &Cache) -> bool {
        let count = u64::from((cache.size / cache.line).max(1));
        let ways = u64::from(cache.ways).clamp(1, count);
        let sets = count / ways;
        if self.count() > sets * ways {
            return false;
        }
        let mut used = vec![0u64; sets as usize];
        for &(from, to) in &self.0 {
            let (whole, rest) = ((to - from) / sets, (to - from) % sets);
            used.iter_mut().for_each(|u| *u += whole);
            (0..rest).for_each(|i| used[((from + i) % sets) as usize] += 1);
        }
        used.iter().all(|&u| u <= ways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(size: u32, ways: u32) -> Cache {
        let mut c = wb_hw::preset("gcn3").expect("a preset").caches[0].clone();
        (c.size, c.ways, c.line) = (size, ways, 64);
        c
    }

    #[test]
    fn lines_are_counted_once() {
        let a = Lines::of([(0, 65), (64, 128), (640, 641)], 0, 64);
        assert_eq!(a.count(), 3);
        assert_eq!(a.common(&Lines::of([(100, 700)], 0, 64)), 2);
        assert_eq!(a.union(&Lines::of([(128, 192)], 0, 64)).count(), 4);
        assert_eq!(Lines::of([(1000, 1001)], 1000, 64), Lines(vec![(0, 1)]));
    }

    #[test]
    fn a_set_holds_as_many_as_it_has_ways() {
        let c = cache(64 * 8, 2);
        assert!(Lines::of([(0, 64 * 8)], 0, 64).fit(&c));
        assert!(!Lines::of([(0, 64 * 9)], 0, 64).fit(&c));
        let apart = |n: u64| (0..n).map(|i| (i * 256, i * 256 + 1));
        assert!(Lines::of(apart(2), 0, 64).fit(&c));
        assert!(!Lines::of(apart(3), 0, 64).fit(&c), "all in one set");
    }
}
