//! The few numbers of a launch that the table shows. Statistics of every instruction would need a listing of the
//! program for each launch, which takes longer than short kernels.

use serde::{Deserialize, Serialize};
use std::any::Any;
use wavebound::trace::{Event, Fork, Kind, Mask, Observer, SlotTable};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    pub instructions: u64,
    /// Active lanes summed over all instructions.
    pub lanes: u64,
    /// Lanes of the path's wave that were alive and had to sit out.
    pub lost: u64,
    /// Paths that got a context of their own, and splits for which there was none.
    pub splits: u64,
    pub refused: u64,
}

/// Lanes that live in a slot, and the ones that left for paths of their own.
#[derive(Default)]
struct Slot {
    live: Mask,
    paths: Vec<(u16, Mask)>,
}

impl Slot {
    /// The lanes a path may use.
    fn lanes(&self, path: u16) -> Mask {
        match self.paths.iter().find(|p| p.0 == path) {
            Some((_, lanes)) => lanes & self.live,
            None => self.paths.iter().fold(self.live, |rest, (_, lanes)| rest & !lanes),
        }
    }
}

#[derive(Default)]
pub struct Counter {
    pub counts: Counts,
    slots: SlotTable<Slot>,
}

impl Observer for Counter {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            let slot = self.slots.get_mut(event.core, event.slot);
            match event.kind {
                Kind::Issue { .. } => {
                    let active = u64::from(event.mask.count_ones());
                    let lanes = u64::from(slot.lanes(event.path).count_ones());
                    self.counts.instructions += 1;
                    self.counts.lanes += active;
                    self.counts.lost += lanes.saturating_sub(active);
                }
                Kind::WaveStart { lanes } => *slot = Slot { live: lanes, paths: Vec::new() },
                Kind::Mask { live, .. } => slot.live = live,
                Kind::PathStart { lanes } => {
                    slot.paths.push((event.path, lanes));
                    self.counts.splits += 1;
                }
                Kind::PathEnd { .. } => slot.paths.retain(|p| p.0 != event.path),
                Kind::SplitRefused { .. } => self.counts.refused += 1,
                _ => {}
            }
        }
    }

    fn fork(&self) -> Option<Box<dyn Fork>> {
        Some(Box::new(Counter::default()))
    }

    fn join(&mut self, fork: Box<dyn Any>) {
        if let Ok(fork) = fork.downcast::<Counter>() {
            let Counts { instructions, lanes, lost, splits, refused } = fork.counts;
            self.counts.instructions += instructions;
            self.counts.lanes += lanes;
            self.counts.lost += lost;
            self.counts.splits += splits;
            self.counts.refused += refused;
        }
    }
}
