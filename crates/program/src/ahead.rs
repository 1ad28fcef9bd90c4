//! How far some lanes of a path may run ahead of the others (Meng et al.: to the next branch or post-dominator).
//! Code with an execution mask has one more reason to stop: lanes that are apart must not be seen to be. So they run up to the
//! first instruction that is not lane by lane (design choice): control flow, the begin of a block, a change of the execution mask,
//! local memory, lanes that see each other, a scalar computed from a lane mask.

use crate::cfg::Cfg;
use crate::flow::FlowMap;
use crate::op::Op;
use std::collections::BTreeSet;
use wb_isa::{Facts, FlowKind, Isa, LaneEffect, Needed, Pc};

/// Where lanes that run ahead wait for the others.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    /// By pc: the first instruction from there on at which they wait; the pc itself if they cannot go on at all.
    stops: Vec<Pc>,
    /// No instruction of the program tells which lanes run together: they may stay apart for good.
    pub lanewise: bool,
}

impl Ahead {
    /// Where lanes that stand at `pc` stop.
    pub fn stop(&self, pc: Pc) -> Pc {
        self.stops.get(pc as usize).copied().unwrap_or(pc)
    }
}

/// What kind of instruction it is, for this question.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Vector,
    Scalar,
    ScalarLoad,
    Wait,
    /// Local memory, messages, control flow.
    Other,
}

/// The sort of a timing class. A class that is not named here is not run past.
fn sort(class: &str) -> Sort {
    match class {
        "valu" | "valu64" | "trans" | "flat" | "vmem" => Sort::Vector,
        "matrix2" | "matrix4" | "matrix8" | "matrix16" => Sort::Vector,
        "salu" => Sort::Scalar,
        "smem" => Sort::ScalarLoad,
        "wait" => Sort::Wait,
        _ => Sort::Other,
    }
}

struct Look<'a, I: Isa> {
    isa: &'a I,
    ops: &'a [Op<I::Inst>],
    flow: &'a FlowMap,
    /// Scalars that may depend on which lanes run together.
    masks: BTreeSet<u16>,
}

pub(crate) fn find<I: Isa>(
    isa: &I,
    ops: &[Op<I::Inst>],
    flow: &FlowMap,
    cfg: &Cfg,
    needs: &[Needed],
    entry: Pc,
) -> Ahead {
    let mut look = Look { isa, ops, flow, masks: isa.execution_mask().collect() };
    look.follow_masks();
    let mut ahead = Ahead { stops: (0..ops.len() as Pc).collect(), lanewise: true };
    let reached = cfg.reachable(cfg.block_at(entry));
    for b in 0..cfg.blocks.len() {
        let pcs = cfg.pcs(b, flow);
        ahead.lanewise &= !reached.contains(&b) || pcs.iter().all(|&pc| look.stays_apart(pc));
        let mut stop = pcs.last().map_or(0, |&pc| flow.next[pc as usize]);
        for pc in pcs.into_iter().rev() {
            let needed = needs.get(stop as usize).copied().unwrap_or_default();
            if !look.lane_by_lane(pc, &needed) {
                stop = pc;
            }
            ahead.stops[pc as usize] = stop;
        }
    }
    ahead
}

impl<I: Isa> Look<'_, I> {
    fn facts(&self, pc: Pc) -> Option<(Facts, Sort)> {
        let facts = self.isa.facts(self.ops[pc as usize].inst.as_ref()?, pc, self.flow.next[pc as usize]);
        let sort = sort(self.isa.classes()[usize::from(facts.class)]);
        Some((facts, sort))
    }

    fn scalars<'b>(&self, registers: &'b [u16]) -> impl Iterator<Item = u16> + use<'b, I> {
        let range = self.isa.path_registers();
        registers.iter().copied().filter(move |r| range.contains(r))
    }

    /// Results of vector instructions are lane masks, and what is computed from a mask depends on lanes. Whatever the order of
    /// instructions: a register that holds a mask anywhere counts as one everywhere.
    fn follow_masks(&mut self) {
        loop {
            let before = self.masks.len();
            for pc in 0..self.ops.len() as Pc {
                let Some((facts, sort)) = self.facts(pc) else { continue };
                let from_masks = facts.lanes != LaneEffect::Keep
                    || sort == Sort::Vector
                    || facts.reads.iter().any(|r| self.masks.contains(r));
                if from_masks {
                    let writes: Vec<u16> = self.scalars(&facts.writes).collect();
                    self.masks.extend(writes);
                }
            }
            if self.masks.len() == before {
                return;
            }
        }
    }

    /// Of a vector instruction: every mask that it reads, it reads lane by lane.
    fn reads_by_lane(&self, pc: Pc, facts: &Facts) -> bool {
        let seen = self.ops[pc as usize].inst.as_ref().is_some_and(|i| self.isa.reads_execution_mask(i));
        !seen && self.scalars(&facts.reads).all(|r| !self.masks.contains(&r) || facts.mask_reads.contains(&r))
    }

    /// Whether lanes that are apart can pass the instruction, each part by itself, and it is as if they had passed together;
    /// `needed`: what is read where they wait.
    fn lane_by_lane(&self, pc: Pc, needed: &Needed) -> bool {
        let Some((facts, sort)) = self.facts(pc) else { return false };
        if facts.flow != FlowKind::Next || facts.cross_lane || facts.lanes != LaneEffect::Keep {
            return false;
        }
        let plain = || !facts.reads.iter().any(|r| self.masks.contains(r));
        let first = self.isa.path_registers().start;
        match sort {
            // A mask that it writes is put together by lanes, unless somebody wants it as a number.
            Sort::Vector => {
                self.reads_by_lane(pc, &facts)
                    && self.scalars(&facts.writes).all(|r| !needed.is_value(usize::from(r - first)))
            }
            Sort::Scalar => !facts.writes.is_empty() && plain(),
            // Clocks have no address, stores and atomics must happen once.
            Sort::ScalarLoad => !facts.reads.is_empty() && !facts.writes.is_empty() && plain(),
            Sort::Wait => self.ops[pc as usize].waits.until.is_some(),
            Sort::Other => false,
        }
    }

    /// Whether the instruction does the same for each lane if lanes never come together again.
    fn stays_apart(&self, pc: Pc) -> bool {
        let Some((facts, sort)) = self.facts(pc) else { return true };
        if facts.cross_lane || facts.lanes == LaneEffect::Spill {
            return false;
        }
        let from_masks = facts.reads.iter().any(|r| self.masks.contains(r));
        match sort {
            Sort::Vector => self.reads_by_lane(pc, &facts),
            _ if facts.flow != FlowKind::Next => {
                !matches!(facts.flow, FlowKind::Call { .. } | FlowKind::Indirect { .. })
            }
            Sort::Scalar => !from_masks || facts.mask_flow || facts.lanes != LaneEffect::Keep,
            Sort::ScalarLoad => !facts.reads.is_empty() && !facts.writes.is_empty() && !from_masks,
            Sort::Wait => true,
            Sort::Other => false,
        }
    }
}
