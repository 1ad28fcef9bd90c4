//! Paths that fork at plain branches, whatever the mechanism: which lanes came from one branch, where they meet, and what a path has set
//! aside for itself. A path that does not fork serialises on a stack of its own (design choice: the papers on DWS and others leave open
//! what happens when a table is full). When a path forks, its stack is frozen and thaws where its lanes have met.

use super::mechanism::{Change, Context, Merge, Refusal};
use super::stack::Stack;
use wb_isa::{Mask, NO_PC, Pc};
use wb_trace::MaskCause;

/// Lanes that were one path before a branch.
#[derive(Clone, Debug)]
struct Fork {
    /// Where they meet; [`NO_PC`]: nowhere, they only end.
    rpc: Pc,
    lanes: Mask,
    outer: Option<usize>,
    origin: Pc,
    /// Forks in the order they happened, from 1 on; 0: not in use.
    number: u64,
    /// What the path had set aside.
    stack: Stack,
}

/// What a path belongs to.
#[derive(Clone, Debug, Default)]
struct Member {
    /// Its lanes, those that it has set aside among them.
    lanes: Mask,
    fork: Option<usize>,
    waits: bool,
    /// Before this cycle its data are not there.
    until: u64,
    stack: Stack,
    /// Calls that have not returned.
    calls: i32,
}

#[derive(Debug)]
pub(super) struct Forks {
    forks: Vec<Fork>,
    members: Vec<Member>,
    happened: u64,
    limit: usize,
}

impl Forks {
    pub fn new(limit: u32) -> Forks {
        Forks { forks: Vec::new(), members: Vec::new(), happened: 0, limit: limit as usize }
    }

    fn member(&mut self, id: usize) -> &mut Member {
        if self.members.len() <= id {
            self.members.resize(id + 1, Member::default());
        }
        &mut self.members[id]
    }

    fn outer(&self, id: usize) -> Pc {
        let fork = self.members.get(id).and_then(|m| m.fork);
        fork.map_or(NO_PC, |f| self.forks[f].rpc)
    }

    pub fn watch(&self, id: usize) -> Pc {
        let outer = self.outer(id);
        self.members.get(id).map_or(outer, |m| m.stack.watch(outer))
    }

    /// The path came from a fork whose lanes have not all met.
    pub fn is_inside(&self, id: usize) -> bool {
        self.members.get(id).is_some_and(|m| m.fork.is_some())
    }

    /// The fork that the path came from last, by the order of forks; 0: none.
    pub fn number(&self, id: usize) -> u64 {
        let fork = self.members.get(id).and_then(|m| m.fork);
        fork.map_or(0, |f| self.forks[f].number)
    }

    /// Calls of the path that have not returned.
    pub fn calls(&self, id: usize) -> i32 {
        self.members.get(id).map_or(0, |m| m.calls)
    }

    pub fn called(&mut self, id: usize, by: i32) {
        self.member(id).calls += by;
    }

    /// One side runs, the other one waits on the path's own stack.
    pub fn serialise(&mut self, sides: [(Pc, Mask); 2], cx: &mut Context) -> Result<Change, Refusal> {
        let (id, outer, limit) = (cx.at.id, self.outer(cx.at.id), self.limit);
        self.member(id).stack.diverge(sides, outer, limit, cx)
    }

    /// The path goes on with the first side, a new path takes the second one. They meet at `rpc`; [`NO_PC`]: where the surroundings do.
    /// `again`: a place where they would meet anyway needs no entry of its own.
    pub fn fork(&mut self, sides: [(Pc, Mask); 2], rpc: Pc, again: bool, cx: &Context) -> Change {
        let at = cx.at;
        let (outer, around) = (self.member(at.id).fork, self.outer(at.id));
        let Member { stack, calls, .. } = std::mem::take(self.member(at.id));
        let rpc = if rpc == NO_PC { stack.watch(around) } else { rpc };
        let same = stack.is_empty() && rpc == around && (again || rpc == NO_PC);
        let fork = if same {
            outer
        } else {
            self.happened += 1;
            let (lanes, origin, number) = (at.mask, at.origin, self.happened);
            let new = Fork { rpc, lanes, outer, origin, number, stack };
            let place = self.forks.iter().position(|f| f.number == 0).unwrap_or(self.forks.len());
            match self.forks.get_mut(place) {
                Some(old) => *old = new,
                None => self.forks.push(new),
            }
            Some(place)
        };
        let id = cx.free.trailing_zeros() as usize;
        let [keep, new] = sides;
        *self.member(at.id) = Member { lanes: keep.1, fork, calls, ..Member::default() };
        *self.member(id) = Member { lanes: new.1, fork, calls, ..Member::default() };
        Change::Split { keep, new, id, origin: at.pc }
    }

    /// The data of the path are there from cycle `until` on.
    pub fn wait_for_data(&mut self, id: usize, until: u64) {
        self.member(id).until = until;
    }

    fn waiting(&self, id: usize, fork: usize) -> Option<usize> {
        let is = |(j, m): (usize, &Member)| {
            (j != id && m.lanes != 0 && m.fork == Some(fork) && m.waits).then_some(j)
        };
        self.members.iter().enumerate().find_map(is)
    }

    /// What the path has set aside last. With nothing left there, its lanes are those that run: a stack that thawed may have had others.
    fn pop(&mut self, cx: &mut Context) -> Option<Change> {
        let member = self.member(cx.at.id);
        let change = member.stack.pop(cx);
        if let (Some(Change::Continue { mask, .. }), true) = (change, member.stack.is_empty()) {
            member.lanes = mask;
        }
        change
    }

    /// The path stands where it wanted to be asked.
    pub fn arrive(&mut self, cx: &mut Context) -> Change {
        let at = cx.at;
        if let Some(change) = self.pop(cx) {
            return change;
        }
        let Some(fork) = self.member(at.id).fork else { return Change::on(at, at.pc) };
        self.member(at.id).lanes = at.mask;
        if let Some(other) = self.waiting(at.id, fork) {
            return self.join(other.min(at.id), other.max(at.id), fork, cx);
        }
        if at.mask == self.forks[fork].lanes & *cx.live {
            let origin = self.forks[fork].origin;
            self.close(at.id, fork);
            return Change::Continue { pc: at.pc, mask: at.mask, origin, cause: Some(MaskCause::Reconverge) };
        }
        self.member(at.id).waits = true;
        Change::Park { pc: at.pc }
    }

    fn join(&mut self, into: usize, from: usize, fork: usize, cx: &Context) -> Change {
        let at = cx.at;
        let gone = std::mem::take(&mut self.members[from]);
        let mask = (self.members[into].lanes | gone.lanes) & *cx.live;
        let all = mask == self.forks[fork].lanes & *cx.live;
        let calls = gone.calls;
        self.members[into] =
            Member { lanes: mask, fork: Some(fork), waits: !all, calls, ..Member::default() };
        let mut origin = at.origin;
        if all {
            origin = self.forks[fork].origin;
            self.close(into, fork);
        }
        Change::Merge(Merge { into, from, pc: at.pc, mask, continues: all, origin })
    }

    /// All lanes of a fork are in one path: what was set aside before it is that path's again.
    fn close(&mut self, id: usize, fork: usize) {
        let f = &mut self.forks[fork];
        f.number = 0;
        let (outer, stack) = (f.outer, std::mem::take(&mut f.stack));
        let member = self.member(id);
        (member.fork, member.stack, member.waits) = (outer, stack, false);
    }

    /// Two paths stand at the same pc. They become one if they came from the same fork and have nothing set aside.
    pub fn meet(&mut self, other: usize, cx: &Context) -> Option<Change> {
        let at = cx.at;
        self.member(at.id.max(other));
        let (a, b) = (&self.members[at.id], &self.members[other]);
        let apart = a.fork != b.fork || !a.stack.is_empty() || !b.stack.is_empty() || a.waits || b.waits;
        if apart || a.calls != b.calls || cx.clock < a.until.max(b.until) {
            return None;
        }
        let (into, from) = (at.id.min(other), at.id.max(other));
        let mask = (a.lanes | b.lanes) & *cx.live;
        let (fork, calls) = (a.fork, a.calls);
        self.members[from] = Member::default();
        self.members[into] = Member { lanes: mask, fork, calls, ..Member::default() };
        let origin = match fork {
            Some(f) if mask == self.forks[f].lanes & *cx.live => self.forks[f].origin,
            _ if mask == *cx.live => NO_PC,
            _ => at.origin,
        };
        Some(Change::Merge(Merge { into, from, pc: at.pc, mask, continues: true, origin }))
    }

    /// Lanes exit. Without any left the path takes what was set aside, or is gone; whoever waited only for it goes on.
    pub fn exit(&mut self, lanes: Mask, cx: &mut Context) -> Change {
        *cx.live &= !lanes;
        let at = cx.at;
        self.member(at.id).lanes &= !lanes;
        let mask = at.mask & !lanes;
        if mask != 0 {
            return Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) };
        }
        loop {
            if let Some(change) = self.pop(cx) {
                return change;
            }
            let Some(fork) = self.member(at.id).fork else { break };
            let left = self.forks[fork].lanes & *cx.live;
            if left == 0 {
                self.close(at.id, fork);
                continue;
            }
            let alone = self.waiting(at.id, fork).filter(|&w| self.members[w].lanes & *cx.live == left);
            *self.member(at.id) = Member::default();
            if let Some(other) = alone {
                self.close(other, fork);
            }
            return Change::Leave { wake: alone };
        }
        *self.member(at.id) = Member::default();
        Change::Leave { wake: None }
    }

    pub fn depth(&self) -> usize {
        let own: usize = self.members.iter().map(|m| m.stack.depth()).sum();
        let open = self.forks.iter().filter(|f| f.number != 0);
        own + open.map(|f| 1 + f.stack.depth()).sum::<usize>()
    }

    fn stacks(&self) -> impl Iterator<Item = &Stack> {
        let frozen = self.forks.iter().filter(|f| f.number != 0).map(|f| &f.stack);
        self.members.iter().map(|m| &m.stack).chain(frozen)
    }

    pub fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.stacks().for_each(|s| s.set_aside(each));
    }

    pub fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.stacks().for_each(|s| s.restores(each));
    }
}
