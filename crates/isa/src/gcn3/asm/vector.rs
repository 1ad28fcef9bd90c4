//! Vector ALU instructions: which of the short, long, SDWA and DPP forms, and the operands in it.

use super::cursor::{Cursor, Number, Parse};
use super::modifiers::{Modifiers, operands};
use super::operand::{Arg, Item, Place, fit, half_bits};
use crate::gcn3::inst::{Format, Inst, flag};
use crate::gcn3::op::Op;
use crate::gcn3::operand::{Operand, Ty, sreg};
use crate::gcn3::table::{Entry, implicit, modifier};
use std::ops::Range;

/// Reads the operands and takes the shortest form they fit, unless a suffix forces one.
pub(super) fn vector(c: &mut Cursor, op: Op, forced: Option<Format>, name: Range<usize>) -> Parse<Inst> {
    let entry = op.entry();
    let (args, mods) = operands(c)?;
    let long = entry.forms & modifier::E64 != 0;
    let form = |format| Form { c, entry, args: &args, format, name: name.clone() }.build(mods.clone());
    match forced {
        Some(Format::Vop1) => form(entry.format),
        Some(format) => form(format),
        None if mods.has_sdwa() => form(Format::Sdwa),
        None if mods.has_dpp() => form(Format::Dpp),
        None if !long || entry.format == Format::Vop3 => form(entry.format),
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
        let mut inst = Inst::new(entry.op, self.format);
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
        Ok(inst)
    }

    fn destination(&self, arg: &Arg) -> Parse<Operand> {
        if arg.neg || arg.abs || arg.sext {
            return Err(self.c.error(arg.span.clone(), "a destination takes no modifier", "here"));
        }
        if self.entry.format == Format::Vopc {
            return self.mask(arg).map(Operand::Sgpr);
        }
        fit(self.c, arg, self.entry.dst, if self.entry.scalar_dst { Place::Scalar } else { Place::Vector })
    }

    /// A lane mask: any pair in the long form, VCC in the others.
    fn mask(&self, arg: &Arg) -> Parse<u8> {
        match fit(self.c, arg, Ty::Mask, Place::Scalar)? {
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
        let place = match (self.format, entry.op, i) {
            (Format::Sdwa | Format::Dpp, _, _) => Place::Vector,
            (_, Op::VReadfirstlaneB32 | Op::VReadlaneB32 | Op::VMovrelsB32 | Op::VMovrelsdB32, 0)
                if arg.item != Item::Status(Operand::LdsDirect) =>
            {
                Place::Vector
            }
            (_, Op::VReadlaneB32, 1) | (_, Op::VWritelaneB32, _) => Place::ScalarSource { literal: false },
            (Format::Vop3, _, _) => Place::Any { literal: false },
            (_, _, 0) => Place::Any { literal: true },
            _ => Place::Vector,
        };
        fit(c, arg, ty, place)
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
            Format::Vop3 => (entry.mods >> 3 >> i & 1 == 1, entry.mods >> i & 1 == 1 && !entry.carry, false),
            Format::Sdwa => (float, float, !float && i < 2),
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
            Format::Vop3 => {
                if entry.mods & modifier::CLAMP != 0 {
                    inst.flags = mods.flags(flag::CLAMP);
                }
                if entry.mods & modifier::OMOD != 0 {
                    inst.omod = mods.omod(self.c)?;
                }
            }
            Format::Sdwa => {
                inst.flags = mods.flags(flag::CLAMP);
                let two = entry.format != Format::Vop1;
                inst.imm |= mods.sdwa(self.c, entry.format == Format::Vopc, two)? as i32;
            }
            Format::Dpp => inst.imm = mods.dpp(self.c)? as i32,
            _ => {}
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
