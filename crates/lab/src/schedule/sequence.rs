//! What each wave does by itself: its instructions in order, what each occupies and how long it takes, and which earlier
//! instructions of the same wave it waits for. Nothing here says when anything happens; it is recorded under another front
//! end and policy than those that are predicted.

use wb_hw::Machine;
use wb_isa::{FlowKind, Isa, Mask, Pc};
use wb_program::Program;
use wb_trace::{Event, Kind, Observer, TraceInfo};

/// One instruction of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub pc: Pc,
    mask: Mask,
    pub unit: u8,
    /// Cycles the unit is taken, and cycles until the result can be used.
    pub busy: u64,
    pub latency: u64,
    /// Goes on with the next instruction in memory.
    pub straight: bool,
    /// Writes a register: the wave does not end before it is there.
    pub writes: bool,
    /// Waits for everything before it.
    pub waits_for_all: bool,
    /// Instructions of the wave whose results it needs, by number; only those that take more than a cycle.
    pub needs: Vec<u32>,
    pub effect: Effect,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Effect {
    #[default]
    Go,
    /// Waits until `needed` waves have come.
    Barrier { id: u64, needed: u64 },
    /// Waits until it is alone, then starts these waves.
    Spawn { waves: Vec<u32> },
}

/// A wave and its course.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    pub wave: u32,
    pub core: u16,
    pub slot: u16,
    /// Started by another wave.
    pub spawned: bool,
    pub steps: Vec<Step>,
}

/// Records sequences from the events of a run.
pub struct Recorder<'a, I: Isa> {
    program: &'a Program<I>,
    machine: &'a Machine,
    classes: Vec<String>,
    pub waves: Vec<Sequence>,
    /// Who wrote each register last, in which lanes, by wave.
    writers: Vec<Vec<Vec<(Mask, u32)>>>,
    /// The wave of each core that starts others.
    spawning: Vec<Option<u32>>,
}

impl<'a, I: Isa> Recorder<'a, I> {
    pub fn new(program: &'a Program<I>, machine: &'a Machine) -> Self {
        let spawning = vec![None; machine.cores as usize];
        Recorder { program, machine, classes: Vec::new(), waves: Vec::new(), writers: Vec::new(), spawning }
    }

    fn start(&mut self, event: &Event) {
        let at = event.wave as usize;
        if self.waves.len() <= at {
            self.waves.resize_with(at + 1, Sequence::default);
            self.writers.resize_with(at + 1, || vec![Vec::new(); self.program.isa.register_count()]);
        }
        let parent = self.spawning[usize::from(event.core)];
        if let Some(step) = parent.and_then(|p| self.waves[p as usize].steps.last_mut())
            && let Effect::Spawn { waves } = &mut step.effect
        {
            waves.push(event.wave);
        }
        let spawned = parent.is_some();
        self.waves[at] =
            Sequence { wave: event.wave, core: event.core, slot: event.slot, spawned, steps: Vec::new() };
    }

    fn issue(&mut self, event: &Event, unit: u8, class: u8, busy: u16) {
        let program = self.program;
        let Some(op) = program.ops.get(event.pc as usize) else { return };
        let wave = event.wave as usize;
        let latency = self.latency(unit, class);
        let Some(sequence) = self.waves.get_mut(wave) else { return };
        if let Some(before) = sequence.steps.last_mut() {
            let next = program.flow.next.get(before.pc as usize);
            before.straight = next == Some(&event.pc);
        }
        let number = sequence.steps.len() as u32;
        let writers = &mut self.writers[wave];
        let mut needs: Vec<u32> = Vec::new();
        for &register in program.touches(op) {
            let hit = writers[usize::from(register)].iter().filter(|w| w.0 & event.mask != 0);
            needs.extend(hit.map(|w| w.1).filter(|&j| sequence.steps[j as usize].latency > 1));
        }
        needs.sort_unstable();
        needs.dedup();
        for &register in program.writes(op) {
            let list = &mut writers[usize::from(register)];
            for w in list.iter_mut() {
                w.0 &= !event.mask;
            }
            list.retain(|w| w.0 != 0);
            list.push((event.mask, number));
        }
        let spawns = program.flow.kind[event.pc as usize] == FlowKind::Spawn;
        let parent = &mut self.spawning[usize::from(event.core)];
        if spawns {
            *parent = Some(event.wave);
        } else if *parent == Some(event.wave) {
            *parent = None;
        }
        sequence.steps.push(Step {
            pc: event.pc,
            mask: event.mask,
            unit,
            busy: u64::from(busy),
            latency,
            straight: true,
            writes: !program.writes(op).is_empty(),
            waits_for_all: op.waits_for_all,
            needs,
            effect: if spawns { Effect::Spawn { waves: Vec::new() } } else { Effect::Go },
        });
    }

    /// Cycles of a class of instructions on its unit, as the machine says.
    fn latency(&self, unit: u8, class: u8) -> u64 {
        let Some(u) = self.machine.units.get(usize::from(unit)) else { return 1 };
        let own = self.classes.get(usize::from(class)).and_then(|c| u.latencies.get(c));
        let passes = if u.lanes == 0 { 1 } else { self.machine.core.lanes.div_ceil(u.lanes) };
        u64::from(*own.unwrap_or(&u.latency)) + u64::from(passes) - 1
    }

    fn last(&mut self, wave: u32) -> Option<&mut Step> {
        self.waves.get_mut(wave as usize)?.steps.last_mut()
    }
}

impl<I: Isa> Observer for Recorder<'_, I> {
    fn begin(&mut self, info: &TraceInfo) {
        self.classes.clone_from(&info.classes);
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            match event.kind {
                Kind::WaveStart { .. } => self.start(event),
                Kind::Issue { unit, class, busy, .. } => self.issue(event, unit, class, busy),
                Kind::Memory { done, .. } => {
                    if let Some(step) = self.last(event.wave) {
                        step.latency = step.latency.max(done - event.cycle);
                    }
                }
                Kind::Barrier { id, needed, .. } => {
                    if let Some(step) = self.last(event.wave) {
                        step.effect = Effect::Barrier { id, needed: needed.into() };
                    }
                }
                _ => {}
            }
        }
    }
}
