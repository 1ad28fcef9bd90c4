//! Machine files: `base`, merging, and errors with line and column.

use crate::{check, error, guppy, harp};
use miette::Diagnostic;
use wb_hw::{Machine, load};

fn parse(text: &str) -> Machine {
    Machine::from_toml(text, "dir/mine.toml").unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_base_gives_what_the_file_does_not() {
    let m = parse("base = \"harp\"\n");
    let mut want = harp();
    want.name = "mine".into();
    assert_eq!(m, want);
}

#[test]
fn tables_merge_and_entries_merge_by_name() {
    let m = parse(
        r#"
        base = "guppy-fig1"
        name = "wide"
        core.lanes = 64
        [[units]]
        name = "alu"
        latencies.mul = 9
        [[units]]
        name = "control"
        classes = ["control", "wait"]
        [[caches]]
        name = "l2"
        next = "l3"
        [[caches]]
        name = "l3"
        shared_by = 0
        size = 4096
        ways = 4
        latency = 30
        next = "dram"
        "#,
    );
    let mut want = guppy();
    want.description = m.description.clone();
    want.name = "wide".into();
    want.core.lanes = 64;
    want.core.partitions = 2;
    want.units[0].count = 2;
    want.units[0].latencies.insert("mul".into(), 9);
    want.units[1].classes.push("wait".into());
    want.caches[1].next = "l3".into();
    assert_eq!(m.caches.len(), 4);
    assert_eq!((&*m.caches[3].name, m.caches[3].line), ("l3", 64));
    want.caches.push(m.caches[3].clone());
    assert_eq!(m, want);
}

#[test]
fn mistakes_have_a_place() {
    for (text, place, field, message, help) in [
        ("base = \"harp\"\n[core\n", (2, 6), "", "unclosed table", ""),
        ("base = \"hrap\"\n", (1, 8), "base", "no preset `hrap`", "did you mean `harp`?"),
        ("base = 1\n", (1, 8), "base", "expected a string", ""),
        ("base = \"other.toml\"\n", (1, 8), "base", "no preset", ""),
        ("base = \"harp\"\n[core]\nlane = 4\n", (3, 1), "core.lane", "no such field", "`lanes`?"),
        ("base = \"harp\"\n[coer]\nlanes = 4\n", (2, 2), "coer", "no such field", "`core`?"),
        ("base = \"harp\"\ncore.lanes = 99\n", (2, 14), "core.lanes", "1 to 64", ""),
        ("base = \"harp\"\ncore.lanes = -4\n", (2, 14), "core.lanes", "out of range", ""),
        ("base = \"harp\"\ncore.lanes = \"4\"\n", (2, 14), "core.lanes", "found string", ""),
        ("base = \"harp\"\ncore.lanes = 4.0\n", (2, 14), "core.lanes", "found float", ""),
        ("base = \"harp\"\nissue.policy = \"fifo\"\n", (2, 16), "issue.policy", "is not one of", ""),
        ("base = \"harp\"\nunits = 3\n", (2, 9), "units", "a list of tables", ""),
        ("base = \"harp\"\nunits = [3]\n", (2, 10), "units[0]", "expected a table", ""),
        ("base = \"harp\"\nunits = [{ count = 3 }]\n", (2, 10), "units[0].name", "missing", ""),
        (
            "base = \"harp\"\nunits = [{ name = \"alu\" }, { name = \"alu\" }]\n",
            (2, 28),
            "units.alu.name",
            "twice",
            "",
        ),
        ("base = \"harp\"\nunits = [{ name = \"new\" }]\n", (2, 10), "units.new.classes", "missing", "base"),
        (
            "base = \"harp\"\nunits = [{ name = \"alu\", latencies = { x = 2 } }]\n",
            (2, 44),
            "units.alu.latencies.x",
            "no such class",
            "alu",
        ),
        ("", (1, 1), "name", "missing", "base"),
        ("limits.memory = 99999999999999999999999999\n", (1, 17), "limits.memory", "out of range", ""),
    ] {
        let e = error(Machine::from_toml(text, "mine.toml"));
        let p = e.place.as_ref().unwrap_or_else(|| panic!("{e} has no place"));
        assert_eq!((p.line, p.column), place, "{e}");
        assert!(e.to_string().starts_with(&format!("mine.toml:{}:{}: ", p.line, p.column)));
        assert!(e.source_code().is_some() && e.labels().is_some());
        if field.is_empty() {
            assert!(e.field.is_none() && e.message.contains(message), "{e}");
        } else {
            check(&e, field, message, help);
        }
    }
}

#[test]
fn values_of_a_hand_made_machine_never_panic() {
    let mut m = guppy();
    m.limits.cycles = u64::MAX;
    check(&error(Machine::from_toml(&m.to_toml(), "m")), "limits.cycles", "out of range", "");
}

#[test]
fn load_takes_presets_and_paths() {
    assert_eq!(load("harp").expect("harp"), harp());
    let e = error(load("no/such.toml"));
    assert!(e.message.contains("cannot read machine file no/such.toml"), "{e}");
    assert!(e.help.expect("help").contains("harp"));
}

#[test]
fn a_base_cannot_be_its_own() {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (a, b) = (dir.join("a.toml"), dir.join("b.toml"));
    std::fs::write(&a, "base = \"b.toml\"\n").expect("write");
    std::fs::write(&b, "base = \"a.toml\"\n").expect("write");
    check(&error(load(&a.to_string_lossy())), "base", "leads back to itself", "");
}
