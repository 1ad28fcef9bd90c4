//! Issue ports in the usual case: nobody looks on, and the instruction reads and writes registers of its wave and goes on to the next
//! one. That is most of what issues, and of what [`Timed::issue`] asks about an instruction nothing concerns it: no observer, no
//! memory, no other path, no branch. All of it concerns one core, which is borrowed once for all its ports.

use super::Timed;
use super::board::Board;
use super::core::{Core, Resident, wait_for};
use super::issuer::{Issuer, Sitter, Unsettled};
use super::plan::Plan;
use super::units::{ClassInfo, Units};
use crate::error::SimError;
use crate::exec::Exec;
use crate::frontend::FrontEnd;
use crate::memory::Hierarchy;
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

/// What the ports of a core need besides it in a cycle, and what they count.
struct Ports<'x, 'e, I: Isa> {
    exec: &'x Exec<'e, I>,
    number: usize,
    classes: &'x [Vec<ClassInfo>; 2],
    now: u64,
    horizon: u64,
    /// What a jump costs that goes elsewhere.
    penalty: u64,
    instructions: u64,
    lanes: &'x mut u64,
    unsettled: &'x mut Vec<Unsettled>,
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
            let (mut ports, cores, ..) = self.ports(c);
            let issued = ports.issue(&mut cores[c], q, local).is_some();
            self.outcome.wave_instructions = ports.instructions;
            self.end = self.end.max(if issued { self.now + 1 } else { 0 });
            issued
        }
    }

    /// A cycle of the cores that have something to do in it, if every port has seats of its own, and the cycles after it in which nothing
    /// else is to do: no wave starts or ends, nobody wants to hear of progress (from `until` instructions on). Returns when the first of
    /// all cores has something to do after the last one.
    pub(super) fn cycle_ports(&mut self, until: u64) -> Result<u64, Box<SimError>> {
        let (mut from, mut next) = ((self.own.start, 0), u64::MAX);
        while let Some((c, q, local)) = self.sweep(from, &mut next, until) {
            self.issue(c, q, local)?;
            let core = &mut self.cores[c];
            let due = core.next_turn(q, self.now);
            core.set_due(q, due);
            from = (c, q + 1);
        }
        Ok(next)
    }

    /// The same from a port of a core on, until one issues what needs [`Timed::issue`]: its core, port and seat.
    #[inline(never)]
    fn sweep(
        &mut self,
        (mut first, mut q): (usize, usize),
        next: &mut u64,
        until: u64,
    ) -> Option<(usize, usize, usize)> {
        let stop = self.machine.limits.cycles.min(self.horizon).min(self.drained);
        let once = self.resident == 0 || self.may_dispatch && !self.launcher.is_done();
        let (own, mut end) = (self.own.clone(), self.end);
        let (mut ports, cores, dues, hierarchy) = self.ports(0);
        let general = loop {
            let before = ports.instructions;
            let general = 'cores: {
                for c in first..own.end {
                    let (Some(core), Some(due)) = (cores.get_mut(c), dues.get_mut(c)) else { break };
                    // Whoever goes on in the middle of a core has not told yet when it is due again.
                    if *due <= ports.now || q > 0 {
                        core.begin(ports.now);
                        ports.number = c;
                        if let Turn::Issue(q, local) = ports.run(core, q) {
                            break 'cores Some((c, q, local));
                        }
                        core.tick_front_end(c, ports.exec.program, hierarchy, false);
                        *due = core.due();
                        q = 0;
                    }
                    *next = (*next).min(*due);
                }
                None
            };
            if ports.instructions != before {
                end = end.max(ports.now + 1);
            }
            let to = (*next).max(ports.now + 1);
            if general.is_some() || once || to >= stop || ports.instructions >= until {
                break general;
            }
            hierarchy.begin_cycle(to);
            (ports.now, first, *next) = (to, own.start, u64::MAX);
        };
        (self.now, self.outcome.wave_instructions, self.end) = (ports.now, ports.instructions, end);
        general
    }

    /// The ports of core `c` in this cycle, all cores, when each of them is due, and their memory.
    #[inline(always)]
    fn ports(&mut self, c: usize) -> (Ports<'_, '_, I>, &mut [Core<I>], &mut [u64], &mut Hierarchy) {
        let ports = Ports {
            exec: self.exec,
            number: c,
            classes: &self.classes,
            now: self.now,
            horizon: self.horizon,
            penalty: self.branch_penalty,
            instructions: self.outcome.wave_instructions,
            lanes: &mut self.outcome.lane_instructions,
            unsettled: &mut self.unsettled,
            shared: self.shared,
            plans: &self.plans,
        };
        (ports, &mut self.cores, &mut self.due, &mut self.hierarchy)
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
    fn run(&mut self, core: &mut Core<I>, q: usize) -> Turn {
        // An instruction that issued may have been the first that needs a context.
        let ports = core.issuers();
        let mut four = q / 4;
        let mut from = u64::MAX << (q % 4);
        while four * 4 < ports {
            // Whose turn it is cannot be foretold: bits instead of branches. Nobody's turn changes that of another port.
            let Some(dues) = core.dues.as_chunks::<4>().0.get(four) else { break };
            let due = |i: usize| u64::from(dues[i] <= self.now) << i;
            for bit in bits((due(0) | due(1) | due(2) | due(3)) & from) {
                if let issue @ Turn::Issue(..) = self.turn(core, four * 4 + bit as usize) {
                    return issue;
                }
            }
            (four, from) = (four + 1, u64::MAX);
        }
        core.turns = ports;
        core.find_first_due();
        Turn::Over
    }

    /// The turn of port `q`: who is ready, who goes, and when the next one may.
    #[inline(always)]
    fn turn(&mut self, core: &mut Core<I>, q: usize) -> Turn {
        let now = self.now;
        let Core { issuers, dues, units, waves, frontend, told, seats, followed, partitions, .. } =
            &mut *core;
        let (Some(part), Some(due)) = (issuers.get_mut(q), dues.get_mut(q)) else {
            return Turn::Over;
        };
        if part.choice == Choice::Asked {
            return self.turn_of_asked(core, q);
        }
        if part.next_wake <= now {
            part.wake_up(now);
        }
        let mut awake = part.active & !part.sleeping;
        if *followed {
            awake &= frontend.ready(q, now);
        }
        // Mostly only one has its operands, and nobody has to be asked.
        let alone = awake & awake.wrapping_sub(1) == 0 && part.choice != Choice::AmongReady;
        let (local, ready, next) = if alone {
            let (local, free) = (awake.trailing_zeros() as usize & 63, part.free(units, awake));
            if free > now {
                *due = free.min(part.next_wake);
                return Turn::Over;
            }
            (local, awake, u64::MAX)
        } else {
            let (ready, _, next) = part.divide(units, now, awake);
            if ready == 0 {
                *due = next.min(part.next_wake);
                return Turn::Over;
            }
            let Some(local) = part.pick(ready, *seats) else {
                // A policy of the caller's may be wrong.
                *due = now + 1;
                return Turn::Over;
            };
            (local as usize, ready, next)
        };
        let Some(sitter) = part.sitters.get(local) else { return Turn::Over };
        if sitter.ahead == 0 {
            if self.plans.get(sitter.pc as usize).is_none_or(|plan| plan.general) {
                core.turns = q + 1;
                return Turn::Issue(q, local);
            }
            return self.turn_of_first(core, (q, local), (ready, next));
        }
        let wave = (&mut waves[..], *partitions, q, local);
        if let Some(unit) = self.issue_ahead(part, units, (frontend, told), wave) {
            *due = part.goes_next(units, now, local, unit, (ready, next));
        }
        Turn::Over
    }

    /// The same from there on if the wave has executed nothing that it has not issued. `others`: who else is ready, and when somebody is
    /// who is not.
    #[inline(never)]
    fn turn_of_first(&mut self, core: &mut Core<I>, (q, local): (usize, usize), others: (u64, u64)) -> Turn {
        let Some(unit) = self.issue(core, q, local) else {
            core.turns = q + 1;
            return Turn::Issue(q, local);
        };
        let Core { issuers, dues, units, .. } = core;
        if let (Some(part), Some(due)) = (issuers.get_mut(q), dues.get_mut(q)) {
            *due = part.goes_next(units, self.now, local, unit, others);
        }
        Turn::Over
    }

    /// The same where the policy has to be asked in every cycle, and told of those in which nobody was ready.
    #[inline(never)]
    fn turn_of_asked(&mut self, core: &mut Core<I>, q: usize) -> Turn {
        let now = self.now;
        core.turns = q + 1;
        if core.issuers[q].occupied == 0 {
            core.dues[q] = u64::MAX;
            return Turn::Over;
        }
        core.catch_up(q, now);
        core.issuers[q].told(now);
        let (ready, next) = core.scan(q, now, 0);
        let Some(local) = core.pick(q, ready) else {
            // Somebody who is ready may go in the next cycle, even if the policy lets this one pass.
            core.dues[q] = if ready != 0 { now + 1 } else { next };
            return Turn::Over;
        };
        if self.issue(core, q, local as usize).is_none() {
            return Turn::Issue(q, local as usize);
        }
        core.dues[q] = core.next_turn(q, now);
        Turn::Over
    }

    /// Issues the instruction at the head of a seat if it concerns registers of its path only, or is a jump of all lanes of a wave of
    /// which nobody has to be told. Returns the unit that it took; none if nothing was done.
    #[inline(always)]
    fn issue(&mut self, core: &mut Core<I>, q: usize, local: usize) -> Option<u8> {
        let part = core.issuers.get(q)?;
        if part.sitters.get(local)?.ahead == 0 && (part.context != 0 || !self.run_ahead(core, q, local)) {
            return self.issue_of_split(core, q, local);
        }
        let Core { issuers, units, waves, frontend, told, partitions, .. } = core;
        let wave = (&mut waves[..], *partitions, q, local);
        self.issue_ahead(issuers.get_mut(q)?, units, (frontend, told), wave)
    }

    /// Instructions that concern only registers do the same whenever they are executed. So a wave that was never split executes many of them in a
    /// row when the first one issues, and when the others issue only time is counted. Returns whether there were any.
    #[inline(always)]
    fn run_ahead(&mut self, core: &mut Core<I>, q: usize, local: usize) -> bool {
        let part = &mut core.issuers[q];
        let slot = local * core.partitions + part.partition;
        let Some(Some(r)) = core.waves.get_mut(slot) else { return false };
        if r.wave.paths.len() != 1 {
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

    /// Issues the instruction at the head of a path of a wave that has been split, if it concerns registers of that path only.
    #[inline(never)]
    fn issue_of_split(&mut self, core: &mut Core<I>, q: usize, local: usize) -> Option<u8> {
        let (exec, program, now) = (self.exec, self.exec.program, self.now);
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
        self.instructions += 1;
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
            let number = self.number;
            self.unsettled.push(Unsettled { core: number, issuer: q, seat: local, from: now + 1 });
        }
        let there = self.fetch(part, (&mut core.frontend, &mut core.told), (q, local), step.next, true);
        part.goes_on(local, now, (wake, there), unit);
        Some(info.unit)
    }
}

type Waves<I> = [Option<Box<Resident<I>>>];

impl<I: Isa> Ports<'_, '_, I> {
    /// Issues an instruction that the wave in seat `local` of port `q` has executed: only time is counted. Returns the unit that it took.
    #[inline(always)]
    fn issue_ahead(
        &mut self,
        part: &mut Issuer,
        units: &mut Units,
        front: (&mut FrontEnd, &mut bool),
        (waves, partitions, q, local): (&mut Waves<I>, usize, usize, usize),
    ) -> Option<u8> {
        let now = self.now;
        let sitter = part.sitters.get_mut(local)?;
        let (pc, plan) = (sitter.pc, self.plans.get(sitter.pc as usize)?);
        let to = if sitter.ahead == 1 { sitter.to } else { plan.next };
        let straight = to == plan.next;
        (sitter.ahead, sitter.pc) = (sitter.ahead - 1, to);
        self.instructions += 1;
        let done = match part.kinds.get(usize::from(plan.unit)) {
            Some(kind) if plan.only && !self.shared => {
                units.take_only(kind, now + u64::from(plan.keeps));
                now + u64::from(plan.done)
            }
            _ => units.take(*self.classes[0].get(usize::from(plan.class))?, q, now).2,
        };
        let slot = local * partitions + part.partition;
        if sitter.has_late(now)
            && let Some(board) = board_of(waves, slot)
        {
            sitter.tell_late(board, &self.exec.program.steps, now);
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
                false => {
                    self.wait(sitter, || board_of(waves, slot), (to, straight && plan.feeds, straight), from)
                }
            };
        }
        if wake >= self.horizon && board_of(waves, slot).is_some_and(|board| board.is_open()) {
            self.unsettled.push(Unsettled { core: self.number, issuer: q, seat: local, from });
        }
        let there = self.fetch(part, front, (q, local), to, straight);
        part.goes_on(local, now, (wake, there), unit);
        Some(plan.unit)
    }

    /// The cycle from which the instruction at `to`, which follows on what has just issued, has all that it waits for, at least `from`.
    #[inline(never)]
    fn wait<'b>(
        &self,
        sitter: &mut Sitter,
        board: impl FnOnce() -> Option<&'b mut Board>,
        (to, feeds, straight): (Pc, bool, bool),
        from: u64,
    ) -> u64 {
        let program = self.exec.program;
        let steps = &program.steps[..];
        let Some(next) = steps.get(to as usize) else { return from };
        if next.waits || !next.knows_registers() {
            let (Some(board), Some(op)) = (board(), program.ops.get(to as usize)) else { return from };
            sitter.tell(board, steps, self.now);
            return wait_for(board, op, program, sitter.lanes, from);
        }
        sitter.wait(next, steps, straight.then_some(feeds), from, board)
    }

    /// A seat has issued and goes on at `to`: when its next instruction is there.
    #[inline(always)]
    fn fetch(
        &self,
        part: &mut Issuer,
        (frontend, told): (&mut FrontEnd, &mut bool),
        (q, local): (usize, usize),
        to: Pc,
        straight: bool,
    ) -> u64 {
        if self.shared {
            part.spots[local].pc = to;
        }
        frontend.goes_on((q, local), to, straight, self.now, &part.ages, told)
    }
}
