//! Which path registers (scalars) are still read at a pc, and whether as lane masks or as plain values: what a
//! merge of two paths has to look at (mechanisms 7). Backward over the control-flow graph, until nothing changes.

use crate::program::Program;
use wb_isa::{FlowKind, Isa, Needed, Pc};

/// Needs before each pc; code that cannot be reached needs nothing.
pub(crate) fn needs<I: Isa>(program: &Program<I>) -> Vec<Needed> {
    let mut before = vec![Needed::default(); program.ops.len()];
    let blocks = &program.cfg.blocks;
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
        for pc in program.cfg.pcs(b, &program.flow).into_iter().rev() {
            transfer(program, pc, &mut now);
            before[pc as usize] = now;
        }
        if now != old {
            work.extend(&preds[b]);
        }
    }
    before
}

fn transfer<I: Isa>(program: &Program<I>, pc: Pc, now: &mut Needed) {
    let Some(inst) = program.ops[pc as usize].inst.as_ref() else { return };
    let range = program.isa.path_registers();
    let facts = program.isa.facts(inst, pc, program.flow.next[pc as usize]);
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
