//! Functions that a kernel calls, and the blocks it reaches through them.

use std::collections::{BTreeMap, BTreeSet};
use wb_isa::{Isa, Pc};
use wb_program::Program;

/// Calls whose function is known, and jumps that are returns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Entry of the function, by pc of the call.
    pub targets: BTreeMap<Pc, Pc>,
    pub returns: BTreeSet<Pc>,
}

impl Calls {
    /// Functions that are called, by entry, each with the calls.
    pub fn callees(&self) -> BTreeMap<Pc, Vec<Pc>> {
        let mut out: BTreeMap<Pc, Vec<Pc>> = BTreeMap::new();
        for (&call, &callee) in &self.targets {
            out.entry(callee).or_default().push(call);
        }
        out
    }
}

/// Blocks the kernel can reach, functions it calls included.
pub fn code_blocks<I: Isa>(program: &Program<I>, calls: &Calls) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut work: Vec<usize> = program.cfg.block_at(program.entry).into_iter().collect();
    while let Some(b) = work.pop() {
        if seen.insert(b) {
            work.extend(&program.cfg.blocks[b].succs);
            let called =
                program.cfg.pcs(b, &program.flow).into_iter().filter_map(|pc| calls.targets.get(&pc));
            work.extend(called.filter_map(|&pc| program.cfg.block_at(pc)));
        }
    }
    seen
}
