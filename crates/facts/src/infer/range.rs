//! Sets of 32-bit values as two intervals, one of the value read without sign and one read with sign: each keeps what
//! the other loses at its own end of the number line. Every operation gives a set that holds all possible results.

/// All values `v` with `v` in `ulo..=uhi` and `v as i32` in `slo..=shi`; never empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Range {
    pub ulo: u32,
    pub uhi: u32,
    pub slo: i32,
    pub shi: i32,
}

impl std::fmt::Debug for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "u{}..={} s{}..={}", self.ulo, self.uhi, self.slo, self.shi)
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rel {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl Rel {
    pub fn not(self) -> Rel {
        match self {
            Rel::Lt => Rel::Ge,
            Rel::Le => Rel::Gt,
            Rel::Gt => Rel::Le,
            Rel::Ge => Rel::Lt,
            Rel::Eq => Rel::Ne,
            Rel::Ne => Rel::Eq,
        }
    }

    /// The same with the sides exchanged.
    pub fn swap(self) -> Rel {
        match self {
            Rel::Lt => Rel::Gt,
            Rel::Le => Rel::Ge,
            Rel::Gt => Rel::Lt,
            Rel::Ge => Rel::Le,
            same => same,
        }
    }

    pub fn sign(self) -> &'static str {
        match self {
            Rel::Lt => "<",
            Rel::Le => "<=",
            Rel::Gt => ">",
            Rel::Ge => ">=",
            Rel::Eq => "==",
            Rel::Ne => "!=",
        }
    }
}

impl Range {
    pub const FULL: Range = Range { ulo: 0, uhi: u32::MAX, slo: i32::MIN, shi: i32::MAX };

    pub const fn exact(v: u32) -> Range {
        Range { ulo: v, uhi: v, slo: v as i32, shi: v as i32 }
    }

    /// Values between two read without sign.
    pub fn unsigned(lo: u32, hi: u32) -> Range {
        Range { ulo: lo, uhi: hi, ..Range::FULL }.tight().unwrap_or(Range::FULL)
    }

    pub fn signed(lo: i32, hi: i32) -> Range {
        Range { slo: lo, shi: hi, ..Range::FULL }.tight().unwrap_or(Range::FULL)
    }

    /// From bounds that may lie outside of 32 bits, where nothing is known.
    fn wide_unsigned(lo: i128, hi: i128) -> Range {
        match (u32::try_from(lo), u32::try_from(hi)) {
            (Ok(lo), Ok(hi)) if lo <= hi => Range::unsigned(lo, hi),
            _ => Range::FULL,
        }
    }

    fn wide_signed(lo: i128, hi: i128) -> Range {
        match (i32::try_from(lo), i32::try_from(hi)) {
            (Ok(lo), Ok(hi)) if lo <= hi => Range::signed(lo, hi),
            _ => Range::FULL,
        }
    }

    /// Each interval cut by what the other says; none if nothing is left.
    fn tight(mut self) -> Option<Range> {
        for _ in 0..2 {
            if self.ulo > self.uhi || self.slo > self.shi {
                return None;
            }
            if (self.ulo as i32 >= 0) == (self.uhi as i32 >= 0) {
                self.slo = self.slo.max(self.ulo as i32);
                self.shi = self.shi.min(self.uhi as i32);
            }
            if self.slo > self.shi {
                return None;
            }
            if (self.slo < 0) == (self.shi < 0) {
                self.ulo = self.ulo.max(self.slo as u32);
                self.uhi = self.uhi.min(self.shi as u32);
            }
        }
        (self.ulo <= self.uhi && self.slo <= self.shi).then_some(self)
    }

    /// Values in both; none if there is none.
    pub fn meet(self, other: Range) -> Option<Range> {
        Range {
            ulo: self.ulo.max(other.ulo),
            uhi: self.uhi.min(other.uhi),
            slo: self.slo.max(other.slo),
            shi: self.shi.min(other.shi),
        }
        .tight()
    }

    /// What both hold at least; for two facts about the same value.
    fn both(self, other: Range) -> Range {
        self.meet(other).unwrap_or(self)
    }

    /// Values in either.
    pub fn join(self, other: Range) -> Range {
        Range {
            ulo: self.ulo.min(other.ulo),
            uhi: self.uhi.max(other.uhi),
            slo: self.slo.min(other.slo),
            shi: self.shi.max(other.shi),
        }
    }

    #[cfg(test)]
    pub fn contains(self, v: u32) -> bool {
        (self.ulo..=self.uhi).contains(&v) && (self.slo..=self.shi).contains(&(v as i32))
    }

    pub fn constant(self) -> Option<u32> {
        (self.ulo == self.uhi).then_some(self.ulo)
    }

    pub fn add(self, o: Range) -> Range {
        let u = Range::wide_unsigned(
            i128::from(self.ulo) + i128::from(o.ulo),
            i128::from(self.uhi) + i128::from(o.uhi),
        );
        let s = Range::wide_signed(
            i128::from(self.slo) + i128::from(o.slo),
            i128::from(self.shi) + i128::from(o.shi),
        );
        // A sum that wraps for all values wraps for none of them differently.
        let w = Range::wide_unsigned(
            i128::from(self.ulo) + i128::from(o.ulo) - (1 << 32),
            i128::from(self.uhi) + i128::from(o.uhi) - (1 << 32),
        );
        u.both(s).both(w)
    }

    pub fn sub(self, o: Range) -> Range {
        let u = Range::wide_unsigned(
            i128::from(self.ulo) - i128::from(o.uhi),
            i128::from(self.uhi) - i128::from(o.ulo),
        );
        let s = Range::wide_signed(
            i128::from(self.slo) - i128::from(o.shi),
            i128::from(self.shi) - i128::from(o.slo),
        );
        u.both(s)
    }

    pub fn mul(self, o: Range) -> Range {
        let u = Range::wide_unsigned(
            i128::from(self.ulo) * i128::from(o.ulo),
            i128::from(self.uhi) * i128::from(o.uhi),
        );
        let corners = [self.slo, self.shi]
            .into_iter()
            .flat_map(|a| [o.slo, o.shi].map(|b| i128::from(a) * i128::from(b)));
        let (lo, hi) = corners.fold((i128::MAX, i128::MIN), |(lo, hi), v| (lo.min(v), hi.max(v)));
        u.both(Range::wide_signed(lo, hi))
    }

    /// High half of the product without sign.
    pub fn mul_high(self, o: Range) -> Range {
        let high = |a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32;
        Range::unsigned(high(self.ulo, o.ulo), high(self.uhi, o.uhi))
    }

    pub fn and(self, o: Range) -> Range {
        match (self.constant(), o.constant()) {
            (Some(a), Some(b)) => Range::exact(a & b),
            _ => Range::unsigned(0, self.uhi.min(o.uhi)),
        }
    }

    pub fn or(self, o: Range) -> Range {
        match (self.constant(), o.constant()) {
            (Some(a), Some(b)) => Range::exact(a | b),
            _ => Range::unsigned(self.ulo.max(o.ulo), ones(self.uhi | o.uhi)),
        }
    }

    pub fn xor(self, o: Range) -> Range {
        match (self.constant(), o.constant()) {
            (Some(a), Some(b)) => Range::exact(a ^ b),
            _ => Range::unsigned(0, ones(self.uhi | o.uhi)),
        }
    }

    pub fn not(self) -> Range {
        Range { ulo: !self.uhi, uhi: !self.ulo, slo: !self.shi, shi: !self.slo }
    }

    /// A count of which the low five bits matter.
    fn shift(self) -> Option<(u32, u32)> {
        (self.uhi < 32).then_some((self.ulo, self.uhi)).or_else(|| self.constant().map(|c| (c & 31, c & 31)))
    }

    pub fn shl(self, by: Range) -> Range {
        let Some((lo, hi)) = by.shift() else { return Range::FULL };
        let u = Range::wide_unsigned(i128::from(self.ulo) << lo, i128::from(self.uhi) << hi);
        let ends = [i128::from(self.slo) << lo, i128::from(self.slo) << hi];
        let tops = [i128::from(self.shi) << lo, i128::from(self.shi) << hi];
        u.both(Range::wide_signed(ends[0].min(ends[1]), tops[0].max(tops[1])))
    }

    pub fn shr(self, by: Range) -> Range {
        let (lo, hi) = by.shift().unwrap_or((0, 31));
        Range::unsigned(self.ulo >> hi, self.uhi >> lo)
    }

    pub fn ashr(self, by: Range) -> Range {
        let (lo, hi) = by.shift().unwrap_or((0, 31));
        let low = (self.slo >> lo).min(self.slo >> hi);
        let high = (self.shi >> lo).max(self.shi >> hi);
        Range::signed(low, high)
    }

    pub fn min_u(self, o: Range) -> Range {
        Range::unsigned(self.ulo.min(o.ulo), self.uhi.min(o.uhi))
    }

    pub fn max_u(self, o: Range) -> Range {
        Range::unsigned(self.ulo.max(o.ulo), self.uhi.max(o.uhi))
    }

    pub fn min_s(self, o: Range) -> Range {
        Range::signed(self.slo.min(o.slo), self.shi.min(o.shi))
    }

    pub fn max_s(self, o: Range) -> Range {
        Range::signed(self.slo.max(o.slo), self.shi.max(o.shi))
    }

    /// The values for which `self rel other` can hold; none if it cannot.
    pub fn assume(self, rel: Rel, signed: bool, o: Range) -> Option<Range> {
        let mut r = self;
        match (rel, signed) {
            (Rel::Lt, false) => r.uhi = r.uhi.min(o.uhi.checked_sub(1)?),
            (Rel::Le, false) => r.uhi = r.uhi.min(o.uhi),
            (Rel::Gt, false) => r.ulo = r.ulo.max(o.ulo.checked_add(1)?),
            (Rel::Ge, false) => r.ulo = r.ulo.max(o.ulo),
            (Rel::Lt, true) => r.shi = r.shi.min(o.shi.checked_sub(1)?),
            (Rel::Le, true) => r.shi = r.shi.min(o.shi),
            (Rel::Gt, true) => r.slo = r.slo.max(o.slo.checked_add(1)?),
            (Rel::Ge, true) => r.slo = r.slo.max(o.slo),
            (Rel::Eq, _) => return self.meet(o),
            (Rel::Ne, _) => {
                if let Some(c) = o.constant() {
                    // Only an end can be cut off.
                    if r.constant() == Some(c) {
                        return None;
                    }
                    r.ulo += u32::from(r.ulo == c);
                    r.uhi -= u32::from(r.uhi == c);
                    r.slo += i32::from(r.slo == c as i32);
                    r.shi -= i32::from(r.shi == c as i32);
                }
            }
        }
        r.tight()
    }

    /// The bounds that moved go to the next of `stops`, so that a chain of widenings ends.
    pub fn widen(self, new: Range, stops: &[i64]) -> Range {
        let up = |v: i64, max: i64| stops.iter().copied().find(|&s| s >= v && s <= max).unwrap_or(max);
        let down =
            |v: i64, min: i64| stops.iter().rev().copied().find(|&s| s <= v && s >= min).unwrap_or(min);
        Range {
            ulo: if new.ulo < self.ulo { down(new.ulo.into(), 0) as u32 } else { self.ulo },
            uhi: if new.uhi > self.uhi { up(new.uhi.into(), u32::MAX.into()) as u32 } else { self.uhi },
            slo: if new.slo < self.slo { down(new.slo.into(), i32::MIN.into()) as i32 } else { self.slo },
            shi: if new.shi > self.shi { up(new.shi.into(), i32::MAX.into()) as i32 } else { self.shi },
        }
    }

    /// `0..=99`, read the way that says more.
    pub fn show(self) -> String {
        match (
            self.constant(),
            self.slo < 0
                && i64::from(self.shi) - i64::from(self.slo) < i64::from(self.uhi) - i64::from(self.ulo),
        ) {
            (Some(c), _) if (c as i32) < 0 && c as i32 > -65536 => (c as i32).to_string(),
            (Some(c), _) => c.to_string(),
            (None, true) => format!("{}..={}", self.slo, self.shi),
            (None, false) => format!("{}..={}", self.ulo, self.uhi),
        }
    }
}

/// All bits up to the highest that is set.
fn ones(v: u32) -> u32 {
    u32::MAX.checked_shr(v.leading_zeros()).unwrap_or(0)
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

    /// Values near the ends of the number lines as often as any others.
    fn value(seed: &mut u64) -> u32 {
        let edges = [
            0,
            1,
            2,
            7,
            31,
            32,
            255,
            0x7fff_fffe,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            u32::MAX - 1,
            u32::MAX,
        ];
        let r = next(seed);
        match r % 3 {
            0 => edges[(r >> 8) as usize % edges.len()],
            1 => (r >> 8) as u32 & 0xff,
            _ => (r >> 8) as u32,
        }
    }

    /// A range and members of it.
    fn range(seed: &mut u64) -> (Range, Vec<u32>) {
        let n = 1 + next(seed) % 3;
        let members: Vec<u32> = (0..n).map(|_| value(seed)).collect();
        let all = members.iter().map(|&v| Range::exact(v)).reduce(Range::join).expect("one at least");
        (all, members)
    }

    type Op = (fn(Range, Range) -> Range, fn(u32, u32) -> u32);

    #[test]
    fn operations_hold_every_result() {
        let ops: [Op; 15] = [
            (Range::add, u32::wrapping_add),
            (Range::sub, u32::wrapping_sub),
            (Range::mul, u32::wrapping_mul),
            (Range::mul_high, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
            (Range::and, |a, b| a & b),
            (Range::or, |a, b| a | b),
            (Range::xor, |a, b| a ^ b),
            (Range::shl, |a, b| a << (b & 31)),
            (Range::shr, |a, b| a >> (b & 31)),
            (Range::ashr, |a, b| (a as i32 >> (b & 31)) as u32),
            (Range::min_u, u32::min),
            (Range::max_u, u32::max),
            (Range::min_s, |a, b| (a as i32).min(b as i32) as u32),
            (Range::max_s, |a, b| (a as i32).max(b as i32) as u32),
            (|a, _| a.not(), |a, _| !a),
        ];
        let mut seed = 7;
        for _ in 0..20_000 {
            let ((a, xs), (b, ys)) = (range(&mut seed), range(&mut seed));
            for (i, (abstracted, concrete)) in ops.iter().enumerate() {
                let r = abstracted(a, b);
                for &x in &xs {
                    for &y in &ys {
                        assert!(
                            r.contains(concrete(x, y)),
                            "op {i}: {a:?} {b:?} gives {r:?} without {x} {y}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn assumptions_keep_what_satisfies_them() {
        let rels = [Rel::Lt, Rel::Le, Rel::Gt, Rel::Ge, Rel::Eq, Rel::Ne];
        let holds = |rel: Rel, o: std::cmp::Ordering| match rel {
            Rel::Lt => o.is_lt(),
            Rel::Le => o.is_le(),
            Rel::Gt => o.is_gt(),
            Rel::Ge => o.is_ge(),
            Rel::Eq => o.is_eq(),
            Rel::Ne => o.is_ne(),
        };
        let mut seed = 11;
        for _ in 0..20_000 {
            let ((a, xs), (b, ys)) = (range(&mut seed), range(&mut seed));
            for rel in rels {
                for signed in [false, true] {
                    let r = a.assume(rel, signed, b);
                    for &x in &xs {
                        for &y in &ys {
                            let order = if signed { (x as i32).cmp(&(y as i32)) } else { x.cmp(&y) };
                            if holds(rel, order) {
                                assert!(r.is_some_and(|r| r.contains(x)), "{a:?} {rel:?} {b:?} loses {x}");
                            }
                        }
                    }
                }
            }
        }
        assert_eq!(Range::unsigned(0, 10).assume(Rel::Lt, false, Range::exact(5)).map(|r| r.uhi), Some(4));
        assert_eq!(Range::unsigned(6, 10).assume(Rel::Lt, false, Range::exact(5)), None);
    }

    #[test]
    fn both_readings_help_each_other() {
        assert_eq!(Range::signed(-5, -2).uhi, -2i32 as u32);
        assert_eq!(Range::unsigned(3, 9).shi, 9);
        assert_eq!(Range::exact(1).add(Range::exact(u32::MAX)).constant(), Some(0));
        assert_eq!(Range::signed(0, 0).add(Range::signed(-1, 1)).slo, -1);
    }
}
