//! `--set`: good ones change exactly their field, bad ones say what would have been possible.

use crate::{check, error, guppy};
use wb_hw::{HwError, Machine, Policy, WritePolicy, parse_set};

fn set(sets: &[&str]) -> Result<Machine, HwError> {
    let sets: Result<Vec<_>, _> = sets.iter().map(|s| parse_set(s)).collect();
    guppy().with_overrides(&sets?)
}

#[test]
fn good_ones() {
    let m = set(&[
        "core.waves=8",
        "core.partitions = 2",
        "issue.policy=oldest-first",
        "units.alu.count=2",
        "units.alu.latencies.mul=3",
        "units.alu.latencies.move=5",
        "units[1].latency=2",
        "caches.l1.size=2k",
        "caches.0.write=\"through\"",
        "dram.latency=1_00",
        "split.contexts=3",
        "limits.memory=1G",
        "limits.stack_depth=0x20",
        "name='mine'",
        "dispatch=fill",
        "units.sampler.classes=[sample]",
    ])
    .unwrap_or_else(|e| panic!("{e}"));
    let mut want = guppy();
    (want.core.waves, want.core.partitions) = (8, 2);
    want.issue.policy = Policy::OldestFirst;
    want.units[0].count = 2;
    want.units[0].latencies.insert("mul".into(), 3);
    want.units[0].latencies.insert("move".into(), 5);
    want.units[1].latency = 2;
    want.caches[0].size = 2048;
    want.caches[0].write = WritePolicy::Through;
    want.dram.latency = 100;
    want.split.contexts = 3;
    want.limits.memory = 1 << 30;
    want.limits.stack_depth = 32;
    want.name = "mine".into();
    want.dispatch = wb_hw::Dispatch::Fill;
    assert_eq!(m, want);
}

#[test]
fn none_changes_nothing() {
    assert_eq!(set(&[]).expect("guppy"), guppy());
}

#[test]
fn bad_ones() {
    for (text, field, message, help) in [
        ("core.wave=4", "core.wave", "no such field", "did you mean `waves`? fields of `core`: lanes, waves"),
        ("coer.waves=4", "coer", "no such field", "did you mean `core`?"),
        ("base=harp", "base", "no such field", "fields of a machine"),
        ("core=4", "core", "fields of its own", "lanes, waves"),
        ("core.waves.x=4", "core.waves.x", "whole number", ""),
        ("core.waves=four", "core.waves", "expected a whole number, found `four`", "k, M or G"),
        ("core.waves=", "core.waves", "expected a whole number", ""),
        ("core.waves=-1", "core.waves", "out of range", ""),
        ("core.waves=8G", "core.waves", "out of range", ""),
        ("limits.cycles=99999999999999999999999999999999999999999G", "limits.cycles", "out of range", ""),
        ("core.lanes=65", "core.lanes", "1 to 64", ""),
        ("core.waves=1.5", "core.waves", "whole number", ""),
        ("issue.policy=oldest", "issue.policy", "not one of round-robin", ""),
        (
            "issue.policy=oldest-frist",
            "issue.policy",
            "`oldest-frist` is not",
            "did you mean `oldest-first`?",
        ),
        ("caches.l1.write=back", "caches.l1.write", "free, through", ""),
        ("units=4", "units", "is a list", "alu, control, data, sampler"),
        ("units.alu=4", "units.alu", "fields of its own", "classes"),
        ("units.allu.count=4", "units.allu", "no such entry", "did you mean `alu`?"),
        ("units[9].count=4", "units.9", "no such entry", "alu"),
        ("units[0].cuont=4", "units.alu.cuont", "no such field", "did you mean `count`?"),
        ("units.alu.latencies=4", "units.alu.latencies", "by instruction class", "norm"),
        ("units.alu.latencies.mull=4", "units.alu.latencies.mull", "no such class", "did you mean `mul`?"),
        ("units.alu.latencies.mul.x=4", "units.alu.latencies.mul.x", "table of numbers", ""),
        ("units.alu.classes=", "units.alu.classes", "at least one", ""),
        ("caches.l1.next=l7", "caches.l1.next", "no cache `l7`", "l2"),
        ("core..waves=4", "core..waves", "not a field path", ""),
    ] {
        let e = error(set(&[text]));
        check(&e, field, message, help);
    }
    for text in ["core.waves", "=4", ""] {
        assert!(error(parse_set(text)).message.contains("field=value"));
    }
}

#[test]
fn settings_are_validated_together() {
    set(&["core.partitions=3", "core.waves=6"]).expect("six waves on three partitions");
    check(&error(set(&["core.partitions=3"])), "core.waves", "divided", "");
}
