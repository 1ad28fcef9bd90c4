//! Random memory instructions.

use super::random::*;
use wb_isa::gcn3::*;

pub fn ds(rng: &mut Lcg, inst: &mut Inst) {
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
    if entry.gds_only
        && inst.gcn >= Gcn::Gfx90a
        && let Operand::Vgpr(n) = inst.src[0]
    {
        inst.src[0] = Operand::Vgpr(n & !1);
    }
    if entry.gds_only {
        inst.flags = flag::GDS;
    } else if !lane_only && has_gds(inst) {
        inst.flags = random_flags(rng, &[flag::GDS]);
    }
    if inst.gcn >= Gcn::Gfx90a && rng.one_in(4) && !entry.gds_only && !lane_only {
        inst.dst = accumulator(inst.dst);
        inst.src[1] = accumulator(inst.src[1]);
        inst.src[2] = accumulator(inst.src[2]);
    }
}

/// Operations of gfx90a and later that cannot go to global data share.
fn has_gds(inst: &Inst) -> bool {
    inst.gcn < Gcn::Gfx90a
}

pub fn flat(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    inst.flags = caching(rng, inst);
    if inst.gcn > Gcn::Gfx8 {
        segment(rng, inst);
    }
    if entry.dst != Ty::None && (!entry.atomic || inst.has(flag::GLC)) && !inst.has(flag::LDS) {
        inst.dst = vgpr(rng, entry.dst.dwords());
    }
    for i in 0..2 {
        let missing = inst.format == Format::Scratch && i == 0;
        if entry.src[i] != Ty::None && !missing {
            let based = i == 0 && inst.src[2] != Operand::None;
            inst.src[i] = vgpr(rng, if based { 1 } else { entry.src[i].dwords() });
        }
    }
    if inst.gcn >= Gcn::Gfx90a && rng.one_in(4) {
        inst.dst = accumulator(inst.dst);
        inst.src[1] = accumulator(inst.src[1]);
    }
}

/// Offsets and scalar bases.
fn segment(rng: &mut Lcg, inst: &mut Inst) {
    let random = rng.next() as u32 >> rng.below(13);
    if rng.below(3) > 0 {
        inst.imm = match inst.format {
            Format::Flat => (random & 0xfff) as i32,
            _ => (random & 0x1fff) as i32 - 0x1000,
        };
    }
    let named = |operand: Operand| matches!(operand, Operand::Sgpr(124..));
    match inst.format {
        Format::Global if rng.one_in(2) => {
            inst.src[2] = sgpr(rng, 2);
        }
        Format::Scratch => {
            let both = inst.gcn >= Gcn::Gfx940;
            let scalar = rng.one_in(2);
            if scalar {
                inst.src[2] = sgpr(rng, 1);
            }
            if !scalar || both && rng.one_in(2) {
                inst.src[0] = vgpr(rng, 1);
            }
            if both && rng.one_in(8) {
                (inst.src[0], inst.src[2]) = (Operand::None, Operand::None);
            }
        }
        _ => {}
    }
    if named(inst.src[2]) {
        inst.src[2] = Operand::Sgpr(6);
    }
    let plain = inst.gcn < Gcn::Gfx940 && inst.format != Format::Flat;
    if plain && inst.entry().goes_to_lds() && rng.one_in(6) {
        inst.flags |= flag::LDS;
    }
}

/// Which caches keep data.
fn caching(rng: &mut Lcg, inst: &Inst) -> u16 {
    let float = inst.entry().is_float_atomic();
    let flags = match inst.gcn.generation().caching {
        Caching::Plain => random_flags(rng, &[flag::GLC, flag::SLC]),
        Caching::WithScc | Caching::Scopes => random_flags(rng, &[flag::GLC, flag::SLC, flag::SC1]),
    };
    match inst.gcn {
        Gcn::Gfx908 if float => flags & !flag::GLC,
        Gcn::Gfx90a if float => flags & !flag::SC1,
        _ => flags,
    }
}

pub fn mubuf(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.src[1] == Ty::None {
        if inst.gcn >= Gcn::Gfx940 && matches!(inst.op, Op::BufferWbl2 | Op::BufferInvl2) {
            inst.flags = caching(rng, inst) & !flag::SLC;
        }
        return;
    }
    inst.imm = (rng.below(3).min(1) * (rng.next() as u32 >> rng.below(12) & 0xfff)) as i32;
    inst.flags = caching(rng, inst);
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
        } else if entry.dst_written && !entry.atomic && inst.gcn < Gcn::Gfx90a {
            inst.flags |= random_flags(rng, &[flag::TFE]);
        }
        let address = inst.src_dwords(0);
        if address > 0 {
            inst.src[0] = vgpr(rng, address);
        }
        if !inst.has(flag::LDS) {
            inst.dst = vgpr(rng, inst.dst_dwords());
        }
        if inst.gcn >= Gcn::Gfx90a && rng.one_in(4) {
            inst.dst = accumulator(inst.dst);
        }
    }
    descriptor(rng, inst);
}

fn descriptor(rng: &mut Lcg, inst: &mut Inst) {
    inst.src[1] = sgpr(rng, 4);
    inst.src[2] = match rng.below(3) {
        0 => Operand::InlineInt(rng.below(65) as i8),
        1 => sgpr(rng, 1),
        _ => Operand::M0,
    };
}

pub fn mtbuf(rng: &mut Lcg, inst: &mut Inst) {
    inst.imm = (rng.below(3).min(1) * (rng.next() as u32 >> rng.below(12) & 0xfff)) as i32;
    let format = if rng.one_in(6) { 1 } else { rng.below(128) };
    inst.imm |= (format << 12) as i32;
    inst.flags = caching(rng, inst) | random_flags(rng, &[flag::OFFEN, flag::IDXEN]);
    let address = inst.src_dwords(0);
    if address > 0 {
        inst.src[0] = vgpr(rng, address);
    }
    inst.dst = vgpr(rng, inst.dst_dwords());
    if inst.gcn >= Gcn::Gfx90a && rng.one_in(4) {
        inst.dst = accumulator(inst.dst);
    }
    descriptor(rng, inst);
}

pub fn mimg(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    inst.imm = 1 + rng.below(15) as i32;
    if entry.name.contains("gather4") {
        inst.imm = 1 << rng.below(4);
    }
    if entry.atomic {
        let wide = rng.one_in(2);
        inst.imm = match (inst.op, wide) {
            (Op::ImageAtomicCmpswap, true) => 15,
            (Op::ImageAtomicCmpswap, false) | (_, true) => 3,
            _ => 1,
        };
    }
    inst.flags = random_flags(rng, &[flag::UNORM, flag::GLC, flag::SLC, flag::DA, flag::LWE]);
    inst.dst = vgpr(rng, inst.dst_dwords());
    inst.src[0] = vgpr(rng, inst.src_dwords(0));
    inst.src[1] = sgpr(rng, 8);
    if entry.src[2] != Ty::None {
        inst.src[2] = sgpr(rng, 4);
    }
}

pub fn smem(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.dst == Ty::Imm16 {
        inst.dst = Operand::InlineInt(rng.below(128) as i8);
    } else if entry.dst != Ty::None {
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
        if inst.gcn > Gcn::Gfx8 {
            if entry.src[0] == Ty::B64 && rng.one_in(4) {
                inst.imm = -inst.imm - 1;
            }
            if rng.one_in(4) {
                inst.src[1] = if entry.dst_read { Operand::M0 } else { sgpr(rng, 1) };
            }
        }
        if entry.dst.dwords() > 0 {
            inst.flags = random_flags(rng, &[flag::GLC]);
        }
    }
}
