//! Strict policies (SWAS section II-B): if the wave that the rule selects is not ready, the cycle passes. Strict round robin is
//! beside the loose one.

use super::policy::{Policy, View};
use wb_isa::lanes::bits;

/// The oldest wave, ready or not. A wave at a barrier is not in the choice: it would wait for the others for ever.
#[derive(Debug)]
pub struct StrictOldest;

impl Policy for StrictOldest {
    fn pick(&mut self, view: &View) -> Option<u32> {
        let oldest = bits(view.active).min_by_key(|&s| view.age[s as usize])?;
        view.is_ready(oldest).then_some(oldest)
    }
}

/// The same wave while it is ready; then one slot after the other has a cycle, ready or not.
#[derive(Debug)]
pub struct StrictGreedy {
    /// [`u32::MAX`] before the first one.
    selected: u32,
}

impl Default for StrictGreedy {
    fn default() -> Self {
        StrictGreedy { selected: u32::MAX }
    }
}

impl Policy for StrictGreedy {
    fn pick(&mut self, view: &View) -> Option<u32> {
        if !view.is_ready(self.selected) {
            self.selected = self.selected.wrapping_add(1) % view.slots;
        }
        view.is_ready(self.selected).then_some(self.selected)
    }

    fn idle(&mut self, view: &View, cycles: u64) {
        if cycles > 0 {
            let next = u64::from(self.selected.wrapping_add(1));
            self.selected = ((next + cycles - 1) % u64::from(view.slots)) as u32;
        }
    }

    fn memory(&self) -> u64 {
        u64::from(self.selected)
    }

    fn remember(&mut self, memory: u64) {
        self.selected = memory as u32;
    }
}
