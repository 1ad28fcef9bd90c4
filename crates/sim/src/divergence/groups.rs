//! Paths that came from one split and where they meet again: shared by DWS (stack reconvergence, the frozen top of
//! stack is an entry here) and THESIS 4.3.4 (split-mask stack). The place is known from the program: the first
//! instruction at which the mask before the split is back (design choice; the thesis compares masks at run time).

use super::mechanism::{Change, Context, Merge};
use wb_isa::{Mask, NO_PC, Pc};
use wb_trace::{Kind, MaskCause, RefusedReason};

/// Lanes that were one path before a split.
#[derive(Clone, Debug)]
struct Group {
    rpc: Pc,
    lanes: Mask,
    outer: Option<usize>,
    origin: Pc,
    used: bool,
    /// Nothing behind it counts on lanes running together: paths that disagree about a scalar may go on apart.
    loose: bool,
}

/// What a path belongs to.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    mask: Mask,
    group: Option<usize>,
    waits: bool,
    /// Before this cycle its data are not there: it does not become one with a path that happens to stand where it stands.
    until: u64,
}

impl Member {
    fn new(mask: Mask, group: Option<usize>) -> Member {
        Member { mask, group, ..Member::default() }
    }
}

#[derive(Debug, Default)]
pub struct Groups {
    groups: Vec<Group>,
    members: Vec<Member>,
}

impl Groups {
    fn member(&mut self, id: usize) -> &mut Member {
        if self.members.len() <= id {
            self.members.resize(id + 1, Member::default());
        }
        &mut self.members[id]
    }

    /// Path `at.id` keeps `kept` and goes on at `keep_pc`; the rest goes to a new path at `new_pc`. Both meet at
    /// `rpc`, or never ([`NO_PC`]).
    pub fn split(&mut self, kept: Mask, keep_pc: Pc, new_pc: Pc, rpc: Pc, cx: &Context) -> Change {
        let at = cx.at;
        let outer = self.member(at.id).group;
        let outer_rpc = outer.map_or(NO_PC, |g| self.groups[g].rpc);
        let group = match rpc {
            // Nothing new to wait for: they meet where their surroundings do.
            NO_PC => outer,
            // The same place again (a loop): the same entry, so that the table does not grow.
            rpc if rpc == outer_rpc => outer,
            rpc => {
                let new = Group { rpc, lanes: at.mask, outer, origin: at.origin, used: true, loose: false };
                let place = self.groups.iter().position(|g| !g.used).unwrap_or(self.groups.len());
                if place == self.groups.len() {
                    self.groups.push(new);
                } else {
                    self.groups[place] = new;
                }
                Some(place)
            }
        };
        let id = cx.free.trailing_zeros() as usize;
        *self.member(at.id) = Member::new(kept, group);
        *self.member(id) = Member::new(at.mask & !kept, group);
        Change::Split { keep: (keep_pc, kept), new: (new_pc, at.mask & !kept), id, origin: at.pc }
    }

    pub fn watch(&self, id: usize) -> Pc {
        let group = self.members.get(id).and_then(|m| m.group);
        group.map_or(NO_PC, |g| self.groups[g].rpc)
    }

    /// Another path of the same group, waiting or not.
    fn sibling(&self, id: usize, group: usize, waits: bool) -> Option<usize> {
        let is = |(j, m): (usize, &Member)| {
            (j != id && m.mask != 0 && m.group == Some(group) && m.waits == waits).then_some(j)
        };
        self.members.iter().enumerate().find_map(is)
    }

    /// Whether the path belongs to a group that meets somewhere.
    pub fn is_inside(&self, id: usize) -> bool {
        self.members.get(id).is_some_and(|m| m.group.is_some())
    }

    /// Paths of this one's group may go on apart.
    pub fn loosen(&mut self, id: usize) {
        if let Some(group) = self.member(id).group {
            self.groups[group].loose = true;
        }
    }

    /// The data of the path are there from cycle `until` on.
    pub fn wait_for_data(&mut self, id: usize, until: u64) {
        self.member(id).until = until;
    }

    /// The path stands where its group meets, and disagrees with the one that waits there: it goes on by itself.
    pub fn pass(&mut self, cx: &Context) -> Option<Change> {
        let id = cx.at.id;
        let group = self.member(id).group.filter(|&g| self.groups[g].loose)?;
        let waiting = self.sibling(id, group, true).filter(|&w| cx.disagree >> w & 1 == 1)?;
        *self.member(id) = Member::new(cx.at.mask, self.groups[group].outer);
        self.groups[group].lanes &= !cx.at.mask;
        let last = self.members[waiting].mask == self.groups[group].lanes & *cx.live;
        if last {
            self.close(waiting, group);
        }
        Some(Change::Pass { wake: last.then_some(waiting) })
    }

    /// The path stands where its group meets.
    pub fn arrive(&mut self, cx: &Context) -> Change {
        let at = cx.at;
        let Some(group) = self.member(at.id).group else { return Change::on(at, at.pc) };
        self.member(at.id).mask = at.mask;
        match self.sibling(at.id, group, true) {
            Some(other) => self.join(other.min(at.id), other.max(at.id), group, cx),
            None if at.mask == self.groups[group].lanes & *cx.live => self.dissolve(at.id, group, cx),
            None => {
                self.member(at.id).waits = true;
                Change::Park { pc: at.pc }
            }
        }
    }

    fn join(&mut self, into: usize, from: usize, group: usize, cx: &Context) -> Change {
        let at = cx.at;
        let mask = self.members[into].mask | self.members[from].mask;
        self.members[from] = Member::default();
        let all = mask == self.groups[group].lanes & *cx.live;
        self.members[into] = Member { waits: !all, ..Member::new(mask, Some(group)) };
        let mut origin = at.origin;
        if all {
            origin = self.groups[group].origin;
            self.close(into, group);
        }
        Change::Merge(Merge { into, from, pc: at.pc, mask, continues: all, origin })
    }

    /// The whole group is one path already.
    fn dissolve(&mut self, id: usize, group: usize, cx: &Context) -> Change {
        let (at, origin) = (cx.at, self.groups[group].origin);
        self.close(id, group);
        Change::Continue { pc: at.pc, mask: at.mask, origin, cause: Some(MaskCause::Reconverge) }
    }

    fn close(&mut self, id: usize, group: usize) {
        self.groups[group].used = false;
        self.members[id].group = self.groups[group].outer;
        self.members[id].waits = false;
    }

    /// Two paths stand at the same pc. They become one if they belong to the same group.
    pub fn meet(&mut self, other: usize, cx: &Context) -> Option<Change> {
        let at = cx.at;
        let (a, b) = (*self.member(at.id), *self.member(other));
        if a.group != b.group || cx.clock < a.until.max(b.until) {
            return None;
        }
        let (into, from) = (at.id.min(other), at.id.max(other));
        let mask = at.mask | b.mask;
        self.members[from] = Member::default();
        self.members[into] = Member::new(mask, a.group);
        let origin = match a.group {
            Some(g) if mask == self.groups[g].lanes & *cx.live => self.groups[g].origin,
            _ if mask == *cx.live => NO_PC,
            _ => at.origin,
        };
        Some(Change::Merge(Merge { into, from, pc: at.pc, mask, continues: true, origin }))
    }

    /// The last lanes of a path exit: whoever waited only for them goes on.
    pub fn leave(&mut self, cx: &Context) -> Change {
        let id = cx.at.id;
        let gone = std::mem::take(self.member(id));
        let mut group = gone.group;
        while let Some(g) = group {
            let left = self.groups[g].lanes & *cx.live;
            if left == 0 {
                self.groups[g].used = false;
                group = self.groups[g].outer;
                continue;
            }
            let waiting = self.sibling(id, g, true);
            if let Some(other) = waiting.filter(|&w| self.members[w].mask == left) {
                self.close(other, g);
                return Change::Leave { wake: Some(other) };
            }
            break;
        }
        Change::Leave { wake: None }
    }

    pub fn set_mask(&mut self, id: usize, mask: Mask) {
        self.member(id).mask = mask;
    }

    pub fn depth(&self) -> usize {
        self.groups.iter().filter(|g| g.used).count()
    }
}

/// A branch on the execution mask under a mechanism that splits there: with some lanes on and some off the wave
/// parts, lanes that are on stay (THESIS 4.3.2; nested splits part the path's own lanes only).
pub(super) fn mask_split(
    state: &mut Groups,
    active: Mask,
    jump: bool,
    target: Pc,
    rpc: Pc,
    cx: &mut Context,
) -> Change {
    mask_split_with(active, jump, target, rpc, cx, |on, goes, other, cx| {
        state.split(on, goes, other, rpc, cx)
    })
}

/// The same with another table of paths: `split` is told the lanes that stay, where they go and where the others go.
pub(super) fn mask_split_with(
    active: Mask,
    jump: bool,
    target: Pc,
    rpc: Pc,
    cx: &mut Context,
    split: impl FnOnce(Mask, Pc, Pc, &mut Context) -> Change,
) -> Change {
    let at = cx.at;
    let on = active & at.mask;
    let off = at.mask & !on;
    let (goes, other) = if jump { (target, at.next) } else { (at.next, target) };
    let refused = match () {
        () if on == 0 || off == 0 => return Change::on(at, goes),
        () if cx.map.spills => RefusedReason::Spills,
        () if cx.free == 0 => RefusedReason::NoContext,
        () if rpc == NO_PC && cx.map.region(at.pc).is_none_or(|r| r.hazard) => RefusedReason::Convergent,
        // One side would wait before its first instruction.
        () if goes == rpc || other == rpc => RefusedReason::OneSided,
        () => {
            cx.notes.add(|| Kind::Split { taken: on, other: off });
            return split(on, goes, other, cx);
        }
    };
    cx.notes.add(|| Kind::SplitRefused { reason: refused, lanes: off });
    Change::on(at, goes)
}

/// Lanes of a path exit under a mechanism with [`Groups`].
pub(super) fn leave(state: &mut Groups, lanes: Mask, cx: &mut Context) -> Change {
    *cx.live &= !lanes;
    let at = cx.at;
    match at.mask & !lanes {
        0 => state.leave(cx),
        mask => {
            state.set_mask(at.id, mask);
            Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
        }
    }
}
