//! Demand: what one wave asks of resources that others wait for (docs/proved-bounds.md, "Demand"). Weights of blocks and edges, in
//! parts of a cycle, for each relation that the waiting wave can have to this one.

use crate::access::{Access, Local, Memory};
use crate::caches::{self, Caches, Kind};
use crate::charges::Charges;
use crate::flow::{Flow, Weights};
use crate::hardware::{Front, Hardware, Way};
use crate::lines::Lines;
use crate::refusal::Refusal;
use crate::splits::Splits;
use std::collections::BTreeMap;
use wb_hw::WritePolicy;
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// Where a wave is that another one waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The wave itself: only what its requests to memory ask of ports and of DRAM.
    Itself,
    /// Another path of the same wave.
    Paths,
    /// Another wave of the same partition, of the same core, of another core.
    Partition,
    Core,
    Machine,
}

impl Relation {
    pub const ALL: [Relation; 5] =
        [Relation::Itself, Relation::Paths, Relation::Partition, Relation::Core, Relation::Machine];
}

/// A resource, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// The issue port of the partition and the units behind it: an instruction counts with what it holds longest.
    Issue,
    /// Units that all partitions of the core share.
    Units,
    Fetch,
    /// Ports of caches.
    Ports,
    Dram,
}

impl Resource {
    pub const ALL: [Resource; 5] =
        [Resource::Issue, Resource::Units, Resource::Fetch, Resource::Ports, Resource::Dram];

    pub fn name(self) -> &'static str {
        match self {
            Resource::Issue => "issue and units of the partition",
            Resource::Units => "units of the core",
            Resource::Fetch => "fetch",
            Resource::Ports => "cache ports",
            Resource::Dram => "DRAM",
        }
    }
}

/// How what follows behind a cache that keeps everything is counted, for loads whose addresses are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// Every load may miss.
    Loads,
    /// Every line that is open to the kernel misses once in the whole launch.
    Lines,
}

/// Demand of one wave by resource.
pub type ByResource = BTreeMap<Resource, Weights>;

/// All demand of a kernel.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Parts of a cycle in which everything is counted.
    pub scale: u64,
    pub by: BTreeMap<Relation, ByResource>,
    /// What first touches of lines in caches that keep them ask of the levels behind, in the whole launch.
    pub fills: u64,
}

/// Parts of a cycle that make every rate whole; more than this are rounded up.
const SCALES: u64 = 1 << 20;

impl Demand {
    #[allow(clippy::too_many_arguments)]
    pub fn new<I: Isa>(
        program: &Program<I>,
        hardware: &Hardware,
        flow: &Flow,
        accesses: &BTreeMap<Pc, Access>,
        caches: &Caches,
        charges: &Charges,
        memory: &Memory,
        behind: Behind,
        splits: &Splits,
    ) -> Result<Demand, Refusal> {
        let scale = scale(hardware);
        let cost = Costs { program, hardware, accesses, caches, charges, scale, behind };
        let mut by: BTreeMap<Relation, ByResource> = BTreeMap::new();
        let times = |relation: Relation, b: usize| match relation {
            Relation::Itself => 1,
            Relation::Paths if !splits.beside.contains(&b) => 0,
            Relation::Paths | Relation::Partition | Relation::Core | Relation::Machine => splits.times(b),
        };
        let relations: Vec<Relation> =
            Relation::ALL.into_iter().filter(|&r| splits.on || r != Relation::Paths).collect();
        for &b in &flow.blocks {
            for pc in program.cfg.pcs(b, &program.flow) {
                for &relation in &relations {
                    for (resource, amount) in cost.of(pc, relation)? {
                        let block = by
                            .entry(relation)
                            .or_default()
                            .entry(resource)
                            .or_default()
                            .blocks
                            .entry(b)
                            .or_default();
                        *block = sum(*block, product(amount, times(relation, b))?)?;
                    }
                }
            }
        }
        for &(b, to) in &flow.edges {
            let next = program.flow.next[program.cfg.blocks[b].last as usize];
            let straight = to.is_some_and(|s| program.cfg.blocks[s].first == next);
            if straight {
                continue;
            }
            for &relation in &relations {
                for (resource, amount) in cost.redirect(relation)? {
                    by.entry(relation)
                        .or_default()
                        .entry(resource)
                        .or_default()
                        .edges
                        .insert((b, to), product(amount, times(relation, b))?);
                }
            }
        }
        // Paths that begin, and paths that end when they merge.
        for (&b, &restarts) in &splits.restarts {
            for &relation in &relations {
                for (resource, amount) in cost.redirect(relation)? {
                    let weights = by.entry(relation).or_default().entry(resource).or_default();
                    let block = weights.blocks.entry(b).or_default();
                    *block = sum(*block, product(product(amount, restarts)?, times(relation, b))?)?;
                }
            }
        }
        if let Front::Coordinated { places } = hardware.front {
            // NOPs before the first instruction, and one for each line of code that is not there when it is asked for.
            let lines = caches.lines(memory, Kind::Fetch, first_line(hardware, &hardware.fetch)).count();
            let nops = sum(places, lines)?;
            let asked = |relation| -> Result<Vec<(Resource, u64)>, Refusal> {
                let mut list = cost.lookups(&hardware.fetch, nops, Passes::UntilKept, relation)?;
                if cost.at_port(relation) {
                    list.push((Resource::Issue, product(nops, scale)?));
                }
                Ok(list)
            };
            // Every path meets lines that are not there.
            let most = splits.times.values().copied().max().unwrap_or(1);
            for &relation in &relations {
                for (resource, amount) in asked(relation)? {
                    let weights = by.entry(relation).or_default().entry(resource).or_default();
                    let block = weights.blocks.entry(flow.entry).or_default();
                    *block = sum(*block, product(amount, most)?)?;
                }
            }
        }
        Ok(Demand { scale, by, fills: cost.fills(memory)? })
    }

    /// All resources of a relation together.
    pub fn total(&self, relation: Relation) -> Result<Weights, Refusal> {
        let mut sum = Weights::default();
        for weights in self.by.get(&relation).into_iter().flat_map(BTreeMap::values) {
            for (&b, &w) in &weights.blocks {
                let block = sum.blocks.entry(b).or_default();
                *block = self::sum(*block, w)?;
            }
            for (&e, &w) in &weights.edges {
                let edge = sum.edges.entry(e).or_default();
                *edge = self::sum(*edge, w)?;
            }
        }
        Ok(sum)
    }
}

const OVER: Refusal = Refusal::Overflow { what: "the demand of a block" };

fn product(a: u64, b: u64) -> Result<u64, Refusal> {
    a.checked_mul(b).ok_or(OVER)
}

fn sum(a: u64, b: u64) -> Result<u64, Refusal> {
    a.checked_add(b).ok_or(OVER)
}

/// The smallest number of parts in which each line takes a whole number of them.
fn scale(hardware: &Hardware) -> u64 {
    let gcd = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a.max(1)
    };
    let d = &hardware.machine.dram;
    let dram = u64::from(d.bandwidth.max(1)) / gcd(d.line.into(), d.bandwidth.max(1).into());
    let ports = hardware.machine.caches.iter().map(|c| u64::from(c.ports.max(1)));
    let all = ports.fold(dram, |all, n| if all > SCALES { all } else { all / gcd(all, n) * n });
    if all > SCALES { SCALES } else { all }
}

fn first_line(hardware: &Hardware, way: &Way) -> u32 {
    way.levels.first().map_or(hardware.machine.dram.line, |&l| hardware.cache(l).line)
}

/// How far requests go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passes {
    /// To the first cache that keeps everything; what follows is counted line by line.
    UntilKept,
    All,
    Store,
}

struct Costs<'a, I: Isa> {
    program: &'a Program<I>,
    hardware: &'a Hardware,
    accesses: &'a BTreeMap<Pc, Access>,
    caches: &'a Caches,
    charges: &'a Charges,
    scale: u64,
    behind: Behind,
}

impl<I: Isa> Costs<'_, I> {
    /// What one execution of an instruction asks of each resource.
    fn of(&self, pc: Pc, relation: Relation) -> Result<Vec<(Resource, u64)>, Refusal> {
        let op = &self.program.ops[pc as usize];
        let class = &self.hardware.classes[usize::from(op.class)];
        let unit = &self.hardware.units[class.unit];
        let hold = self.charges.hold[pc as usize];
        let mut list = Vec::new();
        match relation {
            Relation::Itself | Relation::Machine => {}
            relation if self.at_port(relation) => {
                let of = |count: u64| match count {
                    0 => 1,
                    1 => hold.max(1),
                    // A wave waits for a unit only while all copies are held.
                    n => 1 + hold.div_ceil(n),
                };
                let cycles = of(unit.count).max(class.split.map_or(0, of));
                list.push((Resource::Issue, product(cycles, self.scale)?));
            }
            // Contexts share the units of the partition that they have none of their own for.
            Relation::Paths if class.split.is_none() && unit.count > 0 => {
                list.push((Resource::Units, product(hold.div_ceil(unit.count), self.scale)?));
            }
            Relation::Paths | Relation::Partition => {}
            Relation::Core if unit.core && unit.count > 0 => {
                list.push((Resource::Units, product(hold.div_ceil(unit.count), self.scale)?));
            }
            Relation::Core => {}
        }
        // Every context has a fetch port of its own.
        if relation == Relation::Partition && matches!(self.hardware.front, Front::Decoupled { .. }) {
            list.push((Resource::Fetch, self.scale));
        }
        if self.hardware.front != Front::Perfect {
            list.extend(self.lookups(&self.hardware.fetch, 1, Passes::UntilKept, relation)?);
        }
        if let (Some(access), Some(way)) = (self.accesses.get(&pc), self.hardware.way(class.port))
            && access.local != Local::Always
        {
            let lines = access.lines;
            let passes = if self.spilled(access) { Passes::All } else { Passes::UntilKept };
            let loads = if access.loads { self.lookups(way, lines, passes, relation)? } else { Vec::new() };
            let stores =
                if access.stores { self.lookups(way, lines, Passes::Store, relation)? } else { Vec::new() };
            list.extend(loads.into_iter().chain(stores));
        }
        Ok(list)
    }

    /// It issues at the port that the waiting path waits for.
    fn at_port(&self, relation: Relation) -> bool {
        relation == Relation::Partition || relation == Relation::Paths && !self.hardware.apart
    }

    /// What a jump, or the end of a wave, asks beyond its instruction: what was fetched behind it for nothing.
    fn redirect(&self, relation: Relation) -> Result<Vec<(Resource, u64)>, Refusal> {
        match self.hardware.front {
            Front::Perfect => Ok(Vec::new()),
            Front::Decoupled { buffer, .. } => {
                let buffer = buffer as u64;
                let mut list = self.lookups(&self.hardware.fetch, buffer, Passes::UntilKept, relation)?;
                if relation == Relation::Partition {
                    list.push((Resource::Fetch, product(buffer, self.scale)?));
                }
                Ok(list)
            }
            Front::Coordinated { places } => {
                let mut list = self.lookups(&self.hardware.fetch, places, Passes::UntilKept, relation)?;
                if self.at_port(relation) {
                    list.push((Resource::Issue, product(places, self.scale)?));
                }
                Ok(list)
            }
        }
    }

    /// Ports and DRAM for `lines` lines. Behind a cache that keeps everything only first touches follow, which are counted for the
    /// whole launch ([`Costs::fills`]).
    fn lookups(
        &self,
        way: &Way,
        lines: u64,
        passes: Passes,
        relation: Relation,
    ) -> Result<Vec<(Resource, u64)>, Refusal> {
        let mut list = Vec::new();
        if way.ideal {
            return Ok(list);
        }
        for &l in &way.levels {
            let cache = self.hardware.cache(l);
            if passes == Passes::Store && cache.write == WritePolicy::Free {
                return Ok(list);
            }
            let shared = cache.shared_by != 1;
            if cache.ports > 0 && (shared || relation != Relation::Machine) {
                list.push((Resource::Ports, product(lines, self.scale)?.div_ceil(cache.ports.into())));
            }
            if passes == Passes::UntilKept && self.caches.kept[l] {
                return Ok(list);
            }
        }
        list.extend(self.dram(lines)?.map(|cost| (Resource::Dram, cost)));
        Ok(list)
    }

    /// The load is counted each time, not line by line.
    fn spilled(&self, access: &Access) -> bool {
        self.behind == Behind::Loads && access.range.is_none()
    }

    /// Lines of a kind whose first touches are counted.
    fn counted(&self, memory: &Memory, kind: Kind, line: u32) -> Lines {
        if kind == Kind::Fetch {
            return self.caches.lines(memory, kind, line);
        }
        let mut ranges = Vec::new();
        for (&pc, access) in self.accesses.iter().filter(|a| a.1.loads && !self.spilled(a.1)) {
            let port = self.hardware.classes[usize::from(self.program.ops[pc as usize].class)].port;
            if access.local == Local::Always || caches::kind(port) != Some(kind) {
                continue;
            }
            ranges.extend(memory.touched(access));
        }
        Lines::of(ranges, memory.origin, line)
    }

    /// None if it takes no time.
    fn dram(&self, lines: u64) -> Result<Option<u64>, Refusal> {
        let d = &self.hardware.machine.dram;
        if d.bandwidth == 0 {
            return Ok(None);
        }
        let bytes = product(lines, d.line.into())?;
        Ok(Some(product(bytes, self.scale)?.div_ceil(d.bandwidth.into())))
    }

    /// First touches of all lines in caches that keep them: what they ask of the ports and the DRAM behind.
    fn fills(&self, memory: &Memory) -> Result<u64, Refusal> {
        let hardware = self.hardware;
        let mut all = 0;
        for (kind, way) in [
            (Kind::Data, &hardware.data),
            (Kind::Sampler, &hardware.sampler),
            (Kind::Scalar, &hardware.scalar),
            (Kind::Fetch, &hardware.fetch),
        ] {
            // A line misses once in each copy of a cache that keeps it.
            let mut most: Option<u64> = None;
            for &l in &way.levels {
                let cache = hardware.cache(l);
                if let Some(most) = most.filter(|_| cache.ports > 0) {
                    all = sum(all, product(most, self.scale)?.div_ceil(cache.ports.into()))?;
                }
                if self.caches.kept[l] {
                    let shared = if cache.shared_by == 0 { hardware.machine.cores } else { cache.shared_by };
                    let copies = u64::from(hardware.machine.cores.div_ceil(shared.max(1)));
                    let lines = product(self.counted(memory, kind, cache.line).count(), copies)?;
                    most = Some(most.map_or(lines, |m| m.min(lines)));
                }
            }
            if let Some(m) = most {
                all = sum(all, self.dram(m)?.unwrap_or(0))?;
            }
        }
        Ok(all)
    }
}
