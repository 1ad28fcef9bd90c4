//! Greedy schedulers: the same wave while it is ready, then the oldest (GTO) or the next one (GTLRR).

use super::{Policy, View};

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
}
