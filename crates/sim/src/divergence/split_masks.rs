//! THESIS splitting with the stack of split masks of section 4.3.4, which the thesis describes and leaves out. Every split pushes the
//! split mask that was; wherever the base execution mask (the program's, before the path's lanes are laid over it) changes to an entry of
//! the stack, the path waits for the other lanes of that entry.
//!
//! A match alone is no reason to merge: inside of a loop masks match by chance (docs/mechanisms.md has the programs). So this mechanism
//! splits only where paths could stay apart for good, merges only paths that stand at the same pc and agree about every scalar that is
//! still read, and lets a path go on when nobody it waits for can come. Then a match decides when paths meet, never what they compute.

use super::groups::mask_split_with;
use super::mechanism::{Change, Context, Divergence, Merge, Refusal, Together, plain, unsupported};
use wb_hw::{Machine, Mechanism, SplitChoice};
use wb_isa::{Flow, Mask, NO_PC, Pc};
use wb_trace::MaskCause;

/// A split mask that was, and what had narrowed it. Paths that came from the split have the same number.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    lanes: Mask,
    origin: Pc,
}

#[derive(Clone, Debug, Default)]
struct Member {
    /// Its lanes; none if the context is free.
    mask: Mask,
    /// Outermost first; each has fewer lanes than the one before it.
    stack: Vec<Entry>,
    /// The place of the entry whose lanes it waits for, and the pc where.
    waits: Option<(usize, Pc)>,
}

impl Member {
    fn place(&self, entry: u64) -> Option<usize> {
        self.stack.iter().position(|e| e.number == entry)
    }

    /// The number of the entry it waits for.
    fn waits_for(&self) -> Option<u64> {
        self.waits.and_then(|(depth, _)| self.stack.get(depth)).map(|e| e.number)
    }
}

#[derive(Debug)]
pub struct SplitMasks {
    /// Only where MODE bit 21 is set (4.5), or at the first branches that find a reserve slot.
    marked_only: bool,
    members: Vec<Member>,
    /// Splits so far.
    splits: u64,
}

impl SplitMasks {
    pub fn new(machine: &Machine) -> Self {
        let marked_only = machine.divergence.choice == SplitChoice::Marked;
        SplitMasks { marked_only, members: vec![Member::default()], splits: 0 }
    }

    fn split(&mut self, kept: Mask, goes: Pc, other: Pc, cx: &Context) -> Change {
        let at = cx.at;
        let id = cx.free.trailing_zeros() as usize;
        if self.members.len() <= id {
            self.members.resize(id + 1, Member::default());
        }
        self.splits += 1;
        let parent = &mut self.members[at.id];
        parent.stack.push(Entry { number: self.splits, lanes: at.mask, origin: at.origin });
        (parent.mask, parent.waits) = (kept, None);
        self.members[id] = Member { mask: at.mask & !kept, ..parent.clone() };
        Change::Split { keep: (goes, kept), new: (other, at.mask & !kept), id, origin: at.pc }
    }

    /// All lanes that are left of the entry at `depth` are in path `id`: the entry goes, and what was pushed behind it.
    fn close(&mut self, id: usize, depth: usize) -> Pc {
        let member = &mut self.members[id];
        let origin = member.stack[depth].origin;
        member.stack.truncate(depth);
        member.waits = None;
        origin
    }

    fn leave(&mut self, lanes: Mask, cx: &mut Context) -> Change {
        *cx.live &= !lanes;
        let at = cx.at;
        match at.mask & !lanes {
            0 => {
                self.members[at.id] = Member::default();
                Change::Leave { wake: None }
            }
            mask => {
                self.members[at.id].mask = mask;
                Change::Continue { pc: at.next, mask, origin: at.origin, cause: Some(MaskCause::Exit) }
            }
        }
    }

    /// A path that has the entry could still come to where its lanes meet: it runs, or it waits for lanes of an entry further in, and will
    /// meet them or give up.
    fn may_come(&self, entry: u64, stands: u64) -> bool {
        self.members.iter().enumerate().filter(|(_, m)| m.mask != 0).any(|(id, m)| match m.place(entry) {
            None => false,
            Some(place) => stands >> id & 1 == 0 || m.waits.is_some_and(|(depth, _)| depth > place),
        })
    }
}

impl Divergence for SplitMasks {
    fn step(&mut self, flow: Flow, cx: &mut Context) -> Result<Change, Refusal> {
        match flow {
            Flow::MaskBranch { active, jump, target, marked } if marked || !self.marked_only => {
                // Nothing guarantees that paths meet: only where they could stay apart for good.
                let split = |on, goes, other, cx: &mut Context| self.split(on, goes, other, cx);
                Ok(mask_split_with(active, jump, target, NO_PC, cx, split))
            }
            Flow::Exit { lanes } => Ok(self.leave(lanes, cx)),
            _ => plain(cx.at, flow).ok_or_else(|| unsupported(flow, Mechanism::Thesis)),
        }
    }

    fn restored(&mut self, base: Mask, cx: &mut Context) -> Option<Change> {
        let (at, live) = (cx.at, *cx.live);
        if at.pc == NO_PC {
            return None;
        }
        let member = &mut self.members[at.id];
        member.mask = at.mask;
        // Regions that end together: the outermost one counts, the others are inside of it.
        let depth = member.stack.iter().position(|e| (e.lanes ^ base) & live == 0)?;
        let Entry { number, lanes, .. } = member.stack[depth];
        if at.mask == lanes & live {
            let (pc, mask, origin) = (at.pc, at.mask, self.close(at.id, depth));
            return Some(Change::Continue { pc, mask, origin, cause: Some(MaskCause::Reconverge) });
        }
        let waits_here = |(id, m): (usize, &Member)| {
            let here = m.waits_for() == Some(number) && m.waits.is_some_and(|(_, pc)| pc == at.pc);
            (id != at.id && here && cx.disagree >> id & 1 == 0).then_some(id)
        };
        let Some(other) = self.members.iter().enumerate().find_map(waits_here) else {
            self.members[at.id].waits = Some((depth, at.pc));
            return Some(Change::Park { pc: at.pc });
        };
        let (into, from) = (at.id.min(other), at.id.max(other));
        let mask = at.mask | self.members[other].mask;
        self.members[from] = Member::default();
        let merged = &mut self.members[into];
        (merged.mask, merged.waits) = (mask, Some((depth, at.pc)));
        merged.stack.truncate(depth + 1);
        let all = mask == lanes & live;
        let origin = if all { self.close(into, depth) } else { at.origin };
        Some(Change::Merge(Merge { into, from, pc: at.pc, mask, continues: all, origin }))
    }

    fn give_up(&mut self, stands: u64, live: Mask) -> u64 {
        let mut woken = 0;
        for id in 0..self.members.len() {
            let Some((depth, pc)) = self.members[id].waits else { continue };
            let Entry { number, lanes, .. } = self.members[id].stack[depth];
            if self.may_come(number, stands) {
                continue;
            }
            // Those that are further on stay: the others may come to them yet.
            let behind = |m: &Member| m.waits_for() == Some(number) && m.waits.is_some_and(|w| w.1 < pc);
            if self.members.iter().any(behind) {
                continue;
            }
            woken |= 1 << id;
            if self.members[id].mask == lanes & live {
                self.close(id, depth);
            }
        }
        for (id, member) in self.members.iter_mut().enumerate().filter(|(id, _)| woken >> id & 1 == 1) {
            debug_assert!(stands >> id & 1 == 1);
            member.waits = None;
        }
        woken
    }

    fn together(&self) -> Together {
        Together::Disjoint
    }

    fn depth(&self) -> usize {
        self.members.iter().map(|m| m.stack.len()).max().unwrap_or(0)
    }
}
