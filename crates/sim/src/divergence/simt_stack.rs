//! The SIMT stack on plain branches (docs/mechanisms.md): entries {pc, rpc, mask}; lanes of one branch may
//! disagree and meet again at its immediate post-dominator. Split, join and pred instructions do nothing here.

use super::mechanism::{Change, Context, Divergence, Refusal, exit, plain, unsupported};
use super::stack::{Stack, ordered};
use wb_hw::{FirstSide, Machine, Mechanism};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::Kind;

#[derive(Debug)]
pub struct SimtStack {
    depth: usize,
    /// Which side of a divergent branch runs first.
    first: FirstSide,
    stack: Stack,
}

impl SimtStack {
    pub fn new(machine: &Machine) -> Self {
        let (depth, first) = (machine.limits.stack_depth as usize, machine.divergence.first);
        SimtStack { depth, first, stack: Stack::default() }
    }
}

impl Divergence for SimtStack {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { target, .. } if target == at.next => Ok(Change::on(at, target)),
            Flow::Branch { taken, target } => {
                let not_taken = (at.next, at.mask & !taken);
                cx.notes.add(|| Kind::Split { taken, other: not_taken.1 });
                let sides = ordered(self.first, (target, taken), not_taken);
                self.stack.diverge(sides, NO_PC, self.depth, cx)
            }
            Flow::Split { .. } | Flow::Join | Flow::JoinTo { .. } | Flow::Predicate { .. } => {
                Ok(Change::on(at, at.next))
            }
            Flow::Exit { lanes } => Ok(exit(lanes, cx, |cx| self.stack.pop(cx))),
            _ => Err(unsupported(flow, Mechanism::SimtStack)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        self.stack.pop(cx).ok_or(Refusal::Malformed("a path reconverged with nothing on the stack"))
    }

    fn watch(&self, _id: usize) -> Pc {
        self.stack.watch(NO_PC)
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn depth(&self) -> usize {
        self.stack.depth()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.stack.set_aside(each);
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.stack.restores(each);
    }
}
