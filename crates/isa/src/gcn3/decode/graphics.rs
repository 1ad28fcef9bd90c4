//! Interpolation and export.

use super::super::inst::{Format, Inst};
use super::super::op::Op;
use super::super::operand::Operand;
use super::fields::{DecodeError, Decoded, Decoder};

impl Decoder<'_> {
    pub(super) fn vintrp(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Vintrp, w >> 16 & 3)?;
        let mut inst = self.inst(entry, Format::Vintrp);
        inst.dst = Operand::Vgpr((w >> 18) as u8);
        inst.imm = (w >> 10 & 0x3f | (w >> 8 & 3) << 6) as i32;
        inst.src[1] = match entry.op {
            Op::VInterpMovF32 => self.corner(w & 0xff)?,
            _ => Operand::Vgpr(w as u8),
        };
        Ok(inst)
    }

    /// The operands of the long form; modifiers are as in any other.
    pub(super) fn interpolation(&self, inst: &mut Inst, w1: u32) -> Decoded<()> {
        let entry = inst.entry();
        inst.imm = (w1 & 0x1ff) as i32;
        let value = w1 >> 9 & 0x1ff;
        if entry.op == Op::VInterpMovF32 {
            inst.src[1] = self.corner(value)?;
            return Ok(());
        }
        let third = w1 >> 18 & 0x1ff;
        for (i, field, value) in [(1, "src1", value), (2, "src2", third)] {
            if entry.src[i].dwords() == 0 {
                continue;
            }
            if value < 256 {
                let why = "a vector register must stand here";
                return Err(DecodeError::Field { name: entry.name, field, value, why });
            }
            inst.src[i] = Operand::Vgpr(value as u8);
        }
        Ok(())
    }

    /// p10, p20 or p0.
    fn corner(&self, value: u32) -> Decoded<Operand> {
        match value {
            0..=2 => Ok(Operand::InlineInt(value as i8)),
            _ => {
                let (name, why) = ("v_interp_mov_f32", "a triangle has no such corner");
                Err(DecodeError::Field { name, field: "vsrc", value, why })
            }
        }
    }

    pub(super) fn exp(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Exp, 0)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Exp);
        inst.size = 8;
        inst.imm = (w & 0x1fff) as i32;
        let value = |i: u32| match inst.exports(i) {
            true => Operand::Vgpr((w1 >> (8 * i)) as u8),
            false => Operand::None,
        };
        (inst.src, inst.dst) = ([value(0), value(1), value(2)], value(3));
        Ok(inst)
    }
}
