//! One failing example per rule: the error names the field.

use crate::presets::{GUPPY, HARP};
use crate::{check, error, guppy, harp};
use wb_hw::{FrontEndKind, Machine, Mechanism, Policy, Reconverge, Scope, SplitUnits};

type Break = fn(&mut Machine);

/// (what to break in `guppy`, field the error names, part of its message)
const RULES: &[(Break, &str, &str)] = &[
    (|m| m.name.clear(), "name", "empty"),
    (|m| m.clock_mhz = 0, "clock_mhz", "1 to"),
    (|m| m.cores = 0, "cores", "1 to 4096"),
    (|m| m.cores = 4097, "cores", "1 to 4096"),
    (|m| m.core.lanes = 0, "core.lanes", "1 to 64"),
    (|m| m.core.lanes = 65, "core.lanes", "1 to 64"),
    (|m| m.core.waves = 0, "core.waves", "1 to 1024"),
    (|m| m.core.waves = 1025, "core.waves", "1 to 1024"),
    (|m| m.core.partitions = 0, "core.partitions", "1 to"),
    (|m| m.core.partitions = 3, "core.waves", "4 waves cannot be divided among 3"),
    (|m| m.core.registers = 100_000, "core.registers", "65536"),
    (|m| m.core.register_file = 63, "core.register_file", "64"),
    (|m| m.core.lds_bytes = 1024, "core.lds_banks", "1 to"),
    (|m| m.core.lds_bytes = u32::MAX, "core.lds_bytes", "0 to"),
    (|m| m.frontend.policy = Policy::OwnerDispatch, "frontend.policy", "issue policy only"),
    (|m| m.frontend.ports = 0, "frontend.ports", "1 to"),
    (|m| m.frontend.buffer = 0, "frontend.buffer", "1 to"),
    (|m| m.frontend.fetch_latency = u32::MAX, "frontend.fetch_latency", "0 to"),
    (|m| m.frontend.decode_latency = u32::MAX, "frontend.decode_latency", "0 to"),
    (|m| m.frontend.branch_penalty = u32::MAX, "frontend.branch_penalty", "0 to"),
    (|m| m.issue.policy = Policy::Icount, "issue.policy", "fetch policy only"),
    (
        |m| (m.frontend.kind, m.frontend.fetch_latency) = (FrontEndKind::Coordinated, 65),
        "frontend.fetch_latency",
        "at most 64",
    ),
    (|m| m.issue.width = 0, "issue.width", "1 to"),
    (|m| m.issue.width = 2, "issue.width", "owner-dispatch"),
    (|m| m.divergence.push_cycles = u32::MAX, "divergence.push_cycles", "0 to"),
    (|m| m.divergence.pop_cycles = u32::MAX, "divergence.pop_cycles", "0 to"),
    (|m| m.split.contexts = 64, "split.contexts", "0 to 63"),
    (|m| m.split.split_cycles = u32::MAX, "split.split_cycles", "0 to"),
    (|m| m.split.merge_cycles = u32::MAX, "split.merge_cycles", "0 to"),
    (|m| (m.split.contexts, m.split.units) = (1, SplitUnits::Extra), "split.units", "none exists"),
    (|m| m.memory.data = "l9".into(), "memory.data", "no cache `l9`"),
    (|m| m.memory.data = "none".into(), "memory.data", "no cache `none`"),
    (|m| m.memory.sampler = "x".into(), "memory.sampler", "no cache"),
    (|m| m.memory.scalar = "x".into(), "memory.scalar", "no cache"),
    (|m| m.memory.instruction = "x".into(), "memory.instruction", "no cache"),
    (|m| m.memory.lds_latency = u32::MAX, "memory.lds_latency", "0 to"),
    (|m| m.memory.request_latency = u32::MAX, "memory.request_latency", "0 to"),
    (|m| m.memory.response_latency = u32::MAX, "memory.response_latency", "0 to"),
    (|m| m.dram.latency = u32::MAX, "dram.latency", "0 to"),
    (|m| m.dram.line = 48, "dram.line", "power of two"),
    (|m| m.dram.banks = 100_000, "dram.banks", "0 to"),
    (|m| m.dram.banks = 8, "dram.row_bytes", "power of two"),
    (|m| (m.dram.banks, m.dram.row_bytes) = (8, 32), "dram.row_bytes", "shorter than a line"),
    (
        |m| (m.dram.banks, m.dram.row_bytes, m.dram.row_hit_latency) = (8, 1024, 33),
        "dram.row_hit_latency",
        "a row hit takes 33",
    ),
    (|m| m.limits.cycles = 0, "limits.cycles", "1 to"),
    (|m| m.limits.cycles = u64::MAX, "limits.cycles", "1 to"),
    (|m| m.limits.memory = 0, "limits.memory", "1 to"),
    (|m| m.limits.memory = (16 << 30) + 1, "limits.memory", "17179869184"),
    (|m| m.limits.stack_depth = 0, "limits.stack_depth", "1 to 65536"),
    (|m| m.limits.stack_depth = 65_537, "limits.stack_depth", "1 to 65536"),
    (|m| m.units.clear(), "units", "runs nothing"),
    (|m| m.units[2].name.clear(), "units[2].name", "not a name"),
    (|m| m.units[2].name = "a.b".into(), "units[2].name", "not a name"),
    (|m| m.units[2].name = "7".into(), "units[2].name", "not a name"),
    (|m| m.units[2].name = "alu".into(), "units[2].name", "twice"),
    (|m| m.units[0].classes.clear(), "units.alu.classes", "at least one"),
    (|m| m.units[0].count = 5000, "units.alu.count", "0 to"),
    (|m| m.units[0].lanes = 65, "units.alu.lanes", "0 to 64"),
    (|m| m.units[0].latency = u32::MAX, "units.alu.latency", "0 to"),
    (|m| m.units[0].interval = 0, "units.alu.interval", "1 to"),
    (|m| m.units[0].depth = 5000, "units.alu.depth", "0 to"),
    (|m| m.units[0].latencies = [("mull".into(), 2)].into(), "units.alu.latencies.mull", "no such class"),
    (|m| m.units[0].latencies = [("mul".into(), u32::MAX)].into(), "units.alu.latencies.mul", "0 to"),
    (|m| m.units[1].classes.push("mul".into()), "units.control.classes", "served by unit `alu`"),
    (|m| m.units[0].classes.push("mul".into()), "units.alu.classes", "served by unit `alu`"),
    (|m| m.caches[0].name = "dram".into(), "caches[0].name", "meaning of its own"),
    (|m| m.caches[2].shared_by = 5000, "caches.tex.shared_by", "0 to"),
    (|m| m.caches[0].line = 0, "caches.l1.line", "power of two"),
    (|m| m.caches[0].line = 96, "caches.l1.line", "power of two"),
    (|m| m.caches[0].ways = 0, "caches.l1.ways", "1 to"),
    (|m| m.caches[0].ways = 3, "caches.l1.size", "3 ways × 64 bytes"),
    (|m| m.caches[0].size = 0, "caches.l1.size", "whole sets"),
    (|m| m.caches[0].size = 1000, "caches.l1.size", "whole sets"),
    (|m| m.caches[0].latency = u32::MAX, "caches.l1.latency", "0 to"),
    (|m| m.caches[0].ports = 5000, "caches.l1.ports", "0 to"),
    (|m| m.caches[0].next = "l3".into(), "caches.l1.next", "no cache `l3`"),
    (|m| m.caches[1].next = "l1".into(), "caches.l1.next", "leads back"),
    (|m| m.caches[1].next = "l2".into(), "caches.l2.next", "leads back"),
    (|m| (m.caches[0].line, m.caches[0].ways) = (128, 8), "caches.l1.line", "more than a line of `l2`"),
    (|m| (m.caches[0].shared_by, m.caches[1].shared_by) = (4, 1), "caches.l1.shared_by", "does not serve"),
];

#[test]
fn every_rule_names_its_field() {
    for (i, (break_it, field, message)) in RULES.iter().enumerate() {
        let mut m = guppy();
        break_it(&mut m);
        match m.validate() {
            Ok(()) => panic!("rule {i} for {field} did not fail"),
            Err(e) => check(&e, field, message, ""),
        }
    }
}

#[test]
fn errors_say_what_is_allowed() {
    let mut m = guppy();
    m.caches[0].next = "l22".into();
    check(&error(m.validate()), "caches.l1.next", "", "did you mean `l2`? allowed: l1, l2, tex, dram");
    let mut m = guppy();
    m.caches[0].size = 100;
    check(&error(m.validate()), "caches.l1.size", "", "a multiple of 1024");
}

#[test]
fn borders_are_allowed() {
    let mut m = harp();
    (m.core.lanes, m.core.waves, m.core.partitions, m.cores) = (64, 1024, 1024, 4096);
    (m.split.contexts, m.limits.stack_depth, m.limits.memory) = (63, 65_536, 16 << 30);
    m.frontend.kind = FrontEndKind::Coordinated;
    m.memory.instruction = "none".into();
    m.validate().expect("valid");
}

#[test]
fn classes_are_checked_against_the_instruction_set() {
    guppy().check_classes(&GUPPY).expect("guppy");
    harp().check_classes(&HARP).expect("harp");
    check(&error(guppy().check_classes(&GUPPY[1..])), "units.alu.classes", "`move` is not", "classes:");

    let mut m = harp();
    m.units[5].classes = vec!["memm".into()];
    check(&error(m.check_classes(&HARP)), "units.mem.classes", "`memm` is not", "did you mean `mem`?");

    let mut m = harp();
    m.units.retain(|u| u.name != "fpdiv");
    check(&error(m.check_classes(&HARP)), "units", "no unit runs instruction class `fpdiv`", "one unit");

    let mut m = harp();
    m.units[0].classes.push("mul".into());
    check(&error(m.check_classes(&HARP)), "units.mul.classes", "served by unit `alu`", "");
}

#[test]
fn split_contexts_may_repeat_a_class_once() {
    let mut m = harp();
    let mut extra = m.units[0].clone();
    (extra.name, extra.scope) = ("split-alu".into(), Scope::Split);
    m.units.push(extra.clone());
    (m.split.contexts, m.split.units) = (3, SplitUnits::Extra);
    m.validate().expect("valid");
    m.check_classes(&HARP).expect("served");

    extra.name = "another".into();
    m.units.push(extra);
    check(&error(m.validate()), "units.another.classes", "served by unit `split-alu`", "");

    // A class that only split contexts could run is not served.
    let mut m = harp();
    m.units[0].scope = Scope::Split;
    check(&error(m.check_classes(&HARP)), "units", "`alu`", "");
}

/// Only `thesis` keeps split masks; every other mechanism refuses the setting by name.
#[test]
fn only_thesis_has_a_stack_of_split_masks() {
    for mechanism in Mechanism::ALL {
        let mut m = harp();
        (m.divergence.mechanism, m.divergence.reconverge) = (mechanism, Reconverge::MaskStack);
        if mechanism == Mechanism::Thesis {
            m.validate().expect("valid");
        } else {
            check(&error(m.validate()), "divergence.reconverge", mechanism.name(), "thesis");
        }
    }
}
