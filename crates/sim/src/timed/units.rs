//! Execution units: which copy of which unit runs a class of instructions, until when it is taken, and
//! when the result can be used.

use wb_hw::{Machine, Port, Scope, Unit};
use wb_trace::{PortKind, UnitInfo};

/// How a class of instructions is executed.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    pub unit: u8,
    pub latency: u32,
    /// Cycles that it keeps a copy beyond what every instruction does.
    pub longer: u32,
    pub port: Option<PortKind>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Copy {
    free: u64,
    /// When the operation issued last leaves an in-order pipeline.
    exit: u64,
}

#[derive(Debug)]
struct UnitState {
    copies: Vec<Copy>,
    /// Copies per scope; 0 = no structural limit.
    count: usize,
    scope: Scope,
    /// Times the lanes go through, and cycles a copy is taken by that.
    passes: u64,
    occupancy: u64,
    depth: u64,
    /// Earliest free copy per scope.
    earliest: Vec<u64>,
}

impl Clone for UnitState {
    fn clone(&self) -> UnitState {
        UnitState { copies: self.copies.clone(), earliest: self.earliest.clone(), ..*self }
    }

    /// Keeps what it has allocated.
    fn clone_from(&mut self, from: &UnitState) {
        self.copies.clone_from(&from.copies);
        self.earliest.clone_from(&from.earliest);
        (self.count, self.scope, self.passes) = (from.count, from.scope, from.passes);
        (self.occupancy, self.depth) = (from.occupancy, from.depth);
    }
}

/// The units of one core.
#[derive(Debug, Default)]
pub struct Units {
    units: Vec<UnitState>,
    partitions: usize,
}

/// The table from ISA class to unit; the machine has been checked against the classes. `split`: for split contexts
/// with units of their own, where the machine has such a unit for the class.
pub fn classes(machine: &Machine, isa_classes: &[&str], split: bool) -> Vec<ClassInfo> {
    isa_classes
        .iter()
        .map(|class| {
            let own = if split { machine.unit_of(class, true) } else { None };
            let at = own.or_else(|| machine.unit_of(class, false)).unwrap_or(0);
            let unit = &machine.units[at];
            ClassInfo {
                unit: at as u8,
                latency: unit.latency_of(class),
                longer: (unit.interval_of(class) - unit.interval_of("")) * passes(unit, machine.core.lanes),
                port: match unit.port {
                    Port::None => None,
                    Port::Data => Some(PortKind::Data),
                    Port::Sampler => Some(PortKind::Sampler),
                    Port::Scalar => Some(PortKind::Scalar),
                    Port::Lds => Some(PortKind::Lds),
                },
            }
        })
        .collect()
}

/// Unit names and copies per core, for traces and pictures.
pub fn describe(machine: &Machine, contexts: u32) -> Vec<UnitInfo> {
    machine
        .units
        .iter()
        .map(|u| UnitInfo {
            name: u.name.clone(),
            instances: u.count * scopes(u.scope, machine.core.partitions, contexts),
            port: match u.port {
                Port::None => "none",
                Port::Data => "data",
                Port::Sampler => "sampler",
                Port::Scalar => "scalar",
                Port::Lds => "lds",
            }
            .into(),
            // A pipeline with a depth may keep its entry longer, and so may some classes.
            interval: if u.depth > 0 || !u.intervals.is_empty() {
                0
            } else {
                occupancy(u, machine.core.lanes)
            },
        })
        .collect()
}

/// Cycles that an instruction keeps a copy of the unit: its lanes go through in so many passes.
fn occupancy(unit: &Unit, lanes: u32) -> u32 {
    unit.interval_of("") * passes(unit, lanes)
}

fn passes(unit: &Unit, lanes: u32) -> u32 {
    if unit.lanes == 0 { 1 } else { lanes.div_ceil(unit.lanes) }
}

/// Sets of copies a core has.
fn scopes(scope: Scope, partitions: u32, contexts: u32) -> u32 {
    match scope {
        Scope::Core => 1,
        Scope::Partition => partitions,
        Scope::Split => partitions * contexts,
    }
}

impl UnitState {
    /// The set of copies that serves issuer `q`.
    #[inline(always)]
    fn set(&self, q: usize, partitions: usize) -> usize {
        match self.scope {
            Scope::Core => 0,
            Scope::Partition => q % partitions,
            Scope::Split => q.saturating_sub(partitions),
        }
    }
}

impl Clone for Units {
    fn clone(&self) -> Units {
        Units { units: self.units.clone(), partitions: self.partitions }
    }

    fn clone_from(&mut self, from: &Units) {
        self.units.clone_from(&from.units);
        self.partitions = from.partitions;
    }
}

impl Units {
    /// Instructions that issued as one: a unit is taken until the last of them is done with it.
    pub fn absorb(&mut self, other: &Units) {
        for (u, o) in self.units.iter_mut().zip(&other.units) {
            for (c, d) in u.copies.iter_mut().zip(&o.copies) {
                (c.free, c.exit) = (c.free.max(d.free), c.exit.max(d.exit));
            }
            let sets = u.earliest.len();
            for scope in 0..sets.min(if u.count == 0 { 0 } else { sets }) {
                let copies = &u.copies[scope * u.count..(scope + 1) * u.count];
                u.earliest[scope] = copies.iter().map(|c| c.free).min().unwrap_or(0);
            }
        }
    }

    pub fn new(machine: &Machine, contexts: u32) -> Self {
        let units: Vec<UnitState> = machine
            .units
            .iter()
            .map(|u| {
                let scopes = scopes(u.scope, machine.core.partitions, contexts) as usize;
                let passes = passes(u, machine.core.lanes);
                UnitState {
                    copies: vec![Copy::default(); u.count as usize * scopes],
                    count: u.count as usize,
                    scope: u.scope,
                    passes: u64::from(passes),
                    occupancy: u64::from(occupancy(u, machine.core.lanes)),
                    depth: u64::from(u.depth),
                    earliest: vec![0; scopes],
                }
            })
            .collect();
        let mut units = units;
        // What NOPs need: nothing.
        units.push(UnitState {
            copies: Vec::new(),
            count: 0,
            scope: Scope::Core,
            passes: 1,
            occupancy: 1,
            depth: 0,
            earliest: vec![0],
        });
        Units { units, partitions: machine.core.partitions as usize }
    }

    /// The unit that is always free.
    pub fn none(&self) -> u8 {
        (self.units.len() - 1) as u8
    }

    /// First cycle at which a copy of `unit` can take an instruction of issuer `q`.
    #[inline(always)]
    pub fn free_at(&self, unit: u8, q: usize) -> u64 {
        let u = &self.units[unit as usize];
        u.earliest[u.set(q, self.partitions)]
    }

    /// The copy taken last is held `cycles` longer (bank conflicts).
    pub fn hold(&mut self, unit: u8, q: usize, instance: u8, cycles: u64) {
        let u = &mut self.units[unit as usize];
        if u.count == 0 || cycles == 0 {
            return;
        }
        let scope = u.set(q, self.partitions);
        u.copies[usize::from(instance)].free += cycles;
        let copies = &u.copies[scope * u.count..(scope + 1) * u.count];
        u.earliest[scope] = copies.iter().map(|c| c.free).min().unwrap_or(0);
    }

    /// Takes a copy; returns its number in the core, the cycles it is held, and when the result is ready.
    #[inline]
    pub fn take(&mut self, class: ClassInfo, q: usize, now: u64) -> (u8, u64, u64) {
        let u = &mut self.units[class.unit as usize];
        let latency = u64::from(class.latency);
        if u.count == 0 {
            return (0, 0, now + latency);
        }
        let scope = u.set(q, self.partitions);
        let copies = &mut u.copies[scope * u.count..(scope + 1) * u.count];
        let mut done = now + latency + u.passes - 1;
        // The copy that delivers first; among equals the first one, so that spare copies starve (GUPPY figure 2).
        let key = |c: &Copy| (c.free.max(now), (c.exit + 1).max(done.max(now + u.depth)));
        let best = (0..copies.len()).min_by_key(|&i| key(&copies[i])).unwrap_or(0);
        let copy = &mut copies[best];
        let mut free = now + u.occupancy + u64::from(class.longer);
        if u.depth > 0 {
            // In order: it leaves after its predecessor, and holds the entry while the pipeline is full.
            done = done.max(now + u.depth).max(copy.exit + 1);
            free = free.max((done + 1).saturating_sub(u.depth));
            copy.exit = done;
        }
        copy.free = free;
        u.earliest[scope] = copies.iter().map(|c| c.free).min().unwrap_or(0);
        ((scope * u.count + best).min(255) as u8, free - now, done)
    }
}
