//! GUPPY's dispatch unit (docs/guppy.md, Machine): it owns its slots and looks at one wave per clock. A stalled
//! or empty slot makes it move on for the next clock; a wave that only lacks a free unit keeps it waiting.

use super::policy::{Policy, View};

#[derive(Debug, Default)]
pub struct OwnerDispatch {
    current: u32,
}

impl OwnerDispatch {
    fn leaves(&self, view: &View) -> bool {
        let bit = 1 << self.current;
        view.stalled & bit != 0 || view.occupied & bit == 0
    }
}

impl Policy for OwnerDispatch {
    fn pick(&mut self, view: &View) -> Option<u32> {
        if view.is_ready(self.current) {
            return Some(self.current);
        }
        if self.leaves(view) {
            self.current = (self.current + 1) % view.slots;
        }
        None
    }

    fn ended(&mut self, slot: u32, slots: u32) {
        if slot == self.current {
            self.current = (slot + 1) % slots;
        }
    }

    fn memory(&self) -> u64 {
        u64::from(self.current)
    }

    fn remember(&mut self, memory: u64) {
        self.current = memory as u32;
    }

    fn idle(&mut self, view: &View, cycles: u64) {
        for _ in 0..cycles.min(u64::from(view.slots) + cycles % u64::from(view.slots)) {
            if !self.leaves(view) {
                break;
            }
            self.current = (self.current + 1) % view.slots;
        }
    }
}
