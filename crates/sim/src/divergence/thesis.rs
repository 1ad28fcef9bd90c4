//! THESIS wavefront splitting (chapter 4): a branch on a mixed execution mask makes two paths of the wave, which
//! share vector registers, barrier and local memory; the new one takes a reserve slot. By default paths never
//! merge (4.3.4); with `reconverge` they wait for each other where the mask before the split is back.

use super::groups::{Groups, leave, mask_split};
use super::mechanism::{Change, Context, Divergence, Refusal, Together, plain, unsupported};
use wb_hw::{Machine, Mechanism, Reconverge, SplitChoice};
use wb_isa::{Flow, NO_PC, Pc};

#[derive(Debug)]
pub struct Thesis {
    /// Only where MODE bit 21 is set (4.5), or at the first branches that find a reserve slot.
    marked_only: bool,
    reconverge: Reconverge,
    groups: Groups,
}

impl Thesis {
    pub fn new(machine: &Machine) -> Self {
        let divergence = &machine.divergence;
        Thesis {
            marked_only: divergence.choice == SplitChoice::Marked,
            reconverge: divergence.reconverge,
            groups: Groups::default(),
        }
    }
}

impl Divergence for Thesis {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        match flow {
            Flow::MaskBranch { active, jump, target, marked } if marked || !self.marked_only => {
                let never = matches!(self.reconverge, Reconverge::Default | Reconverge::Never);
                let rpc = if never { NO_PC } else { cx.map.rpc[at.pc as usize] };
                Ok(mask_split(&mut self.groups, active, jump, target, rpc, cx))
            }
            Flow::Exit { lanes } => Ok(leave(&mut self.groups, lanes, cx)),
            _ => plain(at, flow).ok_or_else(|| unsupported(flow, Mechanism::Thesis)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(self.groups.arrive(cx))
    }

    fn watch(&self, id: usize) -> Pc {
        self.groups.watch(id)
    }

    fn meets(&self) -> bool {
        self.reconverge == Reconverge::Anywhere
    }

    fn meet(&mut self, other: usize, cx: &mut Context) -> Option<Change> {
        self.groups.meet(other, cx)
    }

    fn together(&self) -> Together {
        Together::Disjoint
    }

    fn depth(&self) -> usize {
        self.groups.depth()
    }
}
