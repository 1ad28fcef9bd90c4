//! Loads, stores, atomics, console and local memory.

use super::machine::{Machine, Random, three};
use crate::Flow;
use crate::vortex::{Inst, LOCAL, Op};

fn load(op: Op, imm: i32) -> Inst {
    Inst { imm, rs2: 0, ..three(op) }
}

#[test]
fn loads_extend_and_stores_cut() {
    let mut m = Machine::masked(8, 0x7f);
    m.bus.bytes[256..264].copy_from_slice(&[0x80, 0xff, 0x7f, 0x80, 1, 2, 3, 0x84]);
    m.set(1, &[260; 8]);
    let mut value = |op, imm| {
        m.set(3, &[0xdead; 8]);
        m.run(load(op, imm));
        assert_eq!(m.row(3)[7], 0xdead, "lane 7 is off");
        m.row(3)[0]
    };
    assert_eq!(value(Op::Lb, -4), 0xffff_ff80);
    assert_eq!(value(Op::Lbu, -4), 0x80);
    assert_eq!(value(Op::Lh, -2), 0xffff_807f);
    assert_eq!(value(Op::Lhu, -2), 0x807f);
    assert_eq!(value(Op::Lw, 0), 0x8403_0201);
    m.run(load(Op::Flw, -4));
    assert_eq!(m.row(35)[0], 0x807f_ff80);
    let addresses: Vec<u32> = (0..8).map(|l| 512 + 8 * l).collect();
    m.set(1, &addresses);
    m.set(2, &[0x1234_5678; 8]);
    m.set(34, &[0xaabb_ccdd; 8]);
    m.run(Inst { imm: 1, ..three(Op::Sb) });
    m.run(Inst { imm: 2, ..three(Op::Sh) });
    m.run(Inst { imm: 4, ..three(Op::Fsw) });
    assert_eq!(m.bus.bytes[512..520], [0, 0x78, 0x78, 0x56, 0xdd, 0xcc, 0xbb, 0xaa]);
    assert_eq!(m.bus.bytes[568..576], [0; 8], "lane 7 is off");
    m.run(Inst { imm: 0, ..three(Op::Sw) });
    assert_eq!(m.bus.bytes[512..516], [0x78, 0x56, 0x34, 0x12]);
    // A load into x0 still has to be possible.
    m.set(1, &[1 << 20; 8]);
    assert!(m.exec(Inst { rd: 0, ..load(Op::Lw, 0) }).is_err());
}

#[test]
fn misaligned_accesses_name_the_address() {
    for (op, addr) in
        [(Op::Lh, 101), (Op::Lw, 102), (Op::Sh, 103), (Op::Sw, 101), (Op::AmoAdd, 106), (Op::Flw, 99)]
    {
        let mut m = Machine::new(4);
        m.set(1, &[128, addr, 128, 128]);
        let text = m.exec(Inst { imm: 0, ..three(op) }).unwrap_err().to_string();
        assert!(text.contains(&format!("{addr:#x}")) && text.contains("not aligned"), "{text}");
        m.at.mask = 0b1101;
        m.run(Inst { imm: 0, ..three(op) });
    }
}

#[test]
fn atomics_go_lane_by_lane() {
    type Combine = fn(u32, u32) -> u32;
    let cases: [(Op, Combine); 9] = [
        (Op::AmoSwap, |_, b| b),
        (Op::AmoAdd, |a, b| a.wrapping_add(b)),
        (Op::AmoXor, |a, b| a ^ b),
        (Op::AmoAnd, |a, b| a & b),
        (Op::AmoOr, |a, b| a | b),
        (Op::AmoMin, |a, b| (a as i32).min(b as i32) as u32),
        (Op::AmoMax, |a, b| (a as i32).max(b as i32) as u32),
        (Op::AmoMinu, u32::min),
        (Op::AmoMaxu, u32::max),
    ];
    let mut random = Random(9);
    for (op, f) in cases {
        for _ in 0..50 {
            let mut m = Machine::masked(8, random.next() & 0xff | 2);
            let data: Vec<u32> = (0..8).map(|_| random.integer()).collect();
            let first = random.integer();
            m.bus.bytes[64..68].copy_from_slice(&first.to_le_bytes());
            m.set(1, &[64; 8]);
            m.set(2, &data);
            m.set(3, &[0xdead; 8]);
            m.run(Inst { rm: 3, ..three(op) });
            let mut now = first;
            for (lane, &value) in data.iter().enumerate() {
                let on = m.at.mask >> lane & 1 == 1;
                assert_eq!(m.row(3)[lane], if on { now } else { 0xdead }, "{op:?} lane {lane}");
                now = if on { f(now, value) } else { now };
            }
            assert_eq!(m.bus.bytes[64..68], now.to_le_bytes(), "{op:?}");
        }
    }
}

/// Lanes that reserved the same word: one store succeeds; without a reservation none does.
#[test]
fn store_conditional_succeeds_once() {
    let mut m = Machine::new(4);
    m.set(1, &[64, 64, 64, 128]);
    m.set(2, &[11, 12, 13, 14]);
    let (lr, sc) = (Inst { rs2: 0, ..three(Op::LrW) }, three(Op::ScW));
    m.run(sc);
    assert_eq!(m.row(3), [1; 4], "nothing reserved");
    m.run(lr);
    assert_eq!(m.row(3), [0; 4]);
    m.run(sc);
    assert_eq!(m.row(3), [0, 1, 1, 0]);
    assert_eq!((m.bus.bytes[64], m.bus.bytes[128]), (11, 14));
    m.run(sc);
    assert_eq!(m.row(3), [1; 4], "a reservation is used up");
    m.run(lr);
    m.set(1, &[128, 64, 64, 64]);
    m.run(sc);
    assert_eq!(m.row(3), [1, 0, 1, 1], "another address, or somebody was first");
}

#[test]
fn console_and_local_memory() {
    let mut m = Machine::new(2);
    m.set(1, &[0x40, 0x7f]);
    m.set(2, &[0x1_0048, 0x49]);
    m.run(Inst { imm: 0, ..three(Op::Sb) });
    assert_eq!(m.bus.text, [(0, b'H'), (63, b'I')]);
    // One lane in local memory, one in memory; this is core 1.
    m.set(1, &[LOCAL + 8, 8]);
    m.set(2, &[5, 6]);
    m.run(Inst { imm: 0, ..three(Op::Sw) });
    assert_eq!((m.bus.local[(1 << 16) + 8], m.bus.bytes[8]), (5, 6));
    m.run(load(Op::Lw, 0));
    assert_eq!(m.row(3), [5, 6]);
    m.run(load(Op::Lbu, 0));
    m.run(Inst { imm: 0, ..three(Op::AmoAdd) });
    assert_eq!((m.row(3), m.bus.local[(1 << 16) + 8]), (vec![5, 6], 10));
    m.set(1, &[LOCAL + 256, 8]);
    let text = m.exec(load(Op::Lw, 0)).unwrap_err().to_string();
    assert!(text.contains("local memory has 256 bytes") && text.contains("0xffff0100"), "{text}");
}

#[test]
fn fences_do_nothing_and_calls_to_a_system_are_errors() {
    let mut m = Machine::new(1);
    assert_eq!(m.exec(Inst::new(Op::Fence)), Ok(Flow::Next));
    assert_eq!(m.exec(Inst::new(Op::FenceI)), Ok(Flow::Next));
    for op in [Op::Ecall, Op::Ebreak] {
        assert!(m.exec(Inst::new(op)).unwrap_err().to_string().contains("vx_tmc zero"));
    }
}
