//! Masks lane by lane: which bits the lanes of a class have in an operand, and get in a result.

use super::pattern::{self, Executed, Pattern};
use super::state::{Class, EXEC, State, bit};
use super::step::{AccessRule, Step};
use crate::plain::{mask_operation, mask_written};
use std::collections::BTreeMap;
use wb_isa::Mask;
use wb_isa::gcn3::{Op, Operand, Ty};

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

impl Step<'_> {
    /// The pairs that get new bits for every lane, and which ones a class of lanes can have then.
    pub fn mask_result(&self, state: &State) -> Option<Masks> {
        let inst = self.inst;
        let pair = match inst.dst {
            Operand::Sgpr(n) if n & 1 == 0 => n >> 1,
            _ => return None,
        };
        let [x, y, _] = inst.src;
        if inst.op == Op::SCselectB64 {
            let cases = state.lanes.keys().map(|&case| {
                let both = [x, y].into_iter().flat_map(|o| mask_bits(state, case, o));
                (case, both.map(|b| (b, b)).collect())
            });
            return Some(Masks { to: [pair, pair], cases: cases.collect() });
        }
        let (op, saves) = mask_operation(inst.op)?;
        let second = if saves { Operand::EXEC } else { y };
        let cases = state.lanes.keys().map(|&case| {
            let (a, b) = (mask_bits(state, case, x), mask_bits(state, case, second));
            let results = a.iter().flat_map(|&p| b.iter().map(move |&q| op(p, q)));
            let saved = |r: bool| if saves && pair != EXEC { (bit(case, EXEC), r) } else { (r, r) };
            (case, results.map(saved).collect())
        });
        let to = if saves { [pair, EXEC] } else { [pair, pair] };
        Some(Masks { to, cases: cases.collect() })
    }

    /// The bit that all lanes of a class have in the mask that the instruction reads.
    pub fn bit_read(&self, state: &State, case: u64) -> Option<bool> {
        let at = (0..3).find(|&i| self.inst.src_ty(i) == Ty::Mask)?;
        match mask_bits(state, case, self.inst.src[at]).as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Lanes for which a comparison or carry leaves a one, by the class they are in, where all numbers are known.
    pub fn told(&self, state: &State) -> BTreeMap<u64, Mask> {
        let dims = self.set.dims;
        if !dims.rows || mask_written(self.inst).is_none() {
            return BTreeMap::new();
        }
        let of = |(case, class): (u64, &Class)| {
            let known = self.set.without != Some(AccessRule::KnownNumbers);
            let taken = |row: Pattern| if known { row } else { row.settled() };
            let rows = self.inst.src.map(|o| self.value(state, class, o).row(dims).map(taken));
            let Executed { mask, .. } = pattern::execute(self.inst, &rows, self.bit_read(state, case))?;
            Some((case, mask?))
        };
        state.on().filter_map(of).collect()
    }

    /// A comparison or carry leaves bits of the lanes that are on; those of others are zero.
    pub fn write_masks(&self, state: &mut State, told: &BTreeMap<u64, Mask>) {
        let inst = self.inst;
        let Some(n) = mask_written(inst) else { return };
        let exec = inst.entry().compare().is_some_and(|c| c.exec);
        let options = |case: u64| match (bit(case, EXEC), told.get(&case)) {
            (false, _) => vec![(false, Mask::MAX)],
            (true, None) => vec![(false, Mask::MAX), (true, Mask::MAX)],
            (true, Some(&set)) => vec![(false, !set), (true, set)],
        };
        let one = |case: u64| options(case).into_iter().map(|(b, lanes)| ([b], lanes)).collect();
        let two = |case: u64| options(case).into_iter().map(|(b, lanes)| ([b, b], lanes)).collect();
        match (n & 1, exec) {
            (1, false) => {}
            (1, true) => state.assign_lanes(&[EXEC], one),
            (_, true) => state.assign_lanes(&[n >> 1, EXEC], two),
            (_, false) => state.assign_lanes(&[n >> 1], one),
        }
    }
}
