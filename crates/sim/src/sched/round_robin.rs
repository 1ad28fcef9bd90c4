//! Round robin, strict (every slot has its turn, used or not) and loose (the next one that is ready).

use super::policy::{Choice, Policy, View};

#[derive(Debug, Default)]
pub struct RoundRobin {
    turn: u32,
}

impl Policy for RoundRobin {
    fn pick(&mut self, view: &View) -> Option<u32> {
        let slot = self.turn % view.slots;
        self.turn = (slot + 1) % view.slots;
        view.is_ready(slot).then_some(slot)
    }

    fn memory(&self) -> u64 {
        u64::from(self.turn)
    }

    fn remember(&mut self, memory: u64) {
        self.turn = memory as u32;
    }

    fn idle(&mut self, view: &View, cycles: u64) {
        self.turn = ((u64::from(self.turn) + cycles) % u64::from(view.slots)) as u32;
    }
}

#[derive(Debug, Default)]
pub struct LooseRoundRobin {
    last: Option<u32>,
}

impl Policy for LooseRoundRobin {
    fn pick(&mut self, view: &View) -> Option<u32> {
        let slot = view.next_ready(self.last.unwrap_or(63))?;
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
