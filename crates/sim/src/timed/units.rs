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

/// A kind of unit, as an issuer sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kind {
    /// Seats that need it, one bit each.
    pub needs: u64,
    /// The set of its copies that serves the issuer, among those of all kinds.
    pub set: u32,
    /// No other issuer has this set.
    pub own: bool,
}

/// A kind of unit.
#[derive(Clone, Copy, Debug)]
struct Spec {
    /// Its first copy and its first set of copies among those of all kinds.
    first_copy: usize,
    first_set: usize,
    sets: usize,
    /// Copies per set; 0 = no structural limit.
    count: usize,
    scope: Scope,
    /// Times the lanes go through, and cycles a copy is taken by that.
    passes: u64,
    occupancy: u64,
    depth: u64,
}

/// The units of one core.
#[derive(Debug, Default)]
pub struct Units {
    specs: Vec<Spec>,
    copies: Vec<Copy>,
    /// Earliest free copy per set.
    earliest: Vec<u64>,
    /// By issuer and kind, the set of copies that serves it, among all sets.
    sets: Vec<u32>,
    partitions: usize,
    /// By unit: none of its copies is taken beyond this cycle.
    taken_to: Vec<u64>,
    all_taken_to: u64,
}

/// Copies that instructions which issue as one have taken: each of them finds a unit as the first of them did, and it is taken until the
/// last of them is done with it.
#[derive(Debug, Default)]
pub struct Joint {
    parts: Vec<JointSet>,
    /// The copies of these sets as they were found, and as they were left.
    found: Vec<Copy>,
    left: Vec<Copy>,
}

/// A set of copies of a unit.
#[derive(Clone, Copy, Debug)]
struct JointSet {
    unit: usize,
    set: usize,
    /// Its first copy among those of all units, and among those of the instructions.
    first: usize,
    from: usize,
    count: usize,
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

impl Spec {
    /// The set of copies that serves issuer `q`.
    #[inline(always)]
    fn set(&self, q: usize, partitions: usize) -> usize {
        match self.scope {
            Scope::Core => 0,
            Scope::Partition if q < partitions => q,
            Scope::Partition => q % partitions,
            Scope::Split => q.saturating_sub(partitions),
        }
    }
}

impl Joint {
    /// An instruction is about to take a copy of `unit` for issuer `q`. Returns the place of its set.
    pub fn find(&mut self, units: &Units, unit: u8, q: usize) -> Option<usize> {
        let u = units.specs.get(usize::from(unit)).filter(|u| u.count > 0)?;
        let set = u.set(q, units.partitions);
        let first = u.first_copy + set * u.count;
        if let Some(at) = self.parts.iter().position(|part| part.first == first) {
            return Some(at);
        }
        let copies = units.copies.get(first..first + u.count)?;
        self.parts.push(JointSet { unit: unit.into(), set, first, from: self.found.len(), count: u.count });
        self.found.extend(copies);
        self.left.extend(copies);
        Some(self.parts.len() - 1)
    }

    /// It has taken it: the others find the unit as it did.
    pub fn put_back(&mut self, units: &mut Units, at: usize) {
        let Some(&JointSet { unit, set, first, from, count }) = self.parts.get(at) else { return };
        for i in 0..count {
            let (now, left) = (&mut units.copies[first + i], &mut self.left[from + i]);
            (left.free, left.exit) = (left.free.max(now.free), left.exit.max(now.exit));
            *now = self.found[from + i];
        }
        units.find_earliest(unit, set);
    }

    /// All of them have issued.
    pub fn leave(&mut self, units: &mut Units) {
        for &JointSet { unit, set, first, from, count } in &self.parts {
            units.copies[first..first + count].copy_from_slice(&self.left[from..from + count]);
            units.find_earliest(unit, set);
        }
        self.parts.clear();
        self.found.clear();
        self.left.clear();
    }
}

impl Units {
    /// Finds the earliest free copy of a set anew.
    #[inline(always)]
    fn find_earliest(&mut self, unit: usize, set: usize) {
        let u = &self.specs[unit];
        let first = u.first_copy + set * u.count;
        let copies = &self.copies[first..first + u.count];
        self.earliest[u.first_set + set] = copies.iter().map(|c| c.free).min().unwrap_or(0);
    }

    pub fn new(machine: &Machine, contexts: u32) -> Self {
        let mut units = Units { partitions: machine.core.partitions as usize, ..Units::default() };
        for u in &machine.units {
            units.add(Spec {
                first_copy: 0,
                first_set: 0,
                sets: scopes(u.scope, machine.core.partitions, contexts) as usize,
                count: u.count as usize,
                scope: u.scope,
                passes: u64::from(passes(u, machine.core.lanes)),
                occupancy: u64::from(occupancy(u, machine.core.lanes)),
                depth: u64::from(u.depth),
            });
        }
        // What NOPs need: nothing.
        let (first_copy, first_set, sets, count, scope) = (0, 0, 1, 0, Scope::Core);
        units.add(Spec { first_copy, first_set, sets, count, scope, passes: 1, occupancy: 1, depth: 0 });
        for q in 0..units.partitions * (contexts as usize + 1) {
            let set = |u: &Spec| u.first_set + u.set(q, units.partitions).min(u.sets.saturating_sub(1));
            units.sets.extend(units.specs.iter().map(|u| set(u) as u32));
        }
        units
    }

    /// Adds a kind of unit, all copies free.
    fn add(&mut self, spec: Spec) {
        self.taken_to.push(0);
        self.specs.push(Spec { first_copy: self.copies.len(), first_set: self.earliest.len(), ..spec });
        self.copies.resize(self.copies.len() + spec.sets * spec.count, Copy::default());
        self.earliest.resize(self.earliest.len() + spec.sets, 0);
    }

    /// The unit that is always free.
    pub fn none(&self) -> u8 {
        (self.specs.len() - 1) as u8
    }

    /// The units as issuer `q` sees them.
    pub fn kinds_of(&self, q: usize) -> Vec<Kind> {
        let n = self.specs.len();
        let kind = |(spec, &set): (&Spec, &u32)| Kind {
            needs: 0,
            set,
            // Context 0 has no split units; if it had, they would be those of context 1.
            own: spec.scope == Scope::Split && q >= 2 * self.partitions,
        };
        self.specs.iter().zip(&self.sets[q * n..(q + 1) * n]).map(kind).collect()
    }

    /// Whether there is one copy of a unit and nothing to choose, for how many cycles every instruction keeps it, and how many it needs
    /// beyond its latency.
    pub fn only(&self, unit: u8) -> (bool, u32, u32) {
        let spec = &self.specs[usize::from(unit)];
        (spec.count == 1 && spec.depth == 0, spec.occupancy as u32, spec.passes as u32 - 1)
    }

    /// [`Units::take`] of a kind of which there is [only](Units::only) one copy, until cycle `free`, where nobody asks what is
    /// [taken](Units::taken), nor the copy itself: whoever takes it does not look at it.
    #[inline(always)]
    pub fn take_only(&mut self, kind: &Kind, free: u64) {
        self.earliest[kind.set as usize] = free;
    }

    #[inline(always)]
    fn note_taken(&mut self, unit: u8, free: u64) {
        let to = &mut self.taken_to[usize::from(unit)];
        *to = (*to).max(free);
        self.all_taken_to = self.all_taken_to.max(free);
    }

    /// Units that have a copy which cannot take an instruction, one bit each; there are at most 64.
    pub fn taken(&self, now: u64) -> u64 {
        if self.all_taken_to <= now {
            return 0;
        }
        self.taken_to.iter().enumerate().fold(0, |all, (unit, to)| all | u64::from(*to > now) << (unit & 63))
    }

    /// Kinds of units.
    pub fn count(&self) -> usize {
        self.specs.len()
    }

    /// First cycle at which a copy of this set can take an instruction.
    #[inline(always)]
    pub fn free_at(&self, set: u32) -> u64 {
        self.earliest[set as usize]
    }

    /// The copy taken last is held `cycles` longer (bank conflicts).
    pub fn hold(&mut self, unit: u8, q: usize, instance: u8, cycles: u64) {
        let u = self.specs[unit as usize];
        if u.count == 0 || cycles == 0 {
            return;
        }
        let copy = &mut self.copies[u.first_copy + usize::from(instance)];
        copy.free += cycles;
        let free = copy.free;
        self.note_taken(unit, free);
        self.find_earliest(unit.into(), u.set(q, self.partitions));
    }

    /// Takes a copy; returns its number in the core, the cycles it is held, and when the result is ready.
    #[inline(always)]
    pub fn take(&mut self, class: ClassInfo, q: usize, now: u64) -> (u8, u64, u64) {
        let u = &self.specs[class.unit as usize];
        let latency = u64::from(class.latency);
        if u.count == 0 {
            return (0, 0, now + latency);
        }
        let set = u.set(q, self.partitions);
        if u.count == 1 && u.depth == 0 {
            // There is nothing to choose.
            let free = now + u.occupancy + u64::from(class.longer);
            self.copies[u.first_copy + set].free = free;
            self.earliest[u.first_set + set] = free;
            let done = now + latency + u.passes - 1;
            self.note_taken(class.unit, free);
            return (set.min(255) as u8, free - now, done);
        }
        self.take_best(class, set, now)
    }

    /// The same of a set of several copies, or of pipelines.
    #[inline(never)]
    fn take_best(&mut self, class: ClassInfo, set: usize, now: u64) -> (u8, u64, u64) {
        let u = &self.specs[class.unit as usize];
        let latency = u64::from(class.latency);
        let first = u.first_copy + set * u.count;
        let copies = &mut self.copies[first..first + u.count];
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
        let instance = (set * u.count + best).min(255) as u8;
        self.note_taken(class.unit, free);
        self.find_earliest(class.unit.into(), set);
        (instance, free - now, done)
    }
}
