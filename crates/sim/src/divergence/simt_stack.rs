//! The SIMT stack on plain branches (docs/mechanisms.md): entries {pc, rpc, mask}; lanes of one branch may
//! disagree and meet again at its immediate post-dominator. Split, join and pred instructions do nothing here.

use super::mechanism::{Change, Context, Divergence, Refusal, exit, plain, push, unsupported};
use wb_hw::{FirstSide, Machine, Mechanism};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::{Kind, MaskCause};

#[derive(Debug)]
pub struct SimtStack {
    depth: usize,
    /// Which side of a divergent branch runs first.
    first: FirstSide,
    /// Entries below the running one.
    stack: Vec<Entry>,
    /// Reconvergence pc of the running path.
    rpc: Pc,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: Pc,
    /// Where this entry itself reconverges.
    rpc: Pc,
    mask: Mask,
    origin: Pc,
    /// The other side of a branch rather than the lanes to continue with after both.
    side: bool,
}

impl SimtStack {
    pub fn new(machine: &Machine) -> Self {
        let (depth, first) = (machine.limits.stack_depth as usize, machine.divergence.first);
        SimtStack { depth, first, stack: Vec::new(), rpc: NO_PC }
    }

    fn diverge(&mut self, taken: (Pc, Mask), cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        let not_taken = (at.next, at.mask & !taken.1);
        cx.notes.add(|| Kind::Split { taken: taken.1, other: not_taken.1 });
        let (first, second) = match self.first {
            FirstSide::Taken => (taken, not_taken),
            FirstSide::NotTaken => (not_taken, taken),
            FirstSide::Larger if taken.1.count_ones() >= not_taken.1.count_ones() => (taken, not_taken),
            FirstSide::Smaller if taken.1.count_ones() <= not_taken.1.count_ones() => (taken, not_taken),
            FirstSide::Larger | FirstSide::Smaller => (not_taken, taken),
        };
        // A branch that only the end post-dominates reconverges where its surroundings do.
        let rpc = match cx.map.rpc[at.pc as usize] {
            NO_PC => self.rpc,
            rpc => rpc,
        };
        if rpc != self.rpc {
            let after = Entry { pc: rpc, rpc: self.rpc, mask: at.mask, origin: at.origin, side: false };
            push(&mut self.stack, self.depth, after)?;
        }
        self.rpc = rpc;
        let waits = |side: (Pc, Mask)| side.0 == rpc;
        let (run, set_aside) = if waits(first) { (second, first) } else { (first, second) };
        if !waits(set_aside) {
            let side = Entry { pc: set_aside.0, rpc, mask: set_aside.1, origin: at.pc, side: true };
            push(&mut self.stack, self.depth, side)?;
        }
        cx.notes.add(|| Kind::PathNew { at: set_aside.0, lanes: set_aside.1 });
        Ok(Change::Continue { pc: run.0, mask: run.1, origin: at.pc, cause: Some(MaskCause::Diverge) })
    }

    /// The next entry that still has a live lane.
    fn pop(&mut self, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        loop {
            let entry = self.stack.pop()?;
            self.rpc = entry.rpc;
            let mask = entry.mask & *cx.live;
            if mask == 0 {
                continue;
            }
            let cause = if entry.side {
                MaskCause::Switch
            } else {
                cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
                MaskCause::Reconverge
            };
            return Some(Change::Continue { pc: entry.pc, mask, origin: entry.origin, cause: Some(cause) });
        }
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
            Flow::Branch { taken, target } => self.diverge((target, taken), cx),
            Flow::Split { .. } | Flow::Join | Flow::JoinTo { .. } | Flow::Predicate { .. } => {
                Ok(Change::on(at, at.next))
            }
            Flow::Exit { lanes } => Ok(exit(lanes, cx, |cx| self.pop(cx))),
            _ => Err(unsupported(flow, Mechanism::SimtStack)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        self.pop(cx).ok_or(Refusal::Malformed("a path reconverged with nothing on the stack"))
    }

    fn watch(&self, _id: usize) -> Pc {
        self.rpc
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn depth(&self) -> usize {
        self.stack.len()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        for entry in self.stack.iter().filter(|e| e.side) {
            each(entry.mask);
        }
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        for entry in self.stack.iter().filter(|e| !e.side) {
            each(entry.mask);
        }
    }
}
