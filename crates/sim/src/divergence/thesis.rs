//! THESIS wavefront splitting (chapter 4): a branch on a mixed execution mask makes two paths of the wave, which
//! share vector registers, barrier and local memory; the new one takes a reserve slot. By default paths never
//! merge (4.3.4); with `reconverge` they wait for each other where the mask before the split is back.

use super::groups::{Groups, leave, mask_split};
use super::mechanism::{Change, Context, Divergence, Refusal, plain, unsupported};
use wb_hw::{Machine, Mechanism, Reconverge, SplitChoice};
use wb_isa::{Flow, NO_PC, Pc};

#[derive(Debug)]
pub struct Thesis {
    /// Only where MODE bit 21 is set (4.5), or at the first branches that find a reserve slot.
    pub marked_only: bool,
    pub reconverge: Reconverge,
}

impl Divergence for Thesis {
    type State = Groups;
    const MECHANISM: Mechanism = Mechanism::Thesis;
    const DISJOINT: bool = true;

    fn new(machine: &Machine) -> Self {
        let divergence = &machine.divergence;
        Thesis { marked_only: divergence.choice == SplitChoice::Marked, reconverge: divergence.reconverge }
    }

    fn step(&self, state: &mut Groups, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        match flow {
            Flow::MaskBranch { active, jump, target, marked } if marked || !self.marked_only => {
                let never = matches!(self.reconverge, Reconverge::Default | Reconverge::Never);
                let rpc = if never { NO_PC } else { cx.map.rpc[at.pc as usize] };
                Ok(mask_split(state, active, jump, target, rpc, cx))
            }
            Flow::Exit { lanes } => Ok(leave(state, lanes, cx)),
            _ => plain(at, flow).ok_or_else(|| unsupported(flow, Self::MECHANISM)),
        }
    }

    fn arrive(&self, state: &mut Groups, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(state.arrive(cx))
    }

    fn watch(&self, state: &Groups, id: usize) -> Pc {
        state.watch(id)
    }

    fn meets(&self) -> bool {
        self.reconverge == Reconverge::Anywhere
    }

    fn meet(&self, state: &mut Groups, other: usize, cx: &mut Context) -> Option<Change> {
        state.meet(other, cx)
    }

    fn depth(&self, state: &Groups) -> usize {
        state.depth()
    }
}
