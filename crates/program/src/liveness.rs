//! Which path registers (scalars) are still read at a pc, and whether as lane masks or as plain values: what a
//! merge of two paths has to look at (mechanisms 7). Backward over the control-flow graph, until nothing changes.

use crate::cfg::Cfg;
use crate::flow::FlowMap;
use crate::op::Op;
use std::ops::Range;
use wb_isa::{Facts, FlowKind, Isa, Needed};

/// Needs before each pc; code that cannot be reached needs nothing.
pub(crate) fn needs<I: Isa>(isa: &I, ops: &[Op<I::Inst>], flow: &FlowMap, cfg: &Cfg) -> Vec<Needed> {
    let mut before = vec![Needed::default(); ops.len()];
    if isa.path_registers().is_empty() {
        return before;
    }
    let blocks = &cfg.blocks;
    let mut preds = vec![Vec::new(); blocks.len()];
    for (b, block) in blocks.iter().enumerate() {
        for &s in &block.succs {
            preds[s].push(b);
        }
    }
    let mut work: Vec<usize> = (0..blocks.len()).collect();
    while let Some(b) = work.pop() {
        let mut now = Needed::default();
        for &s in &blocks[b].succs {
            now.join(&before[blocks[s].first as usize]);
        }
        let old = before[blocks[b].first as usize];
        for pc in cfg.pcs(b, flow).into_iter().rev() {
            if let Some(inst) = ops[pc as usize].inst.as_ref() {
                let facts = isa.facts(inst, pc, flow.next[pc as usize]);
                transfer(&facts, &isa.path_registers(), &mut now);
            }
            before[pc as usize] = now;
        }
        if now != old {
            work.extend(&preds[b]);
        }
    }
    before
}

/// What is needed before an instruction, from what is needed after it; `range`: path registers.
fn transfer(facts: &Facts, range: &Range<u16>, now: &mut Needed) {
    let index = |&r: &u16| range.contains(&r).then(|| usize::from(r - range.start));
    // A callee or a caller may read anything; what differs between paths there can only be a mask.
    if matches!(facts.flow, FlowKind::Call { .. } | FlowKind::Indirect { .. }) {
        (0..range.len()).for_each(|i| now.add(i, false));
    }
    let condition = range.len() - 1;
    let written: Vec<usize> = facts.writes.iter().filter_map(index).collect();
    let value = written.iter().any(|&i| i != condition && now.is_value(i));
    written.iter().for_each(|&i| now.remove(i));
    for r in &facts.reads {
        let Some(i) = index(r) else { continue };
        now.add(i, !facts.mask_reads.contains(r) && (!facts.mask_flow || value));
    }
}
