//! From a launch to its bound: which loads are charged a miss each time and which a hit, the terms of a wave, and their sum. Of the
//! assumptions that can be made about loads, each of which is sound, the one with the smallest bound is taken.

use crate::access::{Access, Local, Memory};
use crate::caches::{Caches, Kind, kind};
use crate::charges::Charges;
use crate::compose::{Parts, WaveTerms, compose};
use crate::demand::{Behind, Demand, Relation, Resource};
use crate::flow::{Flow, Heaviest, Order, Piece, Weights};
use crate::geometry::Geometry;
use crate::hardware::{Front, Hardware};
use crate::lines::Lines;
use crate::own::{EdgeTimes, own_times};
use crate::pipeline::Pipeline;
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};
use wb_hw::{Machine, Needs};
use wb_isa::{Isa, Pc};
use wb_program::Program;
use wb_wcet::ipet::Certificate;

/// A launch to bound.
pub struct Question<'a, I: Isa> {
    pub program: &'a Program<I>,
    pub machine: &'a Machine,
    pub needs: Needs,
    pub groups: u64,
    /// Rounds of loops by header, and ways that no wave takes.
    pub limits: &'a BTreeMap<Pc, u64>,
    pub never: &'a BTreeSet<(Pc, Pc)>,
    /// Branches that all waves of a group decide in the same way.
    pub alike: &'a BTreeSet<Pc>,
    /// What memory instructions touch. Every one that can be reached and touches anything is there.
    pub accesses: &'a BTreeMap<Pc, Access>,
    pub memory: &'a Memory,
    /// A lemma to leave out: the search shows that each is needed.
    #[doc(hidden)]
    pub without: Option<Fault>,
}

/// A part of the proof that a test leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Other waves of the partition, of the core, of the machine are forgotten.
    Partition,
    Core,
    Machine,
    /// Latencies are halved.
    Latency,
    /// A wave ends when it issues its last instruction.
    Draining,
    /// First touches of lines cost nothing.
    Cold,
    /// A line under way for another request is there at once.
    UnderWay,
    /// Fetches of others do not count, nor what is fetched for nothing behind jumps.
    Fetch,
    /// All caches keep everything.
    Evictions,
    /// Waves of a group pass their barriers in one piece.
    Pieces,
    /// Groups that do not fit at once are not waited for.
    Rounds,
    /// Bank conflicts of local memory cost nothing.
    Conflicts,
}

impl Fault {
    pub const ALL: [Fault; 12] = [
        Fault::Partition,
        Fault::Core,
        Fault::Machine,
        Fault::Latency,
        Fault::Draining,
        Fault::Cold,
        Fault::UnderWay,
        Fault::Fetch,
        Fault::Evictions,
        Fault::Pieces,
        Fault::Rounds,
        Fault::Conflicts,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Fault::Partition => "partition",
            Fault::Core => "core",
            Fault::Machine => "machine",
            Fault::Latency => "latency",
            Fault::Draining => "draining",
            Fault::Cold => "cold",
            Fault::UnderWay => "under-way",
            Fault::Fetch => "fetch",
            Fault::Evictions => "evictions",
            Fault::Pieces => "pieces",
            Fault::Rounds => "rounds",
            Fault::Conflicts => "conflicts",
        }
    }
}

/// A part of a bound, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    pub name: &'static str,
    pub cycles: u64,
    /// Waves that it stands for; 0: it is no sum over waves.
    pub waves: u64,
}

/// A bound of a launch and what it is made of.
#[derive(Clone, Debug)]
pub struct Proved {
    pub cycles: u64,
    pub terms: Vec<Term>,
    pub geometry: Geometry,
    pub wave: WaveTerms,
    pub parts: Parts,
    pub scale: u64,
    /// Own time of a wave in whole cycles, barriers that a wave passes at most, and the caches that keep everything.
    pub own: u64,
    pub barriers: u64,
    pub kept: Vec<String>,
    /// Loads that are charged a miss each time.
    pub missing: Vec<Pc>,
    /// Cycles before a wave's first instruction could issue.
    pub lead_in: u64,
    /// The heaviest way of each term, certified: `own`, `partition`, `core`, `machine`, `passed` (barriers), and where waves may pass
    /// different barriers `first`, `middle` and `last`; where some may end before others `ending`.
    pub proofs: Proofs,
    /// The heaviest way of own time, and what each resource is asked by a wave of the same partition.
    pub own_way: Heaviest,
    pub resources: Vec<(Resource, u64)>,
}

/// Certificates of heaviest ways by the name of the term.
pub type Proofs = BTreeMap<&'static str, Certificate>;

/// The smallest bound there is a proof for.
pub fn prove<I: Isa>(question: &Question<I>) -> Result<Proved, Refusal> {
    let hardware = Hardware::new(question.machine, question.program.isa.classes())?;
    let flow = Flow::new(question.program, question.limits, question.never)?;
    let geometry = Geometry::new(question.machine, question.needs, question.groups)?;
    let mut caches = Caches::new(question.program, &hardware, question.accesses, question.memory);
    if question.without == Some(Fault::Evictions) {
        caches.kept.iter_mut().for_each(|k| *k = true);
    }
    if question.without == Some(Fault::UnderWay) {
        caches.forget_others();
    }
    let attempt = |missing: &BTreeSet<Pc>| -> Result<Proved, Refusal> {
        let one = |spills| {
            let missing = missing.clone();
            Attempt { question, hardware: &hardware, flow: &flow, geometry, caches: &caches, missing, spills }
                .bound()
        };
        let (line, load) = (one(false)?, one(true)?);
        Ok(if load.cycles < line.cycles { load } else { line })
    };
    // Loads miss each time, or hit and pay once for each line. What is better depends on the others: range by range is turned round
    // as long as the bound falls.
    let loads: BTreeSet<Pc> =
        question.accesses.iter().filter(|a| a.1.loads && a.1.local != Local::Always).map(|a| *a.0).collect();
    let mut ranges: BTreeMap<Option<(u64, u64)>, BTreeSet<Pc>> = BTreeMap::new();
    loads.iter().for_each(|pc| _ = ranges.entry(question.accesses[pc].range).or_default().insert(*pc));
    let (all, none) = (attempt(&loads)?, attempt(&BTreeSet::new())?);
    let mut missing = if all.cycles <= none.cycles { loads } else { BTreeSet::new() };
    let mut best = if all.cycles <= none.cycles { all } else { none };
    let mut tries = if flow.blocks.len() > LARGE { 0 } else { TRIES };
    let mut fell = true;
    while std::mem::take(&mut fell) {
        for group in ranges.values() {
            if tries == 0 {
                return Ok(best);
            }
            tries -= 1;
            let turned: BTreeSet<Pc> = missing.symmetric_difference(group).copied().collect();
            let found = attempt(&turned)?;
            if found.cycles < best.cycles {
                (best, missing, fell) = (found, turned, true);
            }
        }
    }
    Ok(best)
}

/// Choices that are tried, unless a kernel has more blocks than this.
const TRIES: usize = 40;
const LARGE: usize = 300;

pub(crate) struct Attempt<'a, I: Isa> {
    pub question: &'a Question<'a, I>,
    pub hardware: &'a Hardware,
    pub flow: &'a Flow,
    pub geometry: Geometry,
    pub caches: &'a Caches,
    pub missing: BTreeSet<Pc>,
    /// Demand behind a cache that keeps everything is counted load by load rather than line by line.
    pub spills: bool,
}

impl<I: Isa> Attempt<'_, I> {
    fn without(&self, fault: Fault) -> bool {
        self.question.without == Some(fault)
    }

    fn bound(self) -> Result<Proved, Refusal> {
        let Question { program, accesses, memory, .. } = *self.question;
        let missing = |pc: Pc| self.missing.contains(&pc);
        let mut accesses = accesses.clone();
        if self.without(Fault::Conflicts) {
            accesses.values_mut().for_each(|a| a.passes = 1);
        }
        let mut charges = Charges::new(program, self.hardware, &accesses, self.caches, memory, &missing)?;
        if self.without(Fault::Latency) {
            charges.done.iter_mut().for_each(|d| *d /= 2);
        }
        let pipeline = Pipeline { program, hardware: self.hardware, charges: &charges };
        let mut times = own_times(&pipeline, &self.flow.blocks, self.flow.entry)?;
        if self.without(Fault::Draining) {
            times.iter_mut().filter(|t| t.0.1.is_none()).for_each(|t| *t.1 = 1);
        }
        let behind = if self.spills { Behind::Loads } else { Behind::Lines };
        let demand =
            Demand::new(program, self.hardware, self.flow, &accesses, self.caches, &charges, memory, behind)?;
        let mut proofs = Proofs::new();
        let mut wave = self.wave(&pipeline, &times, &demand, &mut proofs)?;
        for (fault, term) in [
            (Fault::Partition, &mut wave.partition),
            (Fault::Core, &mut wave.core),
            (Fault::Machine, &mut wave.machine),
            (Fault::Cold, &mut wave.cold),
        ] {
            if self.question.without == Some(fault) {
                *term = 0;
            }
        }
        let mut geometry = self.geometry;
        if self.without(Fault::Rounds) {
            geometry.groups = geometry.groups.min(geometry.cores * geometry.groups_per_core);
        }
        let parts = compose(&geometry, &wave)?;
        let cycles = |parts: u128| u64::try_from(parts.div_ceil(demand.scale.into()));
        let over = |_| Refusal::Overflow { what: "the bound of the launch" };
        let total = cycles(parts.sum().ok_or(Refusal::Overflow { what: "the bound of the launch" })?)
            .map_err(over)?;
        let term = |name, amount: u128, waves| -> Result<Term, Refusal> {
            Ok(Term { name, cycles: cycles(amount).map_err(over)?, waves })
        };
        let terms = vec![
            term("own time", parts.own, 0)?,
            term("waves of the partition", parts.partition, parts.waves[0])?,
            term("waves of other partitions of the core", parts.core, parts.waves[1])?,
            term("waves of other cores", parts.machine, parts.waves[2])?,
            term("first touches of lines: later than hits", parts.cold, 0)?,
            term("first touches of lines: bandwidth", parts.fills, 0)?,
        ];
        let own_way = self.heaviest(&time_weights(&times, 1)?, Piece::Whole)?;
        let mut resources = Vec::new();
        for resource in Resource::ALL {
            let weights = demand.by.get(&Relation::Partition).and_then(|by| by.get(&resource));
            if let Some(weights) = weights {
                let amount = self.heaviest(weights, Piece::Whole)?.bound.cycles;
                resources.push((resource, amount.div_ceil(demand.scale)));
            }
        }
        let kept = self.caches.kept.iter().enumerate().filter(|k| *k.1);
        Ok(Proved {
            cycles: total,
            terms,
            geometry,
            wave,
            parts,
            scale: demand.scale,
            own: own_way.bound.cycles,
            barriers: self.barriers_passed(&mut proofs)?,
            kept: kept.map(|(l, _)| self.hardware.cache(l).name.clone()).collect(),
            missing: self.missing.iter().copied().collect(),
            lead_in: pipeline.lead_in(),
            proofs,
            own_way,
            resources,
        })
    }

    /// The heaviest way of a term, kept with its certificate.
    fn term(&self, name: &'static str, weights: &Weights, proofs: &mut Proofs) -> Result<u64, Refusal> {
        let found = self.heaviest(weights, Piece::Whole)?.bound;
        proofs.insert(name, found.certificate);
        Ok(found.cycles)
    }

    fn heaviest(&self, weights: &Weights, piece: Piece) -> Result<Heaviest, Refusal> {
        self.flow.heaviest(weights, piece)?.ok_or(Refusal::Program {
            what: "no way leads to its end".into(),
            help: "end the kernel with s_endpgm",
        })
    }

    /// Barriers that a wave passes at most.
    fn barriers_passed(&self, proofs: &mut Proofs) -> Result<u64, Refusal> {
        let weights =
            Weights { blocks: self.flow.barriers.iter().map(|&b| (b, 1)).collect(), ..Weights::default() };
        self.term("passed", &weights, proofs)
    }

    /// The terms of a wave.
    pub fn wave(
        &self,
        pipeline: &Pipeline<I>,
        times: &EdgeTimes,
        demand: &Demand,
        proofs: &mut Proofs,
    ) -> Result<WaveTerms, Refusal> {
        let scale = demand.scale;
        let mut own = time_weights(times, scale)?;
        let lead_in =
            pipeline.lead_in().checked_mul(scale).ok_or(Refusal::Overflow { what: "the own time" })?;
        let pieces = self.pieces(&own, lead_in, proofs)?;
        let ends = match self.order() {
            Order::Leaving if pieces.is_none() => self.geometry.waves_per_group - 1,
            Order::Leaving | Order::Same | Order::Unknown => 0,
        };
        let ending = match ends {
            0 => 0,
            n => {
                let found = self.flow.heaviest(&own, Piece::Ending)?.map(|h| h.bound);
                let cycles = found.as_ref().map_or(0, |b| b.cycles);
                found.map(|b| proofs.insert("ending", b.certificate));
                cycles.checked_mul(n).ok_or(Refusal::Overflow { what: "the own time of a group" })?
            }
        };
        let asked = demand.total(Relation::Itself)?;
        asked.blocks.iter().for_each(|(&b, &w)| *own.blocks.entry(b).or_default() += w);
        asked.edges.iter().for_each(|(&e, &w)| *own.edges.entry(e).or_default() += w);
        let mut heaviest = |name, relation| -> Result<u128, Refusal> {
            let mut weights = demand.total(relation)?;
            if self.without(Fault::Fetch)
                && let Some(fetch) = demand.by.get(&relation).and_then(|by| by.get(&Resource::Fetch))
            {
                fetch.blocks.iter().for_each(|(b, w)| *weights.blocks.entry(*b).or_default() -= w);
                fetch.edges.iter().for_each(|(e, w)| *weights.edges.entry(*e).or_default() -= w);
            }
            Ok(self.term(name, &weights, proofs)?.into())
        };
        let (partition, core) =
            (heaviest("partition", Relation::Partition)?, heaviest("core", Relation::Core)?);
        let machine = heaviest("machine", Relation::Machine)?;
        let (cold, again) = self.cold()?;
        Ok(WaveTerms {
            own: u128::from(self.term("own", &own, proofs)?) + u128::from(lead_in) + u128::from(ending),
            ends,
            pieces: pieces.map(u128::from),
            barriers: !self.flow.barriers.is_empty(),
            partition,
            core,
            machine,
            fills: demand.fills.into(),
            cold: u128::from(cold) * u128::from(scale),
            cold_again: u128::from(again) * u128::from(scale),
        })
    }

    /// How waves of a group pass barriers; one wave alone passes them as it likes.
    fn order(&self) -> Order {
        match self.geometry.waves_per_group == 1 || self.flow.barriers.is_empty() {
            true => Order::Same,
            false => self.flow.order(self.question.program, self.question.alike),
        }
    }

    /// Own time of a group whose waves may be at different barriers: the first piece, as many between barriers as a wave can pass, the
    /// last one. None where one wave stands for the group: it has no other, there is no barrier, or all pass the same ones.
    fn pieces(&self, own: &Weights, lead_in: u64, proofs: &mut Proofs) -> Result<Option<u64>, Refusal> {
        if self.without(Fault::Pieces) || self.order() != Order::Unknown {
            return Ok(None);
        }
        let passed = self.barriers_passed(proofs)?;
        let mut of = |name, piece| -> Result<u64, Refusal> {
            let Some(found) = self.flow.heaviest(own, piece)? else { return Ok(0) };
            proofs.insert(name, found.bound.certificate);
            Ok(found.bound.cycles)
        };
        let (first, middle, last) =
            (of("first", Piece::First)?, of("middle", Piece::Middle)?, of("last", Piece::Last)?);
        // A wave that ends releases the others: its last piece can be followed by pieces of theirs.
        let between = middle.max(last).checked_mul(passed.saturating_sub(1));
        let sum = between.and_then(|b| b.checked_add(first)?.checked_add(last)?.checked_add(lead_in));
        sum.map(Some).ok_or(Refusal::Overflow { what: "the own time of a group" })
    }

    /// By how much first touches of lines are later than hits, once each: data that is charged hits, and code. And the part of it that a
    /// timeline on two cores meets twice.
    fn cold(&self) -> Result<(u64, u64), Refusal> {
        let Question { program, accesses, memory, .. } = *self.question;
        let (hardware, caches) = (self.hardware, self.caches);
        let mut once = 0u64;
        let mut again = 0u64;
        let mut lines: BTreeMap<Kind, Vec<(u64, u64)>> = BTreeMap::new();
        let mut late: BTreeMap<Kind, u64> = BTreeMap::new();
        let mut private = false;
        let mut size = hardware.machine.dram.line;
        for (&pc, access) in accesses.iter().filter(|a| a.1.loads && a.1.local != Local::Always) {
            let class = &hardware.classes[usize::from(program.ops[pc as usize].class)];
            let (Some(way), Some(kind)) = (hardware.way(class.port), kind(class.port)) else { continue };
            let Some(level) = caches.found(way).filter(|_| !self.missing.contains(&pc)) else { continue };
            let ranges = lines.entry(kind).or_default();
            let touched = memory.touched(access);
            ranges.extend(&touched);
            let miss = caches.miss(hardware, way, class.latency, &touched);
            let extra = late.entry(kind).or_default();
            *extra = (*extra).max(miss - caches.hit(hardware, way, class.latency, &touched));
            let cache = hardware.cache(way.levels[level]);
            private |= cache.shared_by != 0 && cache.shared_by < hardware.machine.cores;
            size = size.min(cache.line);
        }
        // A line that several kinds touch is under way once, for the slowest of them.
        let of = |ranges: &[(u64, u64)]| Lines::of(ranges.iter().copied(), memory.origin, size);
        let mut counted = Lines::default();
        let mut kinds: Vec<(Kind, u64)> = late.into_iter().collect();
        kinds.sort_by_key(|k| std::cmp::Reverse(k.1));
        for (kind, extra) in kinds {
            let mine = of(&lines[&kind]);
            let new = mine.count() - mine.common(&counted);
            once = new
                .checked_mul(extra)
                .and_then(|c| c.checked_add(once))
                .ok_or(Refusal::Overflow { what: "the time of first touches" })?;
            counted = counted.union(&mine);
        }
        if private {
            again = again.checked_add(once).ok_or(Refusal::Overflow { what: "the time of first touches" })?;
        }
        let fetch = &hardware.fetch;
        if hardware.front != Front::Perfect && !fetch.ideal && caches.found(fetch) == Some(0) {
            let cache = hardware.cache(fetch.levels[0]);
            let count = caches.lines(memory, Kind::Fetch, cache.line).count();
            let nop = u64::from(matches!(hardware.front, Front::Coordinated { .. }));
            let extra = caches.miss(hardware, fetch, 0, &memory.code)
                - caches.hit(hardware, fetch, 0, &memory.code)
                + nop;
            let code =
                count.checked_mul(extra).ok_or(Refusal::Overflow { what: "the time of first fetches" })?;
            once += code;
            again += if cache.shared_by != 0 && cache.shared_by < hardware.machine.cores { code } else { 0 };
        }
        Ok((once, again))
    }
}

/// Own times as weights of edges.
pub(crate) fn time_weights(times: &EdgeTimes, scale: u64) -> Result<Weights, Refusal> {
    let mut weights = Weights::default();
    for (&edge, &time) in times {
        let time = time.checked_mul(scale).ok_or(Refusal::Overflow { what: "the own time of a block" })?;
        weights.edges.insert(edge, time);
    }
    Ok(weights)
}
