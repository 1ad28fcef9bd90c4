//! Dynamic warp subdivision (mechanisms 8): every divergent branch splits while there is a context and the code
//! after its post-dominator is short; paths share the units of their partition. They meet again at the place the
//! branch's region ends (stack reconvergence) and wherever two of them stand at the same pc (pc reconvergence);
//! the latter only if their live scalars agree (design choice, exec-mask machines keep uniform values there).

use super::groups::{Groups, leave, mask_split};
use super::mechanism::{Change, Context, Divergence, Refusal, plain, unsupported};
use wb_hw::{Machine, Mechanism, Reconverge};
use wb_isa::{Flow, NO_PC, Pc};
use wb_trace::{Kind, RefusedReason};

#[derive(Debug)]
pub struct Dws {
    /// Longest post-dominator block, in instructions, that is worth a split.
    threshold: u32,
    reconverge: Reconverge,
    groups: Groups,
}

impl Dws {
    pub fn new(machine: &Machine) -> Self {
        let (threshold, reconverge) = (machine.divergence.threshold, machine.divergence.reconverge);
        Dws { threshold, reconverge, groups: Groups::default() }
    }
}

impl Divergence for Dws {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        match flow {
            Flow::MaskBranch { active, jump, target, .. } => {
                let region = cx.map.region(at.pc);
                let tail = region.map_or(0, |r| r.tail);
                let mixed = active != 0 && active != at.mask;
                if mixed && tail >= self.threshold {
                    cx.notes.add(|| Kind::SplitRefused {
                        reason: RefusedReason::LongTail,
                        lanes: at.mask & !active,
                    });
                    return Ok(Change::on(at, if jump { target } else { at.next }));
                }
                let never = self.reconverge == Reconverge::Never;
                let rpc = if never { NO_PC } else { cx.map.rpc[at.pc as usize] };
                Ok(mask_split(&mut self.groups, active, jump, target, rpc, cx))
            }
            Flow::Exit { lanes } => Ok(leave(&mut self.groups, lanes, cx)),
            _ => plain(at, flow).ok_or_else(|| unsupported(flow, Mechanism::Dws)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        Ok(self.groups.arrive(cx))
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

    fn depth(&self) -> usize {
        self.groups.depth()
    }
}
