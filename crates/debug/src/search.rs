//! The last place of interest before a step: what going backwards looks for while the run goes forwards again.

use crate::code::Place;
use crate::goal::{Goal, Reason};
use std::collections::VecDeque;

pub(crate) struct Search {
    pub goal: Goal,
    /// Places before this step count.
    pub end: u64,
    pub wave: u32,
    /// How deep in calls the wave was there.
    depth: usize,
    found: Option<(u64, Reason)>,
    /// The last steps of the wave.
    steps: VecDeque<u64>,
    /// Where the line that the wave executes began.
    line: Option<(Option<Place>, u64)>,
}

/// Most instructions that one command goes back.
const MOST: u64 = 1 << 20;

impl Search {
    pub fn new(goal: Goal, end: u64, wave: u32, depth: usize) -> Search {
        Search { goal, end, wave, depth, found: None, steps: VecDeque::new(), line: None }
    }

    /// The same up to the end of a launch.
    pub fn whole(self) -> Search {
        Search { end: u64::MAX, ..Search::new(self.goal, u64::MAX, self.wave, self.depth) }
    }

    /// Breakpoints stop, too.
    pub fn wants_breaks(&self) -> bool {
        match self.goal {
            Goal::Continue | Goal::Barrier { .. } | Goal::Diverge { .. } => true,
            Goal::Instructions(_) | Goal::Line { .. } | Goal::Finish | Goal::Launch | Goal::Step(_) => false,
        }
    }

    /// A run forwards would have stopped here.
    pub fn stop(&mut self, step: u64, reason: Reason) {
        self.found = Some((step, reason));
    }

    /// An instruction is due.
    pub fn at(&mut self, step: u64, (wave, _): (u32, usize), place: Option<Place>, depth: usize) {
        if wave != self.wave {
            return;
        }
        match self.goal {
            Goal::Instructions(n) => {
                self.steps.push_back(step);
                if self.steps.len() as u64 > n.clamp(1, MOST) {
                    self.steps.pop_front();
                }
            }
            Goal::Line { over } => {
                let deeper = over && depth > self.depth;
                let same = self.line.is_some_and(|(before, _)| before == place && place.is_some());
                if !same && !deeper {
                    self.line = Some((place, step));
                }
            }
            Goal::Finish if depth < self.depth => self.stop(step, Reason::Step),
            Goal::Finish
            | Goal::Continue
            | Goal::Barrier { .. }
            | Goal::Diverge { .. }
            | Goal::Launch
            | Goal::Step(_) => {}
        }
    }

    pub fn result(&mut self) -> Option<(u64, Reason)> {
        match self.goal {
            Goal::Instructions(_) => self.steps.front().map(|s| (*s, Reason::Step)),
            Goal::Line { .. } => self.line.map(|(_, s)| (s, Reason::Step)),
            Goal::Finish
            | Goal::Continue
            | Goal::Barrier { .. }
            | Goal::Diverge { .. }
            | Goal::Launch
            | Goal::Step(_) => self.found.take(),
        }
    }
}
