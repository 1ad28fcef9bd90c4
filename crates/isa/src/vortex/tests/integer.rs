//! Integer instructions against 64-bit and 128-bit arithmetic, with operands at the ends of the range.

use super::machine::{BASE, Machine, Random, three};
use crate::vortex::{Inst, Op};

type Reference = fn(i128, i128, i128, i128) -> i128;

/// Signed and unsigned values of both operands; the result is cut to 32 bits.
#[rustfmt::skip]
const REGISTER: &[(Op, Reference)] = &[
    (Op::Add,    |a, b, _, _| a + b),
    (Op::Sub,    |a, b, _, _| a - b),
    (Op::Sll,    |a, _, _, ub| a << (ub % 32)),
    (Op::Slt,    |a, b, _, _| i128::from(a < b)),
    (Op::Sltu,   |_, _, a, b| i128::from(a < b)),
    (Op::Xor,    |a, b, _, _| a ^ b),
    (Op::Srl,    |_, _, a, b| a >> (b % 32)),
    (Op::Sra,    |a, _, _, b| a >> (b % 32)),
    (Op::Or,     |a, b, _, _| a | b),
    (Op::And,    |a, b, _, _| a & b),
    (Op::CzeroEqz, |a, b, _, _| a * i128::from(b != 0)),
    (Op::CzeroNez, |a, b, _, _| a * i128::from(b == 0)),
    (Op::Mul,    |a, b, _, _| a * b),
    (Op::Mulh,   |a, b, _, _| (a * b) >> 32),
    (Op::Mulhsu, |a, _, _, b| (a * b) >> 32),
    (Op::Mulhu,  |_, _, a, b| (a * b) >> 32),
    (Op::Div,    |a, b, _, _| if b == 0 { -1 } else { a / b }),
    (Op::Divu,   |_, _, a, b| if b == 0 { u32::MAX.into() } else { a / b }),
    (Op::Rem,    |a, b, _, _| if b == 0 { a } else { a % b }),
    (Op::Remu,   |_, _, a, b| if b == 0 { a } else { a % b }),
];

#[rustfmt::skip]
const IMMEDIATE: &[(Op, Op)] = &[
    (Op::Addi, Op::Add), (Op::Slti, Op::Slt), (Op::Sltiu, Op::Sltu), (Op::Xori, Op::Xor), (Op::Ori, Op::Or),
    (Op::Andi, Op::And), (Op::Slli, Op::Sll), (Op::Srli, Op::Srl), (Op::Srai, Op::Sra),
];

fn expected(op: Op, a: u32, b: u32) -> u32 {
    let reference = REGISTER.iter().find(|r| r.0 == op).expect("reference").1;
    let signed = |x: u32| i128::from(x as i32);
    reference(signed(a), signed(b), a.into(), b.into()) as u32
}

#[test]
fn register_instructions() {
    let mut random = Random(1);
    for &(op, _) in REGISTER {
        for round in 0..200 {
            let mask = if round == 0 { u64::MAX >> 32 } else { random.next() & 0xffff_ffff };
            let mut m = Machine::masked(32, mask);
            let a: Vec<u32> = (0..32).map(|_| random.integer()).collect();
            let b: Vec<u32> = (0..32).map(|_| random.integer()).collect();
            m.set(1, &a);
            m.set(2, &b);
            m.set(3, &[0xdead; 32]);
            m.run(three(op));
            for lane in 0..32 {
                let want = if mask >> lane & 1 == 1 { expected(op, a[lane], b[lane]) } else { 0xdead };
                assert_eq!(m.row(3)[lane], want, "{op:?} {:x} {:x}", a[lane], b[lane]);
            }
            // The destination may be a source, and x0 stays 0.
            m.run(Inst { rd: 1, ..three(op) });
            m.run(Inst { rd: 0, ..three(op) });
            assert_eq!(m.row(0), [0; 32]);
        }
    }
}

#[test]
fn immediate_instructions() {
    let mut random = Random(2);
    for &(op, same) in IMMEDIATE {
        let shift = matches!(op, Op::Slli | Op::Srli | Op::Srai);
        for _ in 0..400 {
            let mut m = Machine::new(8);
            let a: Vec<u32> = (0..8).map(|_| random.integer()).collect();
            m.set(1, &a);
            let imm = match random.below(4) {
                _ if shift => random.below(32) as i32,
                0 => -2048,
                1 => 2047,
                _ => random.below(4096) as i32 - 2048,
            };
            m.run(Inst { imm, ..three(op) });
            let want: Vec<u32> = a.iter().map(|&a| expected(same, a, imm as u32)).collect();
            assert_eq!(m.row(3), want, "{op:?} {imm}");
        }
    }
}

#[test]
fn edges_by_hand() {
    let one = |op: Op, a: u32, b: u32| {
        let mut m = Machine::new(1);
        m.set(1, &[a]);
        m.set(2, &[b]);
        m.run(three(op));
        m.row(3)[0]
    };
    let least = 0x8000_0000;
    assert_eq!(one(Op::Div, least, u32::MAX), least, "overflow wraps");
    assert_eq!(one(Op::Rem, least, u32::MAX), 0);
    assert_eq!(one(Op::Div, 7, 0), u32::MAX);
    assert_eq!(one(Op::Divu, 7, 0), u32::MAX);
    assert_eq!(one(Op::Rem, 7, 0), 7);
    assert_eq!(one(Op::Rem, (-7i32) as u32, 2), u32::MAX, "the sign of the dividend");
    assert_eq!(one(Op::Div, (-7i32) as u32, 2), (-3i32) as u32, "towards zero");
    assert_eq!(one(Op::Mulh, least, least), 0x4000_0000);
    assert_eq!(one(Op::Mulhsu, u32::MAX, u32::MAX), u32::MAX);
    assert_eq!(one(Op::Sll, 1, 33), 2, "five bits of the amount");
    assert_eq!(one(Op::Sra, least, 31), u32::MAX);
}

#[test]
fn upper_immediates_and_links() {
    let mut m = Machine::new(4);
    let here = BASE + 4 * m.at.pc;
    m.run(Inst { rd: 3, imm: 0xfffff, ..Inst::new(Op::Lui) });
    assert_eq!(m.row(3), [0xffff_f000; 4]);
    m.run(Inst { rd: 3, imm: 0x80001, ..Inst::new(Op::Auipc) });
    assert_eq!(m.row(3), [here.wrapping_add(0x8000_1000); 4]);
    let jal = Inst { rd: 1, imm: -8, ..Inst::new(Op::Jal) };
    assert_eq!(m.exec(jal), Ok(crate::Flow::Jump(m.at.pc - 2)));
    assert_eq!(m.row(1), [here + 4; 4]);
    // The link may be the base.
    m.set(1, &[BASE + 9; 4]);
    assert_eq!(m.exec(Inst { rd: 1, rs1: 1, imm: -4, ..Inst::new(Op::Jalr) }), Ok(crate::Flow::Jump(1)));
    assert_eq!(m.row(1), [here + 4; 4]);
    assert!(m.exec(Inst { imm: 2, ..Inst::new(Op::Jal) }).is_err(), "no instruction at half a word");
}

#[test]
fn branches_take_the_lanes_for_which_they_hold() {
    let mut random = Random(4);
    type Holds = fn(u32, u32) -> bool;
    let conditions: [(Op, Holds); 6] = [
        (Op::Beq, |a, b| a == b),
        (Op::Bne, |a, b| a != b),
        (Op::Blt, |a, b| (a as i32) < b as i32),
        (Op::Bge, |a, b| (a as i32) >= b as i32),
        (Op::Bltu, |a, b| a < b),
        (Op::Bgeu, |a, b| a >= b),
    ];
    for (op, holds) in conditions {
        for _ in 0..300 {
            let mut m = Machine::masked(16, random.next() & 0xffff | 1);
            m.at.may_diverge = true;
            let a: Vec<u32> = (0..16).map(|_| random.integer()).collect();
            let b: Vec<u32> =
                a.iter().map(|&a| if random.below(2) == 0 { a } else { random.integer() }).collect();
            m.set(1, &a);
            m.set(2, &b);
            let taken =
                (0..16).filter(|&l| m.at.mask >> l & 1 == 1 && holds(a[l], b[l])).fold(0, |t, l| t | 1 << l);
            let inst = Inst { rd: 0, imm: 12, ..three(op) };
            let want = match taken {
                0 => crate::Flow::Next,
                t if t == m.at.mask => crate::Flow::Jump(m.at.pc + 3),
                t => crate::Flow::Branch { taken: t, target: m.at.pc + 3 },
            };
            assert_eq!(m.exec(inst), Ok(want), "{op:?}");
            m.at.may_diverge = false;
            let disagree = matches!(want, crate::Flow::Branch { .. });
            assert_eq!(m.exec(inst).is_err(), disagree, "{op:?} without a mechanism for it");
        }
    }
}
