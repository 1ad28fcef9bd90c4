//! Vector ALU: short, long, packed, SDWA and DPP forms.

use super::super::generation::Accumulators;
use super::super::inst::{DppCtrl, Format, Inst, flag};
use super::super::op::Op;
use super::super::operand::{Operand, Ty, sreg};
use super::super::table::{Halves, modifier};
use super::fields::{DecodeError, Decoded, Decoder, flags};

impl Decoder<'_> {
    /// VOP1, VOP2, VOPC and their SDWA and DPP forms.
    pub(super) fn vop_short(&self, format: Format, code: u32) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(format, code)?;
        let mut inst = self.inst(entry, format);
        let reads = entry.src[0] != Ty::None;
        match w & 0x1ff {
            0xf9 if reads => self.sdwa(&mut inst)?,
            0xfa if reads => self.dpp(&mut inst)?,
            src0 if reads => self.source(&mut inst, 0, src0, true)?,
            _ => {}
        }
        self.short_operands(&mut inst, format)?;
        Ok(inst)
    }

    fn short_operands(&self, inst: &mut Inst, format: Format) -> Decoded<()> {
        let w = self.w;
        let entry = inst.entry();
        match format {
            Format::Vopc
                if self.generation.is_gfx9() && inst.format == Format::Sdwa && inst.imm >> 15 & 1 == 1 =>
            {
                inst.dst = self.sgpr(entry, "sdst", inst.imm as u32 >> 8 & 0x7f, 2)?;
            }
            Format::Vopc => inst.dst = Operand::VCC,
            _ if entry.scalar_dst => {
                inst.dst = self.sgpr(entry, "vdst", w >> 17 & 0xff, 1)?;
                if !matches!(inst.src[0], Operand::Vgpr(_) | Operand::LdsDirect) {
                    let why = "a vector register must stand here";
                    return Err(DecodeError::Field {
                        name: entry.name,
                        field: "src0",
                        value: w & 0x1ff,
                        why,
                    });
                }
            }
            _ if entry.dst != Ty::None => {
                self.vgpr_range(entry, "vdst", w >> 17 & 0xff, entry.dst.dwords())?;
                let number = (w >> 17) as u8;
                inst.dst = if entry.acc_dst { Operand::Agpr(number) } else { Operand::Vgpr(number) };
            }
            _ => {}
        }
        if format == Format::Vop1 {
            return Ok(());
        }
        let second = if entry.literal_source() == Some(1) { 2 } else { 1 };
        if inst.format == Format::Sdwa && inst.imm as u32 >> 31 == 1 && self.generation.is_gfx9() {
            inst.src[1] = self.sgpr(entry, "vsrc1", w >> 9 & 0xff, 1)?;
        } else {
            self.vgpr_source(inst, second, "vsrc1", w >> 9 & 0xff, entry.src[second].dwords())?;
        }
        if let Some(i) = entry.literal_source() {
            inst.size = 8;
            inst.src[i] = Operand::Literal(self.second()?);
        }
        if entry.src[2] == Ty::Mask {
            inst.src[2] = Operand::VCC;
        }
        if entry.carry {
            inst.sdst = sreg::VCC;
        }
        Ok(())
    }

    fn sdwa(&self, inst: &mut Inst) -> Decoded<()> {
        let entry = inst.entry();
        if entry.forms & modifier::SDWA == 0 {
            return Err(DecodeError::Form { word: self.w, name: entry.name, format: Format::Sdwa });
        }
        let c = self.second()?;
        let selects: &[(u32, &'static str)] = match entry.format {
            Format::Vop1 => &[(8, "dst_sel"), (16, "src0_sel")],
            Format::Vop2 => &[(8, "dst_sel"), (16, "src0_sel"), (24, "src1_sel")],
            _ => &[(16, "src0_sel"), (24, "src1_sel")],
        };
        for &(shift, field) in selects {
            if c >> shift & 7 == 7 {
                return Err(DecodeError::Field {
                    name: entry.name,
                    field,
                    value: 7,
                    why: "reserved selection",
                });
            }
        }
        if entry.format != Format::Vopc && c >> 11 & 3 == 3 {
            let why = "reserved value";
            return Err(DecodeError::Field { name: entry.name, field: "dst_unused", value: 3, why });
        }
        (inst.format, inst.size, inst.imm) = (Format::Sdwa, 8, c as i32);
        inst.neg = (c >> 20 & 1 | c >> 27 & 2) as u8;
        inst.abs = (c >> 21 & 1 | c >> 28 & 2) as u8;
        if !(self.generation.is_gfx9() && entry.format == Format::Vopc) {
            inst.flags = flags(c, &[(13, flag::CLAMP)]);
        }
        if !self.generation.is_gfx9() {
            return self.vgpr_source(inst, 0, "src0", c & 0xff, 1);
        }
        // Bits that say nothing: of a source that is not there, of VCC as the destination.
        let vcc = c >> 15 & 1 == 0 || c >> 8 & 0x7f == sreg::VCC.into();
        match entry.format {
            Format::Vop1 => inst.imm &= i32::MAX,
            Format::Vopc if vcc => inst.imm &= !0xff00,
            _ => {}
        }
        if entry.format != Format::Vopc {
            inst.omod = (c >> 14 & 3) as u8;
            if entry.selects_source_only() && (c & 0x1f00 != 0x600 || c >> 19 & 7 != 0) {
                let why = "only a part of the source can be selected";
                return Err(DecodeError::Field {
                    name: entry.name,
                    field: "dst_sel",
                    value: c >> 8 & 0x1f,
                    why,
                });
            }
            if inst.omod != 0 && !entry.dst.is_float() && !entry.selects_source_only() {
                let why = "the operation does not take this modifier";
                return Err(DecodeError::Field {
                    name: entry.name,
                    field: "omod",
                    value: inst.omod.into(),
                    why,
                });
            }
        }
        if c >> 23 & 1 == 1 {
            inst.src[0] = self.sgpr(entry, "src0", c & 0xff, 1)?;
            return Ok(());
        }
        self.vgpr_source(inst, 0, "src0", c & 0xff, 1)
    }

    fn dpp(&self, inst: &mut Inst) -> Decoded<()> {
        let entry = inst.entry();
        if entry.forms & modifier::DPP == 0 {
            return Err(DecodeError::Form { word: self.w, name: entry.name, format: Format::Dpp });
        }
        let c = self.second()?;
        let value = c >> 8 & 0x1ff;
        let unified = self.generation.accumulators == Accumulators::Unified;
        let movement = DppCtrl::from_bits(value);
        let known = match movement {
            None => false,
            Some(DppCtrl::RowNewBcast(_)) => unified,
            Some(_) => entry.src[0].dwords() == 1 && entry.dst.dwords() == 1 || !unified,
        };
        if !known {
            let why = "reserved lane movement";
            return Err(DecodeError::Field { name: entry.name, field: "dpp_ctrl", value, why });
        }
        (inst.format, inst.size, inst.imm) = (Format::Dpp, 8, c as i32);
        inst.neg = (c >> 20 & 1 | c >> 21 & 2) as u8;
        inst.abs = (c >> 21 & 1 | c >> 22 & 2) as u8;
        self.vgpr_source(inst, 0, "src0", c & 0xff, entry.src[0].dwords())
    }

    pub(super) fn vop3(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Vop3, w >> 16 & 0x3ff)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Vop3);
        inst.size = 8;
        if entry.format == Format::Vopc || entry.scalar_dst {
            inst.dst = self.sgpr(entry, "vdst", w & 0xff, entry.dst.dwords())?;
        } else if entry.dst != Ty::None {
            self.vgpr_range(entry, "vdst", w & 0xff, entry.dst.dwords())?;
            inst.dst = Operand::Vgpr(w as u8);
        }
        if entry.carry {
            self.sgpr(entry, "sdst", w >> 8 & 0x7f, 2)?;
            inst.sdst = (w >> 8 & 0x7f) as u8;
        } else {
            inst.abs = (w >> 8 & 7) as u8;
        }
        inst.flags = flags(w, &[(15, flag::CLAMP)]);
        inst.neg = (w1 >> 29) as u8;
        inst.omod = (w1 >> 27 & 3) as u8;
        if entry.halves == Halves::One {
            inst.imm = (w >> 11 & 15) as i32;
        }
        if entry.halves == Halves::Attribute {
            self.interpolation(&mut inst, w1)?;
            self.check_modifiers(&inst)?;
            return Ok(inst);
        }
        for i in 0..3 {
            let value = w1 >> (9 * i) & 0x1ff;
            match entry.src[i] {
                Ty::None => {}
                Ty::Mask => self.scalar(&mut inst, i, "src2", value)?,
                _ => self.source(&mut inst, i, value, false)?,
            }
        }
        self.check_lane_access(&inst, w1)?;
        self.check_modifiers(&inst)?;
        Ok(inst)
    }

    /// Packed operations, accumulators, matrices.
    pub(super) fn vop3p(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Vop3p, w >> 16 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = self.inst(entry, Format::Vop3p);
        inst.size = 8;
        self.vgpr_range(entry, "vdst", w & 0xff, entry.dst.dwords())?;
        let blocks = entry.halves == Halves::Blocks;
        // Before the files were one, results of matrices were accumulators.
        let accumulates =
            blocks && (w >> 15 & 1 == 1 || self.generation.accumulators != Accumulators::Unified);
        inst.dst = match accumulates || entry.acc_dst {
            true => Operand::Agpr(w as u8),
            false => Operand::Vgpr(w as u8),
        };
        for i in 0..3 {
            if entry.src[i] != Ty::None {
                self.source(&mut inst, i, w1 >> (9 * i) & 0x1ff, false)?;
            }
        }
        match entry.halves {
            Halves::Blocks => self.matrix(&mut inst, w1, accumulates)?,
            Halves::Moved => {}
            Halves::Packed | Halves::Mixed | Halves::One | Halves::Whole | Halves::Attribute => {
                inst.neg = (w1 >> 29) as u8;
                inst.abs = (w >> 8 & 7) as u8;
                inst.flags = flags(w, &[(15, flag::CLAMP)]);
                inst.imm = (w >> 11 & 7 | (w1 >> 27 & 3 | w >> 12 & 4) << 4) as i32;
                let sources = entry.src.iter().filter(|ty| **ty != Ty::None).count();
                let used = (1 << sources) - 1;
                inst.imm &= used | used << 4;
                self.check_modifiers(&inst)?;
            }
        }
        Ok(inst)
    }

    /// Accumulators of a matrix operation, and which blocks it takes.
    fn matrix(&self, inst: &mut Inst, w1: u32, accumulates: bool) -> Decoded<()> {
        let (w, entry) = (self.w, inst.entry());
        inst.imm = (w >> 8 & 7 | (w >> 11 & 15) << 3 | (w1 >> 29) << 7) as i32;
        if entry.dst_read && w1 >> 29 != 0 {
            let why = "a sparse matrix has no blocks to permute";
            return Err(DecodeError::Field { name: entry.name, field: "blgp", value: w1 >> 29, why });
        }
        for i in 0..3 {
            let value = w1 >> (9 * i) & 0x1ff;
            let accumulator =
                if i == 2 && !entry.dst_read { accumulates } else { i < 2 && w1 >> (27 + i) & 1 == 1 };
            match inst.src[i] {
                Operand::Vgpr(n) if accumulator => inst.src[i] = Operand::Agpr(n),
                Operand::Vgpr(_) => {}
                Operand::InlineInt(_) | Operand::InlineFloat(_) if i == 2 && !entry.dst_read => {}
                _ => {
                    let (field, why) = (["src0", "src1", "src2"][i], "a vector register must stand here");
                    return Err(DecodeError::Field { name: entry.name, field, value, why });
                }
            }
        }
        Ok(())
    }

    /// v_readlane and v_movrels read a vector register, v_writelane only scalars.
    fn check_lane_access(&self, inst: &Inst, w1: u32) -> Decoded<()> {
        let vector = |i: usize| matches!(inst.src[i], Operand::Vgpr(_));
        let (field, value, why) = match inst.op {
            Op::VReadlaneB32 | Op::VMovrelsB32 | Op::VMovrelsdB32 if !vector(0) => {
                ("src0", w1 & 0x1ff, "a vector register must stand here")
            }
            Op::VWritelaneB32 if vector(0) => ("src0", w1 & 0x1ff, "a vector register cannot stand here"),
            Op::VReadlaneB32 | Op::VWritelaneB32 if vector(1) => {
                ("src1", w1 >> 9 & 0x1ff, "a vector register cannot stand here")
            }
            _ => return Ok(()),
        };
        Err(DecodeError::Field { name: inst.op.name(), field, value, why })
    }

    fn check_modifiers(&self, inst: &Inst) -> Decoded<()> {
        let entry = inst.entry();
        let bad = |field, value: u8| {
            let why = "the operation does not take this modifier";
            Err(DecodeError::Field { name: entry.name, field, value: value.into(), why })
        };
        if inst.abs & !(entry.mods & 7) != 0 {
            return bad("abs", inst.abs);
        }
        if inst.neg & !(entry.mods >> 3 & 7) != 0 {
            return bad("neg", inst.neg);
        }
        if inst.omod != 0 && entry.mods & modifier::OMOD == 0 {
            return bad("omod", inst.omod);
        }
        if inst.clamp() && entry.mods & modifier::CLAMP == 0 {
            return bad("clamp", 1);
        }
        Ok(())
    }
}
