//! Scalar ALU, program control and scalar memory.

use super::super::inst::{Format, Inst, flag};
use super::super::op::Op;
use super::super::operand::{Operand, Ty};
use super::super::table::Entry;
use super::fields::{Decoded, Decoder, flags};

impl Decoder<'_> {
    pub(super) fn sop2(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sop2, w >> 23 & 0x7f)?;
        let mut inst = self.inst(entry, Format::Sop2);
        if entry.dst != Ty::None {
            inst.dst = self.sgpr(entry, "sdst", w >> 16 & 0x7f, entry.dst.dwords())?;
        }
        self.source(&mut inst, 0, w & 0xff, true)?;
        self.source(&mut inst, 1, w >> 8 & 0xff, true)?;
        Ok(inst)
    }

    pub(super) fn sop1(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sop1, w >> 8 & 0xff)?;
        let mut inst = self.inst(entry, Format::Sop1);
        if entry.dst != Ty::None {
            inst.dst = self.sgpr(entry, "sdst", w >> 16 & 0x7f, entry.dst.dwords())?;
        }
        if entry.src[0] != Ty::None {
            self.source(&mut inst, 0, w & 0xff, true)?;
        }
        Ok(inst)
    }

    pub(super) fn sopc(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sopc, w >> 16 & 0x7f)?;
        let mut inst = self.inst(entry, Format::Sopc);
        if entry.src[0] == Ty::None {
            return Ok(inst);
        }
        self.source(&mut inst, 0, w & 0xff, true)?;
        if entry.src[1] == Ty::Imm16 {
            inst.imm = (w >> 8 & 0xff) as i32;
        } else {
            self.source(&mut inst, 1, w >> 8 & 0xff, true)?;
        }
        Ok(inst)
    }

    pub(super) fn sopk(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sopk, w >> 23 & 0x1f)?;
        let mut inst = self.inst(entry, Format::Sopk);
        inst.imm = immediate(entry, w);
        let register = w >> 16 & 0x7f;
        match entry.op {
            Op::SSetregImm32B32 => {
                inst.size = 8;
                inst.src[1] = Operand::Literal(self.second()?);
            }
            Op::SSetregB32 => inst.src[1] = self.sgpr(entry, "sdst", register, 1)?,
            _ if entry.dst == Ty::None => {
                inst.src[0] = self.sgpr(entry, "sdst", register, entry.src[0].dwords())?
            }
            _ => inst.dst = self.sgpr(entry, "sdst", register, entry.dst.dwords())?,
        }
        Ok(inst)
    }

    pub(super) fn sopp(&self) -> Decoded<Inst> {
        let entry = self.op(Format::Sopp, self.w >> 16 & 0x7f)?;
        let mut inst = self.inst(entry, Format::Sopp);
        inst.imm = immediate(entry, self.w);
        Ok(inst)
    }

    pub(super) fn smem(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Smem, w >> 18 & 0xff)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Smem);
        inst.size = 8;
        if entry.dst == Ty::Imm16 {
            inst.dst = Operand::InlineInt((w >> 6 & 0x7f) as i8);
        } else if entry.dst != Ty::None {
            inst.dst = self.sgpr(entry, "sdata", w >> 6 & 0x7f, entry.dst.dwords())?;
        }
        if entry.src[0] != Ty::None {
            self.scalar(&mut inst, 0, "sbase", (w & 0x3f) << 1)?;
            let both = self.generation.is_gfx9() && w >> 14 & 1 == 1;
            if w >> 17 & 1 == 1 {
                inst.imm = match self.generation.is_gfx9() {
                    true => (w1 << 11) as i32 >> 11,
                    false => (w1 & 0xf_ffff) as i32,
                };
            } else if !both {
                self.scalar(&mut inst, 1, "offset", w1 & 0x7f)?;
            }
            if both {
                self.scalar(&mut inst, 1, "soffset", w1 >> 25)?;
            }
            if entry.dst.dwords() > 0 {
                inst.flags = flags(w, &[(16, flag::GLC)]);
            }
        }
        Ok(inst)
    }
}

/// The 16-bit field of SOPK and SOPP, sign-extended where the operation does so.
fn immediate(entry: &Entry, w: u32) -> i32 {
    if entry.signed_immediate() { i32::from(w as i16) } else { (w & 0xffff) as i32 }
}
