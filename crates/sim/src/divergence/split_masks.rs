//! THESIS splitting with the reconvergence of section 4.3.4, which the thesis describes and leaves out: every path has a stack of
//! the split masks before its splits. Whenever the program's execution mask changes, it is compared with them, the path's own split
//! mask not applied; where it equals one, that many lanes are together again. The path waits there for the others.
//!
//! A mask equals an entry only if every lane of the path was on before the split. Nothing else guarantees that paths meet, so the
//! rule for paths that never meet applies: no split before code that counts on lanes running together. Two siblings that would have
//! to wait at different places, or disagree about a scalar that both wrote, go on apart (design choices).

use super::mechanism::{Change, Context, Divergence, Merge, Refusal, plain, unsupported};
use wb_hw::{Machine, Mechanism, SplitChoice};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::{Kind, MaskCause, RefusedReason};

/// A split mask that was, and what had narrowed it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lanes: Mask,
    origin: Pc,
}

#[derive(Clone, Debug, Default)]
struct Member {
    mask: Mask,
    stack: Vec<Entry>,
    /// The entry whose lanes it waits for, and where.
    waits: Option<(usize, Pc)>,
    /// The program's mask when it was last looked at.
    base: Mask,
}

#[derive(Debug)]
pub struct SplitMasks {
    /// Only where MODE bit 21 is set (4.5), or at the first branches that find a reserve slot.
    marked_only: bool,
    members: Vec<Member>,
}

impl SplitMasks {
    pub fn new(machine: &Machine) -> Self {
        SplitMasks {
            marked_only: machine.divergence.choice == SplitChoice::Marked,
            members: vec![Member { base: Mask::MAX, ..Member::default() }],
        }
    }

    fn split(&mut self, active: Mask, jump: bool, target: Pc, cx: &mut Context) -> Change {
        let at = cx.at;
        let on = active & at.mask;
        let off = at.mask & !on;
        let (goes, other) = if jump { (target, at.next) } else { (at.next, target) };
        let region = cx.map.region(at.pc);
        let refused = match () {
            () if on == 0 || off == 0 => return Change::on(at, goes),
            () if cx.map.spills => RefusedReason::Spills,
            () if cx.free == 0 => RefusedReason::NoContext,
            // Where siblings need not pass the same place, one of them would wait for good.
            () if region.is_none_or(|r| r.hazard || !r.structured) => RefusedReason::Convergent,
            () => {
                cx.notes.add(|| Kind::Split { taken: on, other: off });
                let id = cx.free.trailing_zeros() as usize;
                if self.members.len() <= id {
                    self.members.resize(id + 1, Member::default());
                }
                let parent = &mut self.members[at.id];
                parent.stack.push(Entry { lanes: at.mask, origin: at.origin });
                (parent.mask, parent.waits) = (on, None);
                let child = Member { mask: off, ..parent.clone() };
                self.members[id] = child;
                return Change::Split { keep: (goes, on), new: (other, off), id, origin: at.pc };
            }
        };
        cx.notes.add(|| Kind::SplitRefused { reason: refused, lanes: off });
        Change::on(at, goes)
    }

    /// The path that waits for the lanes of entry `depth`, if there is one.
    fn waiting(&self, id: usize, depth: usize, lanes: Mask) -> Option<usize> {
        self.members.iter().enumerate().position(|(j, m)| {
            j != id
                && m.waits.is_some_and(|w| w.0 == depth)
                && m.stack.get(depth).is_some_and(|e| e.lanes == lanes)
        })
    }

    /// Lanes of entry `depth` are together in path `id`.
    fn close(&mut self, id: usize, depth: usize) -> Pc {
        let member = &mut self.members[id];
        member.waits = None;
        let origin = member.stack[depth].origin;
        member.stack.truncate(depth);
        origin
    }

    /// Who waits and has all lanes that are left of those it waits for.
    fn complete(&mut self, live: Mask) -> Option<usize> {
        let done = |m: &Member| m.waits.is_some_and(|(d, _)| m.mask == m.stack[d].lanes & live);
        let id = self.members.iter().position(done)?;
        let depth = self.members[id].waits.map_or(0, |w| w.0);
        self.close(id, depth);
        Some(id)
    }

    fn leave(&mut self, lanes: Mask, cx: &mut Context) -> Change {
        *cx.live &= !lanes;
        let at = cx.at;
        match at.mask & !lanes {
            0 => {
                self.members[at.id] = Member::default();
                Change::Leave { wake: self.complete(*cx.live) }
            }
            mask => {
                self.members[at.id].mask = mask;
                Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
            }
        }
    }
}

impl Divergence for SplitMasks {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        match flow {
            Flow::MaskBranch { active, jump, target, marked } if marked || !self.marked_only => {
                Ok(self.split(active, jump, target, cx))
            }
            Flow::Exit { lanes } => Ok(self.leave(lanes, cx)),
            _ => plain(cx.at, flow).ok_or_else(|| unsupported(flow, Mechanism::Thesis)),
        }
    }

    fn goes_apart(&self) -> bool {
        true
    }

    fn restored(&mut self, base: Mask, cx: &mut Context) -> Option<Change> {
        let (at, live) = (cx.at, *cx.live);
        let member = &mut self.members[at.id];
        if std::mem::replace(&mut member.base, base) == base || at.pc == NO_PC {
            return None;
        }
        member.mask = at.mask;
        // Several regions may end here: the outermost one counts.
        let depth = member.stack.iter().position(|e| e.lanes & live == base & live)?;
        let lanes = member.stack[depth].lanes;
        if at.mask == lanes & live {
            let origin = self.close(at.id, depth);
            return Some(Change::Continue {
                pc: at.pc,
                mask: at.mask,
                origin,
                cause: Some(MaskCause::Reconverge),
            });
        }
        let Some(other) = self.waiting(at.id, depth, lanes) else {
            self.members[at.id].waits = Some((depth, at.pc));
            return Some(Change::Park { pc: at.pc });
        };
        let apart =
            cx.disagree >> other & 1 == 1 || self.members[other].waits.is_some_and(|(_, pc)| pc != at.pc);
        if apart {
            self.members[at.id].stack.truncate(depth);
            // The others wait for fewer lanes now.
            for m in self.members.iter_mut().filter(|m| m.stack.get(depth).is_some_and(|e| e.lanes == lanes))
            {
                m.stack[depth].lanes &= !at.mask;
            }
            return Some(Change::Pass { wake: self.complete(live) });
        }
        let (into, from) = (at.id.min(other), at.id.max(other));
        let mask = at.mask | self.members[other].mask;
        self.members[from] = Member::default();
        let all = mask == lanes & live;
        let stack = std::mem::take(&mut self.members[into].stack);
        self.members[into] = Member { mask, stack, waits: Some((depth, at.pc)), base };
        let origin = if all { self.close(into, depth) } else { at.origin };
        Some(Change::Merge(Merge { into, from, pc: at.pc, mask, continues: all, origin }))
    }

    fn disjoint(&self) -> bool {
        true
    }

    fn depth(&self) -> usize {
        self.members.iter().map(|m| m.stack.len()).max().unwrap_or(0)
    }
}
