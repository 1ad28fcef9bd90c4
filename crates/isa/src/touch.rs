//! What the lanes of a memory instruction touch together: lines of memory, banks of local memory. Whole rows of lanes are looked
//! at in the host's vectors; who asks has a general way for what is not answered here.

// Loops by index keep the shape the vectoriser wants.
#![allow(clippy::needless_range_loop)]

use crate::Mask;
use crate::lanes::{Row, spread};
use crate::vector::{NullaryFnOnce, vector_of};

/// The lanes at which the line may be another one than that of the active lane before: all others touch the same line as the one
/// before them. `bytes` bytes of each lane, a power of two; none if they are not aligned or lines cannot be told by 32 bits.
#[inline]
pub fn line_starts(base: u64, row: &Row<u32>, lanes: Mask, shift: u32, bytes: u32) -> Option<Mask> {
    let low = base as u32;
    let (changes, all) = vector_of(Lines { low, row, lanes, shift });
    // Offsets that go around are told apart only if nothing is added to them.
    let apart = low == 0 || all < 1 << 31;
    let aligned = ((all | low) & (bytes - 1)) == 0 && bytes <= 1 << shift;
    (apart && aligned).then_some(lanes & (changes | !(lanes << 1)))
}

struct Lines<'a> {
    low: u32,
    row: &'a Row<u32>,
    lanes: Mask,
    shift: u32,
}

impl NullaryFnOnce for Lines<'_> {
    /// Lanes whose line is not that of their neighbour, and all bits of all offsets.
    type Output = (Mask, u32);

    #[inline(always)]
    fn call(self) -> (Mask, u32) {
        let (on, mut all) = (spread(self.lanes), 0);
        // The first lane is compared with itself.
        let mut line = [0; 65];
        for i in 0..64 {
            all |= self.row[i] & on[i];
            line[i + 1] = self.row[i].wrapping_add(self.low) >> (self.shift & 31);
        }
        line[0] = line[1];
        let mut changes = 0;
        for half in 0..2 {
            let mut bits = 0u32;
            for i in 0..32 {
                let at = half * 32 + i;
                bits |= if line[at] != line[at + 1] { 1 << i } else { 0 };
            }
            changes |= u64::from(bits) << (32 * half);
        }
        (changes, all)
    }
}

/// Whether all offsets of active lanes are multiples of `unit`, a power of two.
#[inline]
pub fn aligned(row: &Row<u32>, lanes: Mask, unit: u32) -> bool {
    vector_of(Bits { row, lanes }) & (unit - 1) == 0
}

struct Bits<'a> {
    row: &'a Row<u32>,
    lanes: Mask,
}

impl NullaryFnOnce for Bits<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let (on, mut all) = (spread(self.lanes), 0);
        for i in 0..64 {
            all |= self.row[i] & on[i];
        }
        all
    }
}

/// Dwords of local memory: each lane's lie at its offset, in bytes, plus each of `add`, in dwords, behind dword `first`.
#[derive(Clone, Copy, Debug)]
pub struct Dwords<'a> {
    pub first: u64,
    pub offset: &'a Row<u32>,
    pub add: &'a [u32],
    pub lanes: Mask,
    /// Lanes whose dwords go together, lowest first.
    pub together: usize,
}

impl Dwords<'_> {
    /// How often the banks are used: once for each different dword of the bank that has most of them, of those that go together. None
    /// for numbers of banks that this does not count.
    #[inline]
    pub fn passes(self, banks: u32) -> Option<u64> {
        let known = banks.is_power_of_two() && banks <= 32 && self.together != 0 && !self.add.is_empty();
        known.then(|| vector_of(Passes { dwords: self, banks }).into())
    }
}

struct Passes<'a> {
    dwords: Dwords<'a>,
    banks: u32,
}

impl NullaryFnOnce for Passes<'_> {
    type Output = u32;

    #[inline(always)]
    fn call(self) -> u32 {
        let Dwords { first, offset, add, lanes, together } = self.dwords;
        let (first, banks) = (first as u32 & (self.banks - 1), self.banks);
        let mut passes = 0;
        if lanes == Mask::MAX && together == 32 {
            for row in offset.as_chunks::<32>().0 {
                passes += fullest(row, first, add, banks);
            }
            return passes;
        }
        let mut rest = lanes;
        while rest != 0 {
            let mut left = 0;
            if rest.count_ones() as usize > together {
                left = rest;
                for _ in 0..together {
                    left &= left.wrapping_sub(1);
                }
            }
            // Lanes that do not take part ask for what one of the others asks for.
            let (on, lane) = (spread(rest & !left), rest.trailing_zeros());
            let one = offset[lane as usize % 64];
            let mut row = [0; 64];
            for i in 0..64 {
                row[i] = offset[i] & on[i] | one & !on[i];
            }
            let turn = rest & !left;
            passes += match (turn as u32, (turn >> 32) as u32) {
                (_, 0) => fullest(&row.as_chunks::<32>().0[0], first, add, banks),
                (0, _) => fullest(&row.as_chunks::<32>().0[1], first, add, banks),
                _ => fullest(&row, first, add, banks),
            };
            rest = left;
        }
        passes
    }
}

/// The different dwords of the bank that has most of them. Dwords are looked at line by line, a line being one dword of each bank: in a
/// line, what is different is in different banks.
#[inline(always)]
fn fullest<const W: usize>(offset: &[u32; W], first: u32, add: &[u32], banks: u32) -> u32 {
    let shift = banks.trailing_zeros();
    // How many lines have a dword of each bank, a bit of the count in each number.
    let mut counts = [0u32; 7];
    let (mut line, mut last) = (u32::MAX, 0);
    for add in add {
        let first = first.wrapping_add(*add);
        for i in 0..W {
            let dword = (offset[i] >> 2).wrapping_add(first);
            (line, last) = (line.min(dword), last.max(dword));
        }
    }
    (line, last) = (line >> shift, last >> shift);
    // Neighbours and lanes that ask for the same: all is in one line, or in two that follow on each other.
    if last - line <= 1 {
        let (mut near, mut far) = (0u32, 0u32);
        for add in add {
            let first = first.wrapping_add(*add);
            for i in 0..W {
                let dword = (offset[i] >> 2).wrapping_add(first);
                let bank = 1u32 << (dword & (banks - 1));
                let here = dword >> shift == line;
                near |= if here { bank } else { 0 };
                far |= if here { 0 } else { bank };
            }
        }
        return 1 + u32::from(near & far != 0);
    }
    while line != u32::MAX {
        let (mut used, mut next) = (0u32, u32::MAX);
        for add in add {
            let first = first.wrapping_add(*add);
            for i in 0..W {
                let dword = (offset[i] >> 2).wrapping_add(first);
                let this = dword >> shift;
                let bank = 1u32 << (dword & (banks - 1));
                used |= if this == line { bank } else { 0 };
                let later = if this > line { this } else { u32::MAX };
                next = next.min(later);
            }
        }
        for count in &mut counts {
            (used, *count) = (used & *count, used ^ *count);
        }
        line = next;
    }
    let (mut among, mut most) = (u32::MAX, 0);
    for (bit, count) in counts.iter().enumerate().rev() {
        if among & count != 0 {
            among &= count;
            most |= 1 << bit;
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::bits;
    use std::collections::BTreeSet;

    fn random(state: &mut u64, below: u32) -> u32 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*state >> 32) % u64::from(below.max(1))) as u32
    }

    /// Rows as programs have them, some lanes moved.
    fn some_row(state: &mut u64, unit: u32) -> Row<u32> {
        let (step, wide) = (
            [0, 1, 1, 1, 2, 3, 17, 32, 33][random(state, 9) as usize],
            [8, 16, 32, 64][random(state, 4) as usize],
        );
        let (start, jump) = (random(state, 4000), random(state, 200));
        let mut row =
            std::array::from_fn(|i| unit * (start + step * (i as u32 % wide) + jump * (i as u32 / wide)));
        for _ in 0..[0, 0, 1, 5, 64][random(state, 5) as usize] {
            row[random(state, 64) as usize] = unit * random(state, 8000);
        }
        row
    }

    fn some_lanes(state: &mut u64) -> Mask {
        let some = u64::from(random(state, u32::MAX)) << 32 | u64::from(random(state, u32::MAX));
        match random(state, 4) {
            0 => some,
            1 => some >> random(state, 64),
            _ => Mask::MAX,
        }
    }

    #[test]
    fn lines_start_where_they_change() {
        let mut state = 1;
        let mut refused = 0;
        for _ in 0..4000 {
            let bytes = [1, 2, 4, 8, 16][random(&mut state, 5) as usize];
            let mut row = some_row(&mut state, bytes);
            let base = [0, 0x7_0000_0000, 0x7_1234_5678 & !15, 0x7_ffff_ff00][random(&mut state, 4) as usize];
            if random(&mut state, 5) == 0 {
                row.iter_mut().for_each(|at| *at = at.wrapping_add(0u32.wrapping_sub(64)));
            }
            let (lanes, shift) = (some_lanes(&mut state), [5, 6, 7][random(&mut state, 3) as usize]);
            let Some(starts) = line_starts(base, &row, lanes, shift, bytes) else {
                refused += 1;
                continue;
            };
            let (mut all, mut some) = (Vec::new(), Vec::new());
            for lane in bits(lanes) {
                let at = base + u64::from(row[lane as usize]);
                all.extend([at >> shift, (at + u64::from(bytes) - 1) >> shift]);
                some.extend((starts >> lane & 1 == 1).then_some(at >> shift));
            }
            all.dedup();
            some.dedup();
            assert_eq!(all, some, "{base:#x} {lanes:#x} {shift} {row:?}");
        }
        assert!(refused < 1000);
        assert_eq!(line_starts(0, &[2; 64], Mask::MAX, 6, 4), None);
        assert!(!aligned(&[2; 64], 1, 4) && aligned(&[2; 64], Mask::MAX, 2) && aligned(&[2; 64], 0, 4));
    }

    /// The different dwords of each bank, counted.
    #[test]
    fn passes_are_what_the_fullest_bank_needs() {
        let mut state = 2;
        let mut found = [0; 2];
        for _ in 0..6000 {
            let row = some_row(&mut state, 4);
            let banks = [32, 32, 16, 8, 1][random(&mut state, 5) as usize];
            let add: Vec<u32> = match random(&mut state, 3) {
                0 => vec![0],
                1 => vec![0, 1],
                _ => (0..4).map(|_| random(&mut state, 100)).collect(),
            };
            let together = (banks as usize / add.len()).max(1);
            let (lanes, first) = (some_lanes(&mut state), u64::from(random(&mut state, 100)) + (1 << 40));
            let dwords = Dwords { first, offset: &row, add: &add, lanes, together };
            let list: Vec<u32> = bits(lanes).collect();
            let passes = list.chunks(together).map(|lanes| {
                let of_lane = |l: &u32| first + u64::from(row[*l as usize] / 4);
                let all: BTreeSet<u64> = lanes
                    .iter()
                    .flat_map(|l| add.iter().map(move |add| of_lane(l) + u64::from(*add)))
                    .collect();
                let of_bank = |bank| all.iter().filter(|d| *d % u64::from(banks) == bank).count() as u64;
                (0..banks.into()).map(of_bank).max().unwrap_or(0)
            });
            let (want, least) = (passes.sum::<u64>(), list.len().div_ceil(together) as u64);
            assert_eq!(dwords.passes(banks), Some(want), "{banks} {add:?} {lanes:#x} {row:?}");
            found[usize::from(want > least)] += 1;
        }
        assert!(found.iter().all(|n| *n > 500), "{found:?}");
        let dwords = Dwords { first: 0, offset: &[0; 64], add: &[0], lanes: 1, together: 33 };
        assert!(dwords.passes(33).is_none() && dwords.passes(64).is_none());
    }
}
