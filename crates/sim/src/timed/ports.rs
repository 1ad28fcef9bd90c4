//! Issue ports in the usual case: nobody looks on, and the instruction reads and writes registers of its wave and goes on to the next
//! one. That is most of what issues, and of what [`Timed::issue`] asks about an instruction nothing concerns it: no observer, no
//! memory, no other path, no branch. All of it concerns one core, which is borrowed once for all its ports.

use super::Timed;
use super::core::Core;
use super::issuer::Unsettled;
use super::units::ClassInfo;
use crate::error::SimError;
use crate::exec::Exec;
use crate::frontend::Seat;
use crate::sched::Choice;
use crate::wave::PathState;
use wb_hw::MemorySplits;
use wb_isa::{Isa, Quick};

/// A core in a cycle, and what its instructions count.
struct Ports<'x, 'e, I: Isa> {
    exec: &'x Exec<'e, I>,
    core: &'x mut Core<I>,
    number: usize,
    classes: &'x [Vec<ClassInfo>; 2],
    now: u64,
    horizon: u64,
    /// What a jump costs that goes elsewhere.
    penalty: u64,
    instructions: &'x mut u64,
    lanes: &'x mut u64,
    unsettled: &'x mut Vec<Unsettled>,
}

impl<I: Isa> Timed<'_, '_, I> {
    /// Whether instructions may issue by [`Ports::issue`]: nobody looks on, and what issues is what its wave is at.
    pub(super) fn may_issue_alone(&self) -> bool {
        let looked_at = self.sink.on() || self.exec.check || self.watch.is_some();
        let fetched_otherwise = self.coordinated || self.late;
        let shared = self.exec.blocks || self.memory == MemorySplits::Revive;
        !looked_at && !fetched_otherwise && !shared
    }

    /// Issues the instruction at the head of a seat, as [`Timed::issue`] would, if it concerns registers of its path only. False:
    /// nothing was done.
    #[inline(never)]
    pub(super) fn issue_alone(&mut self, c: usize, q: usize, local: usize) -> bool {
        self.alone && {
            let issued = self.ports(c).issue(q, local).is_some();
            self.end = self.end.max(if issued { self.now + 1 } else { 0 });
            issued
        }
    }

    /// A cycle of all ports of a core, each of which has seats of its own.
    pub(super) fn cycle_ports(&mut self, c: usize) -> Result<(), Box<SimError>> {
        let (mut q, before) = (0, self.outcome.wave_instructions);
        while let Some((other, local)) = self.ports(c).run(q) {
            self.issue(c, other, local)?;
            let core = &mut self.cores[c];
            let due = core.next_turn(other, self.now);
            core.set_due(other, due);
            q = other + 1;
        }
        self.cores[c].find_first_due();
        if self.outcome.wave_instructions != before {
            self.end = self.end.max(self.now + 1);
        }
        Ok(())
    }

    #[inline(always)]
    fn ports(&mut self, c: usize) -> Ports<'_, '_, I> {
        Ports {
            exec: self.exec,
            core: &mut self.cores[c],
            number: c,
            classes: &self.classes,
            now: self.now,
            horizon: self.horizon,
            penalty: self.branch_penalty,
            instructions: &mut self.outcome.wave_instructions,
            lanes: &mut self.outcome.lane_instructions,
            unsettled: &mut self.unsettled,
        }
    }
}

/// What a turn of a port comes to.
enum Turn {
    /// It is over.
    Over,
    /// The instruction of this seat issues, which needs [`Timed::issue`].
    Issue(usize),
}

impl<I: Isa> Ports<'_, '_, I> {
    /// Ports from `q` on, until one issues what needs [`Timed::issue`]: that port and the seat.
    #[inline(always)]
    fn run(&mut self, mut q: usize) -> Option<(usize, usize)> {
        // An instruction that issued may have been the first that needs a context.
        while q < self.core.issuers() {
            if self.core.dues[q] <= self.now
                && let Turn::Issue(local) = self.turn(q)
            {
                return Some((q, local));
            }
            q += 1;
        }
        self.core.turns = q;
        None
    }

    /// The turn of port `q`: who is ready, who goes, and when the next one may.
    #[inline(never)]
    fn turn(&mut self, q: usize) -> Turn {
        let now = self.now;
        let core = &mut *self.core;
        if core.issuers[q].occupied == 0 {
            core.dues[q] = u64::MAX;
            return Turn::Over;
        }
        core.turns = q + 1;
        let asked = core.issuers[q].choice == Choice::Asked;
        if asked {
            core.catch_up(q, now);
            core.issuers[q].told(now);
        }
        let part = &mut core.issuers[q];
        if part.next_wake <= now {
            part.wake_up(now);
        }
        let awake = part.active & !part.sleeping & core.frontend.ready(q, now);
        let (ready, blocked, next) = part.divide(&core.units, now, awake);
        if asked {
            part.stalled = part.occupied & !(ready | blocked);
        }
        let Some(local) = core.pick(q, ready) else {
            // Somebody who is ready may go in the next cycle, even if the policy lets this one pass.
            core.dues[q] = if ready != 0 { now + 1 } else { next.min(core.issuers[q].next_wake) };
            return Turn::Over;
        };
        let Some(unit) = self.issue(q, local as usize) else { return Turn::Issue(local as usize) };
        let core = &mut *self.core;
        core.dues[q] = if asked {
            core.next_turn(q, now)
        } else {
            core.issuers[q].goes_next(&core.units, now, local as usize, unit, (ready, next))
        };
        Turn::Over
    }

    /// Issues the instruction at the head of a seat if it concerns registers of its path only, or is a jump of all lanes of a wave of
    /// which nobody has to be told. Returns the unit that it took; none if nothing was done.
    #[inline(always)]
    fn issue(&mut self, q: usize, local: usize) -> Option<u8> {
        let (exec, program, now) = (self.exec, self.exec.program, self.now);
        let core = &mut *self.core;
        let (slot, k) = (core.slot_number(q, local), core.context(q));
        let wave = &mut core.waves[slot].as_deref_mut()?.wave;
        let whole = wave.paths.len() == 1;
        let state = wave.paths.get(k)?;
        let (pc, classes) = (state.path.pc as usize, &self.classes[usize::from(k > 0)]);
        let (Some(op), Some(step)) = (program.ops.get(pc), program.steps.get(pc)) else { return None };
        let (Some(bound), info) = (&step.bound, classes[usize::from(op.class)]) else { return None };
        if info.port.is_some() || op.next == state.path.watch || op.waits.raises.contains(&true) {
            return None;
        }
        if !whole && !exec.may_go_on_alone(wave, k, op.next) {
            return None;
        }
        let PathState { path, regs, own, written, .. } = &mut wave.paths[k];
        let active = program.isa.active(regs, path.mask);
        let (to, mut wake) = match program.isa.quick(bound, path.mask, whole, regs) {
            Quick::Next => (op.next, now + 1),
            Quick::No => return None,
            quick @ (Quick::Jump(_) | Quick::MaskBranch { .. }) => {
                let watch = if whole { wave.divergence.watch(0) } else { return None };
                let to = match quick {
                    Quick::Jump(target) => target,
                    Quick::MaskBranch { jump, target } if wave.divergence.follows_masks() => {
                        if jump {
                            target
                        } else {
                            op.next
                        }
                    }
                    Quick::MaskBranch { .. } | Quick::Next | Quick::No => return None,
                };
                // A jump changes nothing about what the mechanism watches for, unless it was about to change that anyway.
                if watch != path.watch || to == watch {
                    return None;
                }
                (to, now + 1 + if to == op.next { 0 } else { self.penalty })
            }
        };
        wave.issued += 1;
        (path.from, path.pc) = (path.pc, to);
        if !whole {
            exec.note_written(op, written, wave.issued);
            if wave.ids & wave.ids.wrapping_sub(1) != 0 && wave.divergence.meets() {
                path.watch = wave.divergence.watch(k);
            }
        }
        *self.instructions += 1;
        *self.lanes += own.count(active);
        let part = &mut core.issuers[q];
        let done = match part.kinds.get(usize::from(info.unit)) {
            Some(kind) if kind.only => core.units.take_only(kind, info, now),
            _ => core.units.take(info, q, now).2,
        };
        for &register in program.writes(op) {
            own.board.write(register, path.mask, now, done, false);
        }
        // When the next one has its operands, and what it needs.
        let mut unit = 0;
        let from = wake;
        if let Some(next) = program.ops.get(to as usize) {
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
            self.unsettled.push(Unsettled { core: self.number, issuer: q, seat: local, from });
        }
        core.told = true;
        let seat = Seat::new(q, local, core.issuers.len());
        let there = core.frontend.issued(seat, to, to == op.next, false, now);
        let part = &mut core.issuers[q];
        part.progress[local] = part.progress[local].wrapping_add(1);
        part.sitters[local].there = there;
        part.next(local, now, wake, unit);
        Some(info.unit)
    }
}
