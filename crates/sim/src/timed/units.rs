//! Execution units: which copy of which unit runs a class of instructions, until when it is taken, and
//! when the result can be used.

use wb_hw::{Machine, Port, Scope, Unit};
use wb_trace::{PortKind, UnitInfo};

/// How a class of instructions is executed.
#[derive(Clone, Copy, Debug)]
pub struct ClassInfo {
    pub unit: u8,
    pub latency: u32,
    pub port: Option<PortKind>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Copy {
    free: u64,
    /// When the operation issued last leaves an in-order pipeline.
    exit: u64,
}

#[derive(Clone, Debug)]
struct UnitState {
    copies: Vec<Copy>,
    /// Copies per scope; 0 = no structural limit.
    count: usize,
    per_partition: bool,
    /// Times the lanes go through, and cycles a copy is taken by that.
    passes: u64,
    occupancy: u64,
    depth: u64,
    /// Earliest free copy per scope.
    earliest: Vec<u64>,
}

/// The units of one core.
#[derive(Clone, Debug)]
pub struct Units {
    units: Vec<UnitState>,
}

/// The table from ISA class to unit; the machine has been checked against the classes.
pub fn classes(machine: &Machine, isa_classes: &[&str]) -> Vec<ClassInfo> {
    isa_classes
        .iter()
        .map(|class| {
            let at = machine.units.iter().position(|u| serves(u, class)).unwrap_or(0);
            let unit = &machine.units[at];
            ClassInfo {
                unit: at as u8,
                latency: unit.latencies.get(*class).copied().unwrap_or(unit.latency),
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

fn serves(unit: &Unit, class: &str) -> bool {
    unit.scope != Scope::Split && unit.classes.iter().any(|c| c == class)
}

/// Unit names and copies per core, for traces and pictures.
pub fn describe(machine: &Machine) -> Vec<UnitInfo> {
    machine
        .units
        .iter()
        .map(|u| UnitInfo {
            name: u.name.clone(),
            instances: u.count * if u.scope == Scope::Partition { machine.core.partitions } else { 1 },
            port: match u.port {
                Port::None => "none",
                Port::Data => "data",
                Port::Sampler => "sampler",
                Port::Scalar => "scalar",
                Port::Lds => "lds",
            }
            .into(),
        })
        .collect()
}

impl Units {
    pub fn new(machine: &Machine) -> Self {
        let units = machine
            .units
            .iter()
            .map(|u| {
                let per_partition = u.scope == Scope::Partition;
                let scopes = if per_partition { machine.core.partitions as usize } else { 1 };
                let passes = if u.lanes == 0 { 1 } else { machine.core.lanes.div_ceil(u.lanes) };
                UnitState {
                    copies: vec![Copy::default(); u.count as usize * scopes],
                    count: u.count as usize,
                    per_partition,
                    passes: u64::from(passes),
                    occupancy: u64::from(u.interval.max(1)) * u64::from(passes),
                    depth: u64::from(u.depth),
                    earliest: vec![0; scopes],
                }
            })
            .collect();
        Units { units }
    }

    /// First cycle at which a copy of `unit` can take an instruction of partition `partition`.
    #[inline(always)]
    pub fn free_at(&self, unit: u8, partition: usize) -> u64 {
        let u = &self.units[unit as usize];
        u.earliest[if u.per_partition { partition } else { 0 }]
    }

    /// The copy taken last is held `cycles` longer (bank conflicts).
    pub fn hold(&mut self, unit: u8, partition: usize, instance: u8, cycles: u64) {
        let u = &mut self.units[unit as usize];
        if u.count == 0 || cycles == 0 {
            return;
        }
        let scope = if u.per_partition { partition } else { 0 };
        u.copies[usize::from(instance)].free += cycles;
        let copies = &u.copies[scope * u.count..(scope + 1) * u.count];
        u.earliest[scope] = copies.iter().map(|c| c.free).min().unwrap_or(0);
    }

    /// Takes a copy; returns its number in the core, the cycles it is held, and when the result is ready.
    #[inline]
    pub fn take(&mut self, unit: u8, partition: usize, now: u64, latency: u32) -> (u8, u64, u64) {
        let u = &mut self.units[unit as usize];
        let latency = u64::from(latency);
        if u.count == 0 {
            return (0, 0, now + latency);
        }
        let scope = if u.per_partition { partition } else { 0 };
        let copies = &mut u.copies[scope * u.count..(scope + 1) * u.count];
        let mut done = now + latency + u.passes - 1;
        // The copy that delivers first; among equals the first one, so that spare copies starve (GUPPY figure 2).
        let key = |c: &Copy| (c.free.max(now), (c.exit + 1).max(done.max(now + u.depth)));
        let best = (0..copies.len()).min_by_key(|&i| key(&copies[i])).unwrap_or(0);
        let copy = &mut copies[best];
        let mut free = now + u.occupancy;
        if u.depth > 0 {
            // In order: it leaves after its predecessor, and holds the entry while the pipeline is full.
            done = done.max(now + u.depth).max(copy.exit + 1);
            free = free.max((done + 1).saturating_sub(u.depth));
            copy.exit = done;
        }
        copy.free = free;
        u.earliest[scope] = copies.iter().map(|c| c.free).min().unwrap_or(0);
        ((scope * u.count + best) as u8, free - now, done)
    }
}
