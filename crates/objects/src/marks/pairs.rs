//! Split and merge: which pairs the code shall have, and what to insert and remove so that it has them. Working
//! towards the whole wanted state makes the pass idempotent.

use super::code::Code;
use crate::rewrite::Edits;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::gcn3::Op;
use wb_isa::{NO_PC, Pc};
use wb_program::Region;

/// `split exec_lo, exec_hi`: lanes that are on stay, the others get a path of their own.
const SPLIT: u32 = 0xbf14_7f7e;
const MERGE: u32 = 0xbf15_0000;
/// `split_end exec_lo, exec_hi`: the same for lanes that never come together again.
const SPLIT_END: u32 = 0xbf16_7f7e;

/// Inserts what is missing for `chosen`, removes what does nothing; the branches that are marked in the end.
pub(super) fn mark(
    code: &Code,
    chosen: &BTreeSet<Pc>,
    edits: &mut Edits,
    notes: &mut Vec<String>,
) -> BTreeSet<Pc> {
    let region = |pc: Pc| code.program.flow.region(pc).filter(|r| r.markable());
    let mut wanted = chosen.clone();
    // Functions with a split whose merge cannot be told: hands off their merges.
    let mut unclear = BTreeSet::new();
    let mut kept = BTreeSet::new();
    for pc in code.pcs().filter(|&pc| matches!(code.op_at(pc), Some(Op::Split | Op::SplitEnd))) {
        let branch = code.next(pc);
        let fits = |r: &&Region| r.ends.is_some() == (code.op_at(pc) == Some(Op::SplitEnd));
        let leader = code.leader(branch, wb_hw::MarkStyle::Pws);
        if code.target(branch).is_none() {
            notes.push(format!(
                "{}: a split that is not before a branch on the mask is removed",
                code.place(pc)
            ));
            edits.remove.insert(pc);
        } else if region(branch).filter(fits).is_none() {
            notes
                .push(format!("{}: a split written by hand stays; its merge is not checked", code.place(pc)));
            unclear.insert(code.function(pc).to_owned());
            kept.insert(pc);
        } else if leader != branch && (chosen.contains(&leader) || has_split(code, leader)) {
            notes.push(format!("{}: a split before an else side is removed, its if has one", code.place(pc)));
            edits.remove.insert(pc);
        } else {
            wanted.insert(branch);
            kept.insert(pc);
        }
    }
    // Merges wanted behind the instruction that switches the lanes on.
    let mut merges: BTreeMap<Pc, usize> = BTreeMap::new();
    for &branch in &wanted {
        let Some(Region { reconverge, ends, .. }) = region(branch) else { continue };
        if ends.is_none() {
            *merges.entry(*reconverge).or_default() += 1;
        }
        if !kept.contains(&code.before(branch)) {
            edits.before.entry(branch).or_default().push(if ends.is_some() { SPLIT_END } else { SPLIT });
        }
    }
    let mut counted: BTreeSet<Pc> = BTreeSet::new();
    for (&place, &count) in &merges {
        let there: Vec<Pc> = std::iter::successors(Some(place), |&pc| Some(code.next(pc)))
            .take_while(|&pc| pc != NO_PC && code.op_at(pc) == Some(Op::Merge))
            .collect();
        counted.extend(there.iter().take(count));
        if there.len() < count {
            edits.after.entry(code.before(place)).or_default().extend(vec![MERGE; count - there.len()]);
        }
    }
    for pc in code.pcs().filter(|&pc| code.op_at(pc) == Some(Op::Merge) && !counted.contains(&pc)) {
        if !unclear.contains(code.function(pc)) {
            notes.push(format!("{}: a merge without a split is removed", code.place(pc)));
            edits.remove.insert(pc);
        }
    }
    wanted
}

fn has_split(code: &Code, branch: Pc) -> bool {
    matches!(code.op_at(code.before(branch)), Some(Op::Split | Op::SplitEnd))
}
