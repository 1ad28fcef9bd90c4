//! A decoded instruction, and the codec between it and its 32-bit word (RISC-V manual, section 2.2 and 2.3).

use super::table::{Entry, File, Format, Op, TABLE};
use thiserror::Error;

/// Fields by name; those the format does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inst {
    pub op: Op,
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub rs3: u8,
    /// Rounding mode; `.aq` and `.rl` as bits 1 and 0 of atomics.
    pub rm: u8,
    /// Immediate; shift amount; CSR number; sets of a fence.
    pub imm: i32,
}

/// Rounding mode field: take the mode from `frm`.
pub const DYNAMIC: u8 = 7;

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("{0:#06x} is a compressed instruction; the machine has none: compile without the C extension")]
    Compressed(u16),
    #[error("{0:#010x} is not an instruction of RV32IMAF, Zicsr, Zicond or the Vortex extension")]
    Unknown(u32),
    #[error("{word:#010x}: `{name}` with the reserved rounding mode {mode}")]
    Rounding { word: u32, name: &'static str, mode: u8 },
}

impl Inst {
    pub fn new(op: Op) -> Inst {
        Inst { op, rd: 0, rs1: 0, rs2: 0, rs3: 0, rm: 0, imm: 0 }
    }

    #[inline(always)]
    pub fn entry(&self) -> &'static Entry {
        self.op.entry()
    }

    /// Register ids of rd, rs1, rs2, rs3: 0 to 31 general purpose, 32 to 63 floating point; none where there is no
    /// such operand or it is x0.
    pub fn registers(&self) -> [Option<u16>; 4] {
        let fields = [self.rd, self.rs1, self.rs2, self.rs3];
        std::array::from_fn(|i| match self.entry().files[i] {
            File::None => None,
            File::X => (fields[i] != 0).then_some(u16::from(fields[i])),
            File::F => Some(32 + u16::from(fields[i])),
        })
    }

    /// The bits of an immediate that does not fit are lost: [`Inst::fits`] tells.
    pub fn encode(&self) -> u32 {
        let e = self.entry();
        let imm = self.imm as u32;
        let field = |value: u8, at: u32| u32::from(value & 31) << at;
        let (rd, rs1, rs2) = (field(self.rd, 7), field(self.rs1, 15), field(self.rs2, 20));
        let rm = u32::from(self.rm & 7) << 12;
        e.bits
            | match e.format {
                Format::Three => rd | rs1 | rs2,
                Format::Two => rd | rs1,
                Format::Immediate | Format::Load => rd | rs1 | imm << 20,
                Format::Shift => rd | rs1 | (imm & 31) << 20,
                Format::Store => rs1 | rs2 | (imm & 31) << 7 | (imm >> 5 & 0x7f) << 25,
                Format::Branch => rs1 | rs2 | branch_bits(imm),
                Format::Upper => rd | imm << 12,
                Format::Jump => rd | jump_bits(imm),
                Format::Fence => (imm & 0xff) << 20,
                Format::Bare => 0,
                Format::Csr | Format::CsrImmediate => rd | rs1 | imm << 20,
                Format::Atomic => rd | rs1 | rs2 | u32::from(self.rm & 3) << 25,
                Format::Reserve => rd | rs1 | u32::from(self.rm & 3) << 25,
                Format::Round3 => rd | rs1 | rs2 | rm,
                Format::Round2 => rd | rs1 | rm,
                Format::Round4 => rd | rs1 | rs2 | field(self.rs3, 27) | rm,
                Format::Source1 => rs1,
                Format::Source2 => rs1 | rs2,
            }
    }

    pub fn decode(word: u32) -> Result<Inst, DecodeError> {
        if word & 3 != 3 {
            return Err(DecodeError::Compressed(word as u16));
        }
        let entry = TABLE.iter().find(|e| word & e.format.mask() == e.bits);
        let e = entry.ok_or(DecodeError::Unknown(word))?;
        let field = |at: u32| (word >> at & 31) as u8;
        let all = Inst { rd: field(7), rs1: field(15), rs2: field(20), rs3: field(27), ..Inst::new(e.op) };
        let has = |i: usize| e.files[i] != File::None;
        let mut inst = Inst {
            rd: if has(0) { all.rd } else { 0 },
            rs1: if has(1) || e.format == Format::CsrImmediate { all.rs1 } else { 0 },
            rs2: if has(2) { all.rs2 } else { 0 },
            rs3: if has(3) { all.rs3 } else { 0 },
            ..all
        };
        match e.format {
            Format::Immediate | Format::Load => inst.imm = (word as i32) >> 20,
            Format::Shift => inst.imm = i32::from(all.rs2),
            Format::Store => inst.imm = (word as i32) >> 25 << 5 | i32::from(all.rd),
            Format::Branch => inst.imm = branch_offset(word),
            Format::Upper => inst.imm = (word >> 12) as i32,
            Format::Jump => inst.imm = jump_offset(word),
            Format::Fence => inst.imm = (word >> 20 & 0xff) as i32,
            Format::Csr | Format::CsrImmediate => inst.imm = (word >> 20) as i32,
            Format::Atomic | Format::Reserve => inst.rm = (word >> 25 & 3) as u8,
            Format::Round2 | Format::Round3 | Format::Round4 => {
                inst.rm = (word >> 12 & 7) as u8;
                if matches!(inst.rm, 5 | 6) {
                    return Err(DecodeError::Rounding { word, name: e.name, mode: inst.rm });
                }
            }
            Format::Three | Format::Two | Format::Bare | Format::Source1 | Format::Source2 => {}
        }
        Ok(inst)
    }

    /// Whether the immediate can be encoded; otherwise what can.
    pub fn fits(&self) -> Result<(), String> {
        let (low, high, step) = match self.entry().format {
            Format::Immediate | Format::Load | Format::Store => (-2048, 2047, 1),
            Format::Shift => (0, 31, 1),
            Format::Branch => (-4096, 4094, 2),
            Format::Upper => (0, 0xf_ffff, 1),
            Format::Jump => (-(1 << 20), (1 << 20) - 2, 2),
            Format::Csr | Format::CsrImmediate => (0, 0xfff, 1),
            _ => return Ok(()),
        };
        if self.imm < low || self.imm > high || self.imm % step != 0 {
            let even = if step == 2 { ", even" } else { "" };
            return Err(format!("`{}` takes {low} to {high}{even}, not {}", self.entry().name, self.imm));
        }
        Ok(())
    }
}

fn branch_bits(imm: u32) -> u32 {
    (imm >> 12 & 1) << 31 | (imm >> 5 & 0x3f) << 25 | (imm >> 1 & 0xf) << 8 | (imm >> 11 & 1) << 7
}

fn branch_offset(word: u32) -> i32 {
    let low = (word >> 8 & 0xf) << 1 | (word >> 25 & 0x3f) << 5 | (word >> 7 & 1) << 11;
    (word as i32) >> 31 << 12 | low as i32
}

fn jump_bits(imm: u32) -> u32 {
    (imm >> 20 & 1) << 31 | (imm >> 1 & 0x3ff) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 0xff) << 12
}

fn jump_offset(word: u32) -> i32 {
    let low = (word >> 21 & 0x3ff) << 1 | (word >> 20 & 1) << 11 | (word >> 12 & 0xff) << 12;
    (word as i32) >> 31 << 20 | low as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words whose encoding the manual spells out or that every RISC-V program has.
    #[test]
    fn words_known_by_heart() {
        let inst = |op, rd, rs1, rs2, imm| Inst { rd, rs1, rs2, imm, ..Inst::new(op) };
        for (word, expected) in [
            (0x0000_0013, inst(Op::Addi, 0, 0, 0, 0)),
            (0x0000_8067, inst(Op::Jalr, 0, 1, 0, 0)),
            (0xfff5_0513, inst(Op::Addi, 10, 10, 0, -1)),
            (0x0005_2503, inst(Op::Lw, 10, 10, 0, 0)),
            (0xfea4_2623, inst(Op::Sw, 0, 8, 10, -20)),
            (0xfe05_1ee3, inst(Op::Bne, 0, 10, 0, -4)),
            (0x8000_02b7, inst(Op::Lui, 5, 0, 0, 0x80000)),
            (0xcc00_2573, inst(Op::Csrrs, 10, 0, 0, 0xcc0)),
            (0xffdf_f06f, inst(Op::Jal, 0, 0, 0, -4)),
            (0x0005_000b, inst(Op::Tmc, 0, 10, 0, 0)),
            (0x0015_250b, inst(Op::SplitN, 10, 10, 0, 0)),
        ] {
            assert_eq!(Inst::decode(word), Ok(expected), "{word:#x}");
            assert_eq!(expected.encode(), word, "{expected:?}");
        }
    }

    #[test]
    fn what_is_not_an_instruction_is_an_error_by_name() {
        assert_eq!(Inst::decode(0x4501), Err(DecodeError::Compressed(0x4501)));
        assert!(Inst::decode(0x4501).unwrap_err().to_string().contains("compressed"));
        assert_eq!(Inst::decode(0xffff_ffff), Err(DecodeError::Unknown(0xffff_ffff)));
        // A shift by 32 and a reserved rounding mode.
        assert!(matches!(Inst::decode(0x0205_1513), Err(DecodeError::Unknown(_))));
        assert!(matches!(Inst::decode(0x00b5_5553), Err(DecodeError::Rounding { mode: 5, .. })));
        let far = Inst { imm: 4096, ..Inst::new(Op::Beq) };
        assert_eq!(far.fits().unwrap_err(), "`beq` takes -4096 to 4094, even, not 4096");
        assert!(Inst { imm: 3, ..Inst::new(Op::Jal) }.fits().is_err());
    }
}
