//! What the checker knows at one point of the program, and when one such state allows everything another one does.

use crate::format::{Address, Comparison, Counted, Invariant, Rel, Said, Side};
use crate::interval::Interval;
use std::collections::BTreeMap;
use wb_isa::Pc;
use wb_isa::gcn3::sreg;

pub const EXEC: u8 = sreg::EXEC;
pub const VCC: u8 = sreg::VCC;

#[derive(Clone, Debug)]
pub struct Facts {
    pub s: Vec<Interval>,
    pub address: Vec<Option<Address>>,
    pub on: Vec<Interval>,
    /// None: no lane can be off.
    pub off: Vec<Option<Interval>>,
    pub clean: u128,
    pub some: u128,
    pub none: u128,
    pub scc: Option<Comparison>,
    pub carry: Option<Address>,
    pub masks: BTreeMap<u8, Said>,
}

impl Rel {
    pub fn opposite(self) -> Rel {
        match self {
            Rel::Lt => Rel::Ge,
            Rel::Ge => Rel::Lt,
            Rel::Gt => Rel::Le,
            Rel::Le => Rel::Gt,
            Rel::Eq => Rel::Ne,
            Rel::Ne => Rel::Eq,
        }
    }

    /// The same relation with the sides exchanged.
    pub fn mirrored(self) -> Rel {
        match self {
            Rel::Lt => Rel::Gt,
            Rel::Gt => Rel::Lt,
            Rel::Le => Rel::Ge,
            Rel::Ge => Rel::Le,
            Rel::Eq => Rel::Eq,
            Rel::Ne => Rel::Ne,
        }
    }
}

impl Comparison {
    pub fn opposite(self) -> Comparison {
        Comparison { rel: self.rel.opposite(), ..self }
    }

    pub fn mentions(&self, side: Side) -> bool {
        self.a == side || self.b == side
    }

    pub fn of_scalars(&self) -> bool {
        !matches!(self.a, Side::V(_)) && !matches!(self.b, Side::V(_))
    }
}

impl Said {
    pub fn of(c: Comparison, yes_anywhere: bool, no_anywhere: bool) -> Said {
        Said { yes: vec![c], no: vec![c.opposite()], yes_anywhere, no_anywhere }
    }

    pub fn inverted(self) -> Said {
        Said { yes: self.no, no: self.yes, yes_anywhere: self.no_anywhere, no_anywhere: self.yes_anywhere }
    }

    /// Everything said by `o` is said here.
    fn covers(&self, o: &Said) -> bool {
        let list = |mine: &[Comparison], theirs: &[Comparison]| theirs.iter().all(|c| mine.contains(c));
        list(&self.yes, &o.yes)
            && list(&self.no, &o.no)
            && (self.yes_anywhere || !o.yes_anywhere || o.yes.is_empty())
            && (self.no_anywhere || !o.no_anywhere || o.no.is_empty())
    }
}

impl Facts {
    pub fn nothing() -> Facts {
        Facts {
            s: vec![Interval::ANY; 128],
            address: vec![None; 128],
            on: vec![Interval::ANY; 256],
            off: vec![Some(Interval::ANY); 256],
            clean: 0,
            some: 0,
            none: 0,
            scc: None,
            carry: None,
            masks: BTreeMap::new(),
        }
    }

    pub fn from_claim(claim: &Invariant) -> Facts {
        let mut f = Facts::nothing();
        for &(n, i) in &claim.scalars {
            f.s[usize::from(n & 127)] = i;
        }
        for &(n, a) in &claim.addresses {
            f.address[usize::from(n & 127)] = Some(a);
        }
        for &(n, i) in &claim.on {
            f.on[usize::from(n)] = i;
        }
        for &(n, i) in &claim.off {
            f.off[usize::from(n)] = Some(i);
        }
        for &n in &claim.never_off {
            f.off[usize::from(n)] = None;
        }
        f.clean = claim.clean.iter().fold(0, |m, &n| m | 1u128 << (n & 127));
        f.some = claim.some.iter().fold(0, |m, &n| m | 1u128 << (n & 127));
        f.none = claim.none.iter().fold(0, |m, &n| m | 1u128 << (n & 127));
        (f.scc, f.carry) = (claim.scc, claim.carry);
        f.masks = claim.masks.iter().cloned().collect();
        f
    }

    /// The first thing that `claim` says and these facts do not guarantee.
    pub fn misses(&self, claim: &Facts) -> Option<String> {
        for n in 0..128 {
            if !self.s[n].inside(claim.s[n]) {
                return Some(format!("s{n} is in {:?}, said {:?}", self.s[n], claim.s[n]));
            }
            if claim.address[n].is_some() && self.address[n] != claim.address[n] {
                return Some(format!("the address in s{n}"));
            }
        }
        for n in 0..256 {
            if !self.on[n].inside(claim.on[n]) {
                return Some(format!("v{n} is in {:?}, said {:?}", self.on[n], claim.on[n]));
            }
            let fine = match (self.off[n], claim.off[n]) {
                (None, _) => true,
                (Some(a), Some(b)) => a.inside(b),
                (Some(_), None) => false,
            };
            if !fine {
                return Some(format!("v{n} of lanes that are off"));
            }
        }
        let flags = [(claim.clean, self.clean), (claim.some, self.some), (claim.none, self.none)];
        if flags.iter().any(|(said, known)| said & !known != 0) {
            return Some("masks of existing lanes only, with a lane, or without".into());
        }
        if claim.scc.is_some() && claim.scc != self.scc || claim.carry.is_some() && claim.carry != self.carry
        {
            return Some("what SCC tells".into());
        }
        let none = Said::default();
        let missing = claim.masks.iter().find(|(n, said)| !self.masks.get(n).unwrap_or(&none).covers(said));
        missing.map(|(n, _)| format!("what the mask in s{n} tells"))
    }

    pub fn side(&self, side: Side) -> Interval {
        match side {
            Side::S(n) => self.s[usize::from(n & 127)],
            Side::V(n) => self.on[usize::from(n)],
            Side::Number(v) => Interval::just(v),
        }
    }

    fn put(&mut self, side: Side, i: Interval) {
        match side {
            Side::S(n) => self.s[usize::from(n & 127)] = i,
            Side::V(n) => self.on[usize::from(n)] = i,
            Side::Number(_) => {}
        }
    }

    /// The comparison holds for all lanes that are on, if there are any: so it limits registers of lanes only.
    pub fn learn_of_lanes(&mut self, c: Comparison) {
        let (a, b) = (self.side(c.a), self.side(c.b));
        let limits = [limited(a, c.rel, c.signed, b), limited(b, c.rel.mirrored(), c.signed, a)];
        for (side, limit) in [c.a, c.b].into_iter().zip(limits) {
            if matches!(side, Side::V(_)) && !limit.is_empty() {
                self.put(side, limit);
            }
        }
    }

    /// The comparison holds; false if it cannot.
    pub fn learn(&mut self, c: Comparison) -> bool {
        let (a, b) = (self.side(c.a), self.side(c.b));
        let (x, y) = (limited(a, c.rel, c.signed, b), limited(b, c.rel.mirrored(), c.signed, a));
        if x.is_empty() || y.is_empty() {
            return false;
        }
        self.put(c.a, x);
        self.put(c.b, y);
        true
    }

    /// A register changes: what comparisons said about it is void.
    pub fn void(&mut self, side: Side) {
        self.scc = self.scc.filter(|c| !c.mentions(side));
        for said in self.masks.values_mut() {
            said.yes.retain(|c| !c.mentions(side));
            said.no.retain(|c| !c.mentions(side));
        }
    }

    pub fn write_scalar(&mut self, n: u8, i: Interval) {
        let n = n & 127;
        self.void(Side::S(n));
        self.s[usize::from(n)] = i;
        self.address[usize::from(n)] = None;
        let pair = n & 126;
        self.masks.remove(&pair);
        self.clean &= !(1 << pair);
        self.some &= !(1 << pair);
        self.none &= !(1 << pair);
    }

    pub fn write_vector(&mut self, n: u8, i: Interval) {
        self.void(Side::V(n));
        self.on[usize::from(n)] = i;
    }

    pub fn is_clean(&self, pair: u8) -> bool {
        self.clean >> (pair & 127) & 1 == 1
    }

    pub fn is_some(&self, pair: u8) -> bool {
        self.some >> (pair & 127) & 1 == 1
    }

    pub fn is_none(&self, pair: u8) -> bool {
        self.none >> (pair & 127) & 1 == 1
    }

    pub fn can_hold(&self, c: Comparison) -> bool {
        let (a, b) = (self.side(c.a), self.side(c.b));
        !limited(a, c.rel, c.signed, b).is_empty() && !limited(b, c.rel.mirrored(), c.signed, a).is_empty()
    }

    pub fn tell(&mut self, pair: u8, said: Said, clean: bool, some: bool) {
        match said.yes.is_empty() && said.no.is_empty() {
            true => _ = self.masks.remove(&pair),
            false => _ = self.masks.insert(pair, said),
        }
        self.clean = self.clean & !(1 << pair) | u128::from(clean) << pair;
        self.some = self.some & !(1 << pair) | u128::from(some) << pair;
    }

    /// Lanes go off: they keep what they have.
    pub fn fewer_lanes(&mut self) {
        for (off, on) in self.off.iter_mut().zip(&self.on) {
            *off = Some(off.map_or(*on, |o| o.or_else(*on)));
        }
    }

    /// Lanes that were off may come on.
    pub fn more_lanes(&mut self) {
        for (on, off) in self.on.iter_mut().zip(&self.off) {
            *on = off.map_or(*on, |o| o.or_else(*on));
        }
        self.whoever_is_on();
    }

    /// Lanes that do not exist may be on.
    pub fn strange_lanes(&mut self) {
        self.on.fill(Interval::ANY);
        self.off.fill(Some(Interval::ANY));
        self.whoever_is_on();
    }

    /// Masks keep what they say of scalars for all lanes.
    fn whoever_is_on(&mut self) {
        for said in self.masks.values_mut() {
            let (yes, no) = (said.yes_anywhere, said.no_anywhere);
            said.yes.retain(|c| yes && c.of_scalars());
            said.no.retain(|c| no && c.of_scalars());
        }
    }

    /// How SCC must be, if only one way is possible.
    pub fn scc_value(&self) -> Option<bool> {
        let c = self.scc?;
        match (self.can_hold(c), self.can_hold(c.opposite())) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) | (false, false) => None,
        }
    }
}

/// The values of `a` for which `a rel b` can hold.
fn limited(a: Interval, rel: Rel, signed: bool, b: Interval) -> Interval {
    let none = Interval { u: (1, 0), s: (1, 0) };
    let mut r = a;
    match (rel, signed) {
        (Rel::Lt, true) if b.s.1 == i32::MIN => return none,
        (Rel::Lt, true) => r.s.1 = r.s.1.min(b.s.1 - 1),
        (Rel::Le, true) => r.s.1 = r.s.1.min(b.s.1),
        (Rel::Gt, true) if b.s.0 == i32::MAX => return none,
        (Rel::Gt, true) => r.s.0 = r.s.0.max(b.s.0 + 1),
        (Rel::Ge, true) => r.s.0 = r.s.0.max(b.s.0),
        (Rel::Lt, false) if b.u.1 == 0 => return none,
        (Rel::Lt, false) => r.u.1 = r.u.1.min(b.u.1 - 1),
        (Rel::Le, false) => r.u.1 = r.u.1.min(b.u.1),
        (Rel::Gt, false) if b.u.0 == u32::MAX => return none,
        (Rel::Gt, false) => r.u.0 = r.u.0.max(b.u.0 + 1),
        (Rel::Ge, false) => r.u.0 = r.u.0.max(b.u.0),
        (Rel::Eq, _) => return a.and_also(b),
        (Rel::Ne, _) => {
            let Some(v) = b.value() else { return a };
            if a.value() == Some(v) {
                return none;
            }
            r.u = (r.u.0 + u32::from(r.u.0 == v), r.u.1 - u32::from(r.u.1 == v));
            r.s = (r.s.0 + i32::from(r.s.0 == v as i32), r.s.1 - i32::from(r.s.1 == v as i32));
        }
    }
    r.and_also(Interval::ANY)
}

/// Values of the sources of every instruction, and whether a lane is on there.
#[derive(Default)]
pub struct Sources {
    pub ranges: BTreeMap<Pc, ([Interval; 3], bool)>,
}

impl Sources {
    pub fn range(&self, pc: Pc, i: usize) -> Interval {
        self.ranges.get(&pc).map_or(Interval::ANY, |r| r.0[i])
    }

    pub fn some_on(&self, pc: Pc) -> bool {
        self.ranges.get(&pc).is_some_and(|r| r.1)
    }

    /// The other side of a test is one number.
    pub fn constant_other(&self, c: &Counted) -> bool {
        self.range(c.test, usize::from(!c.second)).value().is_some()
    }
}
