//! The usual instruction: it reads and writes registers of its wave and goes on to the next one. It is most of what issues, and of
//! what [`Timed::issue`] asks about an instruction nothing concerns it: no observer, no memory, no other path, no branch.

use super::Timed;
use super::issuer::Unsettled;
use crate::frontend::Seat;
use crate::wave::PathState;
use wb_hw::MemorySplits;
use wb_isa::{Isa, Quick};

impl<I: Isa> Timed<'_, '_, I> {
    /// Whether instructions may issue by [`Timed::issue_alone`]: nobody looks on, and what issues is what its wave is at.
    pub(super) fn may_issue_alone(&self) -> bool {
        let looked_at = self.sink.on() || self.exec.check || self.watch.is_some();
        let fetched_otherwise = self.coordinated || self.late;
        let shared = self.exec.blocks || self.table > 0 || self.memory != MemorySplits::Never;
        !looked_at && !fetched_otherwise && !shared
    }

    /// Issues the instruction at the head of a seat, as [`Timed::issue`] would, if it concerns registers of its path only. False:
    /// nothing was done.
    #[inline(always)]
    pub(super) fn issue_alone(&mut self, c: usize, q: usize, local: usize) -> bool {
        let (exec, program, now) = (self.exec, self.exec.program, self.now);
        let core = &mut self.cores[c];
        if !self.alone {
            return false;
        }
        let (slot, k) = (core.slot_number(q, local), core.context(q));
        let Some(r) = core.waves[slot].as_deref_mut() else { return false };
        let Some(state) = r.wave.paths.get(k) else { return false };
        let (pc, classes) = (state.path.pc as usize, &self.classes[usize::from(k > 0)]);
        let (Some(op), Some(step)) = (program.ops.get(pc), program.steps.get(pc)) else { return false };
        let (Some(bound), info) = (&step.bound, classes[usize::from(op.class)]) else { return false };
        if info.port.is_some() || op.next == state.path.watch || op.waits.raises.contains(&true) {
            return false;
        }
        let whole = r.wave.paths.len() == 1;
        if !whole && !exec.may_go_on_alone(&mut r.wave, k, op.next) {
            return false;
        }
        let PathState { path, regs, own, written, .. } = &mut r.wave.paths[k];
        let active = program.isa.active(regs, path.mask);
        if program.isa.quick(bound, path.mask, whole, regs) != Quick::Next {
            return false;
        }
        r.wave.issued += 1;
        (path.from, path.pc) = (path.pc, op.next);
        if !whole {
            exec.note_written(op, written, r.wave.issued);
            if r.wave.ids & r.wave.ids.wrapping_sub(1) != 0 && r.wave.divergence.meets() {
                path.watch = r.wave.divergence.watch(k);
            }
        }
        self.outcome.wave_instructions += 1;
        self.outcome.lane_instructions += u64::from(active.count_ones());
        self.end = self.end.max(now + 1);
        let (_, _, done) = core.units.take(info, q, now);
        for &register in program.writes(op) {
            own.board.write(register, path.mask, now, done, false);
        }
        // When the next one has its operands, and what it needs.
        let (mut wake, mut unit) = (now + 1, 0);
        if let Some(next) = program.ops.get(op.next as usize) {
            unit = classes[usize::from(next.class)].unit;
            if next.waits_for_all {
                wake = wake.max(own.board.all_done());
            }
            if let Some(until) = next.waits.until {
                wake = wake.max(own.board.counters_at_most(until));
            }
            for &register in program.touches(next) {
                wake = own.board.wait(register, path.mask, wake).map_or(wake, |(ready, _)| ready);
            }
        }
        if wake >= self.horizon && own.board.is_open() {
            self.unsettled.push(Unsettled { core: c, issuer: q, seat: local, from: now + 1 });
        }
        core.told = true;
        let progress = &mut core.issuers[q].progress[local];
        *progress = progress.wrapping_add(1);
        core.frontend.issued(Seat::new(q, local, core.issuers.len()), op.next, true, false, now);
        core.next(q, local, now, wake, unit);
        true
    }
}
