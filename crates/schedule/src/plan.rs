//! The schedule of all waves from their own sequences (SWAS section III-B: the makespan of an SM), without running them: an
//! issue port, units that may be taken, queues as the front end keeps them, barriers. It shares no code with the simulator,
//! not even its policies.

use super::sequence::{Effect, Sequence};
use wb_hw::{FrontEndKind, Machine, Policy};
use wb_isa::Pc;

/// Something that issues; `pc` is `None` for a NOP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    pub cycle: u64,
    pub core: u16,
    /// Wave slot of the core; on Vortex the number of the wave.
    pub wave: u16,
    pub pc: Option<Pc>,
}

/// What is predicted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub issues: Vec<Slot>,
    pub makespan: u64,
}

/// A wave in its slot.
#[derive(Clone, Debug)]
struct Running {
    /// Number among the sequences of the core.
    wave: usize,
    age: u64,
    /// Next instruction, NOPs before it, and the first cycle in which the next of them may issue.
    step: usize,
    nops: u64,
    ready: u64,
    /// Waits at a barrier or to start others.
    parked: bool,
    /// When each instruction issued, and when all results are there.
    issued: Vec<u64>,
    all: u64,
}

/// One core.
struct Planner<'a> {
    machine: &'a Machine,
    waves: &'a [Sequence],
    core: u16,
    /// NOPs at the start and after each break; cycles a refill takes where there are none.
    places: u64,
    refill: u64,
    slots: Vec<Option<Running>>,
    /// Copies of each unit, free from which cycle on.
    units: Vec<Vec<u64>>,
    barriers: Vec<(u64, Vec<usize>)>,
    spawning: Option<(usize, Vec<usize>)>,
    /// Slots that are taken, those of waves that wait for their last results among them.
    taken: usize,
    draining: Vec<u64>,
    launched: u64,
    last: Option<usize>,
    now: u64,
    plan: Plan,
}

/// Predicts every core of the machine from the sequences of its waves.
pub fn plan(machine: &Machine, cores: &[Vec<Sequence>]) -> Plan {
    let mut all = Plan::default();
    for (core, waves) in cores.iter().enumerate() {
        let mut planner = Planner::new(machine, waves, core as u16);
        planner.run();
        all.makespan = all.makespan.max(planner.plan.makespan);
        all.issues.append(&mut planner.plan.issues);
    }
    all.issues.sort_by_key(|s| (s.cycle, s.core));
    all
}

impl<'a> Planner<'a> {
    fn new(machine: &'a Machine, waves: &'a [Sequence], core: u16) -> Self {
        let fetch = machine.fetch_cycles();
        let (places, refill) = match machine.frontend.kind {
            FrontEndKind::Perfect => (0, 1),
            FrontEndKind::Decoupled => (0, fetch),
            FrontEndKind::Coordinated => (fetch, 1),
        };
        Planner {
            machine,
            waves,
            core,
            places,
            refill,
            slots: vec![None; machine.core.waves as usize],
            units: machine.units.iter().map(|u| vec![0; u.count as usize]).collect(),
            barriers: Vec::new(),
            spawning: None,
            taken: 0,
            draining: Vec::new(),
            launched: 0,
            last: None,
            now: 0,
            plan: Plan::default(),
        }
    }

    fn run(&mut self) {
        for (number, wave) in self.waves.iter().enumerate() {
            if !wave.spawned && !wave.steps.is_empty() {
                self.start(number, 0);
            }
        }
        loop {
            while let Some(at) = self.draining.iter().position(|&until| until <= self.now) {
                self.draining.swap_remove(at);
                self.taken -= 1;
                self.start_others();
            }
            let ready: Vec<usize> = (0..self.slots.len()).filter(|&s| self.free_at(s) <= self.now).collect();
            match self.pick(&ready) {
                Some(slot) => {
                    self.last = Some(slot);
                    self.issue(slot);
                    self.now += 1;
                }
                None => {
                    let wakes = (0..self.slots.len()).map(|s| self.free_at(s));
                    let next = wakes.chain(self.draining.iter().copied()).min().unwrap_or(u64::MAX);
                    if next == u64::MAX {
                        return;
                    }
                    self.now = next.max(self.now + 1);
                }
            }
        }
    }

    fn start(&mut self, number: usize, from: u64) {
        let wave = &self.waves[number];
        let running = Running {
            wave: number,
            age: self.launched,
            step: 0,
            nops: self.places,
            ready: 0,
            parked: false,
            issued: Vec::with_capacity(wave.steps.len()),
            all: 0,
        };
        let slot = usize::from(wave.slot);
        self.slots[slot] = Some(running);
        self.launched += 1;
        self.taken += 1;
        let begin = if self.places == 0 && self.refill > 1 {
            // The first request is made in the cycle in which the wave takes its slot.
            from.saturating_sub(u64::from(wave.spawned)) + self.refill
        } else {
            from
        };
        self.settle(slot, begin);
    }

    /// The first cycle in which the slot can issue; never if it has nobody who can.
    fn free_at(&self, slot: usize) -> u64 {
        match &self.slots[slot] {
            Some(r) if !r.parked => {
                let unit = if r.nops > 0 { 0 } else { self.unit_free(self.waves[r.wave].steps[r.step].unit) };
                r.ready.max(unit)
            }
            _ => u64::MAX,
        }
    }

    fn unit_free(&self, unit: u8) -> u64 {
        self.units.get(usize::from(unit)).and_then(|copies| copies.iter().min()).copied().unwrap_or(0)
    }

    fn pick(&self, ready: &[usize]) -> Option<usize> {
        let after = |slot: usize| ready.iter().copied().find(|&s| s > slot).or(ready.first().copied());
        let oldest = || ready.iter().copied().min_by_key(|&s| self.slots[s].as_ref().map(|r| r.age));
        let next = || self.last.map_or(ready.first().copied(), after);
        let same = || self.last.filter(|s| ready.contains(s));
        match self.machine.issue.policy {
            Policy::LooseRoundRobin => next(),
            Policy::GreedyThenRoundRobin => same().or_else(next),
            Policy::GreedyThenOldest => same().or_else(oldest),
            Policy::OldestFirst => oldest(),
            Policy::FixedPriority => ready.first().copied(),
            // Every slot has its cycle.
            Policy::RoundRobin => {
                let turn = (self.now % self.slots.len() as u64) as usize;
                ready.contains(&turn).then_some(turn)
            }
            Policy::OwnerDispatch | Policy::Icount => None,
        }
    }

    /// When the next NOP or instruction of the slot may issue, not before `from`.
    fn settle(&mut self, slot: usize, from: u64) {
        let Some(r) = &mut self.slots[slot] else { return };
        r.ready = from;
        if r.nops > 0 {
            return;
        }
        let steps = &self.waves[r.wave].steps;
        let step = &steps[r.step];
        for &j in &step.needs {
            r.ready = r.ready.max(r.issued[j as usize] + steps[j as usize].latency);
        }
        if step.waits_for_all {
            r.ready = r.ready.max(r.all);
        }
    }

    fn issue(&mut self, slot: usize) {
        let now = self.now;
        let Some(r) = &mut self.slots[slot] else { return };
        let sequence = &self.waves[r.wave];
        let (core, wave) = (self.core, sequence.slot);
        if r.nops > 0 {
            self.plan.issues.push(Slot { cycle: now, core, wave, pc: None });
            r.nops -= 1;
            self.settle(slot, now + 1);
            return;
        }
        let step = &sequence.steps[r.step];
        self.plan.issues.push(Slot { cycle: now, core, wave, pc: Some(step.pc) });
        self.plan.makespan = self.plan.makespan.max(now + 1);
        if let Some(copy) =
            self.units.get_mut(usize::from(step.unit)).and_then(|u| u.iter_mut().find(|free| **free <= now))
        {
            *copy = now + step.busy;
        }
        r.issued.push(now);
        if step.writes {
            r.all = r.all.max(now + step.latency);
        }
        r.step += 1;
        if r.step == sequence.steps.len() {
            self.end(slot);
            return;
        }
        let mut from = now + 1;
        if !step.straight {
            from += u64::from(self.machine.frontend.branch_penalty);
            from = from.max(now + self.refill);
            r.nops = self.places;
        }
        self.settle(slot, from);
        match &step.effect {
            Effect::Go => {}
            Effect::Barrier { id, needed } => self.arrive(slot, *id, *needed),
            Effect::Spawn { waves } => {
                self.park(slot);
                self.spawning = Some((slot, waves.clone()));
                self.start_others();
            }
        }
    }

    /// The wave has issued its last instruction; its slot is free when the results are there.
    fn end(&mut self, slot: usize) {
        let Some(r) = self.slots[slot].take() else { return };
        let until = r.all.max(self.now + 1);
        self.plan.makespan = self.plan.makespan.max(until);
        if until > self.now + 1 {
            self.draining.push(until);
        } else {
            self.taken -= 1;
            self.start_others();
        }
    }

    fn park(&mut self, slot: usize) {
        if let Some(r) = &mut self.slots[slot] {
            r.parked = true;
        }
    }

    fn unpark(&mut self, slot: usize) {
        if let Some(r) = &mut self.slots[slot] {
            r.parked = false;
            r.ready = r.ready.max(self.now + 1);
        }
    }

    fn arrive(&mut self, slot: usize, id: u64, needed: u64) {
        self.park(slot);
        let at = match self.barriers.iter().position(|b| b.0 == id) {
            Some(at) => at,
            None => {
                self.barriers.push((id, Vec::new()));
                self.barriers.len() - 1
            }
        };
        self.barriers[at].1.push(slot);
        if self.barriers[at].1.len() as u64 >= needed {
            for slot in self.barriers.swap_remove(at).1 {
                self.unpark(slot);
            }
        }
    }

    /// A wave that waits until it is alone starts the others.
    fn start_others(&mut self) {
        if self.taken != 1 {
            return;
        }
        let Some((slot, waves)) = self.spawning.take() else { return };
        for wave in waves {
            self.start(wave, self.now + 1);
        }
        self.unpark(slot);
    }
}
