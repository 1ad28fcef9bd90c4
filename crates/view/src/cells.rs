//! Time in buckets: of every row and bucket, what most lane-cycles were spent on and how much of them was work. Spans are added
//! in any order. Coarser levels are sums of finer ones.

use wb_trace::spans::{Span, State};
use wb_trace::{NO_PC, Pc};

/// Sums of a bucket.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    /// Lane-cycles by state.
    by: [f32; State::COUNT],
    /// The instruction that most of them belong to, by majority vote.
    pc: Pc,
    votes: f32,
}

impl Default for Sum {
    fn default() -> Self {
        Sum { by: [0.0; State::COUNT], pc: NO_PC, votes: 0.0 }
    }
}

impl Sum {
    fn add(&mut self, state: State, pc: Pc, weight: f32) {
        self.by[state.index()] += weight;
        self.vote(pc, weight);
    }

    fn vote(&mut self, pc: Pc, weight: f32) {
        if self.pc == pc {
            self.votes += weight;
        } else if self.votes < weight {
            (self.pc, self.votes) = (pc, weight - self.votes);
        } else {
            self.votes -= weight;
        }
    }

    fn merge(&mut self, other: &Sum) {
        for (a, b) in self.by.iter_mut().zip(other.by) {
            *a += b;
        }
        self.vote(other.pc, other.votes);
    }

    /// What is shown of it; `whole` are the lane-cycles that a row has in a bucket.
    pub fn cell(&self, whole: f32) -> Option<Cell> {
        let total: f32 = self.by.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let most = (0..State::COUNT).max_by(|&a, &b| self.by[a].total_cmp(&self.by[b]));
        let share = |part: f32| (part / whole.max(1.0) * 255.0).round().clamp(0.0, 255.0) as u8;
        Some(Cell {
            state: most.unwrap_or(0) as u8,
            work: share(self.by[State::WORK.index()]),
            all: share(total),
            pc: self.pc,
        })
    }
}

/// A bucket as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// [`State`] that took most lane-cycles.
    pub state: u8,
    /// Lane-cycles of work, and of running paths, in 255ths of all lanes and cycles of the bucket.
    pub work: u8,
    pub all: u8,
    pub pc: Pc,
}

/// Buckets of equal width from cycle `from` on.
#[derive(Clone, Debug)]
pub struct Buckets {
    pub from: u64,
    pub width: u64,
    pub sums: Vec<Sum>,
}

impl Buckets {
    pub fn new(from: u64, to: u64, most: usize) -> Buckets {
        let width = to.saturating_sub(from).div_ceil(most.max(1) as u64).max(1);
        let count = to.saturating_sub(from).div_ceil(width) as usize;
        Buckets { from, width, sums: vec![Sum::default(); count] }
    }

    pub fn add(&mut self, span: &Span) {
        let end = self.from + self.width * self.sums.len() as u64;
        let (mut at, to) = (span.from.max(self.from), span.to.min(end));
        let lanes = span.mask.count_ones() as f32;
        while at < to {
            let i = (at - self.from) / self.width;
            let next = (self.from + (i + 1) * self.width).min(to);
            self.sums[i as usize].add(span.state, span.pc, (next - at) as f32 * lanes);
            at = next;
        }
    }

    /// Buckets four times as wide.
    pub fn coarser(&self) -> Buckets {
        let sums = self.sums.chunks(4).map(|four| {
            let mut sum = Sum::default();
            four.iter().for_each(|s| sum.merge(s));
            sum
        });
        Buckets { from: self.from, width: self.width * 4, sums: sums.collect() }
    }

    pub fn cells(&self, lanes: u32) -> Vec<Option<Cell>> {
        let whole = self.width as f32 * lanes.max(1) as f32;
        self.sums.iter().map(|s| s.cell(whole)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: u64, to: u64, state: State, pc: Pc) -> Span {
        Span { from, to, mask: 0xf, pc, wave: 0, path: 0, state }
    }

    #[test]
    fn buckets_hold_what_the_spans_say() {
        let mut fine = Buckets::new(0, 1000, 100);
        assert_eq!((fine.width, fine.sums.len()), (10, 100));
        fine.add(&span(0, 5, State::WORK, 1));
        fine.add(&span(5, 40, State::OTHER, 2));
        fine.add(&span(990, 2000, State::WORK, 3));
        let cells = fine.cells(4);
        let first = cells[0].map(|c| (c.work, c.all));
        assert_eq!(first, Some((128, 255)));
        assert_eq!(cells[2].map(|c| (c.state, c.pc, c.work)), Some((State::OTHER.index() as u8, 2, 0)));
        assert_eq!(cells[50], None);
        assert_eq!(cells[99].map(|c| (c.work, c.pc)), Some((255, 3)));
        let coarse = fine.coarser();
        assert_eq!((coarse.width, coarse.sums.len()), (40, 25));
        assert_eq!(coarse.cells(4)[0].map(|c| (c.pc, c.all)), Some((2, 255)));
    }
}
