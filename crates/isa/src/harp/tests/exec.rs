//! The meaning of every instruction, one line or function each.

use super::*;
use crate::harp::testing::TestBus;
use crate::harp::{Op, Regs, TABLE};
use crate::{At, EnterWhy, Flow, Isa, Mask, Trap, WaveStart};
use std::collections::HashSet;

const LANES: u32 = 4;
const ALL: Mask = 0b1111;
/// Instructions run at this pc.
const PC: Pc = 8;

struct Bench {
    harp: Harp,
    regs: Regs,
    bus: TestBus,
}

impl Bench {
    fn new(arch_text: &str) -> Bench {
        let harp = Harp::new(arch(arch_text)).unwrap();
        let mut regs = harp.registers(LANES);
        harp.start(&mut regs, &WaveStart { wave: 3, lanes: LANES, ..WaveStart::default() });
        Bench { harp, regs, bus: TestBus::new(256) }
    }

    fn row(&mut self, r: usize, values: [u64; 4]) -> &mut Self {
        for (lane, value) in values.into_iter().enumerate() {
            self.regs.set_gpr(r, lane as u32, value);
        }
        self
    }

    fn read(&self, r: usize) -> [u64; 4] {
        std::array::from_fn(|lane| self.regs.gpr(r, lane as u32))
    }

    fn run_in(&mut self, source: &str, mask: Mask) -> Result<Flow, Trap> {
        self.run_under(source, mask, true)
    }

    /// As a mechanism would run it that lets lanes disagree about branches, or not.
    fn run_under(&mut self, source: &str, mask: Mask, may_diverge: bool) -> Result<Flow, Trap> {
        let image = image(&self.harp.arch.to_string(), source);
        let (inst, size) = self.harp.decode_at(&image.segments[0].1).unwrap();
        let next = PC + size / self.harp.granule;
        let at = At {
            pc: PC,
            next,
            mask,
            live: ALL,
            clock: 0,
            core: 0,
            depth: 0,
            waves: 1,
            whole: true,
            may_diverge,
        };
        self.harp.exec(&inst, &at, &mut self.regs, &mut self.bus)
    }

    fn run(&mut self, source: &str) -> Result<Flow, Trap> {
        self.run_in(source, ALL)
    }
}

const X: [u64; 4] = [7, 0xffff_fff0, 2, 0x8000_0000];
const Y: [u64; 4] = [3, 5, 33, 1];
const F: fn(f32) -> u64 = |x| x.to_bits() as u64;

/// On 4-byte words: %r1 = X, %r2 = Y, result in %r3.
const ALU: &[(&str, [u64; 4])] = &[
    ("neg %r3, %r1", [0xffff_fff9, 16, 0xffff_fffe, 0x8000_0000]),
    ("not %r3, %r1", [0xffff_fff8, 15, 0xffff_fffd, 0x7fff_ffff]),
    ("and %r3, %r1, %r2", [3, 0, 0, 0]),
    ("or %r3, %r1, %r2", [7, 0xffff_fff5, 35, 0x8000_0001]),
    ("xor %r3, %r1, %r2", [4, 0xffff_fff5, 35, 0x8000_0001]),
    ("add %r3, %r1, %r2", [10, 0xffff_fff5, 35, 0x8000_0001]),
    ("add %r3, %r1, %r1", [14, 0xffff_ffe0, 4, 0]),
    ("sub %r3, %r2, %r1", [0xffff_fffc, 21, 31, 0x8000_0001]),
    ("mul %r3, %r1, %r2", [21, 0xffff_ffb0, 66, 0x8000_0000]),
    ("div %r3, %r1, %r2", [2, 0x3333_3330, 0, 0x8000_0000]),
    ("mod %r3, %r1, %r2", [1, 0, 2, 0]),
    ("shl %r3, %r1, %r2", [56, 0xffff_fe00, 0, 0]),
    ("shr %r3, %r1, %r2", [0, 0x07ff_ffff, 0, 0x4000_0000]),
    ("andi %r3, %r1, #-16", [0, 0xffff_fff0, 0, 0x8000_0000]),
    ("ori %r3, %r1, #9", [15, 0xffff_fff9, 11, 0x8000_0009]),
    ("xori %r3, %r1, #-1", [0xffff_fff8, 15, 0xffff_fffd, 0x7fff_ffff]),
    ("addi %r3, %r1, #16", [23, 0, 18, 0x8000_0010]),
    ("subi %r3, %r1, #8", [0xffff_ffff, 0xffff_ffe8, 0xffff_fffa, 0x7fff_fff8]),
    ("muli %r3, %r1, #-1", [0xffff_fff9, 16, 0xffff_fffe, 0x8000_0000]),
    ("divi %r3, %r1, #3", [2, 0x5555_5550, 0, 0x2aaa_aaaa]),
    ("modi %r3, %r1, #10", [7, 0, 2, 8]),
    ("shli %r3, %r1, #4", [0x70, 0xffff_ff00, 0x20, 0]),
    ("shri %r3, %r1, #4", [0, 0x0fff_ffff, 0, 0x0800_0000]),
    ("shri %r3, %r1, #100", [0; 4]),
    ("ldi %r3, #-5", [0xffff_fffb; 4]),
    ("tid %r3", [0, 1, 2, 3]),
    ("nop", [0; 4]),
    ("tlbflush", [0; 4]),
    ("tlbadd %r1, %r1, %r1", [0; 4]),
    ("tlbrm %r1", [0; 4]),
];

/// Instructions with a test function of their own below.
const OTHER: &[Op] = &[
    Op::Di,
    Op::Ei,
    Op::JalI,
    Op::JalR,
    Op::JmpI,
    Op::JmpR,
    Op::Clone,
    Op::JalIs,
    Op::JalRs,
    Op::JmpRt,
    Op::Ld,
    Op::St,
    Op::RtoP,
    Op::AndP,
    Op::OrP,
    Op::XorP,
    Op::NotP,
    Op::IsNeg,
    Op::IsZero,
    Op::Halt,
    Op::Trap,
    Op::JmpRu,
    Op::Skep,
    Op::RetI,
    Op::IToF,
    Op::FToI,
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FNeg,
    Op::WSpawn,
    Op::Split,
    Op::Join,
    Op::Bar,
];

#[test]
fn every_instruction_is_tested() {
    let mut seen: HashSet<Op> = OTHER.iter().copied().collect();
    seen.extend(ALU.iter().map(|(text, _)| Op::from_name(text.split(' ').next().unwrap()).unwrap()));
    for entry in TABLE {
        assert!(seen.contains(&entry.op), "`{}` has no test", entry.name);
    }
}

#[test]
fn alu_on_four_byte_words() {
    for encoding in ["4w8/4", "4b8/4"] {
        for (source, expected) in ALU {
            let mut bench = Bench::new(encoding);
            bench.row(1, X).row(2, Y);
            assert_eq!(bench.run(source), Ok(Flow::Next), "{source}");
            assert_eq!(bench.read(3), *expected, "{source}");
            // The same under a predicate and a partial mask: lanes 0 and 2 only.
            let mut bench = Bench::new(encoding);
            bench.row(1, X).row(2, Y).row(3, [77; 4]).regs.set_pred(1, 0b0111);
            bench.run_in(&format!("@p1 ? {source}"), 0b1101).unwrap();
            let code = image(encoding, source).segments.remove(0).1;
            let (inst, _) = bench.harp.decode_at(&code).unwrap();
            let writes = bench.harp.facts(&inst, 0, 1).writes;
            let expected = if writes.is_empty() { [77; 4] } else { [expected[0], 77, expected[2], 77] };
            assert_eq!(bench.read(3), expected, "predicated {source}");
        }
    }
}

#[test]
fn words_of_other_sizes() {
    let mut bench = Bench::new("8w8/1");
    bench.row(1, [1 << 63, !0, 8, 0]).row(2, [63, 200, 1, 1]);
    bench.run("shr %r3, %r1, %r2").unwrap();
    assert_eq!(bench.read(3), [!0, !0, 4, 0], "8-byte shr keeps the sign");
    bench.run("shri %r3, %r1, #4").unwrap();
    assert_eq!(bench.read(3)[0], 0xf800_0000_0000_0000);
    bench.run("mul %r3, %r1, %r1").unwrap();
    assert_eq!(bench.read(3), [0, 1, 64, 0]);
    let mut bench = Bench::new("1b8/1");
    bench.row(1, [200, 255, 3, 0]);
    bench.run("add %r3, %r1, %r1").unwrap();
    assert_eq!(bench.read(3), [144, 254, 6, 0]);
    assert_eq!(bench.read(0)[0], 4 << 4 | 3);
}

#[test]
fn predicates() {
    let mut bench = Bench::new("4w8/4");
    bench.row(1, [0, 5, 0x8000_0000, 0xffff_ffff]);
    for (source, p, expected) in [
        ("rtop @p0, %r1", 0, 0b1110),
        ("iszero @p1, %r1", 1, 0b0001),
        ("isneg @p2, %r1", 2, 0b1100),
        ("andp @p3, @p0, @p2", 3, 0b1100),
        ("orp @p3, @p1, @p2", 3, 0b1101),
        ("xorp @p3, @p0, @p2", 3, 0b0010),
        ("notp @p3, @p0", 3, 0b0001),
    ] {
        assert_eq!(bench.run(source), Ok(Flow::Next));
        assert_eq!(bench.regs.pred(p), expected, "{source}");
    }
    // Only effective lanes change: @p0 = 1110, so lane 0 keeps its old @p3.
    bench.run("@p0 ? xorp @p3, @p3, @p3").unwrap();
    assert_eq!(bench.regs.pred(3), 0b0001);
}

#[test]
fn floats() {
    let mut bench = Bench::new("4w8/1");
    bench.row(1, [F(1.5), F(-2.0), F(0.0), F(3e38)]).row(2, [F(2.0), F(0.5), F(0.0), F(3e38)]);
    for (source, expected) in [
        ("fadd %r3, %r1, %r2", [F(3.5), F(-1.5), F(0.0), F(f32::INFINITY)]),
        ("fsub %r3, %r1, %r2", [F(-0.5), F(-2.5), F(0.0), F(0.0)]),
        ("fmul %r3, %r1, %r2", [F(3.0), F(-1.0), F(0.0), F(f32::INFINITY)]),
        ("fneg %r3, %r1", [F(-1.5), F(2.0), F(-0.0), F(-3e38)]),
        ("ftoi %r3, %r1", [1, 0xffff_fffe, 0, 0x7fff_ffff]),
    ] {
        assert_eq!(bench.run(source), Ok(Flow::Next));
        assert_eq!(bench.read(3), expected, "{source}");
    }
    bench.run("fdiv %r3, %r1, %r2").unwrap();
    assert_eq!(bench.read(3)[..2], [F(0.75), F(-4.0)]);
    assert!(f32::from_bits(bench.read(3)[2] as u32).is_nan());
    bench.row(1, [0, 5, 0xffff_ffff, 1 << 24]);
    bench.run("itof %r3, %r1").unwrap();
    assert_eq!(bench.read(3), [F(0.0), F(5.0), F(-1.0), F(16_777_216.0)], "integers are signed");
}

#[test]
fn memory_and_console() {
    let mut bench = Bench::new("4w8/1");
    bench.row(1, [16, 20, 24, 28]).row(2, [0x1122_3344, 2, 3, 4]);
    bench.run("st %r2, %r1, #4").unwrap();
    assert_eq!(bench.bus.bytes[20..25], [0x44, 0x33, 0x22, 0x11, 2]);
    bench.run("ld %r3, %r1, #4").unwrap();
    assert_eq!(bench.read(3), [0x1122_3344, 2, 3, 4]);
    // Unaligned accesses end at the word boundary.
    bench.run_in("ld %r3, %r1, #5", 1).unwrap();
    assert_eq!(bench.read(3)[0], 0x0011_2233);
    bench.run_in("st %r2, %r1, #7", 1).unwrap();
    assert_eq!(bench.bus.bytes[23..25], [0x44, 2]);
    // The base register may be the destination, and a fault writes nothing.
    bench.row(1, [20, 20, 9999, 20]);
    assert!(matches!(bench.run("ld %r1, %r1, #0"), Err(Trap::Memory(fault)) if fault.addr == 9999));
    assert_eq!(bench.read(1), [20, 20, 9999, 20]);
    bench.row(1, [0x8000_0000; 4]).row(2, [u64::from(b'a'), u64::from(b'b'), u64::from(b'c'), 10]);
    bench.run_in("st %r2, %r1, #0", 0b1011).unwrap();
    assert_eq!(bench.bus.console, "ab\n");
    let error = bench.run("ld %r3, %r1, #0").unwrap_err().to_string();
    assert!(error.contains("no console input"), "{error}");
}

#[test]
fn jumps() {
    let mut bench = Bench::new("4w8/2");
    assert_eq!(bench.run("jmpi #8"), Ok(Flow::Jump(11)));
    assert_eq!(bench.run("jmpi #-36"), Ok(Flow::Jump(0)));
    assert_eq!(bench.run("jmpi #2"), Err(Trap::BadTarget { addr: 38 }));
    assert_eq!(bench.run("jali %r7, #8"), Ok(Flow::Jump(11)));
    assert_eq!(bench.read(7), [36; 4]);
    bench.row(1, [64; 4]).row(2, [64, 64, 68, 64]);
    assert_eq!(bench.run("jmpr %r1"), Ok(Flow::Jump(16)));
    assert_eq!(
        bench.run("jalr %r1, %r1"),
        Ok(Flow::Jump(16)),
        "the target is read before the link is written"
    );
    assert_eq!(bench.read(1), [36; 4]);
    assert_eq!(bench.run("jmpr %r2"), Err(Trap::Divergent), "lanes hold different targets");
    assert_eq!(bench.run_in("jmpr %r2", 0b1011), Ok(Flow::Jump(16)));
    // Predicated: none, some, all.
    assert_eq!(bench.run("@p1 ? jmpi #8"), Ok(Flow::Next));
    bench.regs.set_pred(1, 0b0110);
    assert_eq!(bench.run("@p1 ? jmpi #8"), Ok(Flow::Branch { taken: 0b0110, target: 11 }));
    assert_eq!(bench.run_in("@p1 ? jmpi #8", 0b0010), Ok(Flow::Jump(11)));
    bench.row(7, [0; 4]);
    assert_eq!(bench.run("@p1 ? jali %r7, #8"), Ok(Flow::Branch { taken: 0b0110, target: 11 }));
    assert_eq!(bench.read(7), [0, 36, 36, 0]);
    // In the byte encoding pcs are addresses.
    assert_eq!(Bench::new("4b8/1").run("jmpi #8"), Ok(Flow::Jump(8 + 6 + 8)));
}

#[test]
fn lanes_are_started_and_ended() {
    let mut bench = Bench::new("4w8/2");
    bench.row(1, [2; 4]).row(2, [64; 4]).row(3, [5, 0, 0, 0]);
    bench.regs.set_pred(1, 0b0101);
    assert_eq!(bench.run_in("clone %r1", 1), Ok(Flow::Next));
    assert_eq!(bench.read(3), [5, 0, 5, 0]);
    assert_eq!(bench.regs.pred(1), 0b0101, "predicates are not copied");
    let enter = |pc, mask| Ok(Flow::Enter { pc, mask, why: EnterWhy::Lanes });
    assert_eq!(bench.run_in("jalis %r7, %r1, #8", 1), enter(11, 0b11));
    assert_eq!(bench.read(7), [36, 0, 0, 0]);
    assert_eq!(bench.run_in("jalrs %r7, %r1, %r2", 1), enter(16, 0b11));
    assert_eq!(bench.row(2, [64, 0, 1, 2]).run("jmprt %r2"), enter(16, 1), "the first lane decides");
    bench.row(2, [64; 4]);
    assert_eq!(bench.run("@p1 ? clone %r1"), Err(Trap::Divergent));
    assert_eq!(bench.run("@p1 ? jalis %r7, %r1, #8"), Err(Trap::Divergent));
    for (count, source, text) in [
        (0, "jalis %r7, %r1, #8", "asks for 0 lanes"),
        (5, "jalrs %r7, %r1, %r2", "asks for 5 lanes"),
        (4, "clone %r1", "lane 4"),
    ] {
        let error = bench.row(1, [count; 4]).run_in(source, 1).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    assert_eq!(bench.run("halt"), Ok(Flow::Exit { lanes: ALL }));
    assert_eq!(bench.run("@p1 ? halt"), Ok(Flow::Exit { lanes: 0b0101 }));
    assert_eq!(bench.run("@p0 ? halt"), Ok(Flow::Next));
}

#[test]
fn waves_and_mechanisms() {
    let mut bench = Bench::new("4w8/2");
    bench.row(1, [64, 0, 0, 0]).row(2, [9, 1, 1, 1]);
    assert_eq!(bench.run("wspawn %r5, %r1, %r2"), Ok(Flow::Spawn { pc: 16, reg: 5, value: 9 }));
    assert_eq!(bench.run_in("bar %r1, %r2", 0b0011), Ok(Flow::Barrier { id: 64, count: 9 }));
    bench.regs.set_pred(0, 0b0011);
    bench.regs.set_pred(1, 0b1100);
    assert_eq!(bench.run_in("split", 0b0110), Ok(Flow::Split { taken: 0b0010 }));
    assert_eq!(bench.run_in("@p1 ? split", 0b0011), Ok(Flow::Split { taken: 0 }));
    assert_eq!(bench.run_in("@p1 ? join", 0b0011), Ok(Flow::Join));
}

#[test]
fn waves_start_with_their_identity() {
    let mut bench = Bench::new("4w8/2");
    assert_eq!(bench.read(0), [4 << 16 | 3, 0, 0, 0]);
    bench.regs.set_pred(0, ALL);
    let spawned = WaveStart { wave: 1, lanes: 4, spawned: Some((6, 42)), ..WaveStart::default() };
    bench.harp.start(&mut bench.regs, &spawned);
    assert_eq!(bench.read(6), [42, 0, 0, 0]);
    assert_eq!(bench.regs.pred(0), 0);
    assert!(!bench.regs.supervisor());
    assert_eq!(
        bench.run("di"),
        Err(Trap::Interrupt { number: 3, name: "privileged instruction in user mode" })
    );
    assert_eq!(bench.harp.dump(&bench.regs, 0)[6], ("%r6".to_string(), 42));
    assert_eq!(bench.harp.dump(&bench.regs, 0)[9], ("@p1".to_string(), 0));
}

#[test]
fn interrupts() {
    let mut bench = Bench::new("4w8/2");
    let enter = |pc, mask| Ok(Flow::Enter { pc, mask, why: EnterWhy::Interrupt });
    let back = |pc, mask| Ok(Flow::Enter { pc, mask, why: EnterWhy::Return });
    assert_eq!(bench.run("trap"), Err(Trap::Interrupt { number: 0, name: "trap" }), "no handler yet");
    bench.row(1, [400; 4]).row(2, [0; 4]).row(4, [1, 2, 3, 4]);
    bench.run("skep %r1").unwrap();
    bench.regs.set_pred(1, 0b0101);

    // Division by zero in one lane writes no lane and returns behind the instruction.
    bench.row(3, [1, 1, 0, 1]);
    assert_eq!(bench.run("div %r4, %r4, %r3"), enter(100, 1));
    assert_eq!(bench.read(4), [1, 2, 3, 4]);
    assert_eq!(bench.read(0)[0], 5);
    assert_eq!(bench.run("divi %r4, %r4, #0"), Err(Trap::Interrupt { number: 5, name: "division by zero" }));
    // The handler may use lane 0 freely.
    bench.run_in("ldi %r4, #99", 1).unwrap();
    bench.run_in("notp @p1, @p1", 1).unwrap();
    assert_eq!(bench.run_in("reti", 1), back(9, ALL));
    assert_eq!(bench.read(4), [1, 2, 3, 4]);
    assert_eq!(bench.regs.pred(1), 0b0101);
    assert_eq!(bench.read(0)[0], 4 << 16 | 3);
    assert!(bench.run("reti").unwrap_err().to_string().contains("without an interrupt"));

    // A divergent control instruction returns to itself.
    assert_eq!(bench.run("@p1 ? jmprt %r1"), enter(100, 1));
    assert_eq!(bench.run_in("reti", 1), back(PC, ALL));
    // A branch only where the mechanism forbids it, and then before the link is written.
    bench.row(7, [99; 4]);
    assert_eq!(bench.run_under("@p1 ? jali %r7, #8", 0b0110, false), enter(100, 1));
    assert_eq!(bench.read(7), [99; 4]);
    assert_eq!(bench.run_in("reti", 1), back(PC, 0b0110));

    // User mode: privileged instructions raise 3, the handler runs as supervisor.
    assert_eq!(bench.run("jmpru %r1"), Ok(Flow::Jump(100)));
    assert!(!bench.regs.supervisor());
    assert_eq!(bench.run("ei"), enter(100, 1));
    assert_eq!(bench.read(0)[0], 3);
    assert!(bench.regs.supervisor());
    bench.run_in("reti", 1).unwrap();
    assert!(!bench.regs.supervisor());
    assert_eq!(bench.run("trap"), enter(100, 1));
    assert_eq!(bench.read(0)[0], 0);

    // Disabled interrupts end the run.
    let mut bench = Bench::new("4w8/2");
    bench.row(1, [400; 4]).run("skep %r1").unwrap();
    bench.run("di").unwrap();
    assert!(bench.run("trap").is_err());
    bench.run("ei").unwrap();
    assert_eq!(bench.run("trap"), enter(100, 1));
}
