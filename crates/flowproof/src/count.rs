//! The arithmetic of counted loops, as a check: given the first value, the step and the limit, the test cannot pass more
//! than `max` times in a row. Everything is exact in wide integers.

use crate::format::{Form, Rel};
use crate::interval::Interval;

/// `tested rel other` must hold for the loop to go round.
pub struct Test {
    /// The counter at the header of the first round.
    pub counter: Interval,
    pub tested: Form,
    pub step: Form,
    pub rel: Rel,
    pub signed: bool,
    /// Values of the other side, in any round.
    pub other: Interval,
    /// The other side is the same in all rounds.
    pub fixed: bool,
}

/// What is tested in the first round, and how it moves from round to round: the form of the test must fit the step.
enum Course {
    /// First value and step, both in intervals; `slack`: what is tested is up to this much more, differently each round.
    Adds {
        first: Interval,
        lo: i128,
        hi: i128,
        slack: i128,
    },
    Left {
        first: Interval,
        by: u32,
    },
    Right {
        first: Interval,
        by: u32,
    },
}

fn course(test: &Test) -> Option<Course> {
    let c = test.counter;
    Some(match (test.tested, test.step) {
        (Form::Plus(o, p), Form::Plus(lo, hi)) => {
            let first = if o == p { c.plus(Interval::just(o as u32)) } else { sum(c, o, p, test.signed)? };
            Course::Adds { first, lo: lo.into(), hi: hi.into(), slack: i128::from(p) - i128::from(o) }
        }
        // (c + s) << n is (c << n) + s · 2ⁿ, modulo 2³².
        (Form::Left(n), Form::Plus(lo, hi)) if n < 32 => Course::Adds {
            first: c.left(Interval::just(n)),
            lo: i128::from(lo) << n,
            hi: i128::from(hi) << n,
            slack: 0,
        },
        (Form::Plus(0, 0), Form::Left(by)) => Course::Left { first: c, by },
        (Form::Left(n), Form::Left(by)) => Course::Left { first: c.left(Interval::just(n)), by },
        (Form::Plus(0, 0), Form::Right(by)) => Course::Right { first: c, by },
        (Form::Right(n), Form::Right(by)) => Course::Right { first: c.right(Interval::just(n)), by },
        _ => return None,
    })
}

/// A sum with something in an interval that must not wrap in the reading of the test.
fn sum(c: Interval, lo: i64, hi: i64, signed: bool) -> Option<Interval> {
    match signed {
        true => {
            let low = i32::try_from(i64::from(c.s.0) + lo).ok()?;
            Some(Interval::signed(low, i32::try_from(i64::from(c.s.1) + hi).ok()?))
        }
        false => {
            let low = u32::try_from(i64::from(c.u.0) + lo).ok()?;
            Some(Interval::unsigned(low, u32::try_from(i64::from(c.u.1) + hi).ok()?))
        }
    }
}

fn read(i: Interval, signed: bool) -> (i128, i128) {
    if signed { (i.s.0.into(), i.s.1.into()) } else { (i.u.0.into(), i.u.1.into()) }
}

fn line(signed: bool) -> (i128, i128) {
    if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) }
}

/// The test cannot pass more than `max` times in a row.
pub fn at_most(test: &Test, max: u64) -> bool {
    let rounds = i128::from(max);
    let (least_other, most_other) = read(test.other, test.signed);
    let (bottom, top) = line(test.signed);
    match course(test) {
        None => false,
        Some(Course::Adds { first, lo, hi, slack }) if lo >= 1 => {
            let last = match test.rel {
                Rel::Lt => most_other - 1,
                Rel::Le => most_other,
                Rel::Ne => return meets(test, first, (lo, hi), slack, rounds, true),
                Rel::Gt | Rel::Ge | Rel::Eq => return false,
            };
            let (start, _) = read(first, test.signed);
            // A value that passes is at most `last`; the next one must not wrap. After `max` rounds it is above.
            start > last || last + hi + slack <= top && start + rounds * lo > last
        }
        Some(Course::Adds { first, lo, hi, slack }) if hi <= -1 => {
            let last = match test.rel {
                Rel::Gt => least_other + 1,
                Rel::Ge => least_other,
                Rel::Ne => return meets(test, first, (-hi, -lo), slack, rounds, false),
                Rel::Lt | Rel::Le | Rel::Eq => return false,
            };
            let (_, start) = read(first, test.signed);
            start < last || last + lo - slack >= bottom && start + rounds * hi < last
        }
        Some(Course::Adds { .. }) => false,
        Some(Course::Left { first, by }) => {
            let last = match test.rel {
                Rel::Lt => most_other - 1,
                Rel::Le => most_other,
                Rel::Gt | Rel::Ge | Rel::Eq | Rel::Ne => return false,
            };
            let (start, _) = read(first, test.signed);
            let grown = start.checked_shl(by.saturating_mul(max.min(64) as u32).min(64)).unwrap_or(i128::MAX);
            (1..32).contains(&by) && start >= 1 && last <= top >> by && grown > last
        }
        Some(Course::Right { first, by }) => {
            let least = match test.rel {
                Rel::Ne if test.other.value() == Some(0) => 1,
                Rel::Gt => least_other + 1,
                Rel::Ge => least_other,
                Rel::Ne | Rel::Lt | Rel::Le | Rel::Eq => return false,
            };
            let signed = test.signed && test.rel != Rel::Ne;
            if by == 0 || least < 1 {
                return false;
            }
            // Read with sign, a negative value fails at once; otherwise it is as large as without.
            let largest = match signed {
                true if first.s.1 < 0 => return true,
                true => i128::from(first.u.1.min(i32::MAX as u32)),
                false => first.u.1.into(),
            };
            largest >> by.saturating_mul(max.min(64) as u32).min(127) < least
        }
    }
}

/// It moves towards a value that stays, in steps that cannot pass over it.
fn meets(test: &Test, first: Interval, (lo, hi): (i128, i128), slack: i128, rounds: i128, up: bool) -> bool {
    if !test.fixed || lo != hi || slack != 0 {
        return false;
    }
    [true, false].into_iter().any(|signed| {
        let (f, o) = (read(first, signed), read(test.other, signed));
        let (near, far) = if up { (o.0 - f.1, o.1 - f.0) } else { (f.0 - o.1, f.1 - o.0) };
        let lands = lo == 1 || near == far && near % lo == 0;
        near >= 0 && lands && rounds * lo >= far - far % lo
    })
}
