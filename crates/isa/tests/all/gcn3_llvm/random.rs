//! Random numbers, registers and flags.

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

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// Accumulators instead of vector registers.
pub fn accumulator(operand: Operand) -> Operand {
    match operand {
        Operand::Vgpr(n) => Operand::Agpr(n),
        other => other,
    }
}

pub fn vgpr(rng: &mut Lcg, dwords: u8) -> Operand {
    Operand::Vgpr(rng.below(257 - u32::from(dwords.max(1))) as u8)
}

pub fn sgpr(rng: &mut Lcg, dwords: u8) -> Operand {
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

pub fn random_flags(rng: &mut Lcg, flags: &[u16]) -> u16 {
    flags.iter().filter(|_| rng.one_in(4)).sum()
}

pub fn vector_dst(rng: &mut Lcg, inst: &mut Inst) {
    let entry = inst.entry();
    if entry.scalar_dst {
        inst.dst = sgpr(rng, 1);
    } else if entry.dst != Ty::None {
        inst.dst = vgpr(rng, entry.dst.dwords());
    }
}
