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
    /// Waits until it is alone, then starts these waves of its core.
    Spawn { waves: Vec<usize> },
}

/// A wave and its course. Its number is its place among the sequences of its core, in the order of their starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    pub core: u16,
    pub slot: u16,
    /// Started by another wave.
    pub spawned: bool,
    pub steps: Vec<Step>,
}

/// Instructions of a wave that wrote each register last, and in which lanes.
type Writers = Vec<Vec<(Mask, u32)>>;

/// Records sequences from the events of a run.
pub struct Recorder<'a, I: Isa> {
    program: &'a Program<I>,
    machine: &'a Machine,
    classes: Vec<String>,
    /// By core.
    pub cores: Vec<Vec<Sequence>>,
    /// Who wrote each register last, in which lanes; the sequence in each slot; the one that starts others. By core.
    writers: Vec<Vec<Writers>>,
    slots: Vec<Vec<usize>>,
    spawning: Vec<Option<usize>>,
}

impl<'a, I: Isa> Recorder<'a, I> {
    pub fn new(program: &'a Program<I>, machine: &'a Machine) -> Self {
        let cores = machine.cores as usize;
        Recorder {
            program,
            machine,
            classes: Vec::new(),
            cores: vec![Vec::new(); cores],
            writers: vec![Vec::new(); cores],
            slots: vec![vec![0; machine.core.waves as usize]; cores],
            spawning: vec![None; cores],
        }
    }

    fn start(&mut self, event: &Event) {
        let core = usize::from(event.core);
        let number = self.cores[core].len();
        let parent = self.spawning[core];
        if let Some(step) = parent.and_then(|p| self.cores[core][p].steps.last_mut())
            && let Effect::Spawn { waves } = &mut step.effect
        {
            waves.push(number);
        }
        let spawned = parent.is_some();
        self.cores[core].push(Sequence { core: event.core, slot: event.slot, spawned, steps: Vec::new() });
        self.writers[core].push(vec![Vec::new(); self.program.isa.register_count()]);
        self.slots[core][usize::from(event.slot)] = number;
    }

    fn issue(&mut self, event: &Event, unit: u8, class: u8, busy: u16) {
        let program = self.program;
        let Some(op) = program.ops.get(event.pc as usize) else { return };
        let core = usize::from(event.core);
        let wave = self.slots[core][usize::from(event.slot)];
        let latency = self.latency(unit, class);
        let Some(sequence) = self.cores[core].get_mut(wave) else { return };
        if let Some(before) = sequence.steps.last_mut() {
            let next = program.flow.next.get(before.pc as usize);
            before.straight = next == Some(&event.pc);
        }
        let number = sequence.steps.len() as u32;
        let writers = &mut self.writers[core][wave];
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
        let parent = &mut self.spawning[core];
        if spawns {
            *parent = Some(wave);
        } else if *parent == Some(wave) {
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
        let latency = self.classes.get(usize::from(class)).map_or(u.latency, |c| u.latency_of(c));
        let passes = if u.lanes == 0 { 1 } else { self.machine.core.lanes.div_ceil(u.lanes) };
        u64::from(latency) + u64::from(passes) - 1
    }

    /// The instruction that issued last in the event's slot.
    fn last(&mut self, event: &Event) -> Option<&mut Step> {
        let core = usize::from(event.core);
        let wave = self.slots[core][usize::from(event.slot)];
        self.cores[core].get_mut(wave)?.steps.last_mut()
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
                    if let Some(step) = self.last(event) {
                        step.latency = step.latency.max(done - event.cycle);
                    }
                }
                Kind::Barrier { id, needed, .. } => {
                    if let Some(step) = self.last(event) {
                        step.effect = Effect::Barrier { id, needed: needed.into() };
                    }
                }
                _ => {}
            }
        }
    }
}
