//! What observers are told: issues, stalls with their reason, and the life of paths.

use super::Timed;
use super::core::Resident;
use wb_hw::InstructionSet;
use wb_isa::{Isa, Mask, Pc};
use wb_trace::{Event, Kind, StallReason};

impl<I: Isa> Timed<'_, '_, I> {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn event(
        &self,
        core: usize,
        slot: usize,
        r: &Resident<I>,
        k: usize,
        pc: Pc,
        mask: Mask,
        kind: Kind,
    ) -> Event {
        Event {
            cycle: self.now,
            core: core as u16,
            slot: slot as u16,
            wave: r.wave.id,
            path: k as u16,
            pc,
            mask,
            kind,
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn note_issue(
        &mut self,
        c: usize,
        slot: usize,
        r: &Resident<I>,
        k: usize,
        (pc, mask): (Pc, Mask),
        unit: u8,
        instance: u8,
        class: u8,
        busy: u64,
    ) {
        let busy = busy.min(u64::from(u16::MAX)) as u16;
        let event = self.event(c, slot, r, k, pc, mask, Kind::Issue { unit, instance, class, busy });
        self.sink.push(event);
        for kind in std::mem::take(&mut self.notes.list) {
            self.sink.push(Event { kind, ..event });
        }
    }

    /// A path begins or ends.
    pub(super) fn note_path(&mut self, c: usize, slot: usize, r: &mut Resident<I>, k: usize, kind: Kind) {
        if self.sink.on() {
            self.end_stall(c, slot, r, k);
            let path = r.wave.paths[k].path;
            let event = self.event(c, slot, r, k, path.pc, path.mask, kind);
            self.sink.push(event);
        }
    }

    /// Follows, per seat, why it does not issue; emits a stall when the reason changes or it issues.
    /// `could` are the seats that were ready when the scheduler chose.
    pub(super) fn note_stalls(&mut self, c: usize, q: usize, issued: u64, could: u64) {
        let k = self.cores[c].context(q);
        // Who waits for siblings may have left its seat.
        for local in 0..self.cores[c].issuers[q].sitters.len() {
            let bit = 1 << local;
            if issued & bit != 0 {
                continue;
            }
            let issuer = &self.cores[c].issuers[q];
            let quiet = issuer.is_quiet(local, self.now);
            if quiet && issuer.noted & bit != 0 {
                debug_assert!(self.still_waits(c, q, local));
                continue;
            }
            let slot = self.cores[c].slot_number(q, local);
            let reason = match self.cores[c].stall_reason(q, local, self.now) {
                Some(_) if could & bit != 0 => StallReason::NotSelected,
                Some(reason) => reason,
                None => continue,
            };
            let stall = |r: &Resident<I>| r.wave.paths[k].own.stall;
            if self.cores[c].waves[slot].as_deref().map(stall) != Some(Some(reason))
                && let Some(mut r) = self.cores[c].waves[slot].take()
            {
                self.end_stall(c, slot, &mut r, k);
                r.wave.paths[k].own.stall = Some(reason);
                r.wave.paths[k].own.stalled_since = self.now;
                self.cores[c].waves[slot] = Some(r);
            }
            // Who could have gone and was not chosen waits for something else in the next cycle. On lane-pc machines some mechanisms
            // change what a path waits for without touching its seat: there everybody is looked at in every cycle.
            if quiet && could & bit == 0 && self.machine.isa != InstructionSet::Riscv {
                self.cores[c].issuers[q].noted |= bit;
            }
        }
    }

    /// A seat that nobody looks at waits for what the observer was told.
    fn still_waits(&self, c: usize, q: usize, local: usize) -> bool {
        let core = &self.cores[c];
        let reason = core.stall_reason(q, local, self.now);
        let wave = &core.waves[core.slot_number(q, local)];
        reason.is_some() && wave.as_ref().is_some_and(|r| r.wave.paths[core.context(q)].own.stall == reason)
    }

    pub(super) fn end_stall(&mut self, c: usize, slot: usize, r: &mut Resident<I>, k: usize) {
        let (q, local) = self.cores[c].seat(slot, k);
        self.cores[c].issuers[q].noted &= !(1 << local);
        let state = &mut r.wave.paths[k];
        if let Some(reason) = state.own.stall.take()
            && self.now > state.own.stalled_since
        {
            let since = state.own.stalled_since;
            let cycles = (self.now - since).min(u64::from(u32::MAX)) as u32;
            let lanes = self.exec.program.isa.active(&state.regs, state.path.mask);
            let pc = state.path.pc;
            let event = self.event(c, slot, r, k, pc, lanes, Kind::Stall { cycles, reason });
            self.sink.push(Event { cycle: since, ..event });
        }
    }
}
