//! Issue ports in the usual case: nobody looks on, and the instruction reads and writes registers of its wave and goes on to the next
//! one. That is most of what issues, and of what [`Timed::issue`] asks about an instruction nothing concerns it: no observer, no
//! memory, no other path, no branch. All of it concerns one core, which is borrowed once for all its ports.

use super::Timed;
use super::board::Board;
use super::core::{Core, Resident, wait_for};
use super::issuer::Unsettled;
use super::units::ClassInfo;
use crate::error::SimError;
use crate::exec::Exec;
use crate::frontend::{Fetch, Seat};
use crate::memory::Hierarchy;
use crate::sched::Choice;
use crate::wave::PathState;
use wb_hw::MemorySplits;
use wb_isa::{Isa, Quick};

/// Most instructions that a wave executes before they issue.
const AHEAD: u32 = 64;

/// The board of a wave that was never split.
#[inline(always)]
fn board_of<I: Isa>(waves: &mut [Option<Box<Resident<I>>>], slot: usize) -> Option<&mut Board> {
    Some(&mut waves.get_mut(slot)?.as_deref_mut()?.wave.paths.first_mut()?.own.board)
}

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
    memory: &'x mut Hierarchy,
    /// What issues requests its successor at once, if it can.
    at_once: bool,
}

impl<I: Isa> Timed<'_, '_, I> {
    /// Whether instructions may issue by [`Ports::issue`]: nobody looks on, and what issues is what its wave is at.
    pub(super) fn may_issue_alone(&self) -> bool {
        let looked_at = self.sink.on() || self.exec.check || self.watch.is_some();
        let fetched_otherwise = self.coordinated || self.late;
        !looked_at && !fetched_otherwise && self.memory != MemorySplits::Revive
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
        let before = self.outcome.wave_instructions;
        let mut turn = self.ports(c).run(0);
        if let Turn::Issue(..) = turn {
            while let Turn::Issue(q, local) = turn {
                self.issue(c, q, local)?;
                let core = &mut self.cores[c];
                let due = core.next_turn(q, self.now);
                core.set_due(q, due);
                turn = self.ports(c).run(q + 1);
            }
            self.cores[c].find_first_due();
        }
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
            memory: &mut self.hierarchy,
            at_once: self.at_once,
        }
    }
}

/// What a turn of a port comes to.
enum Turn {
    /// It is over.
    Over,
    /// The instruction of this port and seat issues, which needs [`Timed::issue`].
    Issue(usize, usize),
}

impl<I: Isa> Ports<'_, '_, I> {
    /// Ports from `q` on, until one issues what needs [`Timed::issue`].
    #[inline(always)]
    fn run(&mut self, mut q: usize) -> Turn {
        // An instruction that issued may have been the first that needs a context.
        let ports = self.core.issuers().min(self.core.dues.len());
        let mut first = u64::MAX;
        while q < ports {
            let mut due = self.core.dues[q];
            if due <= self.now {
                if let issue @ Turn::Issue(..) = self.turn(q) {
                    return issue;
                }
                due = self.core.dues[q];
            }
            first = first.min(due);
            q += 1;
        }
        self.core.turns = q;
        self.core.first_due = first;
        Turn::Over
    }

    /// The turn of port `q`: who is ready, who goes, and when the next one may.
    #[inline(never)]
    fn turn(&mut self, q: usize) -> Turn {
        let now = self.now;
        let core = &mut *self.core;
        core.turns = q + 1;
        let part = &mut core.issuers[q];
        if part.occupied == 0 {
            core.dues[q] = u64::MAX;
            return Turn::Over;
        }
        if part.choice == Choice::Asked {
            return self.turn_of_asked(q);
        }
        if part.next_wake <= now {
            part.wake_up(now);
        }
        let mut awake = part.active & !part.sleeping;
        if core.followed {
            awake &= core.frontend.ready(q, now);
        }
        let (ready, _, next) = part.divide(&core.units, now, awake);
        if ready == 0 {
            core.dues[q] = next.min(part.next_wake);
            return Turn::Over;
        }
        let Some(local) = core.pick(q, ready) else {
            // A policy of the caller's may be wrong.
            core.dues[q] = now + 1;
            return Turn::Over;
        };
        let Some(unit) = self.issue(q, local as usize) else { return Turn::Issue(q, local as usize) };
        let core = &mut *self.core;
        core.dues[q] = core.issuers[q].goes_next(&core.units, now, local as usize, unit, (ready, next));
        Turn::Over
    }

    /// The same where the policy has to be asked in every cycle, and told of those in which nobody was ready.
    #[inline(never)]
    fn turn_of_asked(&mut self, q: usize) -> Turn {
        let now = self.now;
        let core = &mut *self.core;
        core.catch_up(q, now);
        core.issuers[q].told(now);
        let (ready, next) = core.scan(q, now, 0);
        let Some(local) = core.pick(q, ready) else {
            // Somebody who is ready may go in the next cycle, even if the policy lets this one pass.
            core.dues[q] = if ready != 0 { now + 1 } else { next };
            return Turn::Over;
        };
        if self.issue(q, local as usize).is_none() {
            return Turn::Issue(q, local as usize);
        }
        self.core.dues[q] = self.core.next_turn(q, now);
        Turn::Over
    }

    /// Issues the instruction at the head of a seat if it concerns registers of its path only, or is a jump of all lanes of a wave of
    /// which nobody has to be told. Returns the unit that it took; none if nothing was done.
    #[inline(always)]
    fn issue(&mut self, q: usize, local: usize) -> Option<u8> {
        let part = self.core.issuers.get(q)?;
        let ahead = part.sitters.get(local)?.ahead;
        if ahead == 0 && (part.context != 0 || !self.run_ahead(q, local)) {
            return self.issue_of_split(q, local);
        }
        self.issue_ahead(q, local)
    }

    /// Instructions that concern only registers do the same whenever they are executed. So a wave that was never split executes many of them in a
    /// row when the first one issues, and when the others issue only time is counted. Returns whether there were any.
    #[inline(never)]
    fn run_ahead(&mut self, q: usize, local: usize) -> bool {
        let core = &mut *self.core;
        let part = &mut core.issuers[q];
        let slot = local * core.partitions + part.partition;
        let Some(Some(r)) = core.waves.get_mut(slot) else { return false };
        if part.context != 0 || r.wave.paths.len() != 1 {
            return false;
        }
        let first = r.wave.paths[0].path.pc;
        let classes = &self.classes[0];
        let (count, lanes) = self.exec.run_ahead(&mut r.wave, AHEAD, |step| {
            let port = classes.get(usize::from(step.class)).is_none_or(|class| class.port.is_some());
            port || step.raises || !step.knows_registers()
        });
        let sitter = &mut part.sitters[local];
        (sitter.ahead, sitter.pc, sitter.to) = (count, first, r.wave.paths[0].path.pc);
        *self.lanes += lanes;
        count > 0
    }

    /// Issues an instruction that the wave has executed.
    #[inline(always)]
    fn issue_ahead(&mut self, q: usize, local: usize) -> Option<u8> {
        let (program, steps, now) = (self.exec.program, &self.exec.program.steps[..], self.now);
        let core = &mut *self.core;
        let part = &mut core.issuers[q];
        let slot = local * core.partitions + part.partition;
        let sitter = &mut part.sitters[local];
        let (pc, classes) = (sitter.pc, &self.classes[0]);
        let step = steps.get(pc as usize)?;
        let info = *classes.get(usize::from(step.class))?;
        let to = if sitter.ahead == 1 { sitter.to } else { step.next };
        let straight = to == step.next;
        sitter.ahead -= 1;
        sitter.pc = to;
        *self.instructions += 1;
        let done = match part.kinds.get(usize::from(info.unit)) {
            Some(kind) if kind.only && !core.shared => core.units.take_only(kind, info, now),
            _ => core.units.take(info, q, now).2,
        };
        let waves = &mut core.waves;
        let writes = if step.writes().is_empty() { 0 } else { done };
        sitter.writes(pc, steps, (now, writes), || board_of(waves, slot));
        // When the next one has its operands, and what it needs.
        let from = now + 1 + if straight { 0 } else { self.penalty };
        let (mut wake, mut unit) = (from, 0);
        if let Some(next) = steps.get(to as usize) {
            unit = classes.get(usize::from(next.class)).map_or(0, |class| class.unit);
            if next.waits || !next.knows_registers() {
                if let (Some(board), Some(op)) = (board_of(waves, slot), program.ops.get(to as usize)) {
                    sitter.tell(board, steps, now);
                    wake = wait_for(board, op, program, sitter.lanes, wake);
                }
            } else {
                let fed = straight.then_some(step.feeds);
                wake = sitter.wait(next, steps, fed, wake, || board_of(waves, slot));
            }
        }
        if wake >= self.horizon && board_of(waves, slot).is_some_and(|board| board.is_open()) {
            self.unsettled.push(Unsettled { core: self.number, issuer: q, seat: local, from });
        }
        let seat = Seat::new(q, local, core.dues.len());
        let requested = if straight && self.at_once {
            let addr = |pc| program.isa.addr_of(pc);
            let (next, kind) = (&program.flow.next[..], &program.flow.kind[..]);
            let mut fetch = Fetch { core: self.number, next, kind, addr, memory: self.memory };
            core.frontend.issued_at_once(seat, now, &mut fetch)
        } else {
            None
        };
        let there = match requested {
            Some(there) => there,
            None => {
                core.told = true;
                core.frontend.issued(seat, to, straight, false, now)
            }
        };
        if core.shared {
            part.spots[local].pc = to;
        }
        part.goes_on(local, now, (wake, there), unit);
        Some(info.unit)
    }

    /// Issues the instruction at the head of a path of a wave that has been split, if it concerns registers of that path only.
    #[inline(never)]
    fn issue_of_split(&mut self, q: usize, local: usize) -> Option<u8> {
        let (exec, program, now) = (self.exec, self.exec.program, self.now);
        let core = &mut *self.core;
        let part = &mut core.issuers[q];
        let k = part.context;
        let slot = local * core.partitions + part.partition;
        let wave = &mut core.waves.get_mut(slot)?.as_deref_mut()?.wave;
        let state = wave.paths.get(k).filter(|_| wave.paths.len() > 1)?;
        let step = program.steps.get(state.path.pc as usize)?;
        let (watch, classes) = (state.path.watch, &self.classes[usize::from(k > 0)]);
        let (bound, info) = (step.bound.as_ref()?, *classes.get(usize::from(step.class))?);
        if info.port.is_some() || step.next == watch || step.raises || !step.knows_registers() {
            return None;
        }
        if !exec.may_go_on_alone(wave, k, (state.path.pc, step.next)) {
            return None;
        }
        let PathState { path, regs, own, written, .. } = wave.paths.get_mut(k)?;
        let active = program.isa.active(regs, path.mask);
        if program.isa.quick(bound, path.mask, false, regs) != Quick::Next {
            return None;
        }
        wave.issued += 1;
        (path.from, path.pc) = (path.pc, step.next);
        exec.note_written(step.writes(), written, wave.issued);
        if wave.ids & wave.ids.wrapping_sub(1) != 0 && wave.divergence.meets() {
            path.watch = wave.divergence.watch(k);
        }
        *self.instructions += 1;
        *self.lanes += own.count(active);
        let (_, _, done) = core.units.take(info, q, now);
        for &register in step.writes() {
            own.board.write(register, path.mask, now, done, false);
        }
        // When the next one has its operands, and what it needs.
        let (mut wake, mut unit) = (now + 1, 0);
        if let Some(op) = program.ops.get(step.next as usize) {
            unit = classes.get(usize::from(op.class)).map_or(0, |class| class.unit);
            wake = wait_for(&own.board, op, program, path.mask, wake);
        }
        if wake >= self.horizon && own.board.is_open() {
            self.unsettled.push(Unsettled { core: self.number, issuer: q, seat: local, from: now + 1 });
        }
        core.told = true;
        let seat = Seat::new(q, local, core.dues.len());
        let there = core.frontend.issued(seat, step.next, true, false, now);
        if core.shared {
            part.spots[local].pc = step.next;
        }
        part.goes_on(local, now, (wake, there), unit);
        Some(info.unit)
    }
}
