//! How often a test can succeed when what it tests moves by the same kind of step each round: the arithmetic behind a
//! proof, apart from code. Wrap-around must be impossible while the test succeeds, or there is no limit.

use super::range::{Range, Rel};

/// How the tested value goes from one round to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Grows by something in this interval.
    Add(i64, i64),
    /// Shifted left, or right without sign, by this many bits.
    Left(u32),
    Right(u32),
}

/// `x rel y` as it must hold for the loop to go round.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// What is tested in the first round.
    pub first: Range,
    pub step: Step,
    pub rel: Rel,
    pub signed: bool,
    /// Values the other side can have, in any round.
    pub limit: Range,
    /// The other side is the same in all rounds.
    pub fixed: bool,
    /// The tested value is up to this much more than what moves, differently in every round.
    pub slack: i64,
}

/// Limits beyond this are of no use: what they rest on is not known.
const USEFUL: u64 = 1 << 30;

/// In how many rounds in a row the test can hold.
pub fn rounds(test: &Test) -> Option<u64> {
    let n = match test.step {
        Step::Add(lo, hi) if lo >= 1 => up(test, lo, hi),
        Step::Add(lo, hi) if hi <= -1 => down(test, -hi, -lo),
        Step::Add(..) => None,
        Step::Right(by) if by >= 1 => right(test, by),
        Step::Left(by) if by >= 1 => left(test, by),
        Step::Left(_) | Step::Right(_) => None,
    }?;
    (n < USEFUL).then_some(n)
}

/// Ends of the number line and of the two values, in the reading of the test.
struct Line {
    min: i64,
    max: i64,
    first: (i64, i64),
    limit: (i64, i64),
}

fn line(test: &Test, signed: bool) -> Line {
    let ends = |r: Range| match signed {
        true => (r.slo.into(), r.shi.into()),
        false => (r.ulo.into(), r.uhi.into()),
    };
    let (min, max) = if signed { (i32::MIN.into(), i32::MAX.into()) } else { (0, u32::MAX.into()) };
    Line { min, max, first: ends(test.first), limit: ends(test.limit) }
}

/// Steps of `lo..=hi`, all positive.
fn up(test: &Test, lo: i64, hi: i64) -> Option<u64> {
    let (line, last) = match test.rel {
        Rel::Lt => {
            let l = line(test, test.signed);
            let last = l.limit.1 - 1;
            (l, last)
        }
        Rel::Le => {
            let l = line(test, test.signed);
            let last = l.limit.1;
            (l, last)
        }
        Rel::Ne => return meets(test, lo, hi, true),
        _ => return None,
    };
    // The largest value that passes must not wrap in the next step.
    if last.checked_add(hi)?.checked_add(test.slack)? > line.max {
        return None;
    }
    if line.first.0 > last {
        return Some(0);
    }
    Some(((last - line.first.0) / lo + 1) as u64)
}

/// Steps of −hi..=−lo.
fn down(test: &Test, lo: i64, hi: i64) -> Option<u64> {
    let (line, last) = match test.rel {
        Rel::Gt => {
            let l = line(test, test.signed);
            let last = l.limit.0 + 1;
            (l, last)
        }
        Rel::Ge => {
            let l = line(test, test.signed);
            let last = l.limit.0;
            (l, last)
        }
        Rel::Ne => return meets(test, lo, hi, false),
        _ => return None,
    };
    if last.checked_sub(hi)?.checked_sub(test.slack)? < line.min {
        return None;
    }
    if line.first.1 < last {
        return Some(0);
    }
    Some(((line.first.1 - last) / lo + 1) as u64)
}

/// Until the value meets a fixed one: it must come towards it and cannot step over it.
fn meets(test: &Test, lo: i64, hi: i64, rising: bool) -> Option<u64> {
    if !test.fixed || lo != hi || test.slack != 0 {
        return None;
    }
    [true, false]
        .into_iter()
        .filter_map(|signed| {
            let l = line(test, signed);
            // Distances that are left in the first round.
            let (least, most) = match rising {
                true => (l.limit.0 - l.first.1, l.limit.1 - l.first.0),
                false => (l.first.0 - l.limit.1, l.first.1 - l.limit.0),
            };
            let exact = least == most && least % lo == 0;
            (least >= 0 && (lo == 1 || exact)).then_some((most / lo) as u64)
        })
        .min()
}

/// Halving: the value is largest in the first round and never below zero.
fn right(test: &Test, by: u32) -> Option<u64> {
    let least = match (test.rel, test.signed) {
        (Rel::Ne, _) if test.limit.constant() == Some(0) => 1,
        (Rel::Gt, false) => u64::from(test.limit.ulo) + 1,
        (Rel::Ge, false) => u64::from(test.limit.ulo),
        (Rel::Gt, true) => u64::try_from(i64::from(test.limit.slo) + 1).ok()?,
        (Rel::Ge, true) => u64::try_from(i64::from(test.limit.slo)).ok()?,
        _ => return None,
    };
    if least == 0 {
        return None;
    }
    // A value that reads as negative fails the signed tests at once, but may pass the others.
    let signed = test.signed && test.rel != Rel::Ne;
    if signed && test.first.shi < 0 {
        return Some(0);
    }
    let largest = u64::from(if signed { test.first.uhi.min(i32::MAX as u32) } else { test.first.uhi });
    Some((0..33).take_while(|k| largest >> (k * u64::from(by)).min(63) >= least).count() as u64)
}

/// Doubling: a value that is not zero reaches any limit unless bits fall off first.
fn left(test: &Test, by: u32) -> Option<u64> {
    let l = line(test, test.signed);
    let last = match test.rel {
        Rel::Lt => l.limit.1 - 1,
        Rel::Le => l.limit.1,
        _ => return None,
    };
    if l.first.0 < 1 || by > 31 || last > l.max >> by {
        return None;
    }
    Some((0..33).take_while(|k| l.first.0 << (k * i64::from(by)).min(33) <= last).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *seed;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn holds(rel: Rel, signed: bool, x: u32, y: u32) -> bool {
        let o = if signed { (x as i32).cmp(&(y as i32)) } else { x.cmp(&y) };
        match rel {
            Rel::Lt => o.is_lt(),
            Rel::Le => o.is_le(),
            Rel::Gt => o.is_gt(),
            Rel::Ge => o.is_ge(),
            Rel::Eq => o.is_eq(),
            Rel::Ne => o.is_ne(),
        }
    }

    /// Rounds in a row, counted, up to a little more than `most`.
    fn count(mut x: u32, step: impl Fn(u32, u64) -> u32, pass: impl Fn(u32, u64) -> bool, most: u64) -> u64 {
        let mut n = 0;
        while n <= most && pass(x, n) {
            n += 1;
            x = step(x, n);
        }
        n
    }

    #[test]
    fn limits_hold_and_are_exact_for_constants() {
        let rels = [Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Eq, Rel::Ne];
        let bases = [0u32, 1, 5, 100, 0x7fff_ff00, 0x8000_0000, 0x8000_0010, 0xffff_ff00, u32::MAX];
        let mut seed = 3;
        let mut exact = 0;
        for _ in 0..60_000 {
            let r = next(&mut seed);
            let near =
                |r: u64| bases[r as usize % bases.len()].wrapping_add((r >> 8) as u32 % 300).wrapping_sub(20);
            let (x, y) = (near(next(&mut seed)), near(next(&mut seed)));
            let step = match r % 4 {
                0 => Step::Right(1 + (r >> 8) as u32 % 3),
                1 => Step::Left(1 + (r >> 8) as u32 % 3),
                _ => {
                    let s = (r >> 8) as i64 % 9 - 4;
                    Step::Add(s, s)
                }
            };
            let (rel, signed) = (rels[(r >> 16) as usize % 6], r >> 24 & 1 == 1);
            let one = |v| Range::exact(v);
            let test = Test { first: one(x), step, rel, signed, limit: one(y), fixed: true, slack: 0 };
            let Some(n) = rounds(&test) else { continue };
            let go = |x: u32, _| match step {
                Step::Add(s, _) => x.wrapping_add(s as u32),
                Step::Right(by) => x >> by,
                Step::Left(by) => x << by,
            };
            let seen = count(x, go, |x, _| holds(rel, signed, x, y), n.min(100_000));
            assert!(seen <= n, "{test:?}: {seen} rounds, {n} said");
            if n < 100_000 {
                assert_eq!(seen, n, "{test:?}");
                exact += 1;
            }
        }
        assert!(exact > 5_000, "only {exact} limits were found");
    }

    #[test]
    fn limits_hold_for_intervals() {
        let rels = [Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Ne];
        let bases = [0u32, 40, 0x7fff_ffb0, 0x8000_0000, 0xffff_ffb0];
        let mut seed = 5;
        let mut found = 0;
        for _ in 0..20_000 {
            let mut pick = |n: u64| next(&mut seed) % n;
            let base = |i: u64| bases[i as usize % bases.len()];
            let (x0, dx) = (base(pick(5)).wrapping_add(pick(40) as u32), pick(20) as u32);
            let (y0, dy) = (base(pick(5)).wrapping_add(pick(40) as u32), pick(20) as u32);
            let (a, b) = (pick(9) as i64 - 4, pick(3) as i64);
            let (rel, signed, fixed) = (rels[pick(5) as usize], pick(2) == 1, pick(2) == 1);
            let span = |v: u32, d: u32| (0..=d).map(|i| Range::exact(v.wrapping_add(i))).reduce(Range::join);
            let (Some(first), Some(limit)) = (span(x0, dx), span(y0, dy)) else { continue };
            let slack = pick(3) as i64;
            // What moves starts in x0..=x0+dx and is tested with 0..=slack more; both must not wrap in the test's reading.
            let Some(first) = [first, first.add(Range::exact(slack as u32))].into_iter().reduce(Range::join)
            else {
                continue;
            };
            let wraps = |v: u32| if signed { (v as i32) > i32::MAX - 30 } else { v > u32::MAX - 30 };
            if wraps(x0) {
                continue;
            }
            let test = Test { first, step: Step::Add(a, a + b), rel, signed, limit, fixed, slack };
            let Some(n) = rounds(&test).filter(|&n| n < 5_000) else { continue };
            found += 1;
            for _ in 0..4 {
                let x = x0.wrapping_add(pick(u64::from(dx) + 1) as u32);
                let fixed_y = y0.wrapping_add(pick(u64::from(dy) + 1) as u32);
                let steps: Vec<i64> = (0..64).map(|_| a + pick(b as u64 + 1) as i64).collect();
                let limits: Vec<u32> =
                    (0..64).map(|_| y0.wrapping_add(pick(u64::from(dy) + 1) as u32)).collect();
                let y = |k: u64| if fixed { fixed_y } else { limits[k as usize % 64] };
                let go = |x: u32, k: u64| x.wrapping_add(steps[k as usize % 64] as u32);
                let more: Vec<u32> = (0..64).map(|_| pick(slack as u64 + 1) as u32).collect();
                let tested = |x: u32, k: u64| x.wrapping_add(more[k as usize % 64]);
                let seen = count(x, go, |x, k| holds(rel, signed, tested(x, k), y(k)), n);
                assert!(seen <= n, "{test:?} from {x}: more than {n}");
            }
        }
        assert!(found > 1_000, "only {found} limits were found");
    }
}
