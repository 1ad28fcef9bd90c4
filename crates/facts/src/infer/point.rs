//! A point within one round of a loop, seen by one lane: when it is reached, which masks have the lane's bit, and how
//! registers relate to what they held at the header. Alternatives are kept apart by what decides between them.

use super::bdd::{Bdd, FALSE, Fun, TRUE};
use super::state::Side;
use std::collections::{BTreeMap, BTreeSet};
use wb_flowproof::Witness;

/// A 32-bit value in terms of a register at the loop's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sym {
    Unknown,
    /// The register plus something in `lo..=hi`, modulo 2³².
    Plus {
        base: Side,
        lo: i64,
        hi: i64,
    },
    /// The register shifted, bits that fall off are lost.
    Shifted {
        base: Side,
        left: bool,
        by: u32,
    },
}

impl Sym {
    pub fn same(base: Side) -> Sym {
        Sym::Plus { base, lo: 0, hi: 0 }
    }

    pub fn add(self, lo: i64, hi: i64) -> Sym {
        match self {
            Sym::Plus { base, lo: l, hi: h } if (l + lo).abs() < 1 << 40 && (h + hi).abs() < 1 << 40 => {
                Sym::Plus { base, lo: l + lo, hi: h + hi }
            }
            _ => Sym::Unknown,
        }
    }

    pub fn shift(self, to_left: bool, n: u32) -> Sym {
        match self {
            _ if n == 0 => self,
            Sym::Plus { base, lo: 0, hi: 0 } => Sym::Shifted { base, left: to_left, by: n },
            Sym::Shifted { base, left, by } if left == to_left && by + n < 32 => {
                Sym::Shifted { base, left, by: by + n }
            }
            _ => Sym::Unknown,
        }
    }
}

/// The value is one of these whose condition holds.
pub type Cases = Vec<(Fun, Sym)>;

/// Alternatives that are told apart; more become one that is not known.
const MOST: usize = 8;

/// Why no wave gets somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Impossible {
    Always,
    /// This lane cannot be there, but must.
    Lane(Witness),
}

/// SCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scc {
    Unknown,
    Is(Fun),
    /// Some lane has this, or none has.
    Some(Fun),
    None(Fun),
}

/// Masks and registers at the header, made when first asked for.
#[derive(Default)]
pub struct Header {
    masks: BTreeMap<u8, Fun>,
}

impl Header {
    pub fn mask(&mut self, pair: u8, bdd: &mut Bdd) -> Fun {
        *self.masks.entry(pair).or_insert_with(|| bdd.fresh())
    }
}

#[derive(Clone, Debug)]
pub struct Point {
    /// Holds for every lane of a path that gets here.
    pub reach: Fun,
    /// Each holds for some lane, which is named.
    pub exists: BTreeSet<(Fun, Witness)>,
    pub scc: Scc,
    /// None: unknown, a new variable when somebody asks.
    masks: BTreeMap<u8, Option<Fun>>,
    registers: BTreeMap<Side, Cases>,
    /// After a call: what is not listed is unknown.
    lost: bool,
}

impl Point {
    pub fn header() -> Point {
        Point {
            reach: TRUE,
            exists: BTreeSet::new(),
            scc: Scc::Unknown,
            masks: BTreeMap::new(),
            registers: BTreeMap::new(),
            lost: false,
        }
    }

    /// The mask in a pair, none if it is unknown.
    fn known_mask(&self, pair: u8, header: &mut Header, bdd: &mut Bdd) -> Option<Fun> {
        match self.masks.get(&pair) {
            Some(known) => *known,
            None if self.lost => None,
            None => Some(header.mask(pair, bdd)),
        }
    }

    pub fn mask(&mut self, pair: u8, header: &mut Header, bdd: &mut Bdd) -> Fun {
        let f = self.known_mask(pair, header, bdd).unwrap_or_else(|| bdd.fresh());
        self.masks.insert(pair, Some(f));
        f
    }

    pub fn set_mask(&mut self, pair: u8, f: Fun) {
        self.masks.insert(pair, Some(f));
    }

    pub fn forget_mask(&mut self, pair: u8) {
        self.masks.insert(pair, None);
    }

    pub fn get(&self, side: Side) -> Cases {
        match self.registers.get(&side) {
            Some(cases) => cases.clone(),
            None if self.lost => vec![(TRUE, Sym::Unknown)],
            None => vec![(TRUE, Sym::same(side))],
        }
    }

    pub fn set(&mut self, side: Side, cases: Cases) {
        self.registers.insert(side, cases);
    }

    /// Registers with something else than what they held at the header.
    pub fn changed(&self) -> impl Iterator<Item = Side> {
        self.registers.keys().copied()
    }

    /// A function was called: nothing is known any more.
    pub fn lose(&mut self) {
        self.masks.clear();
        self.registers.clear();
        self.scc = Scc::Unknown;
        self.lost = true;
    }

    /// No wave can get here: nothing at all can be true, or not of the lane that must be there.
    pub fn impossible(&self, bdd: &mut Bdd) -> Option<Impossible> {
        if self.reach == FALSE {
            return Some(Impossible::Always);
        }
        let lane = self.exists.iter().find(|e| bdd.exclude(self.reach, e.0));
        lane.map(|e| Impossible::Lane(e.1))
    }

    /// Two ways come together.
    pub fn join(self, other: Point, header: &mut Header, bdd: &mut Bdd) -> Point {
        let which = bdd.fresh();
        let pairs: BTreeSet<u8> = self.masks.keys().chain(other.masks.keys()).copied().collect();
        let mut masks = BTreeMap::new();
        for pair in pairs {
            let both = self.known_mask(pair, header, bdd).zip(other.known_mask(pair, header, bdd));
            masks.insert(pair, both.map(|(a, b)| bdd.ite(which, a, b)));
        }
        let sides: BTreeSet<Side> = self.registers.keys().chain(other.registers.keys()).copied().collect();
        let registers = sides
            .into_iter()
            .map(|side| {
                let (a, b) = (self.get(side), other.get(side));
                (side, if a == b { a } else { select(which, a, b, bdd) })
            })
            .collect();
        let scc = match (self.scc, other.scc) {
            (a, b) if a == b => a,
            (Scc::Is(a), Scc::Is(b)) => Scc::Is(bdd.ite(which, a, b)),
            _ => Scc::Unknown,
        };
        Point {
            reach: bdd.ite(which, self.reach, other.reach),
            exists: self.exists.intersection(&other.exists).copied().collect(),
            scc,
            masks,
            registers,
            lost: self.lost || other.lost,
        }
    }
}

/// `a` where `which` holds, `b` elsewhere.
pub fn select(which: Fun, a: Cases, b: Cases, bdd: &mut Bdd) -> Cases {
    let mut by_value: BTreeMap<Sym, Fun> = BTreeMap::new();
    let other = bdd.not(which);
    for (on, cases) in [(which, a), (other, b)] {
        for (guard, sym) in cases {
            let new = bdd.and(on, guard);
            if new != FALSE {
                let old = by_value.get(&sym).copied().unwrap_or(FALSE);
                by_value.insert(sym, bdd.or(old, new));
            }
        }
    }
    if by_value.is_empty() || by_value.len() > MOST {
        return vec![(TRUE, Sym::Unknown)];
    }
    by_value.into_iter().map(|(sym, guard)| (guard, sym)).collect()
}

/// The values that are possible where `when` holds.
pub fn possible(cases: &Cases, when: Fun, bdd: &mut Bdd) -> BTreeSet<Sym> {
    cases.iter().filter(|(guard, _)| !bdd.exclude(*guard, when)).map(|c| c.1).collect()
}
