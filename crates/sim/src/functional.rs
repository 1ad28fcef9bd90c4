//! The untimed run: same semantics, no pipeline. Waves take turns in launch order, a fixed number of
//! instructions each, so that waves that wait for each other through memory make progress.

use crate::barrier::{Arrival, Barriers};
use crate::checked;
use crate::divergence::{Blocks, Notes};
use crate::error::{ErrorKind, SimError};
use crate::exec::{Effect, Exec, Moment};
use crate::inspect::Inspector;
use crate::launch::{Launch, Launcher, Outcome, Part, RunOptions, WaveRegisters};
use crate::memory::{DeviceMemory, Lines, MemBus};
use crate::residency::{GroupPlace, Residency};
use crate::resident::Resident;
use crate::seen::{Seen, did};
use crate::sink::Sink;
use crate::sofar::Sofar;
use crate::stretch::Stretch;
use crate::wave::{PathChange, Wave};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use wb_hw::Machine;
use wb_isa::lanes::bits;
use wb_isa::{Isa, Mask, Pc, WaveStart};
use wb_trace::{Event, Kind, NO_PATH};

/// Instructions a wave runs before the next one has its turn.
const TURN: u64 = 1024;

struct Functional<'a, 's, 'i, I: Isa> {
    exec: &'a Exec<'a, I>,
    /// Boxed: a turn takes its wave out.
    slots: Vec<Option<Box<Resident<I>>>>,
    /// Slots in the order of their turns.
    turns: VecDeque<u32>,
    free: Vec<u32>,
    spare: Vec<I::Regs>,
    /// Registers that waves left in their slots, where waves start waves (Vortex).
    left: Vec<Option<I::Regs>>,
    /// By core.
    barriers: Vec<Barriers>,
    /// Waves of each core, one bit each.
    present: Vec<u64>,
    /// Slot of the wave of each core that waits until it is alone, and what it then starts.
    spawning: Vec<Option<(u32, Pc, u32)>>,
    waves_per_core: u32,
    outcome: Outcome,
    waves: u32,
    /// Waves that have ended.
    ended: u64,
    sink: Sink<'s>,
    inspector: Option<&'i mut dyn Inspector>,
    keep_registers: bool,
    residency: Residency,
    blocks: Blocks,
}

pub(crate) fn run<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    part: Option<Part>,
    memory: DeviceMemory,
    mut options: RunOptions,
    sink: Sink,
) -> Result<Outcome, Box<SimError>> {
    let inspector = options.inspector.take();
    let capacity = machine.cores * machine.core.waves;
    let mut launcher = Launcher::new(launch, machine.core.lanes).only(part);
    let mut run = Functional {
        exec,
        slots: (0..capacity).map(|_| None).collect(),
        turns: VecDeque::new(),
        free: (0..capacity).rev().collect(),
        spare: Vec::new(),
        left: match launch {
            Launch::Cores { .. } => (0..machine.cores * machine.core.waves).map(|_| None).collect(),
            _ => Vec::new(),
        },
        barriers: vec![Barriers::default(); machine.cores as usize],
        present: vec![0; machine.cores as usize],
        spawning: vec![None; machine.cores as usize],
        waves_per_core: machine.core.waves,
        outcome: Outcome::new(memory),
        waves: 0,
        ended: 0,
        sink,
        inspector,
        keep_registers: options.keep_registers,
        residency: Residency::new(machine, launch),
        blocks: Blocks::default(),
    };
    if let Some(checker) = &mut run.outcome.memory.checker {
        checked::launch(checker, exec);
    }
    if let Err(error) = run.all(&mut launcher, machine, &mut options) {
        return Err(error.with_memory(run.outcome.memory));
    }
    run.over(None, None);
    let mut outcome = run.outcome;
    outcome.cycles = outcome.wave_instructions;
    outcome.waves = run.waves;
    outcome.console = outcome.printed.text();
    run.sink.end(outcome.cycles);
    Ok(outcome)
}

impl<I: Isa> Functional<'_, '_, '_, I> {
    /// Turn after turn, until no wave is left.
    fn all(
        &mut self,
        launcher: &mut Launcher,
        machine: &Machine,
        options: &mut RunOptions,
    ) -> Result<(), Box<SimError>> {
        let mut notes = Notes { on: self.sink.on(), list: Vec::new() };
        let mut lines = Lines::default();
        let mut report_at = crate::PROGRESS_EVERY;
        loop {
            self.fill(launcher);
            let Some(slot) = self.turns.pop_front() else { break };
            self.turn(slot, machine, &mut notes, &mut lines)?;
            if self.outcome.wave_instructions >= report_at {
                report_at += crate::PROGRESS_EVERY;
                let done = self.outcome.wave_instructions;
                let (ended, waves) = (self.ended, launcher.waves());
                let sofar = Sofar { cycles: done, instructions: done, ended, waves };
                if let Some(progress) = &mut options.progress
                    && progress(sofar).is_break()
                {
                    return Err(Box::new(stopped(done, "wave-instructions")));
                }
            }
        }
        if self.slots.iter().all(Option::is_none) {
            return Ok(());
        }
        let error = self.deadlock();
        self.over(None, Some(&error));
        Err(error)
    }

    /// Tells whoever looks between instructions that there are no more.
    #[cold]
    fn over(&mut self, at: Option<&Resident<I>>, error: Option<&SimError>) {
        if let Some(inspector) = &mut self.inspector {
            let executed = self.outcome.wave_instructions;
            let (memory, printed) = (&self.outcome.memory, &self.outcome.printed);
            inspector
                .over(&Seen { exec: self.exec, slots: &self.slots, at, executed, memory, printed }, error);
        }
    }

    /// The same for an error of a wave.
    #[inline(always)]
    fn told<T>(&mut self, r: &Resident<I>, result: Result<T, Box<SimError>>) -> Result<T, Box<SimError>> {
        if let (Err(error), true) = (&result, self.inspector.is_some()) {
            // Whoever stopped the run knows.
            if error.kind != ErrorKind::Stopped {
                self.over(Some(r), Some(error));
            }
        }
        result
    }

    /// Lets whoever looks between instructions do so.
    #[inline(never)]
    fn inspect(&mut self, r: &Resident<I>) -> Result<bool, Box<SimError>> {
        let executed = self.outcome.wave_instructions;
        let Some(inspector) = self.inspector.as_mut().filter(|i| i.quiet_until() <= executed) else {
            return Ok(false);
        };
        let (memory, printed) = (&self.outcome.memory, &self.outcome.printed);
        let seen = Seen { exec: self.exec, slots: &self.slots, at: Some(r), executed, memory, printed };
        match inspector.before(&seen) {
            ControlFlow::Continue(()) => Ok(inspector.wants_accesses()),
            ControlFlow::Break(()) => Err(Box::new(stopped(executed, "wave-instructions"))),
        }
    }

    /// Starts groups while there is room for whole ones.
    fn fill(&mut self, launcher: &mut Launcher) {
        while !launcher.is_done() && self.free.len() >= launcher.group_waves() as usize {
            let waves = launcher.group_waves();
            if let Some(core) = launcher.core() {
                let Some((start, live)) = launcher.next() else { return };
                let slot = core as u32 * self.waves_per_core;
                self.start_in(slot, start, live, self.exec.program.entry, GroupPlace::on(core));
                continue;
            }
            let cores = 0..self.residency.cores();
            let Some(core) = cores.into_iter().find(|&c| self.residency.has_room(c)) else { return };
            let place = self.residency.claim(core, waves, &mut self.outcome.memory);
            for _ in 0..waves {
                let Some((start, live)) = launcher.next() else { return };
                self.start(start, live, self.exec.program.entry, place);
            }
        }
    }

    fn start(&mut self, start: WaveStart, live: Mask, pc: Pc, place: GroupPlace) {
        if let Some(&slot) = self.free.last() {
            self.start_in(slot, start, live, pc, place);
        }
    }

    fn start_in(&mut self, slot: u32, start: WaveStart, live: Mask, pc: Pc, place: GroupPlace) {
        if self.free.pop_if(|last| *last == slot).is_none() {
            self.free.retain(|&s| s != slot);
        }
        self.present[place.core] |= 1u64.checked_shl(start.wave_in_group).unwrap_or(0);
        let start = self.residency.furnish(start, place, slot as usize);
        let kept = self.left.get_mut(slot as usize).and_then(Option::take);
        let start = WaveStart { kept: kept.is_some(), ..start };
        let mut wave = self.exec.wave(start, live, pc, kept.or_else(|| self.spare.pop()), ());
        if let Some(shared) = self.blocks.join(self.exec.machine, start.wave_in_group, live, 0) {
            wave.divergence = shared;
        }
        self.waves = self.waves.max(start.wave + 1);
        self.turns.push_back(slot);
        if let Some(checker) = &mut self.outcome.memory.checker {
            checked::start(checker, self.exec, slot, &start, self.residency.spaces(&start));
        }
        self.emit(slot, &wave, 0, pc, live, Kind::WaveStart { lanes: live });
        self.slots[slot as usize] = Some(Box::new(Resident { wave, path: 0, place, start, slot }));
    }

    fn emit(&mut self, slot: u32, wave: &Wave<I, ()>, k: usize, pc: Pc, mask: Mask, kind: Kind) {
        if self.sink.on() {
            self.sink.push(Event {
                cycle: self.outcome.wave_instructions,
                core: 0,
                slot: slot as u16,
                wave: wave.id,
                path: k as u16,
                pc,
                mask,
                kind,
            });
        }
    }

    /// One wave's turn: its paths in order of their numbers, each as long as it can run.
    fn turn(
        &mut self,
        slot: u32,
        machine: &Machine,
        notes: &mut Notes,
        lines: &mut Lines,
    ) -> Result<(), Box<SimError>> {
        let Some(mut r) = self.slots[slot as usize].take() else { return Ok(()) };
        let mut left = TURN;
        while left > 0 {
            if r.wave.runnable() >> r.path & 1 == 0 {
                match bits(r.wave.runnable()).next() {
                    Some(k) => r.path = k as usize,
                    None => break,
                }
            }
            let stretch = self.stretch(&mut r, machine, notes, lines, left);
            let stretch = self.told(&r, stretch)?;
            let effect = match stretch {
                Some(Stretch { count, effect, .. }) => {
                    left -= count;
                    effect
                }
                None => {
                    left -= 1;
                    let step = self.step(slot, &mut r, machine, notes, lines);
                    self.told(&r, step)?
                }
            };
            if self.exec.blocks && r.wave.divergence.decided() {
                let regrouped = self.regroup(&mut r, effect == Effect::End);
                self.told(&r, regrouped)?;
            }
            match effect {
                Effect::End => {
                    self.end(slot, r);
                    return Ok(());
                }
                Effect::Spawn { pc, reg, value } => {
                    let spawned = self.spawn(&r, machine, pc, reg, value);
                    self.told(&r, spawned)?;
                }
                Effect::SpawnWaves { pc, count } => {
                    r.wave.at_barrier |= 1 << r.path;
                    let core = r.place.core;
                    self.spawning[core] = Some((slot, pc, count));
                    self.slots[slot as usize] = Some(r);
                    self.start_waves(core);
                    return Ok(());
                }
                Effect::Barrier { id, count } => {
                    r.wave.at_barrier |= 1 << r.path;
                    r.wave.barrier = (id, count);
                    self.exec.hold(&mut r.wave);
                    r.wave.changes.clear();
                    if let Some(checker) = &mut self.outcome.memory.checker {
                        checked::arrives(checker, self.exec, &r.wave, r.path, slot);
                    }
                    let arrived = self.arrive(slot, &mut r);
                    if self.told(&r, arrived)? {
                        self.slots[slot as usize] = Some(r);
                        return Ok(());
                    }
                }
                Effect::Away => {
                    let arrived = self.arrive(slot, &mut r);
                    if self.told(&r, arrived)? {
                        self.slots[slot as usize] = Some(r);
                        return Ok(());
                    }
                }
                Effect::Continue => {}
            }
        }
        if r.wave.runnable() != 0 {
            // Paths that wait for each other through memory all get their turn.
            let later = r.wave.runnable() & !1u64.checked_shl(r.path as u32 + 1).map_or(!0, |b| b - 1);
            r.path = bits(later).chain(bits(r.wave.runnable())).next().unwrap_or(0) as usize;
            self.turns.push_back(slot);
        }
        self.slots[slot as usize] = Some(r);
        Ok(())
    }

    /// The block of the wave has decided: its waves take over their new paths, and those that waited have their turns again.
    fn regroup(&mut self, r: &mut Resident<I>, ended: bool) -> Result<(), Box<SimError>> {
        for slot in 0..self.slots.len() {
            let Some(other) = &mut self.slots[slot] else { continue };
            if other.place == r.place && other.wave.live != 0 && other.wave.divergence.decided() {
                self.exec.regroup(&mut other.wave, |_, _| {})?;
                if other.wave.runnable() != 0 {
                    self.turns.push_back(slot as u32);
                }
            }
        }
        if !ended {
            self.exec.regroup(&mut r.wave, |_, _| {})?;
        }
        Ok(())
    }

    /// As many instructions as nobody watches, at most `most`; none if the next one has to be looked at.
    fn stretch(
        &mut self,
        r: &mut Resident<I>,
        machine: &Machine,
        notes: &mut Notes,
        lines: &mut Lines,
        most: u64,
    ) -> Result<Option<Stretch>, Box<SimError>> {
        let watched = self.sink.on() || self.outcome.memory.checker.is_some();
        if watched || self.exec.check || self.exec.blocks || r.wave.paths.len() != 1 {
            return Ok(None);
        }
        let mut most = most.min(machine.limits.cycles.saturating_sub(self.outcome.wave_instructions));
        if let Some(inspector) = &self.inspector {
            most = most.min(inspector.quiet_until().saturating_sub(self.outcome.wave_instructions));
        }
        let moment = Moment { clock: r.wave.issued, core: 0, waves: self.present[r.place.core] };
        let mut bus = MemBus::untimed(&mut self.outcome.memory, &mut self.outcome.printed, lines);
        let issued = r.wave.issued;
        let stretch = match self.exec.stretch(&mut r.wave, moment, &mut bus, notes, most) {
            Ok(stretch) => stretch,
            Err(error) => {
                // Those before the one that failed, which the mechanism may have refused after it was issued.
                let path = r.wave.paths[0].path;
                let refused = u64::from(path.from == path.pc);
                self.outcome.wave_instructions += (r.wave.issued - issued).saturating_sub(refused);
                return Err(error);
            }
        };
        r.wave.changes.clear();
        self.outcome.wave_instructions += stretch.count;
        self.outcome.lane_instructions += stretch.lanes;
        Ok((stretch.count > 0).then_some(stretch))
    }

    /// One instruction of the path whose turn it is.
    fn step(
        &mut self,
        slot: u32,
        r: &mut Resident<I>,
        machine: &Machine,
        notes: &mut Notes,
        lines: &mut Lines,
    ) -> Result<Effect, Box<SimError>> {
        let k = r.path;
        let path = r.wave.paths[k].path;
        if self.outcome.wave_instructions >= machine.limits.cycles {
            let error = budget(machine.limits.cycles, "wave-instructions");
            return Err(Box::new(error.at(
                self.exec.program,
                r.wave.id,
                path.pc,
                path.mask,
                self.exec.lanes,
            )));
        }
        let note = self.inspector.is_some() && self.inspect(r)?;
        if note {
            lines.start_exact();
        }
        let mut bus = MemBus::untimed(&mut self.outcome.memory, &mut self.outcome.printed, lines);
        bus.note = note;
        let active = self.exec.program.isa.active(&r.wave.paths[k].regs, path.mask);
        let moment = Moment { clock: r.wave.issued, core: 0, waves: self.present[r.place.core] };
        let effect = match bus.memory.checker.is_some() {
            false => self.exec.step(&mut r.wave, k, moment, &mut bus, notes)?,
            true => checked::step(self.exec, &mut r.wave, (k, slot), moment, &mut bus, notes)?,
        };
        if let Some(inspector) = &mut self.inspector {
            let wrote = if bus.wrote { lines.exact() } else { &[] };
            inspector.after(&did(self.exec, &r.wave, (k, path), active, effect, wrote));
        }
        self.outcome.lane_instructions += u64::from(active.count_ones());
        if self.sink.on() {
            let class = self.exec.program.ops[path.pc as usize].class;
            let issue = Kind::Issue { unit: u8::MAX, instance: 0, class, busy: 1 };
            self.emit(slot, &r.wave, k, path.pc, active, issue);
            if effect != Effect::Away {
                self.exec.note_active(&mut r.wave, k, active, notes);
            }
            for kind in std::mem::take(&mut notes.list) {
                self.emit(slot, &r.wave, k, path.pc, active, kind);
            }
            for i in 0..r.wave.changes.len() {
                let (id, kind) = match r.wave.changes[i] {
                    PathChange::New { id } => (id, Kind::PathStart { lanes: r.wave.paths[id].path.mask }),
                    PathChange::Merged { from, into } => (from, Kind::PathEnd { into: into as u16 }),
                    PathChange::Ended { id } => (id, Kind::PathEnd { into: NO_PATH }),
                    PathChange::Parked { .. } | PathChange::Woken { .. } => continue,
                };
                let path = r.wave.paths[id].path;
                self.emit(slot, &r.wave, id, path.pc, path.mask, kind);
            }
        }
        r.wave.changes.clear();
        self.outcome.wave_instructions += 1;
        Ok(effect)
    }

    /// The wave arrives at its barrier once all its paths wait, there or for a sibling. True if that releases everybody
    /// there, this wave too: then all of them wait for their turns.
    fn arrive(&mut self, slot: u32, r: &mut Resident<I>) -> Result<bool, Box<SimError>> {
        if !r.wave.all_at_barrier() {
            return Ok(false);
        }
        self.exec.check_barrier(&mut r.wave)?;
        let (id, count) = r.wave.barrier;
        let Arrival { arrived, needed, mut released } = self.barriers[r.place.core].arrive(id, count, slot);
        let k = r.wave.at_barrier.trailing_zeros() as usize;
        let path = r.wave.paths[k].path;
        self.emit(slot, &r.wave, k, path.from, path.mask, Kind::Barrier { id, arrived, needed });
        if released.is_empty() {
            return Ok(false);
        }
        r.wave.at_barrier = 0;
        self.exec.hold(&mut r.wave);
        r.wave.changes.clear();
        let own = r.wave.id;
        let wave = |&s: &u32| self.slots[s as usize].as_ref().map_or(own, |r| r.wave.id);
        released.sort_by_key(wave);
        if let Some(checker) = &mut self.outcome.memory.checker {
            checker.released(slot as usize);
        }
        self.release(&released);
        Ok(true)
    }

    /// Waves go on behind a barrier in the order of their numbers, whoever came last: the timed machine lets them go together.
    fn release(&mut self, released: &[u32]) {
        for &s in released {
            if let Some(r) = &mut self.slots[s as usize] {
                r.wave.at_barrier = 0;
                self.exec.hold(&mut r.wave);
                r.wave.changes.clear();
            }
            self.turns.push_back(s);
        }
    }

    fn spawn(
        &mut self,
        r: &Resident<I>,
        machine: &Machine,
        target: Pc,
        reg: u16,
        value: u64,
    ) -> Result<(), Box<SimError>> {
        let wave = self.waves;
        if wave >= machine.core.waves || self.free.is_empty() {
            let error = no_wave_left(machine.core.waves);
            let path = r.wave.paths[r.path].path;
            let id = r.wave.id;
            return Err(Box::new(error.at(self.exec.program, id, path.from, path.mask, self.exec.lanes)));
        }
        let lanes = machine.core.lanes;
        let start = WaveStart { wave, lanes, spawned: Some((reg, value)), ..WaveStart::default() };
        self.start(start, 1, target, GroupPlace::default());
        Ok(())
    }

    /// Starts the waves that a wave of the core asked for, if it is alone now (Vortex `wspawn`).
    fn start_waves(&mut self, core: usize) {
        let Some((slot, pc, count)) = self.spawning[core] else { return };
        let first = core as u32 * self.waves_per_core;
        let mine = first..first + self.waves_per_core;
        if mine.clone().any(|s| s != slot && self.slots[s as usize].is_some()) {
            return;
        }
        self.spawning[core] = None;
        let parent = self.slots[slot as usize].as_ref().map(|r| &r.wave.paths[r.path].regs);
        let inherited = parent.and_then(|regs| self.exec.program.isa.handed_over(regs));
        for number in 1..count.min(self.waves_per_core) {
            let (wave, group, lanes) = (self.waves, core as u32, self.exec.lanes);
            let start =
                WaveStart { wave, group, wave_in_group: number, lanes, inherited, ..WaveStart::default() };
            self.start_in(first + number, start, 1, pc, GroupPlace::on(core));
        }
        if let Some(r) = &mut self.slots[slot as usize] {
            r.wave.at_barrier = 0;
            self.turns.push_back(slot);
        }
    }

    fn end(&mut self, slot: u32, r: Box<Resident<I>>) {
        let path = r.wave.paths[r.path].path;
        self.emit(slot, &r.wave, r.path, path.from, path.mask, Kind::WaveEnd);
        self.outcome.max_stack_depth = self.outcome.max_stack_depth.max(r.wave.max_depth);
        if self.keep_registers {
            self.outcome.registers.push(registers(self.exec, &r.wave));
        }
        self.residency.wave_ended(r.place);
        if let Some(checker) = &mut self.outcome.memory.checker {
            checker.end(slot as usize);
        }
        self.ended += 1;
        let core = r.place.core;
        self.present[core] &= !1u64.checked_shl(r.start.wave_in_group).unwrap_or(0);
        if let Some((id, count)) = r.wave.team {
            let mut released = self.barriers[core].ended(id, count);
            released.sort_by_key(|&s| self.slots[s as usize].as_ref().map(|r| r.wave.id));
            if let (Some(checker), Some(first)) = (&mut self.outcome.memory.checker, released.first()) {
                checker.released(*first as usize);
            }
            self.release(&released);
        }
        match self.left.get_mut(slot as usize) {
            Some(place) => *place = Some(r.wave.into_regs()),
            None => self.spare.push(r.wave.into_regs()),
        }
        self.free.push(slot);
        self.start_waves(core);
    }

    fn deadlock(&self) -> Box<SimError> {
        let waves: Vec<String> =
            self.slots.iter().flatten().flat_map(|r| waiting(self.exec, &r.wave)).collect();
        let barriers = self.barriers.iter().find(|b| !b.describe().is_empty()).cloned().unwrap_or_default();
        Box::new(deadlock(&barriers, &waves))
    }
}

pub(crate) fn registers<I: Isa, X>(exec: &Exec<I>, wave: &Wave<I, X>) -> WaveRegisters {
    let lanes = (0..exec.lanes).map(|lane| exec.program.isa.dump(wave.regs(), lane)).collect();
    WaveRegisters { wave: wave.id, lanes }
}

/// The paths of a wave and where they wait, for a deadlock report.
pub(crate) fn waiting<I: Isa, X>(exec: &Exec<I>, wave: &Wave<I, X>) -> Vec<String> {
    let line = |k: u32| {
        let place = exec.program.place(wave.paths[k as usize].path.from);
        let path = if wave.is_split() { format!(", path {k}") } else { String::new() };
        let why = if wave.parked >> k & 1 == 1 { " (waits to merge)" } else { "" };
        format!("wave {}{path} at {place}{why}", wave.id)
    };
    bits(wave.ids).map(line).collect()
}

pub(crate) fn budget(limit: u64, what: &str) -> SimError {
    SimError::new(ErrorKind::Budget, format!("not done after {limit} {what}"))
        .hint(Some("an endless loop? Otherwise raise the limit with --max-cycles"))
}

pub(crate) fn stopped(after: u64, what: &str) -> SimError {
    SimError::new(ErrorKind::Stopped, format!("stopped after {after} {what}"))
}

pub(crate) fn no_wave_left(waves: u32) -> SimError {
    SimError::new(ErrorKind::Trap, format!("wspawn, but all {waves} waves of the core have been used"))
        .hint(Some("give the machine more waves (--waves, --set core.waves=…)"))
}

pub(crate) fn deadlock(barriers: &Barriers, waves: &[String]) -> SimError {
    let message = format!("deadlock: {}\n  {}", barriers.describe(), waves.join("\n  "));
    SimError::new(ErrorKind::Deadlock, message)
        .hint(Some("a barrier waits for more waves than ever arrive: check its count"))
}
