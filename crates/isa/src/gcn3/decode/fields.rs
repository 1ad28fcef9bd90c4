//! The fields that instructions of several encodings have: operands, registers, flags; and what is wrong with them.

use super::super::gcn::Gcn;
use super::super::generation::{Accumulators, Generation};
use super::super::inst::{Format, Inst, flag};
use super::super::operand::{InlineFloat, Operand, Window, sreg};
use super::super::table::Entry;
use thiserror::Error;

/// Words that are not an instruction.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("the instruction needs {needed} words but only {have} are left")]
    Truncated { needed: u32, have: u32 },
    #[error("{word:#010x}: no instruction begins with {bits:#08b} in bits 31:26")]
    Encoding { word: u32, bits: u32 },
    #[error("{word:#010x}: {format:?} has no opcode {code:#x}")]
    Opcode { word: u32, format: Format, code: u32 },
    #[error("{word:#010x}: `{name}` has no {format:?} form")]
    Form { word: u32, name: &'static str, format: Format },
    #[error("`{name}`: field {field} is {value:#x}: {why}")]
    Field { name: &'static str, field: &'static str, value: u32, why: &'static str },
}

pub(super) type Decoded<T> = Result<T, DecodeError>;

/// The words at work.
pub(super) struct Decoder<'a> {
    pub generation: &'a Generation,
    pub words: &'a [u32],
    pub w: u32,
}

impl Decoder<'_> {
    pub(super) fn op(&self, format: Format, code: u32) -> Decoded<&'static Entry> {
        self.generation.op(format, code).map(|op| op.line(self.generation.gcn)).ok_or(DecodeError::Opcode {
            word: self.w,
            format,
            code,
        })
    }

    /// An instruction of this generation, without operands.
    pub(super) fn inst(&self, entry: &Entry, format: Format) -> Inst {
        Inst::of(self.generation.gcn, entry.op, format)
    }

    pub(super) fn second(&self) -> Decoded<u32> {
        let have = self.words.len() as u32;
        self.words.get(1).copied().ok_or(DecodeError::Truncated { needed: 2, have })
    }

    /// A 9-bit source; `literal` says whether 255 may stand here.
    pub(super) fn source(&self, inst: &mut Inst, i: usize, value: u32, literal: bool) -> Decoded<()> {
        let entry = inst.entry();
        let field = ["src0", "src1", "src2"][i];
        let bad = |why| Err(DecodeError::Field { name: entry.name, field, value, why });
        let dwords = entry.src[i].dwords();
        inst.src[i] = match value {
            0..=127 => return self.scalar(inst, i, field, value),
            128..=192 => Operand::InlineInt((value - 128) as i8),
            193..=208 => Operand::InlineInt((192 - value as i32) as i8),
            240..=248 => Operand::InlineFloat(InlineFloat::ALL[value as usize - 240]),
            235..=239 if self.generation.is_gfx9() => Operand::Window(Window::ALL[value as usize - 235]),
            251 => Operand::VccZ,
            252 => Operand::ExecZ,
            253 => Operand::Scc,
            254 => Operand::LdsDirect,
            255 if literal => {
                inst.size = 8;
                Operand::Literal(self.second()?)
            }
            255 => return bad("a literal cannot stand here"),
            256..=511 => {
                self.vgpr_range(entry, field, value & 0xff, dwords)?;
                if entry.acc_src { Operand::Agpr(value as u8) } else { Operand::Vgpr(value as u8) }
            }
            _ => return bad("reserved operand number"),
        };
        if value == 254 && dwords > 1 {
            return bad("a single dword where the operation reads more");
        }
        Ok(())
    }

    pub(super) fn scalar(&self, inst: &mut Inst, i: usize, field: &'static str, value: u32) -> Decoded<()> {
        let entry = inst.entry();
        inst.src[i] = self.sgpr(entry, field, value, entry.src[i].dwords())?;
        Ok(())
    }

    pub(super) fn vgpr_source(
        &self,
        inst: &mut Inst,
        i: usize,
        field: &'static str,
        value: u32,
        dwords: u8,
    ) -> Decoded<()> {
        self.vgpr_range(inst.entry(), field, value & 0xff, dwords)?;
        inst.src[i] = Operand::Vgpr(value as u8);
        Ok(())
    }

    /// A scalar register tuple: aligned, and inside the ordinary or one group of the named registers.
    pub(super) fn sgpr(
        &self,
        entry: &Entry,
        field: &'static str,
        value: u32,
        dwords: u8,
    ) -> Decoded<Operand> {
        let bad = |why| Err(DecodeError::Field { name: entry.name, field, value, why });
        let Ok(first) = u8::try_from(value) else { return bad("a scalar register must stand here") };
        match scalar_tuple(self.generation.gcn, first, dwords) {
            Ok(()) => Ok(Operand::Sgpr(first)),
            Err(why) => bad(why),
        }
    }

    /// Bits of caching that an operation cannot have.
    pub(super) fn check_caching(&self, inst: &Inst) -> Decoded<()> {
        let entry = inst.entry();
        let bad = |field, why| Err(DecodeError::Field { name: entry.name, field, value: 1, why });
        match self.generation.gcn {
            _ if !entry.is_float_atomic() => Ok(()),
            Gcn::Gfx908 if inst.has(flag::GLC) => bad("glc", "the operation returns nothing"),
            Gcn::Gfx90a if inst.has(flag::SC1) => bad("scc", "the operation does not have it"),
            _ => Ok(()),
        }
    }

    pub(super) fn vgpr_range(
        &self,
        entry: &Entry,
        field: &'static str,
        first: u32,
        dwords: u8,
    ) -> Decoded<()> {
        let bad = |why| Err(DecodeError::Field { name: entry.name, field, value: first, why });
        if first + u32::from(dwords) > 256 {
            return bad("the registers go beyond v255");
        }
        if dwords > 1 && first % 2 == 1 && self.generation.accumulators == Accumulators::Unified {
            return bad("the registers must begin at an even one");
        }
        Ok(())
    }
}

pub(super) fn flags(word: u32, bits: &[(u32, u16)]) -> u16 {
    bits.iter().filter(|(bit, _)| word >> bit & 1 == 1).map(|(_, flag)| flag).sum()
}

/// Whether `dwords` scalar registers from `first` are an operand.
pub(in crate::gcn3) fn scalar_tuple(gcn: Gcn, first: u8, dwords: u8) -> Result<(), &'static str> {
    let ttmp = sreg::first_ttmp(gcn);
    let limit = match first {
        0..sreg::COUNT => sreg::COUNT,
        _ if (ttmp..sreg::M0).contains(&first) => sreg::M0,
        sreg::M0 => 125,
        125 | 128.. => return Err("not a scalar register"),
        pair => (pair & !1) + 2,
    };
    let align = dwords.clamp(1, 4).next_power_of_two();
    if !first.is_multiple_of(align) {
        return Err("the registers are not aligned");
    }
    if first + dwords > limit {
        return Err("the registers go beyond the last one");
    }
    Ok(())
}
