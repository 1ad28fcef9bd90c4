//! Divergent regions of code that masks lanes by hand (GCN): for every branch on the execution mask, where lanes
//! were switched off, where the other side begins (branch serialisation block, PWS 4.2) and where all lanes are
//! on again. Found by following the register that saved the mask along the post-dominators of the branch.

use crate::cfg::Cfg;
use crate::flow::FlowMap;
use crate::region::{Region, RegionKind};
use std::collections::BTreeSet;
use wb_isa::{FlowKind, LaneEffect, MaskOp, NO_PC, Pc};

/// Instructions that are looked at, for all branches of a program together, to find what switches lanes on again.
const LOOKS: usize = 1 << 24;
/// Why a branch has no place to reconverge after that.
const GIVEN_UP: &str =
    "the program is too large to find where its lanes come together: the search was given up";
/// The lanes do not come together, and that would be seen.
const HAZARD: &str =
    "the lanes never come together again, and code behind the branch counts on lanes running together";

/// What the walk sees of an instruction.
#[derive(Default, PartialEq)]
pub(crate) struct Step {
    pub lanes: LaneEffect,
    pub mask_flow: bool,
    pub reads: Vec<u16>,
    pub writes: Vec<u16>,
    pub cross_lane: bool,
    /// Accesses local memory.
    pub local: bool,
}

pub(crate) fn find(flow: &FlowMap, cfg: &Cfg, entry: Pc, steps: &[Option<Step>]) -> Vec<Region> {
    find_within(LOOKS, flow, cfg, entry, steps)
}

fn find_within(looks: usize, flow: &FlowMap, cfg: &Cfg, entry: Pc, steps: &[Option<Step>]) -> Vec<Region> {
    let mask_branch = |&pc: &Pc| matches!(flow.kind[pc as usize], FlowKind::MaskBranch { .. });
    let mut branches = (0..flow.kind.len() as Pc).filter(mask_branch).peekable();
    if branches.peek().is_none() {
        return Vec::new();
    }
    let step = |pc: Pc| steps.get(pc as usize)?.as_ref();
    let has = |b: usize, what: &dyn Fn(Pc) -> bool| cfg.each_pc(b, flow).any(what);
    let reached = cfg.reachable(cfg.block_at(entry));
    let barrier = |pc: Pc| flow.kind[pc as usize] == FlowKind::Barrier;
    // A group of one wave needs no barriers, and the compiler leaves them out.
    let lockstep = !reached.iter().any(|&b| has(b, &barrier));
    let hazard = |pc: Pc| step(pc).is_some_and(|s| s.cross_lane || lockstep && s.local);
    let hazards: BTreeSet<usize> = reached.iter().copied().filter(|&b| has(b, &hazard)).collect();
    let before_hazard = cfg.reaching(&hazards);
    let mut walk = Walk { flow, cfg, steps, looks };
    let mut regions: Vec<Region> = branches
        .filter_map(|pc| {
            let block = cfg.block_at(pc)?;
            let mut region = walk.region(pc, block);
            // Only what follows the branch counts.
            region.hazard = cfg.blocks[block].succs.iter().any(|&s| before_hazard[s]);
            if region.hazard && region.ends.take().is_some() {
                region.why = HAZARD;
            }
            Some(region)
        })
        .collect();
    regions.sort_by_key(|r| r.branch);
    regions
}

struct Walk<'a> {
    flow: &'a FlowMap,
    cfg: &'a Cfg,
    steps: &'a [Option<Step>],
    /// Instructions that may still be looked at.
    looks: usize,
}

impl<'a> Walk<'a> {
    fn step(&self, pc: Pc) -> Option<&'a Step> {
        self.steps.get(pc as usize)?.as_ref()
    }

    fn region(&mut self, branch: Pc, block: usize) -> Region {
        let pcs = self.cfg.pcs(block, self.flow);
        let steps: Vec<(Pc, &Step)> = pcs.iter().filter_map(|&pc| Some((pc, self.step(pc)?))).collect();
        let changes =
            |s: &Step| !matches!(s.lanes, LaneEffect::Keep | LaneEffect::Copy { .. } | LaneEffect::Spill);
        let narrow = steps.iter().rposition(|(_, s)| changes(s));
        let mut saved = BTreeSet::new();
        let mut kind = RegionKind::Unsaved;
        if let Some(at) = narrow {
            match steps[at].1.lanes {
                LaneEffect::Save { dst, op, .. } => {
                    saved.insert(dst);
                    kind = if op == MaskOp::NotAnd { RegionKind::Else } else { RegionKind::If };
                }
                // or_saveexec d, s … xor exec, exec, d: the second form of a serialisation block.
                LaneEffect::Apply { src: Some(src), op: MaskOp::Xor } => {
                    saved.insert(src);
                    kind = RegionKind::Else;
                }
                LaneEffect::Apply { src: Some(src), op: MaskOp::AndNot } => {
                    saved.insert(src);
                    kind = RegionKind::Loop;
                }
                _ => {}
            }
            // Copies made before the change, in the same block.
            for (_, s) in &steps[..at] {
                if let LaneEffect::Copy { dst } = s.lanes {
                    saved.insert(dst);
                    kind = if kind == RegionKind::Unsaved { RegionKind::If } else { kind };
                }
            }
            for (_, s) in &steps[at + 1..] {
                follow(&mut saved, s);
            }
        }
        let mut region = Region {
            branch,
            kind,
            narrow: narrow.map_or(NO_PC, |at| steps[at].0),
            serialise: None,
            reconverge: NO_PC,
            tail: 0,
            structured: false,
            hazard: false,
            ends: None,
            why: "",
        };
        if narrow.is_none() {
            region.why = "the lanes were not switched off in the block of the branch";
        } else {
            let unsaved = saved.is_empty();
            self.restore(&mut region, block, saved);
            if unsaved && !region.why.is_empty() && region.why != GIVEN_UP {
                region.why = "the mask before the branch is saved in no register";
            }
        }
        region
    }

    /// Follows the post-dominators until an instruction switches the saved lanes on again, or to the block that ends the
    /// kernel.
    fn restore(&mut self, region: &mut Region, block: usize, mut saved: BTreeSet<u16>) {
        let mut at = self.cfg.ipdom[block];
        let mut last = None;
        // Something else switches lanes on.
        let mut widened = false;
        while let Some(b) = at {
            last = Some(b);
            let pcs = self.cfg.pcs(b, self.flow);
            let Some(left) = self.looks.checked_sub(pcs.len()) else {
                region.why = GIVEN_UP;
                return;
            };
            self.looks = left;
            for (i, &pc) in pcs.iter().enumerate() {
                let Some(s) = self.step(pc) else { continue };
                let from_saved = |src: Option<u16>| src.is_some_and(|src| saved.contains(&src));
                match s.lanes {
                    LaneEffect::Save { dst, src, op: MaskOp::NotAnd } if from_saved(src) => {
                        region.serialise.get_or_insert(pc);
                        saved = BTreeSet::from([dst]);
                        continue;
                    }
                    LaneEffect::Save { dst, src, op: MaskOp::Or }
                        if from_saved(src) && self.flips(&pcs[i..], dst) =>
                    {
                        region.serialise.get_or_insert(pc);
                        saved = BTreeSet::from([dst]);
                        continue;
                    }
                    // Lanes that left a loop may be switched on together with those of the code around it.
                    LaneEffect::Apply { src, op: MaskOp::Or }
                    | LaneEffect::Save { src, op: MaskOp::Or, .. }
                    | LaneEffect::Set { src }
                        if from_saved(src) || region.kind == RegionKind::Loop && src.is_some() =>
                    {
                        region.reconverge = self.flow.next[pc as usize];
                        region.tail = (pcs.len() - i - 1) as u32;
                        self.judge(region, block, b);
                        return;
                    }
                    // s_andn2 exec, saved, exec without a save: THESIS figure 4.4.
                    LaneEffect::Apply { src, op: MaskOp::NotAnd } if from_saved(src) => {
                        region.serialise.get_or_insert(pc);
                    }
                    // The second half of or_saveexec … xor: the other lanes of the region.
                    LaneEffect::Apply { src, op: MaskOp::Xor } if from_saved(src) => {}
                    effect => widened |= widens(effect),
                }
                follow(&mut saved, s);
            }
            at = self.cfg.ipdom[b];
        }
        let exits = |b: &usize| {
            matches!(self.flow.kind[self.cfg.blocks[*b].last as usize], FlowKind::Exit { conditional: false })
        };
        let end = last.filter(|b| exits(b) && !widened);
        if let Some(b) = end {
            region.ends = Some(self.cfg.blocks[b].first);
            return;
        }
        region.why = "no instruction after the branch's post-dominator switches the lanes on again";
    }

    /// A later instruction of the block leaves only the lanes that `saved` does not have.
    fn flips(&self, rest: &[Pc], saved: u16) -> bool {
        rest.iter()
            .skip(1)
            .filter_map(|&pc| self.step(pc))
            .any(|s| matches!(s.lanes, LaneEffect::Apply { src: Some(src), op: MaskOp::Xor } if src == saved))
    }

    /// Split and merge may be marked only where each is passed once for the other.
    fn judge(&self, region: &mut Region, from: usize, to: usize) {
        if self.cfg.inner[from] != self.cfg.inner[to] {
            region.why = "the branch is in a loop and its lanes come together outside of it";
        } else if !self.cfg.dominates(from, to) {
            region.why = "the place where the lanes come together can be reached past the branch";
        } else if self.cfg.repeats_without(from, to) || self.cfg.repeats_without(to, from) {
            region.why = "the branch and the place where its lanes come together do not take turns";
        } else {
            region.structured = true;
        }
    }
}

/// Lanes that are off may be on after it.
fn widens(effect: LaneEffect) -> bool {
    match effect {
        LaneEffect::Keep | LaneEffect::Copy { .. } | LaneEffect::Spill => false,
        LaneEffect::Set { .. } => true,
        LaneEffect::Save { op, .. } | LaneEffect::Apply { op, .. } => match op {
            MaskOp::And | MaskOp::AndNot => false,
            MaskOp::NotAnd | MaskOp::Or | MaskOp::Xor | MaskOp::Other => true,
        },
    }
}

/// Which registers hold the saved mask after the instruction.
fn follow(saved: &mut BTreeSet<u16>, s: &Step) {
    let derived = s.mask_flow && s.reads.iter().any(|r| saved.contains(r));
    for w in &s.writes {
        saved.remove(w);
    }
    // Ids of the low half: the first of each written pair.
    if derived && let Some(&dst) = s.writes.first() {
        saved.insert(dst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A branch over one instruction, so many blocks that have nothing to do with it, and the end of the region.
    fn far(blocks: Pc, looks: usize) -> Region {
        let mut kind =
            vec![FlowKind::Next, FlowKind::MaskBranch { target: 3, when_empty: true }, FlowKind::Next];
        kind.extend((0..blocks).map(|b| FlowKind::Branch(b + 4)));
        kind.extend([FlowKind::Next, FlowKind::Exit { conditional: false }]);
        let n = kind.len();
        let mut flow = FlowMap {
            kind,
            next: (1..=n as Pc).collect(),
            rpc: vec![NO_PC; n],
            loop_split: vec![false; n],
            ..FlowMap::default()
        };
        let cfg = Cfg::build(&flow, &vec![true; n], [0]).expect("a graph");
        let step = |pc: Pc| {
            let lanes = match pc {
                0 => LaneEffect::Save { dst: 6, src: None, op: MaskOp::And },
                _ if pc == blocks + 3 => LaneEffect::Apply { src: Some(6), op: MaskOp::Or },
                _ => LaneEffect::Keep,
            };
            let (reads, writes) = (Vec::new(), Vec::new());
            Some(Step { lanes, mask_flow: false, reads, writes, cross_lane: false, local: false })
        };
        let steps: Vec<Option<Step>> = (0..n as Pc).map(step).collect();
        flow.regions = find_within(looks, &flow, &cfg, 0, &steps);
        flow.regions.remove(0)
    }

    /// However far away: half of an unrolled kernel may lie between.
    #[test]
    fn the_end_of_a_region_is_found_far_away() {
        let region = far(10_000, LOOKS);
        assert_eq!((region.reconverge, region.structured, region.why), (10_004, true, ""));
    }

    #[test]
    fn a_search_that_is_given_up_says_so() {
        let region = far(100, 50);
        assert_eq!((region.reconverge, region.structured, region.why), (NO_PC, false, GIVEN_UP));
        assert_eq!(far(10, 50).why, "");
    }
}
