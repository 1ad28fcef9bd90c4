//! A wave that did something beside others, alone: the instructions it issued in a run go through the pipeline again with nobody else
//! there (the recursion of `pipeline`, in cycles from the wave's start instead of states that can be joined). The difference to the run
//! is what the wave waited for others.

use crate::hardware::{Front, Hardware};
use crate::refusal::Refusal;
use std::collections::VecDeque;
use wb_hw::Machine;
use wb_isa::{COUNTERS, Isa, Pc};
use wb_program::Program;

/// What an instruction used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Used {
    /// No memory.
    #[default]
    Nothing,
    Local,
    /// It loaded lines, all of which the first cache had, or not.
    Hit,
    Miss,
    Store,
}

/// What an instruction did in the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Did {
    pub pc: Pc,
    pub used: Used,
    pub lines: u64,
    /// Cycles from issue to its results in the run: alone it takes no longer.
    pub took: Option<u64>,
    /// Cycles that its unit was held.
    pub busy: u64,
}

/// Copies of a unit that a wave alone can have busy at once, and more.
const COPIES: u64 = 64;

/// The machine without anybody else.
pub struct Alone<'a, I: Isa> {
    program: &'a Program<I>,
    hardware: Hardware,
    /// Cycles from the request for an instruction until it can issue; the cache has it.
    fetch: i64,
}

impl<'a, I: Isa> Alone<'a, I> {
    pub fn new(program: &'a Program<I>, machine: &Machine) -> Result<Alone<'a, I>, Refusal> {
        let hardware = Hardware::new(machine, program.isa.classes())?;
        let fetch = match hardware.front {
            // What arrives is seen by the end of the next cycle at the earliest.
            Front::Decoupled { fetch, .. } => (fetch as i64).max(2),
            Front::Perfect | Front::Coordinated { .. } => 0,
        };
        Ok(Alone { program, hardware, fetch })
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
            units: self.hardware.units.iter().map(|u| vec![0; u.count.min(COPIES) as usize]).collect(),
            port: 0,
            requested: nops - 1,
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
        if let Front::Decoupled { buffer, .. } = self.hardware.front {
            let room = wave.issued.get(buffer - 1).copied().unwrap_or(i64::MIN);
            wave.requested = (wave.requested + 1).max(room);
            wave.arrived = wave.arrived.max(wave.requested + self.fetch);
            at = at.max(wave.arrived);
        }
        at = at.max(wave.units[class.unit].iter().copied().min().unwrap_or(0));
        let done = at + self.latency(wave, did, at);
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
        if let Some(copy) = wave.units[class.unit].iter_mut().find(|free| **free <= at) {
            *copy = at + unit.hold.max(did.busy) as i64;
        }
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
                wave.requested = at - 1;
            }
            Front::Coordinated { places } if !straight => wave.now += places as i64,
            Front::Coordinated { .. } => {}
        }
    }

    /// Cycles until its results are there. Its lines go through the port of the first cache one after the other, and behind those of
    /// the same wave that are still on their way.
    fn latency(&self, wave: &mut Replay, did: Did, at: i64) -> i64 {
        let class = &self.hardware.classes[usize::from(self.program.ops[did.pc as usize].class)];
        let unit = &self.hardware.units[class.unit];
        let least = (class.latency + unit.extra) as i64;
        let took = did.took.map_or(i64::MAX, |took| i64::try_from(took).unwrap_or(i64::MAX));
        let way = match did.used {
            Used::Nothing => return least,
            Used::Local => {
                let conflicts = did.busy.saturating_sub(unit.hold);
                let done = class.latency + conflicts + u64::from(self.hardware.machine.memory.lds_latency);
                return least.max(took.min(done as i64));
            }
            Used::Hit | Used::Miss | Used::Store => self.hardware.way(class.port),
        };
        let Some(way) = way else { return least };
        let found = if did.used == Used::Hit && !way.levels.is_empty() { Some(0) } else { None };
        let done = class.latency
            + match did.used {
                Used::Store => self.hardware.store(way),
                _ => self.hardware.reach(way, found) + way.back,
            };
        let ports = way.levels.first().map_or(0, |&l| u64::from(self.hardware.cache(l).ports));
        if ports == 0 || way.ideal {
            return least.max(took.min(done as i64));
        }
        let arrival = at + (class.latency + way.there) as i64;
        let slots = did.lines.div_ceil(ports) as i64;
        let start = arrival.max(wave.port);
        wave.port = start + slots;
        least.max(took.min(done as i64 + (start - arrival) + (slots - 1).max(0)))
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
    /// From when on each copy of a unit takes another instruction.
    units: Vec<Vec<i64>>,
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
