//! From a followed round to a limit: the rules of docs/facts.md, "The calculus", one function each. A comparison must have
//! come out one way on every edge back (*passes*), of a register that moves by a known step (*moves*), in a way that fits
//! the step (*fits*); a register of lanes is followed in one lane, which must have been on all the time (*one lane*).

use super::bdd::Fun;
use super::bound::{self, Step, Test};
use super::eval::EXEC;
use super::found::Moved;
use super::known::SideCondition;
use super::point::{Cases, Sym, possible};
use super::range::{Range, Rel};
use super::round::{Compared, Round};
use super::state::{Side, State};
use super::values::joined;
use std::collections::BTreeSet;
use wb_flowproof::{Form, Witness};
use wb_isa::Pc;

/// A limit and what it rests on.
#[derive(Clone, Debug)]
pub struct Proof {
    pub max: u64,
    pub register: Side,
    pub init: Range,
    pub step: Step,
    pub rel: Rel,
    pub signed: bool,
    pub test: Pc,
    pub truth: bool,
    /// The register is the second side of the comparison.
    pub second: bool,
    /// What is compared, made of the register at the header.
    pub tested: Sym,
    pub other: Side,
    pub limit: Range,
    pub fixed: bool,
    pub argument: Option<u32>,
    /// The lane that the proof speaks of on each edge back; none: all lanes.
    pub witnesses: Vec<(Pc, Option<Witness>)>,
}

/// An edge back: what holds for every lane, for lanes that are on next round, and for some lane in turn.
struct Latch {
    from: Pc,
    all: Fun,
    on: Fun,
    some: Vec<(Fun, Witness)>,
}

/// The lane of an edge back: what holds for it, and its name; without a name all lanes.
type Chosen = (Fun, Option<Witness>);

/// The best limit that follows, and the registers that move by a known step.
pub fn prove(round: &mut Round, entries: &[State]) -> Option<(Proof, Vec<Moved>)> {
    let head = round.header.mask(EXEC, &mut round.bdd);
    let latches = latches(round);
    let mut best: Option<(Proof, Vec<Fun>)> = None;
    for i in 0..round.compared.len() {
        let compared = round.compared[i].clone();
        for truth in [true, false] {
            for (proof, whens) in sides(round, &latches, head, &compared, truth, entries) {
                if best.as_ref().is_none_or(|b| proof.max < b.0.max) {
                    best = Some((proof, whens));
                }
            }
        }
    }
    if round.bdd.overflow {
        return None;
    }
    let (proof, whens) = best?;
    let moved = moves(round, &latches, head, &whens, entries, proof.max);
    (!round.bdd.overflow).then_some((proof, moved))
}

fn latches(round: &mut Round) -> Vec<Latch> {
    let mut latches = Vec::new();
    for i in 0..round.latches.len() {
        let (from, mut point) = round.latches[i].clone();
        let exec = point.mask(EXEC, &mut round.header, &mut round.bdd);
        let on = round.bdd.and(point.reach, exec);
        let some = point.exists.iter().map(|&(f, lane)| (round.bdd.and(point.reach, f), lane)).collect();
        latches.push(Latch { from, all: point.reach, on, some });
    }
    latches
}

/// Proofs with one side of the comparison as the register that moves, and what holds for the lanes they speak of.
fn sides(
    round: &mut Round,
    latches: &[Latch],
    head: Fun,
    compared: &Compared,
    truth: bool,
    entries: &[State],
) -> Vec<(Proof, Vec<Fun>)> {
    let holds = if truth { compared.holds } else { round.bdd.not(compared.holds) };
    let rel = if truth { compared.cond.rel } else { compared.cond.rel.not() };
    // Passes: on each edge back some lane passed the test, if possible one that was on at the header.
    let passes = |round: &mut Round, f: Fun| round.bdd.implies(f, holds) && round.bdd.implies(f, compared.on);
    let passes_on = |round: &mut Round, f: Fun| passes(round, f) && round.bdd.implies(f, head);
    let chosen: Option<Vec<Chosen>> = latches
        .iter()
        .map(|l| witness(round, l, &passes_on).or_else(|| witness(round, l, &passes)))
        .collect();
    let Some(chosen) = chosen else { return Vec::new() };
    // One lane: a lane that is on after the edge back was on at the header and passed, and so did the chosen one.
    let one_lane = latches
        .iter()
        .zip(&chosen)
        .all(|(latch, lane)| passes_on(round, latch.on) && passes_on(round, lane.0));
    let whens: Vec<Fun> = chosen.iter().map(|c| c.0).collect();
    let whens_one: Vec<Fun> = whens.iter().copied().chain(latches.iter().map(|l| l.on)).collect();
    let (c, mut out) = (compared.cond, Vec::new());
    for (second, x, y, rel, other) in
        [(false, &compared.a, &compared.b, rel, c.b), (true, &compared.b, &compared.a, rel.swap(), c.a)]
    {
        let Some((base, _)) = moving(round, &x.0, &whens) else { continue };
        let whens = match base {
            Side::Number(_) => continue,
            Side::Vector(_) if !one_lane => continue,
            Side::Vector(_) => &whens_one,
            Side::Scalar(_) => &whens,
        };
        let Some((_, tested)) = moving(round, &x.0, whens).filter(|m| m.0 == base) else { continue };
        let Some(step) = step(round, base, whens) else { continue };
        let Some(init) = joined(entries, base) else { continue };
        // Same lane: a limit that differs between lanes stays only if it is the same lane in all rounds.
        let skipped = round.values.skips(SideCondition::SameLane);
        let fixed = match other {
            _ if y.1.constant().is_some() => true,
            Side::Vector(_) if skipped => same(round, &y.0, other, whens),
            Side::Vector(_) => one_lane && same(round, &y.0, other, &whens_one),
            Side::Scalar(_) | Side::Number(_) => same(round, &y.0, other, whens),
        };
        let loose = round.values.skips(SideCondition::TestFitsStep);
        let Some((first, step_tested, slack)) = course(init, tested, step, c.signed, loose) else { continue };
        let test = Test { first, step: step_tested, rel, signed: c.signed, limit: y.1, fixed, slack };
        if let Some(max) = bound::rounds(&test) {
            let witnesses = latches.iter().zip(&chosen).map(|(l, c)| (l.from, c.1)).collect();
            let proof = Proof {
                max,
                register: base,
                init,
                step,
                rel,
                signed: c.signed,
                test: compared.pc,
                truth,
                second,
                tested,
                other,
                limit: y.1,
                fixed,
                argument: compared.argument,
                witnesses,
            };
            out.push((proof, whens.clone()));
        }
    }
    out
}

/// All lanes, or a lane that must exist, for which something holds on an edge back.
fn witness(round: &mut Round, latch: &Latch, fits: &dyn Fn(&mut Round, Fun) -> bool) -> Option<Chosen> {
    if fits(round, latch.all) {
        return Some((latch.all, None));
    }
    latch.some.iter().find(|s| fits(round, s.0)).map(|s| (s.0, Some(s.1)))
}

/// Fits: what is tested in the first round, how that moves, and how far it differs from what moves. The form of the test
/// must go with the step, or what is tested does not move like the counter.
fn course(init: Range, tested: Sym, step: Step, signed: bool, loose: bool) -> Option<(Range, Step, i64)> {
    match (tested, step) {
        (Sym::Plus { lo, hi, .. }, Step::Add(..)) => {
            Some((first_value(init, lo, hi, signed)?, step, hi - lo))
        }
        // (x + s) << n is (x << n) + s · 2ⁿ, modulo 2³².
        (Sym::Shifted { left: true, by, .. }, Step::Add(lo, hi)) if !loose => {
            let times = 1i64.checked_shl(by)?;
            Some((init.shl(Range::exact(by)), Step::Add(lo.checked_mul(times)?, hi.checked_mul(times)?), 0))
        }
        (Sym::Plus { lo: 0, hi: 0, .. }, Step::Left(_) | Step::Right(_)) => Some((init, step, 0)),
        (Sym::Shifted { left: true, by, .. }, Step::Left(_)) => Some((init.shl(Range::exact(by)), step, 0)),
        (Sym::Shifted { left: false, by, .. }, Step::Right(_)) => Some((init.shr(Range::exact(by)), step, 0)),
        (Sym::Shifted { left, by, .. }, _) if loose => {
            Some((if left { init.shl(Range::exact(by)) } else { init.shr(Range::exact(by)) }, step, 0))
        }
        (Sym::Plus { lo, hi, .. }, _) if loose => Some((first_value(init, lo, hi, signed)?, step, 0)),
        (Sym::Plus { .. } | Sym::Shifted { .. } | Sym::Unknown, _) => None,
    }
}

/// The register plus something; if that is not one number, it must not wrap in the reading of the test.
fn first_value(init: Range, lo: i64, hi: i64, signed: bool) -> Option<Range> {
    if lo == hi {
        return Some(init.add(Range::exact(lo as u32)));
    }
    if signed {
        let low = i32::try_from(i64::from(init.slo) + lo).ok()?;
        return Some(Range::signed(low, i32::try_from(i64::from(init.shi) + hi).ok()?));
    }
    let low = u32::try_from(i64::from(init.ulo) + lo).ok()?;
    Some(Range::unsigned(low, u32::try_from(i64::from(init.uhi) + hi).ok()?))
}

/// The register a value is made of, and how, the same under all conditions.
fn moving(round: &mut Round, cases: &Cases, whens: &[Fun]) -> Option<(Side, Sym)> {
    let all: BTreeSet<Sym> = whens.iter().flat_map(|&w| possible(cases, w, &mut round.bdd)).collect();
    let mut result: Option<Sym> = None;
    for sym in all {
        result = Some(match (result, sym) {
            (None, Sym::Plus { .. } | Sym::Shifted { .. }) => sym,
            (Some(Sym::Plus { base, lo, hi }), Sym::Plus { base: b, lo: l, hi: h }) if base == b => {
                Sym::Plus { base, lo: lo.min(l), hi: hi.max(h) }
            }
            _ => return None,
        });
    }
    match result? {
        sym @ (Sym::Plus { base, .. } | Sym::Shifted { base, .. }) => Some((base, sym)),
        Sym::Unknown => None,
    }
}

/// How a register gets from one header to the next. `whens` are conditions on the edges back, in their order, once or
/// twice.
fn step(round: &mut Round, register: Side, whens: &[Fun]) -> Option<Step> {
    let mut all = BTreeSet::new();
    for (i, &when) in whens.iter().enumerate() {
        let cases = round.latches[i % round.latches.len()].1.get(register);
        all.extend(possible(&cases, when, &mut round.bdd));
    }
    let mut result: Option<Step> = None;
    for sym in all {
        result = Some(match (result, sym) {
            (None, Sym::Plus { base, lo, hi }) if base == register => Step::Add(lo, hi),
            (Some(Step::Add(l, h)), Sym::Plus { base, lo, hi }) if base == register => {
                Step::Add(l.min(lo), h.max(hi))
            }
            (None, Sym::Shifted { base, left, by }) if base == register => match left {
                true => Step::Left(by),
                false => Step::Right(by),
            },
            _ => return None,
        });
    }
    result
}

/// The register behind a side keeps its value all the time.
fn same(round: &mut Round, cases: &Cases, side: Side, whens: &[Fun]) -> bool {
    let Some((base, sym)) = moving(round, cases, whens) else { return false };
    sym == Sym::same(base) && base == side && step(round, base, whens) == Some(Step::Add(0, 0))
}

/// Moves: registers that move by a known step, and where they are at the header in every round when the loop goes round at
/// most `max` times. A register of lanes speaks of lanes that are on at the header: they must have been on at the header
/// before, or the register's first value is not known.
fn moves(
    round: &mut Round,
    latches: &[Latch],
    head: Fun,
    whens: &[Fun],
    entries: &[State],
    max: u64,
) -> Vec<Moved> {
    let registers: BTreeSet<Side> =
        round.latches.iter().flat_map(|p| p.1.changed().collect::<Vec<_>>()).collect();
    let on: Vec<Fun> = latches.iter().map(|l| l.on).collect();
    let were_on = on.iter().all(|&f| round.bdd.implies(f, head));
    let were_on = were_on || round.values.skips(SideCondition::LanesWereOn);
    let mut out = Vec::new();
    for register in registers {
        let whens = match register {
            Side::Vector(_) if !were_on => continue,
            Side::Vector(_) => &on,
            Side::Scalar(_) => &whens[..latches.len()],
            Side::Number(_) => continue,
        };
        let (Some(Step::Add(lo, hi)), Some(init)) = (step(round, register, whens), joined(entries, register))
        else {
            continue;
        };
        let Ok(max) = i64::try_from(max) else { continue };
        let (Some(low), Some(high)) = (lo.checked_mul(max), hi.checked_mul(max)) else { continue };
        let (low, high) = (low.min(0), high.max(0));
        let signed = (i64::from(init.slo) + low, i64::from(init.shi) + high);
        let unsigned = (i64::from(init.ulo) + low, i64::from(init.uhi) + high);
        let s =
            i32::try_from(signed.0).ok().zip(i32::try_from(signed.1).ok()).map(|(a, b)| Range::signed(a, b));
        let u = u32::try_from(unsigned.0)
            .ok()
            .zip(u32::try_from(unsigned.1).ok())
            .map(|(a, b)| Range::unsigned(a, b));
        let range = match (s, u) {
            (Some(s), Some(u)) => s.meet(u),
            (one, other) => one.or(other),
        };
        out.extend(range.map(|within| Moved { register, lo, hi, within }));
    }
    out
}

/// The lanes of a loop over the bits of a mask: on every edge back one of them has its bit in `pair`.
pub fn bit_is_left(round: &mut Round, pair: u8) -> Option<Vec<(Pc, Option<Witness>)>> {
    let mut lanes = Vec::new();
    for latch in latches(round) {
        let at = round.latches.iter().position(|l| l.0 == latch.from)?;
        let mut point = round.latches[at].1.clone();
        let mask = point.mask(pair, &mut round.header, &mut round.bdd);
        let (_, lane) = witness(round, &latch, &|round, f| round.bdd.implies(f, mask))?;
        lanes.push((latch.from, lane));
    }
    (!round.bdd.overflow).then_some(lanes)
}

impl Step {
    /// As the checker reads it.
    pub fn form(self) -> Form {
        match self {
            Step::Add(lo, hi) => Form::Plus(lo, hi),
            Step::Left(by) => Form::Left(by),
            Step::Right(by) => Form::Right(by),
        }
    }
}

impl Sym {
    pub fn form(self) -> Option<Form> {
        match self {
            Sym::Unknown => None,
            Sym::Plus { lo, hi, .. } => Some(Form::Plus(lo, hi)),
            Sym::Shifted { left: true, by, .. } => Some(Form::Left(by)),
            Sym::Shifted { left: false, by, .. } => Some(Form::Right(by)),
        }
    }
}

/// The loop cannot go round at all: no edge back can be taken.
pub fn never(round: &Round) -> bool {
    round.latches.is_empty()
}
