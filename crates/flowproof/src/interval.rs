//! Sets of 32-bit values as one interval of the value read without sign and one read with sign. Written anew for the
//! checker: results are computed in wide integers and kept only where nothing wraps.

use serde::{Deserialize, Serialize};

/// All `v` with `v` in `u.0..=u.1` and `v as i32` in `s.0..=s.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interval {
    pub u: (u32, u32),
    pub s: (i32, i32),
}

const U: (i128, i128) = (0, u32::MAX as i128);
const S: (i128, i128) = (i32::MIN as i128, i32::MAX as i128);

impl Interval {
    pub const ANY: Interval = Interval { u: (0, u32::MAX), s: (i32::MIN, i32::MAX) };

    pub fn just(v: u32) -> Interval {
        Interval { u: (v, v), s: (v as i32, v as i32) }
    }

    pub fn unsigned(lo: u32, hi: u32) -> Interval {
        Interval { u: (lo, hi), ..Interval::ANY }.sharpened()
    }

    pub fn signed(lo: i32, hi: i32) -> Interval {
        Interval { s: (lo, hi), ..Interval::ANY }.sharpened()
    }

    pub fn is_empty(self) -> bool {
        self.u.0 > self.u.1 || self.s.0 > self.s.1
    }

    pub fn value(self) -> Option<u32> {
        (self.u.0 == self.u.1).then_some(self.u.0)
    }

    /// Values in both; possibly none.
    pub fn and_also(self, o: Interval) -> Interval {
        Interval {
            u: (self.u.0.max(o.u.0), self.u.1.min(o.u.1)),
            s: (self.s.0.max(o.s.0), self.s.1.min(o.s.1)),
        }
        .sharpened()
    }

    /// Values in either.
    pub fn or_else(self, o: Interval) -> Interval {
        if self.is_empty() || o.is_empty() {
            return if self.is_empty() { o } else { self };
        }
        Interval {
            u: (self.u.0.min(o.u.0), self.u.1.max(o.u.1)),
            s: (self.s.0.min(o.s.0), self.s.1.max(o.s.1)),
        }
    }

    /// All of these values are allowed by `o`.
    pub fn inside(self, o: Interval) -> bool {
        let i = self.sharpened();
        i.is_empty() || o.u.0 <= i.u.0 && i.u.1 <= o.u.1 && o.s.0 <= i.s.0 && i.s.1 <= o.s.1
    }

    /// Each reading cut by the other, where a reading does not cross the sign.
    fn sharpened(mut self) -> Interval {
        for _ in 0..2 {
            if self.is_empty() {
                return self;
            }
            if (self.u.0 ^ self.u.1) >> 31 == 0 {
                self.s = (self.s.0.max(self.u.0 as i32), self.s.1.min(self.u.1 as i32));
            }
            if self.is_empty() {
                return self;
            }
            if (self.s.0 ^ self.s.1) >= 0 {
                self.u = (self.u.0.max(self.s.0 as u32), self.u.1.min(self.s.1 as u32));
            }
        }
        self
    }

    /// From exact bounds of a result, each in its reading, dropped where they leave 32 bits.
    fn exact(unsigned: Option<(i128, i128)>, signed: Option<(i128, i128)>) -> Interval {
        let mut all = Interval::ANY;
        if let Some((lo, hi)) = unsigned.filter(|&(lo, hi)| U.0 <= lo && lo <= hi && hi <= U.1) {
            all = all.and_also(Interval::unsigned(lo as u32, hi as u32));
        }
        if let Some((lo, hi)) = signed.filter(|&(lo, hi)| S.0 <= lo && lo <= hi && hi <= S.1) {
            all = all.and_also(Interval::signed(lo as i32, hi as i32));
        }
        all
    }

    fn wide_u(self) -> (i128, i128) {
        (self.u.0.into(), self.u.1.into())
    }

    fn wide_s(self) -> (i128, i128) {
        (self.s.0.into(), self.s.1.into())
    }

    pub fn plus(self, o: Interval) -> Interval {
        let (a, b, c, d) = (self.wide_u(), o.wide_u(), self.wide_s(), o.wide_s());
        let sum = (a.0 + b.0, a.1 + b.1);
        let over = (sum.0 - (1 << 32), sum.1 - (1 << 32));
        let whole = Interval::exact(Some(sum), Some((c.0 + d.0, c.1 + d.1)));
        // Every sum wraps exactly once.
        whole.and_also(Interval::exact(Some(over), None))
    }

    pub fn minus(self, o: Interval) -> Interval {
        let (a, b, c, d) = (self.wide_u(), o.wide_u(), self.wide_s(), o.wide_s());
        Interval::exact(Some((a.0 - b.1, a.1 - b.0)), Some((c.0 - d.1, c.1 - d.0)))
    }

    pub fn times(self, o: Interval) -> Interval {
        let (a, b, c, d) = (self.wide_u(), o.wide_u(), self.wide_s(), o.wide_s());
        let corners = [c.0 * d.0, c.0 * d.1, c.1 * d.0, c.1 * d.1];
        let (lo, hi) = corners.into_iter().fold((i128::MAX, i128::MIN), |(l, h), v| (l.min(v), h.max(v)));
        Interval::exact(Some((a.0 * b.0, a.1 * b.1)), Some((lo, hi)))
    }

    pub fn times_high(self, o: Interval) -> Interval {
        let (a, b) = (self.wide_u(), o.wide_u());
        Interval::exact(Some(((a.0 * b.0) >> 32, (a.1 * b.1) >> 32)), None)
    }

    fn constants(self, o: Interval, f: impl Fn(u32, u32) -> u32) -> Option<Interval> {
        Some(Interval::just(f(self.value()?, o.value()?)))
    }

    /// No bit above the highest of either.
    fn bits_of(self, o: Interval) -> u32 {
        let top = self.u.1 | o.u.1;
        if top == 0 { 0 } else { u32::MAX >> top.leading_zeros() }
    }

    pub fn bit_and(self, o: Interval) -> Interval {
        self.constants(o, |a, b| a & b).unwrap_or_else(|| Interval::unsigned(0, self.u.1.min(o.u.1)))
    }

    pub fn bit_or(self, o: Interval) -> Interval {
        let bits = self.bits_of(o);
        self.constants(o, |a, b| a | b).unwrap_or_else(|| Interval::unsigned(self.u.0.max(o.u.0), bits))
    }

    pub fn bit_xor(self, o: Interval) -> Interval {
        let bits = self.bits_of(o);
        self.constants(o, |a, b| a ^ b).unwrap_or_else(|| Interval::unsigned(0, bits))
    }

    pub fn bit_not(self) -> Interval {
        Interval { u: (!self.u.1, !self.u.0), s: (!self.s.1, !self.s.0) }
    }

    /// The amounts a shift can be by: the low five bits of this.
    fn amounts(self) -> Option<(u32, u32)> {
        match self.value() {
            Some(v) => Some((v & 31, v & 31)),
            None => (self.u.1 < 32).then_some(self.u),
        }
    }

    pub fn left(self, by: Interval) -> Interval {
        let Some((least, most)) = by.amounts() else { return Interval::ANY };
        let (a, c) = (self.wide_u(), self.wide_s());
        let lo = (c.0 << least).min(c.0 << most);
        let hi = (c.1 << least).max(c.1 << most);
        Interval::exact(Some((a.0 << least, a.1 << most)), Some((lo, hi)))
    }

    pub fn right(self, by: Interval) -> Interval {
        let (least, most) = by.amounts().unwrap_or((0, 31));
        Interval::unsigned(self.u.0 >> most, self.u.1 >> least)
    }

    pub fn right_signed(self, by: Interval) -> Interval {
        let (least, most) = by.amounts().unwrap_or((0, 31));
        let lo = (self.s.0 >> least).min(self.s.0 >> most);
        let hi = (self.s.1 >> least).max(self.s.1 >> most);
        Interval::signed(lo, hi)
    }

    pub fn least(self, o: Interval, signed: bool) -> Interval {
        match signed {
            true => Interval::signed(self.s.0.min(o.s.0), self.s.1.min(o.s.1)),
            false => Interval::unsigned(self.u.0.min(o.u.0), self.u.1.min(o.u.1)),
        }
    }

    pub fn most(self, o: Interval, signed: bool) -> Interval {
        match signed {
            true => Interval::signed(self.s.0.max(o.s.0), self.s.1.max(o.s.1)),
            false => Interval::unsigned(self.u.0.max(o.u.0), self.u.1.max(o.u.1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *seed >> 24
    }

    /// Every operation on values of two sets is in the operation of the sets.
    #[test]
    fn operations_hold_all_results() {
        let mut seed = 9;
        let bases = [0u32, 5, 60, 0x7fff_fff8, 0x8000_0000, 0xffff_ffe0, 1 << 20];
        for _ in 0..20_000 {
            let mut set = || {
                let lo =
                    bases[noise(&mut seed) as usize % bases.len()].wrapping_add(noise(&mut seed) as u32 % 40);
                let values: Vec<u32> =
                    (0..noise(&mut seed) as u32 % 6 + 1).map(|i| lo.wrapping_add(i)).collect();
                let all = values.iter().map(|&v| Interval::just(v)).reduce(Interval::or_else);
                (all.expect("a value"), values)
            };
            let ((a, x), (b, y)) = (set(), set());
            let has = |i: Interval, v: u32| Interval::just(v).inside(i);
            for (&p, &q) in x.iter().flat_map(|p| y.iter().map(move |q| (p, q))) {
                let all = [
                    (a.plus(b), p.wrapping_add(q)),
                    (a.minus(b), p.wrapping_sub(q)),
                    (a.times(b), p.wrapping_mul(q)),
                    (a.times_high(b), ((u64::from(p) * u64::from(q)) >> 32) as u32),
                    (a.bit_and(b), p & q),
                    (a.bit_or(b), p | q),
                    (a.bit_xor(b), p ^ q),
                    (a.bit_not(), !p),
                    (a.left(b), p << (q & 31)),
                    (a.right(b), p >> (q & 31)),
                    (a.right_signed(b), ((p as i32) >> (q & 31)) as u32),
                    (a.least(b, false), p.min(q)),
                    (a.most(b, true), (p as i32).max(q as i32) as u32),
                ];
                for (n, (set, value)) in all.into_iter().enumerate() {
                    assert!(has(set, value), "operation {n} of {p:#x} and {q:#x}: {value:#x} not in {set:?}");
                }
            }
        }
    }
}
