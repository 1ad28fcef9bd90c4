//! HARP's split/join as harptool defines it (docs/harp.md, first join rule): the false side resumes at the
//! instruction after the split and takes the predicated jump's other way itself.

use super::mechanism::{Change, Context, Divergence, Refusal, plain, push, unsupported};
use wb_hw::{Machine, Mechanism};
use wb_isa::{Flow, Mask, Pc};
use wb_trace::{Kind, MaskCause};

#[derive(Debug)]
pub struct Harptool {
    depth: usize,
    stack: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// All lanes agreed: the join only restores.
    Uniform { mask: Mask, origin: Pc },
    /// Both sides are done when this is popped: continue with all lanes.
    FallThrough { mask: Mask, origin: Pc },
    /// The false side, still to run.
    Side { pc: Pc, mask: Mask, origin: Pc },
}

impl Harptool {
    pub fn new(machine: &Machine) -> Self {
        Harptool { depth: machine.limits.stack_depth as usize, stack: Vec::new() }
    }
}

impl Divergence for Harptool {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { .. } => Err(Refusal::Divergent),
            Flow::Split { taken } => {
                let other = at.mask & !taken;
                cx.notes.add(|| Kind::Split { taken, other });
                if taken == 0 || other == 0 {
                    push(&mut self.stack, self.depth, Entry::Uniform { mask: at.mask, origin: at.origin })?;
                    return Ok(Change::on(at, at.next));
                }
                push(&mut self.stack, self.depth, Entry::FallThrough { mask: at.mask, origin: at.origin })?;
                push(&mut self.stack, self.depth, Entry::Side { pc: at.next, mask: other, origin: at.pc })?;
                cx.notes.add(|| Kind::PathNew { at: at.next, lanes: other });
                Ok(Change::Continue {
                    pc: at.next,
                    mask: taken,
                    origin: at.pc,
                    cause: Some(MaskCause::Diverge),
                })
            }
            Flow::Join => match self.stack.pop() {
                None => Err(Refusal::Malformed("join without a split")),
                Some(Entry::Uniform { mask, origin }) => {
                    let cause = (mask != at.mask).then_some(MaskCause::Reconverge);
                    Ok(Change::Continue { pc: at.next, mask, origin, cause })
                }
                Some(Entry::FallThrough { mask, origin }) => {
                    cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
                    Ok(Change::Continue { pc: at.next, mask, origin, cause: Some(MaskCause::Reconverge) })
                }
                Some(Entry::Side { pc, mask, origin }) => {
                    Ok(Change::Continue { pc, mask, origin, cause: Some(MaskCause::Switch) })
                }
            },
            Flow::Exit { .. } => {
                // HARP's halt ends the warp, whatever its other lanes wait for.
                *cx.live = 0;
                Ok(Change::End)
            }
            _ => Err(unsupported(flow, Mechanism::Harptool)),
        }
    }

    fn depth(&self) -> usize {
        self.stack.len()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        for entry in &self.stack {
            if let Entry::Side { mask, .. } = entry {
                each(*mask);
            }
        }
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        for entry in &self.stack {
            if let Entry::FallThrough { mask, .. } | Entry::Uniform { mask, .. } = entry {
                each(*mask);
            }
        }
    }
}
