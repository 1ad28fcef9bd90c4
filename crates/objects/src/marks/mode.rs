//! THESIS marks: MODE bit 21 is set right before a branch on the mask and cleared on both ways out of it, so that
//! no other branch splits.

use super::code::Code;
use crate::rewrite::Edits;
use std::collections::BTreeSet;
use wb_isa::Pc;

/// `s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1` and `…, 0`.
const SET: [u32; 2] = [0xba00_0541, 1];
const CLEAR: [u32; 2] = [0xba00_0541, 0];

/// Marks the chosen branches; the branches that are marked in the end.
pub(super) fn mark(code: &Code, chosen: &BTreeSet<Pc>, edits: &mut Edits) -> BTreeSet<Pc> {
    let new = chosen.iter().filter(|&&pc| code.mode_bit(code.before(pc)) != Some(true));
    let new: Vec<Pc> = new.copied().collect();
    let ways: BTreeSet<Pc> = new.iter().filter_map(|&pc| code.target(pc)).collect();
    for &target in ways.iter().filter(|&&pc| code.mode_bit(pc) != Some(false)) {
        edits.before.entry(target).or_default().extend(CLEAR);
    }
    for &branch in &new {
        // Behind a clear, where the branch is the target of another one.
        edits.before.entry(branch).or_default().extend(SET);
        let next = code.next(branch);
        if code.mode_bit(next) != Some(false) && !ways.contains(&next) {
            edits.after.entry(branch).or_default().extend(CLEAR);
        }
    }
    let has = |s: &&super::Site| s.mode || chosen.contains(&s.pc);
    code.sites.iter().filter(has).map(|s| s.pc).collect()
}
