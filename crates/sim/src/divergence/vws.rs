//! Variable warp size (mechanisms 15; Rogers, Johnson, O'Connor and Keckler, ISCA 2015): a wave is a gang of slices of `divergence.slice`
//! lanes, each with a stack of its own. Where slices disagree about the next pc the gang parts: slices all of whose lanes take a branch,
//! slices none of whose lanes do, and slices whose lanes disagree, which serialise the sides on their stacks. Gangs on different slices
//! issue in the same cycle, whatever their waves. Gangs of one wave with like stacks become one where they stand at the same pc
//! (`divergence.reconverge`: `default` and `anywhere`, the paper's elastic variant; otherwise never, its inelastic one).
//! Gangs do not part where some lanes miss the cache (design choice: the paper does that, too).

use super::mechanism::{
    Change, Context, Divergence, Merge, PathView, Refusal, Together, Waves, plain, unsupported,
};
use super::stack::{Stack, ordered};
use wb_hw::{FirstSide, Machine, Mechanism, Reconverge};
use wb_isa::{Flow, FlowKind, Mask, NO_PC, Pc, first_lanes};
use wb_trace::{Kind, MaskCause, RefusedReason};

/// A path: a gang of slices.
#[derive(Clone, Debug, Default)]
struct Gang {
    stack: Stack,
    calls: i32,
    /// The rest of a branch that is not done: its pc, the one behind it, where lanes go, and which of them.
    rest: Option<(Pc, Pc, Pc, Mask)>,
}

#[derive(Debug)]
pub(super) struct Vws {
    slice: u32,
    first: FirstSide,
    elastic: bool,
    limit: usize,
    gangs: Vec<Gang>,
}

impl Vws {
    pub fn new(machine: &Machine) -> Vws {
        let d = &machine.divergence;
        Vws {
            slice: d.slice,
            first: d.first,
            elastic: matches!(d.reconverge, Reconverge::Default | Reconverge::Anywhere),
            limit: machine.limits.stack_depth as usize,
            gangs: vec![Gang::default()],
        }
    }

    fn gang(&mut self, id: usize) -> &mut Gang {
        if self.gangs.len() <= id {
            self.gangs.resize(id + 1, Gang::default());
        }
        &mut self.gangs[id]
    }

    /// The slices of a gang: none of whose lanes are among `lanes`, all of whose, and others; of those that have lanes in `mask`.
    fn slices(&self, mask: Mask, lanes: Mask) -> [Mask; 3] {
        let mut sets = [0; 3];
        for first in (0..Mask::BITS).step_by(self.slice as usize) {
            let slice = first_lanes(self.slice) << first;
            let (some, hit) = (mask & slice, lanes & slice);
            if some != 0 {
                let kind = if hit == 0 { 0 } else { 1 + usize::from(hit != some) };
                sets[kind] |= slice;
            }
        }
        sets
    }

    /// `lanes` of the gang's slices become a gang of their own at `to`; the others go on at `keep`.
    fn part(&mut self, lanes: Mask, to: Pc, keep: Pc, cx: &mut Context) -> Change {
        let at = cx.at;
        let id = cx.free.trailing_zeros() as usize;
        let gang = self.gang(at.id);
        let (mut stack, calls) = (gang.stack.part(lanes), gang.calls);
        let (mut new, stay) = ((to, at.mask & lanes), (keep, at.mask & !lanes));
        // It may stand where its slices have met, or go on with another side.
        while new.0 != NO_PC && new.0 == stack.watch(NO_PC) {
            cx.at = PathView { pc: new.0, mask: new.1, id, ..at };
            let Some(Change::Continue { pc, mask, .. }) = stack.pop(cx) else { break };
            new = (pc, mask);
        }
        cx.at = at;
        *self.gang(id) = Gang { stack, calls, rest: None };
        cx.notes.add(|| Kind::Split { taken: new.1, other: stay.1 });
        Change::Split { keep: stay, new, id, origin: at.pc }
    }

    /// Lanes `taken` of the path go to `target`, the others to the next instruction. Whole slices go first, one gang after the other.
    fn branch(&mut self, target: Pc, taken: Mask, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        self.gang(at.id).rest = None;
        if taken == at.mask || taken == 0 {
            let pc = if taken == 0 { at.next } else { target };
            return Ok(Change::Continue { pc, mask: at.mask, origin: at.origin, cause: None });
        }
        let [none, all, some] = self.slices(at.mask, taken);
        let rest = (at.pc, at.next, target, taken);
        let parts = [(all, target), (none, at.next)];
        let gone = parts.into_iter().find(|p| p.0 != 0 && at.mask & !p.0 != 0);
        match gone {
            Some((lanes, to)) if cx.free != 0 => {
                let left = at.mask & !lanes;
                // What is left may agree now; otherwise it is asked once more where it stands.
                let agrees = some == 0;
                let keep = if to == target { at.next } else { target };
                if !agrees && at.next == NO_PC {
                    return self.serialise(target, taken, cx);
                }
                let keep = if agrees { keep } else { at.next };
                let change = self.part(lanes, to, keep, cx);
                if !agrees {
                    self.gang(at.id).rest = Some((rest.0, rest.1, rest.2, taken & left));
                }
                Ok(change)
            }
            Some(_) => {
                let lanes = at.mask & !taken;
                cx.notes.add(|| Kind::SplitRefused { reason: RefusedReason::NoContext, lanes });
                self.serialise(target, taken, cx)
            }
            None => self.serialise(target, taken, cx),
        }
    }

    /// One side after the other, on the stack of the gang.
    fn serialise(&mut self, target: Pc, taken: Mask, cx: &mut Context) -> Result<Change, Refusal> {
        let sides = ordered(self.first, (target, taken), (cx.at.next, cx.at.mask & !taken));
        let limit = self.limit;
        self.gang(cx.at.id).stack.diverge(sides, NO_PC, limit, cx)
    }

    fn count_calls(&mut self, flow: Flow, cx: &Context) {
        let by = match (flow, cx.map.kind[cx.at.pc as usize]) {
            (Flow::Jump(_), FlowKind::Call { .. }) => 1,
            (Flow::Jump(_), FlowKind::Indirect { .. }) => -1,
            _ => return,
        };
        self.gang(cx.at.id).calls += by;
    }
}

impl Divergence for Vws {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        self.count_calls(flow, cx);
        if let Some(change) = plain(at, flow) {
            return Ok(change);
        }
        match flow {
            Flow::Branch { target, .. } if target == at.next => Ok(Change::on(at, target)),
            Flow::Branch { taken, target } => self.branch(target, taken, cx),
            Flow::Exit { lanes } => {
                *cx.live &= !lanes;
                match at.mask & !lanes {
                    0 => Ok(self.gang(at.id).stack.pop(cx).unwrap_or_else(|| {
                        self.gangs[at.id] = Gang::default();
                        Change::Leave { wake: None }
                    })),
                    mask => Ok(Change::Continue {
                        pc: at.next,
                        mask,
                        origin: at.origin,
                        cause: Some(MaskCause::Exit),
                    }),
                }
            }
            _ => Err(unsupported(flow, Mechanism::Vws)),
        }
    }

    fn arrive(&mut self, cx: &mut Context) -> Result<Change, Refusal> {
        if let Some((pc, next, target, taken)) = self.gang(cx.at.id).rest {
            let here = cx.at;
            cx.at = PathView { pc, next, ..here };
            let change = self.branch(target, taken, cx);
            cx.at = here;
            return change;
        }
        let at = cx.at;
        Ok(self.gang(at.id).stack.pop(cx).unwrap_or(Change::on(at, at.pc)))
    }

    fn watch(&self, id: usize) -> Pc {
        self.gangs.get(id).map_or(NO_PC, |g| match g.rest {
            Some((_, next, ..)) => next,
            None => g.stack.watch(NO_PC),
        })
    }

    fn may_diverge(&self) -> bool {
        true
    }

    fn forks(&self) -> bool {
        true
    }

    fn meets(&self) -> bool {
        self.elastic
    }

    fn meet(&mut self, other: usize, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        let (into, from) = (at.id.min(other), at.id.max(other));
        self.gang(from);
        let [a, b] = self.gangs.get_disjoint_mut([into, from]).ok()?;
        if a.calls != b.calls || a.rest.is_some() || b.rest.is_some() || !a.stack.is_like(&b.stack) {
            return None;
        }
        a.stack.unite(&b.stack);
        *b = Gang::default();
        Some(Change::Merge(Merge { into, from, pc: at.pc, mask: 0, continues: true, origin: at.origin }))
    }

    fn together(&self) -> Together {
        Together::Fused { most: 64, waves: Waves::Any, slice: self.slice }
    }

    fn depth(&self) -> usize {
        self.gangs.iter().map(|g| g.stack.depth()).sum()
    }

    fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.gangs.iter().for_each(|g| g.stack.set_aside(each));
    }

    fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.gangs.iter().for_each(|g| g.stack.restores(each));
    }
}
