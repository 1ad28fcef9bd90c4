//! The dispatcher: groups of the launch go to cores with room, a whole group at a time, and their waves take slots.

use super::Timed;
use super::core::{Resident, Timing};
use crate::residency::GroupPlace;
use wb_hw::Dispatch;
use wb_isa::{Isa, Mask, Pc, WaveStart};
use wb_trace::Kind;

impl<I: Isa> Timed<'_, '_, I> {
    /// Fills free slots with waves of the launch, a whole group at a time.
    pub(super) fn dispatch(&mut self) {
        while self.may_dispatch && !self.launcher.is_done() {
            let Some((core, slots)) = self.room() else {
                self.may_dispatch = false;
                return;
            };
            self.next_core = (core + 1) % self.cores.len();
            self.start_group(core, slots);
        }
    }

    /// The next group starts in these slots of a core.
    pub(super) fn start_group(&mut self, core: usize, slots: Vec<usize>) {
        let place = self.residency.claim(core, slots.len() as u32, &mut self.outcome.memory);
        for slot in slots {
            let Some((start, live)) = self.launcher.next() else { return };
            self.place(place, slot, start, live, self.exec.program.entry);
        }
    }

    /// The core that is asked first whether it has room.
    pub(super) fn first_core(&self) -> usize {
        match self.machine.dispatch {
            Dispatch::Fill => 0,
            Dispatch::RoundRobin => self.next_core,
        }
    }

    /// The next core of this thread with room for a group, and the slots its waves take there.
    pub(super) fn room(&self) -> Option<(usize, Vec<usize>)> {
        let n = self.cores.len();
        if let Some(core) = self.launcher.core() {
            return Some((core, vec![0]));
        }
        let first = self.first_core();
        let (waves, limit) = (self.launcher.group_waves(), self.residency.per_partition);
        (0..n).map(|i| (first + i) % n).filter(|c| self.own.contains(c)).find_map(|c| {
            let room = self.residency.has_room(c);
            Some((c, room.then(|| self.cores[c].free_slots(waves, limit)).flatten()?))
        })
    }

    pub(super) fn place(&mut self, place: GroupPlace, slot: usize, start: WaveStart, live: Mask, pc: Pc) {
        let core = place.core;
        let start = self.residency.furnish(start, place, core * self.machine.core.waves as usize + slot);
        let kept = self.left.get_mut(core * self.machine.core.waves as usize + slot).and_then(Option::take);
        let start = WaveStart { kept: kept.is_some(), ..start };
        let (regs, board) = kept.or_else(|| self.spare.pop()).unzip();
        let board = Timing::fresh_board(board, self.exec.program.isa.register_count(), self.now);
        let mut wave = self.exec.wave(start, live, pc, regs, Timing::new(board, self.now));
        let partition = slot % self.machine.core.partitions as usize;
        let shared = self.blocks.join(self.machine, start.wave_in_group, live, partition);
        let warp = shared.as_ref().map_or(0, |shared| shared.warp(0));
        if let Some(shared) = shared {
            wave.divergence = shared;
        }
        let unit = self.unit_at(pc, 0);
        let r = Box::new(Resident { wave, place, age: self.launched, drained: 0 });
        if self.sink.on() {
            let event = self.event(core, slot, &r, 0, pc, live, Kind::WaveStart { lanes: live });
            self.sink.push(event);
        }
        self.begin(core);
        self.cores[core].occupy(slot, r, self.now, unit);
        self.cores[core].set_warp(slot, 0, warp);
        self.launched += 1;
        self.resident += 1;
        if let Some(times) = &mut self.outcome.times {
            times.last_start = self.now;
        }
        self.outcome.waves = self.outcome.waves.max(start.wave + 1);
    }
}
