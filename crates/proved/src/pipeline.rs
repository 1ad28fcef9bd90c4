//! A wave alone in the pipeline: a max-plus machine. Every time is a maximum of sums, so the state at a point of the program is, for
//! each register, counter, unit and fetch, the cycles until it is free, relative to the first cycle in which the next instruction could
//! issue. States are joined by the larger value; a larger state never leads to an earlier time (docs/proved-bounds.md, lemma 2).

use crate::charges::Charges;
use crate::hardware::{Front, Hardware};
use crate::splits::Splits;
use std::collections::BTreeMap;
use wb_isa::{COUNTERS, Isa, Pc};
use wb_program::Program;

/// More than any wait allows to be outstanding.
const MOST_OUTSTANDING: usize = 64;

/// Long ago: it does not matter any more.
const PAST: i64 = i64::MIN / 4;

/// What a wave waits for, relative to now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Registers that are not ready yet.
    registers: BTreeMap<u16, i64>,
    /// Element k: until at most k operations behind the counter are outstanding.
    counters: [Vec<i64>; COUNTERS],
    /// Until nothing is outstanding.
    all: i64,
    /// Until the unit takes the next instruction of this wave.
    units: Vec<i64>,
    /// When the last instruction was requested and when it arrives; when the last instructions issued, the latest first.
    requested: i64,
    arrived: i64,
    issued: Vec<i64>,
}

impl State {
    /// Takes the larger of both; whether anything grew.
    pub fn join(&mut self, other: &State) -> bool {
        let mut grew = false;
        let mut raise = |mine: &mut i64, theirs: i64| {
            if theirs > *mine {
                *mine = theirs;
                grew = true;
            }
        };
        for (&register, &theirs) in &other.registers {
            raise(self.registers.entry(register).or_insert(0), theirs);
        }
        for (mine, theirs) in self.counters.iter_mut().zip(&other.counters) {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(m, &t)| raise(m, t));
        }
        raise(&mut self.all, other.all);
        self.units.iter_mut().zip(&other.units).for_each(|(m, &t)| raise(m, t));
        raise(&mut self.requested, other.requested);
        raise(&mut self.arrived, other.arrived);
        self.issued.resize(self.issued.len().max(other.issued.len()), PAST);
        self.issued.iter_mut().zip(&other.issued).for_each(|(m, &t)| raise(m, t));
        grew
    }

    /// Two paths become one: what either had outstanding is, so that more may be than on one of the ways, up to the latest.
    fn unite(&mut self) {
        for counter in &mut self.counters {
            if let Some(&last) = counter.first() {
                *counter = vec![last; MOST_OUTSTANDING];
            }
        }
    }

    /// `cycles` pass. What lies behind is forgotten, and of fetches what cannot delay anything any more.
    fn pass(&mut self, cycles: i64, fetch: i64) {
        self.registers.retain(|_, t| {
            *t -= cycles;
            *t > 0
        });
        for counter in &mut self.counters {
            counter.iter_mut().for_each(|t| *t -= cycles);
            counter.retain(|&t| t > 0);
        }
        self.all = (self.all - cycles).max(0);
        self.units.iter_mut().for_each(|t| *t = (*t - cycles).max(0));
        let old = |t: i64, limit: i64| if t - cycles <= limit { PAST } else { t - cycles };
        self.requested = old(self.requested, -fetch - 2);
        self.arrived = old(self.arrived, 0);
        self.issued.iter_mut().for_each(|t| *t = old(*t, -fetch - 2));
        while self.issued.last() == Some(&PAST) {
            self.issued.pop();
        }
    }
}

/// The pipeline of a machine, with what each instruction of a program costs in it.
pub struct Pipeline<'a, I: Isa> {
    pub program: &'a Program<I>,
    pub hardware: &'a Hardware,
    pub charges: &'a Charges,
    pub splits: &'a Splits,
}

impl<I: Isa> Pipeline<'_, I> {
    /// Cycles a request for an instruction takes until it can issue. What arrives is seen by the end of the next cycle at the earliest.
    fn fetch(&self) -> i64 {
        match self.hardware.front {
            Front::Decoupled { .. } => (self.charges.fetch as i64).max(2),
            Front::Perfect | Front::Coordinated { .. } => 0,
        }
    }

    /// The cycle, from now, in which the instruction at `pc` issues.
    fn issue(&self, pc: Pc, state: &mut State) -> i64 {
        let Some(op) = self.program.ops.get(pc as usize) else { return 0 };
        let mut wake = 0;
        if let Some(&cycles) = self.splits.meets.get(&pc) {
            wake = cycles as i64 + self.refill();
            state.unite();
        }
        if op.waits_for_all {
            wake = wake.max(state.all);
        }
        if let Some(until) = op.waits.until {
            for (counter, most) in state.counters.iter().zip(until) {
                let rank = if self.splits.loose && most < u8::MAX { 0 } else { usize::from(most) };
                wake = wake.max(counter.get(rank).copied().unwrap_or(0));
            }
        }
        for register in self.program.touches(op) {
            wake = wake.max(state.registers.get(register).copied().unwrap_or(0));
        }
        if let Front::Decoupled { buffer, .. } = self.hardware.front {
            let room = state.issued.get(buffer - 1).copied().unwrap_or(PAST);
            state.requested =
                state.requested.max(PAST).saturating_add(1 + self.charges.after_fetch as i64).max(room);
            state.arrived = state.arrived.max(state.requested + self.fetch());
            wake = wake.max(state.arrived);
        }
        let class = &self.hardware.classes[usize::from(op.class)];
        if class.hold > 0 {
            wake = wake.max(state.units[class.unit]);
        }
        wake
    }

    /// The instruction at `pc` issues as early as it can and goes on straight or elsewhere; returns the cycles from the first in which
    /// it could issue to the first in which the next one could.
    pub fn step(&self, pc: Pc, straight: bool, state: &mut State) -> u64 {
        let Some(&cycles) = self.splits.breaks.get(&pc) else {
            return self.advance(pc, straight, None, state);
        };
        // The path goes on, or another one begins or goes on here, whose instructions are not there yet.
        let mut other = state.clone();
        let one = self.advance(pc, straight, Some((cycles, false)), state);
        let two = self.advance(pc, straight, Some((cycles, true)), &mut other);
        state.join(&other);
        one.max(two)
    }

    /// NOPs of a path whose queue starts anew.
    fn refill(&self) -> i64 {
        match self.hardware.front {
            Front::Coordinated { places } => places as i64,
            Front::Perfect | Front::Decoupled { .. } => 0,
        }
    }

    /// The same for one of the paths. `broken`: cycles that splitting or merging takes, and whether its instructions are fetched anew.
    fn advance(&self, pc: Pc, straight: bool, broken: Option<(u64, bool)>, state: &mut State) -> u64 {
        let at = self.issue(pc, state);
        let Some(op) = self.program.ops.get(pc as usize) else { return at as u64 };
        let done = at + self.charges.done[pc as usize] as i64;
        for &register in self.program.writes(op) {
            let ready = state.registers.entry(register).or_insert(0);
            *ready = done.max(*ready);
        }
        for (counter, _) in op.waits.raises.iter().enumerate().filter(|r| *r.1) {
            let times = &mut state.counters[counter];
            let place = times.partition_point(|&t| t > done);
            times.insert(place, done);
            state.all = state.all.max(done);
        }
        if !self.program.writes(op).is_empty() {
            state.all = state.all.max(done);
        }
        let class = &self.hardware.classes[usize::from(op.class)];
        state.units[class.unit] = at + self.charges.hold[pc as usize] as i64;
        if self.splits.merges.contains(&pc) {
            state.unite();
        }
        let mut next = at + 1 + broken.map_or(0, |b| b.0 as i64);
        if !straight {
            next += i64::from(self.hardware.machine.frontend.branch_penalty);
        }
        let anew = broken.is_some_and(|b| b.1);
        if anew && self.hardware.apart {
            // The last path in its context may hold the units still.
            for (until, &longest) in state.units.iter_mut().zip(&self.charges.longest) {
                *until = (*until).max(at + longest as i64);
            }
        }
        let straight = straight && !anew;
        match self.hardware.front {
            Front::Perfect => {}
            Front::Decoupled { buffer, .. } if straight => {
                state.issued.insert(0, at);
                state.issued.truncate(buffer);
            }
            // What was fetched is thrown away; the next request follows in the same cycle.
            Front::Decoupled { .. } => {
                state.issued.clear();
                (state.requested, state.arrived) = (at - 1 - self.charges.after_fetch as i64, PAST);
            }
            Front::Coordinated { .. } if !straight => next += self.refill(),
            Front::Coordinated { .. } => {}
        }
        state.pass(next, self.fetch() + self.charges.after_fetch as i64);
        next as u64
    }

    /// A wave that starts now.
    pub fn start(&self) -> State {
        State {
            registers: BTreeMap::new(),
            counters: Default::default(),
            all: 0,
            units: vec![0; self.hardware.units.len()],
            requested: -1 - self.charges.after_fetch as i64,
            arrived: PAST,
            issued: Vec::new(),
        }
    }

    /// Cycles until a wave that has issued its last instruction, now, has nothing outstanding.
    pub fn drain(&self, state: &State) -> u64 {
        state.all as u64
    }

    /// Cycles before the first instruction of a wave could issue if its operands were all that counts.
    pub fn lead_in(&self) -> u64 {
        match self.hardware.front {
            Front::Coordinated { places } => places,
            Front::Perfect | Front::Decoupled { .. } => 0,
        }
    }

    /// Cycles of a wave that executes exactly these instructions, alone, with the charges as they are: what the machine takes if no
    /// charge is larger than what happens.
    pub fn time_of(&self, path: &[Pc]) -> u64 {
        let mut state = self.start();
        let mut time = self.lead_in();
        for (i, &pc) in path.iter().enumerate() {
            let next = self.program.flow.next.get(pc as usize).copied();
            let straight = path.get(i + 1).is_none_or(|to| Some(*to) == next);
            time += self.step(pc, straight, &mut state);
        }
        time + self.drain(&state)
    }
}
