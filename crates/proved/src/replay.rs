//! A wave that did something beside others, alone: the instructions it issued in a run go through the pipeline again with nobody else
//! there (the recursion of `pipeline`, in cycles from the wave's start instead of states that can be joined). The difference to the run
//! is what the wave waited for others.

use crate::access::Access;
use crate::caches::Caches;
use crate::charges::Charges;
use crate::hardware::{Front, Hardware};
use crate::prove::Question;
use crate::refusal::Refusal;
use std::collections::{BTreeMap, VecDeque};
use wb_isa::{COUNTERS, Isa, Pc};
use wb_program::Program;

/// What an instruction did in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Did {
    pub pc: Pc,
    /// It used memory: lines, and whether one of them was not in the first cache.
    pub lines: u64,
    pub missed: bool,
    /// Cycles from issue to its results in the run: alone it takes no longer.
    pub took: Option<u64>,
    /// Cycles that its unit was held.
    pub busy: u64,
}

/// The machine without anybody else, for one launch.
pub struct Alone<'a, I: Isa> {
    program: &'a Program<I>,
    hardware: Hardware,
    /// Latencies of loads that find their lines in the first cache, or nowhere.
    hit: Charges,
    miss: Charges,
}

impl<'a, I: Isa> Alone<'a, I> {
    pub fn new(question: &Question<'a, I>) -> Result<Alone<'a, I>, Refusal> {
        let program = question.program;
        let hardware = Hardware::new(question.machine, program.isa.classes())?;
        let single = |a: &Access| Access { passes: 1, ..*a };
        let accesses: BTreeMap<Pc, Access> =
            question.accesses.iter().map(|(&pc, a)| (pc, single(a))).collect();
        let mut caches = Caches::new(program, &hardware, &accesses, question.memory);
        caches.kept.iter_mut().for_each(|k| *k = true);
        let with = |misses: bool| {
            Charges::new(program, &hardware, &accesses, &caches, question.memory, &|_| misses)
        };
        let (hit, miss) = (with(false)?, with(true)?);
        Ok(Alone { program, hardware, hit, miss })
    }

    /// A wave that starts now.
    pub fn start(&self) -> Replay {
        let nops = match self.hardware.front {
            Front::Coordinated { places } => places as i64,
            Front::Perfect | Front::Decoupled { .. } => 0,
        };
        Replay {
            now: nops,
            registers: Vec::new(),
            counters: Default::default(),
            all: 0,
            units: vec![0; self.hardware.units.len()],
            port: 0,
            requested: nops - 1 - self.hit.after_fetch as i64,
            arrived: 0,
            issued: VecDeque::new(),
        }
    }

    /// An instruction issues as early as it can; `straight`: the one behind it follows.
    pub fn step(&self, wave: &mut Replay, did: Did, straight: bool) {
        let Some(op) = self.program.ops.get(did.pc as usize) else { return };
        let class = &self.hardware.classes[usize::from(op.class)];
        let unit = &self.hardware.units[class.unit];
        let mut at = wave.now;
        if op.waits_for_all {
            at = at.max(wave.all);
        }
        if let Some(until) = op.waits.until {
            for (counter, most) in wave.counters.iter_mut().zip(until) {
                at = at.max(counter.get(usize::from(most)).copied().unwrap_or(0));
                counter.truncate(counter.partition_point(|&t| t > at));
            }
        }
        for &register in self.program.touches(op) {
            at = at.max(wave.registers.get(usize::from(register)).copied().unwrap_or(0));
        }
        let fetch = (self.hit.fetch as i64).max(2);
        if let Front::Decoupled { buffer, .. } = self.hardware.front {
            let room = wave.issued.get(buffer - 1).copied().unwrap_or(i64::MIN);
            wave.requested = (wave.requested + 1 + self.hit.after_fetch as i64).max(room);
            wave.arrived = wave.arrived.max(wave.requested + fetch);
            at = at.max(wave.arrived);
        }
        if unit.count > 0 {
            at = at.max(wave.units[class.unit]);
        }
        let took = did.took.map_or(i64::MAX, |took| i64::try_from(took).unwrap_or(i64::MAX));
        let done = at + self.latency(wave, did, at).min(took);
        for &register in self.program.writes(op) {
            let register = usize::from(register);
            if wave.registers.len() <= register {
                wave.registers.resize(register + 1, 0);
            }
            wave.registers[register] = wave.registers[register].max(done);
        }
        for (counter, _) in (0..COUNTERS).zip(op.waits.raises).filter(|r| r.1) {
            let times = &mut wave.counters[counter];
            times.insert(times.partition_point(|&t| t > done), done);
            wave.all = wave.all.max(done);
        }
        if !self.program.writes(op).is_empty() {
            wave.all = wave.all.max(done);
        }
        wave.units[class.unit] = at + (self.hit.hold[did.pc as usize]).max(did.busy) as i64;
        wave.now = at + 1;
        if !straight {
            wave.now += i64::from(self.hardware.machine.frontend.branch_penalty);
        }
        match self.hardware.front {
            Front::Perfect => {}
            Front::Decoupled { buffer, .. } if straight => {
                wave.issued.push_front(at);
                wave.issued.truncate(buffer);
            }
            Front::Decoupled { .. } => {
                wave.issued.clear();
                wave.requested = at - 1 - self.hit.after_fetch as i64;
            }
            Front::Coordinated { places } if !straight => wave.now += places as i64,
            Front::Coordinated { .. } => {}
        }
    }

    /// Cycles until its results are there. Its lines go through the port of the first cache one after the other, and behind those of
    /// the same wave that are still on their way.
    fn latency(&self, wave: &mut Replay, did: Did, at: i64) -> i64 {
        let pc = did.pc as usize;
        let charges = if did.missed { &self.miss } else { &self.hit };
        let conflicts = did.busy.saturating_sub(self.hit.hold[pc]) as i64;
        let latency = charges.done[pc] as i64 + conflicts;
        let class = &self.hardware.classes[usize::from(self.program.ops[pc].class)];
        let Some(way) = self.hardware.way(class.port).filter(|w| did.lines > 0 && !w.ideal) else {
            return latency;
        };
        let ports = way.levels.first().map_or(0, |&l| self.hardware.cache(l).ports);
        if ports == 0 {
            return latency;
        }
        let arrival = at + class.latency as i64 + way.there as i64;
        let slots = did.lines.div_ceil(ports.into()) as i64;
        let start = arrival.max(wave.port);
        wave.port = start + slots;
        latency + (start - arrival) + slots - 1
    }
}

/// A wave on its way, in cycles from its start.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The first cycle in which the next instruction could issue.
    now: i64,
    registers: Vec<i64>,
    /// Until at most so many operations behind the counter are outstanding.
    counters: [Vec<i64>; COUNTERS],
    all: i64,
    units: Vec<i64>,
    /// From when on the port of the first cache is free.
    port: i64,
    requested: i64,
    arrived: i64,
    issued: VecDeque<i64>,
}

impl Replay {
    /// The first cycle in which the next instruction could issue.
    pub fn now(&self) -> u64 {
        self.now.max(0) as u64
    }

    /// The wave has issued its last instruction: the cycle from which nothing is outstanding.
    pub fn end(&self) -> u64 {
        self.now.max(self.all).max(0) as u64
    }
}
