//! Which caches never evict anything that a launch can bring into them, and what first touches of lines cost then
//! (docs/proved-bounds.md, lemmas 5 and 6).
//!
//! If in every set of a cache there are at most as many lines of all that the launch can look up in it as the cache has ways, nothing is
//! evicted: a line is absent once, then under way once, then there. A load that is charged a hit is late by at most the difference to
//! a miss, once for each line.

use crate::access::{Access, Local, Memory};
use crate::hardware::{Hardware, Way};
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
    /// Slowest way of a request of this launch to fill a line of a level, from its issue: from DRAM, and from the first cache that
    /// keeps everything.
    fills: Vec<u64>,
    refills: Vec<u64>,
    /// Instructions and what is loaded have no line in common.
    code_apart: bool,
    /// Lines that loads of a kind can touch, by the line of the last level (or of DRAM).
    loaded: BTreeMap<Kind, Vec<(u64, u64)>>,
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
        loaded.insert(Kind::Fetch, memory.code.clone());
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
            through(l).map(|(kind, _)| fill(kind)).max().unwrap_or(0)
        };
        let fills = levels.clone().map(|l| slowest(l, false)).collect();
        let refills = levels.map(|l| slowest(l, true)).collect();
        let code = Lines::of(memory.code.iter().copied(), memory.origin, 64);
        let data =
            loaded.iter().filter(|(kind, _)| **kind != Kind::Fetch).flat_map(|(_, r)| r.iter().copied());
        let code_apart = code.common(&Lines::of(data, memory.origin, 64)) == 0;
        Caches { kept, fills, refills, code_apart, loaded }
    }

    /// The first cache on a way that keeps everything.
    pub fn found(&self, way: &Way) -> Option<usize> {
        way.levels.iter().position(|&l| self.kept[l])
    }

    /// Cycles from issue until a load is done that finds its line nowhere, or under way for the slowest of all requests.
    pub fn miss(&self, hardware: &Hardware, way: &Way, latency: u64, fetch: bool) -> u64 {
        let own = latency + hardware.reach(way, None);
        let others = way.levels.iter().map(|&l| self.fills[l]).max().unwrap_or(0);
        let slowest = if fetch && self.code_apart { own } else { own.max(others) };
        slowest + way.back
    }

    /// Cycles from issue until a load is done that finds its line in the first cache that keeps everything; in a cache before that it
    /// may be under way for another request.
    pub fn hit(&self, hardware: &Hardware, way: &Way, latency: u64) -> u64 {
        let Some(level) = self.found(way) else { return self.miss(hardware, way, latency, false) };
        let others = way.levels[..level].iter().map(|&l| self.refills[l]).max().unwrap_or(0);
        others.max(latency + hardware.reach(way, Some(level))) + way.back
    }

    /// Lines of a range of addresses, or of all that loads of the kind can touch, by the line of the level.
    pub fn lines(&self, memory: &Memory, kind: Kind, line: u32) -> Lines {
        let ranges = self.loaded.get(&kind).into_iter().flatten().copied();
        Lines::of(ranges, memory.origin, line)
    }
}
