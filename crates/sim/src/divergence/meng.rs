//! Dynamic warp subdivision as Meng, Tarjan and Skadron published it (ISCA 2010; mechanisms 8). A wave that divides has an entry in
//! the warp-split table of its partition for each of its paths, and its stack is frozen: paths wait at the end of the region that
//! divided it first, not at those of branches inside (THESIS 3.2.2), and become one wherever two of them stand at the same pc.
//! Loads that hit for some lanes and miss for others divide the wave, too. Our stack is the execution mask, so what is not divided
//! is serialised by the program.

use super::groups::{Groups, leave, mask_split};
use super::mechanism::{Change, Context, Divergence, Refusal, plain, unsupported};
use wb_hw::{Machine, Mechanism, Reconverge, RunAhead};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_program::Ahead;
use wb_trace::{Kind, RefusedReason};

#[derive(Debug)]
pub struct Meng {
    /// Longest post-dominator block, in instructions, that is worth a split.
    threshold: u32,
    reconverge: Reconverge,
    ahead: RunAhead,
    groups: Groups,
}

impl Meng {
    pub fn new(machine: &Machine) -> Self {
        let d = &machine.divergence;
        Meng { threshold: d.threshold, reconverge: d.reconverge, ahead: d.ahead, groups: Groups::default() }
    }
}

impl Divergence for Meng {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        match flow {
            Flow::MaskBranch { active, jump, target, .. } => {
                let region = cx.map.region(at.pc);
                let (tail, hazard) = region.map_or((0, true), |r| (r.tail, r.hazard));
                let mixed = active != 0 && active != at.mask;
                if mixed && tail >= self.threshold {
                    let lanes = at.mask & !active;
                    cx.notes.add(|| Kind::SplitRefused { reason: RefusedReason::LongTail, lanes });
                    return Ok(Change::on(at, if jump { target } else { at.next }));
                }
                let frozen = self.reconverge == Reconverge::Never || self.groups.is_inside(at.id);
                let rpc = if frozen { NO_PC } else { cx.map.rpc[at.pc as usize] };
                let change = mask_split(&mut self.groups, active, jump, target, rpc, cx);
                if !frozen && !hazard && matches!(change, Change::Split { .. }) {
                    self.groups.loosen(at.id);
                }
                Ok(change)
            }
            Flow::Exit { lanes } => Ok(leave(&mut self.groups, lanes, cx)),
            _ => plain(at, flow).ok_or_else(|| unsupported(flow, Mechanism::DwsMeng)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(match self.groups.pass(cx) {
            Some(change) => change,
            None => self.groups.arrive(cx),
        })
    }

    fn watch(&self, id: usize) -> Pc {
        self.groups.watch(id)
    }

    fn meets(&self) -> bool {
        matches!(self.reconverge, Reconverge::Default | Reconverge::Anywhere)
    }

    fn meet(&mut self, other: usize, cx: &mut Context) -> Option<Change> {
        self.groups.meet(other, cx)
    }

    fn goes_apart(&self) -> bool {
        true
    }

    fn divide(&mut self, hits: Mask, until: u64, ahead: &Ahead, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        if cx.free == 0 || cx.map.spills || at.mask & hits == 0 || at.mask & !hits == 0 {
            return None;
        }
        // Past branches only where nobody waits for them and nothing tells that they are apart.
        let free = self.ahead == RunAhead::Unlimited && ahead.lanewise && !self.groups.is_inside(at.id);
        let stop = if free { NO_PC } else { ahead.stop(at.pc) };
        if stop == at.pc {
            return None;
        }
        let (taken, other) = (at.mask & hits, at.mask & !hits);
        cx.notes.add(|| Kind::Split { taken, other });
        let change = self.groups.split(taken, at.pc, at.pc, stop, cx);
        if let Change::Split { id, .. } = change {
            self.groups.wait_for_data(id, until);
        }
        Some(change)
    }

    fn depth(&self) -> usize {
        self.groups.depth()
    }
}
