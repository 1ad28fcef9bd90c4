//! An adaptive policy (SWAS section II-B): how greedy it is depends on the progress of the waves. It keeps a wave while that is
//! ready, but not once another ready wave has fallen far behind. The document leaves the rule open; this one is ours.

use super::policy::{Choice, Policy, View};
use wb_isa::lanes::bits;

/// Instructions that the chosen wave may be ahead of the slowest ready one.
pub const LEAD: u32 = 16;

#[derive(Debug, Default)]
pub struct Adaptive {
    last: Option<u32>,
}

impl Policy for Adaptive {
    fn pick(&mut self, view: &View) -> Option<u32> {
        let progress = |slot: u32| view.progress.get(slot as usize).copied().unwrap_or(0);
        let slowest = bits(view.ready).min_by_key(|&s| progress(s))?;
        let stays =
            |last: &u32| view.is_ready(*last) && progress(*last) <= progress(slowest).saturating_add(LEAD);
        let slot = self.last.filter(stays).unwrap_or(slowest);
        self.last = Some(slot);
        Some(slot)
    }

    fn choice(&self) -> Choice {
        Choice::AmongReady
    }

    fn memory(&self) -> u64 {
        self.last.map_or(u64::MAX, u64::from)
    }

    fn remember(&mut self, memory: u64) {
        self.last = (memory != u64::MAX).then_some(memory as u32);
    }
}
