//! Random interpolations and exports.

use super::random::*;
use wb_isa::gcn3::table::modifier;
use wb_isa::gcn3::*;

pub fn interpolation(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    inst.dst = vgpr(rng, 1);
    // llvm-mc takes attributes up to 32, although there is room for 64.
    inst.imm = (rng.below(33) | rng.below(4) << 6) as i32;
    inst.src[1] = match entry.src[1] {
        Ty::Imm16 => Operand::InlineInt(rng.below(3) as i8),
        _ => vgpr(rng, 1),
    };
    if entry.src[2] != Ty::None {
        inst.src[2] = vgpr(rng, 1);
    }
    if inst.format != Format::Vop3 {
        return;
    }
    if entry.format == Format::Vop3 {
        inst.imm |= (rng.below(2) << 8) as i32;
    }
    inst.abs = rng.below(8) as u8 & entry.mods & 7;
    inst.neg = rng.below(8) as u8 & entry.mods >> 3 & 7;
    if entry.mods & modifier::CLAMP != 0 {
        inst.flags = random_flags(rng, &[flag::CLAMP]);
    }
    if entry.mods & modifier::OMOD != 0 {
        inst.omod = rng.below(4) as u8;
    }
}

pub fn export(rng: &mut Lcg, inst: &mut Inst) {
    const TARGETS: [u32; 8] = [0, 7, 8, 9, 12, 15, 32, 63];
    let compressed = rng.one_in(3);
    let mut enabled = rng.below(16);
    if compressed {
        enabled = [0, 3, 12, 15][enabled as usize & 3];
    }
    let bits = u32::from(compressed) << 10 | rng.below(4) << 11;
    inst.imm = (enabled | TARGETS[rng.below(8) as usize] << 4 | bits) as i32;
    let mut value = |i| if inst.exports(i) { vgpr(rng, 1) } else { Operand::None };
    (inst.src, inst.dst) = ([value(0), value(1), value(2)], value(3));
}
