//! [`Inst`] to words, the inverse of `decode`. The instruction must be one the decoder could have made;
//! fields that do not fit are cut, the assembler checks them before.

use super::generation::Generation;
use super::inst::{Format, Inst, NO_SDST, flag};
use super::op::Op;
use super::operand::{Operand, Ty};
use super::table::Entry;

/// The words of an instruction, one or two.
pub fn encode(inst: &Inst) -> Vec<u32> {
    words(inst, inst.entry())
}

/// The same for a generation; none: it does not have the operation.
pub fn encode_for(generation: &Generation, inst: &Inst) -> Option<Vec<u32>> {
    generation.line(inst.op).map(|line| words(inst, &line))
}

fn words(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let [a, b, _] = inst.src;
    let dst = register(inst.dst);
    let imm = inst.imm as u32 & 0xffff;
    let mut words = match inst.format {
        Format::Sop2 => vec![0x8000_0000 | code << 23 | dst << 16 | source(b) << 8 | source(a)],
        Format::Sop1 => vec![0xbe80_0000 | dst << 16 | code << 8 | source(a)],
        Format::Sopc if entry.src[1] == Ty::Imm16 => {
            vec![0xbf00_0000 | code << 16 | (imm & 0xff) << 8 | source(a)]
        }
        Format::Sopc => vec![0xbf00_0000 | code << 16 | source(b) << 8 | source(a)],
        Format::Sopk => {
            let field = match inst.op {
                Op::SSetregImm32B32 => 0,
                Op::SSetregB32 => register(b),
                _ if entry.dst == Ty::None => register(a),
                _ => dst,
            };
            vec![0xb000_0000 | code << 23 | field << 16 | imm]
        }
        Format::Sopp => vec![0xbf80_0000 | code << 16 | imm],
        Format::Smem => smem(inst, entry),
        Format::Vop1 | Format::Vop2 | Format::Vopc => vec![short(inst, entry, source(a))],
        Format::Sdwa => vec![short(inst, entry, 0xf9), control(inst, [20, 28], [21, 29])],
        Format::Dpp => vec![short(inst, entry, 0xfa), control(inst, [20, 22], [21, 23])],
        Format::Vop3 => vop3(inst, entry),
        Format::Ds => {
            let bits = flags(inst, &[(16, flag::GDS)]);
            vec![0xd800_0000 | code << 17 | bits | imm, vector_fields(inst, 24)]
        }
        Format::Flat => {
            let bits = flags(inst, &[(16, flag::GLC), (17, flag::SLC)]);
            vec![0xdc00_0000 | code << 18 | bits, vector_fields(inst, 24)]
        }
        Format::Mubuf => mubuf(inst, entry),
        Format::Mimg => mimg(inst, entry),
    };
    if let (1, Some(literal)) = (words.len(), literal(inst)) {
        words.push(literal);
    }
    words
}

fn literal(inst: &Inst) -> Option<u32> {
    inst.src.iter().find_map(|s| if let Operand::Literal(n) = s { Some(*n) } else { None })
}

/// Number of a register in an 7- or 8-bit field.
fn register(operand: Operand) -> u32 {
    match operand {
        Operand::Vgpr(n) | Operand::Sgpr(n) => n.into(),
        _ => 0,
    }
}

/// Number of any operand in a 9-bit source field.
pub(super) fn source(operand: Operand) -> u32 {
    match operand {
        Operand::None => 0,
        Operand::Vgpr(n) => 256 + u32::from(n),
        Operand::Sgpr(n) => n.into(),
        Operand::InlineInt(n) if n >= 0 => 128 + n as u32,
        Operand::InlineInt(n) => (192 - i32::from(n)) as u32,
        Operand::InlineFloat(f) => 240 + f as u32,
        Operand::VccZ => 251,
        Operand::ExecZ => 252,
        Operand::Scc => 253,
        Operand::LdsDirect => 254,
        Operand::Literal(_) => 255,
    }
}

fn flags(inst: &Inst, bits: &[(u32, u16)]) -> u32 {
    bits.iter().filter(|(_, flag)| inst.has(*flag)).map(|(bit, _)| 1 << bit).sum()
}

/// The first word of VOP1, VOP2 and VOPC.
fn short(inst: &Inst, entry: &Entry, src0: u32) -> u32 {
    let code = u32::from(entry.code);
    let dst = register(inst.dst);
    let second = if entry.literal_source() == Some(1) { inst.src[2] } else { inst.src[1] };
    match entry.format {
        Format::Vop1 => 0x7e00_0000 | dst << 17 | code << 9 | src0,
        Format::Vopc => 0x7c00_0000 | code << 17 | register(second) << 9 | src0,
        _ => code << 25 | dst << 17 | register(second) << 9 | src0,
    }
}

/// The control word of SDWA and DPP: `imm` with source register and modifiers put in.
fn control(inst: &Inst, neg: [u32; 2], abs: [u32; 2]) -> u32 {
    let mut word = inst.imm as u32 & !0xff | register(inst.src[0]);
    for i in 0..2 {
        let set = |word: u32, bit: u32, on: u8| word & !(1 << bit) | u32::from(on >> i & 1) << bit;
        word = set(word, neg[i], inst.neg);
        word = set(word, abs[i], inst.abs);
    }
    if inst.format == Format::Sdwa {
        word = word & !(1 << 13) | flags(inst, &[(13, flag::CLAMP)]);
    }
    word
}

fn vop3(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.vop3_code().unwrap_or(0));
    let middle = if inst.sdst == NO_SDST { u32::from(inst.abs) } else { inst.sdst.into() };
    let clamp = flags(inst, &[(15, flag::CLAMP)]);
    let [a, b, c] = inst.src.map(source);
    vec![
        0xd000_0000 | code << 16 | clamp | middle << 8 | register(inst.dst),
        a | b << 9 | c << 18 | u32::from(inst.omod) << 27 | u32::from(inst.neg) << 29,
    ]
}

fn smem(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let base = register(inst.src[0]) >> 1;
    let bits = flags(inst, &[(16, flag::GLC)]);
    let immediate = inst.src[1] == Operand::None && entry.src[0] != Ty::None;
    let offset = if immediate { inst.imm as u32 & 0xf_ffff } else { register(inst.src[1]) };
    let imm = u32::from(immediate) << 17;
    vec![0xc000_0000 | code << 18 | imm | bits | register(inst.dst) << 6 | base, offset]
}

fn vector_fields(inst: &Inst, dst: u32) -> u32 {
    let [a, b, c] = inst.src.map(register);
    a | b << 8 | c << 16 | register(inst.dst) << dst
}

fn mubuf(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let bits = [(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC), (16, flag::LDS), (17, flag::SLC)];
    let [address, resource, offset] = inst.src;
    vec![
        0xe000_0000 | code << 18 | flags(inst, &bits) | inst.imm as u32 & 0xfff,
        register(address)
            | register(inst.dst) << 8
            | register(resource) >> 2 << 16
            | flags(inst, &[(23, flag::TFE)])
            | source(offset) << 24,
    ]
}

fn mimg(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let bits = [
        (12, flag::UNORM),
        (13, flag::GLC),
        (14, flag::DA),
        (15, flag::R128),
        (16, flag::TFE),
        (17, flag::LWE),
        (25, flag::SLC),
    ];
    let [address, resource, sampler] = inst.src;
    vec![
        0xf000_0000 | code << 18 | flags(inst, &bits) | (inst.imm as u32 & 15) << 8,
        register(address)
            | register(inst.dst) << 8
            | register(resource) >> 2 << 16
            | register(sampler) >> 2 << 21
            | flags(inst, &[(31, flag::D16)]),
    ]
}
