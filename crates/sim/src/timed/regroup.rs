//! Waves that share a stack (TBC, LWM): their warps issue as a whole, and take their new paths over where their block has decided.

use super::Timed;
use super::crowd::Crowd;
use super::issuer::Warp;
use crate::error::SimError;
use crate::regroup::Regrouped;
use crate::residency::GroupPlace;
use wb_isa::Isa;
use wb_isa::lanes::bits;
use wb_trace::Kind;

impl<I: Isa> Timed<'_, '_, I> {
    /// Leaves in the crowd the paths of warps all of whose paths are there; `in_step`: and of which no other warp of the block is behind.
    pub(super) fn whole_warps(&mut self, c: usize, p: usize, in_step: bool, crowd: &mut Crowd) {
        let mut warps = std::mem::take(&mut self.warps);
        warps.clear();
        let core = &self.cores[c];
        let part = |k: u32| &core.issuers[k as usize * core.partitions + p];
        for k in bits(crowd.some) {
            for local in bits(crowd.of(k)).map(|l| l as usize) {
                let (number, progress) = (part(k).spots[local].warp, part(k).progress[local]);
                if warps.iter().all(|w| w.number != number) {
                    warps.push(Warp { number, progress, whole: true });
                }
            }
        }
        // Paths of a warp issue together: each has issued as much as the others.
        for k in bits(core.in_use[p]) {
            let (part, there) = (part(k), crowd.of(k));
            for local in bits(part.active) {
                let (number, progress) = (part.spots[local as usize].warp, part.progress[local as usize]);
                let missing = there >> local & 1 == 0;
                if !missing && !in_step {
                    continue;
                }
                for warp in &mut warps {
                    let behind = in_step && warp.number >> 8 == number >> 8 && progress < warp.progress;
                    warp.whole &= !(behind || missing && warp.number == number);
                }
            }
        }
        crowd.keep(|k, local| {
            let number = part(k).spots[local].warp;
            warps.iter().any(|w| w.number == number && w.whole)
        });
        self.warps = warps;
    }

    /// The block of a wave at `place` has decided: its waves take over their new paths. Sorting lanes into warps takes
    /// `divergence.push_cycles`.
    pub(super) fn regroup(&mut self, c: usize, place: GroupPlace) -> Result<(), Box<SimError>> {
        let cost = u64::from(self.machine.divergence.push_cycles);
        for slot in 0..self.cores[c].waves.len() {
            let mine = self.cores[c].waves[slot]
                .take_if(|r| r.place == place && r.wave.live != 0 && r.wave.divergence.decided());
            let Some(mut r) = mine else { continue };
            let now = self.now;
            let parked = r.wave.parked;
            let behind = r.wave.paths[parked.trailing_zeros() as usize & 63].path.pc;
            self.cores[c].look_again(slot);
            let done = self.exec.regroup(&mut r.wave, |a, b| a.board.absorb(&b.board, now))?;
            match done {
                Regrouped::GoOn(pc) => {
                    let penalty = if pc == behind { 0 } else { self.branch_penalty };
                    for k in bits(r.wave.ids & parked).map(|k| k as usize) {
                        let seat = self.cores[c].seat(slot, k);
                        if pc != behind {
                            self.cores[c].redirect(slot, k, pc, now);
                        }
                        self.settle(c, seat, &mut r, k, now + 1 + penalty, penalty > 0);
                        self.cores[c].unpark(slot, k, now + 1);
                    }
                }
                Regrouped::New { old } => {
                    for k in bits(old).map(|k| k as usize) {
                        if k > 0 {
                            self.note_path(c, slot, &mut r, k, Kind::PathEnd { into: 0 });
                        }
                        self.cores[c].leave_seat(slot, k);
                    }
                    for k in bits(r.wave.ids).map(|k| k as usize) {
                        let path = r.wave.paths[k].path;
                        let (from, paid) = (now + 1 + cost, cost > 0);
                        let wake = if self.coordinated { from } else { self.wake(&mut r, k, from, paid) };
                        let unit = self.unit_at(path.pc, k);
                        self.cores[c].sit(slot, k, (path.pc, path.mask), r.age, now, wake, unit);
                        let (q, local) = self.cores[c].seat(slot, k);
                        self.cores[c].issuers[q].sitters[local].learn(&r.wave.paths[k].own.board);
                        self.cores[c].set_warp(slot, k, r.wave.divergence.warp(k));
                        if r.wave.parked >> k & 1 == 1 {
                            self.cores[c].park(slot, k);
                        }
                        if k > 0 {
                            (r.wave.paths[k].own.stall, r.wave.paths[k].own.stalled_since) = (None, now + 1);
                            self.note_path(c, slot, &mut r, k, Kind::PathStart { lanes: path.mask });
                        }
                    }
                }
            }
            self.cores[c].waves[slot] = Some(r);
        }
        Ok(())
    }
}
