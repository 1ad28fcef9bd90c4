//! Numbers as functions of the lane: a base that all lanes share, a step for each digit of the lane's number, and a spread
//! within which nothing is known. All of it is arithmetic modulo a power of two, so it holds whatever wraps around.

/// How the lanes of a wave are numbered: a lane's number has three digits, which are the work-item's ids as far as those
/// change within a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dims {
    /// Lanes of a wave.
    pub lanes: u32,
    /// Values of the first and of the second digit.
    pub x: u32,
    pub y: u32,
    /// Numbers are followed lane by lane, too (`pattern`).
    pub rows: bool,
}

impl Dims {
    fn digits(self, lane: u32) -> [i128; 3] {
        let (x, y) = (self.x.max(1), self.y.max(1));
        [lane % x, lane / x % y, lane / x / y].map(i128::from)
    }

    /// What the steps add for one lane.
    pub fn offset(self, steps: [i64; 3], lane: u32) -> i128 {
        self.digits(lane).into_iter().zip(steps).map(|(d, s)| d * i128::from(s)).sum()
    }

    /// The least and the most that the steps add.
    pub fn extent(self, steps: [i64; 3]) -> (i128, i128) {
        let all = (0..self.lanes.max(1)).map(|l| self.offset(steps, l));
        all.fold((i128::MAX, i128::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)))
    }

    /// Steps of the lane's number itself.
    pub fn lane(self) -> [i64; 3] {
        [1, i64::from(self.x), i64::from(self.x) * i64::from(self.y)]
    }
}

/// Bits that are all the bits of a number.
pub const ALL: u32 = 64;
/// The same for registers.
pub const REGISTER: u32 = 32;

/// `base + steps · digits + 2^grain · e` in every lane, where the base is the same in all lanes and `e` is a number of the
/// lane's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lin {
    /// The base modulo `2^known`.
    pub residue: u64,
    pub known: u32,
    pub steps: [i64; 3],
    pub grain: u32,
    /// `e` is at most this; none: anything.
    pub spread: Option<u64>,
    /// The base is the same whenever the wave gets there, whichever way it took.
    pub fixed: bool,
}

/// The low bits of a number.
pub fn low(value: u64, bits: u32) -> u64 {
    if bits >= 64 { value } else { value & ((1 << bits) - 1) }
}

/// Low bits that are zero.
fn zeros(steps: [i64; 3]) -> u32 {
    steps.iter().map(|s| s.trailing_zeros()).min().unwrap_or(ALL)
}

impl Lin {
    pub fn exact(value: u64) -> Lin {
        Lin { residue: value, known: ALL, steps: [0; 3], grain: ALL, spread: Some(0), fixed: true }
    }

    /// The same unknown number in all lanes.
    pub fn uniform(fixed: bool) -> Lin {
        Lin { known: 0, fixed, ..Lin::exact(0) }
    }

    pub fn unknown() -> Lin {
        Lin::aligned(0, 0)
    }

    /// Any number that is `residue` modulo `2^grain`, another one in every lane.
    pub fn aligned(residue: u64, grain: u32) -> Lin {
        Lin { grain, spread: None, ..Lin::exact(low(residue, grain)) }
    }

    /// A number of every lane's own between two, modulo `2^grain` as said.
    pub fn between(lo: i128, hi: i128, residue: u64, grain: u32) -> Lin {
        let unit = 1i128 << grain.min(63);
        let first = lo + (i128::from(residue) - lo).rem_euclid(unit);
        match (i64::try_from(first), u64::try_from((hi - first).div_euclid(unit))) {
            (Ok(first), Ok(w)) => Lin { grain, spread: Some(w), ..Lin::exact(first as u64) }.canonical(),
            _ => Lin::aligned(residue, grain),
        }
    }

    /// The number is `.0` modulo two to the `.1` in all lanes.
    pub fn alignment(&self) -> (u64, u32) {
        let grain = if self.spread == Some(0) { ALL } else { self.grain };
        let bits = self.known.min(zeros(self.steps)).min(grain);
        (low(self.residue, bits), bits)
    }

    /// The base is known altogether.
    pub fn based(&self, width: u32) -> bool {
        self.known >= width
    }

    /// The same number in all lanes.
    pub fn same(&self) -> bool {
        self.steps == [0; 3] && self.spread == Some(0)
    }

    /// Only what holds for every lane by itself.
    pub fn scattered(&self) -> Lin {
        let (residue, bits) = self.alignment();
        Lin::aligned(residue, bits)
    }

    fn canonical(mut self) -> Lin {
        match self.spread {
            None => self.scattered(),
            Some(0) => Lin { grain: ALL, residue: low(self.residue, self.known), ..self },
            Some(_) => {
                self.residue = low(self.residue, self.known);
                self
            }
        }
    }

    /// As a register holds it: modulo 2³².
    pub fn register(self) -> Lin {
        let known = self.known.min(REGISTER);
        let wide = self
            .spread
            .is_some_and(|w| w.checked_shl(self.grain).is_none_or(|v| v >> self.grain != w || v >> 32 != 0));
        let spread = self.spread.filter(|&w| w == 0 || !wide);
        let steps = self.steps.map(|s| i64::from(s as i32));
        let lin = Lin { known, residue: low(self.residue, known), steps, spread, ..self }.canonical();
        match lin.spread {
            None => {
                let grain = lin.grain.min(REGISTER);
                Lin { known: REGISTER, grain, residue: low(lin.residue, grain), ..lin }
            }
            Some(_) => lin,
        }
    }

    /// The spreads of two numbers in the smaller unit of both.
    fn spreads(&self, other: &Lin) -> Option<(u32, u64, u64)> {
        let grain = match (self.spread?, other.spread?) {
            (0, _) => other.grain,
            (_, 0) => self.grain,
            _ => self.grain.min(other.grain),
        };
        let scaled = |l: &Lin| match l.spread? {
            0 => Some(0),
            w => w.checked_mul(1u64.checked_shl(l.grain - grain)?),
        };
        Some((grain, scaled(self)?, scaled(other)?))
    }

    pub fn add(&self, other: &Lin) -> Lin {
        let sum = || {
            let (grain, a, b) = self.spreads(other)?;
            let mut steps = self.steps;
            for (s, o) in steps.iter_mut().zip(other.steps) {
                *s = s.checked_add(o)?;
            }
            let known = self.known.min(other.known);
            let residue = low(self.residue.wrapping_add(other.residue), known);
            let fixed = self.fixed && other.fixed;
            Some(Lin { residue, known, steps, grain, spread: Some(a.checked_add(b)?), fixed }.canonical())
        };
        sum().unwrap_or_else(|| {
            let ((a, m), (b, n)) = (self.alignment(), other.alignment());
            Lin::aligned(a.wrapping_add(b), m.min(n))
        })
    }

    pub fn neg(&self) -> Lin {
        let Some(w) = self.spread else { return Lin::aligned(self.residue.wrapping_neg(), self.grain) };
        let top = if w == 0 { 0 } else { w.wrapping_mul(1u64.checked_shl(self.grain).unwrap_or(0)) };
        let residue = self.residue.wrapping_add(top).wrapping_neg();
        let steps = self.steps.map(i64::wrapping_neg);
        Lin { residue: low(residue, self.known), steps, ..*self }.canonical()
    }

    /// Times a constant.
    pub fn scale(&self, by: i64) -> Lin {
        if by == 0 {
            return Lin::exact(0);
        }
        if by < 0 {
            return by.checked_neg().map_or_else(Lin::unknown, |by| self.scale(by).neg());
        }
        let more = by.trailing_zeros();
        let known = (self.known + more).min(ALL);
        let residue = low(self.residue.wrapping_mul(by as u64), known);
        let product = || {
            let mut steps = self.steps;
            for s in &mut steps {
                *s = s.checked_mul(by)?;
            }
            let spread = Some(self.spread?.checked_mul((by >> more) as u64)?);
            Some(Lin {
                residue,
                known,
                steps,
                grain: (self.grain + more).min(ALL),
                spread,
                fixed: self.fixed,
            })
        };
        product().map_or_else(
            || {
                let (residue, bits) = self.alignment();
                Lin::aligned(residue.wrapping_mul(by as u64), (bits + more).min(63))
            },
            Lin::canonical,
        )
    }

    /// One or the other, all lanes alike. Numbers have `width` bits.
    pub fn join(&self, other: &Lin, width: u32) -> Lin {
        if self == other {
            return Lin { fixed: self.fixed && self.based(width), ..*self };
        }
        let scattered = || {
            let ((a, m), (b, n)) = (self.alignment(), other.alignment());
            Lin::aligned(a, m.min(n).min((a ^ b).trailing_zeros()))
        };
        let Some((grain, a, b)) = self.spreads(other).filter(|_| self.steps == other.steps) else {
            return scattered();
        };
        let known = self.known.min(other.known).min((self.residue ^ other.residue).trailing_zeros());
        let residue = low(self.residue, known);
        Lin { residue, known, steps: self.steps, grain, spread: Some(a.max(b)), fixed: false }.canonical()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMS: Dims = Dims { lanes: 64, x: 16, y: 4, rows: false };

    /// Whether a row of numbers can be what is said.
    fn holds(lin: &Lin, row: &[u64]) -> bool {
        let off = |l: usize| DIMS.offset(lin.steps, l as u32) as u64;
        match lin.spread {
            None => row.iter().all(|&v| low(v, lin.grain) == lin.residue),
            Some(w) => {
                // Any lane's number can be the one without its own part.
                let unit = 1u64.checked_shl(lin.grain).unwrap_or(0);
                let bases: Vec<u64> = row.iter().enumerate().map(|(l, v)| v.wrapping_sub(off(l))).collect();
                let fits = |base: u64| {
                    low(base, lin.known) == lin.residue
                        && bases.iter().all(|b| {
                            let e = b.wrapping_sub(base);
                            e == 0 || unit > 0 && e % unit == 0 && e / unit <= w
                        })
                };
                (0..=w.min(40)).any(|e| fits(bases[0].wrapping_sub(e.wrapping_mul(unit))))
            }
        }
    }

    #[test]
    fn operations_hold_every_row() {
        let row = |f: &dyn Fn(u64) -> u64| -> Vec<u64> { (0..64).map(f).collect() };
        let some: Vec<(Lin, Vec<u64>)> = vec![
            (Lin::exact(12), row(&|_| 12)),
            (Lin { known: 3, residue: 5, ..Lin::exact(0) }, row(&|_| 8 * 7 + 5)),
            (Lin { steps: [4, 0, 0], ..Lin::exact(1 << 40) }, row(&|l| (1 << 40) + l % 16 * 4)),
            (
                Lin { steps: [-4, 64, 0], known: 6, ..Lin::exact(0) },
                row(&|l| (64u64 * 9).wrapping_sub(l % 16 * 4) + l / 16 * 64),
            ),
            (Lin::between(8, 20, 0, 2), row(&|l| 8 + l % 4 * 4)),
            (Lin::aligned(3, 4), row(&|l| 3 + l * 16 * (l % 7))),
        ];
        for (a, xs) in &some {
            assert!(holds(a, xs), "{a:?}");
            for by in [0i64, 1, 3, 4, -1, -12] {
                let product: Vec<u64> = xs.iter().map(|x| x.wrapping_mul(by as u64)).collect();
                assert!(holds(&a.scale(by), &product), "{a:?} · {by} is {:?}", a.scale(by));
            }
            for (b, ys) in &some {
                let sum: Vec<u64> = xs.iter().zip(ys).map(|(x, y)| x.wrapping_add(*y)).collect();
                assert!(holds(&a.add(b), &sum), "{a:?} + {b:?} is {:?}", a.add(b));
                let one = a.join(b, ALL);
                assert!(holds(&one, xs) && holds(&one, ys), "{a:?} or {b:?} is {one:?}");
            }
        }
        assert_eq!(Lin { steps: [4, 0, 0], ..Lin::exact(0) }.scale(-1).steps, [-4, 0, 0]);
    }
}
