//! Vortex's split and join (docs/vortex.md). `vortex-v2`: the larger side first, two stack entries per divergence,
//! at most 2·(lanes − 1). `vortex`, newer versions: the smaller side first, one entry, at most lanes − 1. The side that
//! waits resumes at the instruction after the split and takes the branch's other way itself.

use super::mechanism::{Change, Context, Divergence, Refusal, plain, unsupported};
use wb_hw::{Machine, Mechanism};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::{Kind, MaskCause};

#[derive(Debug)]
pub struct VortexStack {
    /// As in Vortex 2.
    v2: bool,
    /// Entries the stack holds.
    depth: usize,
    levels: Vec<Level>,
    /// Lanes that `pred` took out; the program brings them back.
    waiting: Mask,
}

impl VortexStack {
    /// `vortex-v2`.
    pub fn v2(machine: &Machine) -> Self {
        Self::holding(machine, 2 * (machine.core.lanes - 1), true)
    }

    /// `vortex`.
    pub fn new(machine: &Machine) -> Self {
        Self::holding(machine, machine.core.lanes - 1, false)
    }

    fn holding(machine: &Machine, entries: u32, v2: bool) -> Self {
        let depth = entries.min(machine.limits.stack_depth) as usize;
        VortexStack { v2, depth, levels: Vec::new(), waiting: 0 }
    }

    fn mechanism(&self) -> Mechanism {
        if self.v2 { Mechanism::VortexV2 } else { Mechanism::Vortex }
    }

    fn entries(&self, level: &Level) -> usize {
        1 + usize::from(self.v2 && level.pending.is_some())
    }
}

/// One divergence: who goes on after both sides, and the side that has not run.
#[derive(Clone, Copy, Debug)]
struct Level {
    mask: Mask,
    origin: Pc,
    pending: Option<(Pc, Mask)>,
}

impl Divergence for VortexStack {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        if let Flow::Enter { .. } = flow {
            // `tmc` says which lanes there are from now on.
            self.waiting = 0;
        }
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { .. } => Err(Refusal::Divergent),
            Flow::Split { taken } => {
                let other = at.mask & !taken;
                cx.notes.add(|| Kind::Split { taken, other });
                if taken == 0 || other == 0 {
                    return Ok(Change::on(at, at.next));
                }
                let (a, b) = (taken.count_ones(), other.count_ones());
                let taken_first = if self.v2 { a >= b } else { a <= b };
                let (first, second) = if taken_first { (taken, other) } else { (other, taken) };
                let level = Level { mask: at.mask, origin: at.origin, pending: Some((at.next, second)) };
                if self.depth() + self.entries(&level) > self.depth {
                    return Err(Refusal::Overflow(self.depth));
                }
                self.levels.push(level);
                cx.notes.add(|| Kind::PathNew { at: at.next, lanes: second });
                Ok(Change::Continue {
                    pc: at.next,
                    mask: first,
                    origin: at.pc,
                    cause: Some(MaskCause::Diverge),
                })
            }
            Flow::JoinTo { depth } if depth as usize == self.depth() => Ok(Change::on(at, at.next)),
            Flow::JoinTo { .. } => match self.levels.last_mut() {
                None => Err(Refusal::Malformed("join without a split")),
                Some(Level { pending: pending @ Some(_), .. }) => {
                    let (pc, mask) = pending.take().unwrap_or((at.next, at.mask));
                    Ok(Change::Continue { pc, mask, origin: at.origin, cause: Some(MaskCause::Switch) })
                }
                Some(&mut Level { mask, origin, .. }) => {
                    self.levels.pop();
                    cx.notes.add(|| Kind::PathMerge { lanes: mask & !at.mask });
                    Ok(Change::Continue { pc: at.next, mask, origin, cause: Some(MaskCause::Reconverge) })
                }
            },
            Flow::Predicate { keep: 0, restore } => {
                let aside = self.levels.iter().filter_map(|l| l.pending).fold(0, |all, p| all | p.1);
                if restore & aside != 0 {
                    return Err(Refusal::Malformed(
                        "pred brings back lanes that wait on the divergence stack",
                    ));
                }
                // Lanes of the path that are not brought back wait.
                self.waiting = (self.waiting | at.mask) & !restore;
                *cx.live |= restore;
                let cause = (restore != at.mask).then_some(MaskCause::Reconverge);
                let origin = if restore == *cx.live { NO_PC } else { at.origin };
                Ok(Change::Continue { pc: at.next, mask: restore, origin, cause })
            }
            Flow::Predicate { keep, .. } => {
                self.waiting |= at.mask & !keep;
                let cause = (keep != at.mask).then_some(MaskCause::Diverge);
                let origin = if keep == at.mask { at.origin } else { at.pc };
                Ok(Change::Continue { pc: at.next, mask: keep, origin, cause })
            }
            Flow::Exit { .. } => {
                // `tmc` with no lanes ends the wave, whatever its other lanes wait for.
                *cx.live = 0;
                Ok(Change::End)
            }
            _ => Err(unsupported(flow, self.mechanism())),
        }
    }

    fn depth(&self) -> usize {
        self.levels.iter().map(|level| self.entries(level)).sum()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.levels.iter().filter_map(|l| l.pending).for_each(|p| each(p.1));
        each(self.waiting);
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.levels.iter().for_each(|l| each(l.mask));
    }
}
