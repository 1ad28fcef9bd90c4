//! Predictable wavefront splitting (PWS section 4.1): `split` gives the lanes it does not keep a context of their
//! own on a split unit, `merge` brings a path and its child together again. A split that cannot happen (no lanes on
//! one side, no context left) leaves a mark on the child stack, so that its merge does nothing (design choice).
//! `split_end` (ours) is for lanes that never come together again: parent and child forget each other, so merges of
//! regions around pass the child by, and its context is free when it ends.

use super::mechanism::{Change, Context, Divergence, Merge, Refusal, plain, unsupported};
use wb_hw::Mechanism;
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::{Kind, RefusedReason};

/// A wave context or a split context: parent register, child stack, where it waits.
#[derive(Clone, Debug, Default)]
struct Swf {
    mask: Mask,
    parent: Option<usize>,
    /// Most recent last; `None` = a split that did not happen.
    children: Vec<Option<usize>>,
    /// The merge it waits at.
    waits: Option<Pc>,
}

#[derive(Debug, Default)]
pub struct Pws {
    contexts: Vec<Swf>,
}

impl Pws {
    fn context(&mut self, id: usize) -> &mut Swf {
        if self.contexts.len() <= id {
            self.contexts.resize(id + 1, Swf::default());
        }
        &mut self.contexts[id]
    }

    fn split(&mut self, keep: Mask, apart: bool, cx: &mut Context) -> Change {
        let at = cx.at;
        let (kept, new) = (at.mask & keep, at.mask & !keep);
        let refused = match () {
            () if kept == 0 || new == 0 => Some(RefusedReason::OneSided),
            () if cx.map.spills => Some(RefusedReason::Spills),
            () if cx.free == 0 => Some(RefusedReason::NoContext),
            () if apart && cx.map.region_behind(at.next).is_none_or(|r| r.hazard) => {
                Some(RefusedReason::Convergent)
            }
            () => None,
        };
        if let Some(reason) = refused {
            cx.notes.add(|| Kind::SplitRefused { reason, lanes: new });
            if !apart {
                self.context(at.id).children.push(None);
            }
            return Change::on(at, at.next);
        }
        let id = cx.free.trailing_zeros() as usize;
        cx.notes.add(|| Kind::Split { taken: kept, other: new });
        *self.context(id) = Swf { mask: new, parent: (!apart).then_some(at.id), ..Swf::default() };
        let own = self.context(at.id);
        own.mask = kept;
        if !apart {
            own.children.push(Some(id));
        }
        Change::Split { keep: (at.next, kept), new: (at.next, new), id, origin: at.pc }
    }

    fn merge(&mut self, cx: &Context) -> Change {
        let at = cx.at;
        let own = self.context(at.id);
        own.mask = at.mask;
        match own.children.last() {
            Some(None) => {
                own.children.pop();
                Change::on(at, at.next)
            }
            Some(&Some(child)) => self.join(at.id, child, at.id, cx),
            None => match own.parent {
                Some(parent) => self.join(parent, at.id, at.id, cx),
                // A wave that was never split: the merge is redundant.
                None => Change::on(at, at.next),
            },
        }
    }

    /// `arrived` is one of the two; they go on as one if the other one waits at the same merge.
    fn join(&mut self, parent: usize, child: usize, arrived: usize, cx: &Context) -> Change {
        let at = cx.at;
        let other = if arrived == parent { child } else { parent };
        let together = self.context(other).waits == Some(at.pc)
            && self.context(parent).children.last() == Some(&Some(child));
        if !together {
            self.context(arrived).waits = Some(at.pc);
            return Change::Park { pc: at.next };
        }
        let gained = std::mem::take(self.context(child)).mask;
        let own = self.context(parent);
        own.children.pop();
        own.waits = None;
        own.mask |= gained;
        let (mask, origin) = (own.mask, if own.mask == *cx.live { NO_PC } else { at.origin });
        Change::Merge(Merge { into: parent, from: child, pc: at.next, mask, continues: true, origin })
    }

    /// The last lanes of a context exit: its youngest child takes its place, or whoever waits for it goes on.
    fn leave(&mut self, id: usize) -> Option<usize> {
        let gone = std::mem::take(self.context(id));
        let mut children = gone.children;
        // Marks above the youngest child belong to merges that nobody will reach.
        while children.last() == Some(&None) {
            children.pop();
        }
        let heir = children.pop().flatten();
        for &child in children.iter().flatten() {
            self.context(child).parent = heir;
        }
        if let Some(parent) = gone.parent {
            let entry = self.context(parent).children.iter_mut().find(|c| **c == Some(id));
            if let Some(entry) = entry {
                *entry = heir;
            }
        }
        if let Some(heir) = heir {
            let own = self.context(heir);
            own.parent = gone.parent;
            // It came from the split it shares with the one that is gone: that merge does nothing now.
            children.push(None);
            children.append(&mut own.children);
            own.children = children;
            return self.pass(heir);
        }
        gone.parent.and_then(|parent| self.pass(parent))
    }

    /// Lets a context that waits at a merge with nobody left to merge with go on.
    fn pass(&mut self, id: usize) -> Option<usize> {
        let own = self.context(id);
        if own.waits.is_some() && own.children.last() == Some(&None) {
            own.children.pop();
            own.waits = None;
            return Some(id);
        }
        None
    }
}

impl Divergence for Pws {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        let at = cx.at;
        match flow {
            Flow::SplitLanes { keep, apart } => Ok(self.split(keep, apart, cx)),
            Flow::Merge => Ok(self.merge(cx)),
            Flow::Exit { lanes } => {
                *cx.live &= !lanes;
                match at.mask & !lanes {
                    0 => Ok(Change::Leave { wake: self.leave(at.id) }),
                    mask => {
                        self.context(at.id).mask = mask;
                        Ok(Change::Continue { pc: at.next, mask, origin: at.origin, cause: None })
                    }
                }
            }
            _ => plain(at, flow).ok_or_else(|| unsupported(flow, Mechanism::Pws)),
        }
    }

    fn follows_masks(&self) -> bool {
        true
    }

    fn depth(&self) -> usize {
        self.contexts.iter().map(|c| c.children.len()).max().unwrap_or(0)
    }
}
