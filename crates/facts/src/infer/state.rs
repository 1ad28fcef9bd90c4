//! What is known about registers at one point: ranges of scalars, ranges of vector registers apart for lanes that are on
//! and lanes that are off, which scalar pairs are masks of existing lanes only, and what comparisons said.

use super::bank::Bank;
use super::range::{Range, Rel};
use std::collections::BTreeMap;
use wb_isa::gcn3::sreg;

/// Memory whose contents the launch decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Arguments,
    Packet,
}

/// Half of an address: base of the space plus `offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    pub space: Space,
    pub offset: i64,
    pub high: bool,
}

/// A scalar register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub range: Range,
    pub pointer: Option<Pointer>,
    /// It is the argument dword at this offset.
    pub argument: Option<u32>,
}

impl Scalar {
    pub const UNKNOWN: Scalar = Scalar { range: Range::FULL, pointer: None, argument: None };

    pub fn new(range: Range) -> Scalar {
        Scalar { range, ..Scalar::UNKNOWN }
    }

    fn join(self, o: Scalar) -> Scalar {
        Scalar {
            range: self.range.join(o.range),
            pointer: self.pointer.filter(|_| self.pointer == o.pointer),
            argument: self.argument.filter(|_| self.argument == o.argument),
        }
    }
}

/// A side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    Scalar(u8),
    Vector(u8),
    Number(u32),
}

/// A comparison that holds as long as its sides are not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cond {
    pub rel: Rel,
    pub signed: bool,
    pub a: Side,
    pub b: Side,
}

impl Cond {
    pub fn not(self) -> Cond {
        Cond { rel: self.rel.not(), ..self }
    }

    /// It compares no registers of lanes.
    pub fn is_uniform(&self) -> bool {
        !matches!(self.a, Side::Vector(_)) && !matches!(self.b, Side::Vector(_))
    }

    fn reads(&self, side: Side) -> bool {
        self.a == side || self.b == side
    }
}

/// What holds for lanes that are on: where their bit of a mask is set, and where it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskCond {
    pub yes: Vec<Cond>,
    pub no: Vec<Cond>,
    /// It also holds for lanes that are off. A comparison of lanes leaves zeros in lanes that are off, so a zero says
    /// nothing there; inverted, nor does a one.
    pub yes_anywhere: bool,
    pub no_anywhere: bool,
}

impl MaskCond {
    /// The mask that a comparison of lanes leaves.
    pub fn of(cond: Cond) -> MaskCond {
        MaskCond { yes: vec![cond], no: vec![cond.not()], yes_anywhere: true, no_anywhere: false }
    }

    /// All bits set if a comparison of scalars holds, none if not.
    pub fn uniform(cond: Cond) -> MaskCond {
        MaskCond { no_anywhere: true, ..MaskCond::of(cond) }
    }

    pub fn not(self) -> MaskCond {
        MaskCond {
            yes: self.no,
            no: self.yes,
            yes_anywhere: self.no_anywhere,
            no_anywhere: self.yes_anywhere,
        }
    }

    /// For `self & EXEC`: lanes that are on keep their bits, and no lane that is off has one.
    pub fn within(self) -> MaskCond {
        MaskCond { yes_anywhere: true, no_anywhere: false, ..self }
    }

    /// For `self & other`.
    pub fn and(self, other: &MaskCond) -> MaskCond {
        let mut yes = self.yes;
        yes.extend(&other.yes);
        yes.sort_unstable();
        yes.dedup();
        yes.truncate(4);
        MaskCond {
            yes,
            no: self.no.into_iter().filter(|c| other.no.contains(c)).collect(),
            yes_anywhere: self.yes_anywhere && other.yes_anywhere,
            no_anywhere: self.no_anywhere && other.no_anywhere,
        }
    }

    pub fn or(self, other: MaskCond) -> MaskCond {
        self.not().and(&other.not()).not()
    }

    /// Without what is said about these registers.
    pub fn without(mut self, written: &[Side]) -> MaskCond {
        let kept = |c: &Cond| !written.iter().any(|&w| c.reads(w));
        self.yes.retain(kept);
        self.no.retain(kept);
        self
    }

    pub fn is_empty(&self) -> bool {
        self.yes.is_empty() && self.no.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub scalars: Bank<Scalar>,
    /// Vector registers of lanes that are on.
    pub on: Bank<Range>,
    /// Of lanes that are off; none where there can be no such lane.
    pub off: Bank<Option<Range>>,
    /// Pairs (by their first register) with bits only of lanes that exist.
    pub clean: u128,
    /// Pairs that are not zero, and pairs that are.
    pub some: u128,
    pub none: u128,
    pub scc: Option<Cond>,
    /// SCC is the carry of the low half of this address.
    pub carry: Option<Pointer>,
    pub masks: BTreeMap<u8, MaskCond>,
}

const VECTORS: usize = 256;
const SCALARS: usize = 128;

impl State {
    /// Nothing is known.
    pub fn unknown() -> State {
        State {
            scalars: Bank::new(Scalar::UNKNOWN, SCALARS),
            on: Bank::new(Range::FULL, VECTORS),
            off: Bank::new(Some(Range::FULL), VECTORS),
            clean: 0,
            some: 0,
            none: 0,
            scc: None,
            carry: None,
            masks: BTreeMap::new(),
        }
    }

    /// A wave before its first instruction, registers still to be told: all lanes that exist are on.
    pub fn start() -> State {
        let exec = 1 << sreg::EXEC;
        State { off: Bank::new(None, VECTORS), clean: exec, some: exec, ..State::unknown() }
    }

    /// Everything that holds in both; whether that is less than before.
    pub fn join(&mut self, other: &State) -> bool {
        let either = |x: Option<Range>, y: Option<Range>| match (x, y) {
            (Some(x), Some(y)) => Some(x.join(y)),
            (x, y) => x.or(y),
        };
        let mut changed = self.on.merge(&other.on, Range::join);
        changed |= self.off.merge(&other.off, either);
        changed |= self.scalars.merge(&other.scalars, Scalar::join);
        let rest = (self.clean & other.clean, self.some & other.some, self.none & other.none);
        changed |= rest != (self.clean, self.some, self.none);
        (self.clean, self.some, self.none) = rest;
        if self.scc != other.scc {
            changed |= self.scc.take().is_some();
        }
        if self.carry != other.carry {
            changed |= self.carry.take().is_some();
        }
        let before = self.masks.len();
        self.masks.retain(|r, m| other.masks.get(r) == Some(m));
        changed | (before != self.masks.len())
    }

    /// Bounds that moved from `old` jump to the next stop.
    pub fn widen(&mut self, old: &State, stops: &[i64]) {
        self.on.merge(&old.on, |new, old| old.widen(new, stops));
        self.off.merge(&old.off, |new, old| match (old, new) {
            (Some(o), Some(n)) => Some(o.widen(n, stops)),
            (_, n) => n,
        });
        self.scalars
            .merge(&old.scalars, |new, old| Scalar { range: old.range.widen(new.range, stops), ..new });
    }

    pub fn side(&self, side: Side) -> Range {
        match side {
            Side::Scalar(n) => self.scalars[usize::from(n & 127)].range,
            Side::Vector(n) => self.on[usize::from(n)],
            Side::Number(v) => Range::exact(v),
        }
    }

    fn set_side(&mut self, side: Side, range: Range) {
        match side {
            Side::Scalar(n) => self.scalars[usize::from(n & 127)].range = range,
            Side::Vector(n) => self.on[usize::from(n)] = range,
            Side::Number(_) => {}
        }
    }

    /// `cond` holds for the lanes that are on. There may be none: then it says nothing about scalars.
    pub fn assume_lanes(&mut self, cond: Cond) {
        let (a, b) = (self.side(cond.a), self.side(cond.b));
        let ranges = [a.assume(cond.rel, cond.signed, b), b.assume(cond.rel.swap(), cond.signed, a)];
        for (side, range) in [cond.a, cond.b].into_iter().zip(ranges) {
            if let (Side::Vector(_), Some(range)) = (side, range) {
                self.set_side(side, range);
            }
        }
    }

    /// `cond` holds; false if it cannot.
    pub fn assume(&mut self, cond: Cond) -> bool {
        let (a, b) = (self.side(cond.a), self.side(cond.b));
        let (new_a, new_b) = (a.assume(cond.rel, cond.signed, b), b.assume(cond.rel.swap(), cond.signed, a));
        let (Some(new_a), Some(new_b)) = (new_a, new_b) else { return false };
        self.set_side(cond.a, new_a);
        self.set_side(cond.b, new_b);
        true
    }

    /// What was said about a register no longer holds.
    pub fn forget(&mut self, side: Side) {
        if self.scc.is_some_and(|c| c.reads(side)) {
            self.scc = None;
        }
        for mask in self.masks.values_mut() {
            mask.yes.retain(|c| !c.reads(side));
            mask.no.retain(|c| !c.reads(side));
        }
        self.masks.retain(|_, m| !m.is_empty());
    }

    /// A scalar register gets a value.
    pub fn set_scalar(&mut self, n: u8, value: Scalar) {
        self.forget(Side::Scalar(n));
        self.scalars[usize::from(n & 127)] = value;
        let pair = n & !1;
        self.masks.remove(&pair);
        self.clean &= !(1 << pair);
        self.some &= !(1 << pair);
        self.none &= !(1 << pair);
    }

    /// A vector register gets a value in the lanes that are on.
    pub fn set_vector(&mut self, n: u8, range: Range) {
        self.forget(Side::Vector(n));
        self.on[usize::from(n)] = range;
    }

    pub fn is_clean(&self, pair: u8) -> bool {
        self.clean >> pair & 1 == 1
    }

    pub fn is_some(&self, pair: u8) -> bool {
        self.some >> pair & 1 == 1
    }

    pub fn is_none(&self, pair: u8) -> bool {
        self.none >> pair & 1 == 1
    }

    /// Whether a comparison can hold (for a lane that is on).
    pub fn possible(&self, c: Cond) -> bool {
        let (a, b) = (self.side(c.a), self.side(c.b));
        a.assume(c.rel, c.signed, b).is_some() && b.assume(c.rel.swap(), c.signed, a).is_some()
    }

    /// The lanes that are on all have their bit in a mask, or none has.
    pub fn decided_mask(&self, pair: u8) -> Option<bool> {
        let empty = MaskCond::default();
        let mask = self.masks.get(&pair).unwrap_or(&empty);
        if self.is_none(pair) || mask.yes.iter().any(|&c| !self.possible(c)) {
            return Some(false);
        }
        mask.no.iter().any(|&c| !self.possible(c)).then_some(true)
    }

    /// Lanes go off.
    pub fn narrow(&mut self) {
        self.off.combine(&self.on, |off, on| Some(off.map_or(on, |o| o.join(on))));
    }

    /// Lanes that were off come on: what was said about lanes that are on may not hold for them.
    pub fn widen_lanes(&mut self) {
        self.on.combine(&self.off, |on, off| off.map_or(on, |o| o.join(on)));
        self.keep_uniform();
    }

    /// Any lanes can be on now, even ones that do not exist.
    pub fn any_lanes(&mut self) {
        self.on.fill(Range::FULL);
        self.off.fill(Some(Range::FULL));
        self.keep_uniform();
    }

    /// Of what masks say only that about scalars stays which holds for all lanes, whoever is on.
    fn keep_uniform(&mut self) {
        for mask in self.masks.values_mut() {
            let (yes, no) = (mask.yes_anywhere, mask.no_anywhere);
            mask.yes.retain(|c| yes && c.is_uniform());
            mask.no.retain(|c| no && c.is_uniform());
        }
        self.masks.retain(|_, m| !m.is_empty());
    }

    /// SCC, if what it tells of is decided.
    pub fn decided_scc(&self) -> Option<bool> {
        let c = self.scc?;
        match (self.possible(c), self.possible(c.not())) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }
}
