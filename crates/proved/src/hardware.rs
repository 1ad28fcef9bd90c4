//! What the proof reads of a machine: units, ways to memory, front end, as numbers. Machines whose resources idle while somebody
//! waits for them, or that it has no proof for, are refused by name (docs/proved-bounds.md, "Machines").

use crate::refusal::Refusal;
use wb_hw::{Cache, FrontEndKind, Machine, Port, Scope, SplitUnits, Unresolved, WritePolicy};

/// A unit as the wave sees it.
#[derive(Clone, Debug)]
pub struct UnitTimes {
    pub name: String,
    /// Shared by all partitions of the core.
    pub core: bool,
    /// Copies; 0 = always free.
    pub count: u64,
    /// Cycles beyond the latency until the last lanes are through.
    pub extra: u64,
    /// Cycles between two instructions.
    pub hold: u64,
}

/// How instructions of a class are executed.
#[derive(Clone, Copy, Debug)]
pub struct ClassTimes {
    pub unit: usize,
    pub latency: u64,
    pub port: Port,
    /// Cycles beyond the latency, and cycles between two instructions: the more of the unit and of the one that split contexts have.
    pub extra: u64,
    pub hold: u64,
    /// Copies of the unit that split contexts have for it; none if they share the partition's.
    pub split: Option<u64>,
}

/// Times the lanes of a wave go through a unit.
fn passes(unit: &wb_hw::Unit, machine: &Machine) -> u64 {
    if unit.lanes == 0 { 1 } else { machine.core.lanes.div_ceil(unit.lanes).into() }
}

/// A way through the hierarchy: cycles there and back, and the caches on it, then DRAM; `ideal`: neither.
#[derive(Clone, Debug, Default)]
pub struct Way {
    pub there: u64,
    pub back: u64,
    pub levels: Vec<usize>,
    pub ideal: bool,
}

/// The front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    Perfect,
    /// Cycles from the request until the instruction can issue if the cache has it, instructions a wave can have fetched or under way,
    /// and whether it waits with the next request after a miss.
    Decoupled {
        fetch: u64,
        buffer: usize,
    },
    /// NOPs that issue where the flow breaks.
    Coordinated {
        places: u64,
    },
}

/// The numbers of a machine for one instruction set.
#[derive(Clone, Debug)]
pub struct Hardware {
    pub machine: Machine,
    pub units: Vec<UnitTimes>,
    pub classes: Vec<ClassTimes>,
    /// Split contexts have issue ports and units of their own.
    pub apart: bool,
    pub data: Way,
    pub sampler: Way,
    pub scalar: Way,
    pub fetch: Way,
    pub front: Front,
    /// Cycles between request and decode of an instruction, without the cache.
    pub decode: u64,
}

impl Hardware {
    /// The machine for an ISA with these classes.
    pub fn new(machine: &Machine, isa_classes: &[&str]) -> Result<Hardware, Refusal> {
        check(machine)?;
        let apart = machine.splits()
            && machine.divergence.mechanism.info().parallel
            && machine.split.units == SplitUnits::Extra;
        let units = machine.units.iter().map(|u| {
            let passes = passes(u, machine);
            UnitTimes {
                name: u.name.clone(),
                core: u.scope == Scope::Core,
                count: u.count.into(),
                // A unit without a limit has no lanes to go through either.
                extra: if u.count == 0 { 0 } else { passes - 1 },
                hold: u64::from(u.interval_of("")) * passes,
            }
        });
        let units: Vec<UnitTimes> = units.collect();
        let classes = isa_classes.iter().map(|class| {
            let at = machine.unit_of(class, false).unwrap_or(0);
            let unit = &machine.units[at];
            let latency = |u: &wb_hw::Unit| u64::from(u.latency_of(class));
            let own = if apart { machine.unit_of(class, true) } else { None };
            let held = |u: usize| match units[u].count {
                0 => 0,
                _ => u64::from(machine.units[u].interval_of(class)) * passes(&machine.units[u], machine),
            };
            let more = |f: &dyn Fn(usize) -> u64| f(at).max(own.map_or(0, f));
            ClassTimes {
                unit: at,
                latency: more(&|u| latency(&machine.units[u])),
                port: unit.port,
                extra: more(&|u| units[u].extra),
                hold: more(&held),
                split: own.map(|u| units[u].count),
            }
        });
        let classes: Vec<ClassTimes> = classes.collect();
        let way = |first: &str, data: bool| {
            let m = &machine.memory;
            let (there, back) = if data { (m.request_latency, m.response_latency) } else { (0, 0) };
            let mut levels = Vec::new();
            let mut name = first;
            while let Some(l) = machine.caches.iter().position(|c| c.name == name) {
                levels.push(l);
                name = &machine.caches[l].next;
            }
            Way { there: there.into(), back: back.into(), levels, ideal: first == "none" }
        };
        let f = &machine.frontend;
        let decode = (u64::from(f.fetch_latency) + u64::from(f.decode_latency)).max(1);
        Ok(Hardware {
            units,
            classes,
            apart,
            data: way(&machine.memory.data, true),
            sampler: way(&machine.memory.sampler, false),
            scalar: way(&machine.memory.scalar, false),
            fetch: way(&machine.memory.instruction, false),
            front: match f.kind {
                FrontEndKind::Perfect => Front::Perfect,
                FrontEndKind::Decoupled => Front::Decoupled {
                    fetch: machine.instruction_hit() + decode,
                    buffer: f.buffer.max(1) as usize,
                },
                FrontEndKind::Coordinated => Front::Coordinated { places: machine.queue_places() },
            },
            decode,
            machine: machine.clone(),
        })
    }

    pub fn cache(&self, level: usize) -> &Cache {
        &self.machine.caches[level]
    }

    pub fn way(&self, port: Port) -> Option<&Way> {
        match port {
            Port::Data => Some(&self.data),
            Port::Sampler => Some(&self.sampler),
            Port::Scalar => Some(&self.scalar),
            Port::None | Port::Lds => None,
        }
    }

    /// Cycles from sending a request until its line has been found in cache number `hit` of the way, or in DRAM (`None`), with
    /// nobody else there; the way back is not in it.
    pub fn reach(&self, way: &Way, hit: Option<usize>) -> u64 {
        if way.ideal {
            return way.there;
        }
        let passed = hit.map_or(way.levels.len(), |h| h + 1);
        let caches: u64 = way.levels[..passed].iter().map(|&l| u64::from(self.cache(l).latency)).sum();
        way.there + caches + if hit.is_none() { u64::from(self.machine.dram.latency) } else { 0 }
    }

    /// Cycles of a store on its way: through all caches, or to the first that takes it for nothing.
    pub fn store(&self, way: &Way) -> u64 {
        if way.ideal {
            return way.there + way.back;
        }
        let free = way.levels.iter().position(|&l| self.cache(l).write == WritePolicy::Free);
        let passed = free.unwrap_or(way.levels.len());
        let caches: u64 = way.levels[..passed].iter().map(|&l| u64::from(self.cache(l).latency)).sum();
        let dram = if free.is_some() { 0 } else { u64::from(self.machine.dram.latency) };
        way.there + caches + dram + way.back
    }

    /// Stores use DRAM.
    pub fn stores_reach_dram(&self, way: &Way) -> bool {
        !way.ideal && way.levels.iter().all(|&l| self.cache(l).write == WritePolicy::Through)
    }
}

/// Machines there is no proof for, by name.
fn check(machine: &Machine) -> Result<(), Refusal> {
    let no = |what: String, help: &'static str| Err(Refusal::Machine { what, help });
    let policy = machine.issue.policy.info();
    if policy.strict || machine.issue.policy == wb_hw::Policy::OwnerDispatch {
        return no(
            format!("issue policy {} lets cycles pass while a wave is ready", policy.name),
            "choose a policy that never does: oldest-first, loose-round-robin, greedy-then-oldest, fixed-priority",
        );
    }
    let f = &machine.frontend;
    if f.kind == FrontEndKind::Decoupled && f.policy.info().strict {
        return no(
            format!(
                "fetch policy {} lets cycles pass while a wave wants an instruction",
                f.policy.info().name
            ),
            "choose a policy that never does: oldest-first, loose-round-robin, icount",
        );
    }
    if f.kind != FrontEndKind::Perfect {
        if f.resolution > 0 {
            return no(
                format!("jumps are known {} cycles after they issue (frontend.resolution)", f.resolution),
                "set frontend.resolution to 0",
            );
        }
        if f.unresolved == Unresolved::Stall {
            return no(
                "fetch stops at jumps until they are known (frontend.unresolved)".into(),
                "set frontend.unresolved to `go-on`",
            );
        }
        if f.requests > 0 {
            return no(
                format!("a wave has at most {} requests under way (frontend.requests)", f.requests),
                "set frontend.requests to 0",
            );
        }
    }
    if machine.splits() && machine.split.units == SplitUnits::Reprovisioned {
        return no(
            "split contexts that no wave needs serve as partitions".into(),
            "set split.units to `extra` or `shared`",
        );
    }
    let d = &machine.divergence;
    if machine.splits() && d.mechanism.info().meets.is_none() {
        return no(
            format!("nobody has shown where paths meet under mechanism {}", d.mechanism),
            "choose another mechanism, or set split.contexts to 0",
        );
    }
    if machine.splits() && d.reconverge == wb_hw::Reconverge::MaskStack {
        return no(
            format!("paths of mechanism {} meet where masks match, for which there is no proof", d.mechanism),
            "set divergence.reconverge to `never` or `region-end`",
        );
    }
    if d.push_cycles + d.pop_cycles > 0 && d.mechanism != wb_hw::Mechanism::ExecMask {
        return no(
            format!("mechanism {} takes cycles for entries of its stack", d.mechanism),
            "set divergence.push_cycles and pop_cycles to 0",
        );
    }
    if machine.dram.banks > 0 {
        return no(
            "DRAM with rows serves in the order of issue, whatever arrives first".into(),
            "set dram.banks to 0 and dram.latency to the latency of a row miss",
        );
    }
    if let Some(u) = machine.units.iter().find(|u| u.depth > 0) {
        return no(
            format!("unit {} is an in-order pipeline (depth {})", u.name, u.depth),
            "set its depth to 0",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wb_hw::{Mechanism, MemorySplits, Policy, Reconverge};

    /// What a machine is refused for; empty if it is not.
    fn refused(change: impl Fn(&mut Machine)) -> String {
        let mut machine = wb_hw::preset("vortex-swas").expect("a preset");
        change(&mut machine);
        match check(&machine) {
            Err(Refusal::Machine { what, .. }) => what,
            Err(other) => panic!("{other:?}"),
            Ok(()) => String::new(),
        }
    }

    #[test]
    fn front_ends_without_a_proof_are_refused_by_name() {
        for kind in [FrontEndKind::Decoupled, FrontEndKind::Coordinated] {
            let with = |change: &dyn Fn(&mut Machine)| {
                refused(|m| {
                    m.frontend.kind = kind;
                    change(m);
                })
            };
            assert_eq!(with(&|_| ()), "");
            assert!(with(&|m| m.frontend.resolution = 1).contains("frontend.resolution"));
            assert!(with(&|m| m.frontend.unresolved = Unresolved::Stall).contains("frontend.unresolved"));
            assert!(with(&|m| m.frontend.requests = 1).contains("frontend.requests"));
        }
    }

    #[test]
    fn policies_that_idle_while_a_wave_is_ready_are_refused_by_name() {
        for policy in Policy::ISSUE {
            let idles = match policy {
                Policy::RoundRobin | Policy::StrictOldest | Policy::StrictGreedy | Policy::OwnerDispatch => {
                    true
                }
                Policy::LooseRoundRobin
                | Policy::GreedyThenOldest
                | Policy::GreedyThenRoundRobin
                | Policy::OldestFirst
                | Policy::FixedPriority
                | Policy::Adaptive => false,
                Policy::Icount => unreachable!("for fetch only"),
            };
            let what = refused(|m| m.issue.policy = policy);
            assert_eq!(what.contains(policy.name()), idles, "{policy:?}: {what}");
        }
    }

    fn refused_split(change: impl Fn(&mut Machine)) -> Option<String> {
        let mut m = wb_hw::preset("gcn3").expect("a preset");
        m.split.contexts = 3;
        change(&mut m);
        match check(&m) {
            Err(Refusal::Machine { what, .. }) => Some(what),
            Err(other) => Some(format!("{other:?}")),
            Ok(()) => None,
        }
    }

    /// A wave without a branch can split where lanes miss the cache: the machine is refused, not the program.
    #[test]
    fn mechanisms_without_a_proof_are_refused_by_name() {
        for memory in
            [MemorySplits::Never, MemorySplits::Aggressive, MemorySplits::Lazy, MemorySplits::Revive]
        {
            let what = refused_split(|m| {
                (m.divergence.mechanism, m.divergence.memory) = (Mechanism::DwsMeng, memory)
            });
            assert!(what.is_some_and(|w| w.contains("dws-meng")), "{memory:?}");
        }
        let masks = |m: &mut Machine| {
            (m.divergence.mechanism, m.divergence.reconverge) = (Mechanism::Thesis, Reconverge::MaskStack)
        };
        assert!(refused_split(masks).is_some_and(|w| w.contains("thesis") && w.contains("masks match")));
        for mechanism in [Mechanism::Dws, Mechanism::Thesis, Mechanism::Pws, Mechanism::ExecMask] {
            assert_eq!(refused_split(|m| m.divergence.mechanism = mechanism), None, "{mechanism}");
        }
        assert_eq!(
            refused_split(|m| (m.divergence.mechanism, m.split.contexts) = (Mechanism::DwsMeng, 0)),
            None
        );
    }
}
