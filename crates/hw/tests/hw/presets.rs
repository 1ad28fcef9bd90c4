//! Every preset stands alone, survives a round trip and says what its document says.

use crate::{error, guppy, harp};
use wb_hw::{FrontEndKind, Machine, Policy, Port, preset, presets};

pub const HARP: [&str; 8] = ["alu", "mul", "div", "fp", "fpdiv", "mem", "control", "system"];
pub const GUPPY: [&str; 10] =
    ["move", "norm", "arith", "mul", "div", "mad", "load", "store", "sample", "control"];
pub const GCN3: [&str; 15] = [
    "salu", "branch", "wait", "message", "smem", "valu", "valu64", "trans", "lds", "flat", "vmem", "matrix2",
    "matrix4", "matrix8", "matrix16",
];
pub const VORTEX: [&str; 14] = [
    "alu", "branch", "mul", "div", "fadd", "fmul", "fmadd", "fcvt", "fmisc", "fdiv", "fsqrt", "mem", "csr",
    "control",
];

#[test]
fn every_preset_is_valid_and_round_trips() {
    for p in presets() {
        let m = preset(p.name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(m.name, p.name);
        m.validate().unwrap_or_else(|e| panic!("{}: {e}", p.name));
        let text = m.to_toml();
        let again = Machine::from_toml(&text, p.name).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(m, again);
        assert_eq!(text, again.to_toml());
        let classes: &[&str] = match m.isa.name() {
            "harp" => &HARP,
            "guppy" => &GUPPY,
            "vortex" | "riscv" => &VORTEX,
            _ => &GCN3,
        };
        m.check_classes(classes).unwrap_or_else(|e| panic!("{}: {e}", p.name));
    }
}

#[test]
fn guppy_has_the_published_numbers() {
    let m = guppy();
    assert_eq!((m.core.lanes, m.core.waves, m.core.partitions), (32, 4, 1));
    assert_eq!((m.issue.policy, m.issue.width), (Policy::OwnerDispatch, 1));
    let alu = &m.units[0];
    assert_eq!((alu.count, alu.latency, alu.depth), (1, 1, 1));
    let long: Vec<_> = alu.latencies.iter().map(|(c, l)| (c.as_str(), *l)).collect();
    assert_eq!(long, [("div", 4), ("mad", 2), ("mul", 2), ("norm", 4)]);
    let sampler = m.units.iter().find(|u| u.port == Port::Sampler).expect("sampler");
    assert_eq!(sampler.latency, 16);
    let caches: Vec<_> = m.caches.iter().map(|c| (c.name.as_str(), c.size, c.latency, &*c.next)).collect();
    assert_eq!(caches, [("l1", 1024, 4, "l2"), ("l2", 1024, 16, "dram"), ("tex", 1024, 0, "l2")]);
    assert_eq!((m.dram.latency, m.dram.bandwidth), (32, 64));
}

#[test]
fn guppy_figures_differ_only_in_dispatch() {
    for (name, partitions) in [("guppy-fig1", 2), ("guppy-fig2", 1), ("guppy-fig3", 4)] {
        let m = preset(name).expect(name);
        assert_eq!((m.core.waves, m.units[0].count, m.core.partitions), (4, 2, partitions));
        let mut same = guppy();
        (same.name, same.description) = (m.name.clone(), m.description.clone());
        same.core.partitions = partitions;
        same.units[0].count = 2;
        assert_eq!(m, same);
    }
}

#[test]
fn harp_variants() {
    let m = harp();
    assert_eq!((&*m.arch, m.core.lanes, m.core.waves), ("8w32/32", 8, 8));
    let div = m.units.iter().find(|u| u.name == "div").expect("div");
    assert_eq!((div.latency, div.interval), (12, 12));

    let m = preset("harp-pdom").expect("harp-pdom");
    assert_eq!((&*m.arch, m.core.lanes, m.core.waves, m.core.registers), ("4w8/1", 4, 2, 8));
    assert_eq!(m.divergence.mechanism, wb_hw::Mechanism::Pdom);

    let m = preset("harp-pipelined").expect("harp-pipelined");
    assert_eq!((m.core.lanes, m.frontend.kind, m.frontend.buffer), (32, FrontEndKind::Decoupled, 2));
    assert_eq!(m.issue.policy, Policy::GreedyThenOldest);
    assert_eq!(m.memory.data, "l1");
}

#[test]
fn vortex_has_the_numbers_of_swas() {
    let m = preset("vortex-swas").expect("vortex-swas");
    assert_eq!((m.cores, m.core.lanes, m.core.waves, m.issue.width), (1, 32, 32, 1));
    let f = &m.frontend;
    assert_eq!(
        (f.kind, f.fetch_latency, f.decode_latency, f.buffer, f.ports),
        (FrontEndKind::Decoupled, 3, 1, 4, 1)
    );
    let unit = |class: &str| m.units.iter().find(|u| u.classes.iter().any(|c| c == class)).expect(class);
    let latency = |class: &str| *unit(class).latencies.get(class).unwrap_or(&unit(class).latency);
    let all = ["fadd", "fmul", "fmadd", "fcvt", "fdiv", "fsqrt", "mul", "div"].map(latency);
    assert_eq!(all, [4, 4, 4, 5, 16, 16, 4, 32]);
    assert_eq!(
        (unit("fdiv").interval, unit("fsqrt").interval, unit("fmul").interval),
        (16, 16, 1),
        "not pipelined"
    );
    assert!(m.caches.iter().all(|c| (c.size, c.line) == (16 << 10, 64)));
    assert_eq!((m.dram.banks, m.limits.stack_depth), (0, 62));
    for (name, cores, partitions) in [("vortex-2sm", 2, 2), ("vortex-4sm", 4, 4), ("vortex-16sm", 16, 4)] {
        let many = preset(name).expect(name);
        let mut same = m.clone();
        (same.name, same.description) = (many.name.clone(), many.description.clone());
        (same.cores, same.core.partitions) = (cores, partitions);
        assert_eq!(many, same);
    }
    let simx = preset("vortex-like-simx").expect("vortex-like-simx");
    let all: Vec<u32> = simx.units.iter().map(|u| u.latency).collect();
    assert_eq!(all, [14, 16, 44, 16, 28, 16, 16]);
    assert_eq!(simx.frontend.fetch_latency + simx.frontend.decode_latency, 6);
}

#[test]
fn an_unknown_preset_lists_what_there_is() {
    let e = error(preset("gupy"));
    assert!(e.message.contains("no machine `gupy`"), "{e}");
    let help = e.help.expect("help");
    assert!(help.contains("did you mean `guppy`?") && help.contains("harp-pdom"), "{help}");
}
