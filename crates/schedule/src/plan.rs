//! The schedule of all waves from their own sequences (SWAS section III-B: the makespan of an SM), without running them: issue
//! ports with the waves of each, units that may be taken, queues as the front end keeps them, barriers. It shares no code with the simulator,
//! not even its policies.

use super::sequence::{Effect, Sequence};
use wb_hw::{FrontEndKind, Machine, Policy, Scope};
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

/// An issue port of a core: wave slot `s` belongs to port `s mod ports`.
#[derive(Clone, Copy, Debug, Default)]
struct IssuePort {
    /// The wave slot that issued last.
    last: Option<usize>,
    /// Strict policies: whose turn it is, as a number among the slots of the port; before the first cycle that of nobody.
    turn: Option<usize>,
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
    /// Copies of each unit for each port, free from which cycle on; a unit of the core is only in the first port's list.
    units: Vec<Vec<Vec<u64>>>,
    barriers: Vec<(u64, Vec<usize>)>,
    spawning: Option<(usize, Vec<usize>)>,
    /// Slots that are taken, those of waves that wait for their last results among them.
    taken: usize,
    draining: Vec<(u64, usize)>,
    launched: u64,
    ports: Vec<IssuePort>,
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
        let ports = machine.core.partitions.max(1) as usize;
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
            units: machine.units.iter().map(|u| vec![vec![0; u.count as usize]; ports]).collect(),
            barriers: Vec::new(),
            spawning: None,
            taken: 0,
            draining: Vec::new(),
            launched: 0,
            ports: vec![IssuePort::default(); ports],
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
            while let Some(at) = self.draining.iter().position(|&(until, _)| until <= self.now) {
                self.draining.swap_remove(at);
                self.taken -= 1;
                self.start_others();
            }
            let mut issued = false;
            for port in 0..self.ports.len() {
                // A port without waves decides nothing, and nobody's turn passes.
                if !self.has_waves(port) {
                    continue;
                }
                let ready: Vec<usize> = self.members(port).filter(|&s| self.free_at(s) <= self.now).collect();
                if let Some(slot) = self.pick(port, &ready) {
                    self.ports[port].last = Some(slot);
                    self.issue(slot);
                    issued = true;
                }
            }
            let next = if issued {
                self.now + 1
            } else {
                let wakes = (0..self.slots.len()).map(|s| self.free_at(s));
                let next = wakes.chain(self.draining.iter().map(|d| d.0)).min().unwrap_or(u64::MAX);
                if next == u64::MAX {
                    return;
                }
                next.max(self.now + 1)
            };
            for port in (0..self.ports.len()).filter(|&p| self.has_waves(p)).collect::<Vec<_>>() {
                self.pass(port, next - self.now - 1);
            }
            self.now = next;
        }
    }

    fn members(&self, port: usize) -> impl Iterator<Item = usize> + use<> {
        (port..self.slots.len()).step_by(self.ports.len())
    }

    /// Whether a wave is in a slot of the port, or waits there for its last results.
    fn has_waves(&self, port: usize) -> bool {
        let ports = self.ports.len();
        self.members(port).any(|s| self.slots[s].is_some())
            || self.draining.iter().any(|d| d.1 % ports == port)
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
                let unit = self.waves[r.wave].steps[r.step].unit;
                let unit = if r.nops > 0 { 0 } else { self.unit_free(unit, slot) };
                r.ready.max(unit)
            }
            _ => u64::MAX,
        }
    }

    /// The list of the unit's copies that serves the slot.
    fn served(&self, unit: u8, slot: usize) -> usize {
        match self.machine.units.get(usize::from(unit)).map(|u| u.scope) {
            Some(Scope::Partition) => slot % self.ports.len(),
            Some(Scope::Core | Scope::Split) | None => 0,
        }
    }

    fn unit_free(&self, unit: u8, slot: usize) -> u64 {
        let copies = self.units.get(usize::from(unit)).map(|lists| &lists[self.served(unit, slot)]);
        copies.and_then(|copies| copies.iter().min()).copied().unwrap_or(0)
    }

    /// `cycles` cycles pass in which nobody can issue: turns pass, too.
    fn pass(&mut self, port: usize, cycles: u64) {
        let seats = self.slots.len() / self.ports.len();
        let next = self.ports[port].turn.map_or(0, |t| t + 1);
        if cycles > 0 {
            self.ports[port].turn = Some(((next as u64 + cycles - 1) % seats as u64) as usize);
        }
    }

    fn pick(&mut self, port: usize, ready: &[usize]) -> Option<usize> {
        let (IssuePort { last, turn }, ports) = (self.ports[port], self.ports.len());
        let seats = self.slots.len() / ports;
        let next_turn = turn.map_or(0, |t| (t + 1) % seats);
        let age = |&s: &usize| self.slots[s].as_ref().map(|r| r.age);
        let after = |slot: usize| ready.iter().copied().find(|&s| s > slot).or(ready.first().copied());
        let oldest = || ready.iter().copied().min_by_key(age);
        let next = || last.map_or(ready.first().copied(), after);
        let same = || last.filter(|s| ready.contains(s));
        let done = |slot: usize| self.slots[slot].as_ref().map_or(0, |r| r.step);
        match self.machine.issue.policy {
            Policy::LooseRoundRobin => next(),
            Policy::GreedyThenRoundRobin => same().or_else(next),
            Policy::GreedyThenOldest => same().or_else(oldest),
            Policy::OldestFirst => oldest(),
            Policy::FixedPriority => ready.first().copied(),
            // Every slot has its cycle.
            Policy::RoundRobin => {
                let slot = next_turn * ports + port;
                self.ports[port].turn = Some(next_turn);
                ready.contains(&slot).then_some(slot)
            }
            Policy::StrictOldest => {
                let waits = |s: &usize| self.slots[*s].as_ref().is_some_and(|r| !r.parked);
                self.members(port).filter(waits).min_by_key(age).filter(|s| ready.contains(s))
            }
            Policy::StrictGreedy => {
                let held = turn.map(|t| t * ports + port).filter(|s| ready.contains(s));
                let slot = held.unwrap_or(next_turn * ports + port);
                self.ports[port].turn = Some(slot / ports);
                ready.contains(&slot).then_some(slot)
            }
            // At most 16 instructions ahead of the slowest.
            Policy::Adaptive => {
                let slowest = ready.iter().copied().min_by_key(|&s| done(s))?;
                same().filter(|&s| done(s) <= done(slowest) + 16).or(Some(slowest))
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
        let unit = self.slots[slot].as_ref().map(|r| self.waves[r.wave].steps[r.step].unit);
        let served = unit.map_or(0, |unit| self.served(unit, slot));
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
        let (unit, list) = (usize::from(step.unit), served);
        if let Some(copy) =
            self.units.get_mut(unit).and_then(|u| u[list].iter_mut().find(|free| **free <= now))
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
            self.draining.push((until, slot));
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
