//! A large address space of which only some ranges exist (Vortex: data, code, stacks, local memories). The ranges lie
//! one after the other in the bytes of device memory; machines without windows see their bytes directly.

use std::ops::Range;

/// Addresses `from..to` are the bytes from `at` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    from: u64,
    to: u64,
    at: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Windows {
    list: Vec<Window>,
}

impl Windows {
    /// Ranges that overlap or touch become one; returns the bytes they need too.
    pub fn new(ranges: &[Range<u64>]) -> (Windows, u64) {
        let mut sorted: Vec<Range<u64>> = ranges.iter().filter(|r| r.start < r.end).cloned().collect();
        sorted.sort_by_key(|r| (r.start, r.end));
        let mut list: Vec<Window> = Vec::new();
        for r in sorted {
            match list.last_mut() {
                Some(last) if r.start <= last.to => last.to = last.to.max(r.end),
                _ => list.push(Window { from: r.start, to: r.end, at: 0 }),
            }
        }
        let mut size = 0;
        for w in &mut list {
            w.at = size;
            size += w.to - w.from;
        }
        (Windows { list }, size)
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What to add to addresses from `addr` on, and up to where.
    #[inline]
    fn find(&self, addr: u64) -> Option<&Window> {
        self.list.iter().find(|w| (w.from..w.to).contains(&addr))
    }

    /// Where `bytes` bytes at `addr` are; none if they do not all exist.
    #[inline]
    pub fn place(&self, addr: u64, bytes: u64) -> Option<u64> {
        let w = self.find(addr)?;
        (bytes <= w.to - addr).then(|| addr - w.from + w.at)
    }

    /// What to add to the addresses of dwords from `low` to `high`, if they are in one window.
    #[inline]
    pub fn shift(&self, (low, high): (u64, u64)) -> Option<u64> {
        let w = self.find(low)?;
        (high + 4 <= w.to).then(|| w.at.wrapping_sub(w.from))
    }

    /// The ranges, for messages.
    pub fn describe(&self) -> String {
        let text = |w: &Window| format!("{:#x} to {:#x}", w.from, w.to);
        self.list.iter().filter(|w| w.from < 1 << 32).map(text).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_find_their_bytes() {
        let (w, size) = Windows::new(&[100..200, 1000..1100, 150..250, 5..5, 1100..1200]);
        assert_eq!(size, 150 + 200);
        assert_eq!(
            (w.place(100, 4), w.place(249, 1), w.place(248, 4), w.place(99, 1)),
            (Some(0), Some(149), None, None)
        );
        assert_eq!((w.place(1000, 200), w.place(1199, 2)), (Some(150), None));
        assert_eq!(w.shift((100, 163)), Some(0u64.wrapping_sub(100)));
        assert_eq!(w.shift((1000, 1007)), Some(150u64.wrapping_sub(1000)));
        assert_eq!(w.shift((190, 246)), Some(0u64.wrapping_sub(100)));
        assert_eq!(w.shift((190, 247)), None, "the last dword is half outside");
        assert_eq!((w.shift((0, 120)), w.shift((120, 1000))), (None, None));
    }
}
