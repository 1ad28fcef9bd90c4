//! From a launch to its bound: which loads are charged a miss each time and which a hit, the terms of a wave, and their sum. Of the
//! assumptions that can be made about loads, each of which is sound, the one with the smallest bound is taken.

use crate::access::{Access, Local, Memory};
use crate::caches::Caches;
use crate::charges::Charges;
use crate::cold::cold;
use crate::compose::{Parts, WaveTerms, compose};
use crate::demand::{Behind, Demand, Relation, Resource};
use crate::flow::{Flow, Heaviest, Order, Piece, Weights};
use crate::geometry::Geometry;
use crate::hardware::Hardware;
use crate::own::{EdgeTimes, own_times};
use crate::pipeline::Pipeline;
use crate::refusal::Refusal;
use crate::splits::{SplitQuestion, Splits};
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
    /// Where waves may split.
    pub splits: &'a SplitQuestion,
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
    /// Other paths of a wave are forgotten, its own and those of other waves.
    Paths,
    /// Every marked split is counted on, whether a context is free or not.
    Sure,
}

impl Fault {
    pub const ALL: [Fault; 14] = [
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
        Fault::Paths,
        Fault::Sure,
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
            Fault::Paths => "paths",
            Fault::Sure => "sure",
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
    let mut splits = Splits::new(question.program, &hardware, &flow.blocks, &flow.barriers, question.splits)?;
    if question.without == Some(Fault::Paths) {
        splits.times.clear();
        splits.beside.clear();
    }
    splits.all_sure = question.without == Some(Fault::Sure);
    let mut caches = Caches::new(question.program, &hardware, question.accesses, question.memory);
    if question.without == Some(Fault::Evictions) {
        caches.kept.iter_mut().for_each(|k| *k = true);
    }
    if question.without == Some(Fault::UnderWay) {
        caches.forget_others();
    }
    let one = |missing: &BTreeSet<Pc>, spills| {
        let missing = missing.clone();
        let (hardware, flow, caches, splits) = (&hardware, &flow, &caches, &splits);
        Attempt { question, hardware, flow, geometry, caches, splits, missing, spills }
    };
    // What others ask does not depend on which loads miss.
    let others = [one(&BTreeSet::new(), false).asked()?, one(&BTreeSet::new(), true).asked()?];
    // Cycles, and whether demand is counted load by load.
    let attempt = |missing: &BTreeSet<Pc>| -> Result<(u64, bool), Refusal> {
        let (line, load) = (one(missing, false), one(missing, true));
        let charges = line.charges()?;
        let times = line.times(&charges)?;
        let of = |attempt: &Attempt<I>, others: &(Demand, Others)| -> Result<u64, Refusal> {
            let pipeline = attempt.pipeline(&charges);
            let wave = attempt.own(&pipeline, &times, &others.0, &others.1, &mut Proofs::new())?;
            Ok(attempt.sum(wave, others.0.scale)?.0)
        };
        let (line, load) = (of(&line, &others[0])?, of(&load, &others[1])?);
        Ok((line.min(load), load < line))
    };
    // Loads miss each time, or hit and pay once for each line. What is better depends on the others: range by range is turned round
    // as long as the bound falls.
    let loads: BTreeSet<Pc> =
        question.accesses.iter().filter(|a| a.1.loads && a.1.local != Local::Always).map(|a| *a.0).collect();
    let mut ranges: BTreeMap<Option<(u64, u64)>, BTreeSet<Pc>> = BTreeMap::new();
    loads.iter().for_each(|pc| _ = ranges.entry(question.accesses[pc].range).or_default().insert(*pc));
    let (all, none) = (attempt(&loads)?, attempt(&BTreeSet::new())?);
    let mut missing = if all.0 <= none.0 { loads } else { BTreeSet::new() };
    let mut best = if all.0 <= none.0 { all } else { none };
    let mut tries = if flow.blocks.len() > LARGE { 0 } else { TRIES };
    let mut fell = true;
    while std::mem::take(&mut fell) {
        for group in ranges.values() {
            if tries == 0 {
                break;
            }
            tries -= 1;
            let turned: BTreeSet<Pc> = missing.symmetric_difference(group).copied().collect();
            let found = attempt(&turned)?;
            if found.0 < best.0 {
                (best, missing, fell) = (found, turned, true);
            }
        }
    }
    one(&missing, best.1).bound()
}

/// What other waves, and other paths of the same one, ask: the heaviest ways, and how waves of a group pass barriers.
pub(crate) struct Others {
    partition: u128,
    core: u128,
    machine: u128,
    paths: u128,
    order: Order,
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
    pub splits: &'a Splits,
    pub missing: BTreeSet<Pc>,
    /// Demand behind a cache that keeps everything is counted load by load rather than line by line.
    pub spills: bool,
}

impl<I: Isa> Attempt<'_, I> {
    fn without(&self, fault: Fault) -> bool {
        self.question.without == Some(fault)
    }

    /// What memory instructions touch.
    fn accesses(&self) -> BTreeMap<Pc, Access> {
        let mut accesses = self.question.accesses.clone();
        if self.without(Fault::Conflicts) {
            accesses.values_mut().for_each(|a| a.passes = 1);
        }
        accesses
    }

    fn charges(&self) -> Result<Charges, Refusal> {
        let Question { program, memory, .. } = *self.question;
        let missing = |pc: Pc| self.missing.contains(&pc);
        let accesses = self.accesses();
        let mut charges = Charges::new(program, self.hardware, &accesses, self.caches, memory, &missing)?;
        if self.without(Fault::Latency) {
            charges.done.iter_mut().for_each(|d| *d /= 2);
        }
        Ok(charges)
    }

    fn pipeline<'b>(&'b self, charges: &'b Charges) -> Pipeline<'b, I> {
        let (program, hardware, splits) = (self.question.program, self.hardware, self.splits);
        Pipeline { program, hardware, charges, splits }
    }

    fn times(&self, charges: &Charges) -> Result<EdgeTimes, Refusal> {
        let mut times = own_times(&self.pipeline(charges), &self.flow.blocks, self.flow.entry)?;
        if self.without(Fault::Draining) {
            times.iter_mut().filter(|t| t.0.1.is_none()).for_each(|t| *t.1 = 1);
        }
        Ok(times)
    }

    fn demand(&self, charges: &Charges) -> Result<Demand, Refusal> {
        let Question { program, memory, .. } = *self.question;
        let behind = if self.spills { Behind::Loads } else { Behind::Lines };
        let (hardware, flow, caches, splits) = (self.hardware, self.flow, self.caches, self.splits);
        Demand::new(program, hardware, flow, &self.accesses(), caches, charges, memory, behind, splits)
    }

    /// What others ask.
    fn asked(&self) -> Result<(Demand, Others), Refusal> {
        let demand = self.demand(&self.charges()?)?;
        let others = self.others(&demand, &mut Proofs::new())?;
        Ok((demand, others))
    }

    /// The bound that the terms of a wave make, and what it is made of.
    fn sum(&self, mut wave: WaveTerms, scale: u64) -> Result<(u64, WaveTerms, Geometry, Parts), Refusal> {
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
        let over = Refusal::Overflow { what: "the bound of the launch" };
        let total = parts.sum().and_then(|sum| u64::try_from(sum.div_ceil(scale.into())).ok());
        Ok((total.ok_or(over)?, wave, geometry, parts))
    }

    fn bound(self) -> Result<Proved, Refusal> {
        let charges = self.charges()?;
        let times = self.times(&charges)?;
        let demand = self.demand(&charges)?;
        let pipeline = self.pipeline(&charges);
        let mut proofs = Proofs::new();
        let wave = self.wave(&pipeline, &times, &demand, &mut proofs)?;
        let (total, wave, geometry, parts) = self.sum(wave, demand.scale)?;
        let cycles = |parts: u128| u64::try_from(parts.div_ceil(demand.scale.into()));
        let over = |_| Refusal::Overflow { what: "the bound of the launch" };
        let term = |name, amount: u128, waves| -> Result<Term, Refusal> {
            Ok(Term { name, cycles: cycles(amount).map_err(over)?, waves })
        };
        let terms = vec![
            term("own time", parts.own - parts.paths, 0)?,
            term("other paths of the wave", parts.paths, 0)?,
            term("waves of the partition", parts.partition, parts.waves[0])?,
            term("waves of other partitions of the core", parts.core, parts.waves[1])?,
            term("waves of other cores", parts.machine, parts.waves[2])?,
            term("first touches of lines: later than hits", parts.cold, 0)?,
            term("first touches of lines: bandwidth", parts.fills, 0)?,
        ];
        let own_way = self.heaviest_own(&time_weights(&times, 1)?)?;
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
        self.flow.heaviest(weights, piece)?.ok_or_else(no_end)
    }

    /// The heaviest way of one path.
    fn heaviest_own(&self, weights: &Weights) -> Result<Heaviest, Refusal> {
        self.flow.heaviest_of_paths(weights, self.splits)?.ok_or_else(no_end)
    }

    /// What other paths of the wave ask while one goes on, and merges that can happen anywhere.
    fn paths(&self, demand: &Demand, order: Order, proofs: &mut Proofs) -> Result<u128, Refusal> {
        if !self.splits.on {
            return Ok(0);
        }
        if order != Order::Same {
            return Err(Refusal::Program {
                what: "its waves split, and those of a group may be at different barriers".into(),
                help: "let all waves of a group pass the same barriers, or set split.contexts to 0",
            });
        }
        let mut weights = demand.total(Relation::Paths)?;
        for (&b, &cycles) in &self.splits.anywhere {
            let block = weights.blocks.entry(b).or_default();
            let more = cycles.checked_mul(self.splits.times(b)).and_then(|c| c.checked_mul(demand.scale));
            *block = more
                .and_then(|c| block.checked_add(c))
                .ok_or(Refusal::Overflow { what: "the time of merges" })?;
        }
        Ok(self.term("paths", &weights, proofs)?.into())
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
        let others = self.others(demand, proofs)?;
        self.own(pipeline, times, demand, &others, proofs)
    }

    /// What others ask, in heaviest ways.
    fn others(&self, demand: &Demand, proofs: &mut Proofs) -> Result<Others, Refusal> {
        let order = self.order();
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
        let paths = self.paths(demand, order, proofs)?;
        Ok(Others { partition, core, machine, paths, order })
    }

    /// The terms of a wave whose loads are charged as this attempt says.
    fn own(
        &self,
        pipeline: &Pipeline<I>,
        times: &EdgeTimes,
        demand: &Demand,
        others: &Others,
        proofs: &mut Proofs,
    ) -> Result<WaveTerms, Refusal> {
        let Others { partition, core, machine, paths, order } = *others;
        let scale = demand.scale;
        let mut own = time_weights(times, scale)?;
        let lead_in =
            pipeline.lead_in().checked_mul(scale).ok_or(Refusal::Overflow { what: "the own time" })?;
        let pieces = self.pieces(&own, lead_in, order, proofs)?;
        let ends = match order {
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
        let Question { program, accesses, memory, .. } = *self.question;
        let (cold, again) = cold(program, self.hardware, accesses, self.caches, memory, &self.missing)?;
        let alone = self.heaviest_own(&own)?.bound;
        proofs.insert("own", alone.certificate);
        Ok(WaveTerms {
            own: u128::from(alone.cycles) + u128::from(lead_in) + u128::from(ending) + paths,
            paths,
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
    fn pieces(
        &self,
        own: &Weights,
        lead_in: u64,
        order: Order,
        proofs: &mut Proofs,
    ) -> Result<Option<u64>, Refusal> {
        if self.without(Fault::Pieces) || order != Order::Unknown {
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
}

fn no_end() -> Refusal {
    Refusal::Program { what: "no way leads to its end".into(), help: "end the kernel with s_endpgm" }
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
