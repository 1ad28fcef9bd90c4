//! Issue: the instruction takes effect now; its timing, and what it does to the paths of its wave, follow.

use super::Timed;
use super::board::Board;
use super::core::{Resident, Spawning, Timing};
use super::issuer::Unsettled;
use super::units::ClassInfo;
use crate::barrier::Arrival;
use crate::error::{ErrorKind, SimError};
use crate::exec::{Effect, Moment};
use crate::frontend::jumps;
use crate::functional::no_wave_left;
use crate::memory::{Access, MemBus};
use crate::residency::GroupPlace;
use crate::wave::{Path, PathChange, PathState};
use wb_hw::MemorySplits;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, NO_PC, Pc, WaveStart};
use wb_program::Op;
use wb_trace::{Kind, NO_PATH, PortKind, StallReason, Touched};

/// Where an instruction issues: issuer and seat of a core, the slot of its wave, the path of that wave.
#[derive(Clone, Copy)]
struct Place {
    core: usize,
    issuer: usize,
    seat: usize,
    slot: usize,
    path: usize,
}

/// An instruction about to take effect.
#[derive(Clone, Copy)]
struct Head {
    pc: Pc,
    mask: Mask,
    /// Lanes of the mask that it works on.
    active: Mask,
    /// Entries of the wave's divergence stack.
    depth: usize,
    class: u8,
    info: ClassInfo,
}

/// What the machine does for an instruction, and until when.
struct Service {
    /// Copy of its unit, and cycles that it is busy.
    instance: u8,
    busy: u64,
    /// When the results are there.
    done: u64,
    wrote: bool,
    /// The way to memory that it took, what it met there, and when the last line was served.
    port: Option<PortKind>,
    met: Access,
    served: u64,
}

impl<I: Isa> Timed<'_, '_, I> {
    /// Issues the instruction at the head of a seat.
    pub(super) fn issue(&mut self, c: usize, q: usize, local: usize) -> Result<(), Box<SimError>> {
        if self.cores[c].nop_next(q, local) && self.issue_nop(c, q, local) {
            return Ok(());
        }
        let core = &mut self.cores[c];
        let (slot, k) = (core.slot_number(q, local), core.context(q));
        let Some(mut r) = core.waves[slot].take() else { return Ok(()) };
        let place = Place { core: c, issuer: q, seat: local, slot, path: k };
        let program = self.exec.program;
        let state = &mut r.wave.paths[k];
        core.issuers[q].sitters[local].tell(&mut state.own.board, &program.steps, self.now);
        let op = program.ops.get(state.path.pc as usize);
        let head = self.head(&r, k, op.map_or(0, |op| op.class));
        if self.sink.on() {
            self.end_stall(c, slot, &mut r, k);
            self.cores[c].look_again(slot);
        }
        if self.exec.check {
            self.check_operands(&r, k)?;
            self.check_head(c, (q, local), &r, k)?;
        }
        if self.table > 0 {
            let used = self.cores[c].table_entries(self.cores[c].partition(q)) + r.wave.table_entries();
            r.wave.room = self.table.saturating_sub(used);
        }
        let (effect, wrote) = self.take_effect(place, &mut r, head.info.port)?;
        self.outcome.wave_instructions += 1;
        self.outcome.lane_instructions += u64::from(head.active.count_ones());
        let service = self.serve(place, head.info, wrote);
        self.cores[c].request((q, local), self.now, c, program, &mut self.hierarchy);
        if let Some(watch) = &mut self.watch {
            watch.issued(c, slot, head.pc, op.map_or(head.pc, |op| op.next), head.active);
        }
        let Some(op) = op else { return Ok(()) };
        let memory = service.port.is_some();
        if self.memory != MemorySplits::Never
            && let Some(parts) =
                self.divide_load(c, (q, local), &mut r, (service.port, service.served), wrote)?
        {
            for (k, lanes, done) in parts {
                self.note_results((c, slot), &mut r.wave.paths[k].own.board, op, lanes, (done, memory));
            }
        } else {
            let board = &mut r.wave.paths[k].own.board;
            self.note_results((c, slot), board, op, head.mask, (service.done, memory));
        }
        if self.sink.on() {
            self.tell_issue(place, &mut r, head, effect, &service);
        }
        self.end = self.end.max(self.now + 1);
        let group = (self.exec.blocks && r.wave.divergence.decided()).then_some(r.place);
        if effect == Effect::End {
            self.end_wave(place, r);
            return group.map_or(Ok(()), |group| self.regroup(c, group));
        }
        self.go_to_next(place, &mut r, (head.pc, op.next), head.depth);
        self.cores[c].waves[slot] = Some(r);
        if let Some(group) = group {
            self.regroup(c, group)?;
        }
        self.react(place, effect, (head.pc, head.mask))?;
        if self.memory == MemorySplits::Revive {
            self.revive(c, self.cores[c].partition(q))?;
        }
        Ok(())
    }

    #[inline(always)]
    fn head(&self, r: &Resident<I>, k: usize, class: u8) -> Head {
        let PathState { path, regs, .. } = &r.wave.paths[k];
        Head {
            pc: path.pc,
            mask: path.mask,
            active: self.exec.program.isa.active(regs, path.mask),
            depth: r.wave.depth,
            class,
            info: self.classes[usize::from(k > 0)][class as usize],
        }
    }

    /// Executes the instruction. Those with a way to memory leave the lines they touch; returns whether they wrote.
    #[inline(always)]
    fn take_effect(
        &mut self,
        at: Place,
        r: &mut Resident<I>,
        port: Option<PortKind>,
    ) -> Result<(Effect, bool), Box<SimError>> {
        let moment = Moment { clock: self.now, core: at.core as u32, waves: self.cores[at.core].present };
        match port {
            Some(PortKind::Lds) => self.lines.start_banked(),
            Some(port) => self.lines.start(self.hierarchy.line(port)),
            None => {}
        }
        let (memory, console, lines) = (&mut self.outcome.memory, &mut self.outcome.printed, &mut self.lines);
        let mut bus = MemBus { memory, console, lines, note: port.is_some(), wrote: false };
        let effect = self.exec.step(&mut r.wave, at.path, moment, &mut bus, &mut self.notes)?;
        Ok((effect, bus.note && bus.wrote))
    }

    /// Takes the unit, and serves the lines that the instruction touched.
    #[inline(always)]
    fn serve(&mut self, at: Place, info: ClassInfo, wrote: bool) -> Service {
        let units = &mut self.cores[at.core].units;
        let (instance, busy, done) = units.take(info, at.issuer, self.now);
        let (port, met) = (None, Access::default());
        let mut service = Service { instance, busy, done, wrote, port, met, served: 0 };
        let Some(port) = info.port.filter(|_| !self.lines.list.is_empty()) else { return service };
        let port = if self.lines.is_banked() { PortKind::Lds } else { port };
        let mut sent = self.now + u64::from(info.latency);
        if port == PortKind::Lds {
            let conflicts = self.lines.bank_passes(self.machine.core.lds_banks) - 1;
            units.hold(info.unit, at.issuer, instance, conflicts);
            service.busy += conflicts;
            sent += conflicts;
        }
        let (to, met) = ((port, at.core), &mut service.met);
        let served = if self.memory == MemorySplits::Never {
            self.hierarchy.access(to, self.lines.far(), wrote, sent, met)
        } else {
            self.hierarchy.access_each(to, self.lines.addresses(), wrote, sent, (met, &mut self.each))
        };
        service.done = self.hierarchy.later(service.done, served);
        (service.port, service.served) = (Some(port), served);
        service
    }

    /// What the instruction writes in `lanes`, and the counters that it raises, are there when it is done.
    #[inline(always)]
    fn note_results(
        &mut self,
        wave: (usize, usize),
        board: &mut Board,
        op: &Op<I::Inst>,
        lanes: Mask,
        (done, memory): (u64, bool),
    ) {
        for &register in self.exec.program.writes(op) {
            board.write(register, lanes, self.now, done, memory);
        }
        for (counter, _) in op.waits.raises.iter().enumerate().filter(|r| *r.1) {
            board.raise(counter, self.now, done);
        }
        if board.is_open() {
            self.open.push(wave);
        }
    }

    /// Tells observers of the instruction, of masks that it changed, and of its lines.
    #[inline(never)]
    fn tell_issue(&mut self, at: Place, r: &mut Resident<I>, head: Head, effect: Effect, service: &Service) {
        let Head { pc, mask, active, class, info, .. } = head;
        if effect != Effect::Away {
            self.exec.note_active(&mut r.wave, at.path, active, &mut self.notes);
        }
        let (unit, instance, busy) = (info.unit, service.instance, service.busy);
        self.note_issue(at.core, at.slot, r, at.path, (pc, active), unit, instance, class, busy);
        if let Some(port) = service.port {
            if self.sink.wants_touched() {
                let local = port == PortKind::Lds;
                let lines: Vec<u64> = if local { Vec::new() } else { self.lines.addresses().collect() };
                self.sink.touched(&Touched { pc, write: service.wrote, local, lines: &lines });
            }
            let kind = Kind::Memory {
                port,
                write: service.wrote,
                lines: self.lines.list.len() as u16,
                hits: service.met.hits,
                misses: service.met.misses,
                evictions: service.met.evictions,
                done: service.served,
            };
            let event = self.event(at.core, at.slot, r, at.path, pc, mask, kind);
            self.sink.push(event);
        }
    }

    /// The wave has issued its last instruction: its slot is free when all results are there.
    fn end_wave(&mut self, at: Place, r: Box<Resident<I>>) {
        let boards = bits(r.wave.ids | 1 << at.path).map(|j| r.wave.paths[j as usize].own.board.all_done());
        let until = boards.fold(r.drained.max(self.now + 1), u64::max);
        self.cores[at.core].finish(at.slot, r);
        if let Some(watch) = &mut self.watch {
            watch.ended(at.core, at.slot);
        }
        if until <= self.now + 1 {
            self.vacate(at.core, at.slot, self.now + 1);
        } else {
            self.draining.push((until, at.core, at.slot));
            self.drained = self.drained.min(until);
        }
    }

    /// What the path, and others of its wave, do next, and when: entries of the divergence stack cost cycles.
    #[inline(always)]
    fn go_to_next(&mut self, at: Place, r: &mut Resident<I>, (from, next): (Pc, Pc), depth: usize) {
        let after = r.wave.depth;
        let mut cost = 0;
        if after != depth {
            let d = &self.machine.divergence;
            let each = if after > depth { d.push_cycles } else { d.pop_cycles };
            cost += u64::from(each) * after.abs_diff(depth) as u64;
        }
        if r.wave.changes.is_empty() {
            let pc = r.wave.paths[at.path].path.pc;
            let straight = pc == next;
            cost += if straight { 0 } else { self.branch_penalty };
            let jump = self.late && self.exec.program.flow.kind.get(from as usize).is_some_and(jumps);
            self.cores[at.core].issued(at.issuer, at.seat, pc, straight, jump, self.now);
            let seat = (at.issuer, at.seat);
            self.settle(at.core, seat, r, at.path, self.now + 1 + cost, cost > 0);
        } else {
            self.follow(at.core, at.slot, r, at.path, next, cost);
        }
    }

    /// What the instruction asks of other waves.
    #[inline(always)]
    fn react(&mut self, at: Place, effect: Effect, from: (Pc, Mask)) -> Result<(), Box<SimError>> {
        match effect {
            Effect::Barrier { id, count } => self.arrive(at.core, at.slot, at.path, (id, count), from),
            Effect::Spawn { pc, reg, value } => self.spawn(at.core, at.slot, pc, reg, value, from),
            Effect::SpawnWaves { pc, count } => {
                self.spawn_waves(at.core, Spawning { slot: at.slot, path: at.path, pc, count });
                Ok(())
            }
            Effect::Away => self.arrived(at.core, at.slot, from),
            Effect::Continue | Effect::End => Ok(()),
        }
    }

    /// Paths were born, merged, parked, woken or ended by the instruction that path `k` just issued.
    fn follow(&mut self, c: usize, slot: usize, r: &mut Resident<I>, k: usize, next: Pc, cost: u64) {
        let split = &self.machine.split;
        let (split_cycles, merge_cycles) = (u64::from(split.split_cycles), u64::from(split.merge_cycles));
        let mut changes = std::mem::take(&mut r.wave.changes);
        let mut own_cost = cost;
        for change in &changes {
            match *change {
                PathChange::New { id } => {
                    own_cost += split_cycles;
                    let path = r.wave.paths[id].path;
                    let own = &mut r.wave.paths[id].own;
                    (own.stall, own.stalled_since) = (None, self.now + 1);
                    let from = self.now + 1 + cost + split_cycles;
                    // A queue of NOPs waits for nothing else.
                    let wake = if self.coordinated { from } else { self.wake(r, id, from, true) };
                    let unit = self.unit_at(path.pc, id);
                    self.cores[c].sit(slot, id, (path.pc, path.mask), r.age, self.now, wake, unit);
                    self.note_path(c, slot, r, id, Kind::PathStart { lanes: path.mask });
                }
                PathChange::Merged { into, from } => {
                    if let Ok([a, b]) = r.wave.paths.get_disjoint_mut([into, from]) {
                        a.own.board.absorb(&b.own.board, self.now);
                    }
                    self.cores[c].stand(slot, from);
                    if into == k {
                        own_cost += merge_cycles;
                    } else if r.wave.parked >> into & 1 == 0 {
                        // It waits for what the other one has outstanding too.
                        let before = self.cores[c].wakes(slot, into);
                        self.go_on(c, slot, r, into, merge_cycles);
                        self.cores[c].unpark(slot, into, before);
                    }
                    self.note_path(c, slot, r, from, Kind::PathEnd { into: into as u16 });
                }
                PathChange::Parked { id } => self.cores[c].park(slot, id),
                PathChange::Woken { id } => self.go_on(c, slot, r, id, merge_cycles),
                PathChange::Ended { id } => {
                    r.drained = r.drained.max(r.wave.paths[id].own.board.all);
                    self.cores[c].stand(slot, id);
                    self.note_path(c, slot, r, id, Kind::PathEnd { into: NO_PATH });
                }
            }
        }
        changes.clear();
        r.wave.changes = changes;
        if r.wave.ids >> k & 1 == 1 {
            let (q, local) = self.cores[c].seat(slot, k);
            let pc = r.wave.paths[k].path.pc;
            let straight = pc == next;
            own_cost += if straight { 0 } else { self.branch_penalty };
            self.cores[c].issued(q, local, pc, straight, self.late, self.now);
            self.settle(c, (q, local), r, k, self.now + 1 + own_cost, own_cost > 0);
        }
    }

    /// A NOP at the head of a seat issues, or an instruction of the wrong path: a place of the queue passes, nothing else. False behind the end of the program,
    /// where only an error can issue.
    fn issue_nop(&mut self, c: usize, q: usize, local: usize) -> bool {
        let (slot, k) = (self.cores[c].slot_number(q, local), self.cores[c].context(q));
        let lost = |r: &Resident<I>| r.wave.paths[k].path.pc == NO_PC;
        let Some(mut r) = self.cores[c].waves[slot].take_if(|r| !lost(r)) else { return false };
        self.cores[c].request((q, local), self.now, c, self.exec.program, &mut self.hierarchy);
        self.cores[c].drop_one(q, local);
        self.outcome.nops += 1;
        if self.sink.on() {
            self.end_stall(c, slot, &mut r, k);
            let path = r.wave.paths[k].path;
            let event = self.event(c, slot, &r, k, path.pc, path.mask, Kind::Nop);
            self.sink.push(event);
        }
        if self.coordinated {
            self.settle(c, (q, local), &mut r, k, self.now + 1, false);
        }
        self.cores[c].waves[slot] = Some(r);
        true
    }

    /// When the seat may issue next, not before `from`: a NOP then, an instruction when it has its operands.
    #[inline]
    pub(super) fn settle(
        &mut self,
        c: usize,
        (q, local): (usize, usize),
        r: &mut Resident<I>,
        k: usize,
        from: u64,
        paid: bool,
    ) {
        let PathState { path, own, .. } = &mut r.wave.paths[k];
        let (pc, lanes) = (path.pc, path.mask);
        let core = &mut self.cores[c];
        let part = &mut core.issuers[q];
        (part.spots[local].lanes, part.spots[local].pc) = (lanes, pc);
        let sitter = &mut part.sitters[local];
        (sitter.lanes, sitter.pc) = (lanes, pc);
        sitter.learn(&own.board);
        if self.coordinated && core.nop_next(q, local) {
            own.waits_for = if paid { StallReason::Divergence } else { StallReason::Dependency };
            let unit = core.units.none();
            core.issuers[q].next(local, self.now, from, unit);
            return;
        }
        let wake = self.wake(r, k, from, paid);
        if wake >= self.horizon && r.wave.paths[k].own.board.is_open() {
            self.unsettled.push(Unsettled { core: c, issuer: q, seat: local, from });
        }
        let unit = self.unit_at(pc, k);
        self.cores[c].issuers[q].next(local, self.now, wake, unit);
    }

    /// A path that waited for a sibling goes on, after `cost` cycles.
    fn go_on(&mut self, c: usize, slot: usize, r: &mut Resident<I>, k: usize, cost: u64) {
        let seat = self.cores[c].seat(slot, k);
        self.cores[c].resume(seat.0, seat.1, r.wave.paths[k].path.pc, self.now);
        self.settle(c, seat, r, k, self.now + 1 + cost, cost > 0);
        self.cores[c].unpark(slot, k, self.now + 1);
    }

    /// The cycle from which the path's next instruction has its operands, and what it waits for.
    #[inline(always)]
    pub(super) fn wake(&self, r: &mut Resident<I>, k: usize, from: u64, paid: bool) -> u64 {
        let PathState { path, own, .. } = &mut r.wave.paths[k];
        own.waits_for = if paid { StallReason::Divergence } else { StallReason::Dependency };
        let step = self.exec.program.steps.get(path.pc as usize);
        match step.is_some_and(|step| step.waits || own.board.may_wait(step.bits(), from)) {
            true => self.wake_late(path, own, from),
            false => from,
        }
    }

    /// The same of an instruction that may have to wait.
    #[inline(never)]
    fn wake_late(&self, path: &Path, own: &mut Timing, from: u64) -> u64 {
        let mut wake = from;
        let Some(op) = self.exec.program.ops.get(path.pc as usize) else { return wake };
        let reason = |memory| if memory { StallReason::Memory } else { StallReason::Dependency };
        if op.waits_for_all && own.board.all_done() > wake {
            wake = own.board.all_done();
            own.waits_for = reason(own.board.all_memory);
        }
        if let Some(until) = op.waits.until {
            let ready = own.board.counters_at_most(until);
            if ready > wake {
                wake = ready;
                own.waits_for = StallReason::Memory;
            }
        }
        for &register in self.exec.program.touches(op) {
            if let Some((ready, memory)) = own.board.wait(register, path.mask, wake) {
                wake = ready;
                own.waits_for = reason(memory);
            }
        }
        wake
    }

    /// With checks on: what the path issues now has its operands, whatever moved the path here.
    fn check_operands(&self, r: &Resident<I>, k: usize) -> Result<(), Box<SimError>> {
        let PathState { path, own, .. } = &r.wave.paths[k];
        let Some(op) = self.exec.program.ops.get(path.pc as usize) else { return Ok(()) };
        let counted = op.waits.until.map_or(0, |until| own.board.counters_at_most(until));
        let early = |&&register: &&u16| own.board.wait(register, path.mask, self.now).is_some();
        let register = self.exec.program.touches(op).iter().find(early);
        let what = match register {
            Some(&register) => self.exec.program.isa.register_name(register),
            None if counted > self.now => "a wait counter".to_owned(),
            None => return Ok(()),
        };
        let message = format!("scoreboard invariant broken: an instruction issues before {what} is ready");
        let error = SimError::new(ErrorKind::Invariant, message);
        Err(Box::new(error.at(self.exec.program, r.wave.id, path.pc, path.mask, self.exec.lanes)))
    }

    /// With checks on: the instruction at the head of a coordinated queue is the one the path is at.
    fn check_head(
        &self,
        c: usize,
        (q, local): (usize, usize),
        r: &Resident<I>,
        k: usize,
    ) -> Result<(), Box<SimError>> {
        let path = &r.wave.paths[k].path;
        if self.cores[c].head_is(q, local, path.pc) {
            return Ok(());
        }
        let message = "front end invariant broken: the head of the instruction queue is another instruction";
        let error = SimError::new(ErrorKind::Invariant, message);
        Err(Box::new(error.at(self.exec.program, r.wave.id, path.pc, path.mask, self.exec.lanes)))
    }

    /// A path is at a barrier. The wave arrives when all its paths wait, there or for a sibling.
    fn arrive(
        &mut self,
        c: usize,
        slot: usize,
        k: usize,
        barrier: (u64, u64),
        at: (Pc, Mask),
    ) -> Result<(), Box<SimError>> {
        if let Some(r) = &mut self.cores[c].waves[slot] {
            r.wave.at_barrier |= 1 << k;
            r.wave.barrier = barrier;
        }
        self.cores[c].park(slot, k);
        self.hold(c, slot);
        self.arrived(c, slot, at)
    }

    /// Checks whether the wave as a whole has arrived at its barrier.
    fn arrived(&mut self, c: usize, slot: usize, at: (Pc, Mask)) -> Result<(), Box<SimError>> {
        let Some(wave) = self.cores[c].waves[slot].as_mut().map(|r| &mut r.wave) else { return Ok(()) };
        if !wave.all_at_barrier() {
            return Ok(());
        }
        self.exec.check_barrier(wave)?;
        let (id, count) = wave.barrier;
        let Arrival { arrived, needed, released } = self.cores[c].barriers.arrive(id, count, slot as u32);
        if self.sink.on()
            && let Some(r) = self.cores[c].waves[slot].take()
        {
            let k = r.wave.at_barrier.trailing_zeros() as usize;
            let event = self.event(c, slot, &r, k, at.0, at.1, Kind::Barrier { id, arrived, needed });
            self.sink.push(event);
            self.cores[c].waves[slot] = Some(r);
        }
        self.release(c, &released, self.now + 1);
        Ok(())
    }

    /// Paths of the wave wait at a barrier or do not any more: others may have to run, or to wait.
    fn hold(&mut self, c: usize, slot: usize) {
        let Some(mut r) = self.cores[c].waves[slot].take() else { return };
        self.exec.hold(&mut r.wave);
        for change in std::mem::take(&mut r.wave.changes) {
            match change {
                PathChange::Parked { id } => self.cores[c].park(slot, id),
                PathChange::Woken { id } => self.go_on(c, slot, &mut r, id, 0),
                PathChange::New { .. } | PathChange::Merged { .. } | PathChange::Ended { .. } => {}
            }
        }
        self.cores[c].waves[slot] = Some(r);
    }

    /// Waves that waited at a barrier may issue from cycle `from` on.
    pub(super) fn release(&mut self, c: usize, released: &[u32], from: u64) {
        for slot in released.iter().map(|&s| s as usize) {
            let waiting = match &mut self.cores[c].waves[slot] {
                Some(r) => std::mem::take(&mut r.wave.at_barrier),
                None => 0,
            };
            for k in bits(waiting) {
                self.cores[c].unpark(slot, k as usize, from);
            }
            self.hold(c, slot);
        }
    }

    /// The wave waits until it is the only one of its core (Vortex `wspawn`).
    fn spawn_waves(&mut self, c: usize, spawning: Spawning) {
        if let Some(r) = &mut self.cores[c].waves[spawning.slot] {
            r.wave.at_barrier |= 1 << spawning.path;
        }
        self.cores[c].park(spawning.slot, spawning.path);
        self.cores[c].spawning = Some(spawning);
        self.start_waves(c);
    }

    /// Starts the waves that a wave of the core asked for, if it is alone now.
    pub(super) fn start_waves(&mut self, c: usize) {
        if self.cores[c].occupied != 1 {
            return;
        }
        let Some(Spawning { slot, path, pc, count }) = self.cores[c].spawning.take() else { return };
        let lanes = self.machine.core.lanes;
        let parent = self.cores[c].waves[slot].as_ref().map(|r| &r.wave.paths[path].regs);
        let inherited = parent.and_then(|regs| self.exec.program.isa.handed_over(regs));
        for number in 1..count.min(self.machine.core.waves) {
            let (wave, group) = (self.outcome.waves, c as u32);
            let start =
                WaveStart { wave, group, wave_in_group: number, lanes, inherited, ..WaveStart::default() };
            self.place(GroupPlace::on(c), number as usize, start, 1, pc);
            self.cores[c].unpark(number as usize, 0, self.now + 1);
        }
        if let Some(r) = &mut self.cores[c].waves[slot] {
            r.wave.at_barrier &= !(1 << path);
        }
        self.cores[c].unpark(slot, path, self.now + 1);
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
        self.cores[c].unpark(wave as usize, 0, self.now + 1);
        Ok(())
    }
}
