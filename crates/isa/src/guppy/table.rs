//! The opcode table: one line per mnemonic. Assembler, disassembler, module files and timing all
//! read this table, so a new instruction is one line here and one arm in `exec`.

/// What one operand position accepts, and which field of [`super::inst::Args`] it fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Destination register with the components to write, each at most once.
    Dst,
    /// Register, immediate or builtin.
    Src(usize),
    /// Register with exactly one component.
    One(usize),
    /// A value with at least two positions: texture coordinates.
    Pair(usize),
    /// `tN.comps`, read-only view.
    ReadView,
    /// `uN.comps`, writable view.
    WriteView,
    /// `sN`.
    Sampler,
    /// Name of a label.
    Label(usize),
}

impl Slot {
    /// How usage lines and errors call the slot.
    pub fn text(self) -> &'static str {
        match self {
            Slot::Dst => "rN.xyzw",
            Slot::Src(_) => "value",
            Slot::One(_) => "rN.x",
            Slot::Pair(_) => "rN.xy",
            Slot::ReadView => "tN.xyzw",
            Slot::WriteView => "uN.xyzw",
            Slot::Sampler => "sN",
            Slot::Label(_) => "LABEL",
        }
    }
}

/// Timing classes; the index of a name is [`crate::Facts::class`].
pub const CLASSES: [&str; 10] =
    ["move", "norm", "arith", "mul", "div", "mad", "load", "store", "sample", "control"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Move,
    Norm,
    Arith,
    Mul,
    Div,
    Mad,
    Load,
    Store,
    Sample,
    Control,
}

/// Every instruction; the discriminant indexes [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    Mov,
    Utof,
    Clamp,
    Len,
    AbsF32,
    Norm,
    AddF32,
    AddU32,
    SubF32,
    SubU32,
    LtF32,
    LtU32,
    GtF32,
    GtU32,
    And,
    Or,
    MulF32,
    MulU32,
    DivF32,
    DivU32,
    MadF32,
    MadU32,
    Lerp,
    Ld,
    St,
    Sample,
    PushMask,
    PopMask,
    MaskNz,
    BrPush,
    Jmp,
    Ret,
}

/// A table line. `code` is the opcode byte in module files and never changes its meaning.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub op: Op,
    pub mnemonic: &'static str,
    pub code: u8,
    pub slots: &'static [Slot],
    pub class: Class,
}

const fn line(op: Op, mnemonic: &'static str, code: u8, slots: &'static [Slot], class: Class) -> Line {
    Line { op, mnemonic, code, slots, class }
}

const UNARY: &[Slot] = &[Slot::Dst, Slot::Src(0)];
const BINARY: &[Slot] = &[Slot::Dst, Slot::Src(0), Slot::Src(1)];
const TERNARY: &[Slot] = &[Slot::Dst, Slot::Src(0), Slot::Src(1), Slot::Src(2)];
const LOAD: &[Slot] = &[Slot::Dst, Slot::ReadView, Slot::Src(0)];
const STORE: &[Slot] = &[Slot::WriteView, Slot::Src(0), Slot::Src(1)];
const SAMPLE: &[Slot] = &[Slot::Dst, Slot::ReadView, Slot::Sampler, Slot::Pair(0)];
const TARGET: &[Slot] = &[Slot::Label(0)];
const TEST: &[Slot] = &[Slot::One(0)];
const TEST_TARGETS: &[Slot] = &[Slot::One(0), Slot::Label(0), Slot::Label(1)];
const NONE: &[Slot] = &[];

pub static TABLE: [Line; 32] = [
    line(Op::Mov, "mov", 0x01, UNARY, Class::Move),
    line(Op::Utof, "utof", 0x02, UNARY, Class::Move),
    line(Op::Clamp, "clamp", 0x03, UNARY, Class::Move),
    line(Op::Len, "len", 0x04, UNARY, Class::Move),
    line(Op::AbsF32, "abs.f32", 0x05, UNARY, Class::Move),
    line(Op::Norm, "norm", 0x06, UNARY, Class::Norm),
    line(Op::AddF32, "add.f32", 0x10, BINARY, Class::Arith),
    line(Op::AddU32, "add.u32", 0x11, BINARY, Class::Arith),
    line(Op::SubF32, "sub.f32", 0x12, BINARY, Class::Arith),
    line(Op::SubU32, "sub.u32", 0x13, BINARY, Class::Arith),
    line(Op::LtF32, "lt.f32", 0x14, BINARY, Class::Arith),
    line(Op::LtU32, "lt.u32", 0x15, BINARY, Class::Arith),
    line(Op::GtF32, "gt.f32", 0x16, BINARY, Class::Arith),
    line(Op::GtU32, "gt.u32", 0x17, BINARY, Class::Arith),
    line(Op::And, "and", 0x18, BINARY, Class::Arith),
    line(Op::Or, "or", 0x19, BINARY, Class::Arith),
    line(Op::MulF32, "mul.f32", 0x1a, BINARY, Class::Mul),
    line(Op::MulU32, "mul.u32", 0x1b, BINARY, Class::Mul),
    line(Op::DivF32, "div.f32", 0x1c, BINARY, Class::Div),
    line(Op::DivU32, "div.u32", 0x1d, BINARY, Class::Div),
    line(Op::MadF32, "mad.f32", 0x20, TERNARY, Class::Mad),
    line(Op::MadU32, "mad.u32", 0x21, TERNARY, Class::Mad),
    line(Op::Lerp, "lerp", 0x22, TERNARY, Class::Mad),
    line(Op::Ld, "ld", 0x30, LOAD, Class::Load),
    line(Op::St, "st", 0x31, STORE, Class::Store),
    line(Op::Sample, "sample", 0x32, SAMPLE, Class::Sample),
    line(Op::PushMask, "push_mask", 0x40, TARGET, Class::Control),
    line(Op::PopMask, "pop_mask", 0x41, NONE, Class::Control),
    line(Op::MaskNz, "mask_nz", 0x42, TEST, Class::Control),
    line(Op::BrPush, "br_push", 0x43, TEST_TARGETS, Class::Control),
    line(Op::Jmp, "jmp", 0x44, TARGET, Class::Control),
    line(Op::Ret, "ret", 0x45, NONE, Class::Control),
];

/// Other spellings the assembler takes; the disassembler never prints them.
pub const ALIASES: [(&str, Op); 2] = [("and.u32", Op::And), ("or.u32", Op::Or)];

impl Op {
    #[inline]
    pub fn line(self) -> &'static Line {
        &TABLE[self as usize]
    }

    pub fn from_code(code: u8) -> Option<Op> {
        TABLE.iter().find(|l| l.code == code).map(|l| l.op)
    }

    pub fn from_mnemonic(word: &str) -> Option<Op> {
        let alias = || ALIASES.iter().find(|(name, _)| *name == word).map(|&(_, op)| op);
        TABLE.iter().find(|l| l.mnemonic == word).map(|l| l.op).or_else(alias)
    }
}

/// `add.u32 rN.xyzw, value, value`, for hints.
pub fn usage(op: Op) -> String {
    let line = op.line();
    let slots: Vec<&str> = line.slots.iter().map(|s| s.text()).collect();
    format!("{} {}", line.mnemonic, slots.join(", ")).trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn guppy_table_lines_do_not_overlap() {
        let mut codes = HashSet::new();
        let mut names: HashSet<&str> = ALIASES.iter().map(|a| a.0).collect();
        for (i, line) in TABLE.iter().enumerate() {
            assert_eq!(line.op as usize, i, "{} stands at the wrong place", line.mnemonic);
            assert!(codes.insert(line.code), "{} shares its opcode", line.mnemonic);
            assert!(names.insert(line.mnemonic), "{} is there twice", line.mnemonic);
            assert_eq!(Op::from_code(line.code), Some(line.op));
            assert_eq!(Op::from_mnemonic(line.mnemonic), Some(line.op));
        }
    }

    #[test]
    fn guppy_classes_follow_the_fact_sheet() {
        let of = |class: &str| -> Vec<&str> {
            let is = |l: &&Line| CLASSES[l.class as usize] == class;
            TABLE.iter().filter(is).map(|l| l.mnemonic).collect()
        };
        assert_eq!(of("move"), ["mov", "utof", "clamp", "len", "abs.f32"]);
        assert_eq!(of("norm"), ["norm"]);
        assert_eq!(of("mul"), ["mul.f32", "mul.u32"]);
        assert_eq!(of("div"), ["div.f32", "div.u32"]);
        assert_eq!(of("mad"), ["mad.f32", "mad.u32", "lerp"]);
        assert_eq!(of("arith").len(), 10);
        assert_eq!((of("load"), of("store"), of("sample")), (vec!["ld"], vec!["st"], vec!["sample"]));
        assert_eq!(of("control").len(), 6);
    }
}
