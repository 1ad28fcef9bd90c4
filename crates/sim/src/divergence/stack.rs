//! The stack of a path on plain branches (mechanisms 5): entries {pc, rpc, mask}. A SIMT stack is one of these, and so is what a path
//! that cannot fork keeps for itself.

use super::mechanism::{Change, Context, Refusal, push};
use wb_hw::FirstSide;
use wb_isa::{Mask, NO_PC, Pc};
use wb_trace::{Kind, MaskCause};

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

#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    /// Entries below the running one.
    entries: Vec<Entry>,
    /// Reconvergence pc of the running path, if there are entries.
    rpc: Pc,
}

/// Both sides of a branch, the one that runs first before the other.
pub(super) fn ordered(first: FirstSide, taken: (Pc, Mask), not_taken: (Pc, Mask)) -> [(Pc, Mask); 2] {
    let (more, less) = (taken.1.count_ones(), not_taken.1.count_ones());
    let taken_first = match first {
        FirstSide::Taken => true,
        FirstSide::NotTaken => false,
        FirstSide::Larger => more >= less,
        FirstSide::Smaller => more <= less,
    };
    if taken_first { [taken, not_taken] } else { [not_taken, taken] }
}

impl Stack {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn depth(&self) -> usize {
        self.entries.len()
    }

    /// Where the path waits to be asked; `outer` is the place where the path as a whole does.
    pub fn watch(&self, outer: Pc) -> Pc {
        if self.entries.is_empty() { outer } else { self.rpc }
    }

    /// One side of a branch runs, the other one is set aside.
    pub fn diverge(
        &mut self,
        [first, second]: [(Pc, Mask); 2],
        outer: Pc,
        limit: usize,
        cx: &mut Context,
    ) -> Result<Change, Refusal> {
        let (at, around) = (cx.at, self.watch(outer));
        // A branch that only the end post-dominates reconverges where its surroundings do.
        let rpc = match cx.map.rpc[at.pc as usize] {
            NO_PC => around,
            rpc => rpc,
        };
        let whole = self.entries.is_empty() && rpc != NO_PC;
        if rpc != around || whole {
            let after = Entry { pc: rpc, rpc: around, mask: at.mask, origin: at.origin, side: false };
            push(&mut self.entries, limit, after)?;
        }
        self.rpc = rpc;
        let waits = |side: (Pc, Mask)| side.0 == rpc;
        let (run, set_aside) = if waits(first) { (second, first) } else { (first, second) };
        if !waits(set_aside) {
            let side = Entry { pc: set_aside.0, rpc, mask: set_aside.1, origin: at.pc, side: true };
            push(&mut self.entries, limit, side)?;
        }
        cx.notes.add(|| Kind::PathNew { at: set_aside.0, lanes: set_aside.1 });
        Ok(Change::Continue { pc: run.0, mask: run.1, origin: at.pc, cause: Some(MaskCause::Diverge) })
    }

    /// The next entry that still has a live lane.
    pub fn pop(&mut self, cx: &mut Context) -> Option<Change> {
        let at = cx.at;
        loop {
            let entry = self.entries.pop()?;
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

    /// Takes out what belongs to `lanes`.
    pub fn part(&mut self, lanes: Mask) -> Stack {
        let some = |of: Mask| {
            let own = self.entries.iter().map(|e| Entry { mask: e.mask & of, ..*e });
            Stack { entries: own.filter(|e| e.mask != 0).collect(), rpc: self.rpc }
        };
        let (out, rest) = (some(lanes), some(!lanes));
        *self = rest;
        out
    }

    /// Both are as deep and wait at the same places: they could be one.
    pub fn is_like(&self, other: &Stack) -> bool {
        let key = |e: &Entry| (e.pc, e.rpc, e.side);
        self.entries.iter().map(key).eq(other.entries.iter().map(key))
            && (self.entries.is_empty() || self.rpc == other.rpc)
    }

    /// They are one.
    pub fn unite(&mut self, other: &Stack) {
        for (mine, theirs) in self.entries.iter_mut().zip(&other.entries) {
            mine.mask |= theirs.mask;
        }
    }

    /// Masks set aside to run later.
    pub fn set_aside(&self, each: &mut dyn FnMut(Mask)) {
        self.entries.iter().filter(|e| e.side).for_each(|e| each(e.mask));
    }

    /// Masks that will be restored.
    pub fn restores(&self, each: &mut dyn FnMut(Mask)) {
        self.entries.iter().filter(|e| !e.side).for_each(|e| each(e.mask));
    }
}
