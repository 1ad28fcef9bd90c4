//! Random instructions from the table: every operation in every form it has, with operands of every
//! kind that may stand in each place. Deterministic.

use wb_isa::gcn3::*;

/// A linear congruential generator: small, seeded, the same on every machine.
pub struct Lcg(pub u64);

impl Lcg {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0;
        (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ x >> 32
    }

    pub fn below(&mut self, n: u32) -> u32 {
        (self.next() >> 16) as u32 % n
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// Every encoding of an operation.
pub fn forms(entry: &Entry) -> Vec<Format> {
    use wb_isa::gcn3::table::modifier;
    let mut forms = vec![entry.format];
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
pub fn instruction(rng: &mut Lcg, entry: &'static Entry, format: Format) -> Inst {
    let mut inst = Inst::new(entry.op, format);
    match format {
        Format::Sop1 | Format::Sop2 | Format::Sopc => scalar(rng, &mut inst),
        Format::Sopk => sopk(rng, &mut inst),
        Format::Sopp => sopp(rng, &mut inst),
        Format::Smem => smem(rng, &mut inst),
        Format::Vop1 | Format::Vop2 | Format::Vopc => short(rng, &mut inst),
        Format::Sdwa => sdwa(rng, &mut inst),
        Format::Dpp => dpp(rng, &mut inst),
        Format::Vop3 => vop3(rng, &mut inst),
        Format::Ds => ds(rng, &mut inst),
        Format::Flat => flat(rng, &mut inst),
        Format::Mubuf => mubuf(rng, &mut inst),
        Format::Mimg => mimg(rng, &mut inst),
    }
    inst.size = 4 * encode(&inst).len() as u8;
    inst
}

fn vgpr(rng: &mut Lcg, dwords: u8) -> Operand {
    Operand::Vgpr(rng.below(257 - u32::from(dwords.max(1))) as u8)
}

fn sgpr(rng: &mut Lcg, dwords: u8) -> Operand {
    let named: &[u8] = match dwords {
        1 => &[102, 103, 106, 107, 108, 109, 110, 111, 112, 119, 123, 124, 126, 127],
        2 => &[102, 106, 108, 110, 112, 118, 122, 126],
        4 => &[112, 116, 120],
        8 => &[112, 116],
        _ => &[],
    };
    if !named.is_empty() && rng.one_in(4) {
        return Operand::Sgpr(named[rng.below(named.len() as u32) as usize]);
    }
    let align = dwords.clamp(1, 4).next_power_of_two();
    let places = (102 - u32::from(dwords)) / u32::from(align) + 1;
    Operand::Sgpr(rng.below(places) as u8 * align)
}

fn random_flags(rng: &mut Lcg, flags: &[u16]) -> u16 {
    flags.iter().filter(|_| rng.one_in(4)).sum()
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

fn smem(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.dst != Ty::None {
        inst.dst = sgpr(rng, entry.dst.dwords());
        while matches!(inst.dst, Operand::Sgpr(124..)) {
            inst.dst = sgpr(rng, entry.dst.dwords());
        }
    }
    if entry.src[0] != Ty::None {
        inst.src[0] = sgpr(rng, entry.src[0].dwords());
        if rng.one_in(3) {
            inst.src[1] = if entry.dst_read { Operand::M0 } else { sgpr(rng, 1) };
        } else {
            inst.imm = (rng.next() as u32 >> rng.below(18) & 0xf_ffff) as i32;
        }
        inst.flags = random_flags(rng, &[flag::GLC]);
    }
}

fn vector_dst(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.scalar_dst {
        inst.dst = sgpr(rng, 1);
    } else if entry.dst != Ty::None {
        inst.dst = vgpr(rng, entry.dst.dwords());
    }
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
            0 if entry.src[0].dwords() == 1 && plain && !matches!(entry.format, Format::Vopc) => {
                lds(entry.op)
            }
            _ if entry.src[2] == Ty::Mask || !scalars => match source(rng, entry.src[0], true, false) {
                s if reads_scalar(s) => vgpr(rng, 1),
                s => s,
            },
            _ => source(rng, entry.src[0], true, plain),
        };
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
    inst.flags = random_flags(rng, &[flag::CLAMP]);
    let Operand::Vgpr(n) = inst.src[0] else { unreachable!() };
    inst.imm = (c | u32::from(n)) as i32;
    inst.imm = encode(inst)[1] as i32;
}

fn dpp(rng: &mut Lcg, inst: &mut Inst) {
    short_operands(rng, inst);
    let entry = inst.entry();
    inst.src[0] = vgpr(rng, 1);
    let ctrl = loop {
        let value = if rng.one_in(2) { rng.below(256) } else { 256 + rng.below(72) };
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
    matches!(operand, Operand::Sgpr(_) | Operand::VccZ | Operand::ExecZ | Operand::Scc)
}

fn ds(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    vector_dst(rng, inst);
    for i in 0..3 {
        if entry.src[i] != Ty::None {
            inst.src[i] = vgpr(rng, entry.src[i].dwords());
        }
    }
    if inst.op == Op::DsNop {
        return;
    }
    if rng.below(3) > 0 {
        inst.imm = (rng.next() as u32 >> rng.below(16) & 0xffff) as i32;
    }
    let lane_only = matches!(inst.op, Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32);
    if entry.gds_only {
        inst.flags = flag::GDS;
    } else if !lane_only {
        inst.flags = random_flags(rng, &[flag::GDS]);
    }
}

fn flat(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    inst.flags = random_flags(rng, &[flag::GLC, flag::SLC]);
    if entry.dst != Ty::None && (!entry.atomic || inst.has(flag::GLC)) {
        inst.dst = vgpr(rng, entry.dst.dwords());
    }
    for i in 0..2 {
        if entry.src[i] != Ty::None {
            inst.src[i] = vgpr(rng, entry.src[i].dwords());
        }
    }
}

fn mubuf(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.src[1] == Ty::None {
        return;
    }
    inst.imm = (rng.below(3).min(1) * (rng.next() as u32 >> rng.below(12) & 0xfff)) as i32;
    inst.flags = random_flags(rng, &[flag::GLC, flag::SLC]);
    let to_lds = matches!(
        inst.op,
        Op::BufferLoadUbyte
            | Op::BufferLoadSbyte
            | Op::BufferLoadUshort
            | Op::BufferLoadSshort
            | Op::BufferLoadDword
            | Op::BufferLoadFormatX
    );
    if inst.op == Op::BufferStoreLdsDword {
        inst.flags |= flag::LDS;
    } else {
        inst.flags |= random_flags(rng, &[flag::OFFEN, flag::IDXEN]);
        if to_lds && rng.one_in(6) {
            inst.flags |= flag::LDS;
        } else if entry.dst_written && !entry.atomic {
            inst.flags |= random_flags(rng, &[flag::TFE]);
        }
        let address = inst.src_dwords(0);
        if address > 0 {
            inst.src[0] = vgpr(rng, address);
        }
        if !inst.has(flag::LDS) {
            inst.dst = vgpr(rng, inst.dst_dwords());
        }
    }
    inst.src[1] = sgpr(rng, 4);
    inst.src[2] = match rng.below(3) {
        0 => Operand::InlineInt(rng.below(65) as i8),
        1 => sgpr(rng, 1),
        _ => Operand::M0,
    };
}

fn mimg(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    inst.imm = 1 + rng.below(15) as i32;
    if entry.name.contains("gather4") {
        inst.imm = 1 << rng.below(4);
    }
    inst.flags = random_flags(rng, &[flag::UNORM, flag::GLC, flag::SLC, flag::DA, flag::LWE]);
    inst.dst = vgpr(rng, inst.dst_dwords());
    inst.src[0] = vgpr(rng, inst.src_dwords(0));
    inst.src[1] = sgpr(rng, 8);
    if entry.src[2] != Ty::None {
        inst.src[2] = sgpr(rng, 4);
    }
}
