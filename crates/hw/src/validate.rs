//! What a machine must satisfy before anything runs on it. Each rule names the field, the value
//! found and what is allowed; combinations that are merely pointless pass, so that sweeps can cross them.

use crate::error::{HwError, suggest};
use crate::machine::{Cache, FrontEndKind, Machine, Port, Scope, SplitUnits, Unit, Unresolved};
use crate::mechanism::Reconverge;
use crate::policy::Policy;
use crate::schema::{entry_path, plain_name};
use std::fmt::{Display, Formatter};

const MAX_CYCLES: u32 = 1 << 24;
const GIB: u64 = 1 << 30;
/// Longest queue of a coordinated front end.
const MAX_PLACES: u64 = 64;

type Check = Result<(), HwError>;

/// A table of a unit names one of its classes.
fn has_class(unit: &Unit, class: &str, path: impl Display) -> Check {
    if unit.classes.iter().any(|c| c == class) {
        return Ok(());
    }
    let classes: Vec<_> = unit.classes.iter().map(String::as_str).collect();
    Err(HwError::field(path, "this unit has no such class").help(suggest(
        class,
        "classes of this unit",
        &classes,
    )))
}

impl Machine {
    /// Whether this machine can exist; the error names the field.
    pub fn validate(&self) -> Check {
        self.check_top()?;
        self.check_core()?;
        self.check_frontend()?;
        self.check_divergence()?;
        self.check_caches()?;
        self.check_memory()?;
        self.check_limits()?;
        self.check_units()
    }

    /// Whether every class of the instruction set has one unit, and no unit a class the set lacks.
    /// A unit of scope `split` may repeat a class: it serves split contexts only.
    pub fn check_classes(&self, isa_classes: &[&str]) -> Check {
        for (i, unit) in self.units.iter().enumerate() {
            let unknown = unit.classes.iter().find(|c| !isa_classes.contains(&c.as_str()));
            if let Some(class) = unknown {
                let what = format!("`{class}` is not an instruction class of {}", self.isa);
                return Err(HwError::field(unit_path(i, unit, "classes"), what).help(suggest(
                    class,
                    "classes",
                    isa_classes,
                )));
            }
        }
        for class in isa_classes {
            if self.unit_of(class, false).is_none() {
                let what = format!("no unit runs instruction class `{class}` of {}", self.isa);
                return Err(HwError::field("units", what).help("add it to the `classes` of exactly one unit"));
            }
        }
        self.check_unit_classes()
    }

    fn check_top(&self) -> Check {
        not_empty("name", &self.name)?;
        range("clock_mhz", self.clock_mhz, 1, 1_000_000)?;
        range("cores", self.cores, 1, 4096)
    }

    fn check_core(&self) -> Check {
        let c = &self.core;
        range("core.lanes", c.lanes, 1, 64)?;
        range("core.partitions", c.partitions, 1, 1024)?;
        range("core.waves", c.waves, 1, 1024)?;
        if !c.waves.is_multiple_of(c.partitions) {
            let what = format!("{} waves cannot be divided among {} partitions", c.waves, c.partitions);
            return Err(HwError::field("core.waves", what).help("a multiple of `core.partitions`"));
        }
        range("core.registers", c.registers, 0, 65_536)?;
        if c.register_file > 0 && c.register_file < c.registers {
            let what = format!("{} registers do not hold one wave's {}", c.register_file, c.registers);
            return Err(
                HwError::field("core.register_file", what).help("0 (no limit) or at least `core.registers`")
            );
        }
        range("core.lds_bytes", c.lds_bytes, 0, 1 << 30)?;
        range("core.lds_banks", c.lds_banks, u32::from(c.lds_bytes > 0), 64)
    }

    fn check_frontend(&self) -> Check {
        let f = &self.frontend;
        let list = |policies: &[Policy]| {
            format!("one of {}", policies.iter().map(|p| p.name()).collect::<Vec<_>>().join(", "))
        };
        if !Policy::FETCH.contains(&f.policy) {
            let what = format!("`{}` is an issue policy only", f.policy.name());
            return Err(HwError::field("frontend.policy", what).help(list(&Policy::FETCH)));
        }
        if !Policy::ISSUE.contains(&self.issue.policy) {
            let what = format!("`{}` is a fetch policy only", self.issue.policy.name());
            return Err(HwError::field("issue.policy", what).help(list(&Policy::ISSUE)));
        }
        range("frontend.ports", f.ports, 1, 64)?;
        range("frontend.buffer", f.buffer, 1, 1024)?;
        cycles("frontend.fetch_latency", f.fetch_latency)?;
        cycles("frontend.decode_latency", f.decode_latency)?;
        cycles("frontend.branch_penalty", f.branch_penalty)?;
        cycles("frontend.resolution", f.resolution)?;
        range("frontend.requests", f.requests, 0, 1024)?;
        if self.splits() && (f.resolution > 0 || f.unresolved == Unresolved::Stall) {
            let what = "split waves whose jumps are known late are not modelled";
            return Err(HwError::field("frontend.resolution", what)
                .help("resolution = 0 and another `unresolved` than `stall`, or split.contexts = 0"));
        }
        range("issue.width", self.issue.width, 1, 64)?;
        if self.issue.policy == Policy::OwnerDispatch && self.issue.width > 1 {
            let what = format!("{} with `owner-dispatch`, which has one current wave", self.issue.width);
            return Err(
                HwError::field("issue.width", what).help("1; more dispatch units are more `core.partitions`")
            );
        }
        let places = self.queue_places();
        if f.kind == FrontEndKind::Coordinated && places > MAX_PLACES {
            let what = format!("queues of {places} instructions hide the fetch; at most {MAX_PLACES}");
            return Err(HwError::field("frontend.fetch_latency", what)
                .help("fetch_latency, decode_latency and the latency of the instruction cache together"));
        }
        Ok(())
    }

    fn check_divergence(&self) -> Check {
        let d = &self.divergence;
        range("divergence.quantum", d.quantum, 1, 1 << 30)?;
        range("divergence.rows", d.rows, 1, 64)?;
        range("divergence.fetch_group", d.fetch_group, 1, 64)?;
        range("divergence.slice", d.slice, 1, 64)?;
        cycles("divergence.push_cycles", d.push_cycles)?;
        cycles("divergence.pop_cycles", d.pop_cycles)?;
        if d.reconverge == Reconverge::MaskStack && !d.mechanism.info().split_mask_stack {
            let what = format!("mask-stack: mechanism {} has no stack of split masks", d.mechanism);
            return Err(
                HwError::field("divergence.reconverge", what).help("divergence.mechanism = \"thesis\"")
            );
        }
        let s = &self.split;
        range("split.contexts", s.contexts, 0, 63)?;
        cycles("split.split_cycles", s.split_cycles)?;
        cycles("split.merge_cycles", s.merge_cycles)?;
        let own = self.units.iter().any(|u| u.scope == Scope::Split);
        if s.units != SplitUnits::Shared && s.contexts > 0 && !own {
            return Err(HwError::field(
                "split.units",
                "split contexts have units of their own, but none exists",
            )
            .help("`shared`, or a unit with scope = \"split\""));
        }
        Ok(())
    }

    fn check_memory(&self) -> Check {
        let m = &self.memory;
        self.level("memory.data", &m.data, &["dram"])?;
        self.level("memory.sampler", &m.sampler, &["dram"])?;
        self.level("memory.scalar", &m.scalar, &["dram"])?;
        self.level("memory.instruction", &m.instruction, &["dram", "none"])?;
        cycles("memory.lds_latency", m.lds_latency)?;
        cycles("memory.request_latency", m.request_latency)?;
        cycles("memory.response_latency", m.response_latency)?;
        let d = &self.dram;
        cycles("dram.latency", d.latency)?;
        power_of_two("dram.line", d.line, 4096)?;
        range("dram.banks", d.banks, 0, 65_536)?;
        cycles("dram.row_hit_latency", d.row_hit_latency)?;
        if d.banks > 0 {
            power_of_two("dram.row_bytes", d.row_bytes, 1 << 24)?;
            if d.row_bytes < d.line {
                let what = format!("a row of {} bytes is shorter than a line of {}", d.row_bytes, d.line);
                return Err(HwError::field("dram.row_bytes", what).help("a multiple of `dram.line`"));
            }
            if d.row_hit_latency > d.latency {
                let what = format!("a row hit takes {}, a row miss {}", d.row_hit_latency, d.latency);
                return Err(HwError::field("dram.row_hit_latency", what).help("at most `dram.latency`"));
            }
        }
        Ok(())
    }

    fn check_limits(&self) -> Check {
        let l = &self.limits;
        range("limits.cycles", l.cycles, 1, 1 << 60)?;
        range("limits.memory", l.memory, 1, 16 * GIB)?;
        range("limits.stack_depth", l.stack_depth, 1, 65_536)
    }

    fn check_units(&self) -> Check {
        if self.units.is_empty() {
            return Err(HwError::field("units", "a machine without execution units runs nothing"));
        }
        names("units", self.units.iter().map(|u| u.name.as_str()), &[])?;
        for (i, u) in self.units.iter().enumerate() {
            let path = |field| unit_path(i, u, field);
            if u.classes.is_empty() {
                return Err(HwError::field(path("classes"), "a unit runs at least one instruction class"));
            }
            range(path("count"), u.count, 0, 1024)?;
            range(path("lanes"), u.lanes, 0, 64)?;
            cycles(path("latency"), u.latency)?;
            range(path("interval"), u.interval, 1, MAX_CYCLES)?;
            range(path("depth"), u.depth, 0, 4096)?;
            for (class, latency) in &u.latencies {
                let path = Path { class, ..path("latencies") };
                has_class(u, class, path)?;
                cycles(path, *latency)?;
            }
            for (class, interval) in &u.intervals {
                let path = Path { class, ..path("intervals") };
                has_class(u, class, path)?;
                if u.port != Port::None || u.depth > 0 {
                    return Err(HwError::field(
                        path,
                        "a unit with a way to memory or a depth has one interval",
                    ));
                }
                range(path, *interval, u.interval, MAX_CYCLES)?;
            }
        }
        self.check_unit_classes()
    }

    /// No class twice among the ordinary units, nor twice among the units of split contexts.
    fn check_unit_classes(&self) -> Check {
        let mut seen: Vec<(&str, bool, &str)> = Vec::new();
        for (i, u) in self.units.iter().enumerate() {
            let split = u.scope == Scope::Split;
            for class in &u.classes {
                if let Some(other) = seen.iter().find(|s| (s.0, s.1) == (class.as_str(), split)) {
                    let what = format!("class `{class}` is served by unit `{}` already", other.2);
                    return Err(HwError::field(unit_path(i, u, "classes"), what)
                        .help("each class has one unit; more copies are its `count`"));
                }
                seen.push((class, split, &u.name));
            }
        }
        Ok(())
    }

    fn check_caches(&self) -> Check {
        names("caches", self.caches.iter().map(|c| c.name.as_str()), &["dram", "none"])?;
        for (i, c) in self.caches.iter().enumerate() {
            let path = |field| Path { list: "caches", index: i, name: &c.name, field, class: "" };
            range(path("shared_by"), c.shared_by, 0, 4096)?;
            power_of_two(path("line"), c.line, 4096)?;
            range(path("ways"), c.ways, 1, 65_536)?;
            let set = u64::from(c.line) * u64::from(c.ways);
            if c.size == 0 || !u64::from(c.size).is_multiple_of(set) {
                let what =
                    format!("{} bytes are not whole sets of {} ways × {} bytes", c.size, c.ways, c.line);
                return Err(HwError::field(path("size"), what).help(format!("a multiple of {set}")));
            }
            cycles(path("latency"), c.latency)?;
            range(path("ports"), c.ports, 0, 1024)?;
            self.level(path("next"), &c.next, &["dram"])?;
            self.check_chain(c, path)?;
        }
        Ok(())
    }

    /// The way from `c` to memory ends, and its next level fits it.
    fn check_chain<'a>(&self, c: &Cache, path: impl Fn(&'a str) -> Path<'a>) -> Check {
        let find = |name: &str| self.caches.iter().find(|n| n.name == name);
        let mut at = find(&c.next);
        // At most as many steps as caches: a loop that `c` only leads into is reported for its members.
        for _ in &self.caches {
            let Some(level) = at else { break };
            if level.name == c.name {
                return Err(HwError::field(path("next"), format!("`{}` leads back to `{}`", c.next, c.name))
                    .help("each chain of caches ends at `dram`"));
            }
            at = find(&level.next);
        }
        let Some(next) = find(&c.next) else { return Ok(()) };
        if next.line < c.line {
            let what = format!("{} bytes are more than a line of `{}`, {}", c.line, next.name, next.line);
            return Err(HwError::field(path("line"), what).help("at most the line of the next level"));
        }
        let nested = next.shared_by == 0 || (c.shared_by > 0 && next.shared_by.is_multiple_of(c.shared_by));
        if !nested {
            let what = format!("`{}` does not serve all cores that share `{}`", next.name, c.name);
            return Err(HwError::field(path("shared_by"), what)
                .help("the next level is shared by a multiple of these cores, or by all (0)"));
        }
        Ok(())
    }

    fn level(&self, path: impl Display, name: &str, also: &[&str]) -> Check {
        if also.contains(&name) || self.caches.iter().any(|c| c.name == name) {
            return Ok(());
        }
        let all: Vec<_> = self.caches.iter().map(|c| c.name.as_str()).chain(also.iter().copied()).collect();
        Err(HwError::field(path, format!("no cache `{name}`")).help(suggest(name, "allowed", &all)))
    }
}

/// Where a field of an entry of a list is. Written out only when something is wrong: every launch asks whether its machine is
/// well formed.
#[derive(Clone, Copy)]
struct Path<'a> {
    list: &'static str,
    index: usize,
    name: &'a str,
    field: &'a str,
    /// The class, of fields that have a value for each; otherwise empty.
    class: &'a str,
}

impl Display for Path<'_> {
    fn fmt(&self, f: &mut Formatter) -> std::fmt::Result {
        write!(f, "{}.{}", entry_path(self.list, self.index, self.name), self.field)?;
        if self.class.is_empty() { Ok(()) } else { write!(f, ".{}", self.class) }
    }
}

fn unit_path<'a>(index: usize, unit: &'a Unit, field: &'a str) -> Path<'a> {
    Path { list: "units", index, name: &unit.name, field, class: "" }
}

fn not_empty(path: &str, text: &str) -> Check {
    if text.trim().is_empty() { Err(HwError::field(path, "must not be empty")) } else { Ok(()) }
}

fn range<T: PartialOrd + Display>(path: impl Display, value: T, min: T, max: T) -> Check {
    if value >= min && value <= max {
        return Ok(());
    }
    Err(HwError::field(path, format!("{value} is out of range; allowed: {min} to {max}")))
}

fn cycles(path: impl Display, value: u32) -> Check {
    range(path, value, 0, MAX_CYCLES)
}

fn power_of_two(path: impl Display, value: u32, max: u32) -> Check {
    if value.is_power_of_two() && value <= max {
        return Ok(());
    }
    Err(HwError::field(path, format!("{value} is not allowed; a power of two up to {max}")))
}

/// Names are given, different, usable in a path and none of the reserved ones.
fn names<'a>(list: &str, all: impl Iterator<Item = &'a str>, reserved: &[&str]) -> Check {
    let mut seen = Vec::new();
    for (i, name) in all.enumerate() {
        let path = || format!("{list}[{i}].name");
        if !plain_name(name) {
            return Err(HwError::field(path(), format!("`{name}` is not a name"))
                .help("letters, digits, `-` and `_`, not only digits"));
        }
        if reserved.contains(&name) {
            return Err(HwError::field(path(), format!("`{name}` has a meaning of its own")));
        }
        if seen.contains(&name) {
            return Err(HwError::field(path(), format!("`{name}` appears twice")));
        }
        seen.push(name);
    }
    Ok(())
}
