//! Contexts that share an issue port: who issues with whom in a cycle of a partition.

use super::core::Core;
use super::crowd::{Crowd, With};
use super::issuer::{Issuer, Spot};
use super::{CoIssue, Timed};
use crate::divergence::Waves;
use crate::error::SimError;
use crate::sched::Choice;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, NO_PC};

impl<I: Isa> Timed<'_, '_, I> {
    /// Whether [`Timed::cycle_crowd`] does: nobody wants to know who stalls, and who is ready is known without the front end.
    pub(super) fn may_look_less(&self) -> bool {
        let looked_at = self.sink.on() || self.every_cycle;
        let asked = |q: &Issuer| q.choice == Choice::Asked;
        let other =
            |core: &Core<I>| core.followed || core.units.count() > 64 || core.issuers.iter().any(asked);
        self.shared && !looked_at && !self.late && !self.cores.iter().any(other)
    }

    /// How many instructions of a partition issue in a cycle, and of how many neighbouring lanes each takes all.
    fn most(&self) -> (u32, u32) {
        match self.co_issue {
            CoIssue::Disjoint => (self.exec.contexts + 1, 1),
            CoIssue::Fused { most, slice, .. } => (most, slice),
            CoIssue::Own | CoIssue::Shared => (self.machine.issue.width, 1),
        }
    }

    /// [`Timed::cycle_partition`] if nobody wants to know who stalls.
    pub(super) fn cycle_crowd(&mut self, c: usize, p: usize) -> Result<(), Box<SimError>> {
        let mut crowd = self.crowd.take().unwrap_or_else(|| Box::new(Crowd::new()));
        crowd.begin();
        let (mut due, next) = self.cores[c].look_all(p, self.now, &mut crowd);
        if crowd.some != 0 {
            let issued = self.issue_crowd(c, p, &mut crowd)?;
            due = match (issued, crowd.others || crowd.some != 0) {
                // All wait for other paths of their warps, and these for their operands.
                (false, _) if self.by_warps() => next,
                (true, false) => self.cores[c].due_of(p, self.now),
                (false, _) | (true, true) => due,
            };
        }
        self.crowd = Some(crowd);
        self.cores[c].set_due(p, due);
        Ok(())
    }

    fn by_warps(&self) -> bool {
        matches!(self.co_issue, CoIssue::Fused { waves: Waves::Warp { .. }, .. })
    }

    /// As many paths of the crowd issue as may. Returns whether any did.
    #[inline(always)]
    fn issue_crowd(&mut self, c: usize, p: usize, crowd: &mut Crowd) -> Result<bool, Box<SimError>> {
        let mut issued = false;
        let (partitions, now) = (self.cores[c].partitions, self.now);
        let (limit, slice) = self.most();
        let in_step = match self.co_issue {
            CoIssue::Fused { waves: Waves::Warp { in_step }, .. } => Some(in_step),
            CoIssue::Own | CoIssue::Shared | CoIssue::Disjoint | CoIssue::Fused { .. } => None,
        };
        let mut with = With { busy: 0, waves: None, pc: NO_PC, warp: 0, in_step };
        for port in 0..limit {
            let Some((k, local)) = self.cores[c].pick_of(p, crowd, &with, now) else { break };
            issued = true;
            let (q, seat) = (k * partitions + p, local as usize);
            let (spot, unit) = (self.cores[c].issuers[q].spots[seat], self.cores[c].issuers[q].needs[seat]);
            match self.co_issue {
                CoIssue::Own | CoIssue::Shared => {}
                CoIssue::Disjoint => with.busy |= spot.lanes,
                CoIssue::Fused { waves, .. } => {
                    with.busy |= whole_slices(spot.lanes, slice);
                    if port == 0 {
                        (with.waves, with.pc, with.warp) = (Some(waves), spot.pc, spot.warp);
                        match waves {
                            Waves::Same => crowd.only(1 << local),
                            Waves::Other => crowd.only(!(1 << local)),
                            Waves::Any | Waves::SamePc | Waves::Warp { .. } => {}
                        }
                    }
                }
            }
            let mut last = port + 1 == limit || crowd.some == 0 || self.is_full(with.busy);
            let mut joins = None;
            if with.waves.is_some() && !last {
                self.cores[c].thin(p, crowd, &with);
                last = crowd.some == 0;
            }
            if with.waves.is_some() && (port > 0 || !last) {
                // Whoever joins finds the units as the first one found them.
                joins = self.joint.find(&self.cores[c].units, unit, q);
            }
            if !self.issue_alone(c, q, seat) {
                self.issue(c, q, seat)?;
            }
            if let Some(place) = joins {
                self.joint.put_back(&mut self.cores[c].units, place);
            }
            if last {
                break;
            }
            if with.waves.is_none() {
                self.cores[c].leave_unit(p, k, unit, now, crowd);
            }
        }
        if with.waves.is_some() {
            self.joint.leave(&mut self.cores[c].units);
        }
        Ok(issued)
    }

    /// No lane is left.
    fn is_full(&self, busy: Mask) -> bool {
        wb_isa::first_lanes(self.exec.lanes) & !busy == 0
    }

    /// One issue port for all contexts of a partition, or as many as have disjoint lanes.
    pub(super) fn cycle_partition(&mut self, c: usize, p: usize) -> Result<(), Box<SimError>> {
        let (n, partitions, now) = (self.cores[c].contexts(), self.cores[c].partitions, self.now);
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        ready.resize(n, 0);
        // Paths of one wave compete: all contexts are looked at together.
        let (mut some, due) = self.cores[c].scan_all(p, now, self.every_cycle, &mut ready);
        if let CoIssue::Fused { waves: Waves::Warp { in_step }, .. } = self.co_issue {
            let mut crowd = Crowd::new();
            bits(some).for_each(|k| crowd.add(k, ready[k as usize]));
            self.whole_warps(c, p, in_step, &mut crowd);
            bits(some).for_each(|k| ready[k as usize] = crowd.of(k));
            some = crowd.some;
        }
        // Only observers want to know.
        let could = if self.sink.on() { ready.clone() } else { Vec::new() };
        let mut issued = vec![0u64; could.len()];
        let mut busy: Mask = 0;
        let (limit, slice) = self.most();
        let as_one = matches!(self.co_issue, CoIssue::Fused { .. });
        for port in 0..limit {
            let core = &mut self.cores[c];
            let before = if self.watch.is_some() { core.memory(p) } else { 0 };
            let pick = core.pick_shared(p, &ready, some);
            if let Some(watch) = &mut self.watch
                && port == 0
            {
                watch.look_shared(core, c, p, now, before, pick.map(|p| p.1), n);
            }
            let Some((k, local)) = pick else { break };
            let q = k * partitions + p;
            let unit = self.cores[c].issuers[q].needs[local as usize];
            busy |= whole_slices(self.lanes_of(c, p, k, local), slice);
            ready[k] &= !(1 << local);
            some &= !(u64::from(ready[k] == 0) << k);
            if port == 0
                && let CoIssue::Fused { waves, .. } = self.co_issue
            {
                some = self.companions(c, p, (k, local), waves, &mut ready, some);
            }
            if !matches!(self.co_issue, CoIssue::Own | CoIssue::Shared) {
                some = self.drop_lanes(c, p, busy, &mut ready, some);
            }
            let fuses = as_one && (port > 0 || some != 0);
            // Whoever joins finds the units as the first one found them.
            let joins = if fuses { self.joint.find(&self.cores[c].units, unit, q) } else { None };
            if !self.issue_alone(c, q, local as usize) {
                self.issue(c, q, local as usize)?;
            }
            if let Some(place) = joins {
                self.joint.put_back(&mut self.cores[c].units, place);
            }
            if self.sink.on() {
                issued[k] |= 1 << local;
            }
            if port + 1 < limit {
                // What was ready may be gone, merged, or out of units now.
                some = self.cores[c].rescan(p, now, some, &mut ready);
            }
            if fuses && port + 1 < limit {
                // One of them may have taken over lanes of what just issued.
                some = self.drop_lanes(c, p, busy, &mut ready, some);
            }
        }
        self.joint.leave(&mut self.cores[c].units);
        if self.sink.on() {
            for k in 0..self.cores[c].contexts() {
                let of = |sets: &[u64]| sets.get(k).copied().unwrap_or(0);
                self.note_stalls(c, k * partitions + p, of(&issued), of(&could));
            }
        }
        self.ready = ready;
        self.cores[c].set_due(p, due);
        Ok(())
    }

    /// Lanes of the path of context `k` in seat `local` of partition `p`.
    #[inline(always)]
    fn lanes_of(&self, c: usize, p: usize, k: usize, local: u32) -> Mask {
        let core = &self.cores[c];
        let lanes = core.issuers[k * core.partitions + p].spots[local as usize].lanes;
        let wave = || core.waves[core.slot_number(p, local as usize)].as_ref();
        debug_assert!(wave().is_none_or(|r| r.wave.paths[k].path.mask == lanes));
        lanes
    }

    /// Leaves in `ready` what has none of the lanes that are busy. `some`: contexts that have something there; those that still have are
    /// returned.
    fn drop_lanes(&self, c: usize, p: usize, busy: Mask, ready: &mut [u64], some: u64) -> u64 {
        if some == 0 || self.is_full(busy) {
            return 0;
        }
        let core = &self.cores[c];
        bits(some).fold(0, |left, k| {
            let spots = &core.issuers[k as usize * core.partitions + p].spots;
            let set = &mut ready[k as usize];
            *set = keep(*set, |local| spots[local].lanes & busy == 0);
            left | u64::from(*set != 0) << k
        })
    }

    /// Leaves in `ready` what may issue with the path of context `k` in seat `local`. `some`: contexts that have something there; those that
    /// still have are returned.
    fn companions(
        &self,
        c: usize,
        p: usize,
        (k, local): (usize, u32),
        waves: Waves,
        ready: &mut [u64],
        some: u64,
    ) -> u64 {
        let core = &self.cores[c];
        let part = |k: usize| &core.issuers[k * core.partitions + p];
        let own = 1 << local;
        let Spot { warp, pc, .. } = part(k).spots[local as usize];
        bits(some).map(|k| k as usize).fold(0, |left, k| {
            let set = &mut ready[k];
            match waves {
                Waves::Same => *set &= own,
                Waves::Other => *set &= !own,
                Waves::Any => {}
                Waves::Warp { .. } => {
                    let spots = &part(k).spots;
                    *set = keep(*set, |local| spots[local].warp == warp);
                }
                Waves::SamePc => {
                    let spots = &part(k).spots;
                    *set = keep(*set, |local| spots[local].pc == pc);
                }
            }
            left | u64::from(*set != 0) << k
        })
    }
}

/// Those of a set of seats of which it is true.
#[inline(always)]
fn keep(set: u64, is: impl Fn(usize) -> bool) -> u64 {
    bits(set).fold(set, |left, local| left & !(u64::from(!is(local as usize)) << local))
}

/// All lanes of the slices that have one of `lanes`.
fn whole_slices(lanes: Mask, slice: u32) -> Mask {
    if slice <= 1 {
        return lanes;
    }
    let mut all = lanes;
    for first in (0..Mask::BITS).step_by(slice as usize) {
        let slice = wb_isa::first_lanes(slice) << first;
        all |= if lanes & slice != 0 { slice } else { 0 };
    }
    all
}
