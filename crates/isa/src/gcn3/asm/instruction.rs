//! One instruction line to an [`Inst`]: the mnemonic, then the operands its format has.

use super::cursor::{Cursor, Number, Parse};
use super::graphics;
use super::line::{Line, Target};
use super::modifiers::{Modifiers, operands};
use super::operand::{Arg, Item, Place, fit};
use super::symbolic;
use super::vector::vector;
use crate::diag::nearest;
use crate::gcn3::gcn::Gcn;
use crate::gcn3::generation::{Accumulators, Caching, Generation};
use crate::gcn3::inst::{Format, Inst, flag};
use crate::gcn3::op::Op;
use crate::gcn3::operand::{Operand, Ty};
use crate::gcn3::symbols::USUAL_FORMAT;
use crate::gcn3::table::{Entry, Halves, lines_of, modifier, segment};
use std::ops::Range;

const SUFFIXES: [(&str, Format); 4] =
    [("_e32", Format::Vop1), ("_e64", Format::Vop3), ("_sdwa", Format::Sdwa), ("_dpp", Format::Dpp)];

/// The operation of a word, and the segment it names: `global_load_dword` is `flat_load_dword` of another segment.
fn named(generation: &Generation, word: &str) -> Option<(Op, Option<Format>)> {
    let segments =
        [("global_", segment::GLOBAL, Format::Global), ("scratch_", segment::SCRATCH, Format::Scratch)];
    for (prefix, bit, format) in segments {
        if let Some(rest) = word.strip_prefix(prefix) {
            let op = generation.op_named(&format!("flat_{rest}"))?;
            let exists = generation.is_gfx9() && op.line(generation.gcn).forms & bit != 0;
            return exists.then_some((op, Some(format)));
        }
    }
    let op = generation.op_named(word)?;
    let line = op.line(generation.gcn);
    let flat = line.format != Format::Flat || line.forms & segment::FLAT != 0;
    flat.then_some((op, None))
}

/// The operation and the encoding its suffix or prefix asks for; `Vop1` stands for the short form.
fn mnemonic(c: &Cursor, word: &str, span: Range<usize>) -> Parse<(Op, Option<Format>)> {
    let lower = word.to_ascii_lowercase();
    let generation = c.generation;
    if let Some(found) = named(generation, &lower) {
        return Ok(found);
    }
    for (suffix, format) in SUFFIXES {
        let Some(op) = lower.strip_suffix(suffix).and_then(|name| generation.op_named(name)) else {
            continue;
        };
        let entry = op.line(generation.gcn);
        let exists = match format {
            Format::Vop3 => entry.forms & modifier::E64 != 0,
            Format::Sdwa => entry.forms & modifier::SDWA != 0,
            Format::Dpp => entry.forms & modifier::DPP != 0,
            _ => matches!(entry.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp),
        };
        if exists {
            return Ok((op, Some(format)));
        }
        return Err(c.error(span, format!("`{}` has no `{suffix}` form", entry.name), "here"));
    }
    let label = format!("not an instruction of {}", generation.usual.name);
    let error = c.error(span, format!("unknown instruction `{word}`"), label);
    Err(match nearest(&lower, lines_of(generation.gcn).map(|e| e.name)) {
        Some(name) => error.hint(format!("did you mean `{name}`?")),
        None => error,
    })
}

/// The instruction on the rest of the line.
pub(super) fn instruction(c: &mut Cursor) -> Parse<Line> {
    let here = c.here();
    let Some((word, span)) = c.word() else {
        return Err(c.error(here, "expected an instruction", "here"));
    };
    let (op, forced) = mnemonic(c, word, span.clone())?;
    let entry = op.line(c.generation.gcn);
    let mut target = None;
    let format = forced.filter(|f| matches!(f, Format::Global | Format::Scratch)).unwrap_or(entry.format);
    let mut inst = Inst::of(c.generation.gcn, op, format);
    match entry.format {
        Format::Sopp => target = sopp(c, &mut inst)?,
        Format::Sopk => target = sopk(c, &mut inst)?,
        Format::Sopc if entry.src[1] == Ty::Imm16 => {
            let arg = super::operand::arg(c)?;
            inst.src[0] = fit(c, &arg, entry.src[0], Place::ScalarSource { literal: true })?;
            c.expect(',')?;
            inst.imm = symbolic::index_mode(c)?;
        }
        Format::Vintrp | Format::Vop3 if entry.halves == Halves::Attribute => {
            inst = graphics::interpolation(c, op, forced, span)?;
        }
        Format::Exp => graphics::export(c, &mut inst, span)?,
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vop3p => {
            inst = vector(c, op, forced, span)?;
        }
        _ => target = memory_or_scalar(c, &mut inst, span)?,
    }
    c.done()?;
    inst.size = 4 * crate::gcn3::encode(&inst).len() as u8;
    Ok(Line { inst, target })
}

fn memory_or_scalar(c: &mut Cursor, inst: &mut Inst, name: Range<usize>) -> Parse<Option<Target>> {
    let (args, mods) = operands(c)?;
    let target = args.iter().find_map(|arg| match &arg.item {
        Item::Symbol(d) => {
            let literal = Some((d.high, d.addend));
            Some(Target { label: d.label.clone(), span: arg.span.clone(), literal })
        }
        _ => None,
    });
    let mut o = Operands { c, entry: inst.entry(), args: &args, next: 0, name, mods };
    match inst.format {
        Format::Smem => o.smem(inst)?,
        Format::Ds => o.ds(inst)?,
        Format::Flat | Format::Global | Format::Scratch => o.flat(inst)?,
        Format::Mubuf | Format::Mtbuf => o.buffer(inst)?,
        Format::Mimg => o.mimg(inst)?,
        _ => o.scalar(inst)?,
    }
    o.finish()?;
    Ok(target)
}

/// A branch target or immediate of SOPP.
fn sopp(c: &mut Cursor, inst: &mut Inst) -> Parse<Option<Target>> {
    if inst.src_ty(0) == Ty::None || inst.op == Op::SEndpgm && c.at_end() {
        return Ok(None);
    }
    inst.imm = match inst.op {
        Op::SWaitcnt => symbolic::waitcnt(c)?,
        Op::SSendmsg | Op::SSendmsghalt => symbolic::sendmsg(c)?,
        Op::SSetGprIdxMode => symbolic::index_mode(c)?,
        _ if inst.entry().flow.relative() => return branch_target(c, inst),
        _ => c.int_in("the immediate", 0, 0xffff)? as i32,
    };
    Ok(None)
}

fn branch_target(c: &mut Cursor, inst: &mut Inst) -> Parse<Option<Target>> {
    if c.at_number() {
        inst.imm = i32::from(c.int_in("the branch distance", -0x8000, 0xffff)? as i16);
        return Ok(None);
    }
    let here = c.here();
    match c.word() {
        Some((word, span)) => Ok(Some(Target { label: word.to_string(), span, literal: None })),
        None => Err(c.error(here, "expected a label or a distance in words", "here")),
    }
}

fn sopk(c: &mut Cursor, inst: &mut Inst) -> Parse<Option<Target>> {
    let entry = inst.entry();
    if matches!(inst.op, Op::SSetregB32 | Op::SSetregImm32B32) {
        inst.imm = symbolic::hwreg(c)?;
        c.expect(',')?;
        let arg = super::operand::arg(c)?;
        inst.src[1] = if inst.op == Op::SSetregB32 {
            fit(c, &arg, Ty::B32, Place::Scalar)?
        } else {
            let fitted = fit(c, &arg, Ty::B32, Place::ScalarSource { literal: true })?;
            match fitted.constant(Ty::B32) {
                Some(value) => Operand::Literal(value as u32),
                None => return Err(c.error(arg.span, "a constant must stand here", "here")),
            }
        };
        return Ok(None);
    }
    let arg = super::operand::arg(c)?;
    if entry.dst == Ty::None {
        inst.src[0] = fit(c, &arg, entry.src[0], Place::Scalar)?;
    } else {
        inst.dst = fit(c, &arg, entry.dst, Place::Scalar)?;
    }
    c.expect(',')?;
    if inst.op == Op::SGetregB32 {
        inst.imm = symbolic::hwreg(c)?;
    } else if matches!(inst.op, Op::SCbranchIFork | Op::SCallB64) {
        return branch_target(c, inst);
    } else if entry.signed_immediate() {
        inst.imm = i32::from(c.int_in("the immediate", -0x8000, 0xffff)? as i16);
    } else {
        inst.imm = c.int_in("the immediate", 0, 0xffff)? as i32;
    }
    Ok(None)
}

/// The operands of one instruction, taken from left to right.
struct Operands<'a, 'b> {
    c: &'a Cursor<'b>,
    entry: &'static Entry,
    args: &'a [Arg],
    next: usize,
    name: Range<usize>,
    mods: Modifiers,
}

impl Operands<'_, '_> {
    fn arg(&mut self) -> Parse<&Arg> {
        let Some(arg) = self.args.get(self.next) else {
            let message = format!("`{}` needs more operands", self.entry.name);
            return Err(self.c.error(self.name.clone(), message, "here"));
        };
        if arg.neg || arg.abs || arg.sext {
            return Err(self.c.error(arg.span.clone(), "no modifier can stand here", "here"));
        }
        self.next += 1;
        Ok(arg)
    }

    fn take(&mut self, ty: Ty, place: Place) -> Parse<Operand> {
        let c = self.c;
        let arg = self.arg()?;
        fit(c, arg, ty, place)
    }

    fn finish(self) -> Parse<()> {
        if let Some(arg) = self.args.get(self.next) {
            let message = format!("`{}` takes {} operands", self.entry.name, self.next);
            return Err(self.c.error(arg.span.clone(), message, "this is too much"));
        }
        self.mods.finish(self.c, self.entry.name)
    }

    fn scalar(&mut self, inst: &mut Inst) -> Parse<()> {
        if self.entry.dst != Ty::None {
            inst.dst = self.take(self.entry.dst, Place::Scalar)?;
        }
        for i in 0..2 {
            if self.entry.src[i] != Ty::None {
                inst.src[i] = self.take(self.entry.src[i], Place::ScalarSource { literal: true })?;
            }
        }
        match inst.src {
            [Operand::Literal(a), Operand::Literal(b), _] if a != b => {
                let span = self.args[self.next - 1].span.clone();
                Err(self.c.error(span, "an instruction can hold one literal", "a second, different one"))
            }
            _ => Ok(()),
        }
    }

    fn smem(&mut self, inst: &mut Inst) -> Parse<()> {
        let entry = self.entry;
        if entry.dst == Ty::Imm16 {
            let c = self.c;
            let arg = self.arg()?;
            inst.dst = match arg.item {
                Item::Number(Number::Int(asked @ 0..=127)) => Operand::InlineInt(asked as i8),
                _ => return Err(c.error(arg.span.clone(), "a number from 0 to 127 must stand here", "here")),
            };
        } else if entry.dst != Ty::None {
            inst.dst = self.take(entry.dst, Place::Scalar)?;
        }
        if entry.src[0] == Ty::None {
            return Ok(());
        }
        inst.src[0] = self.take(entry.src[0], Place::Scalar)?;
        let c = self.c;
        let gfx9 = c.generation.gcn > Gcn::Gfx8;
        // Buffers have no negative offsets.
        let least = if gfx9 && entry.src[0] == Ty::B64 { -0x10_0000 } else { 0 };
        let arg = self.arg()?;
        match arg.item {
            Item::Number(Number::Int(v)) if (least..=0xf_ffff).contains(&v) => {
                inst.imm = v as i32;
            }
            Item::Number(_) => {
                return Err(c.error(arg.span.clone(), "the offset must be 0 to 0xfffff", "here"));
            }
            _ => inst.src[1] = fit(c, arg, Ty::U32, Place::Scalar)?,
        }
        if gfx9 && inst.src[1] != Operand::None {
            inst.imm = self.mods.number(c, "offset", least, 0xf_ffff)?.unwrap_or(0) as i32;
        }
        if entry.dst.dwords() > 0 {
            inst.flags = self.mods.flags(flag::GLC);
        }
        Ok(())
    }

    /// Bits of caching that an operation cannot have.
    fn check_caching(&self, inst: &Inst) -> Parse<()> {
        let gcn = self.c.generation.gcn;
        let refused = gcn == Gcn::Gfx908 && inst.has(flag::GLC) || gcn == Gcn::Gfx90a && inst.has(flag::SC1);
        if self.entry.is_float_atomic() && refused {
            let message = format!("`{}` does not take this flag here", self.entry.name);
            return Err(self.c.error(self.name.clone(), message, "here"));
        }
        Ok(())
    }

    /// Where data of memory instructions may stand.
    fn data_place(&self) -> Place {
        match self.c.generation.accumulators {
            Accumulators::Unified => Place::EitherVector,
            Accumulators::None | Accumulators::Separate => Place::Vector,
        }
    }

    /// Data is in vector registers or in accumulators, all of it.
    fn same_file(&self, data: [Operand; 3]) -> Parse<()> {
        let accumulators = data.iter().filter(|o| matches!(o, Operand::Agpr(_))).count();
        let vectors = data.iter().filter(|o| matches!(o, Operand::Vgpr(_))).count();
        if accumulators > 0 && vectors > 0 {
            let message = "data are all in vector registers or all in accumulators";
            return Err(self.c.error(self.name.clone(), message, "here"));
        }
        Ok(())
    }

    fn vectors(&mut self, inst: &mut Inst, with_dst: bool) -> Parse<()> {
        let data = self.data_place();
        if with_dst {
            inst.dst = self.take(self.entry.dst, data)?;
        }
        for i in 0..3 {
            if self.entry.src[i] != Ty::None {
                inst.src[i] = self.take(self.entry.src[i], if i == 0 { Place::Vector } else { data })?;
            }
        }
        self.same_file([inst.dst, inst.src[1], inst.src[2]])
    }

    fn ds(&mut self, inst: &mut Inst) -> Parse<()> {
        let entry = self.entry;
        self.vectors(inst, entry.dst != Ty::None)?;
        let c = self.c;
        if entry.two_offsets {
            let low = self.mods.number(c, "offset0", 0, 255)?.unwrap_or(0);
            let high = self.mods.number(c, "offset1", 0, 255)?.unwrap_or(0);
            inst.imm = (low | high << 8) as i32;
        } else if inst.op != Op::DsNop {
            inst.imm = self.mods.number(c, "offset", 0, 0xffff)?.unwrap_or(0) as i32;
        }
        if entry.gds_only || c.generation.accumulators != Accumulators::Unified {
            inst.flags = self.mods.flags(flag::GDS);
        }
        let odd = matches!(inst.src[0], Operand::Vgpr(n) if n % 2 == 1);
        if entry.gds_only && odd && c.generation.accumulators == Accumulators::Unified {
            return Err(c.error(self.name.clone(), "the register must be an even one", "here"));
        }
        if entry.gds_only && !inst.has(flag::GDS) {
            let message = format!("`{}` exists for GDS only", entry.name);
            return Err(c.error(self.name.clone(), message, "here").hint("add `gds`"));
        }
        Ok(())
    }

    fn flat(&mut self, inst: &mut Inst) -> Parse<()> {
        let c = self.c;
        inst.flags = self.mods.caching(c);
        if !c.generation.is_gfx9() {
            self.mods.number(c, "offset", 0, 0)?;
            let returns = !self.entry.atomic || inst.has(flag::GLC);
            return self.vectors(inst, self.entry.dst != Ty::None && returns);
        }
        self.check_caching(inst)?;
        let flat = inst.format == Format::Flat;
        let (least, most) = if flat { (0, 0xfff) } else { (-0x1000, 0xfff) };
        inst.imm = self.mods.number(c, "offset", least, most)?.unwrap_or(0) as i32;
        if self.entry.goes_to_lds() && !flat && !c.generation.architected_scratch {
            inst.flags |= self.mods.flags(flag::LDS);
        }
        let data = self.data_place();
        let returns = (!self.entry.atomic || inst.has(flag::GLC)) && !inst.has(flag::LDS);
        if self.entry.dst != Ty::None && returns {
            inst.dst = self.take(self.entry.dst, data)?;
        }
        let address = self.arg()?.clone();
        if self.entry.src[1] != Ty::None {
            inst.src[1] = self.take(self.entry.src[1], data)?;
        }
        if !flat {
            let base = self.arg()?.clone();
            if base.item != Item::Off {
                let ty = if inst.format == Format::Global { Ty::B64 } else { Ty::B32 };
                inst.src[2] = fit(c, &base, ty, Place::Scalar)?;
            }
        }
        let private = inst.format == Format::Scratch;
        if !(private && address.item == Item::Off) {
            let wide = flat || !private && inst.src[2] == Operand::None;
            inst.src[0] = fit(c, &address, if wide { Ty::B64 } else { Ty::B32 }, Place::Vector)?;
        }
        // Before private memory was architected an address was in one register, a vector or a scalar.
        let one = (inst.src[0] != Operand::None) != (inst.src[2] != Operand::None);
        if private && !c.generation.architected_scratch && !one {
            return Err(c.error(
                address.span,
                "either a vector or a scalar register holds the address",
                "here",
            ));
        }
        self.same_file([inst.dst, inst.src[1], Operand::None])
    }

    fn buffer(&mut self, inst: &mut Inst) -> Parse<()> {
        let entry = self.entry;
        let c = self.c;
        if entry.src[1] == Ty::None {
            if c.generation.caching == Caching::Scopes {
                inst.flags = self.mods.caching(c);
                if inst.has(flag::SLC) {
                    let message = format!("`{}` does not take `nt`", entry.name);
                    return Err(c.error(self.name.clone(), message, "here"));
                }
            }
            return Ok(());
        }
        let typed = inst.format == Format::Mtbuf;
        let all = flag::OFFEN | flag::IDXEN | if typed { 0 } else { flag::LDS };
        let unified = c.generation.accumulators == Accumulators::Unified;
        let loads = entry.dst_written && !entry.atomic && !unified && !typed;
        inst.flags = self.mods.flags(if loads { all | flag::TFE } else { all }) | self.mods.caching(c);
        self.check_caching(inst)?;
        if inst.op == Op::BufferStoreLdsDword {
            inst.flags |= flag::LDS;
        }
        inst.imm = self.mods.number(c, "offset", 0, 4095)?.unwrap_or(0) as i32;
        if typed {
            inst.imm |= (self.mods.number(c, "format", 0, 127)?.unwrap_or(USUAL_FORMAT.into()) as i32) << 12;
        }
        if entry.dst != Ty::None && !inst.has(flag::LDS) {
            inst.dst = self.vector_of(inst.dst_dwords())?;
        }
        if entry.src[0] != Ty::None {
            if inst.src_dwords(0) == 0 {
                let arg = self.arg()?;
                if arg.item != Item::Off {
                    let error =
                        c.error(arg.span.clone(), "`off` must stand here", "no address register is used");
                    return Err(error.hint("add `offen` or `idxen` to use an address register"));
                }
            } else {
                inst.src[0] = self.vector_of(inst.src_dwords(0))?;
            }
        }
        if let Operand::Agpr(_) = inst.src[0] {
            return Err(c.error(self.name.clone(), "an accumulator holds no address", "here"));
        }
        inst.src[1] = self.take(Ty::B128, Place::Scalar)?;
        inst.src[2] = self.take(Ty::U32, Place::ScalarSource { literal: false })?;
        Ok(())
    }

    fn mimg(&mut self, inst: &mut Inst) -> Parse<()> {
        let c = self.c;
        let all = flag::UNORM | flag::GLC | flag::SLC | flag::TFE | flag::LWE | flag::DA | flag::D16;
        let own = if c.generation.is_gfx9() { flag::A16 } else { flag::R128 };
        inst.flags = self.mods.flags(all | own);
        inst.imm = self.mods.number(c, "dmask", 0, 15)?.unwrap_or(0) as i32;
        let whole = if inst.op == Op::ImageAtomicCmpswap { [3, 15] } else { [1, 3] };
        if self.entry.atomic && !whole.contains(&inst.imm) {
            return Err(c.error(
                self.name.clone(),
                "an atomic changes one or two dwords",
                "dmask does not say so",
            ));
        }
        inst.dst = self.vector_of(inst.dst_dwords())?;
        let arg = self.arg()?;
        match arg.item {
            Item::Vector { first, .. } => inst.src[0] = Operand::Vgpr(first),
            _ => return Err(c.error(arg.span.clone(), "a vector register must stand here", "here")),
        }
        inst.src[1] = self.take(Ty::B256, Place::Scalar)?;
        if self.entry.src[2] != Ty::None {
            inst.src[2] = self.take(Ty::B128, Place::Scalar)?;
        }
        Ok(())
    }

    /// Vector registers whose number depends on flags.
    fn vector_of(&mut self, dwords: u8) -> Parse<Operand> {
        let c = self.c;
        let arg = self.arg()?;
        match arg.item {
            Item::Vector { first, dwords: have } if have == dwords => Ok(Operand::Vgpr(first)),
            Item::Accumulator { first, dwords: have }
                if have == dwords && c.generation.accumulators == Accumulators::Unified =>
            {
                Ok(Operand::Agpr(first))
            }
            _ => Err(c.error(arg.span.clone(), format!("{dwords} vector registers must stand here"), "here")),
        }
    }
}
