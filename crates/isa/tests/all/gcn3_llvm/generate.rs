//! Random instructions from the table: every operation in every form it has, with operands of every
//! kind that may stand in each place. Deterministic.

use super::graphics::{export, interpolation};
use super::memory::{ds, flat, mimg, mtbuf, mubuf, smem};
pub use super::random::Lcg;
use super::random::*;
use wb_isa::gcn3::*;

/// Every encoding of an operation in a generation.
pub fn forms(gcn: Gcn, entry: &Entry) -> Vec<Format> {
    use wb_isa::gcn3::table::{modifier, segment};
    if entry.format == Format::Flat && gcn > Gcn::Gfx8 {
        let all = [
            (segment::FLAT, Format::Flat),
            (segment::GLOBAL, Format::Global),
            (segment::SCRATCH, Format::Scratch),
        ];
        return all.into_iter().filter(|s| entry.forms & s.0 != 0).map(|s| s.1).collect();
    }
    let mut forms = vec![entry.format];
    let vector =
        matches!(entry.format, Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vop3 | Format::Vintrp);
    if !vector {
        return forms;
    }
    if entry.format != Format::Vop3 && entry.forms & modifier::E64 != 0 {
        forms.push(Format::Vop3);
    }
    if entry.forms & modifier::SDWA != 0 {
        forms.push(Format::Sdwa);
    }
    if entry.forms & modifier::DPP != 0 {
        forms.push(Format::Dpp);
    }
    forms
}

/// A random instruction of this operation in this form, canonical: it decodes to itself.
pub fn instruction(rng: &mut Lcg, gcn: Gcn, entry: &'static Entry, format: Format) -> Inst {
    let mut inst = Inst::of(gcn, entry.op, format);
    match format {
        Format::Vop3 | Format::Vintrp if entry.halves == Halves::Attribute => interpolation(rng, &mut inst),
        Format::Sop1 | Format::Sop2 | Format::Sopc => scalar(rng, &mut inst),
        Format::Sopk => sopk(rng, &mut inst),
        Format::Sopp => sopp(rng, &mut inst),
        Format::Smem => smem(rng, &mut inst),
        Format::Vop1 | Format::Vop2 | Format::Vopc | Format::Vintrp => short(rng, &mut inst),
        Format::Sdwa => sdwa(rng, &mut inst),
        Format::Dpp => dpp(rng, &mut inst),
        Format::Vop3 => vop3(rng, &mut inst),
        Format::Vop3p => vop3p(rng, &mut inst),
        Format::Ds => ds(rng, &mut inst),
        Format::Flat | Format::Global | Format::Scratch => flat(rng, &mut inst),
        Format::Mubuf => mubuf(rng, &mut inst),
        Format::Mtbuf => mtbuf(rng, &mut inst),
        Format::Mimg => mimg(rng, &mut inst),
        Format::Exp => export(rng, &mut inst),
    }
    if gcn >= Gcn::Gfx90a {
        align(&mut inst);
    }
    inst.size = 4 * encode(&inst).len() as u8;
    inst
}

/// Vector tuples begin at even registers where accumulators are in the same file.
fn align(inst: &mut Inst) {
    let even = |operand: Operand, dwords: u8| match operand {
        Operand::Vgpr(n) if dwords > 1 => Operand::Vgpr(n & !1),
        Operand::Agpr(n) if dwords > 1 => Operand::Agpr(n & !1),
        other => other,
    };
    inst.dst = even(inst.dst, inst.dst_dwords());
    for i in 0..3 {
        inst.src[i] = even(inst.src[i], inst.src_dwords(i));
    }
    if matches!(inst.format, Format::Sdwa | Format::Dpp) {
        inst.imm = encode(inst)[1] as i32;
    }
}

/// A literal no inline constant has the value of.
pub fn literal(rng: &mut Lcg, ty: Ty) -> Operand {
    loop {
        let mut value = rng.next() as u32 >> rng.below(26);
        if ty.bits() == 16 {
            value &= 0xffff;
        }
        let small = (-16..=64).contains(&(value as i32)) || (ty.bits() == 16 && value >= 0xfff0);
        let float = InlineFloat::ALL
            .iter()
            .any(|f| value == f.bits32() || value == f.bits16().into() || value == (f.bits64() >> 32) as u32);
        if !small && !float {
            return Operand::Literal(value);
        }
    }
}

fn source(rng: &mut Lcg, ty: Ty, vector: bool, may_literal: bool) -> Operand {
    let dwords = ty.dwords();
    match rng.below(if vector { 12 } else { 8 }) {
        0 | 1 => Operand::InlineInt(rng.below(81) as i8 - 16),
        2 => Operand::InlineFloat(InlineFloat::ALL[rng.below(9) as usize]),
        3 if may_literal => literal(rng, ty),
        4 => match rng.below(6) {
            0 => Operand::VccZ,
            1 => Operand::ExecZ,
            2 => Operand::Scc,
            _ => sgpr(rng, dwords),
        },
        5..=7 => sgpr(rng, dwords),
        _ if vector => vgpr(rng, dwords),
        _ => sgpr(rng, dwords),
    }
}

fn scalar(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.dst != Ty::None {
        inst.dst = sgpr(rng, entry.dst.dwords());
    }
    for i in 0..2 {
        match entry.src[i] {
            Ty::None => {}
            Ty::Imm16 => inst.imm = rng.below(16) as i32,
            ty => {
                let fresh = !matches!(inst.src[0], Operand::Literal(_));
                inst.src[i] = source(rng, ty, false, fresh);
            }
        }
    }
    let relative = matches!(inst.op, Op::SMovrelsB32 | Op::SMovrelsB64 | Op::SCbranchJoin);
    if relative && !matches!(inst.src[0], Operand::Sgpr(_))
        || entry.flow == Ctl::Indirect
            && inst.src[0] != Operand::None
            && !matches!(inst.src[0], Operand::Sgpr(_))
    {
        inst.src[0] = sgpr(rng, entry.src[0].dwords());
    }
    if entry.flow == Ctl::Call || inst.op == Op::SCbranchGFork {
        inst.src[0] = sgpr(rng, 2);
    }
    if inst.op == Op::SCbranchGFork {
        inst.src[1] = sgpr(rng, 2);
    }
    if inst.op == Op::SSetGprIdxOn {
        inst.src[0] = sgpr(rng, 1);
    }
    if inst.gcn > Gcn::Gfx8 && matches!(inst.op, Op::SMovB32 | Op::SMovB64 | Op::SAndB64 | Op::SAddU32) {
        window(rng, inst);
    }
}

/// From gfx9 on: where memories lie.
fn window(rng: &mut Lcg, inst: &mut Inst) {
    if rng.one_in(3) {
        inst.src[0] = Operand::Window(Window::ALL[rng.below(5) as usize]);
    }
}

fn sopk(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    let field = rng.next() as u32 >> rng.below(16) & 0xffff;
    inst.imm = if entry.signed_immediate() { i32::from(field as i16) } else { field as i32 };
    match inst.op {
        Op::SSetregImm32B32 => inst.src[1] = literal(rng, Ty::B32),
        Op::SSetregB32 => inst.src[1] = sgpr(rng, 1),
        _ if entry.dst == Ty::None => inst.src[0] = sgpr(rng, entry.src[0].dwords()),
        _ => inst.dst = sgpr(rng, entry.dst.dwords()),
    }
}

fn sopp(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    let field = rng.next() as u32 >> rng.below(16) & 0xffff;
    inst.imm = match inst.op {
        _ if entry.src[0] == Ty::None => 0,
        Op::SSetGprIdxMode => (field & 15) as i32,
        Op::SWaitcnt => (field & 0xf7f) as i32,
        Op::SSendmsg | Op::SSendmsghalt => (field & 0x37f) as i32,
        _ if entry.signed_immediate() => i32::from(field as i16),
        _ => field as i32,
    };
}

fn short(rng: &mut Lcg, inst: &mut Inst) {
    short_operands(rng, inst);
    let entry = inst.entry();
    if entry.src[0] != Ty::None {
        let only_vector = entry.scalar_dst || matches!(inst.op, Op::VMovrelsB32 | Op::VMovrelsdB32);
        let plain = entry.literal_source().is_none();
        // The literal of v_madmk and M0 of v_movreld are scalar values already.
        let scalars = plain && inst.op != Op::VMovreldB32;
        inst.src[0] = match rng.below(20) {
            _ if only_vector => vgpr(rng, 1),
            0 if entry.src[0].dwords() == 1
                && plain
                && !matches!(entry.format, Format::Vopc)
                && inst.gcn < Gcn::Gfx90a =>
            {
                lds(entry.op)
            }
            _ if entry.src[2] == Ty::Mask || !scalars => match source(rng, entry.src[0], true, false) {
                s if reads_scalar(s) => vgpr(rng, 1),
                s => s,
            },
            _ => source(rng, entry.src[0], true, plain),
        };
        if inst.gcn > Gcn::Gfx8 && inst.op == Op::VMovB32 {
            window(rng, inst);
        }
        if matches!(inst.op, Op::VSwapB32 | Op::VAccvgprMovB32) {
            inst.src[0] = vgpr(rng, 1);
        }
        if entry.acc_dst {
            (inst.dst, inst.src[0]) = (accumulator(inst.dst), accumulator(inst.src[0]));
        }
    }
}

/// LDS direct where LLVM takes it: not for reversed operations, which read it as the second source.
fn lds(op: Op) -> Operand {
    let name = op.name();
    let reversed = name.contains("rev");
    if reversed { Operand::Vgpr(3) } else { Operand::LdsDirect }
}

/// Everything but the first source of VOP1, VOP2, VOPC and of their SDWA and DPP forms.
fn short_operands(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.format == Format::Vopc {
        inst.dst = Operand::VCC;
    } else {
        vector_dst(rng, inst);
    }
    if entry.format != Format::Vop1 {
        let second = if entry.literal_source() == Some(1) { 2 } else { 1 };
        inst.src[second] = vgpr(rng, entry.src[second].dwords());
    }
    if let Some(i) = entry.literal_source() {
        inst.src[i] = literal(rng, entry.src[i]);
    }
    if entry.src[2] == Ty::Mask {
        inst.src[2] = Operand::VCC;
    }
    if entry.carry {
        inst.sdst = sreg::VCC;
    }
}

/// Modifier bits of the first `n` sources that this operation takes.
fn bits(rng: &mut Lcg, allowed: u8) -> u8 {
    if rng.one_in(2) { rng.next() as u8 & allowed & 7 } else { 0 }
}

fn sdwa(rng: &mut Lcg, inst: &mut Inst) {
    short_operands(rng, inst);
    let entry = inst.entry();
    inst.src[0] = vgpr(rng, 1);
    let gfx9 = inst.gcn > Gcn::Gfx8;
    if gfx9 {
        sdwa_scalars(rng, inst);
    }
    let mut c = rng.below(7) << 16;
    if entry.format != Format::Vopc {
        c |= rng.below(7) << 8 | rng.below(3) << 11;
        // llvm-mc refuses to write part of a v_mac destination.
        if entry.dst_read {
            c = c & !0x700 | 0x600;
        }
    }
    if entry.format != Format::Vop1 {
        c |= rng.below(7) << 24;
    }
    for i in 0..if entry.format == Format::Vop1 { 1 } else { 2 } {
        if entry.src[i].is_float() || entry.op == Op::VCndmaskB32 {
            inst.neg |= u8::from(rng.one_in(4)) << i;
            inst.abs |= u8::from(rng.one_in(4)) << i;
        } else if rng.one_in(4) {
            c |= 1 << [19, 27][i];
        }
    }
    if !gfx9 || entry.format != Format::Vopc {
        inst.flags = random_flags(rng, &[flag::CLAMP]);
    }
    if entry.selects_source_only() {
        c = c & !0xf8_1f00 | 0x600;
    }
    if gfx9 && (entry.dst.is_float() || entry.selects_source_only()) && rng.one_in(3) {
        inst.omod = rng.below(4) as u8;
    }
    inst.imm = c as i32;
    inst.imm = encode(inst)[1] as i32;
}

/// From gfx9 on a source of SDWA may be scalar, and comparisons write any pair.
fn sdwa_scalars(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    // VCC is a scalar already.
    let free = entry.src[2] != Ty::Mask;
    match rng.below(4) {
        0 if free => inst.src[0] = sgpr(rng, 1),
        1 if free && entry.format != Format::Vop1 => inst.src[1] = sgpr(rng, 1),
        _ => {}
    }
    if entry.format == Format::Vopc && rng.one_in(2) {
        inst.dst = sgpr(rng, 2);
    }
}

fn dpp(rng: &mut Lcg, inst: &mut Inst) {
    short_operands(rng, inst);
    let entry = inst.entry();
    inst.src[0] = vgpr(rng, entry.src[0].dwords());
    let ctrl = loop {
        let mut value = if rng.one_in(2) { rng.below(256) } else { 256 + rng.below(72) };
        let wide = entry.src[0].dwords() == 2 || entry.dst.dwords() == 2;
        if inst.gcn >= Gcn::Gfx90a && (wide || rng.one_in(6)) {
            value = 0x150 + rng.below(16);
        }
        if DppCtrl::from_bits(value).is_some() {
            break value;
        }
    };
    inst.imm = (ctrl << 8 | rng.below(2) << 19 | rng.below(256) << 24) as i32;
    for i in 0..if entry.format == Format::Vop1 { 1 } else { 2 } {
        if entry.src[i].is_float() || entry.op == Op::VCndmaskB32 {
            inst.neg |= u8::from(rng.one_in(4)) << i;
            inst.abs |= u8::from(rng.one_in(4)) << i;
        }
    }
    inst.imm = encode(inst)[1] as i32;
}

fn vop3(rng: &mut Lcg, inst: &mut Inst) {
    use wb_isa::gcn3::table::modifier;
    let entry = inst.entry();
    if entry.format == Format::Vopc {
        inst.dst = sgpr(rng, 2);
    } else {
        vector_dst(rng, inst);
    }
    if entry.carry {
        let Operand::Sgpr(n) = sgpr(rng, 2) else { unreachable!() };
        inst.sdst = n;
    }
    // VCC of v_div_fmas and M0 of v_movreld count.
    let mut scalar = match inst.op {
        Op::VDivFmasF32 | Op::VDivFmasF64 => Some((Operand::VCC, 2)),
        Op::VMovreldB32 => Some((Operand::M0, 1)),
        _ => None,
    };
    for i in 0..3 {
        let ty = entry.src[i];
        inst.src[i] = match (inst.op, i) {
            _ if ty == Ty::None => continue,
            _ if ty == Ty::Mask => match scalar {
                Some(_) => Operand::VCC,
                None => lane_mask(rng),
            },
            (Op::VReadlaneB32 | Op::VMovrelsB32 | Op::VMovrelsdB32, 0) => vgpr(rng, 1),
            (Op::VMqsadU32U8, 2) => vgpr(rng, 4),
            (Op::VReadlaneB32, 1) | (Op::VWritelaneB32, _) => match rng.below(2) {
                0 => Operand::InlineInt(rng.below(65) as i8),
                _ => sgpr(rng, 1),
            },
            _ => source(rng, ty, true, false),
        };
        // VI reads one scalar value per vector instruction.
        if reads_scalar(inst.src[i]) {
            match scalar {
                Some(other) if other != (inst.src[i], ty.dwords()) || ty == Ty::Mask => {
                    if ty == Ty::Mask {
                        inst.src[0] = vgpr(rng, entry.src[0].dwords());
                        inst.src[1] = vgpr(rng, entry.src[1].dwords());
                    } else if inst.op == Op::VWritelaneB32 {
                        inst.src[i] = Operand::InlineInt(7);
                    } else {
                        inst.src[i] = vgpr(rng, ty.dwords());
                    }
                }
                _ => scalar = Some((inst.src[i], ty.dwords())),
            }
        }
    }
    if inst.op == Op::VDivScaleF32 || inst.op == Op::VDivScaleF64 {
        // src0 must be one of the others.
        inst.src[0] = inst.src[1 + rng.below(2) as usize];
    }
    inst.abs = bits(rng, entry.mods & 7);
    inst.neg = bits(rng, entry.mods >> 3 & 7);
    if entry.mods & modifier::CLAMP != 0 {
        inst.flags = random_flags(rng, &[flag::CLAMP]);
    }
    if entry.mods & modifier::OMOD != 0 && rng.one_in(4) {
        inst.omod = rng.below(4) as u8;
    }
    if entry.halves == Halves::One && rng.one_in(2) {
        let used = ((1 << entry.selected_sources()) - 1) | 8;
        inst.imm = (rng.next() as u32 & used) as i32;
    }
}

fn vop3p(rng: &mut Lcg, inst: &mut Inst) {
    use wb_isa::gcn3::table::modifier;
    let entry = inst.entry();
    inst.dst = vgpr(rng, entry.dst.dwords());
    let sources = entry.src.iter().filter(|ty| **ty != Ty::None).count();
    if entry.halves == Halves::Blocks {
        return matrix(rng, inst);
    }
    let mut scalar = None;
    for i in 0..sources {
        let ty = entry.src[i];
        inst.src[i] = source(rng, ty, true, false);
        if reads_scalar(inst.src[i]) {
            match scalar {
                Some(other) if other != inst.src[i] => inst.src[i] = vgpr(rng, ty.dwords()),
                _ => scalar = Some(inst.src[i]),
            }
        }
    }
    if entry.halves == Halves::Moved {
        if entry.acc_src {
            inst.src[0] = accumulator(vgpr(rng, 1));
        } else {
            inst.dst = accumulator(inst.dst);
            if inst.gcn < Gcn::Gfx90a && reads_scalar(inst.src[0]) {
                inst.src[0] = vgpr(rng, 1);
            }
        }
        return;
    }
    let used = (1u32 << sources) - 1;
    let usual = if entry.halves == Halves::Packed { used } else { 0 };
    let whole = entry.name.starts_with("v_dot") && inst.gcn >= Gcn::Gfx940;
    let (low, high) = match rng.below(2) {
        _ if whole => (0, usual),
        0 => (0, usual),
        _ => (rng.next() as u32 & used, rng.next() as u32 & used),
    };
    inst.imm = (low | high << 4) as i32;
    inst.neg = bits(rng, entry.mods >> 3 & 7);
    inst.abs = bits(rng, entry.mods & 7);
    if entry.mods & modifier::CLAMP != 0 {
        inst.flags = random_flags(rng, &[flag::CLAMP]);
    }
}

fn matrix(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    for i in 0..3 {
        inst.src[i] = vgpr(rng, entry.src[i].dwords());
    }
    for i in 0..2 {
        if rng.one_in(2) {
            inst.src[i] = accumulator(inst.src[i]);
        }
    }
    let accumulates = inst.gcn < Gcn::Gfx90a || rng.one_in(2);
    if !entry.dst_read && inst.gcn >= Gcn::Gfx90a && rng.one_in(4) {
        inst.src[2] = match rng.below(3) {
            0 => Operand::InlineFloat(InlineFloat::ALL[rng.below(8) as usize]),
            _ => Operand::InlineInt(rng.below(81) as i8 - 16),
        };
    }
    if accumulates {
        inst.dst = accumulator(inst.dst);
        if !entry.dst_read {
            inst.src[2] = accumulator(inst.src[2]);
        }
    }
    if rng.one_in(2) {
        let permuted = if entry.dst_read { 0 } else { rng.below(8) };
        inst.imm = (rng.below(8) | rng.below(16) << 3 | permuted << 7) as i32;
    }
    // Results must not lie half over what is added.
    if entry.dst.dwords() > 4
        && let Operand::Vgpr(_) | Operand::Agpr(_) = inst.src[2]
    {
        inst.src[2] = if entry.dst_read { Operand::Vgpr(3) } else { inst.dst };
    }
}

/// A scalar pair a carry is read from; LLVM does not want exec there.
fn lane_mask(rng: &mut Lcg) -> Operand {
    loop {
        let pair = sgpr(rng, 2);
        if pair != Operand::EXEC {
            return pair;
        }
    }
}

fn reads_scalar(operand: Operand) -> bool {
    matches!(operand, Operand::Sgpr(_) | Operand::VccZ | Operand::ExecZ | Operand::Scc | Operand::Window(_))
}
