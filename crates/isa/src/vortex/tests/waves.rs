//! The Vortex extension and the CSRs: what control flow an instruction asks for, and what lanes tell each other.

use super::machine::{BASE, Machine, three};
use crate::vortex::{CSRS, Inst, Op};
use crate::{EnterWhy, Flow, Isa};

#[test]
fn lanes_and_waves() {
    let mut m = Machine::masked(8, 0b0110_0110);
    // The last active lane decides: lane 6.
    m.set(1, &[1, 1, 1, 1, 1, 1, 0x1_ff03, 9]);
    m.set(2, &[0, 0, 0, 0, 0, 0, BASE + 8, 0]);
    let tmc = Inst { rs1: 1, ..Inst::new(Op::Tmc) };
    assert_eq!(m.exec(tmc), Ok(Flow::Enter { pc: 17, mask: 3, why: EnterWhy::Lanes }));
    assert_eq!(m.exec(Inst { rs1: 0, ..tmc }), Ok(Flow::Exit { lanes: 0b0110_0110 }));
    m.set(1, &[0x100; 8]);
    assert!(m.exec(tmc).unwrap_err().to_string().contains("8 lanes"));
    let spawn = Inst { rd: 0, ..three(Op::Wspawn) };
    assert!(m.exec(spawn).unwrap_err().to_string().contains("wave 1"), "only wave 0 may");
    let mut zero = Machine::new(1);
    zero.isa.start(&mut zero.regs, &crate::WaveStart { lanes: 1, ..crate::WaveStart::default() });
    zero.set(1, &[4]);
    zero.set(2, &[BASE + 8]);
    assert_eq!(zero.exec(spawn), Ok(Flow::SpawnWaves { pc: 2, count: 4 }));
    zero.set(2, &[BASE + 6]);
    assert!(zero.exec(spawn).is_err());
    m.set(1, &[5; 8]);
    m.set(2, &[3; 8]);
    let bar = Inst { rd: 0, ..three(Op::Bar) };
    assert_eq!(m.exec(bar), Ok(Flow::Barrier { id: 5, count: 3 }));
    m.set(1, &[0x8000_0000; 8]);
    assert!(m.exec(bar).unwrap_err().to_string().contains("across cores"));
}

#[test]
fn split_join_and_predicate() {
    let mut m = Machine::masked(8, 0x7e);
    m.set(1, &[1, 1, 2, 3, 4, 5, 6, 7]);
    m.set(3, &[0xdead; 8]);
    let split = Inst { rs2: 0, ..three(Op::Split) };
    assert_eq!(m.exec(split), Ok(Flow::Split { taken: 0b0010_1010 }), "bit 0 of the active lanes");
    assert_eq!(m.row(3), [0xdead, 3, 3, 3, 3, 3, 3, 0xdead], "the depth before");
    assert_eq!(m.exec(Inst { op: Op::SplitN, rd: 0, ..split }), Ok(Flow::Split { taken: 0b0101_0100 }));
    m.set(1, &[0, 0, 0, 0, 0, 0, 2, 9]);
    assert_eq!(m.exec(Inst { rs1: 1, ..Inst::new(Op::Join) }), Ok(Flow::JoinTo { depth: 2 }));
    m.set(1, &[1, 0, 1, 0, 0, 0, 0, 0]);
    m.set(2, &[0, 0, 0, 0, 0, 0, 0x7e, 0]);
    let pred = Inst { rd: 0, ..three(Op::Pred) };
    assert_eq!(m.exec(pred), Ok(Flow::Predicate { keep: 0b100, restore: 0x7e }));
    let not = Inst { op: Op::PredN, ..pred };
    assert_eq!(m.exec(not), Ok(Flow::Predicate { keep: 0b0111_1010, restore: 0x7e }));
    m.set(1, &[0; 8]);
    m.set(2, &[0; 8]);
    assert!(m.exec(pred).unwrap_err().to_string().contains("no lane"));
}

#[test]
fn votes() {
    for (votes, mask, all, any, uniform, ballot) in [
        (0b0101, 0xf, 0, 1, 0, 5),
        (0xf, 0xf, 1, 1, 1, 0xf),
        (0, 0xf, 0, 0, 1, 0),
        (0b0101, 0b0101, 1, 1, 1, 5),
        (0xa, 5, 0, 0, 1, 0),
    ] {
        let mut m = Machine::masked(4, mask);
        m.set(1, &std::array::from_fn::<u32, 4, _>(|l| votes >> l & 1 | 6));
        for (op, want) in
            [(Op::VoteAll, all), (Op::VoteAny, any), (Op::VoteUni, uniform), (Op::VoteBallot, ballot)]
        {
            m.set(3, &[0xdead; 4]);
            m.run(Inst { rs2: 0, ..three(op) });
            let row: Vec<u32> = (0..4).map(|l| if mask >> l & 1 == 1 { want } else { 0xdead }).collect();
            assert_eq!(m.row(3), row, "{op:?} of {votes:b} under {mask:b}");
        }
    }
}

#[test]
fn shuffles() {
    let control = |b: u32, c: u32, mask: u32| mask << 12 | c << 6 | b;
    let run = |op: Op, control: u32| {
        let mut m = Machine::new(8);
        m.set(1, &[10, 11, 12, 13, 14, 15, 16, 17]);
        m.set(2, &[control; 8]);
        m.run(three(op));
        m.row(3)
    };
    // Whole wave: no mask bits, last lane 7.
    assert_eq!(run(Op::ShflUp, control(2, 7, 0)), [10, 11, 10, 11, 12, 13, 14, 15]);
    assert_eq!(run(Op::ShflDown, control(3, 7, 0)), [13, 14, 15, 16, 17, 15, 16, 17]);
    assert_eq!(run(Op::ShflBfly, control(1, 7, 0)), [11, 10, 13, 12, 15, 14, 17, 16]);
    assert_eq!(run(Op::ShflIdx, control(5, 7, 0)), [15; 8]);
    // Segments of four: the mask keeps the upper bits of the lane number.
    assert_eq!(run(Op::ShflUp, control(1, 7, 0x3c)), [10, 10, 11, 12, 14, 14, 15, 16]);
    assert_eq!(run(Op::ShflDown, control(1, 7, 0x3c)), [11, 12, 13, 13, 15, 16, 17, 17]);
    assert_eq!(run(Op::ShflIdx, control(2, 7, 0x3c)), [12, 12, 12, 12, 16, 16, 16, 16]);
    // Beyond the wave: the own value.
    assert_eq!(run(Op::ShflDown, control(6, 63, 0)), [16, 17, 12, 13, 14, 15, 16, 17]);
}

#[test]
fn csrs_say_who_a_lane_is() {
    let mut m = Machine::masked(4, 0b1101);
    let mut read = |name: &str| {
        let number = crate::vortex::csr_number(name).expect(name);
        m.set(3, &[0xdead; 4]);
        m.run(Inst { rd: 3, imm: number as i32, ..Inst::new(Op::Csrrs) });
        assert_eq!(m.row(3)[1], 0xdead, "lane 1 is off");
        m.row(3)
    };
    assert_eq!(read("vx_thread_id"), [0, 0xdead, 2, 3]);
    // Core 1 of cores with 4 waves, wave 1, 4 lanes.
    assert_eq!(read("mhartid"), [20, 0xdead, 22, 23]);
    for (name, value) in [
        ("vx_wave_id", 1),
        ("vx_core_id", 1),
        ("vx_active_waves", 0b1011),
        ("vx_active_threads", 0b1101),
        ("vx_num_threads", 4),
        ("vx_num_waves", 4),
        ("vx_num_cores", 2),
        ("vx_local_base", 0xffff_0000),
        ("mscratch", 0x1_0000),
        ("mcycle", 7),
        ("mcycleh", 5),
        ("cycle", 7),
        ("fcsr", 0),
        ("minstreth", 0),
    ] {
        assert_eq!(read(name)[0], value, "{name}");
    }
    let before = read("minstret")[0];
    assert_eq!(read("instret")[0], before + 1);
}

#[test]
fn csrs_that_can_be_written() {
    let mut m = Machine::new(4);
    m.set(1, &[0x00, 0x1f, 0x61, 0xff]);
    let fcsr = |op, rd| Inst { rd, rs1: 1, imm: 3, ..Inst::new(op) };
    m.run(fcsr(Op::Csrrw, 0));
    m.run(Inst { rd: 3, imm: 3, ..Inst::new(Op::Csrrs) });
    assert_eq!(m.row(3), [0, 0x1f, 0x61, 0xff]);
    m.run(Inst { rd: 3, imm: 2, ..Inst::new(Op::Csrrs) });
    assert_eq!(m.row(3), [0, 0, 3, 7]);
    m.run(Inst { rd: 3, rs1: 2, imm: 1, ..Inst::new(Op::Csrrci) });
    assert_eq!(m.row(3), [0, 0x1f, 1, 0x1f], "the old value");
    m.run(Inst { rd: 3, rs1: 4, imm: 1, ..Inst::new(Op::Csrrsi) });
    assert_eq!(m.row(3), [0, 0x1d, 1, 0x1d]);
    m.run(Inst { rd: 3, rs1: 31, imm: 1, ..Inst::new(Op::Csrrwi) });
    assert_eq!(m.row(3), [4, 0x1d, 5, 0x1d]);
    m.run(Inst { rd: 3, rs1: 1, imm: 0x340, ..Inst::new(Op::Csrrc) });
    m.run(Inst { rd: 3, imm: 0x340, ..Inst::new(Op::Csrrs) });
    assert_eq!(m.row(3), [0x1_0000, 0x1_0000, 0x1_0000, 0x1_0000]);
    for &(number, name, _, writable) in CSRS {
        let set = Inst { rs1: 1, imm: number as i32, ..Inst::new(Op::Csrrs) };
        assert_eq!(m.exec(set).is_ok(), writable, "{name}");
    }
    let text = m.exec(Inst { imm: 0x7c0, ..Inst::new(Op::Csrrs) }).unwrap_err().to_string();
    assert!(text.contains("no CSR 0x7c0"), "{text}");
}

#[test]
fn jumps_through_registers_must_agree() {
    let mut m = Machine::masked(4, 0b0110);
    m.set(1, &[0, BASE, BASE, 4]);
    let jump = Inst { rs1: 1, imm: 4, ..Inst::new(Op::Jalr) };
    assert_eq!(m.exec(jump), Ok(Flow::Jump(1)));
    m.set(1, &[BASE, BASE, BASE + 4, BASE]);
    assert_eq!(m.exec(jump), Err(crate::Trap::Divergent));
    m.set(1, &[4; 4]);
    assert!(matches!(m.exec(jump), Err(crate::Trap::BadTarget { addr: 8 })));
}
