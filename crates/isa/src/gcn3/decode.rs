//! Words to [`Inst`]. Total: code comes from files, so every bit pattern is an instruction or an
//! error that names the field. Unused fields are ignored, as the hardware does.

use super::generation::{GFX8, Generation};
use super::inst::{DppCtrl, Format, Inst, flag};
use super::op::Op;
use super::operand::{InlineFloat, Operand, Ty, sreg};
use super::table::{Entry, modifier};
use thiserror::Error;

/// Words that are not an instruction.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    #[error("the instruction needs {needed} words but only {have} are left")]
    Truncated { needed: u32, have: u32 },
    #[error("{word:#010x}: bits 31:26 are {bits:#08b} ({name}), an encoding that is not supported")]
    Encoding { word: u32, bits: u32, name: &'static str },
    #[error("{word:#010x}: {format:?} has no opcode {code:#x}")]
    Opcode { word: u32, format: Format, code: u32 },
    #[error("{word:#010x}: `{name}` has no {format:?} form")]
    Form { word: u32, name: &'static str, format: Format },
    #[error("`{name}`: field {field} is {value:#x}: {why}")]
    Field { name: &'static str, field: &'static str, value: u32, why: &'static str },
}

type Decoded<T> = Result<T, DecodeError>;

/// Decodes the instruction at the start of `words`; the rest may be anything.
pub fn decode(words: &[u32]) -> Result<Inst, DecodeError> {
    decode_for(&GFX8, words)
}

/// The same for a generation.
pub fn decode_for(generation: &Generation, words: &[u32]) -> Result<Inst, DecodeError> {
    let &w = words.first().ok_or(DecodeError::Truncated { needed: 1, have: 0 })?;
    let d = Decoder { generation, words, w };
    if w >> 31 == 0 {
        return match w >> 25 {
            0x3f => d.vop_short(Format::Vop1, w >> 9 & 0xff),
            0x3e => d.vop_short(Format::Vopc, w >> 17 & 0xff),
            code => d.vop_short(Format::Vop2, code),
        };
    }
    match (w >> 26, w >> 23 & 0x7f) {
        (0x2f, 0x7d) => d.sop1(),
        (0x2f, 0x7e) => d.sopc(),
        (0x2f, 0x7f) => d.sopp(),
        (0x2c..=0x2f, _) => d.sopk(),
        (0x20..=0x2b, _) => d.sop2(),
        (0x30, _) => d.smem(),
        (0x34, _) => d.vop3(),
        (0x36, _) => d.ds(),
        (0x37, _) => d.flat(),
        (0x38, _) => d.mubuf(),
        (0x3c, _) => d.mimg(),
        (bits, _) => Err(DecodeError::Encoding {
            word: w,
            bits,
            name: match bits {
                0x31 => "EXP",
                0x35 => "VINTRP",
                0x3a => "MTBUF",
                _ => "reserved",
            },
        }),
    }
}

struct Decoder<'a> {
    generation: &'a Generation,
    words: &'a [u32],
    w: u32,
}

impl Decoder<'_> {
    fn op(&self, format: Format, code: u32) -> Decoded<&'static Entry> {
        self.generation.op(format, code).map(Op::entry).ok_or(DecodeError::Opcode {
            word: self.w,
            format,
            code,
        })
    }

    fn second(&self) -> Decoded<u32> {
        let have = self.words.len() as u32;
        self.words.get(1).copied().ok_or(DecodeError::Truncated { needed: 2, have })
    }

    /// A 9-bit source; `literal` says whether 255 may stand here.
    fn source(&self, inst: &mut Inst, i: usize, value: u32, literal: bool) -> Decoded<()> {
        let entry = inst.entry();
        let field = ["src0", "src1", "src2"][i];
        let bad = |why| Err(DecodeError::Field { name: entry.name, field, value, why });
        let dwords = entry.src[i].dwords();
        inst.src[i] = match value {
            0..=127 => return self.scalar(inst, i, field, value),
            128..=192 => Operand::InlineInt((value - 128) as i8),
            193..=208 => Operand::InlineInt((192 - value as i32) as i8),
            240..=248 => Operand::InlineFloat(InlineFloat::ALL[value as usize - 240]),
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
                vgpr_range(entry, field, value & 0xff, dwords)?;
                Operand::Vgpr(value as u8)
            }
            _ => return bad("reserved operand number"),
        };
        if value == 254 && dwords > 1 {
            return bad("a single dword where the operation reads more");
        }
        Ok(())
    }

    fn scalar(&self, inst: &mut Inst, i: usize, field: &'static str, value: u32) -> Decoded<()> {
        let entry = inst.entry();
        inst.src[i] = sgpr(entry, field, value, entry.src[i].dwords())?;
        Ok(())
    }

    fn vgpr_source(
        &self,
        inst: &mut Inst,
        i: usize,
        field: &'static str,
        value: u32,
        dwords: u8,
    ) -> Decoded<()> {
        vgpr_range(inst.entry(), field, value & 0xff, dwords)?;
        inst.src[i] = Operand::Vgpr(value as u8);
        Ok(())
    }

    fn sop2(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sop2, w >> 23 & 0x7f)?;
        let mut inst = Inst::new(entry.op, Format::Sop2);
        if entry.dst != Ty::None {
            inst.dst = sgpr(entry, "sdst", w >> 16 & 0x7f, entry.dst.dwords())?;
        }
        self.source(&mut inst, 0, w & 0xff, true)?;
        self.source(&mut inst, 1, w >> 8 & 0xff, true)?;
        Ok(inst)
    }

    fn sop1(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sop1, w >> 8 & 0xff)?;
        let mut inst = Inst::new(entry.op, Format::Sop1);
        if entry.dst != Ty::None {
            inst.dst = sgpr(entry, "sdst", w >> 16 & 0x7f, entry.dst.dwords())?;
        }
        if entry.src[0] != Ty::None {
            self.source(&mut inst, 0, w & 0xff, true)?;
        }
        Ok(inst)
    }

    fn sopc(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sopc, w >> 16 & 0x7f)?;
        let mut inst = Inst::new(entry.op, Format::Sopc);
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

    fn sopk(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Sopk, w >> 23 & 0x1f)?;
        let mut inst = Inst::new(entry.op, Format::Sopk);
        inst.imm = immediate(entry, w);
        let register = w >> 16 & 0x7f;
        match entry.op {
            Op::SSetregImm32B32 => {
                inst.size = 8;
                inst.src[1] = Operand::Literal(self.second()?);
            }
            Op::SSetregB32 => inst.src[1] = sgpr(entry, "sdst", register, 1)?,
            _ if entry.dst == Ty::None => inst.src[0] = sgpr(entry, "sdst", register, entry.src[0].dwords())?,
            _ => inst.dst = sgpr(entry, "sdst", register, entry.dst.dwords())?,
        }
        Ok(inst)
    }

    fn sopp(&self) -> Decoded<Inst> {
        let entry = self.op(Format::Sopp, self.w >> 16 & 0x7f)?;
        let mut inst = Inst::new(entry.op, Format::Sopp);
        inst.imm = immediate(entry, self.w);
        Ok(inst)
    }

    fn smem(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Smem, w >> 18 & 0xff)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Smem);
        inst.size = 8;
        if entry.dst != Ty::None {
            inst.dst = sgpr(entry, "sdata", w >> 6 & 0x7f, entry.dst.dwords())?;
        }
        if entry.src[0] != Ty::None {
            self.scalar(&mut inst, 0, "sbase", (w & 0x3f) << 1)?;
            if w >> 17 & 1 == 1 {
                inst.imm = (w1 & 0xf_ffff) as i32;
            } else {
                self.scalar(&mut inst, 1, "offset", w1 & 0x7f)?;
            }
            inst.flags = flags(w, &[(16, flag::GLC)]);
        }
        Ok(inst)
    }

    /// VOP1, VOP2, VOPC and their SDWA and DPP forms.
    fn vop_short(&self, format: Format, code: u32) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(format, code)?;
        let mut inst = Inst::new(entry.op, format);
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
            Format::Vopc => inst.dst = Operand::VCC,
            _ if entry.scalar_dst => {
                inst.dst = sgpr(entry, "vdst", w >> 17 & 0xff, 1)?;
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
                vgpr_range(entry, "vdst", w >> 17 & 0xff, entry.dst.dwords())?;
                inst.dst = Operand::Vgpr((w >> 17) as u8);
            }
            _ => {}
        }
        if format == Format::Vop1 {
            return Ok(());
        }
        let second = if entry.literal_source() == Some(1) { 2 } else { 1 };
        self.vgpr_source(inst, second, "vsrc1", w >> 9 & 0xff, entry.src[second].dwords())?;
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
        inst.flags = flags(c, &[(13, flag::CLAMP)]);
        self.vgpr_source(inst, 0, "src0", c & 0xff, 1)
    }

    fn dpp(&self, inst: &mut Inst) -> Decoded<()> {
        let entry = inst.entry();
        if entry.forms & modifier::DPP == 0 {
            return Err(DecodeError::Form { word: self.w, name: entry.name, format: Format::Dpp });
        }
        let c = self.second()?;
        let value = c >> 8 & 0x1ff;
        if DppCtrl::from_bits(value).is_none() {
            let why = "reserved lane movement";
            return Err(DecodeError::Field { name: entry.name, field: "dpp_ctrl", value, why });
        }
        (inst.format, inst.size, inst.imm) = (Format::Dpp, 8, c as i32);
        inst.neg = (c >> 20 & 1 | c >> 21 & 2) as u8;
        inst.abs = (c >> 21 & 1 | c >> 22 & 2) as u8;
        self.vgpr_source(inst, 0, "src0", c & 0xff, 1)
    }

    fn vop3(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Vop3, w >> 16 & 0x3ff)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Vop3);
        inst.size = 8;
        if entry.format == Format::Vopc || entry.scalar_dst {
            inst.dst = sgpr(entry, "vdst", w & 0xff, entry.dst.dwords())?;
        } else if entry.dst != Ty::None {
            vgpr_range(entry, "vdst", w & 0xff, entry.dst.dwords())?;
            inst.dst = Operand::Vgpr(w as u8);
        }
        if entry.carry {
            sgpr(entry, "sdst", w >> 8 & 0x7f, 2)?;
            inst.sdst = (w >> 8 & 0x7f) as u8;
        } else {
            inst.abs = (w >> 8 & 7) as u8;
        }
        inst.flags = flags(w, &[(15, flag::CLAMP)]);
        inst.neg = (w1 >> 29) as u8;
        inst.omod = (w1 >> 27 & 3) as u8;
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

    fn ds(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Ds, w >> 17 & 0xff)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Ds);
        inst.size = 8;
        inst.imm = (w & 0xffff) as i32;
        inst.flags = flags(w, &[(16, flag::GDS)]);
        if entry.gds_only && !inst.has(flag::GDS) {
            let why = "the operation exists for GDS only";
            return Err(DecodeError::Field { name: entry.name, field: "gds", value: 0, why });
        }
        self.vector_fields(&mut inst, [Some(w1), Some(w1 >> 8), Some(w1 >> 16)], w1 >> 24)?;
        Ok(inst)
    }

    fn flat(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Flat, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Flat);
        inst.size = 8;
        inst.flags = flags(w, &[(16, flag::GLC), (17, flag::SLC)]);
        for (field, value) in [("offset", w & 0x1fff), ("tfe", w1 >> 23 & 1)] {
            if value != 0 {
                let why = "flat instructions do not have it on this machine";
                return Err(DecodeError::Field { name: entry.name, field, value, why });
            }
        }
        self.vector_fields(&mut inst, [Some(w1), Some(w1 >> 8), None], w1 >> 24)?;
        if entry.atomic && !inst.has(flag::GLC) {
            inst.dst = Operand::None;
        }
        Ok(inst)
    }

    /// Vector sources and destination of DS and FLAT, each eight bits.
    fn vector_fields(&self, inst: &mut Inst, fields: [Option<u32>; 3], dst: u32) -> Decoded<()> {
        const NAMES: [&str; 3] = ["addr", "data0", "data1"];
        let entry = inst.entry();
        for (i, field) in fields.into_iter().enumerate() {
            if let (Some(value), true) = (field, entry.src[i] != Ty::None) {
                self.vgpr_source(inst, i, NAMES[i], value & 0xff, entry.src[i].dwords())?;
            }
        }
        if entry.dst != Ty::None {
            vgpr_range(entry, "vdst", dst & 0xff, entry.dst.dwords())?;
            inst.dst = Operand::Vgpr(dst as u8);
        }
        Ok(())
    }

    fn mubuf(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Mubuf, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Mubuf);
        inst.size = 8;
        if entry.src[1] == Ty::None {
            return Ok(inst);
        }
        inst.imm = (w & 0xfff) as i32;
        let bits = [(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC), (16, flag::LDS), (17, flag::SLC)];
        inst.flags = flags(w, &bits) | flags(w1, &[(23, flag::TFE)]);
        let address = inst.src_dwords(0);
        if address > 0 && entry.src[0] != Ty::None {
            self.vgpr_source(&mut inst, 0, "vaddr", w1 & 0xff, address)?;
        }
        if entry.dst != Ty::None && !inst.has(flag::LDS) {
            vgpr_range(entry, "vdata", w1 >> 8 & 0xff, inst.dst_dwords())?;
            inst.dst = Operand::Vgpr((w1 >> 8) as u8);
        }
        self.scalar(&mut inst, 1, "srsrc", (w1 >> 16 & 0x1f) << 2)?;
        self.source(&mut inst, 2, w1 >> 24, false)?;
        Ok(inst)
    }

    fn mimg(&self) -> Decoded<Inst> {
        let w = self.w;
        let entry = self.op(Format::Mimg, w >> 18 & 0x7f)?;
        let w1 = self.second()?;
        let mut inst = Inst::new(entry.op, Format::Mimg);
        inst.size = 8;
        inst.imm = (w >> 8 & 15) as i32;
        let bits = [
            (12, flag::UNORM),
            (13, flag::GLC),
            (14, flag::DA),
            (15, flag::R128),
            (16, flag::TFE),
            (17, flag::LWE),
            (25, flag::SLC),
        ];
        inst.flags = flags(w, &bits) | flags(w1, &[(31, flag::D16)]);
        self.vgpr_source(&mut inst, 0, "vaddr", w1 & 0xff, entry.src[0].dwords())?;
        vgpr_range(entry, "vdata", w1 >> 8 & 0xff, inst.dst_dwords())?;
        inst.dst = Operand::Vgpr((w1 >> 8) as u8);
        inst.src[1] = sgpr(entry, "srsrc", (w1 >> 16 & 0x1f) << 2, inst.src_dwords(1))?;
        if entry.src[2] != Ty::None {
            self.scalar(&mut inst, 2, "ssamp", (w1 >> 21 & 0x1f) << 2)?;
        }
        Ok(inst)
    }
}

/// The 16-bit field of SOPK and SOPP, sign-extended where the operation does so.
fn immediate(entry: &Entry, w: u32) -> i32 {
    if entry.signed_immediate() { i32::from(w as i16) } else { (w & 0xffff) as i32 }
}

fn flags(word: u32, bits: &[(u32, u16)]) -> u16 {
    bits.iter().filter(|(bit, _)| word >> bit & 1 == 1).map(|(_, flag)| flag).sum()
}

/// A scalar register tuple: aligned, and inside the ordinary or one group of the named registers.
fn sgpr(entry: &Entry, field: &'static str, value: u32, dwords: u8) -> Decoded<Operand> {
    let bad = |why| Err(DecodeError::Field { name: entry.name, field, value, why });
    let Ok(first) = u8::try_from(value) else { return bad("a scalar register must stand here") };
    match scalar_tuple(first, dwords) {
        Ok(()) => Ok(Operand::Sgpr(first)),
        Err(why) => bad(why),
    }
}

/// Whether `dwords` scalar registers from `first` are an operand.
pub(super) fn scalar_tuple(first: u8, dwords: u8) -> Result<(), &'static str> {
    let limit = match first {
        0..sreg::COUNT => sreg::COUNT,
        sreg::TTMP..sreg::M0 => sreg::M0,
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

fn vgpr_range(entry: &Entry, field: &'static str, first: u32, dwords: u8) -> Decoded<()> {
    if first + u32::from(dwords) > 256 {
        let why = "the registers go beyond v255";
        return Err(DecodeError::Field { name: entry.name, field, value: first, why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        let message = |words: &[u32]| decode(words).unwrap_err().to_string();
        assert_eq!(message(&[]), "the instruction needs 1 words but only 0 are left");
        assert_eq!(message(&[0xbf7f_0000]), "0xbf7f0000: Sopc has no opcode 0x7f");
        assert!(message(&[0xc400_0000]).contains("EXP"));
        assert_eq!(message(&[0x8680_0301]), "`s_and_b64`: field src0 is 0x1: the registers are not aligned");
        assert!(message(&[0xd1c8_0100, 0]).contains("field abs is 0x1"));
        assert!(message(&[0x7e00_4cfa, 0]).contains("no Dpp form"));
        assert!(message(&[0x7e00_02ff]).contains("needs 2 words"));
    }
}
