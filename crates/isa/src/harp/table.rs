//! The opcode table: one line per instruction, from which assembler, encoders, decoders, disassembler
//! and static facts follow. Only the meaning is elsewhere (`exec`).

/// What an operand position holds and whether the instruction reads or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// General-purpose register, written.
    Dest,
    /// General-purpose register, read.
    Src,
    /// Predicate register, written.
    PredDest,
    /// Predicate register, read.
    PredSrc,
    /// Immediate; always the last operand.
    Imm,
}

/// Index of a timing class name in [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Alu,
    Mul,
    Div,
    Fp,
    FpDiv,
    Mem,
    Control,
    System,
}

pub const CLASSES: &[&str] = &["alu", "mul", "div", "fp", "fpdiv", "mem", "control", "system"];

/// Opcodes in the order of their numbers.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    Nop, Di, Ei, TlbAdd, TlbFlush, Neg, Not, And, Or, Xor, Add, Sub, Mul, Div, Mod, Shl, Shr,
    AndI, OrI, XorI, AddI, SubI, MulI, DivI, ModI, ShlI, ShrI, JalI, JalR, JmpI, JmpR, Clone,
    JalIs, JalRs, JmpRt, Ld, St, LdI, RtoP, AndP, OrP, XorP, NotP, IsNeg, IsZero, Halt, Trap,
    JmpRu, Skep, RetI, TlbRm, IToF, FToI, FAdd, FSub, FMul, FDiv, FNeg, WSpawn, Split, Join, Bar,
    Tid,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub number: u8,
    pub op: Op,
    pub name: &'static str,
    pub slots: &'static [Slot],
    pub class: Class,
    /// User mode may not execute it: interrupt 3.
    pub privileged: bool,
    /// Lanes must agree when it is predicated, unless the mechanism says otherwise: interrupt 4.
    pub control: bool,
}

impl Op {
    #[inline(always)]
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    pub fn from_number(number: u8) -> Option<Op> {
        TABLE.get(number as usize).map(|entry| entry.op)
    }

    pub fn from_name(name: &str) -> Option<Op> {
        TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.op)
    }

    /// Whether the immediate is relative to the next instruction.
    pub fn relative(self) -> bool {
        matches!(self, Op::JmpI | Op::JalI | Op::JalIs)
    }
}

impl Entry {
    /// The operands as a hint writes them: `addi %r0, %r1, #imm`.
    pub fn usage(&self) -> String {
        let mut text = self.name.to_string();
        for (i, slot) in self.slots.iter().enumerate() {
            text.push_str(if i == 0 { " " } else { ", " });
            text.push_str(match slot {
                Slot::Dest | Slot::Src => ["%rA", "%rB", "%rC"][i.min(2)],
                Slot::PredDest | Slot::PredSrc => ["@pA", "@pB", "@pC"][i.min(2)],
                Slot::Imm if self.op.relative() => "label",
                Slot::Imm => "#imm",
            });
        }
        text
    }
}

use Class::*;
use Slot::{Dest as D, Imm as I, PredDest as PD, PredSrc as PS, Src as S};

const NONE: &[Slot] = &[];
const REG2: &[Slot] = &[D, S];
const REG3: &[Slot] = &[D, S, S];
const IMM2: &[Slot] = &[D, I];
const IMM3: &[Slot] = &[D, S, I];
const SRC1: &[Slot] = &[S];
const SRC2: &[Slot] = &[S, S];
const SRC3: &[Slot] = &[S, S, S];
const PREG2: &[Slot] = &[PD, PS];
const PREG3: &[Slot] = &[PD, PS, PS];
const TEST: &[Slot] = &[PD, S];

const fn plain(number: u8, op: Op, name: &'static str, slots: &'static [Slot], class: Class) -> Entry {
    Entry { number, op, name, slots, class, privileged: false, control: false }
}

const fn control(number: u8, op: Op, name: &'static str, slots: &'static [Slot]) -> Entry {
    Entry { number, op, name, slots, class: Control, privileged: false, control: true }
}

const fn kernel(number: u8, op: Op, name: &'static str, slots: &'static [Slot]) -> Entry {
    Entry { number, op, name, slots, class: System, privileged: true, control: false }
}

/// Indexed by opcode number.
#[rustfmt::skip]
pub static TABLE: &[Entry] = &[
    plain  (0x00, Op::Nop,      "nop",      NONE,       Alu),
    kernel (0x01, Op::Di,       "di",       NONE),
    kernel (0x02, Op::Ei,       "ei",       NONE),
    kernel (0x03, Op::TlbAdd,   "tlbadd",   SRC3),
    kernel (0x04, Op::TlbFlush, "tlbflush", NONE),
    plain  (0x05, Op::Neg,      "neg",      REG2,       Alu),
    plain  (0x06, Op::Not,      "not",      REG2,       Alu),
    plain  (0x07, Op::And,      "and",      REG3,       Alu),
    plain  (0x08, Op::Or,       "or",       REG3,       Alu),
    plain  (0x09, Op::Xor,      "xor",      REG3,       Alu),
    plain  (0x0a, Op::Add,      "add",      REG3,       Alu),
    plain  (0x0b, Op::Sub,      "sub",      REG3,       Alu),
    plain  (0x0c, Op::Mul,      "mul",      REG3,       Mul),
    plain  (0x0d, Op::Div,      "div",      REG3,       Div),
    plain  (0x0e, Op::Mod,      "mod",      REG3,       Div),
    plain  (0x0f, Op::Shl,      "shl",      REG3,       Alu),
    plain  (0x10, Op::Shr,      "shr",      REG3,       Alu),
    plain  (0x11, Op::AndI,     "andi",     IMM3,       Alu),
    plain  (0x12, Op::OrI,      "ori",      IMM3,       Alu),
    plain  (0x13, Op::XorI,     "xori",     IMM3,       Alu),
    plain  (0x14, Op::AddI,     "addi",     IMM3,       Alu),
    plain  (0x15, Op::SubI,     "subi",     IMM3,       Alu),
    plain  (0x16, Op::MulI,     "muli",     IMM3,       Mul),
    plain  (0x17, Op::DivI,     "divi",     IMM3,       Div),
    plain  (0x18, Op::ModI,     "modi",     IMM3,       Div),
    plain  (0x19, Op::ShlI,     "shli",     IMM3,       Alu),
    plain  (0x1a, Op::ShrI,     "shri",     IMM3,       Alu),
    control(0x1b, Op::JalI,     "jali",     IMM2),
    control(0x1c, Op::JalR,     "jalr",     REG2),
    control(0x1d, Op::JmpI,     "jmpi",     &[I]),
    control(0x1e, Op::JmpR,     "jmpr",     SRC1),
    control(0x1f, Op::Clone,    "clone",    SRC1),
    control(0x20, Op::JalIs,    "jalis",    IMM3),
    control(0x21, Op::JalRs,    "jalrs",    REG3),
    control(0x22, Op::JmpRt,    "jmprt",    SRC1),
    plain  (0x23, Op::Ld,       "ld",       IMM3,       Mem),
    plain  (0x24, Op::St,       "st",       &[S, S, I], Mem),
    plain  (0x25, Op::LdI,      "ldi",      IMM2,       Alu),
    plain  (0x26, Op::RtoP,     "rtop",     TEST,       Alu),
    plain  (0x27, Op::AndP,     "andp",     PREG3,      Alu),
    plain  (0x28, Op::OrP,      "orp",      PREG3,      Alu),
    plain  (0x29, Op::XorP,     "xorp",     PREG3,      Alu),
    plain  (0x2a, Op::NotP,     "notp",     PREG2,      Alu),
    plain  (0x2b, Op::IsNeg,    "isneg",    TEST,       Alu),
    plain  (0x2c, Op::IsZero,   "iszero",   TEST,       Alu),
    plain  (0x2d, Op::Halt,     "halt",     NONE,       Control),
    control(0x2e, Op::Trap,     "trap",     NONE),
    Entry { control: true, ..kernel(0x2f, Op::JmpRu, "jmpru", SRC1) },
    kernel (0x30, Op::Skep,     "skep",     SRC1),
    Entry { control: true, ..kernel(0x31, Op::RetI, "reti", NONE) },
    kernel (0x32, Op::TlbRm,    "tlbrm",    SRC1),
    plain  (0x33, Op::IToF,     "itof",     REG2,       Fp),
    plain  (0x34, Op::FToI,     "ftoi",     REG2,       Fp),
    plain  (0x35, Op::FAdd,     "fadd",     REG3,       Fp),
    plain  (0x36, Op::FSub,     "fsub",     REG3,       Fp),
    plain  (0x37, Op::FMul,     "fmul",     REG3,       Fp),
    plain  (0x38, Op::FDiv,     "fdiv",     REG3,       FpDiv),
    plain  (0x39, Op::FNeg,     "fneg",     REG2,       Fp),
    // The destination of wspawn belongs to the new wave; this wave only names it.
    plain  (0x3a, Op::WSpawn,   "wspawn",   REG3,       System),
    plain  (0x3b, Op::Split,    "split",    NONE,       Control),
    plain  (0x3c, Op::Join,     "join",     NONE,       Control),
    plain  (0x3d, Op::Bar,      "bar",      SRC2,       System),
    // Added by the PDOM document ("Test Cases and Sample Runs").
    plain  (0x3e, Op::Tid,      "tid",      &[D],       Alu),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions_and_names_are_unique() {
        for (i, entry) in TABLE.iter().enumerate() {
            assert_eq!(entry.number as usize, i, "{}", entry.name);
            assert_eq!(entry.op as usize, i, "{}", entry.name);
            assert_eq!(Op::from_number(entry.number), Some(entry.op));
            assert_eq!(Op::from_name(entry.name), Some(entry.op), "{} appears twice", entry.name);
            assert!((entry.class as usize) < CLASSES.len());
        }
        assert_eq!(TABLE.len(), 0x3f);
        assert_eq!(Op::from_number(0x3f), None);
    }

    #[test]
    fn an_immediate_is_the_last_operand() {
        for entry in TABLE {
            let imm = entry.slots.iter().position(|&s| s == Slot::Imm);
            assert!(imm.is_none_or(|at| at + 1 == entry.slots.len()), "{}", entry.name);
            assert!(entry.slots.len() <= 3);
        }
    }

    #[test]
    fn usage_lines() {
        assert_eq!(Op::St.entry().usage(), "st %rA, %rB, #imm");
        assert_eq!(Op::JalI.entry().usage(), "jali %rA, label");
        assert_eq!(Op::Halt.entry().usage(), "halt");
    }
}
