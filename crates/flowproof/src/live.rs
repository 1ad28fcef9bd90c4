//! What is still read in a round of a loop, at every place in it. States that differ only in what nobody reads again
//! need not be told apart. Too little here costs proofs, never truth: what is forgotten is unknown.

use crate::facts::VCC;
use crate::format::{LoopProof, Reg, Rule};
use crate::graph::{Graph, Looped};
use crate::lane::reg;
use std::collections::{BTreeMap, BTreeSet};
use wb_isa::Pc;
use wb_isa::gcn3::{Inst, Op, Operand};

/// A place between instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    Before,
    After,
}

/// Pairs, SCC and tracked registers that are read before they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    pub pairs: BTreeSet<u8>,
    pub scc: bool,
    pub registers: BTreeSet<Reg>,
}

/// Backwards over the blocks of the loop until nothing changes. An edge back ends the round; behind it, only what the
/// rule says of the round is asked for.
pub fn find(
    graph: &Graph,
    looped: &Looped,
    proof: &LoopProof,
    tracked: &BTreeSet<Reg>,
) -> BTreeMap<(Pc, Edge), Live> {
    let mut all: BTreeMap<(Pc, Edge), Live> = BTreeMap::new();
    let mut asked = Live::default();
    asked.registers.extend(proof.moves.iter().map(|m| m.register));
    let mut test = None;
    match &proof.rule {
        Rule::Straight => {}
        Rule::Bits(b) => _ = asked.pairs.insert(b.pair),
        Rule::Counted(c) => {
            asked.registers.insert(c.counter);
            test = Some(c.test);
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &first in looped.blocks.iter().rev() {
            let last = graph.blocks[&first];
            let mut live = Live::default();
            for (to, _) in graph.ways(last) {
                match all.get(&(to, Edge::Before)) {
                    _ if to == proof.header => live.extend(&asked),
                    Some(behind) => live.extend(behind),
                    None => {}
                }
            }
            let mut pcs = vec![first];
            while pcs[pcs.len() - 1] != last {
                pcs.push(graph.next(pcs[pcs.len() - 1]));
            }
            for &pc in pcs.iter().rev() {
                all.insert((pc, Edge::After), live.clone());
                if let Some(inst) = graph.inst(pc) {
                    live.before(inst, tracked, test == Some(pc));
                }
            }
            // A mask whose bits are counted is looked at where the round ends, whatever was read before.
            if let Rule::Bits(b) = &proof.rule {
                live.pairs.insert(b.pair);
            }
            changed |= all.get(&(first, Edge::Before)) != Some(&live);
            all.insert((first, Edge::Before), live);
        }
    }
    all
}

impl Live {
    fn extend(&mut self, more: &Live) {
        self.pairs.extend(&more.pairs);
        self.scc |= more.scc;
        self.registers.extend(&more.registers);
    }

    /// What is read before an instruction, if this is read behind it. Lanes that are off keep what a vector register
    /// held, so writing one ends nothing.
    fn before(&mut self, inst: &Inst, tracked: &BTreeSet<Reg>, test: bool) {
        let uses = inst.uses();
        let result = reg(inst.dst).filter(|r| tracked.contains(r));
        let wanted = test || result.is_some_and(|r| self.registers.contains(&r));
        for used in uses.iter().filter(|u| u.write) {
            match used.operand {
                Operand::Sgpr(n) => {
                    if used.dwords == 2 && n % 2 == 0 {
                        self.pairs.remove(&n);
                    }
                    self.registers.retain(|r| !matches!(r, Reg::S(x) if (n..n + used.dwords).contains(x)));
                }
                Operand::Scc => self.scc = false,
                _ => {}
            }
        }
        if wanted {
            self.registers.extend(inst.src.iter().filter_map(|&o| reg(o)).filter(|r| tracked.contains(r)));
            // An immediate is added to what the destination held.
            self.registers.extend(result.filter(|_| inst.op == Op::SAddkI32));
        }
        for used in uses.iter().filter(|u| u.read) {
            match used.operand {
                Operand::Sgpr(n) => self.pairs.extend((0..used.dwords).map(|i| (n + i) & 126)),
                Operand::Scc => self.scc = true,
                _ => {}
            }
        }
        match inst.op {
            Op::SCbranchVccz | Op::SCbranchVccnz => _ = self.pairs.insert(VCC),
            Op::SCbranchScc0 | Op::SCbranchScc1 | Op::SCselectB32 | Op::SCselectB64 | Op::SCmovB64 => {
                self.scc = true;
            }
            _ => {}
        }
    }
}
