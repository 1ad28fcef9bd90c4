//! What is known at one point: of scalars, and of vector registers apart for classes of lanes. A class is the lanes with the
//! same bits in the masks that are followed (EXEC always), so it is known which lanes an older mask brings back, and what
//! those hold. Within a class one base holds for all lanes; across classes only what has the same origin.

use super::fact::Why;
use super::linear::Dims;
use super::value::{Id, Tag, Value};
use crate::infer::range::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use wb_isa::{Mask, Pc};

/// EXEC and VCC as pairs.
pub const EXEC: u8 = 63;
pub const VCC: u8 = 53;

/// More classes than this are not told apart.
const CLASSES: usize = 64;

/// An addition whose carry stands in a mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    pub pc: Pc,
    /// Where the low half is.
    pub to: u8,
    pub a: Value,
    pub b: Value,
    pub minus: bool,
}

/// Vector registers of a class of lanes; what is not there is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Lanes that can be in it. Every lane that exists is in one of the classes that could have it.
    pub lanes: Mask,
    pub regs: BTreeMap<u8, Rc<Value>>,
    /// By the pair with the carry.
    pub carries: BTreeMap<u8, Pending>,
}

impl Default for Class {
    fn default() -> Class {
        Class { lanes: Mask::MAX, regs: BTreeMap::new(), carries: BTreeMap::new() }
    }
}

impl Class {
    pub fn get(&self, n: u8) -> Rc<Value> {
        self.regs.get(&n).cloned().unwrap_or_else(|| Rc::new(Value::unknown(Range::FULL, Why::Start)))
    }

    pub fn put(&mut self, n: u8, value: Value) {
        self.carries.retain(|_, p| p.to != n);
        self.regs.insert(n, Rc::new(value));
    }

    /// Changes the values that `which` finds; the others stay shared with older states.
    fn each(&mut self, which: impl Fn(&Value) -> bool, f: impl Fn(&mut Value)) {
        self.regs.values_mut().filter(|v| which(v)).for_each(|v| f(Rc::make_mut(v)));
        for p in self.carries.values_mut() {
            f(&mut p.a);
            f(&mut p.b);
        }
    }

    /// The lanes of two classes as one.
    fn of_lanes(&self, other: &Class, dims: Dims) -> Class {
        let lanes = [self.lanes, other.lanes];
        let both =
            |(n, v): (&u8, &Rc<Value>)| Some((*n, Rc::new(v.of_lanes(other.regs.get(n)?, lanes, dims))));
        let carries = self.carries.iter().filter(|(n, p)| other.carries.get(n) == Some(p) && settled(p));
        let carries = carries.map(|(n, p)| (*n, p.clone())).collect();
        Class { lanes: self.lanes | other.lanes, regs: self.regs.iter().filter_map(both).collect(), carries }
    }
}

/// Equal operands are the same ones.
fn settled(p: &Pending) -> bool {
    [&p.a, &p.b].iter().all(|v| v.id.is_some() || v.range.constant().is_some())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub dims: Dims,
    pub scalars: Vec<Rc<Value>>,
    /// Pairs that are followed lane by lane.
    pub masks: u64,
    /// By the bits that the lanes have in those pairs.
    pub lanes: BTreeMap<u64, Class>,
    /// A scalar addition whose carry is SCC.
    pub carry: Option<Pending>,
}

/// How a state arrives at a block.
#[derive(Clone, Copy)]
pub struct Arrival {
    pub block: usize,
    /// It came often: what still changes is given up.
    pub hard: bool,
    /// Paths may meet here that ran apart: their lanes share only what is the same whichever way they took.
    pub apart: bool,
}

impl State {
    /// Before the first instruction: all lanes there are are on.
    pub fn start(dims: Dims) -> State {
        let lanes = BTreeMap::from([(1 << EXEC, Class::default())]);
        State { lanes, ..State::unknown(dims) }
    }

    /// Nothing is known.
    pub fn unknown(dims: Dims) -> State {
        let lanes = [0, 1 << EXEC].map(|case| (case, Class::default())).into_iter().collect();
        let any = Rc::new(Value::uniform(Range::FULL, false));
        let scalars = (0..128).map(|_| any.clone()).collect();
        State { dims, scalars, masks: 1 << EXEC, lanes, carry: None }
    }

    pub fn tracked(&self, pair: u8) -> bool {
        self.masks >> pair & 1 == 1
    }

    pub fn on(&self) -> impl Iterator<Item = (u64, &Class)> {
        self.lanes.iter().filter(|l| bit(*l.0, EXEC)).map(|l| (*l.0, l.1))
    }

    /// Lanes that can be on, and lanes that can be off.
    pub fn sides(&self) -> (Mask, Mask) {
        let all = |on: bool| {
            let classes = self.lanes.iter().filter(|l| bit(*l.0, EXEC) == on);
            classes.fold(0, |all, l| all | l.1.lanes)
        };
        (all(true), all(false))
    }

    /// Every vector register is unknown: lanes that do not exist may be on.
    pub fn lose_lanes(&mut self) {
        self.lanes.values_mut().for_each(|class| *class = Class::default());
    }

    fn each(&mut self, which: impl Fn(&Value) -> bool, f: impl Fn(&mut Value)) {
        self.scalars.iter_mut().filter(|v| which(v)).for_each(|v| f(Rc::make_mut(v)));
        self.lanes.values_mut().for_each(|class| class.each(&which, &f));
    }

    /// An instruction is executed again: its older results have no name any more.
    pub fn forget(&mut self, id: impl Fn(Id) -> bool + Copy) {
        self.each(|v| v.names(id), |v| v.forget(id));
        if let Some(p) = &mut self.carry {
            p.a.forget(id);
            p.b.forget(id);
        }
    }

    /// Numbers are no longer told from those that a block gave names to.
    pub fn unlink(&mut self, block: usize) {
        let here = |id: Id| matches!(id, Id::Met(b, _) if b == block);
        self.each(|v| v.links(here), |v| v.unlink(here));
        if let Some(p) = &mut self.carry {
            p.a.unlink(here);
            p.b.unlink(here);
        }
    }

    pub fn put_scalar(&mut self, n: u8, value: Value) {
        self.scalars[usize::from(n & 127)] = Rc::new(value);
        let pair = (n & 127) >> 1;
        self.drop_mask(pair);
        if self.carry.as_ref().is_some_and(|p| p.to == n) {
            self.carry = None;
        }
    }

    /// A pair is written: it has no older carry.
    pub fn drop_carry(&mut self, pair: u8) {
        self.lanes.values_mut().for_each(|class| _ = class.carries.remove(&pair));
    }

    /// A pair is written with something that is not followed.
    pub fn drop_mask(&mut self, pair: u8) {
        self.drop_carry(pair);
        if pair == EXEC {
            self.assign(&[EXEC], |_| vec![[false], [true]]);
        } else {
            self.merge(pair);
        }
    }

    /// The pair is no longer followed lane by lane.
    pub fn merge(&mut self, pair: u8) {
        if self.tracked(pair) && pair != EXEC {
            self.masks &= !(1 << pair);
            self.change(|case| vec![(case & !(1 << pair), Mask::MAX)]);
        }
    }

    /// `f` says what lanes of a class become, and which lanes can.
    fn change(&mut self, f: impl Fn(u64) -> Vec<(u64, Mask)>) {
        let mut lanes: BTreeMap<u64, Class> = BTreeMap::new();
        for (&case, class) in &self.lanes {
            let mut to: BTreeMap<u64, Mask> = BTreeMap::new();
            f(case).into_iter().for_each(|(case, mask)| *to.entry(case).or_default() |= mask);
            for (case, mask) in to {
                let part = Class { lanes: class.lanes & mask, ..class.clone() };
                if part.lanes == 0 {
                    continue;
                }
                let new = match lanes.get(&case) {
                    Some(old) => old.of_lanes(&part, self.dims),
                    None => part,
                };
                lanes.insert(case, new);
            }
        }
        self.lanes = lanes;
        if self.lanes.len() > CLASSES {
            (0..EXEC).for_each(|pair| self.merge(pair));
        }
    }

    /// Pairs get new bits: `f` says which ones lanes of a class can have then.
    pub fn assign<const N: usize>(&mut self, pairs: &[u8; N], f: impl Fn(u64) -> Vec<[bool; N]>) {
        self.assign_lanes(pairs, |case| f(case).into_iter().map(|new| (new, Mask::MAX)).collect());
    }

    /// The same, with the lanes that can have them.
    pub fn assign_lanes<const N: usize>(
        &mut self,
        pairs: &[u8; N],
        f: impl Fn(u64) -> Vec<([bool; N], Mask)>,
    ) {
        let all = pairs.iter().fold(0u64, |all, pair| all | 1 << pair);
        self.masks |= all;
        let put = |case: u64, new: [bool; N]| {
            pairs.iter().zip(new).fold(case & !all, |case, (pair, b)| case | u64::from(b) << pair)
        };
        self.change(|case| f(case).into_iter().map(|(new, mask)| (put(case, new), mask)).collect());
    }

    /// Only classes with these bits are left.
    pub fn keep(&mut self, wanted: impl Fn(u64) -> bool) {
        self.lanes.retain(|&case, _| wanted(case));
    }

    /// Another state arrives at a block where this one holds; whether less is known then.
    pub fn join(&mut self, mut other: State, at: Arrival) -> bool {
        for pair in 0..EXEC {
            match (self.tracked(pair), other.tracked(pair)) {
                (true, false) => self.merge(pair),
                (false, true) => other.merge(pair),
                _ => {}
            }
        }
        self.rename(&mut other, at.block);
        let before = self.clone();
        for n in 0..128 {
            let both = [(true, before.scalars[n].clone(), other.scalars[n].clone(), [Mask::MAX; 2])];
            let new = meet(&both, (256 + n) as u16, at, self.dims, &|id| before.low_half(&other, id));
            let any = || Rc::new(Value::uniform(Range::FULL, false));
            self.scalars[n] = new.into_iter().next().unwrap_or_else(any);
        }
        let cases: Vec<u64> = self.lanes.keys().filter(|c| other.lanes.contains_key(c)).copied().collect();
        let registers: BTreeSet<u8> = self.lanes.values().flat_map(|c| c.regs.keys().copied()).collect();
        for n in registers {
            let known = |s: &State, case: &u64| s.lanes.get(case).and_then(|c| c.regs.get(&n)).cloned();
            let lanes = |s: &State, case: &u64| s.lanes.get(case).map_or(Mask::MAX, |c| c.lanes);
            let both = |case: &u64| {
                let lanes = [lanes(&before, case), lanes(&other, case)];
                Some((*case, (bit(*case, EXEC), known(&before, case)?, known(&other, case)?, lanes)))
            };
            let (at_cases, values): (Vec<u64>, Vec<Both>) = cases.iter().filter_map(both).unzip();
            let new = meet(&values, n.into(), at, self.dims, &|id| before.low_half(&other, id));
            let new: BTreeMap<u64, Rc<Value>> = at_cases.into_iter().zip(new).collect();
            for (case, class) in self.lanes.iter_mut().filter(|(case, _)| other.lanes.contains_key(case)) {
                match new.get(case) {
                    Some(value) => {
                        let mut value = value.clone();
                        if at.apart {
                            Rc::make_mut(&mut value).apart();
                        }
                        class.regs.insert(n, value);
                    }
                    None => _ = class.regs.remove(&n),
                }
            }
        }
        for (case, class) in &mut self.lanes {
            if let Some(o) = other.lanes.get(case) {
                class.lanes |= o.lanes;
                class.carries.retain(|n, p| o.carries.get(n) == Some(p) && settled(p));
            }
        }
        for (case, class) in other.lanes {
            self.lanes.entry(case).or_insert(class);
        }
        if self.carry != other.carry {
            self.carry = None;
        }
        *self != before
    }

    /// Names that this block gives mean what is there now: an older state's are taken away, unless every register that has
    /// one here has it there too.
    fn rename(&self, other: &mut State, block: usize) {
        let names = |s: &State| {
            let mut all: BTreeSet<(u64, u16, Id, u8)> = BTreeSet::new();
            let here = |id: &Id| matches!(id, Id::Met(b, _) if *b == block);
            let mut add = |case: u64, n: u16, v: &Value| {
                all.extend(v.id.filter(here).map(|id| (case, n, id, 0)));
                let tags = v.tags.iter().filter(|t| here(&t.id));
                all.extend(tags.map(|t| (case, n, t.id, 1 + u8::from(t.high))));
            };
            s.scalars.iter().enumerate().for_each(|(n, v)| add(0, 256 + n as u16, v));
            for (&case, class) in &s.lanes {
                class.regs.iter().for_each(|(&n, v)| add(case, n.into(), v));
            }
            all
        };
        let (mine, theirs) = (names(self), names(other));
        let stale: BTreeSet<Id> = mine.symmetric_difference(&theirs).map(|n| n.2).collect();
        if !stale.is_empty() {
            other.forget(|id| stale.contains(&id));
        }
    }

    /// The register that is the low half of one number here and of another one there, for all lanes that are on.
    fn low_half(&self, other: &State, (a, b): (Id, Id)) -> Option<u16> {
        let has = |v: &Value, id: Id| v.tags.iter().rfind(|t| !t.high).is_some_and(|t| t.id == id);
        let scalar = (0..128).find(|&n| has(&self.scalars[n], a) && has(&other.scalars[n], b));
        let vector = || {
            (0..=255u8).find(|n| {
                let each = |s: &State, id: Id| {
                    s.on().next().is_some() && s.on().all(|(_, c)| c.regs.get(n).is_some_and(|v| has(v, id)))
                };
                each(self, a) && each(other, b)
            })
        };
        scalar.map(|n| 256 + n as u16).or_else(|| vector().map(u16::from))
    }
}

/// A register's value in a class, before and now, with its lanes; whether the class is on.
type Both = (bool, Rc<Value>, Rc<Value>, [Mask; 2]);

/// A register's values in its classes after two ways.
fn meet(
    values: &[Both],
    register: u16,
    at: Arrival,
    dims: Dims,
    low_half: &dyn Fn((Id, Id)) -> Option<u16>,
) -> Vec<Rc<Value>> {
    // Lanes that are on all had the same origin on either way, so they have now.
    let first = values.iter().find(|v| v.0).map(|(_, x, y, _)| (x, y));
    let alike = first.is_some_and(|(a, b)| {
        let like = |x: &Value, a: &Value| x.id == a.id && x.alts == a.alts && x.pattern == a.pattern;
        let mut on = values.iter().filter(|v| v.0);
        a.id.is_some() && b.id.is_some() && on.all(|(_, x, y, _)| like(x, a) && like(y, b))
    });
    let one = |(on, x, y, lanes): &Both| {
        if x == y && x.id.is_some() {
            return x.clone();
        }
        let mut new = x.of_ways(y, at.hard, *lanes, dims);
        if *on && alike && new.id.is_none() {
            new.id = Some(Id::Met(at.block, register));
        }
        for t in &x.tags {
            if let Some(same) = y.tags.iter().find(|o| o.id == t.id && o.high == t.high) {
                let wide = if same.wide == t.wide {
                    t.wide.clone()
                } else {
                    Rc::new(t.wide.of_ways(&same.wide, at.hard, *lanes))
                };
                let from = t.from.filter(|_| t.from == same.from);
                new.tag(Tag { wide, from, ..t.clone() });
            }
        }
        let fresh = x.tags.iter().flat_map(|t| y.tags.iter().map(move |o| (t, o)));
        for (t, o) in fresh.filter(|(t, o)| *on && t.high == o.high && t.id != o.id) {
            let id = low_half((t.id, o.id)).map(|n| Id::Met(at.block, n));
            if let Some(id) = id.filter(|id| new.tags.iter().all(|t| t.id != *id)) {
                let from = t.from.filter(|_| t.from == o.from);
                let wide = Rc::new(t.wide.of_ways(&o.wide, at.hard, *lanes));
                new.tag(Tag { id, high: t.high, wide, from });
            }
        }
        Rc::new(new)
    };
    values.iter().map(one).collect()
}

pub fn bit(case: u64, pair: u8) -> bool {
    case >> pair & 1 == 1
}
