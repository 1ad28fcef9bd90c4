//! Masks lane by lane: which bits the lanes of a class have in an operand, and get in a result.

use super::state::{State, bit};
use std::collections::BTreeMap;
use wb_isa::gcn3::Operand;

/// New bits of two pairs (the same twice: of one), by the class that lanes were in.
pub struct Masks {
    pub to: [u8; 2],
    pub cases: BTreeMap<u64, Vec<(bool, bool)>>,
}

impl State {
    pub fn assign_masks(&mut self, masks: Masks) {
        let of = |case: u64| masks.cases.get(&case).cloned().unwrap_or_default();
        masks.to.iter().for_each(|&pair| self.drop_carry(pair));
        match masks.to {
            [a, b] if a == b => self.assign(&[a], |case| of(case).into_iter().map(|(x, _)| [x]).collect()),
            both => self.assign(&both, |case| of(case).into_iter().map(|(x, y)| [x, y]).collect()),
        }
    }
}

/// The bits that lanes of a class can have in a 64-bit operand.
pub fn mask_bits(state: &State, case: u64, operand: Operand) -> Vec<bool> {
    match operand {
        Operand::Sgpr(n) if n & 1 == 0 && state.tracked(n >> 1) => vec![bit(case, n >> 1)],
        Operand::InlineInt(0) => vec![false],
        Operand::InlineInt(-1) => vec![true],
        _ => vec![false, true],
    }
}
