//! What happens before what: clocks of waves. A wave's clock goes on at barriers and when it tells others something through an
//! atomic; a wave knows of others how far they were at the last barrier, and what it learnt from atomics.

use crate::shadow::{Stamp, Word};
use std::collections::HashMap;

/// How far waves are known to have been, by their numbers.
pub type Clocks = HashMap<u32, u32>;

pub fn join(into: &mut Clocks, from: &Clocks) {
    for (&wave, &clock) in from {
        let known = into.entry(wave).or_insert(0);
        *known = (*known).max(clock);
    }
}

/// The waves of a group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Number of its first wave.
    pub first: u32,
    /// Where each wave is, and where it was at the last barrier.
    pub clocks: Vec<u32>,
    pub known: Vec<u32>,
    /// Learnt from other groups before the last barrier.
    pub learnt: Clocks,
    /// Where each wave waits at a barrier, as a place; 0: nowhere.
    pub waits: Vec<u32>,
    pub ended: Vec<bool>,
}

impl Group {
    /// A wave of it starts: it knows what was before.
    pub fn start(&mut self, index: usize) {
        if index >= self.clocks.len() {
            self.clocks.resize(index + 1, 1);
            self.known.resize(index + 1, 0);
            self.waits.resize(index + 1, 0);
            self.ended.resize(index + 1, false);
        }
        self.ended[index] = false;
        self.meet();
    }

    /// All waves know what all did.
    pub fn meet(&mut self) {
        for (known, clock) in self.known.iter_mut().zip(&mut self.clocks) {
            *known = *clock;
            *clock += 1;
        }
        self.waits.fill(0);
    }
}

/// Who accesses memory now, and what it knows.
pub struct Order<'a> {
    pub wave: u32,
    pub group: &'a Group,
    pub learnt: &'a Clocks,
    /// Waves of earlier launches have lower numbers.
    pub launch: u32,
    /// Whatever the wave did before this clock is behind all its lanes: they go in step.
    pub step: u32,
}

impl Order<'_> {
    /// Whether an access is known to have happened before one of `lane` now.
    #[inline]
    pub fn before(&self, stamp: Stamp, lane: u32) -> bool {
        let wave = stamp.wave();
        if wave == self.wave && (stamp.lane() == lane || stamp.clock() < self.step) || wave < self.launch {
            return true;
        }
        let known = wave.checked_sub(self.group.first).and_then(|i| self.group.known.get(i as usize));
        known.is_some_and(|known| stamp.clock() <= *known) || self.has_learnt(stamp)
    }

    #[cold]
    fn has_learnt(&self, stamp: Stamp) -> bool {
        let knows = |clocks: &Clocks| clocks.get(&stamp.wave()).is_some_and(|c| stamp.clock() <= *c);
        knows(self.learnt) || knows(&self.group.learnt)
    }

    /// How much two accesses have in common: those that have least are worth remembering.
    fn distance(&self, a: Stamp, b: Stamp) -> u32 {
        let group = |s: Stamp| {
            let known = s.wave().checked_sub(self.group.first);
            known.is_some_and(|i| (i as usize) < self.group.clocks.len())
        };
        match () {
            () if a.is_none() || b.is_none() => 0,
            () if group(a) != group(b) => 3,
            () if a.wave() != b.wave() => 2,
            () if a.lane() != b.lane() => 1,
            () => 0,
        }
    }
}

/// What an access must not meet.
#[derive(Clone, Copy, Debug)]
pub struct Conflict {
    pub stamp: Stamp,
    pub place: u32,
    pub wrote: bool,
}

/// An access to a word; the earlier one that nothing orders with it.
#[inline]
pub fn access(word: &mut Word, write: bool, stamp: Stamp, place: u32, order: &Order) -> Option<Conflict> {
    let clash = |old: Stamp| {
        let apart = old.is_none() || old.is_atomic() && stamp.is_atomic();
        !apart && !order.before(old, stamp.lane())
    };
    let mut conflict = None;
    if clash(word.write) {
        conflict = Some(Conflict { stamp: word.write, place: word.write_place, wrote: true });
    }
    if !write {
        if word.read.is_none() {
            (word.read, word.read_place) = (stamp, place);
        } else if word.read != stamp {
            let old = (word.read, word.read_place);
            if order.distance(stamp, old.0) >= order.distance(stamp, word.other) && old.0 != Stamp::default()
            {
                (word.other, word.other_place) = old;
            }
            (word.read, word.read_place) = (stamp, place);
        }
        return conflict;
    }
    if conflict.is_none() {
        let reads = [(word.read, word.read_place), (word.other, word.other_place)];
        let met = reads.into_iter().find(|(old, _)| clash(*old));
        conflict = met.map(|(stamp, place)| Conflict { stamp, place, wrote: false });
    }
    (word.write, word.write_place) = (stamp, place);
    (word.read, word.other) = (Stamp::default(), Stamp::default());
    conflict
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(waves: usize) -> Group {
        let mut g = Group { first: 10, ..Group::default() };
        (0..waves).for_each(|i| g.start(i));
        g
    }

    fn at(g: &Group, wave: u32, lane: u32, atomic: bool) -> Stamp {
        Stamp::new(wave, g.clocks[(wave - g.first) as usize], lane, atomic)
    }

    #[test]
    fn barriers_order_accesses_of_a_group() {
        let (mut g, learnt) = (group(2), Clocks::new());
        let mut word = Word::default();
        let of = |g: &Group, word: &mut Word, wave: u32, lane: u32, write: bool, atomic: bool| {
            let order = Order { wave, group: g, learnt: &learnt, launch: 5, step: 0 };
            access(word, write, at(g, wave, lane, atomic), 1, &order)
        };
        assert!(of(&g, &mut word, 10, 3, true, false).is_none());
        assert!(of(&g, &mut word, 10, 3, false, false).is_none(), "the same lane");
        assert!(of(&g, &mut word, 10, 4, false, false).is_some_and(|c| c.wrote), "another lane");
        assert!(of(&g, &mut word, 11, 0, false, false).is_some(), "another wave");
        g.meet();
        assert!(of(&g, &mut word, 11, 0, false, false).is_none(), "behind a barrier");
        assert!(of(&g, &mut word, 10, 4, true, false).is_some_and(|c| !c.wrote), "a read of this round");
        g.meet();
        assert!(of(&g, &mut word, 11, 1, true, true).is_none());
        assert!(of(&g, &mut word, 10, 1, true, true).is_none(), "atomics do not race");
        assert!(of(&g, &mut word, 10, 2, false, false).is_some(), "but with plain accesses they do");
    }

    #[test]
    fn other_groups_are_known_only_by_what_was_learnt() {
        let g = group(1);
        let mut word = Word::default();
        let other = Stamp::new(77, 4, 0, false);
        (word.write, word.write_place) = (other, 9);
        let mut learnt = Clocks::new();
        let try_it = |learnt: &Clocks, word: &mut Word| {
            access(
                word,
                false,
                at(&g, 10, 0, false),
                1,
                &Order { wave: 10, group: &g, learnt, launch: 5, step: 0 },
            )
        };
        assert!(try_it(&learnt, &mut word).is_some());
        learnt.insert(77, 3);
        assert!(try_it(&learnt, &mut word).is_some(), "what it did later is not known");
        learnt.insert(77, 4);
        assert!(try_it(&learnt, &mut word).is_none());
        word.write = Stamp::new(4, 99, 0, false);
        assert!(try_it(&Clocks::new(), &mut word).is_none(), "an earlier launch");
    }
}
