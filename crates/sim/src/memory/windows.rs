//! A large address space of which only some ranges exist (Vortex: data, code, stacks, local memories). The ranges lie
//! one after the other in the bytes of device memory; machines without windows see their bytes directly.

use std::ops::Range;
use wb_isa::Mask;
use wb_isa::lanes::{CHUNK, Row};

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

    /// The base from which `offset` reaches the dwords of all `lanes`, if they are in one window.
    #[inline]
    pub fn base(&self, base: u64, offset: &Row<u32>, lanes: Mask) -> Option<u64> {
        if lanes == 0 {
            return Some(0);
        }
        let first = offset[lanes.trailing_zeros() as usize & 63];
        let (mut low, mut high) = ([first; CHUNK], [first; CHUNK]);
        for (c, chunk) in offset.as_chunks::<CHUNK>().0.iter().enumerate() {
            let active = (lanes >> (c * CHUNK)) as u8;
            if active == 0 {
                continue;
            }
            for i in 0..CHUNK {
                let v = if active & 1 << i != 0 { chunk[i] } else { first };
                low[i] = low[i].min(v);
                high[i] = high[i].max(v);
            }
        }
        let low = base + u64::from(low.into_iter().min().unwrap_or(first));
        let high = base + u64::from(high.into_iter().max().unwrap_or(first));
        let w = self.find(low)?;
        (high + 4 <= w.to).then(|| base.wrapping_sub(w.from).wrapping_add(w.at))
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
        let row = |f: fn(u32) -> u32| -> Row<u32> { std::array::from_fn(|i| f(i as u32)) };
        assert_eq!(w.base(0, &row(|i| 100 + i), !0), Some(0u64.wrapping_sub(100)));
        assert_eq!(w.base(900, &row(|i| 100 + i), 0xff), Some(900u64.wrapping_sub(1000).wrapping_add(150)));
        assert_eq!(w.base(0, &row(|i| 190 + i), !0), None, "the last dword is half outside");
        assert_eq!(w.base(0, &row(|i| if i == 3 { 0 } else { 120 }), !0), None);
        assert_eq!(w.base(0, &row(|i| if i == 3 { 0 } else { 120 }), !8), Some(0u64.wrapping_sub(100)));
    }
}
