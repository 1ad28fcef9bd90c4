//! The untimed run: same semantics, no pipeline. Waves take turns in launch order, a fixed number of
//! instructions each, so that waves that wait for each other through memory make progress.

use crate::barrier::Barriers;
use crate::divergence::{Divergence, Notes};
use crate::error::{ErrorKind, SimError};
use crate::exec::{Effect, Exec, Path, Wave};
use crate::launch::{Launch, Launcher, Outcome, RunOptions, WaveRegisters};
use crate::memory::{DeviceMemory, Lines, MemBus};
use crate::residency::{GroupPlace, Residency};
use crate::sink::Sink;
use std::collections::VecDeque;
use wb_hw::Machine;
use wb_isa::{Isa, Mask, Pc, WaveStart};
use wb_trace::{Event, Kind};

/// Instructions a wave runs before the next one has its turn.
const TURN: u64 = 1024;

struct Resident<I: Isa, D: Divergence> {
    wave: Wave<I, D>,
    path: Path,
    at_barrier: bool,
    place: GroupPlace,
}

struct Functional<'a, 's, I: Isa, D: Divergence, const OBS: bool> {
    exec: &'a Exec<'a, I, D>,
    slots: Vec<Option<Resident<I, D>>>,
    /// Slots in the order of their turns.
    turns: VecDeque<u32>,
    free: Vec<u32>,
    spare: Vec<I::Regs>,
    barriers: Barriers,
    outcome: Outcome,
    waves: u32,
    sink: Sink<'s>,
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
    let capacity = machine.cores * machine.core.waves;
    let mut launcher = Launcher::new(launch, machine.core.lanes);
    let mut run = Functional::<I, D, OBS> {
        exec,
        slots: (0..capacity).map(|_| None).collect(),
        turns: VecDeque::new(),
        free: (0..capacity).rev().collect(),
        spare: Vec::new(),
        barriers: Barriers::default(),
        outcome: Outcome::new(memory),
        waves: 0,
        sink,
        keep_registers: options.keep_registers,
        residency: Residency::new(machine, launch),
    };
    let mut notes = Notes { on: OBS, list: Vec::new() };
    let mut lines = Lines::default();
    let mut report_at = crate::PROGRESS_EVERY;
    loop {
        run.fill(&mut launcher);
        let Some(slot) = run.turns.pop_front() else { break };
        run.turn(slot, machine, &mut notes, &mut lines)?;
        if run.outcome.wave_instructions >= report_at {
            report_at += crate::PROGRESS_EVERY;
            if let Some(progress) = &mut options.progress {
                progress(run.outcome.wave_instructions, run.outcome.wave_instructions);
            }
        }
    }
    if run.slots.iter().any(Option::is_some) {
        return Err(run.deadlock());
    }
    let mut outcome = run.outcome;
    outcome.cycles = outcome.wave_instructions;
    outcome.waves = run.waves;
    run.sink.end(outcome.cycles);
    Ok(outcome)
}

impl<I: Isa, D: Divergence, const OBS: bool> Functional<'_, '_, I, D, OBS> {
    /// Starts groups while there is room for whole ones.
    fn fill(&mut self, launcher: &mut Launcher) {
        while !launcher.is_done() && self.free.len() >= launcher.group_waves() as usize {
            let waves = launcher.group_waves();
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
        let Some(slot) = self.free.pop() else { return };
        let start = self.residency.furnish(start, place, slot as usize);
        let (wave, path) = self.exec.wave(start, live, pc, self.spare.pop());
        self.waves = self.waves.max(start.wave + 1);
        self.turns.push_back(slot);
        self.emit(slot, &wave, pc, live, Kind::WaveStart { lanes: live });
        self.slots[slot as usize] = Some(Resident { wave, path, at_barrier: false, place });
    }

    fn emit(&mut self, slot: u32, wave: &Wave<I, D>, pc: Pc, mask: Mask, kind: Kind) {
        if OBS {
            self.sink.push(Event {
                cycle: self.outcome.wave_instructions,
                core: 0,
                slot: slot as u16,
                wave: wave.id,
                path: 0,
                pc,
                mask,
                kind,
            });
        }
    }

    /// One wave's turn.
    fn turn(
        &mut self,
        slot: u32,
        machine: &Machine,
        notes: &mut Notes,
        lines: &mut Lines,
    ) -> Result<(), Box<SimError>> {
        let Some(mut resident) = self.slots[slot as usize].take() else { return Ok(()) };
        let limit = machine.limits.cycles;
        let mut again = true;
        for _ in 0..TURN {
            let (wave, path) = (&mut resident.wave, &mut resident.path);
            let (pc, mask) = (path.pc, path.mask);
            if self.outcome.wave_instructions >= limit {
                let error = budget(limit, "wave-instructions");
                return Err(Box::new(error.at(self.exec.program, wave.id, pc, mask, self.exec.lanes)));
            }
            let mut bus = MemBus::<false> {
                memory: &mut self.outcome.memory,
                console: &mut self.outcome.console,
                lines,
                wrote: false,
            };
            let active = self.exec.program.isa.active(&wave.regs, mask);
            let effect = self.exec.step(wave, path, wave.issued, 0, &mut bus, notes)?;
            self.outcome.lane_instructions += u64::from(active.count_ones());
            if OBS {
                let class = self.exec.program.ops[pc as usize].class;
                let issue = Kind::Issue { unit: u8::MAX, instance: 0, class, busy: 1 };
                self.emit(slot, &resident.wave, pc, active, issue);
                self.exec.note_active(&resident.wave, &mut resident.path, active, notes);
                for kind in std::mem::take(&mut notes.list) {
                    self.emit(slot, &resident.wave, pc, active, kind);
                }
            }
            self.outcome.wave_instructions += 1;
            match effect {
                Effect::Go => {}
                Effect::Barrier { id, count } => {
                    let (arrived, released) = self.barriers.arrive(id, count, slot);
                    let kind = Kind::Barrier { id, arrived, needed: count.min(u64::from(u32::MAX)) as u32 };
                    self.emit(slot, &resident.wave, pc, mask, kind);
                    match released {
                        None => {
                            resident.at_barrier = true;
                            again = false;
                        }
                        Some(slots) => self.release(slot, &slots),
                    }
                }
                Effect::Spawn { pc: target, reg, value } => {
                    let wave = self.waves;
                    if wave >= machine.core.waves || self.free.is_empty() {
                        let error = no_wave_left(machine.core.waves);
                        let id = resident.wave.id;
                        return Err(Box::new(error.at(self.exec.program, id, pc, mask, self.exec.lanes)));
                    }
                    let lanes = machine.core.lanes;
                    let start =
                        WaveStart { wave, lanes, spawned: Some((reg, value)), ..WaveStart::default() };
                    self.start(start, 1, target, GroupPlace::default());
                }
                Effect::End => {
                    self.end(slot, resident, pc, mask);
                    return Ok(());
                }
            }
            if !again {
                break;
            }
        }
        if again {
            self.turns.push_back(slot);
        }
        self.slots[slot as usize] = Some(resident);
        Ok(())
    }

    fn release(&mut self, last: u32, slots: &[u32]) {
        for &s in slots.iter().filter(|&&s| s != last) {
            if let Some(other) = &mut self.slots[s as usize]
                && std::mem::take(&mut other.at_barrier)
            {
                self.turns.push_back(s);
            }
        }
    }

    fn end(&mut self, slot: u32, resident: Resident<I, D>, pc: Pc, mask: Mask) {
        self.emit(slot, &resident.wave, pc, mask, Kind::WaveEnd);
        self.outcome.max_stack_depth = self.outcome.max_stack_depth.max(resident.wave.max_depth);
        if self.keep_registers {
            self.outcome.registers.push(registers(self.exec, &resident.wave));
        }
        self.residency.wave_ended(resident.place);
        self.spare.push(resident.wave.regs);
        self.free.push(slot);
    }

    fn deadlock(&self) -> Box<SimError> {
        let waves: Vec<String> = self
            .slots
            .iter()
            .flatten()
            .map(|r| format!("wave {} at {}", r.wave.id, self.exec.program.place(r.path.from)))
            .collect();
        Box::new(deadlock(&self.barriers, &waves))
    }
}

pub(crate) fn registers<I: Isa, D: Divergence>(exec: &Exec<I, D>, wave: &Wave<I, D>) -> WaveRegisters {
    let lanes = (0..exec.lanes).map(|lane| exec.program.isa.dump(&wave.regs, lane)).collect();
    WaveRegisters { wave: wave.id, lanes }
}

pub(crate) fn budget(limit: u64, what: &str) -> SimError {
    SimError::new(ErrorKind::Budget, format!("not done after {limit} {what}"))
        .hint(Some("an endless loop? Otherwise raise the limit with --max-cycles"))
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
