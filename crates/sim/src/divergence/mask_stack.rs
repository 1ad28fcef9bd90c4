//! GUPPY's mask stack: push_mask, pop_mask, mask_nz and br_push over entries {mask, pc} (GUPPY document,
//! "What is coherence/divergence?"). Lanes that `ret` leave every entry; a mask test that empties the mask
//! with nothing on the stack retires the wave.

use super::mechanism::{Change, Context, Divergence, Refusal, exit, plain, push, unsupported};
use wb_hw::{Machine, Mechanism};
use wb_isa::{Flow, Mask, Pc};
use wb_trace::{Kind, MaskCause};

#[derive(Debug)]
pub struct MaskStack {
    depth: usize,
    stack: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: Pc,
    mask: Mask,
    origin: Pc,
    /// An else side (its lanes belong to nobody else) rather than a mask to restore.
    side: bool,
}

impl MaskStack {
    pub fn new(machine: &Machine) -> Self {
        MaskStack { depth: machine.limits.stack_depth as usize, stack: Vec::new() }
    }

    /// The next entry that still has a live lane.
    fn pop(&mut self, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        loop {
            let entry = self.stack.pop()?;
            let mask = entry.mask & *cx.live;
            if mask == 0 {
                continue;
            }
            let cause = if entry.side {
                Some(MaskCause::Switch)
            } else if mask != at.mask {
                cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
                Some(MaskCause::Reconverge)
            } else {
                None
            };
            return Some(Change::Continue { pc: entry.pc, mask, origin: entry.origin, cause });
        }
    }
}

impl Divergence for MaskStack {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        let keep = |pc, mask| Entry { pc, mask, origin: at.origin, side: false };
        match flow {
            Flow::Branch { .. } => Err(Refusal::Divergent),
            Flow::PushMask { reconverge } => {
                push(&mut self.stack, self.depth, keep(reconverge, at.mask))?;
                Ok(Change::on(at, at.next))
            }
            Flow::PopMask => {
                self.pop(cx).ok_or(Refusal::Malformed("pop_mask with nothing on the mask stack"))
            }
            Flow::MaskNonZero { keep: 0 } => Ok(self.pop(cx).unwrap_or_else(|| {
                *cx.live = 0;
                Change::End
            })),
            Flow::MaskNonZero { keep } => {
                if keep == at.mask {
                    return Ok(Change::on(at, at.next));
                }
                if self.stack.is_empty() {
                    // Nothing will bring the other lanes back: they are done.
                    *cx.live &= keep;
                }
                Ok(Change::Continue {
                    pc: at.next,
                    mask: keep,
                    origin: at.pc,
                    cause: Some(MaskCause::MaskTest),
                })
            }
            Flow::BranchPush { taken, other, reconverge } => {
                let rest = at.mask & !taken;
                cx.notes.add(|| Kind::Split { taken, other: rest });
                push(&mut self.stack, self.depth, keep(reconverge, at.mask))?;
                if taken == 0 {
                    return Ok(Change::on(at, other));
                }
                if rest == 0 {
                    return Ok(Change::on(at, at.next));
                }
                push(
                    &mut self.stack,
                    self.depth,
                    Entry { pc: other, mask: rest, origin: at.pc, side: true },
                )?;
                cx.notes.add(|| Kind::PathNew { at: other, lanes: rest });
                Ok(Change::Continue {
                    pc: at.next,
                    mask: taken,
                    origin: at.pc,
                    cause: Some(MaskCause::Diverge),
                })
            }
            Flow::Exit { lanes } => Ok(exit(lanes, cx, |cx| self.pop(cx))),
            _ => Err(unsupported(flow, Mechanism::MaskStack)),
        }
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
