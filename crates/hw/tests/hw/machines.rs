//! Machines of later instruction sets, to show that the schema can already say what they need.

use wb_hw::{Cache, FrontEndKind, Machine, Scope, SplitUnits, Unit, load, preset};

fn machine(name: &str) -> Machine {
    let path = format!("{}/tests/machines/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let m = load(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(Machine::from_toml(&m.to_toml(), name).unwrap_or_else(|e| panic!("{e}")), m);
    m
}

fn unit<'a>(m: &'a Machine, name: &str) -> &'a Unit {
    m.units.iter().find(|u| u.name == name).unwrap_or_else(|| panic!("unit {name}"))
}

fn cache<'a>(m: &'a Machine, name: &str) -> &'a Cache {
    m.caches.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("cache {name}"))
}

const GCN3: [&str; 8] = ["valu", "vtrans", "valu64", "salu", "smem", "vmem", "lds", "control"];

#[test]
fn gcn3() {
    let m = machine("gcn3");
    m.check_classes(&GCN3).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((m.cores, m.core.partitions, m.core.waves / m.core.partitions, m.core.lanes), (4, 4, 10, 64));
    let valu = unit(&m, "valu");
    assert_eq!((valu.scope, m.core.lanes.div_ceil(valu.lanes) * valu.interval), (Scope::Partition, 4));
    assert_eq!((valu.latency, unit(&m, "salu").latency), (4, 1));
    assert_eq!((m.core.lds_bytes, m.core.lds_banks), (64 << 10, 32));
    for (name, size, ways, latency) in [("tcp", 16 << 10, 16, 4), ("tcc", 256 << 10, 16, 16)] {
        let c = cache(&m, name);
        assert_eq!((c.size, c.ways, c.latency), (size, ways, latency));
    }
    assert_eq!((cache(&m, "sqc").size, cache(&m, "sqc").shared_by), (32 << 10, 4));
    assert_eq!((&*m.memory.scalar, &*m.memory.instruction), ("sqc", "sqc"));
    assert_eq!((m.memory.request_latency, m.memory.response_latency), (50, 50));
}

#[test]
fn pws() {
    let m = machine("pws");
    m.check_classes(&GCN3).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((&*m.name, m.divergence.mechanism), ("pws", wb_hw::Mechanism::Pws));
    assert_eq!((m.split.contexts, m.split.units), (3, SplitUnits::Extra));
    assert_eq!(m.units.iter().filter(|u| u.scope == Scope::Split).count(), 2);
    assert_eq!((unit(&m, "valu").lanes, unit(&m, "split-valu").lanes), (64, 64));
    // Re-provisioning is one field away, and so is the serialised variant.
    for units in ["reprovisioned", "shared"] {
        m.clone().with_overrides(&[("split.units".into(), units.into())]).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn vortex() {
    let m = machine("vortex");
    let classes = [
        "alu", "branch", "mul", "div", "fadd", "fmul", "fmadd", "fcvt", "fmisc", "fdiv", "fsqrt", "mem",
        "control", "csr",
    ];
    m.check_classes(&classes).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((m.core.waves, m.core.lanes), (32, 32));
    let f = &m.frontend;
    assert_eq!((f.kind, f.fetch_latency, f.decode_latency, f.buffer), (FrontEndKind::Decoupled, 3, 1, 4));
    let (fpu, fdiv) = (unit(&m, "fpu"), unit(&m, "fdiv"));
    assert_eq!((fpu.latency, fpu.latencies["fcvt"], fpu.interval), (4, 5, 1));
    assert_eq!((fdiv.latency, fdiv.interval), (16, 16));
    // The synchronised variant (SWaS) and the fixed-latency memory are settings.
    m.with_overrides(&[("frontend.kind".into(), "coordinated".into()), ("dram.banks".into(), "0".into())])
        .unwrap_or_else(|e| panic!("{e}"));
}

/// Matrix operations have a unit of their own where there are any; elsewhere another class stands in for them.
#[test]
fn matrices() {
    for name in ["mi200", "mi300"] {
        let m = preset(name).expect("preset");
        let at = m.unit_of("matrix16", false).expect("a unit");
        let unit = &m.units[at];
        assert_eq!(unit.name, "matrix");
        for (class, passes) in [("matrix2", 2), ("matrix4", 4), ("matrix8", 8), ("matrix16", 16)] {
            assert_eq!((unit.interval_of(class), unit.latency_of(class)), (4 * passes, 4 * (passes + 4)));
        }
    }
    let m = preset("vega").expect("preset");
    let unit = &m.units[m.unit_of("matrix16", false).expect("a unit")];
    assert_eq!((unit.name.as_str(), unit.latency_of("matrix16")), ("valu", unit.latency_of("valu64")));
    assert_eq!(unit.interval_of("matrix16"), unit.interval);
    let wrong = |from: &str, to: &str| {
        Machine::from_toml(&preset("mi200").expect("preset").to_toml().replacen(from, to, 1), "x")
            .expect_err("wrong")
            .to_string()
    };
    assert!(wrong("matrix16 = 64", "matrix32 = 64").contains("no such class"));
    assert!(wrong("matrix16 = 64", "matrix16 = 7").contains("8 to"));
}
