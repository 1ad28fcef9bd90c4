//! Vector ALU instructions: which of the short, long, SDWA and DPP forms, and the operands in it.

use super::cursor::{Cursor, Number, Parse};
use super::modifiers::{Modifiers, operands};
use super::operand::{Arg, Item, Place, fit, half_bits};
use crate::gcn3::gcn::Gcn;
use crate::gcn3::generation::Accumulators;
use crate::gcn3::inst::{Format, Inst, flag};
use crate::gcn3::op::Op;
use crate::gcn3::operand::{Operand, Ty, sreg};
use crate::gcn3::table::{Entry, Halves, implicit, modifier};
use std::ops::Range;

/// Reads the operands and takes the shortest form they fit, unless a suffix forces one.
pub(super) fn vector(c: &mut Cursor, op: Op, forced: Option<Format>, name: Range<usize>) -> Parse<Inst> {
    let entry = op.line(c.generation.gcn);
    let (args, mods) = operands(c)?;
    let long = entry.forms & modifier::E64 != 0;
    let form = |format| Form { c, entry, args: &args, format, name: name.clone() }.build(mods.clone());
    match forced {
        Some(Format::Vop1) => form(entry.format),
        Some(format) => form(format),
        None if mods.has_sdwa() => form(Format::Sdwa),
        None if mods.has_dpp() => form(Format::Dpp),
        None if !long || matches!(entry.format, Format::Vop3 | Format::Vop3p) => form(entry.format),
        None => form(entry.format).or_else(|_| form(Format::Vop3)),
    }
}

/// One attempt at an encoding.
struct Form<'a, 'b> {
    c: &'a Cursor<'b>,
    entry: &'static Entry,
    args: &'a [Arg],
    format: Format,
    name: Range<usize>,
}

impl Form<'_, '_> {
    fn build(&self, mut mods: Modifiers) -> Parse<Inst> {
        let entry = self.entry;
        let mut inst = Inst::of(self.c.generation.gcn, entry.op, self.format);
        let sources = entry.src.iter().filter(|ty| **ty != Ty::None).count();
        let expected = usize::from(entry.dst != Ty::None) + usize::from(entry.carry) + sources;
        if self.args.len() != expected {
            let message = format!("`{}` takes {expected} operands, not {}", entry.name, self.args.len());
            return Err(self.c.error(self.name.clone(), message, "here"));
        }
        let mut next = self.args.iter();
        if entry.dst != Ty::None
            && let Some(arg) = next.next()
        {
            inst.dst = self.destination(arg)?;
        }
        if entry.carry
            && let Some(arg) = next.next()
        {
            inst.sdst = self.mask(arg)?;
        }
        for (i, arg) in next.enumerate() {
            inst.src[i] = self.source(arg, i)?;
            self.around(&mut inst, arg, i)?;
        }
        self.modifiers(&mut inst, &mut mods)?;
        mods.finish(self.c, entry.name)?;
        self.check_scalars(&inst)?;
        self.check_matrix(&inst)?;
        Ok(inst)
    }

    fn destination(&self, arg: &Arg) -> Parse<Operand> {
        if arg.neg || arg.abs || arg.sext {
            return Err(self.c.error(arg.span.clone(), "a destination takes no modifier", "here"));
        }
        if self.entry.format == Format::Vopc {
            return self.mask(arg).map(Operand::Sgpr);
        }
        let place = match (self.entry.scalar_dst, self.entry.acc_dst, self.entry.halves) {
            (true, _, _) => Place::Scalar,
            (_, true, _) => Place::Accumulator,
            (_, _, Halves::Blocks) => self.matrix(),
            _ => Place::Vector,
        };
        fit(self.c, arg, self.entry.dst, place)
    }

    /// Where results of matrix operations go.
    fn matrix(&self) -> Place {
        match self.c.generation.accumulators {
            Accumulators::Unified => Place::EitherVector,
            Accumulators::None | Accumulators::Separate => Place::Accumulator,
        }
    }

    /// A lane mask: any pair in the long form, VCC in the others.
    fn mask(&self, arg: &Arg) -> Parse<u8> {
        match fit(self.c, arg, Ty::Mask, Place::Scalar)? {
            // From gfx9 on comparisons with SDWA write any pair.
            Operand::Sgpr(n)
                if self.format == Format::Sdwa
                    && self.entry.format == Format::Vopc
                    && self.c.generation.gcn > Gcn::Gfx8 =>
            {
                Ok(n)
            }
            Operand::Sgpr(n) if n == sreg::VCC || self.format == Format::Vop3 => Ok(n),
            _ => Err(self.c.error(arg.span.clone(), "this form can only use vcc here", "here")),
        }
    }

    fn source(&self, arg: &Arg, i: usize) -> Parse<Operand> {
        let (c, entry) = (self.c, self.entry);
        let ty = entry.src[i];
        if ty == Ty::Mask {
            return self.mask(arg).map(Operand::Sgpr);
        }
        if entry.literal_source() == Some(i) {
            return self.constant(arg, ty);
        }
        if entry.halves == Halves::Blocks {
            return self.matrix_source(arg, i);
        }
        let place = match (self.format, entry.op, i) {
            _ if entry.acc_src => Place::Accumulator,
            (Format::Sdwa, _, _)
                if c.generation.gcn > Gcn::Gfx8 && matches!(arg.item, Item::Scalar { .. }) =>
            {
                Place::Scalar
            }
            (Format::Sdwa | Format::Dpp, _, _) => Place::Vector,
            (_, Op::VReadfirstlaneB32 | Op::VReadlaneB32 | Op::VMovrelsB32 | Op::VMovrelsdB32, 0)
                if arg.item != Item::Status(Operand::LdsDirect) =>
            {
                Place::Vector
            }
            (_, Op::VReadlaneB32, 1) | (_, Op::VWritelaneB32, _) => Place::ScalarSource { literal: false },
            (_, Op::VSwapB32, _) => Place::Vector,
            (Format::Vop3 | Format::Vop3p, _, _) => Place::Any { literal: false },
            (_, _, 0) => Place::Any { literal: true },
            _ => Place::Vector,
        };
        fit(c, arg, ty, place)
    }

    /// Two factors in vector registers or accumulators, and what is added, which may be a constant.
    fn matrix_source(&self, arg: &Arg, i: usize) -> Parse<Operand> {
        let (entry, ty) = (self.entry, self.entry.src[i]);
        let place = match (i, &arg.item) {
            (2, _) if entry.dst_read => Place::Vector,
            // The first machine with matrices has no constants here.
            (2, Item::Number(_)) if self.c.generation.accumulators == Accumulators::Unified => {
                Place::Any { literal: false }
            }
            (2, _) => self.matrix(),
            _ => Place::EitherVector,
        };
        fit(self.c, arg, ty, place)
    }

    /// The constant of v_madmk and v_madak, always a literal.
    fn constant(&self, arg: &Arg, ty: Ty) -> Parse<Operand> {
        let bits = match (&arg.item, ty) {
            (Item::Number(Number::Int(v)), _) if (i32::MIN as i128..=u32::MAX as i128).contains(v) => {
                *v as u32
            }
            (Item::Number(Number::Float(v)), Ty::F16) => half_bits(*v).into(),
            (Item::Number(Number::Float(v)), _) => (*v as f32).to_bits(),
            _ => return Err(self.c.error(arg.span.clone(), "a constant must stand here", "here")),
        };
        Ok(Operand::Literal(bits))
    }

    /// neg, abs and sext around a source.
    fn around(&self, inst: &mut Inst, arg: &Arg, i: usize) -> Parse<()> {
        let entry = self.entry;
        let float = entry.src[i].is_float() || entry.op == Op::VCndmaskB32 && i < 2;
        let (neg, abs, sext) = match self.format {
            Format::Vop3p if entry.halves != Halves::Mixed => (false, false, false),
            Format::Vop3 | Format::Vop3p => {
                (entry.mods >> 3 >> i & 1 == 1, entry.mods >> i & 1 == 1 && !entry.carry, false)
            }
            Format::Sdwa => (float, float, !float && i < 2 && !entry.selects_source_only()),
            Format::Dpp => (float, float, false),
            _ => (false, false, false),
        };
        if arg.neg && !neg || arg.abs && !abs || arg.sext && !sext {
            let message = format!("`{}` does not take this modifier here", entry.name);
            return Err(self.c.error(arg.span.clone(), message, "here"));
        }
        inst.neg |= u8::from(arg.neg) << i;
        inst.abs |= u8::from(arg.abs) << i;
        if arg.sext {
            inst.imm |= 1 << [19, 27][i];
        }
        Ok(())
    }

    fn modifiers(&self, inst: &mut Inst, mods: &mut Modifiers) -> Parse<()> {
        let entry = self.entry;
        match self.format {
            Format::Vop3 | Format::Vop3p => {
                self.selections(inst, mods)?;
                if entry.mods & modifier::CLAMP != 0 {
                    inst.flags = mods.flags(flag::CLAMP);
                }
                if entry.mods & modifier::OMOD != 0 {
                    inst.omod = mods.omod(self.c)?;
                }
            }
            Format::Sdwa => {
                let gfx9 = self.c.generation.gcn > Gcn::Gfx8;
                if !gfx9 || entry.format != Format::Vopc {
                    inst.flags = mods.flags(flag::CLAMP);
                }
                if gfx9 && (entry.dst.is_float() || entry.selects_source_only()) {
                    inst.omod = mods.omod(self.c)?;
                }
                let two = entry.format != Format::Vop1;
                let part = entry.selects_source_only();
                inst.imm |= mods.sdwa(self.c, entry.format == Format::Vopc || part, two)? as i32;
                if part {
                    inst.imm |= 6 << 8;
                }
            }
            Format::Dpp => inst.imm = mods.dpp(self.c)? as i32,
            _ => {}
        }
        Ok(())
    }

    /// Large results must not lie half over what is added; later machines do not read LDS directly.
    fn check_matrix(&self, inst: &Inst) -> Parse<()> {
        let refuse = |message: &str| Err(self.c.error(self.name.clone(), message, "here"));
        let unified = self.c.generation.accumulators == Accumulators::Unified;
        if unified && inst.src.contains(&Operand::LdsDirect) {
            return refuse("this machine does not read LDS as an operand");
        }
        if inst.op == Op::VAccvgprWriteB32 && !unified && matches!(inst.src[0], Operand::Sgpr(_)) {
            return refuse("a vector register or a constant must stand here");
        }
        let range = |operand| match operand {
            Operand::Vgpr(n) => Some((false, u32::from(n))),
            Operand::Agpr(n) => Some((true, u32::from(n))),
            _ => None,
        };
        let dwords = u32::from(self.entry.dst.dwords());
        if self.entry.halves == Halves::Blocks
            && !self.entry.dst_read
            && dwords > 4
            && let (Some(a), Some(b)) = (range(inst.dst), range(inst.src[2]))
            && a.0 == b.0
            && a.1 != b.1
            && a.1.abs_diff(b.1) < dwords
        {
            return refuse("the result lies half over what is added");
        }
        Ok(())
    }

    /// op_sel and its kind, and the blocks of matrices.
    fn selections(&self, inst: &mut Inst, mods: &mut Modifiers) -> Parse<()> {
        let (c, entry) = (self.c, self.entry);
        let sources = entry.selected_sources();
        match entry.halves {
            Halves::Whole | Halves::Moved | Halves::Attribute => {}
            Halves::One => {
                let bits = mods.bits(c, "op_sel", sources + 1)?.unwrap_or(0);
                let dst = bits >> sources & 1;
                inst.imm = i32::from(bits & ((1 << sources) - 1) | dst << 3);
            }
            Halves::Packed | Halves::Mixed => {
                let usual = if entry.halves == Halves::Packed { (1 << sources) - 1 } else { 0 };
                let low = mods.bits(c, "op_sel", sources)?.unwrap_or(0);
                let high = mods.bits(c, "op_sel_hi", sources)?.unwrap_or(usual);
                let dot = entry.name.starts_with("v_dot") && c.generation.gcn >= Gcn::Gfx940;
                if dot && (low, high) != (0, usual) {
                    let message = format!("`{}` takes whole operands on this machine", entry.name);
                    return Err(c.error(self.name.clone(), message, "here"));
                }
                inst.imm = i32::from(low) | i32::from(high) << 4;
                if entry.halves == Halves::Packed && entry.mods & 0x3f != 0 {
                    inst.neg = mods.bits(c, "neg_lo", sources)?.unwrap_or(0);
                    inst.abs = mods.bits(c, "neg_hi", sources)?.unwrap_or(0);
                }
            }
            Halves::Blocks => {
                let double = entry.name.starts_with("v_mfma_f64") && c.generation.gcn >= Gcn::Gfx940;
                let cbsz = mods.number(c, "cbsz", 0, 7)?.unwrap_or(0);
                let abid = mods.number(c, "abid", 0, 15)?.unwrap_or(0);
                let blgp = match double {
                    true => mods.bits(c, "neg", 3)?.unwrap_or(0).into(),
                    false if entry.dst_read => 0,
                    false => mods.number(c, "blgp", 0, 7)?.unwrap_or(0),
                };
                inst.imm = (cbsz | abid << 3 | blgp << 7) as i32;
            }
        }
        Ok(())
    }

    /// VI reads one scalar value per vector instruction; a literal counts, the same one counts once.
    fn check_scalars(&self, inst: &Inst) -> Parse<()> {
        let mut read: Vec<(Operand, u8)> = Vec::new();
        for (bit, operand, dwords) in [(implicit::VCC, Operand::VCC, 2), (implicit::M0, Operand::M0, 1)] {
            if self.entry.reads & bit != 0 {
                read.push((operand, dwords));
            }
        }
        for (i, operand) in inst.src.into_iter().enumerate() {
            let scalar = match operand {
                // M0 as lane number is free.
                Operand::M0 if inst.op == Op::VWritelaneB32 && i == 1 => continue,
                Operand::Sgpr(_) => (operand, inst.src_dwords(i)),
                Operand::Literal(_) | Operand::VccZ | Operand::ExecZ | Operand::Scc => (operand, 1),
                _ => continue,
            };
            if !read.contains(&scalar) {
                read.push(scalar);
            }
        }
        if read.len() > 1 {
            let span = self
                .args
                .first()
                .map_or(self.name.clone(), |a| a.span.start..self.args[self.args.len() - 1].span.end);
            return Err(self
                .c
                .error(
                    span,
                    "a vector instruction can read only one scalar register or literal",
                    "too many scalars",
                )
                .hint("copy one of them to a vector register with v_mov_b32"));
        }
        Ok(())
    }
}
