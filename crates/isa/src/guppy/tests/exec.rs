//! What instructions compute: tables of operands and results, swizzles, aliasing, masks, control.

use super::*;
use crate::{Facts, FlowKind};

fn bits(v: f32) -> u32 {
    v.to_bits()
}

/// Runs one line and compares r0.x with the expected bits.
fn check(line: &str, expected: u32) {
    for lanes in [1, 8, 32, 33, 64] {
        let mut wave = Wave::new(lanes);
        wave.run(line);
        for lane in [0, lanes - 1] {
            assert_eq!(wave.reg(0, lane)[0], expected, "{line}, lane {lane} of {lanes}");
        }
    }
}

#[test]
fn integers() {
    for (line, expected) in [
        ("mov r0.x, u(7)", 7),
        ("mov r0.x, u(-1)", u32::MAX),
        ("add.u32 r0.x, u(0xffffffff), u(2)", 1),
        ("sub.u32 r0.x, u(1), u(2)", u32::MAX),
        ("mul.u32 r0.x, u(0x10000), u(0x10001)", 0x10000),
        ("div.u32 r0.x, u(17), u(5)", 3),
        ("div.u32 r0.x, u(17), u(0)", u32::MAX),
        ("div.u32 r0.x, u(0), u(0)", u32::MAX),
        ("lt.u32 r0.x, u(1), u(-1)", 1),
        ("lt.u32 r0.x, u(1), u(1)", 0),
        ("gt.u32 r0.x, u(2), u(1)", 1),
        ("gt.u32 r0.x, u(1), u(1)", 0),
        ("and r0.x, u(12), u(10)", 8),
        ("and.u32 r0.x, u(12), u(10)", 8),
        ("or r0.x, u(12), u(10)", 14),
        ("or.u32 r0.x, u(12), u(10)", 14),
        ("mad.u32 r0.x, u(0xffffffff), u(2), u(5)", 3),
    ] {
        check(line, expected);
    }
}

#[test]
fn floats() {
    let inf = f32::INFINITY;
    for (line, expected) in [
        ("utof r0.x, u(0xffffffff)", bits(4294967296.0)),
        ("utof r0.x, u(3)", bits(3.0)),
        ("clamp r0.x, f(1.5)", bits(1.0)),
        ("clamp r0.x, f(-3)", 0),
        ("clamp r0.x, f(0.25)", bits(0.25)),
        ("clamp r0.x, f(nan)", 0),
        ("abs.f32 r0.x, f(-2.5)", bits(2.5)),
        ("len r0.x, f2(3 4)", bits(5.0)),
        ("len r0.x, f4(1 1 1 1)", bits(2.0)),
        ("len r0.x, f(-3)", bits(3.0)),
        ("norm r0.x, f2(3 4)", bits(0.6)),
        ("norm r0.x, f(-3)", bits(-1.0)),
        ("norm r0.x, f3(0 0 -0)", 0),
        ("add.f32 r0.x, f(0.1), f(0.2)", bits(0.1f32 + 0.2f32)),
        ("sub.f32 r0.x, f(1), f(3)", bits(-2.0)),
        ("mul.f32 r0.x, f(1.5), f(-2)", bits(-3.0)),
        ("div.f32 r0.x, f(1), f(0)", bits(inf)),
        ("div.f32 r0.x, f(-1), f(0)", bits(-inf)),
        ("lt.f32 r0.x, f(-1), f(1)", 1),
        ("lt.f32 r0.x, f(nan), f(1)", 0),
        ("gt.f32 r0.x, f(1), f(-1)", 1),
        ("gt.f32 r0.x, f(1), f(nan)", 0),
        ("mad.f32 r0.x, f(2), f(3), f(4)", bits(10.0)),
        // The product 1 + 2^-22 + 2^-46 loses its tail before the sum; fused it would not.
        ("mad.f32 r0.x, f(0x3f800001), f(0x3f800001), f(-1.0000002384185791)", 0),
        // The first operand has the weight t.
        ("lerp r0.x, f(10), f(20), f(1)", bits(10.0)),
        ("lerp r0.x, f(10), f(20), f(0)", bits(20.0)),
        ("lerp r0.x, f(10), f(20), f(0.25)", bits(17.5)),
        ("lerp r0.x, f(10), f(20), f(7)", bits(10.0)),
    ] {
        check(line, expected);
    }
    let mut wave = Wave::new(8);
    wave.run("div.f32 r0.x, f(0), f(0)");
    assert!(wave.floats(0, 0)[0].is_nan());
}

#[test]
fn swizzles() {
    for (program, expected) in [
        ("mov r0.zw, u2(1 2)", [0, 0, 1, 2]),
        ("mov r0.wzyx, u4(1 2 3 4)", [4, 3, 2, 1]),
        ("mov r1.xyzw, u4(1 2 3 4)\n mov r0.yx, r1.zw", [4, 3, 0, 0]),
        // Positions the source does not have are 0 ...
        ("mov r0.xyzw, u4(9 9 9 9)\n mov r0.xyzw, u2(1 2)", [1, 2, 0, 0]),
        ("mov r0.xyzw, u4(9 8 7 6)\n mov r0.xyz, r0.xy", [9, 8, 0, 6]),
        // ... but a single component goes everywhere.
        ("mov r0.xyw, u(5)", [5, 5, 0, 5]),
        ("mov r1.y, u(3)\n mov r0.xyzw, r1.y", [3, 3, 3, 3]),
        ("mov r1.xy, u2(1 2)\n add.u32 r0.xyz, r1.xyx, u(10)", [11, 12, 11, 0]),
        ("mov r1.xy, u2(1 2)\n add.u32 r0.xyz, r1.y, u3(10 20 30)", [12, 22, 32, 0]),
        ("mov r1.xy, u2(1 2)\n mad.u32 r0.xy, r1.xy, r1.yy, r1.x", [3, 5, 0, 0]),
    ] {
        let mut wave = Wave::new(32);
        wave.run(program);
        assert_eq!(wave.reg(0, 0), expected, "{program}");
        assert_eq!(wave.reg(0, 31), expected, "{program}");
    }
}

#[test]
fn sources_are_read_before_anything_is_written() {
    let set = "mov r0.xyzw, u4(1 2 3 4)\n mov r1.xyzw, u4(10 20 30 40)\n";
    for (line, expected) in [
        ("mov r0.xy, r0.yx", [2, 1, 3, 4]),
        ("mov r0.xyzw, r0.wzyx", [4, 3, 2, 1]),
        ("mov r0.yzw, r0.xyz", [1, 1, 2, 3]),
        ("mov r0.xyz, r0.yzw", [2, 3, 4, 4]),
        ("mov r0.xyzw, r0.x", [1, 1, 1, 1]),
        ("mov r0.xyzw, r0.w", [4, 4, 4, 4]),
        ("add.u32 r0.xyzw, r0.xyzw, r0.xxxx", [2, 3, 4, 5]),
        ("add.u32 r0.xyzw, r1.xyzw, r0.x", [11, 21, 31, 41]),
        ("mad.u32 r0.yx, r1.xy, u(1), r0.xy", [22, 11, 3, 4]),
    ] {
        let mut wave = Wave::new(8);
        wave.run(&format!("{set}{line}"));
        assert_eq!(wave.reg(0, 5), expected, "{line}");
    }
    let hazard = |text: &str| assembled(text).insts[0].hazard;
    assert!(hazard("mov r0.xy, r0.yx"));
    assert!(hazard("add.u32 r0.xy, r1.xy, r0.x"));
    assert!(!hazard("add.u32 r0.xyzw, r0.xyzw, r1.xxxx"));
    assert!(!hazard("mov r0.xyz, r0.yzw"));
}

#[test]
fn vectors() {
    let mut wave = Wave::new(8);
    wave.run("mov r1.xyz, f3(2 3 6)\n len r2.xyzw, r1.xyz\n norm r3.xyz, r1.xyz\n len r4.yx, r1.zy");
    assert_eq!(wave.floats(2, 3), [7.0; 4]);
    assert_eq!(wave.floats(3, 3), [2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0, 0.0]);
    assert_eq!(wave.floats(4, 3)[..2], [45f32.sqrt(); 2]);
    wave.run("mov r1.xy, f2(3 4)\n norm r1.xy, r1.yx");
    assert_eq!(wave.floats(1, 0)[..2], [0.8, 0.6]);
    wave.run("mov r1.xy, f2(3 4)\n norm r1.xy, r1.xy");
    assert_eq!(wave.floats(1, 0)[..2], [0.6, 0.8]);
    wave.run("mov r1.xy, f2(3 4)\n len r1.xy, r1.xy");
    assert_eq!(wave.floats(1, 0)[..2], [5.0, 5.0]);
}

#[test]
fn builtins_and_masks() {
    let mut wave = Wave::new(33);
    let start =
        WaveStart { wave: 9, group: 2, wave_in_group: 3, group_size: 100, lanes: 33, ..WaveStart::default() };
    wave.isa.start(&mut wave.regs, &start);
    wave.clock = 0x1_0000_0007;
    wave.run("mov r0.xyzw, thread_id\n mov r1.xy, lane_id\n mov r1.z, wave_id\n mov r1.w, clock");
    assert_eq!(wave.reg(0, 32), [2 * 100 + 3 * 33 + 32; 4]);
    assert_eq!(wave.reg(1, 32), [32, 32, 3, 7]);

    wave.mask = 0x1_0000_ff02;
    wave.run("mov r2.x, lane_id\n add.u32 r2.yx, r2.xx, u(100)");
    for lane in 0..33 {
        let on = wave.mask >> lane & 1 == 1;
        let expected = if on { [lane + 100, lane + 100, 0, 0] } else { [0; 4] };
        assert_eq!(wave.reg(2, lane), expected, "lane {lane}");
    }
    // A new wave starts with cleared registers.
    wave.isa.start(&mut wave.regs, &start);
    assert!(wave.isa.dump(&wave.regs, 32).iter().all(|(_, v)| *v == 0));
    assert_eq!(wave.isa.dump(&wave.regs, 0)[6].0, "r1.z");
}

#[test]
fn control_returns_flows() {
    let mut wave = Wave::new(8);
    wave.mask = 0x7f;
    let odd = "mov r0.x, lane_id\n and r0.y, r0.x, u(1)\n";
    let flow = |wave: &mut Wave, text: &str| wave.run(&format!("{odd}{text}"));
    assert_eq!(flow(&mut wave, "mask_nz r0.y"), Flow::MaskNonZero { keep: 0x2a });
    assert_eq!(flow(&mut wave, "A: push_mask A"), Flow::PushMask { reconverge: 2 });
    assert_eq!(flow(&mut wave, "pop_mask"), Flow::PopMask);
    assert_eq!(flow(&mut wave, "jmp B\nB:"), Flow::Jump(3));
    assert_eq!(flow(&mut wave, "ret"), Flow::Exit { lanes: 0x7f });
    let branch = Flow::BranchPush { taken: 0x2a, other: 2, reconverge: 3 };
    assert_eq!(flow(&mut wave, "C: br_push r0.y, C, D\nD:"), branch);
}

#[test]
fn facts_name_components() {
    let isa = Guppy::new(16, Bindings::default());
    let facts = |line: &str| isa.facts(&assembled(line).insts[0], 0, 1);
    let class = |f: &Facts| isa.classes()[usize::from(f.class)];
    let add = facts("add.f32 r1.yz, r2.xxw, r0.w");
    assert_eq!(
        (class(&add), add.reads.as_slice(), add.writes.as_slice()),
        ("arith", &[8, 3][..], &[5, 6][..])
    );
    assert_eq!(facts("len r0.x, r1.xyz").reads, [4, 5, 6]);
    let load = facts("ld r0.xy, t0.zw, r1.yx");
    assert_eq!((class(&load), load.reads, load.writes), ("load", vec![5], vec![0, 1]));
    let store = facts("st u0.xy, r1.zw, r2.xyzw");
    assert_eq!((class(&store), store.reads, store.writes), ("store", vec![6, 7, 8, 9], vec![]));
    let sample = facts("sample r0.xyzw, t0.xyzw, s0, r1.zw");
    assert_eq!((class(&sample), sample.reads, sample.writes), ("sample", vec![6, 7], vec![0, 1, 2, 3]));
    let branch = facts("A: br_push r3.z, A, B\nB:");
    assert_eq!(branch.flow, FlowKind::BranchPush { other: 0, reconverge: 1 });
    assert_eq!((class(&branch), branch.reads, branch.writes), ("control", vec![14], vec![]));
    let ret = facts("ret");
    assert!(ret.waits_for_all);
    assert_eq!(ret.flow, FlowKind::Exit { conditional: false });
    assert_eq!((isa.register_count(), isa.register_name(14)), (64, "r3.z".to_string()));
}

#[test]
fn a_register_the_machine_lacks_traps() {
    let mut wave = Wave::new(8);
    let trap = wave.try_run("mov r0.x, r16.x").expect_err("there are 16 registers");
    assert_eq!(trap.to_string(), "r16 is used, but a lane has 16 registers");
}

/// Run with `cargo test --release -p wb-isa guppy_speed -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn guppy_speed() {
    for (mask, name) in [(!0u64, "all"), (0x5555_5555_5555, "half")] {
        for line in [
            "add.u32 r0.x, r1.x, r2.x",
            "add.f32 r0.x, r0.x, f(1)",
            "add.f32 r0.xyzw, r1.xyzw, r2.xyzw",
            "mad.f32 r0.xyzw, r1.xyzw, r2.xyzw, f4(1 2 3 4)",
            "mov r0.xyzw, r0.wzyx",
            "mul.u32 r0.x, r1.x, r2.x",
            "norm r0.xyz, r1.xyz",
            "mask_nz r0.x",
            "pop_mask",
        ] {
            let mut wave = Wave::new(32);
            let inst = assembled(line).insts[0];
            let mask = mask & first_lanes(32);
            let at = At {
                pc: 0,
                next: 1,
                mask,
                live: mask,
                clock: 0,
                core: 0,
                depth: 0,
                waves: 1,
                whole: true,
                may_diverge: true,
            };
            let mut best = f64::MAX;
            for _ in 0..200 {
                let start = std::time::Instant::now();
                for _ in 0..10_000 {
                    let inst = std::hint::black_box(&inst);
                    let _ = wave.isa.exec(inst, &at, &mut wave.regs, &mut wave.memory);
                }
                best = best.min(start.elapsed().as_nanos() as f64 / 10_000.0);
            }
            println!("{name:5} {best:6.1} ns  {line}");
        }
    }
}
