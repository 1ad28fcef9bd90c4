//! [`Inst`] to words, the inverse of `decode`. The instruction must be one the decoder could have made;
//! fields that do not fit are cut, the assembler checks them before.

use super::gcn::Gcn;
use super::generation::{Accumulators, Generation};
use super::inst::{Format, Inst, NO_SDST, flag};
use super::op::Op;
use super::operand::{Operand, Ty, sreg};
use super::table::{Entry, Halves};

/// The words of an instruction, one or two.
pub fn encode(inst: &Inst) -> Vec<u32> {
    words(inst, inst.entry())
}

/// The same for a generation; none: it does not have the operation.
pub fn encode_for(generation: &Generation, inst: &Inst) -> Option<Vec<u32>> {
    generation.line(inst.op).map(|line| words(&Inst { gcn: generation.gcn, ..*inst }, line))
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
        Format::Vop3p => vop3p(inst, entry),
        Format::Ds => {
            let bits = flags(inst, &[(16, flag::GDS)]) | u32::from(accumulators(inst)) << 25;
            vec![0xd800_0000 | code << 17 | bits | imm, vector_fields(inst, 24)]
        }
        Format::Flat | Format::Global | Format::Scratch => flat(inst, entry),
        Format::Mubuf => mubuf(inst, entry),
        Format::Mtbuf => mtbuf(inst, entry),
        Format::Mimg => mimg(inst, entry),
        Format::Vintrp => {
            let attribute = (inst.imm as u32 & 0x3f) << 10 | (inst.imm as u32 >> 6 & 3) << 8;
            vec![0xd400_0000 | dst << 18 | code << 16 | attribute | vector_or_corner(b) & 0xff]
        }
        Format::Exp => {
            let [a, b, c] = inst.src.map(register);
            vec![0xc400_0000 | inst.imm as u32 & 0x1fff, a | b << 8 | c << 16 | dst << 24]
        }
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
        Operand::Vgpr(n) | Operand::Sgpr(n) | Operand::Agpr(n) => n.into(),
        _ => 0,
    }
}

/// Number of any operand in a 9-bit source field.
pub(super) fn source(operand: Operand) -> u32 {
    match operand {
        Operand::None => 0,
        Operand::Vgpr(n) | Operand::Agpr(n) => 256 + u32::from(n),
        Operand::Sgpr(n) => n.into(),
        Operand::Window(window) => 235 + window as u32,
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

/// The coordinate or the corner of interpolation.
fn vector_or_corner(operand: Operand) -> u32 {
    match operand {
        Operand::InlineInt(corner) => corner as u32,
        _ => source(operand),
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
        let compare = inst.entry().format == Format::Vopc;
        if inst.gcn == Gcn::Gfx8 || !compare {
            word = word & !(1 << 13) | flags(inst, &[(13, flag::CLAMP)]);
        }
        if inst.gcn > Gcn::Gfx8 {
            let scalar = |i: usize| u32::from(matches!(inst.src[i], Operand::Sgpr(_)));
            word = word & !(1 << 23 | 1 << 31) | scalar(0) << 23 | scalar(1) << 31;
            if compare {
                let sdst = match inst.dst {
                    Operand::Sgpr(sreg::VCC) => 0,
                    pair => 0x80 | register(pair),
                };
                word = word & !0xff00 | sdst << 8;
            } else {
                word = word & !0xc000 | u32::from(inst.omod) << 14;
            }
        }
    }
    word
}

/// Whether the data of a memory instruction are accumulators.
fn accumulators(inst: &Inst) -> bool {
    let data = match inst.format {
        Format::Mubuf | Format::Mtbuf => [inst.dst, Operand::None, Operand::None],
        Format::Ds => [inst.dst, inst.src[1], inst.src[2]],
        _ => [inst.dst, inst.src[1], Operand::None],
    };
    data.iter().any(|o| matches!(o, Operand::Agpr(_)))
}

fn flat(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let bits = flags(inst, &[(13, flag::LDS), (16, flag::GLC), (17, flag::SLC), (25, flag::SC1)]);
    let segment = match inst.format {
        Format::Scratch => 1,
        Format::Global => 2,
        _ => 0,
    };
    let [address, data, base] = inst.src;
    let scalar = match (inst.format, base) {
        (Format::Flat, _) => 0,
        (_, Operand::None) => 0x7f,
        (_, base) => register(base),
    };
    // Where private memory is architected, a bit says that there is a vector address.
    let by_bit = inst.gcn.generation().architected_scratch && inst.format == Format::Scratch;
    let vector = u32::from(by_bit && address != Operand::None) << 13;
    vec![
        0xdc00_0000 | u32::from(entry.code) << 18 | segment << 14 | bits | vector | inst.imm as u32 & 0x1fff,
        register(address)
            | register(data) << 8
            | scalar << 16
            | u32::from(accumulators(inst)) << 23
            | register(inst.dst) << 24,
    ]
}

fn vop3p(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let [a, b, c] = inst.src.map(source);
    let sources = a | b << 9 | c << 18;
    let first = 0xd380_0000 | code << 16 | register(inst.dst);
    match entry.halves {
        Halves::Blocks => {
            let (cbsz, abid, blgp) = inst.blocks();
            let accumulator = |o: Operand| u32::from(matches!(o, Operand::Agpr(_)));
            // Results are accumulators anyway before the files became one.
            let unified = inst.gcn.generation().accumulators == Accumulators::Unified;
            let results = u32::from(unified) & accumulator(inst.dst);
            vec![
                first | u32::from(cbsz) << 8 | u32::from(abid) << 11 | results << 15,
                sources
                    | accumulator(inst.src[0]) << 27
                    | accumulator(inst.src[1]) << 28
                    | u32::from(blgp) << 29,
            ]
        }
        Halves::Moved => vec![first | 1 << 14, sources | 3 << 27],
        Halves::Packed | Halves::Mixed | Halves::One | Halves::Whole | Halves::Attribute => {
            let (low, high) = inst.op_sel();
            // LLVM sets the bits of sources that are not there.
            let unused = match entry.halves {
                Halves::Mixed => 0,
                _ => (0..3).filter(|&i| entry.src[i] == Ty::None).map(|i| 1 << i).sum::<u8>(),
            };
            let high = u32::from(high | unused);
            let clamp = flags(inst, &[(15, flag::CLAMP)]);
            vec![
                first | u32::from(inst.abs) << 8 | u32::from(low) << 11 | (high & 4) << 12 | clamp,
                sources | (high & 3) << 27 | u32::from(inst.neg) << 29,
            ]
        }
    }
}

fn vop3(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.vop3_code().unwrap_or(0));
    let middle = if inst.sdst == NO_SDST { u32::from(inst.abs) } else { inst.sdst.into() };
    let clamp = flags(inst, &[(15, flag::CLAMP)]);
    let [a, b, c] = match entry.halves {
        Halves::Attribute => [inst.imm as u32 & 0x1ff, vector_or_corner(inst.src[1]), source(inst.src[2])],
        _ => inst.src.map(source),
    };
    let select = match entry.halves {
        Halves::One => u32::from(inst.op_sel().0) << 11,
        _ => 0,
    };
    vec![
        0xd000_0000 | code << 16 | clamp | select | middle << 8 | register(inst.dst),
        a | b << 9 | c << 18 | u32::from(inst.omod) << 27 | u32::from(inst.neg) << 29,
    ]
}

fn smem(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let base = register(inst.src[0]) >> 1;
    let bits = flags(inst, &[(16, flag::GLC)]);
    let immediate = inst.src[1] == Operand::None && entry.src[0] != Ty::None;
    // From gfx9 on there may be both; a register alone stands where it always did.
    let both = inst.src[1] != Operand::None && inst.imm != 0 && inst.gcn > Gcn::Gfx8;
    let offset = match (immediate, both) {
        (_, true) => inst.imm as u32 & 0x1f_ffff | register(inst.src[1]) << 25,
        (true, _) if inst.gcn > Gcn::Gfx8 => inst.imm as u32 & 0x1f_ffff,
        (true, _) => inst.imm as u32 & 0xf_ffff,
        (false, false) => register(inst.src[1]),
    };
    let imm = u32::from(immediate || both) << 17 | u32::from(both) << 14;
    let data = match inst.dst {
        Operand::InlineInt(asked) => asked as u32,
        other => register(other),
    };
    vec![0xc000_0000 | code << 18 | imm | bits | data << 6 | base, offset]
}

fn vector_fields(inst: &Inst, dst: u32) -> u32 {
    let [a, b, c] = inst.src.map(register);
    a | b << 8 | c << 16 | register(inst.dst) << dst
}

fn mubuf(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let bits = [(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC), (16, flag::LDS), (17, flag::SLC)];
    let [address, resource, offset] = inst.src;
    let scope = flags(inst, &[(15, flag::SC1)]);
    vec![
        0xe000_0000 | code << 18 | flags(inst, &bits) | scope | inst.imm as u32 & 0xfff,
        register(address)
            | register(inst.dst) << 8
            | register(resource) >> 2 << 16
            | flags(inst, &[(23, flag::TFE)])
            | u32::from(accumulators(inst)) << 23
            | source(offset) << 24,
    ]
}

fn mtbuf(inst: &Inst, entry: &Entry) -> Vec<u32> {
    let code = u32::from(entry.code);
    let bits = [(12, flag::OFFEN), (13, flag::IDXEN), (14, flag::GLC)];
    let (imm, [address, resource, offset]) = (inst.imm as u32, inst.src);
    vec![
        0xe800_0000 | (imm >> 12 & 0x7f) << 19 | code << 15 | flags(inst, &bits) | imm & 0xfff,
        register(address)
            | register(inst.dst) << 8
            | register(resource) >> 2 << 16
            | flags(inst, &[(21, flag::SC1), (22, flag::SLC)])
            | u32::from(accumulators(inst)) << 23
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
        (15, flag::A16),
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
