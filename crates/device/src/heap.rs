//! Which ranges of device memory are in use: a first-fit allocator whose free blocks grow together again. Lowest
//! address first, so that the same calls always give the same addresses. Behind every block there is a gap that belongs to
//! nobody, so that running over the end of a buffer does not silently hit the next one.

use std::collections::{BTreeMap, VecDeque};

/// Every block starts at a multiple of this, as HIP promises of `hipMalloc`.
pub const ALIGN: u64 = 256;

/// Bytes behind every block that nobody gets while there is room elsewhere. A multiple of what a way of any usual cache
/// holds: lines keep their sets, so times are those of blocks without gaps.
pub const GAP: u64 = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Block {
    /// As asked for, and as taken from what is free.
    bytes: u64,
    span: u64,
}

impl Block {
    fn rounded(self) -> u64 {
        self.bytes.max(1).next_multiple_of(ALIGN)
    }
}

#[derive(Clone, Debug)]
pub struct Heap {
    /// First address → bytes; neighbours are one block.
    free: BTreeMap<u64, u64>,
    /// By first address.
    used: BTreeMap<u64, Block>,
    /// Bytes of all blocks, rounded up, without gaps.
    taken: u64,
    first: u64,
    end: u64,
    /// Blocks that were given back, the oldest first, with their spans: nobody gets them yet.
    waiting: VecDeque<(u64, u64)>,
    /// Bytes of the spans that wait, and how many may.
    held: u64,
    hold: u64,
}

impl Heap {
    /// All addresses `first..end` are free; both are cut to whole blocks.
    pub fn new(first: u64, end: u64) -> Heap {
        let first = first.next_multiple_of(ALIGN);
        let end = (end / ALIGN * ALIGN).max(first);
        let free = (end > first).then_some((first, end - first)).into_iter().collect();
        Heap { free, used: BTreeMap::new(), taken: 0, first, end, waiting: VecDeque::new(), held: 0, hold: 0 }
    }

    /// From now on blocks that are given back wait, up to so many bytes of them, before somebody else gets them: who still uses
    /// one is then found out.
    pub fn hold_back(&mut self, bytes: u64) {
        self.hold = bytes;
    }

    /// A block of at least `bytes` bytes; none if no gap is large enough.
    pub fn alloc(&mut self, bytes: u64) -> Option<u64> {
        let size = bytes.max(1).checked_next_multiple_of(ALIGN)?;
        let fits = |span: u64| self.free.values().any(|gap| *gap >= span);
        if !self.waiting.is_empty() && !size.checked_add(GAP).is_some_and(fits) {
            self.release(0);
        }
        let room = |span: u64| self.free.iter().find(|(_, gap)| **gap >= span).map(|(a, g)| (*a, *g, span));
        // A device that is nearly full does without gaps.
        let (at, gap, span) = size.checked_add(GAP).and_then(room).or_else(|| room(size))?;
        self.free.remove(&at);
        if gap > span {
            self.free.insert(at + span, gap - span);
        }
        self.used.insert(at, Block { bytes, span });
        self.taken += size;
        Some(at)
    }

    /// The block at a certain address, as [`Heap::alloc`] would have it; false if something is in its way. Blocks that lie close
    /// together are taken from the last to the first.
    pub fn take(&mut self, at: u64, bytes: u64) -> bool {
        let Some(size) = bytes.max(1).checked_next_multiple_of(ALIGN) else { return false };
        self.release(0);
        let Some((&from, &gap)) = self.free.range(..=at).next_back() else { return false };
        let end = from + gap;
        if !at.is_multiple_of(ALIGN) || at.checked_add(size).is_none_or(|behind| behind > end) {
            return false;
        }
        let span = (size + GAP).min(end - at);
        self.free.remove(&from);
        if at > from {
            self.free.insert(from, at - from);
        }
        if at + span < end {
            self.free.insert(at + span, end - at - span);
        }
        self.used.insert(at, Block { bytes, span });
        self.taken += size;
        true
    }

    /// Gives a block back; false if none starts there.
    pub fn free(&mut self, at: u64) -> bool {
        self.give_back(at, self.hold)
    }

    /// The same, and who asks next may get it.
    pub fn free_now(&mut self, at: u64) -> bool {
        self.give_back(at, 0)
    }

    fn give_back(&mut self, at: u64, hold: u64) -> bool {
        let Some(block) = self.used.remove(&at) else { return false };
        self.taken -= block.rounded();
        if hold == 0 {
            self.join(at, block.span);
            return true;
        }
        self.waiting.push_back((at, block.span));
        self.held += block.span;
        self.release(hold);
        true
    }

    /// Blocks that waited longest are free, until no more than `hold` bytes wait.
    fn release(&mut self, hold: u64) {
        while self.held > hold
            && let Some((at, span)) = self.waiting.pop_front()
        {
            self.held -= span;
            self.join(at, span);
        }
    }

    /// A range is free; it grows together with its neighbours.
    fn join(&mut self, at: u64, mut size: u64) {
        let mut from = at;
        if let Some((&before, &gap)) = self.free.range(..at).next_back()
            && before + gap == at
        {
            self.free.remove(&before);
            (from, size) = (before, size + gap);
        }
        if let Some(gap) = self.free.remove(&(from + size)) {
            size += gap;
        }
        self.free.insert(from, size);
    }

    /// The block that holds an address: first address and bytes asked for.
    pub fn block(&self, addr: u64) -> Option<(u64, u64)> {
        let (&at, &Block { bytes, .. }) = self.used.range(..=addr).next_back()?;
        (addr - at < bytes.max(1)).then_some((at, bytes))
    }

    /// Bytes that are free, in blocks of any size.
    pub fn available(&self) -> u64 {
        self.end - self.first - self.taken
    }

    /// Bytes in use and free together.
    pub fn total(&self) -> u64 {
        self.end - self.first
    }

    /// Everything from here on is free.
    pub fn used_end(&self) -> u64 {
        match self.free.last_key_value() {
            Some((&at, &gap)) if at + gap == self.end => at,
            _ => self.end,
        }
    }

    /// First address and bytes of each block in use; those of no bytes have one.
    pub fn blocks_in_use(&self) -> impl Iterator<Item = (u64, u64)> {
        self.used.iter().map(|(at, block)| (*at, block.bytes.max(1)))
    }

    /// How many blocks are in use.
    pub fn blocks(&self) -> usize {
        self.used.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_wait_if_told_to() {
        let mut heap = Heap::new(0, 8 * GAP);
        heap.hold_back(3 * GAP);
        let a = heap.alloc(256).expect("room");
        assert!(heap.free(a) && !heap.free(a) && heap.block(a).is_none(), "a block is freed once");
        let b = heap.alloc(256).expect("room");
        assert_ne!(a, b, "the first one waits");
        assert!(heap.free_now(b));
        assert_eq!(heap.alloc(256), Some(b));
        assert_eq!(heap.available(), heap.total() - 256);
        let all = heap.alloc(5 * GAP).expect("what waits is given to who needs it");
        assert!(heap.free(b) && heap.free(all));
        assert_eq!(heap.alloc(7 * GAP), Some(0), "all of it");
    }

    #[test]
    fn blocks_do_not_overlap_and_grow_together_again() {
        let mut heap = Heap::new(1000, 1024 + 10 * 256);
        assert_eq!(heap.total(), 10 * 256);
        let a = heap.alloc(1).expect("a");
        let b = heap.alloc(256).expect("b");
        let c = heap.alloc(257).expect("c");
        assert_eq!((a, b, c), (1024, 1024 + 256, 1024 + 512));
        assert_eq!(heap.used_end(), c + 512);
        assert!(heap.free(b) && !heap.free(b), "a block is freed once");
        assert_eq!(heap.alloc(0), Some(b), "the lowest gap is taken, also for nothing");
        assert_eq!(heap.alloc(7 * 256), None, "six blocks are left");
        assert_eq!(heap.block(c + 256), Some((c, 257)));
        assert_eq!(heap.block(c + 257), None, "behind the end");
        assert!(heap.free(a) && heap.free(c) && heap.free(b));
        assert_eq!((heap.available(), heap.used_end(), heap.blocks()), (10 * 256, 1024, 0));
        assert_eq!(heap.alloc(10 * 256), Some(1024), "one block again");
        assert_eq!(heap.alloc(1), None);
    }

    #[test]
    fn blocks_have_gaps_between_them_while_there_is_room() {
        let mut heap = Heap::new(0, 4 * GAP);
        let [a, b, c] = [300, 1, GAP].map(|n| heap.alloc(n).expect("room"));
        assert_eq!((a, b), (0, 512 + GAP));
        assert_eq!(c, b + 256 + GAP, "the last one fits without a gap only");
        assert_eq!(heap.available(), 4 * GAP - 512 - 256 - GAP);
        assert!(heap.free(b));
        assert_eq!(heap.alloc(256), Some(b), "a hole takes what was there, with its gap");
        assert!(heap.free(a) && heap.free(b) && heap.free(c));
        assert_eq!((heap.available(), heap.alloc(4 * GAP)), (4 * GAP, Some(0)));
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        let mut heap = Heap::new(0, 4096);
        assert_eq!(heap.alloc(u64::MAX), None);
        assert_eq!(Heap::new(100, 10).alloc(1), None);
    }

    /// Blocks put back where they were leave the same room: the next ones go to the same places.
    #[test]
    fn blocks_at_their_addresses_leave_the_same_room() {
        let mut state = 5u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3);
            (state >> 33) % below
        };
        for _ in 0..50 {
            let mut heap = Heap::new(0x1000, 1 << 24);
            for _ in 0..random(60) {
                heap.alloc(random(50_000));
                let some = heap.blocks_in_use().nth(random(80) as usize);
                if let Some((at, _)) = some {
                    heap.free(at);
                }
            }
            let mut again = Heap::new(0x1000, 1 << 24);
            let blocks: Vec<(u64, u64)> = heap.blocks_in_use().collect();
            for &(at, bytes) in blocks.iter().rev() {
                assert!(again.take(at, bytes), "{at:#x}, {bytes} bytes");
            }
            assert!(blocks.iter().all(|(at, bytes)| !again.take(*at, *bytes)), "taken twice");
            for _ in 0..20 {
                let bytes = random(100_000);
                assert_eq!(heap.alloc(bytes), again.alloc(bytes));
            }
        }
        let mut heap = Heap::new(0x1000, 0x9000);
        assert!(!heap.take(0x1001, 1) && !heap.take(0x800, 1) && !heap.take(0x8f00, 300));
        assert!(heap.take(0x8f00, 256) && !heap.take(0x8000, 0x1000));
    }
}
