//! From a followed round to a limit (wcet.md, pipeline 2): a comparison that must have come out one way on every edge back,
//! of a register that moves by a known step on every edge back. For a register of lanes the lane for which the loop goes
//! on must have been on, and moved, in every round before; the diagrams show that.

use super::bdd::Fun;
use super::bound::{self, Step, Test};
use super::eval::EXEC;
use super::point::{Cases, Sym, possible};
use super::range::{Range, Rel};
use super::round::{Compared, Round};
use super::state::{Side, State};
use super::values::joined;
use std::collections::BTreeSet;
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
    /// What is compared is the register plus or shifted by this when the test is made.
    pub offset: (i64, i64),
    pub other: Side,
    pub limit: Range,
    pub argument: Option<u32>,
}

/// An edge back: what holds for every lane, for lanes that are on next round, and for some lane in turn.
struct Latch {
    all: Fun,
    on: Fun,
    some: Vec<Fun>,
}

/// The best limit that follows, and the ranges registers have at the header in every round because of it.
pub fn prove(round: &mut Round, entries: &[State]) -> Option<(Proof, Vec<(Side, Range)>)> {
    let head = round.header.mask(EXEC, &mut round.bdd);
    let mut latches = Vec::new();
    for i in 0..round.latches.len() {
        let mut point = round.latches[i].clone();
        let exec = point.mask(EXEC, &mut round.header, &mut round.bdd);
        let on = round.bdd.and(point.reach, exec);
        let some = point.exists.iter().map(|&f| round.bdd.and(point.reach, f)).collect();
        latches.push(Latch { all: point.reach, on, some });
    }
    let mut best: Option<Proof> = None;
    for i in 0..round.compared.len() {
        let compared = round.compared[i].clone();
        for truth in [true, false] {
            for proof in sides(round, &latches, head, &compared, truth, entries) {
                if best.as_ref().is_none_or(|b| proof.max < b.max) {
                    best = Some(proof);
                }
            }
        }
    }
    if round.bdd.overflow {
        return None;
    }
    let proof = best?;
    let ranges = clamps(round, &latches, entries, proof.max);
    (!round.bdd.overflow).then_some((proof, ranges))
}

/// Proofs with one side of the comparison as the register that moves.
fn sides(
    round: &mut Round,
    latches: &[Latch],
    head: Fun,
    compared: &Compared,
    truth: bool,
    entries: &[State],
) -> Vec<Proof> {
    let holds = if truth { compared.holds } else { round.bdd.not(compared.holds) };
    let rel = if truth { compared.cond.rel } else { compared.cond.rel.not() };
    // Once for a register of all lanes together, once for a register of each lane.
    let Some(together) = witnesses(round, latches, |round, f| {
        round.bdd.implies(f, holds) && round.bdd.implies(f, compared.on)
    }) else {
        return Vec::new();
    };
    let each: bool = latches.iter().zip(&together).all(|(latch, &witness)| {
        let fits = |round: &mut Round, f: Fun| {
            round.bdd.implies(f, holds) && round.bdd.implies(f, compared.on) && round.bdd.implies(f, head)
        };
        fits(round, latch.on) && fits(round, witness)
    });
    let (c, mut out) = (compared.cond, Vec::new());
    for (x, y, rel, other) in
        [(&compared.a, &compared.b, rel, c.b), (&compared.b, &compared.a, rel.swap(), c.a)]
    {
        let Some((base, first)) = moving(round, &x.0, &together) else { continue };
        let lanes = matches!(base, Side::Vector(_));
        let mut whens = together.clone();
        if lanes {
            if !each {
                continue;
            }
            whens.extend(latches.iter().map(|l| l.on));
            if moving(round, &x.0, &whens) != Some((base, first)) {
                continue;
            }
        }
        let Some(step) = step(round, base, &whens) else { continue };
        let fixed = y.1.constant().is_some() || same(round, &y.0, other, &whens);
        let Some(init) = joined(entries, base) else { continue };
        let Some((start, offset)) = first_value(init, first, c.signed) else { continue };
        let slack = if matches!(step, Step::Add(..)) { offset.1 - offset.0 } else { 0 };
        let test = Test { first: start, step, rel, signed: c.signed, limit: y.1, fixed, slack };
        if let Some(max) = bound::rounds(&test) {
            out.push(Proof {
                max,
                register: base,
                init,
                step,
                rel,
                signed: c.signed,
                test: compared.pc,
                offset,
                other,
                limit: y.1,
                argument: compared.argument,
            });
        }
    }
    out
}

/// For each edge back something that holds for a lane at least and fits.
fn witnesses(
    round: &mut Round,
    latches: &[Latch],
    fits: impl Fn(&mut Round, Fun) -> bool,
) -> Option<Vec<Fun>> {
    latches
        .iter()
        .map(|latch| latch.some.iter().chain([&latch.all]).copied().find(|&f| fits(round, f)))
        .collect()
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
        let cases = round.latches[i % round.latches.len()].get(register);
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

/// What the test sees in the first round, and how that differs from the register.
fn first_value(init: Range, sym: Sym, signed: bool) -> Option<(Range, (i64, i64))> {
    match sym {
        Sym::Plus { lo, hi, .. } if lo == hi => Some((init.add(Range::exact(lo as u32)), (lo, hi))),
        Sym::Plus { lo, hi, .. } if signed => {
            let low = i32::try_from(i64::from(init.slo) + lo).ok()?;
            let high = i32::try_from(i64::from(init.shi) + hi).ok()?;
            Some((Range::signed(low, high), (lo, hi)))
        }
        Sym::Plus { lo, hi, .. } => {
            let low = u32::try_from(i64::from(init.ulo) + lo).ok()?;
            let high = u32::try_from(i64::from(init.uhi) + hi).ok()?;
            Some((Range::unsigned(low, high), (lo, hi)))
        }
        Sym::Shifted { left: true, by, .. } => Some((init.shl(Range::exact(by)), (by.into(), by.into()))),
        Sym::Shifted { left: false, by, .. } => Some((init.shr(Range::exact(by)), (by.into(), by.into()))),
        Sym::Unknown => None,
    }
}

/// Ranges at the header for all registers that move by a known step, when the loop goes round at most `max` times.
fn clamps(round: &mut Round, latches: &[Latch], entries: &[State], max: u64) -> Vec<(Side, Range)> {
    let registers: BTreeSet<Side> =
        round.latches.iter().flat_map(|p| p.changed().collect::<Vec<_>>()).collect();
    let mut out = Vec::new();
    for register in registers {
        let whens: Vec<Fun> = match register {
            Side::Vector(_) => latches.iter().map(|l| l.on).collect(),
            _ => latches.iter().map(|l| l.some.first().copied().unwrap_or(l.all)).collect(),
        };
        let (Some(Step::Add(lo, hi)), Some(init)) =
            (step(round, register, &whens), joined(entries, register))
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
        out.extend(range.map(|r| (register, r)));
    }
    out
}

/// The loop cannot go round at all: no edge back can be taken.
pub fn never(round: &Round) -> bool {
    round.latches.is_empty()
}
