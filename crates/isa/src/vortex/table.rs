//! The opcode table: one line per instruction, from which assembler, encoder, decoder, disassembler and static
//! facts follow. RV32IMAF, Zicsr, Zifencei, Zicond as in the RISC-V unprivileged manual; custom-0 as in docs/vortex.md.

/// Where an instruction's operands are, how they are written, and which bits are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `rd, rs1, rs2`
    Three,
    /// `rd, rs1`; the field of rs2 is part of the opcode.
    Two,
    /// `rd, rs1, imm`
    Immediate,
    /// `rd, rs1, shamt`
    Shift,
    /// `rd, imm(rs1)`
    Load,
    /// `rs2, imm(rs1)`
    Store,
    /// `rs1, rs2, target`
    Branch,
    /// `rd, imm20`
    Upper,
    /// `rd, target`
    Jump,
    /// `pred, succ`
    Fence,
    /// No operands.
    Bare,
    /// `rd, csr, rs1`
    Csr,
    /// `rd, csr, uimm`
    CsrImmediate,
    /// `rd, rs2, (rs1)` with `.aq` and `.rl`
    Atomic,
    /// `rd, (rs1)` with `.aq` and `.rl`
    Reserve,
    /// `rd, rs1, rs2, rm`
    Round3,
    /// `rd, rs1, rm`
    Round2,
    /// `rd, rs1, rs2, rs3, rm`
    Round4,
    /// `rs1`
    Source1,
    /// `rs1, rs2`
    Source2,
}

impl Format {
    /// The bits that tell instructions of this format apart.
    pub const fn mask(self) -> u32 {
        match self {
            Format::Three | Format::Shift => 0xfe00_707f,
            Format::Two => 0xfff0_707f,
            Format::Immediate | Format::Load | Format::Store | Format::Branch => 0x707f,
            Format::Csr | Format::CsrImmediate => 0x707f,
            Format::Upper | Format::Jump => 0x7f,
            Format::Fence => 0xf00f_ffff,
            Format::Bare => !0,
            Format::Atomic => 0xf800_707f,
            Format::Reserve => 0xf9f0_707f,
            Format::Round3 => 0xfe00_007f,
            Format::Round2 => 0xfff0_007f,
            Format::Round4 => 0x0600_007f,
            Format::Source1 => 0xfff0_7fff,
            Format::Source2 => 0xfe00_7fff,
        }
    }

    /// The operands as a hint writes them.
    pub const fn usage(self) -> &'static str {
        match self {
            Format::Three => "rd, rs1, rs2",
            Format::Two => "rd, rs1",
            Format::Immediate => "rd, rs1, imm",
            Format::Shift => "rd, rs1, shamt",
            Format::Load => "rd, imm(rs1)",
            Format::Store => "rs2, imm(rs1)",
            Format::Branch => "rs1, rs2, label",
            Format::Upper => "rd, imm20",
            Format::Jump => "rd, label",
            Format::Fence => "pred, succ",
            Format::Bare => "",
            Format::Csr => "rd, csr, rs1",
            Format::CsrImmediate => "rd, csr, imm5",
            Format::Atomic => "rd, rs2, (rs1)",
            Format::Reserve => "rd, (rs1)",
            Format::Round3 => "rd, rs1, rs2[, rm]",
            Format::Round2 => "rd, rs1[, rm]",
            Format::Round4 => "rd, rs1, rs2, rs3[, rm]",
            Format::Source1 => "rs1",
            Format::Source2 => "rs1, rs2",
        }
    }
}

/// Which register file an operand is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Not an operand.
    None,
    X,
    F,
}

/// Index of a timing class name in [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    Alu,
    Branch,
    Mul,
    Div,
    FAdd,
    FMul,
    FMadd,
    FCvt,
    FMisc,
    FDiv,
    FSqrt,
    Mem,
    Csr,
    Control,
}

pub const CLASSES: &[&str] = &[
    "alu", "branch", "mul", "div", "fadd", "fmul", "fmadd", "fcvt", "fmisc", "fdiv", "fsqrt", "mem", "csr",
    "control",
];

/// Every instruction; the number is its line in [`TABLE`].
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    Lui, Auipc, Jal, Jalr, Beq, Bne, Blt, Bge, Bltu, Bgeu, Lb, Lh, Lw, Lbu, Lhu, Sb, Sh, Sw,
    Addi, Slti, Sltiu, Xori, Ori, Andi, Slli, Srli, Srai,
    Add, Sub, Sll, Slt, Sltu, Xor, Srl, Sra, Or, And, Fence, FenceI, Ecall, Ebreak,
    Csrrw, Csrrs, Csrrc, Csrrwi, Csrrsi, Csrrci,
    Mul, Mulh, Mulhsu, Mulhu, Div, Divu, Rem, Remu,
    LrW, ScW, AmoSwap, AmoAdd, AmoXor, AmoAnd, AmoOr, AmoMin, AmoMax, AmoMinu, AmoMaxu,
    Flw, Fsw, Fmadd, Fmsub, Fnmsub, Fnmadd, Fadd, Fsub, Fmul, Fdiv, Fsqrt, Fsgnj, Fsgnjn, Fsgnjx,
    Fmin, Fmax, FcvtWS, FcvtWuS, FmvXW, Feq, Flt, Fle, Fclass, FcvtSW, FcvtSWu, FmvWX,
    CzeroEqz, CzeroNez,
    Tmc, Wspawn, Split, SplitN, Join, Bar, Pred, PredN,
    VoteAll, VoteAny, VoteUni, VoteBallot, ShflUp, ShflDown, ShflBfly, ShflIdx,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub op: Op,
    pub name: &'static str,
    pub format: Format,
    /// The fixed bits.
    pub bits: u32,
    pub class: Class,
    /// Register files of rd, rs1, rs2 and rs3.
    pub files: [File; 4],
}

impl Op {
    #[inline(always)]
    pub fn entry(self) -> &'static Entry {
        &TABLE[self as usize]
    }

    pub fn from_name(name: &str) -> Option<Op> {
        TABLE.iter().find(|entry| entry.name == name).map(|entry| entry.op)
    }
}

use Class::{Alu, Control, Div, FAdd, FCvt, FDiv, FMadd, FMisc, FMul, FSqrt, Mem, Mul};
use File::{F, None as N, X};
use Format::{
    Atomic, Bare, CsrImmediate, Fence, Immediate, Jump, Load, Reserve, Round2, Round3, Round4, Shift,
    Source1, Source2, Store, Three, Two, Upper,
};

/// Operands all in general-purpose registers; which ones follows from the format.
const fn int(op: Op, name: &'static str, format: Format, bits: u32, class: Class) -> Entry {
    let files = match format {
        Three | Atomic => [X, X, X, N],
        Two | Immediate | Shift | Load | Format::Csr | Reserve => [X, X, N, N],
        Store | Format::Branch | Source2 => [N, X, X, N],
        Upper | Jump | CsrImmediate => [X, N, N, N],
        Source1 => [N, X, N, N],
        _ => [N, N, N, N],
    };
    Entry { op, name, format, bits, class, files }
}

/// Operands in the files given, floating point among them.
const fn fp(op: Op, name: &'static str, format: Format, bits: u32, class: Class, files: [File; 4]) -> Entry {
    Entry { op, name, format, bits, class, files }
}

/// In the order of [`Op`].
#[rustfmt::skip]
pub static TABLE: &[Entry] = &[
    // RV32I, manual chapter 2.
    int(Op::Lui,    "lui",    Upper,     0x0000_0037, Alu),
    int(Op::Auipc,  "auipc",  Upper,     0x0000_0017, Alu),
    int(Op::Jal,    "jal",    Jump,      0x0000_006f, Class::Branch),
    int(Op::Jalr,   "jalr",   Load,      0x0000_0067, Class::Branch),
    int(Op::Beq,    "beq",    Format::Branch, 0x0000_0063, Class::Branch),
    int(Op::Bne,    "bne",    Format::Branch, 0x0000_1063, Class::Branch),
    int(Op::Blt,    "blt",    Format::Branch, 0x0000_4063, Class::Branch),
    int(Op::Bge,    "bge",    Format::Branch, 0x0000_5063, Class::Branch),
    int(Op::Bltu,   "bltu",   Format::Branch, 0x0000_6063, Class::Branch),
    int(Op::Bgeu,   "bgeu",   Format::Branch, 0x0000_7063, Class::Branch),
    int(Op::Lb,     "lb",     Load,      0x0000_0003, Mem),
    int(Op::Lh,     "lh",     Load,      0x0000_1003, Mem),
    int(Op::Lw,     "lw",     Load,      0x0000_2003, Mem),
    int(Op::Lbu,    "lbu",    Load,      0x0000_4003, Mem),
    int(Op::Lhu,    "lhu",    Load,      0x0000_5003, Mem),
    int(Op::Sb,     "sb",     Store,     0x0000_0023, Mem),
    int(Op::Sh,     "sh",     Store,     0x0000_1023, Mem),
    int(Op::Sw,     "sw",     Store,     0x0000_2023, Mem),
    int(Op::Addi,   "addi",   Immediate, 0x0000_0013, Alu),
    int(Op::Slti,   "slti",   Immediate, 0x0000_2013, Alu),
    int(Op::Sltiu,  "sltiu",  Immediate, 0x0000_3013, Alu),
    int(Op::Xori,   "xori",   Immediate, 0x0000_4013, Alu),
    int(Op::Ori,    "ori",    Immediate, 0x0000_6013, Alu),
    int(Op::Andi,   "andi",   Immediate, 0x0000_7013, Alu),
    int(Op::Slli,   "slli",   Shift,     0x0000_1013, Alu),
    int(Op::Srli,   "srli",   Shift,     0x0000_5013, Alu),
    int(Op::Srai,   "srai",   Shift,     0x4000_5013, Alu),
    int(Op::Add,    "add",    Three,     0x0000_0033, Alu),
    int(Op::Sub,    "sub",    Three,     0x4000_0033, Alu),
    int(Op::Sll,    "sll",    Three,     0x0000_1033, Alu),
    int(Op::Slt,    "slt",    Three,     0x0000_2033, Alu),
    int(Op::Sltu,   "sltu",   Three,     0x0000_3033, Alu),
    int(Op::Xor,    "xor",    Three,     0x0000_4033, Alu),
    int(Op::Srl,    "srl",    Three,     0x0000_5033, Alu),
    int(Op::Sra,    "sra",    Three,     0x4000_5033, Alu),
    int(Op::Or,     "or",     Three,     0x0000_6033, Alu),
    int(Op::And,    "and",    Three,     0x0000_7033, Alu),
    int(Op::Fence,  "fence",  Fence,     0x0000_000f, Control),
    int(Op::FenceI, "fence.i", Bare,     0x0000_100f, Control),
    int(Op::Ecall,  "ecall",  Bare,      0x0000_0073, Control),
    int(Op::Ebreak, "ebreak", Bare,      0x0010_0073, Control),
    // Zicsr.
    int(Op::Csrrw,  "csrrw",  Format::Csr, 0x0000_1073, Class::Csr),
    int(Op::Csrrs,  "csrrs",  Format::Csr, 0x0000_2073, Class::Csr),
    int(Op::Csrrc,  "csrrc",  Format::Csr, 0x0000_3073, Class::Csr),
    int(Op::Csrrwi, "csrrwi", CsrImmediate, 0x0000_5073, Class::Csr),
    int(Op::Csrrsi, "csrrsi", CsrImmediate, 0x0000_6073, Class::Csr),
    int(Op::Csrrci, "csrrci", CsrImmediate, 0x0000_7073, Class::Csr),
    // M.
    int(Op::Mul,    "mul",    Three,     0x0200_0033, Mul),
    int(Op::Mulh,   "mulh",   Three,     0x0200_1033, Mul),
    int(Op::Mulhsu, "mulhsu", Three,     0x0200_2033, Mul),
    int(Op::Mulhu,  "mulhu",  Three,     0x0200_3033, Mul),
    int(Op::Div,    "div",    Three,     0x0200_4033, Div),
    int(Op::Divu,   "divu",   Three,     0x0200_5033, Div),
    int(Op::Rem,    "rem",    Three,     0x0200_6033, Div),
    int(Op::Remu,   "remu",   Three,     0x0200_7033, Div),
    // A.
    int(Op::LrW,     "lr.w",      Reserve, 0x1000_202f, Mem),
    int(Op::ScW,     "sc.w",      Atomic,  0x1800_202f, Mem),
    int(Op::AmoSwap, "amoswap.w", Atomic,  0x0800_202f, Mem),
    int(Op::AmoAdd,  "amoadd.w",  Atomic,  0x0000_202f, Mem),
    int(Op::AmoXor,  "amoxor.w",  Atomic,  0x2000_202f, Mem),
    int(Op::AmoAnd,  "amoand.w",  Atomic,  0x6000_202f, Mem),
    int(Op::AmoOr,   "amoor.w",   Atomic,  0x4000_202f, Mem),
    int(Op::AmoMin,  "amomin.w",  Atomic,  0x8000_202f, Mem),
    int(Op::AmoMax,  "amomax.w",  Atomic,  0xa000_202f, Mem),
    int(Op::AmoMinu, "amominu.w", Atomic,  0xc000_202f, Mem),
    int(Op::AmoMaxu, "amomaxu.w", Atomic,  0xe000_202f, Mem),
    // F.
    fp(Op::Flw,     "flw",       Load,   0x0000_2007, Mem,   [F, X, N, N]),
    fp(Op::Fsw,     "fsw",       Store,  0x0000_2027, Mem,   [N, X, F, N]),
    fp(Op::Fmadd,   "fmadd.s",   Round4, 0x0000_0043, FMadd, [F, F, F, F]),
    fp(Op::Fmsub,   "fmsub.s",   Round4, 0x0000_0047, FMadd, [F, F, F, F]),
    fp(Op::Fnmsub,  "fnmsub.s",  Round4, 0x0000_004b, FMadd, [F, F, F, F]),
    fp(Op::Fnmadd,  "fnmadd.s",  Round4, 0x0000_004f, FMadd, [F, F, F, F]),
    fp(Op::Fadd,    "fadd.s",    Round3, 0x0000_0053, FAdd,  [F, F, F, N]),
    fp(Op::Fsub,    "fsub.s",    Round3, 0x0800_0053, FAdd,  [F, F, F, N]),
    fp(Op::Fmul,    "fmul.s",    Round3, 0x1000_0053, FMul,  [F, F, F, N]),
    fp(Op::Fdiv,    "fdiv.s",    Round3, 0x1800_0053, FDiv,  [F, F, F, N]),
    fp(Op::Fsqrt,   "fsqrt.s",   Round2, 0x5800_0053, FSqrt, [F, F, N, N]),
    fp(Op::Fsgnj,   "fsgnj.s",   Three,  0x2000_0053, FMisc, [F, F, F, N]),
    fp(Op::Fsgnjn,  "fsgnjn.s",  Three,  0x2000_1053, FMisc, [F, F, F, N]),
    fp(Op::Fsgnjx,  "fsgnjx.s",  Three,  0x2000_2053, FMisc, [F, F, F, N]),
    fp(Op::Fmin,    "fmin.s",    Three,  0x2800_0053, FMisc, [F, F, F, N]),
    fp(Op::Fmax,    "fmax.s",    Three,  0x2800_1053, FMisc, [F, F, F, N]),
    fp(Op::FcvtWS,  "fcvt.w.s",  Round2, 0xc000_0053, FCvt,  [X, F, N, N]),
    fp(Op::FcvtWuS, "fcvt.wu.s", Round2, 0xc010_0053, FCvt,  [X, F, N, N]),
    fp(Op::FmvXW,   "fmv.x.w",   Two,    0xe000_0053, FMisc, [X, F, N, N]),
    fp(Op::Feq,     "feq.s",     Three,  0xa000_2053, FMisc, [X, F, F, N]),
    fp(Op::Flt,     "flt.s",     Three,  0xa000_1053, FMisc, [X, F, F, N]),
    fp(Op::Fle,     "fle.s",     Three,  0xa000_0053, FMisc, [X, F, F, N]),
    fp(Op::Fclass,  "fclass.s",  Two,    0xe000_1053, FMisc, [X, F, N, N]),
    fp(Op::FcvtSW,  "fcvt.s.w",  Round2, 0xd000_0053, FCvt,  [F, X, N, N]),
    fp(Op::FcvtSWu, "fcvt.s.wu", Round2, 0xd010_0053, FCvt,  [F, X, N, N]),
    fp(Op::FmvWX,   "fmv.w.x",   Two,    0xf000_0053, FMisc, [F, X, N, N]),
    // Zicond.
    int(Op::CzeroEqz, "czero.eqz", Three, 0x0e00_5033, Alu),
    int(Op::CzeroNez, "czero.nez", Three, 0x0e00_7033, Alu),
    // Vortex: custom-0, funct7 0 controls waves and lanes, funct7 1 crosses lanes (newer versions).
    int(Op::Tmc,        "vx_tmc",         Source1, 0x0000_000b, Control),
    int(Op::Wspawn,     "vx_wspawn",      Source2, 0x0000_100b, Control),
    int(Op::Split,      "vx_split",       Two,     0x0000_200b, Control),
    int(Op::SplitN,     "vx_split_n",     Two,     0x0010_200b, Control),
    int(Op::Join,       "vx_join",        Source1, 0x0000_300b, Control),
    int(Op::Bar,        "vx_bar",         Source2, 0x0000_400b, Control),
    int(Op::Pred,       "vx_pred",        Source2, 0x0000_500b, Control),
    int(Op::PredN,      "vx_pred_n",      Source2, 0x0000_508b, Control),
    int(Op::VoteAll,    "vx_vote_all",    Two,     0x0200_000b, Alu),
    int(Op::VoteAny,    "vx_vote_any",    Two,     0x0200_100b, Alu),
    int(Op::VoteUni,    "vx_vote_uni",    Two,     0x0200_200b, Alu),
    int(Op::VoteBallot, "vx_vote_ballot", Two,     0x0200_300b, Alu),
    int(Op::ShflUp,     "vx_shfl_up",     Three,   0x0200_400b, Alu),
    int(Op::ShflDown,   "vx_shfl_down",   Three,   0x0200_500b, Alu),
    int(Op::ShflBfly,   "vx_shfl_bfly",   Three,   0x0200_600b, Alu),
    int(Op::ShflIdx,    "vx_shfl_idx",    Three,   0x0200_700b, Alu),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_in_order_and_no_two_encodings_overlap() {
        for (i, a) in TABLE.iter().enumerate() {
            assert_eq!(a.op as usize, i, "{}", a.name);
            assert_eq!(Op::from_name(a.name), Some(a.op), "{} appears twice", a.name);
            assert_eq!(a.bits & !a.format.mask(), 0, "{}: fixed bits outside the mask", a.name);
            assert_eq!(a.bits & 3, 3, "{}: not a 32-bit instruction", a.name);
            for b in &TABLE[i + 1..] {
                let both = a.format.mask() & b.format.mask();
                assert!((a.bits ^ b.bits) & both != 0, "{} and {} overlap", a.name, b.name);
            }
        }
        assert_eq!(Op::ShflIdx as usize + 1, TABLE.len());
        assert_eq!(Class::Control as usize + 1, CLASSES.len());
    }
}
