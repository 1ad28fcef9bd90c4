//! Which caches never evict anything that a launch can bring into them, and what first touches of lines cost then
//! (docs/proved-bounds.md, lemmas 5 and 6).
//!
//! If in every set of a cache there are at most as many lines of all that the launch can look up in it as the cache has ways, nothing is
//! evicted: a line is absent once, then under way once, then there. A load that is charged a hit is late by at most the difference to
//! a miss, once for each line.

use crate::access::{Access, Local, Memory};
use crate::hardware::{Front, Hardware, Way};
use crate::lines::Lines;
use std::collections::BTreeMap;
use wb_hw::Port;
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// A kind of request: those that enter the hierarchy in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Data,
    Sampler,
    Scalar,
    Fetch,
}

/// What is known about the caches for one launch.
#[derive(Clone, Debug)]
pub struct Caches {
    /// By level: nothing is ever evicted.
    pub kept: Vec<bool>,
    /// Slowest way of a request of a kind to fill a line of a level, from its issue: from DRAM, and from the first cache that keeps
    /// everything.
    fills: Vec<BTreeMap<Kind, u64>>,
    refills: Vec<BTreeMap<Kind, u64>>,
    /// What loads of a kind can touch, how long it takes at most to send one, and the levels on its way.
    loaded: BTreeMap<Kind, Vec<(u64, u64)>>,
    origin: u64,
    /// Bytes of the longest line: what shares none of these shares no shorter one.
    longest: u32,
}

/// The kind of a port.
pub fn kind(port: Port) -> Option<Kind> {
    match port {
        Port::Data => Some(Kind::Data),
        Port::Sampler => Some(Kind::Sampler),
        Port::Scalar => Some(Kind::Scalar),
        Port::None | Port::Lds => None,
    }
}

impl Caches {
    pub fn new<I: Isa>(
        program: &Program<I>,
        hardware: &Hardware,
        accesses: &BTreeMap<Pc, Access>,
        memory: &Memory,
    ) -> Caches {
        let mut loaded: BTreeMap<Kind, Vec<(u64, u64)>> = BTreeMap::new();
        let mut slowest: BTreeMap<Kind, u64> = BTreeMap::from([(Kind::Fetch, 0)]);
        for (&pc, access) in accesses {
            let class = &hardware.classes[usize::from(program.ops[pc as usize].class)];
            let Some(kind) = kind(class.port).filter(|_| access.loads && access.local != Local::Always)
            else {
                continue;
            };
            let late = slowest.entry(kind).or_default();
            *late = (*late).max(class.latency);
            let ranges = loaded.entry(kind).or_default();
            ranges.extend(memory.touched(access));
        }
        if hardware.front != Front::Perfect {
            loaded.insert(Kind::Fetch, memory.code.clone());
        }
        let way = |kind: Kind| match kind {
            Kind::Data => &hardware.data,
            Kind::Sampler => &hardware.sampler,
            Kind::Scalar => &hardware.scalar,
            Kind::Fetch => &hardware.fetch,
        };
        let through = |l: usize| loaded.iter().filter(move |(kind, _)| way(**kind).levels.contains(&l));
        let levels = 0..hardware.machine.caches.len();
        let kept: Vec<bool> = levels
            .clone()
            .map(|l| {
                let cache = hardware.cache(l);
                let ranges = through(l).flat_map(|(_, ranges)| ranges.iter().copied());
                Lines::of(ranges, memory.origin, cache.line).fit(cache)
            })
            .collect();
        let slowest = |l: usize, keeps: bool| {
            let fill = |kind: &Kind| {
                let found = way(*kind).levels.iter().position(|&l| kept[l]).filter(|_| keeps);
                slowest.get(kind).copied().unwrap_or(0) + hardware.reach(way(*kind), found)
            };
            through(l).map(|(kind, _)| (*kind, fill(kind))).collect::<BTreeMap<Kind, u64>>()
        };
        let longest =
            hardware.machine.caches.iter().map(|c| c.line).max().unwrap_or(hardware.machine.dram.line);
        let fills = levels.clone().map(|l| slowest(l, false)).collect();
        let refills = levels.map(|l| slowest(l, true)).collect();
        Caches { kept, fills, refills, loaded, origin: memory.origin, longest }
    }

    /// For tests: lines under way for other requests are there at once.
    pub(crate) fn forget_others(&mut self) {
        self.fills.iter_mut().chain(&mut self.refills).for_each(BTreeMap::clear);
    }

    /// The first cache on a way that keeps everything.
    pub fn found(&self, way: &Way) -> Option<usize> {
        way.levels.iter().position(|&l| self.kept[l])
    }

    /// The slowest of `fills` of the levels, of kinds that can touch one of these lines.
    fn slowest(&self, levels: &[usize], fills: &[BTreeMap<Kind, u64>], touched: &[(u64, u64)]) -> u64 {
        let lines = |ranges: &[(u64, u64)]| Lines::of(ranges.iter().copied(), self.origin, self.longest);
        let mine = lines(touched);
        let meets = |kind: &Kind| self.loaded.get(kind).is_some_and(|r| lines(r).common(&mine) > 0);
        let all = levels.iter().flat_map(|&l| &fills[l]);
        all.filter(|(kind, _)| meets(kind)).map(|f| *f.1).max().unwrap_or(0)
    }

    /// Cycles from issue until a load of some lines is done that finds them nowhere, or under way for the slowest of all requests.
    pub fn miss(&self, hardware: &Hardware, way: &Way, latency: u64, touched: &[(u64, u64)]) -> u64 {
        let own = latency + hardware.reach(way, None);
        own.max(self.slowest(&way.levels, &self.fills, touched)) + way.back
    }

    /// Cycles from issue until a load is done that finds its line in the first cache that keeps everything; in a cache before that it
    /// may be under way for another request.
    pub fn hit(&self, hardware: &Hardware, way: &Way, latency: u64, touched: &[(u64, u64)]) -> u64 {
        let Some(level) = self.found(way) else { return self.miss(hardware, way, latency, touched) };
        let others = self.slowest(&way.levels[..level], &self.refills, touched);
        others.max(latency + hardware.reach(way, Some(level))) + way.back
    }

    /// Lines of a range of addresses, or of all that loads of the kind can touch, by the line of the level.
    pub fn lines(&self, memory: &Memory, kind: Kind, line: u32) -> Lines {
        let ranges = self.loaded.get(&kind).into_iter().flatten().copied();
        Lines::of(ranges, memory.origin, line)
    }
}
