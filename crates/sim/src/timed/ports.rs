//! Issue ports in the usual case: nobody looks on, and the instruction reads and writes registers of its wave and goes on to the next
//! one. That is most of what issues, and of what [`Timed::issue`] asks about an instruction nothing concerns it: no observer, no
//! memory, no other path, no branch. All of it concerns one core, which is borrowed once for all its ports.

use super::Timed;
use super::board::Board;
use super::core::{Core, Resident, wait_for};
use super::issuer::Unsettled;
use super::plan::Plan;
use super::units::ClassInfo;
use crate::error::SimError;
use crate::exec::Exec;
use crate::frontend::Seat;
use crate::sched::Choice;
use crate::wave::PathState;
use wb_hw::MemorySplits;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Pc, Quick};

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
    /// What issues requests its successor at once, if it can.
    at_once: bool,
    /// Contexts share a port.
    shared: bool,
    plans: &'x [Plan],
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
            at_once: self.at_once,
            shared: self.shared,
            plans: &self.plans,
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
    fn run(&mut self, q: usize) -> Turn {
        // An instruction that issued may have been the first that needs a context.
        let ports = self.core.issuers();
        if ports == 1 {
            let due = q == 0 && self.core.dues.first().is_some_and(|&due| due <= self.now);
            if due && let issue @ Turn::Issue(..) = self.turn(0) {
                return issue;
            }
            self.core.turns = 1;
            self.core.first_due = self.core.dues.first().map_or(u64::MAX, |&due| due);
            return Turn::Over;
        }
        for four in q / 4..ports.div_ceil(4) {
            // Whose turn it is cannot be foretold: bits instead of branches. Nobody's turn changes that of another port.
            let Some(dues) = self.core.dues.as_chunks::<4>().0.get(four) else { break };
            let due = |i: usize| u64::from(dues[i] <= self.now) << i;
            let mut mask = due(0) | due(1) | due(2) | due(3);
            if four == q / 4 {
                mask &= u64::MAX << (q % 4);
            }
            for bit in bits(mask) {
                if let issue @ Turn::Issue(..) = self.turn(four * 4 + bit as usize) {
                    return issue;
                }
            }
        }
        self.core.turns = ports;
        self.core.find_first_due();
        Turn::Over
    }

    /// The turn of port `q`: who is ready, who goes, and when the next one may.
    #[inline(never)]
    fn turn(&mut self, q: usize) -> Turn {
        let now = self.now;
        let core = &mut *self.core;
        core.turns = q + 1;
        let (Some(part), Some(due)) = (core.issuers.get_mut(q), core.dues.get_mut(q)) else {
            return Turn::Over;
        };
        if part.occupied == 0 {
            *due = u64::MAX;
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
            *due = next.min(part.next_wake);
            return Turn::Over;
        }
        let Some(local) = part.pick(ready, core.seats) else {
            // A policy of the caller's may be wrong.
            *due = now + 1;
            return Turn::Over;
        };
        let Some(unit) = self.issue(q, local as usize) else { return Turn::Issue(q, local as usize) };
        let core = &mut *self.core;
        if let (Some(part), Some(due)) = (core.issuers.get_mut(q), core.dues.get_mut(q)) {
            *due = part.goes_next(&core.units, now, local as usize, unit, (ready, next));
        }
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
        let now = self.now;
        let Core { issuers, units, waves, partitions, .. } = &mut *self.core;
        let part = issuers.get_mut(q)?;
        let sitter = part.sitters.get_mut(local)?;
        let (pc, plan) = (sitter.pc, self.plans.get(sitter.pc as usize)?);
        let to = if sitter.ahead == 1 { sitter.to } else { plan.next };
        let straight = to == plan.next;
        (sitter.ahead, sitter.pc) = (sitter.ahead - 1, to);
        *self.instructions += 1;
        let done = match part.kinds.get(usize::from(plan.unit)) {
            Some(kind) if plan.only && !self.shared => {
                units.take_only(kind, now + u64::from(plan.keeps));
                now + u64::from(plan.done)
            }
            _ => units.take(*self.classes[0].get(usize::from(plan.class))?, q, now).2,
        };
        if sitter.has_late(now) {
            let slot = local * *partitions + part.partition;
            board_of(waves, slot)
                .into_iter()
                .for_each(|b| sitter.tell_late(b, &self.exec.program.steps, now));
        }
        sitter.writes(pc, if plan.writes { done } else { 0 });
        // When the next one has its operands, and what it needs.
        let from = now + 1 + if straight { 0 } else { self.penalty };
        let (mut wake, mut unit) = (from, 0);
        if let Some(next) = self.plans.get(to as usize) {
            unit = next.unit;
            wake = match next.simple && straight && !sitter.may_wait(next.bits, from) {
                true if plan.feeds => from.max(sitter.late_done()),
                true => from,
                false => self.wait(q, local, (to, straight && plan.feeds, straight), from),
            };
        }
        if wake >= self.horizon {
            self.note_unsettled(q, local, from);
        }
        let there = self.fetch(q, local, to, straight);
        self.core.issuers.get_mut(q)?.goes_on(local, now, (wake, there), unit);
        Some(plan.unit)
    }

    /// The cycle from which the instruction at `to`, which follows on what has just issued, has all that it waits for, at least `from`.
    #[inline(never)]
    fn wait(&mut self, q: usize, local: usize, (to, feeds, straight): (Pc, bool, bool), from: u64) -> u64 {
        let program = self.exec.program;
        let (steps, now) = (&program.steps[..], self.now);
        let Core { issuers, waves, partitions, .. } = &mut *self.core;
        let Some(part) = issuers.get_mut(q) else { return from };
        let slot = local * *partitions + part.partition;
        let (Some(sitter), Some(next)) = (part.sitters.get_mut(local), steps.get(to as usize)) else {
            return from;
        };
        if next.waits || !next.knows_registers() {
            let (Some(board), Some(op)) = (board_of(waves, slot), program.ops.get(to as usize)) else {
                return from;
            };
            sitter.tell(board, steps, now);
            return wait_for(board, op, program, sitter.lanes, from);
        }
        sitter.wait(next, steps, straight.then_some(feeds), from, || board_of(waves, slot))
    }

    /// A seat waits for a time that may not be known.
    #[inline(never)]
    fn note_unsettled(&mut self, q: usize, local: usize, from: u64) {
        let slot = self.core.slot_number(q, local);
        if board_of(&mut self.core.waves, slot).is_some_and(|board| board.is_open()) {
            self.unsettled.push(Unsettled { core: self.number, issuer: q, seat: local, from });
        }
    }

    /// A seat has issued and goes on at `to`: when its next instruction is there.
    #[inline(always)]
    fn fetch(&mut self, q: usize, local: usize, to: Pc, straight: bool) -> u64 {
        let now = self.now;
        let Core { issuers, frontend, told, .. } = &mut *self.core;
        let sides = issuers.len();
        let Some(part) = issuers.get_mut(q) else { return 0 };
        let seat = Seat::new(q, local, sides);
        if self.shared {
            part.spots[local].pc = to;
        }
        if straight
            && self.at_once
            && let Some(there) = frontend.issued_at_once(seat, now, &part.ages)
        {
            return there;
        }
        let there = frontend.issued(seat, to, (straight, false), now, &part.ages);
        *told |= frontend.has_to_act(now);
        there
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
        let there = self.fetch(q, local, step.next, true);
        self.core.issuers.get_mut(q)?.goes_on(local, now, (wake, there), unit);
        Some(info.unit)
    }
}
