//! Greedy schedulers: the same wave while it is ready, then the oldest (GTO) or the next one (GTLRR).

use super::policy::{Choice, Policy, View};

#[derive(Debug, Default)]
pub struct GreedyThenOldest {
    last: u32,
    started: bool,
}

impl Policy for GreedyThenOldest {
    fn pick(&mut self, view: &View) -> Option<u32> {
        if !(self.started && view.is_ready(self.last)) {
            self.last = view.oldest_ready()?;
            self.started = true;
        }
        Some(self.last)
    }

    fn choice(&self) -> Choice {
        Choice::AmongReady
    }

    fn memory(&self) -> u64 {
        if self.started { u64::from(self.last) } else { u64::MAX }
    }

    fn remember(&mut self, memory: u64) {
        (self.last, self.started) = (memory as u32, memory != u64::MAX);
    }
}

#[derive(Debug)]
pub struct GreedyThenRoundRobin {
    last: u32,
}

impl Default for GreedyThenRoundRobin {
    fn default() -> Self {
        GreedyThenRoundRobin { last: 63 }
    }
}

impl Policy for GreedyThenRoundRobin {
    fn pick(&mut self, view: &View) -> Option<u32> {
        if !view.is_ready(self.last) {
            self.last = view.next_ready(self.last)?;
        }
        Some(self.last)
    }

    fn choice(&self) -> Choice {
        Choice::AmongReady
    }

    fn memory(&self) -> u64 {
        u64::from(self.last)
    }

    fn remember(&mut self, memory: u64) {
        self.last = memory as u32;
    }
}
