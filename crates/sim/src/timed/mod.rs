//! The timed run, cycle by cycle: dispatcher → issue (policy per partition) → units and memory → front end.
//! Completion times are computed at issue, so nothing is stepped that does not issue, and cycles in which
//! nobody can issue are skipped. Results never depend on whether somebody observes.

mod board;
mod core;
mod units;

pub(crate) use units::describe as describe_units;

use self::core::{Core, Slot};
use self::units::ClassInfo;
use crate::divergence::{Divergence, Notes};
use crate::error::SimError;
use crate::exec::{Effect, Exec};
use crate::functional::{budget, deadlock, no_wave_left, registers};
use crate::launch::{Launch, Launcher, Outcome, RunOptions};
use crate::memory::{DeviceMemory, Hierarchy, Lines, MemBus};
use crate::residency::{GroupPlace, Residency};
use crate::sink::Sink;
use wb_hw::{Dispatch, FrontEndKind, Machine};
use wb_isa::{Isa, Mask, Pc, WaveStart};
use wb_trace::{Event, Kind, StallReason};

struct Timed<'a, 's, I: Isa, D: Divergence, const OBS: bool> {
    exec: &'a Exec<'a, I, D>,
    machine: &'a Machine,
    classes: Vec<ClassInfo>,
    cores: Vec<Core<I, D>>,
    hierarchy: Hierarchy,
    /// Waves whose last instruction has issued but whose results are outstanding: (until, core, slot).
    draining: Vec<(u64, usize, usize)>,
    spare: Vec<Box<Slot<I, D>>>,
    lines: Lines,
    notes: Notes,
    sink: Sink<'s>,
    outcome: Outcome,
    launcher: Launcher,
    next_core: usize,
    /// A slot became free since the dispatcher last found no room.
    may_dispatch: bool,
    launched: u64,
    resident: u32,
    now: u64,
    /// First cycle at which everything issued so far is done.
    end: u64,
    branch_penalty: u64,
    keep_registers: bool,
    residency: Residency,
}

pub(crate) fn run<I: Isa, D: Divergence, const OBS: bool>(
    exec: &Exec<I, D>,
    machine: &Machine,
    launch: Launch,
    memory: DeviceMemory,
    mut options: RunOptions,
    sink: Sink,
) -> Result<Outcome, Box<SimError>> {
    let perfect = machine.frontend.kind == FrontEndKind::Perfect;
    let mut run = Timed::<I, D, OBS> {
        exec,
        machine,
        classes: units::classes(machine, exec.program.isa.classes()),
        cores: (0..machine.cores).map(|_| Core::new(machine)).collect(),
        hierarchy: Hierarchy::new(machine),
        draining: Vec::new(),
        spare: Vec::new(),
        lines: Lines::default(),
        notes: Notes { on: OBS, list: Vec::new() },
        sink,
        outcome: Outcome::new(memory),
        launcher: Launcher::new(launch, machine.core.lanes),
        next_core: 0,
        may_dispatch: true,
        launched: 0,
        resident: 0,
        now: 0,
        end: 0,
        branch_penalty: if perfect { u64::from(machine.frontend.branch_penalty) } else { 0 },
        keep_registers: options.keep_registers,
        residency: Residency::new(machine, launch),
    };
    let mut report_at = crate::PROGRESS_EVERY;
    loop {
        run.retire();
        run.dispatch();
        if run.resident == 0 {
            break;
        }
        if run.now >= machine.limits.cycles {
            return Err(run.out_of_budget());
        }
        run.cycle()?;
        if run.outcome.wave_instructions >= report_at {
            report_at += crate::PROGRESS_EVERY;
            if let Some(progress) = &mut options.progress {
                progress(run.now, run.outcome.wave_instructions);
            }
        }
    }
    let mut outcome = run.outcome;
    outcome.cycles = run.end;
    run.sink.end(outcome.cycles);
    Ok(outcome)
}

/// What the cores could do in a cycle.
#[derive(Clone, Copy)]
struct Activity {
    issued: bool,
    /// Somebody was ready, even if the policy let the cycle pass.
    ready: bool,
    /// Next cycle at which anything changes by itself.
    next: u64,
}

impl<I: Isa, D: Divergence, const OBS: bool> Timed<'_, '_, I, D, OBS> {
    /// Frees the slots of waves that have nothing outstanding any more.
    fn retire(&mut self) {
        let mut i = 0;
        while i < self.draining.len() {
            let (until, core, slot) = self.draining[i];
            if until <= self.now {
                self.draining.swap_remove(i);
                self.vacate(core, slot, until);
            } else {
                i += 1;
            }
        }
    }

    fn vacate(&mut self, core: usize, slot: usize, cycle: u64) {
        let Some(s) = self.cores[core].vacate(slot) else { return };
        self.residency.wave_ended(s.place);
        self.may_dispatch = true;
        self.resident -= 1;
        self.end = self.end.max(cycle);
        self.outcome.max_stack_depth = self.outcome.max_stack_depth.max(s.wave.max_depth);
        if self.keep_registers {
            self.outcome.registers.push(registers(self.exec, &s.wave));
        }
        if OBS {
            let event = Event { cycle, ..self.event(core, slot, &s, s.path.pc, s.path.mask, Kind::WaveEnd) };
            self.sink.push(event);
        }
        self.spare.push(s);
    }

    /// Fills free slots with waves of the launch, a whole group at a time.
    fn dispatch(&mut self) {
        while self.may_dispatch && !self.launcher.is_done() {
            let Some((core, slots)) = self.room() else {
                self.may_dispatch = false;
                return;
            };
            let place = self.residency.claim(core, slots.len() as u32, &mut self.outcome.memory);
            for slot in slots {
                let Some((start, live)) = self.launcher.next() else { return };
                self.place(place, slot, start, live, self.exec.program.entry);
            }
        }
    }

    /// The next core with room for a group, and the slots its waves take there.
    fn room(&mut self) -> Option<(usize, Vec<usize>)> {
        let n = self.cores.len();
        let first = match self.machine.dispatch {
            Dispatch::Fill => 0,
            Dispatch::RoundRobin => self.next_core,
        };
        let (waves, limit) = (self.launcher.group_waves(), self.residency.per_partition);
        let (core, slots) = (0..n).map(|i| (first + i) % n).find_map(|c| {
            let room = self.residency.has_room(c);
            Some((c, room.then(|| self.cores[c].free_slots(waves, limit)).flatten()?))
        })?;
        self.next_core = (core + 1) % n;
        Some((core, slots))
    }

    fn place(&mut self, place: GroupPlace, slot: usize, start: WaveStart, live: Mask, pc: Pc) {
        let core = place.core;
        let start = self.residency.furnish(start, place, core * self.machine.core.waves as usize + slot);
        let (reuse, board) = match self.spare.pop() {
            Some(old) => (Some(old.wave.regs), Some(old.board)),
            None => (None, None),
        };
        let (wave, path) = self.exec.wave(start, live, pc, reuse);
        let board = Slot::<I, D>::fresh_board(board, self.exec.program.isa.register_count());
        let unit = self.unit_at(pc);
        let s = Box::new(Slot::new(wave, path, board, self.now, place));
        if OBS {
            let event = self.event(core, slot, &s, pc, live, Kind::WaveStart { lanes: live });
            self.sink.push(event);
        }
        self.cores[core].occupy(slot, s, self.launched, self.now, unit);
        self.launched += 1;
        self.resident += 1;
        self.outcome.waves = self.outcome.waves.max(start.wave + 1);
    }

    fn unit_at(&self, pc: Pc) -> u8 {
        self.exec.program.ops.get(pc as usize).map_or(0, |op| self.classes[op.class as usize].unit)
    }

    fn event(&self, core: usize, slot: usize, s: &Slot<I, D>, pc: Pc, mask: Mask, kind: Kind) -> Event {
        Event {
            cycle: self.now,
            core: core as u16,
            slot: slot as u16,
            wave: s.wave.id,
            path: 0,
            pc,
            mask,
            kind,
        }
    }

    /// One cycle of every core; then on to the next cycle in which something can happen.
    fn cycle(&mut self) -> Result<(), Box<SimError>> {
        let mut seen = Activity { issued: false, ready: false, next: u64::MAX };
        for core in 0..self.cores.len() {
            if self.cores[core].occupied > 0 {
                self.cycle_core(core, &mut seen)?;
            }
        }
        if seen.issued || seen.ready {
            self.now += 1;
            return Ok(());
        }
        let drained = self.draining.iter().map(|d| d.0).min().unwrap_or(u64::MAX);
        let next = seen.next.min(drained);
        if next == u64::MAX {
            return Err(self.deadlock());
        }
        let next = next.min(self.machine.limits.cycles).max(self.now + 1);
        for core in &mut self.cores {
            core.idle(next - self.now - 1);
        }
        self.now = next;
        Ok(())
    }

    fn cycle_core(&mut self, c: usize, seen: &mut Activity) -> Result<(), Box<SimError>> {
        for p in 0..self.cores[c].partitions.len() {
            let mut issued = 0u64;
            let mut could = 0u64;
            for port in 0..self.machine.issue.width {
                let (ready, next) = self.cores[c].scan(p, self.now, issued);
                if port == 0 {
                    seen.next = seen.next.min(next);
                    seen.ready |= ready != 0;
                    could = ready;
                }
                let Some(local) = self.cores[c].pick(p, ready) else { break };
                issued |= 1 << local;
                self.issue(c, p, local as usize)?;
            }
            seen.issued |= issued != 0;
            if OBS {
                self.note_stalls(c, p, issued, could);
            }
        }
        let core = &mut self.cores[c];
        core.tick_front_end(self.now, c, self.exec.program, &mut self.hierarchy);
        seen.next = seen.next.min(core.frontend.next_event(self.now));
        Ok(())
    }

    /// Issues the instruction at the head of a slot: it takes effect now, timing follows.
    fn issue(&mut self, c: usize, p: usize, local: usize) -> Result<(), Box<SimError>> {
        let now = self.now;
        let program = self.exec.program;
        let slot = self.cores[c].slot_number(p, local);
        let Some(mut s) = self.cores[c].partitions[p].slots[local].take() else { return Ok(()) };
        let (pc, mask) = (s.path.pc, s.path.mask);
        let active = program.isa.active(&s.wave.regs, mask);
        let depth = self.exec.mechanism.depth(&s.wave.state);
        let op = program.ops.get(pc as usize);
        let class = op.map_or(0, |op| op.class);
        let info = self.classes[class as usize];
        if OBS {
            self.end_stall(c, slot, &mut s);
        }

        let mut wrote = false;
        let effect = if let Some(port) = info.port {
            self.lines.start(self.hierarchy.line(port));
            let mut bus = MemBus::<true> {
                memory: &mut self.outcome.memory,
                console: &mut self.outcome.console,
                lines: &mut self.lines,
                wrote: false,
            };
            let effect =
                self.exec.step(&mut s.wave, &mut s.path, now, c as u32, &mut bus, &mut self.notes)?;
            wrote = bus.wrote;
            effect
        } else {
            let mut bus = MemBus::<false> {
                memory: &mut self.outcome.memory,
                console: &mut self.outcome.console,
                lines: &mut self.lines,
                wrote: false,
            };
            self.exec.step(&mut s.wave, &mut s.path, now, c as u32, &mut bus, &mut self.notes)?
        };
        self.outcome.wave_instructions += 1;
        self.outcome.lane_instructions += u64::from(active.count_ones());

        let (instance, busy, mut done) = self.cores[c].units.take(info.unit, p, now, info.latency);
        let mut access = None;
        if let Some(port) = info.port
            && !self.lines.list.is_empty()
        {
            let lines = self.lines.addresses();
            let result = self.hierarchy.access(port, c, lines, wrote, now + u64::from(info.latency));
            done = done.max(result.done);
            access = Some((port, result));
        }
        let Some(op) = op else { return Ok(()) };
        for &register in program.writes(op) {
            s.board.write(register, mask, now, done, access.is_some());
        }
        for (counter, _) in op.waits.raises.iter().enumerate().filter(|r| *r.1) {
            s.board.raise(counter, now, done);
        }
        if OBS {
            self.exec.note_active(&s.wave, &mut s.path, active, &mut self.notes);
            self.note_issue(c, slot, &s, (pc, active), info.unit, instance, class, busy);
            if let Some((port, a)) = access {
                let lines = self.lines.list.len() as u16;
                let kind = Kind::Memory {
                    port,
                    write: wrote,
                    lines,
                    hits: a.hits,
                    misses: a.misses,
                    evictions: a.evictions,
                    done: a.done,
                };
                let event = self.event(c, slot, &s, pc, mask, kind);
                self.sink.push(event);
            }
        }

        self.end = self.end.max(now + 1);
        let straight = s.path.pc == op.next;
        if effect == Effect::End {
            let until = s.board.all.max(now + 1);
            self.cores[c].finish(p, local, s);
            if until <= now + 1 {
                self.vacate(c, slot, now + 1);
            } else {
                self.draining.push((until, c, slot));
            }
            return Ok(());
        }
        let mut cost = if straight { 0 } else { self.branch_penalty };
        let after = self.exec.mechanism.depth(&s.wave.state);
        if after != depth {
            let d = &self.machine.divergence;
            let each = if after > depth { d.push_cycles } else { d.pop_cycles };
            cost += u64::from(each) * after.abs_diff(depth) as u64;
        }
        self.cores[c].frontend.issued(slot, s.path.pc, straight);
        let wake = self.wake(&mut s, now + 1 + cost, cost > 0);
        let unit = self.unit_at(s.path.pc);
        self.cores[c].put_back(p, local, s, wake, unit);
        match effect {
            Effect::Barrier { id, count } => self.arrive(c, p, local, id, count, (pc, mask)),
            Effect::Spawn { pc: target, reg, value } => self.spawn(c, slot, target, reg, value, (pc, mask)),
            _ => Ok(()),
        }
    }

    /// The cycle from which the path's next instruction has its operands, and what it waits for.
    #[inline]
    fn wake(&self, s: &mut Slot<I, D>, from: u64, paid: bool) -> u64 {
        let mut wake = from;
        s.waits_for = if paid { StallReason::Divergence } else { StallReason::Dependency };
        let Some(op) = self.exec.program.ops.get(s.path.pc as usize) else { return wake };
        let reason = |memory| if memory { StallReason::Memory } else { StallReason::Dependency };
        if op.waits_for_all && s.board.all > wake {
            wake = s.board.all;
            s.waits_for = reason(s.board.all_memory);
        }
        if let Some(until) = op.waits.until {
            let ready = s.board.counters_at_most(until);
            if ready > wake {
                wake = ready;
                s.waits_for = StallReason::Memory;
            }
        }
        for &register in self.exec.program.touches(op) {
            if let Some((ready, memory)) = s.board.wait(register, s.path.mask, wake) {
                wake = ready;
                s.waits_for = reason(memory);
            }
        }
        wake
    }

    fn arrive(
        &mut self,
        c: usize,
        p: usize,
        local: usize,
        id: u64,
        count: u64,
        at: (Pc, Mask),
    ) -> Result<(), Box<SimError>> {
        let slot = self.cores[c].slot_number(p, local);
        let (arrived, released) = self.cores[c].barriers.arrive(id, count, slot as u32);
        if OBS && let Some(s) = self.cores[c].partitions[p].slots[local].take() {
            let needed = count.min(u64::from(u32::MAX)) as u32;
            let event = self.event(c, slot, &s, at.0, at.1, Kind::Barrier { id, arrived, needed });
            self.sink.push(event);
            self.cores[c].partitions[p].slots[local] = Some(s);
        }
        match released {
            None => self.cores[c].park(p, local),
            Some(slots) => {
                for s in slots {
                    self.cores[c].unpark(s as usize, self.now + 1);
                }
            }
        }
        Ok(())
    }

    fn spawn(
        &mut self,
        c: usize,
        slot: usize,
        target: Pc,
        reg: u16,
        value: u64,
        at: (Pc, Mask),
    ) -> Result<(), Box<SimError>> {
        let wave = self.outcome.waves;
        if wave >= self.machine.core.waves {
            let id = slot as u32;
            let error = no_wave_left(self.machine.core.waves);
            return Err(Box::new(error.at(self.exec.program, id, at.0, at.1, self.exec.lanes)));
        }
        let lanes = self.machine.core.lanes;
        let start = WaveStart { wave, lanes, spawned: Some((reg, value)), ..WaveStart::default() };
        self.place(GroupPlace::on(c), wave as usize, start, 1, target);
        // It cannot issue in the cycle that creates it, whichever partition it is in.
        self.cores[c].unpark(wave as usize, self.now + 1);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn note_issue(
        &mut self,
        c: usize,
        slot: usize,
        s: &Slot<I, D>,
        (pc, mask): (Pc, Mask),
        unit: u8,
        instance: u8,
        class: u8,
        busy: u64,
    ) {
        let busy = busy.min(u64::from(u16::MAX)) as u16;
        let event = self.event(c, slot, s, pc, mask, Kind::Issue { unit, instance, class, busy });
        self.sink.push(event);
        for kind in std::mem::take(&mut self.notes.list) {
            self.sink.push(Event { kind, ..event });
        }
    }

    /// Follows, per slot, why it does not issue; emits a stall when the reason changes or it issues.
    /// `could` are the slots that were ready when the scheduler chose.
    fn note_stalls(&mut self, c: usize, p: usize, issued: u64, could: u64) {
        for local in 0..self.cores[c].partitions[p].slots.len() {
            if issued >> local & 1 == 1 {
                continue;
            }
            let reason = match could >> local & 1 {
                1 => StallReason::NotSelected,
                _ => self.cores[c].stall_reason(p, local, self.now),
            };
            let slot = self.cores[c].slot_number(p, local);
            let Some(mut s) = self.cores[c].partitions[p].slots[local].take() else { continue };
            if s.stall != Some(reason) {
                self.end_stall(c, slot, &mut s);
                s.stall = Some(reason);
                s.stalled_since = self.now;
            }
            self.cores[c].partitions[p].slots[local] = Some(s);
        }
    }

    fn end_stall(&mut self, c: usize, slot: usize, s: &mut Slot<I, D>) {
        if let Some(reason) = s.stall.take()
            && self.now > s.stalled_since
        {
            let cycles = (self.now - s.stalled_since).min(u64::from(u32::MAX)) as u32;
            let lanes = self.exec.program.isa.active(&s.wave.regs, s.path.mask);
            let event = self.event(c, slot, s, s.path.pc, lanes, Kind::Stall { cycles, reason });
            self.sink.push(Event { cycle: s.stalled_since, ..event });
        }
    }

    fn out_of_budget(&self) -> Box<SimError> {
        let error = budget(self.machine.limits.cycles, "cycles");
        Box::new(match self.cores.iter().flat_map(Core::residents).next() {
            Some(s) => error.at(self.exec.program, s.wave.id, s.path.pc, s.path.mask, self.exec.lanes),
            None => error,
        })
    }

    fn deadlock(&self) -> Box<SimError> {
        let waves: Vec<String> = self
            .cores
            .iter()
            .flat_map(Core::residents)
            .map(|s| format!("wave {} at {}", s.wave.id, self.exec.program.place(s.path.from)))
            .collect();
        let barriers = self.cores.iter().find(|c| c.occupied > 0).map(|c| &c.barriers);
        Box::new(deadlock(barriers.unwrap_or(&Default::default()), &waves))
    }
}
