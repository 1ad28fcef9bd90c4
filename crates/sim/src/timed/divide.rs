//! Memory divergence of DWS as published (Meng et al.): a load that hits the first cache for some lanes and misses for
//! others divides its path. `aggressive` does so at once, `lazy` only if the load leaves its partition without a ready path, `revive`
//! also later, when the partition has nothing ready and a path waits of which some lanes have their data.

use super::Timed;
use super::core::{Late, Resident};
use crate::divergence::Notes;
use crate::error::SimError;
use crate::wave::PathChange;
use wb_hw::MemorySplits;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask};
use wb_trace::{Kind, PortKind};

/// Path, lanes, and when the results of its load are there.
pub(super) type Part = (usize, Mask, u64);

impl<I: Isa> Timed<'_, '_, I> {
    /// The load that path `q / partitions` has just issued, if it divides the path: through which port it went, and when it is done.
    pub(super) fn divide_load(
        &mut self,
        c: usize,
        (q, local): (usize, usize),
        r: &mut Resident<I>,
        (port, done): (Option<PortKind>, u64),
        wrote: bool,
    ) -> Result<Option<[Part; 2]>, Box<SimError>> {
        if port != Some(PortKind::Data) || wrote || !r.wave.changes.is_empty() {
            return Ok(None);
        }
        let partitions = self.cores[c].partitions;
        let k = q / partitions;
        let each = &self.each;
        let (Some(late), Some(all)) =
            (self.lines.lanes_of(|line| !each[line].1), self.lines.lanes_of(|_| true))
        else {
            return Ok(None);
        };
        let early = each.iter().filter(|e| e.1).map(|e| e.0).max();
        let (Some(early), true) = (early, late != 0 && all & !late != 0) else { return Ok(None) };
        let divides = match self.memory {
            MemorySplits::Never => false,
            MemorySplits::Aggressive => true,
            MemorySplits::Lazy | MemorySplits::Revive => {
                self.cores[c].first_ready(q % partitions, Some((q, local))) > self.now + 1
            }
        };
        let mask = r.wave.paths[k].path.mask;
        if divides {
            let times = (self.now, done);
            if let Some(id) = self.exec.divide(&mut r.wave, k, mask & !late, times, &mut self.notes)? {
                return Ok(Some([(k, mask & !late, early), (id, late, done)]));
            }
        }
        if self.memory == MemorySplits::Revive {
            let now = self.now;
            let list = &mut r.wave.paths[k].own.late;
            list.retain(|l| l.done > now);
            list.push(Late { lanes: late, early, done });
        }
        Ok(None)
    }

    /// If partition `p` has nothing ready in the next cycle: the path whose lanes have their data first, before anybody else wakes
    /// up, goes on with these.
    pub(super) fn revive(&mut self, c: usize, p: usize) -> Result<(), Box<SimError>> {
        let idle_until = self.cores[c].first_ready(p, None);
        if idle_until <= self.now + 1 {
            return Ok(());
        }
        let mut best: Option<(u64, usize, usize, Mask)> = None;
        for slot in (p..self.cores[c].waves.len()).step_by(self.cores[c].partitions) {
            let Some(r) = &self.cores[c].waves[slot] else { continue };
            for k in bits(r.wave.runnable()).map(|k| k as usize) {
                let late = r.wave.paths[k].own.late.iter().filter(|l| l.done > self.now);
                let (lanes, early) = late.fold((0, 0), |(m, e), l| (m | l.lanes, e.max(l.early)));
                let (q, local) = self.cores[c].seat(slot, k);
                let waits = self.cores[c].wakes(slot, k) > early && !self.cores[c].nop_next(q, local);
                let sooner = early < idle_until && best.is_none_or(|b| early < b.0);
                if lanes != 0 && waits && sooner {
                    best = Some((early, slot, k, lanes));
                }
            }
        }
        let Some((_, slot, k, late)) = best else { return Ok(()) };
        let Some(mut r) = self.cores[c].waves[slot].take() else { return Ok(()) };
        let result = self.revive_path(c, slot, k, &mut r, late);
        self.cores[c].waves[slot] = Some(r);
        result
    }

    fn revive_path(
        &mut self,
        c: usize,
        slot: usize,
        k: usize,
        r: &mut Resident<I>,
        late: Mask,
    ) -> Result<(), Box<SimError>> {
        let partition = self.cores[c].seat(slot, 0).0;
        if self.table > 0 {
            let used = self.cores[c].table_entries(partition) + r.wave.table_entries();
            r.wave.room = self.table.saturating_sub(used);
        }
        let active = self.exec.program.isa.active(&r.wave.paths[k].regs, r.wave.paths[k].path.mask);
        let mask = r.wave.paths[k].path.mask;
        if active & !late == 0 || active & late == 0 {
            return Ok(());
        }
        let until = r.wave.paths[k].own.board.all;
        let times = (self.now, until);
        // No instruction issues: there is nothing that notes could belong to.
        let mut notes = Notes { on: false, list: Vec::new() };
        let Some(id) = self.exec.divide(&mut r.wave, k, mask & !late, times, &mut notes)? else {
            r.wave.paths[k].own.late.clear();
            return Ok(());
        };
        r.wave.changes.retain(|c| *c != PathChange::New { id });
        let loads = std::mem::take(&mut r.wave.paths[k].own.late);
        loads.iter().for_each(|l| r.wave.paths[k].own.board.hasten(l.done, l.early));
        r.wave.paths[id].own.late.clear();
        (r.wave.paths[id].own.stall, r.wave.paths[id].own.stalled_since) = (None, self.now + 1);
        let from = self.now + 1 + u64::from(self.machine.split.split_cycles);
        let (path, wake) = (r.wave.paths[id].path, self.wake(r, id, from, true));
        let unit = self.unit_at(path.pc, id);
        self.cores[c].sit(slot, id, (path.pc, path.mask), r.age, self.now, wake, unit);
        self.note_path(c, slot, r, id, Kind::PathStart { lanes: path.mask });
        let wake = self.wake(r, k, from, true);
        self.cores[c].wake_at(slot, k, wake);
        Ok(())
    }
}
