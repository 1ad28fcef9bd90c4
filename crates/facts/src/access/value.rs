//! What is known about a register in a class of lanes: alternatives as functions of the lane, a range, and the 64-bit numbers
//! that it is a half of.

use super::fact::Why;
use super::linear::{ALL, Dims, Lin, REGISTER, low};
use super::pattern::{self, Pattern};
use crate::infer::range::Range;
use std::rc::Rc;
use wb_isa::{Mask, Pc};

/// Alternatives that are told apart; more become one that knows less.
const MOST: usize = 4;
/// Numbers a register is followed as a half of.
const TAGS: usize = 4;

/// Where a value comes from: the same in two classes of lanes means the same base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A register as the wave found it: vectors, then scalars.
    Start(u16),
    /// Dword of the latest result of an instruction.
    Made(Pc, u16),
    /// What a register had when the block was entered last.
    Met(usize, u16),
}

/// A 64-bit number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wide {
    /// Each lane has one of these.
    pub alts: Vec<Lin>,
    /// All lanes' numbers lie between these, modulo 2⁶⁴.
    pub range: Option<(i128, i128)>,
    /// The same lane by lane, if known.
    pub pattern: Option<Pattern>,
}

/// "This register is a half of that number."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub id: Id,
    pub high: bool,
    pub wide: Rc<Wide>,
    /// It is the number of that name, and as much more.
    pub from: Option<(Id, i64)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    pub id: Option<Id>,
    /// Each lane has one of these, modulo 2³²; never empty.
    pub alts: Vec<Lin>,
    /// The same lane by lane, where no one linear function says it.
    pub pattern: Option<Pattern>,
    pub range: Range,
    pub tags: Vec<Tag>,
    /// Why no more is known.
    pub why: Option<Why>,
    /// The low half of the lane's number, as `v_mbcnt_lo` leaves it.
    pub counts_low: bool,
}

impl Value {
    pub fn new(alts: Vec<Lin>, range: Range) -> Value {
        let mut alts: Vec<Lin> = alts.into_iter().map(Lin::register).collect();
        if alts.is_empty() {
            alts.push(Lin::unknown().register());
        }
        if let Some(c) = range.constant() {
            alts = vec![Lin::exact(c.into()).register()];
        } else if alts.iter().any(|l| l.spread.is_none()) {
            alts = vec![from_range(&alts, range)];
        }
        Value { id: None, alts, pattern: None, range, tags: Vec::new(), why: None, counts_low: false }
    }

    pub fn constant(v: u32) -> Value {
        Value::new(Vec::new(), Range::exact(v))
    }

    pub fn unknown(range: Range, why: Why) -> Value {
        Value { why: Some(why), ..Value::new(Vec::new(), range) }
    }

    /// The same unknown number in all lanes.
    pub fn uniform(range: Range, fixed: bool) -> Value {
        Value::new(vec![Lin::uniform(fixed)], range)
    }

    /// The only alternative.
    pub fn only(&self) -> Option<&Lin> {
        match self.alts.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    pub fn with_range(mut self, range: Range) -> Value {
        self.range = self.range.meet(range).unwrap_or(self.range);
        if self.range.constant().is_some() || self.alts.iter().any(|l| l.spread.is_none()) {
            let alts = Value::new(std::mem::take(&mut self.alts), self.range).alts;
            self.alts = alts;
        }
        self
    }

    /// It has the same origin, so the same base.
    fn same(&self, other: &Value) -> bool {
        self.id.is_some() && self.id == other.id && self.alts == other.alts && self.pattern == other.pattern
    }

    /// What lanes have one by one.
    pub fn row(&self, dims: Dims) -> Option<Pattern> {
        let linear = || self.only().and_then(|l| Pattern::of(l, dims));
        if dims.rows { self.pattern.clone().or_else(linear) } else { None }
    }

    /// With a row, unless a linear function says as much.
    pub fn with_row(mut self, row: Option<Pattern>) -> Value {
        let told = self.only().is_some_and(|l| l.spread == Some(0) && l.based(REGISTER));
        self.pattern = row.filter(|_| !told);
        self
    }

    /// Between the numbers that these lanes have, if those are known. What is said of them otherwise stays.
    pub fn narrowed(mut self, lanes: Mask, dims: Dims) -> Value {
        let range = self.row(dims).and_then(|row| row.range(lanes));
        self.range = range.and_then(|r| self.range.meet(r)).unwrap_or(self.range);
        self
    }

    /// Some lanes have this, some that.
    pub fn of_lanes(&self, other: &Value, lanes: [Mask; 2], dims: Dims) -> Value {
        let same = self.same(other);
        let row = self.row(dims).zip(other.row(dims));
        let row = row.and_then(|(a, b)| a.of_lanes(&b, lanes, REGISTER, same));
        let range = self.range.join(other.range);
        let alts = if same { self.alts.clone() } else { alternatives(&self.alts, &other.alts, REGISTER) };
        let tags = self.tags.iter().filter(|t| other.tags.contains(t)).cloned().collect();
        let id = self.id.filter(|_| same);
        let why = self.why.or(other.why);
        let counts_low = self.counts_low && other.counts_low;
        Value { id, tags, why, counts_low, ..Value::new(alts, range).with_row(row) }
    }

    /// It is the one or the other for all lanes of the class. `hard`: what grows is given up.
    pub fn of_ways(&self, other: &Value, hard: bool, lanes: [Mask; 2], dims: Dims) -> Value {
        let same = self.same(other);
        let row = self.row(dims).zip(other.row(dims)).and_then(|(a, b)| {
            let new = a.of_ways(&b, lanes, REGISTER)?;
            (!hard || new == a).then_some(new)
        });
        let mut range = self.range.join(other.range);
        if hard && range != self.range {
            range = Range::FULL;
        }
        let alts = if same { self.alts.clone() } else { joined(&self.alts, &other.alts, hard, REGISTER) };
        let id = self.id.filter(|_| same);
        let why = self.why.or(other.why);
        let counts_low = self.counts_low && other.counts_low;
        Value { id, why, counts_low, ..Value::new(alts, range).with_row(row) }
    }

    /// The lane's number without sign, or with it, as 64 bits.
    pub fn extended(&self, signed: bool, dims: Dims) -> Wide {
        let (lo, hi) = match signed {
            true => (i128::from(self.range.slo), i128::from(self.range.shi)),
            false => (i128::from(self.range.ulo), i128::from(self.range.uhi)),
        };
        let alts: Vec<Lin> = self.alts.iter().flat_map(|l| lift(l, lo, hi, dims)).collect();
        let alts = if alts.len() > MOST { vec![any(&alts)] } else { alts };
        let pattern = self.row(dims).and_then(|row| row.extended(signed, self.range, dims));
        Wide { alts, range: Some((lo, hi)), pattern }
    }

    /// It, or a number it is a half of, has such a name.
    pub fn names(&self, id: impl Fn(Id) -> bool) -> bool {
        self.id.is_some_and(&id) || self.tags.iter().any(|t| id(t.id)) || self.links(id)
    }

    /// It is told from a number with such a name.
    pub fn links(&self, id: impl Fn(Id) -> bool) -> bool {
        self.tags.iter().any(|t| t.from.is_some_and(|f| id(f.0)))
    }

    pub fn forget(&mut self, id: impl Fn(Id) -> bool) {
        if self.id.is_some_and(&id) {
            self.id = None;
        }
        self.tags.retain(|t| !id(t.id));
        self.unlink(id);
    }

    /// Numbers are no longer told from those.
    pub fn unlink(&mut self, id: impl Fn(Id) -> bool) {
        self.tags.iter_mut().for_each(|t| t.from = t.from.filter(|f| !id(f.0)));
    }

    /// The number at a block's beginning that two halves come from, and how much more they are.
    pub fn origin(lo: &Value, hi: &Value) -> Option<(Id, i64)> {
        let halves =
            |t: &&Tag| !t.high && hi.tags.iter().any(|h| h.high && Tag { high: false, ..h.clone() } == **t);
        let from = |t: &Tag| if matches!(t.id, Id::Met(..)) { Some((t.id, 0)) } else { t.from };
        lo.tags.iter().rev().filter(halves).find_map(from)
    }

    pub fn tag(&mut self, tag: Tag) {
        if self.tags.len() == TAGS {
            self.tags.remove(0);
        }
        self.tags.push(tag);
    }

    /// Only what holds whichever way a path took.
    pub fn apart(&mut self) {
        let loose = |l: &Lin| !l.fixed;
        if self.alts.iter().any(loose) {
            let alts = self.alts.iter().map(|l| if l.fixed { *l } else { l.scattered() }).collect();
            self.alts = Value::new(alts, self.range).alts;
        }
        let settled = |p: &Pattern| p.base().fixed;
        self.pattern = self.pattern.take().filter(settled);
        for tag in &mut self.tags {
            let Wide { alts, range, pattern } = &*tag.wide;
            if alts.iter().any(loose) || pattern.as_ref().is_some_and(|p| !settled(p)) {
                let alts = alts.iter().map(|l| if l.fixed { *l } else { l.scattered() }).collect();
                tag.wide = Rc::new(Wide { alts, range: *range, pattern: pattern.clone().filter(settled) });
            }
        }
    }
}

/// What all alternatives have in common for a lane by itself.
pub fn any<'a>(alts: impl IntoIterator<Item = &'a Lin>) -> Lin {
    let all = alts.into_iter().map(Lin::scattered).reduce(|a, b| a.join(&b, ALL));
    all.unwrap_or_else(Lin::unknown)
}

/// A number between the ends of a range in every lane.
fn from_range(alts: &[Lin], range: Range) -> Lin {
    let (residue, grain) = any(alts).alignment();
    let unsigned = i128::from(range.uhi) - i128::from(range.ulo);
    let signed = i128::from(range.shi) - i128::from(range.slo);
    let (lo, hi) = match unsigned <= signed {
        true => (i128::from(range.ulo), i128::from(range.uhi)),
        false => (i128::from(range.slo), i128::from(range.shi)),
    };
    // All numbers: nothing that a range would say.
    if hi - lo >= u32::MAX.into() {
        return Lin::aligned(residue, grain).register();
    }
    Lin::between(lo, hi, low(residue, grain.min(31)), grain.min(31)).register()
}

/// A number modulo 2³² that lies between two, as a number. One function of the lane if no lane can be a whole 2³² away from
/// the others, else two: the lanes after the end of the number line begin again.
fn lift(lin: &Lin, lo: i128, hi: i128, dims: Dims) -> Vec<Lin> {
    let (residue, bits) = lin.alignment();
    let aside = || vec![Lin::between(lo, hi, low(residue, bits.min(31)), bits.min(31))];
    let Some(w) = lin.spread else { return aside() };
    let own = if w == 0 { 0 } else { i128::from(w) << lin.grain.min(64) };
    let (least, most) = dims.extent(lin.steps);
    let span = most - least + own;
    if span >= 1 << 32 {
        return aside();
    }
    if hi - lo + span >= 1 << 32 {
        return vec![*lin; 2];
    }
    if lin.known < REGISTER {
        return vec![*lin];
    }
    // The base lies in less than 2³² numbers, of which one has the residue.
    let (first, last) = (lo - most - own, hi - least);
    let base = first + (i128::from(lin.residue) - first).rem_euclid(1 << 32);
    if base > last {
        return aside();
    }
    vec![Lin { residue: base as u64, known: ALL, ..*lin }]
}

/// Alternatives of both; equal ones are one only if their bases are known.
pub fn alternatives(a: &[Lin], b: &[Lin], width: u32) -> Vec<Lin> {
    let mut all = a.to_vec();
    all.extend(b.iter().filter(|l| !(l.based(width) && a.contains(l))));
    if all.len() > MOST {
        all = vec![any(&all)];
    }
    all
}

/// Alternatives of one or the other way.
fn joined(a: &[Lin], b: &[Lin], hard: bool, width: u32) -> Vec<Lin> {
    let both = |(x, y): (&Lin, &Lin)| {
        let one = x.join(y, width);
        if hard && one.spread != x.spread { one.scattered() } else { one }
    };
    if a.len() == b.len() {
        return a.iter().zip(b).map(both).collect();
    }
    vec![any(a.iter().chain(b))]
}

/// Every alternative of one with every alternative of the other.
pub fn cross(a: &[Lin], b: &[Lin], f: impl Fn(&Lin, &Lin) -> Lin) -> Vec<Lin> {
    let all: Vec<Lin> = a.iter().flat_map(|x| b.iter().map(|y| f(x, y)).collect::<Vec<_>>()).collect();
    if all.len() <= MOST {
        return all;
    }
    vec![any(&all)]
}

impl Wide {
    pub fn exact(value: u64) -> Wide {
        Wide { alts: vec![Lin::exact(value)], range: Some((value.into(), value.into())), pattern: None }
    }

    /// Only functions of the lane.
    pub fn of(alts: Vec<Lin>) -> Wide {
        Wide { alts, range: None, pattern: None }
    }

    /// What lanes have one by one.
    fn row(&self) -> Option<Pattern> {
        let one = || match self.alts.as_slice() {
            [one] => Pattern::same(*one),
            _ => None,
        };
        self.pattern.clone().or_else(one)
    }

    /// The number in two registers.
    pub fn pair(lo: &Value, hi: &Value, dims: Dims) -> Wide {
        let row = lo.row(dims).zip(hi.row(dims)).and_then(|(a, b)| pattern::pair(&a, &b));
        let wide = Wide::pair_linear(lo, hi, dims);
        Wide { pattern: row.or(wide.pattern), ..wide }
    }

    fn pair_linear(lo: &Value, hi: &Value, dims: Dims) -> Wide {
        if let (Some(lo), Some(hi)) = (lo.range.constant(), hi.range.constant()) {
            return Wide::exact(u64::from(lo) | u64::from(hi) << 32);
        }
        let halves = |t: &&Tag| !t.high && hi.tags.iter().any(|h| h.high && h.id == t.id && h.wide == t.wide);
        if let Some(tag) = lo.tags.iter().rev().find(halves) {
            return (*tag.wide).clone();
        }
        if let Some(hi) = hi.range.constant() {
            return lo.extended(false, dims).add(&Wide::exact(u64::from(hi) << 32));
        }
        let high = Wide { range: None, ..hi.extended(false, dims) };
        let range = Some((
            i128::from(hi.range.ulo) << 32 | i128::from(lo.range.ulo),
            i128::from(hi.range.uhi) << 32 | i128::from(lo.range.uhi),
        ));
        // Nothing is known about the two together, but what is known of each.
        let same = hi.only().is_some_and(Lin::same) && lo.only().is_some_and(Lin::same);
        let fixed = same && [lo, hi].iter().all(|v| v.alts.iter().all(|l| l.fixed));
        let (residue, bits) = any(&lo.alts).alignment();
        let one = match same {
            true => Lin { residue, known: bits.min(REGISTER), ..Lin::uniform(fixed) },
            false => Lin::aligned(residue, bits.min(REGISTER)),
        };
        // A high half that all lanes share is one more base: the low half is a function of the lane as before.
        match hi.only().filter(|l| l.same()) {
            Some(_) if !same => Wide { range, ..lo.extended(false, dims).add(&high.shifted(32)) },
            _ => Wide { range, ..Wide::of(vec![one]) },
        }
    }

    pub fn add(&self, other: &Wide) -> Wide {
        let range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => within(a + c, b + d),
            _ => None,
        };
        let rows = self.pattern.is_some() || other.pattern.is_some();
        let pattern = self.row().filter(|_| rows).zip(other.row()).map(|(a, b)| a.add(&b));
        Wide { alts: cross(&self.alts, &other.alts, Lin::add), range, pattern }
    }

    pub fn sub(&self, other: &Wide) -> Wide {
        let negative = Wide {
            alts: other.alts.iter().map(Lin::neg).collect(),
            range: other.range.map(|(a, b)| (-b, -a)),
            pattern: other.pattern.as_ref().map(Pattern::neg),
        };
        self.add(&negative)
    }

    pub fn shifted(&self, by: u32) -> Wide {
        let by = by & 63;
        let scale = |l: &Lin| match by {
            63 => Lin::aligned(0, 63),
            by => l.scale(1 << by),
        };
        let range = self.range.and_then(|(a, b)| within(a.checked_shl(by)?, b.checked_shl(by)?));
        let pattern = self.pattern.as_ref().filter(|_| by < 63).map(|p| p.scale(1 << by));
        Wide { alts: self.alts.iter().map(scale).collect(), range: range.filter(|_| by < 48), pattern }
    }

    /// Some lanes have this, some that; `same`: it is the same number.
    pub fn of_lanes(&self, other: &Wide, same: bool, lanes: [Mask; 2]) -> Wide {
        let row = self.row().zip(other.row());
        let pattern = row.and_then(|(a, b)| a.of_lanes(&b, lanes, ALL, same));
        let alts = match same {
            true => self.alts.clone(),
            false => alternatives(&self.alts, &other.alts, ALL),
        };
        Wide { alts, range: hull(self.range, other.range), pattern }
    }

    pub fn of_ways(&self, other: &Wide, hard: bool, lanes: [Mask; 2]) -> Wide {
        let row = self.pattern.as_ref().zip(other.pattern.as_ref());
        let row = row.and_then(|(a, b)| Some((a, a.of_ways(b, lanes, ALL)?)));
        let pattern = row.and_then(|(a, new)| (!hard || new == *a).then_some(new));
        let range = hull(self.range, other.range).filter(|r| !hard || Some(*r) == self.range);
        Wide { alts: joined(&self.alts, &other.alts, hard, ALL), range, pattern }
    }

    /// The range of the numbers, from what is said of the range and of the base.
    pub fn bounds(&self, dims: Dims) -> Option<(u64, u64)> {
        let of = |l: &Lin| {
            let w = l.spread.filter(|_| l.based(ALL))?;
            let (least, most) = dims.extent(l.steps);
            let own = if w == 0 { 0 } else { i128::from(w).checked_mul(1i128.checked_shl(l.grain)?)? };
            Some((i128::from(l.residue) + least, i128::from(l.residue) + most + own))
        };
        let exact = self.alts.iter().map(of).reduce(|a, b| Some(union(a?, b?))).flatten();
        let fits = |(lo, hi): (i128, i128)| Some((u64::try_from(lo).ok()?, u64::try_from(hi).ok()?));
        match (exact.and_then(fits), self.range.and_then(fits)) {
            (Some((a, b)), Some((c, d))) if a.max(c) <= b.min(d) => Some((a.max(c), b.min(d))),
            (a, b) => a.or(b),
        }
    }
}

fn union(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    (a.0.min(b.0), a.1.max(b.1))
}

fn hull(a: Option<(i128, i128)>, b: Option<(i128, i128)>) -> Option<(i128, i128)> {
    Some(union(a?, b?))
}

/// Bounds that are worth keeping.
fn within(lo: i128, hi: i128) -> Option<(i128, i128)> {
    (lo > -(1 << 66) && hi < 1 << 66).then_some((lo, hi))
}
