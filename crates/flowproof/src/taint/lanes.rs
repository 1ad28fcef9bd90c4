//! Two runs side by side: what may differ between them, lane by lane.

use super::format::Labels;
use std::collections::BTreeSet;

/// Numbers of the pairs of registers that are EXEC and VCC.
pub const EXEC: u8 = 63;
pub const VCC: u8 = 53;

/// Vector registers in which two runs may differ.
pub type Differ = BTreeSet<u8>;

/// A lane in both runs: its bit in every mask that is followed (bit p: registers 2p and 2p + 1), and the registers in which the
/// runs may differ.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    pub one: u64,
    pub two: u64,
    pub differ: Differ,
}

impl Lane {
    pub fn bit(&self, pair: u8) -> (bool, bool) {
        (self.one >> pair & 1 == 1, self.two >> pair & 1 == 1)
    }

    pub fn put(&mut self, pair: u8, bits: (bool, bool)) {
        let set = |word: &mut u64, bit: bool| *word = *word & !(1 << pair) | u64::from(bit) << pair;
        set(&mut self.one, bits.0);
        set(&mut self.two, bits.1);
    }

    /// On in one run at least.
    pub fn on(&self) -> bool {
        self.bit(EXEC) != (false, false)
    }
}

/// Both runs at one point.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Scalar registers that may differ; 128 is SCC.
    pub scalars: BTreeSet<u8>,
    /// Masks that are followed.
    pub followed: u64,
    pub lanes: Vec<Lane>,
    /// There were more kinds of lanes than are looked at, so that less is known than could be.
    pub crowded: bool,
}

pub const SCC: u8 = 128;

/// The most that is looked at.
const MOST: usize = 1 << 13;

impl Pair {
    /// Registers as the launch leaves them, lanes on or off.
    pub fn at_start() -> Pair {
        let lane = |bits: u64| Lane { one: bits, two: bits, differ: Differ::new() };
        let lanes = vec![lane(0), lane(1 << EXEC)];
        Pair { scalars: BTreeSet::new(), followed: 1 << EXEC, lanes, crowded: false }
    }

    /// What labels claim.
    pub fn claimed(labels: &Labels) -> Result<Pair, &'static str> {
        let scalars = labels.scalars.iter().copied().collect();
        let mut pair = Pair { scalars, followed: 0, lanes: Vec::new(), crowded: false };
        if labels.scalars.iter().any(|&n| n > 127) || labels.masks.iter().any(|&m| m > 126 || m % 2 == 1) {
            return Err("there is no such register");
        }
        labels.masks.iter().for_each(|m| pair.followed |= 1 << (m / 2));
        if pair.followed.count_ones() as usize != labels.masks.len() || !pair.follows(EXEC) {
            return Err("masks must be named once, EXEC among them");
        }
        if labels.scc {
            pair.scalars.insert(SCC);
        }
        if labels.lanes.len() > MOST {
            return Err("there are too many kinds of lanes");
        }
        for case in &labels.lanes {
            let mut lane = Lane { one: 0, two: 0, differ: case.vectors.iter().copied().collect() };
            for (i, m) in labels.masks.iter().enumerate() {
                lane.put(m / 2, (case.bits[0] >> i & 1 == 1, case.bits[1] >> i & 1 == 1));
            }
            pair.lanes.push(lane);
        }
        // A mask that differs in some lane differs as a register.
        for m in (0..64).filter(|&m| pair.follows(m)) {
            let differs = pair.lanes.iter().any(|l| l.bit(m).0 != l.bit(m).1);
            if differs && !(pair.scalars.contains(&(2 * m)) && pair.scalars.contains(&(2 * m + 1))) {
                return Err("a mask may differ, its registers not");
            }
        }
        Ok(pair)
    }

    pub fn follows(&self, pair: u8) -> bool {
        self.followed >> pair & 1 == 1
    }

    /// EXEC may differ.
    pub fn exec_differs(&self) -> bool {
        self.lanes.iter().any(|l| l.bit(EXEC).0 != l.bit(EXEC).1)
    }

    /// Stops following a mask.
    pub fn drop_mask(&mut self, pair: u8) {
        if pair != EXEC && self.follows(pair) {
            self.followed &= !(1 << pair);
            self.lanes.iter_mut().for_each(|l| l.put(pair, (false, false)));
            self.tidy();
        }
    }

    /// Lanes of one kind are one.
    pub fn tidy(&mut self) {
        self.lanes.sort_by_key(|l| (l.one, l.two));
        self.lanes.dedup_by(|b, a| {
            let same = (a.one, a.two) == (b.one, b.two);
            if same {
                a.differ.append(&mut b.differ);
            }
            same
        });
        // Rather know less than look at more.
        if self.lanes.len() > MOST && self.followed != 1 << EXEC {
            self.followed = 1 << EXEC;
            self.crowded = true;
            for l in &mut self.lanes {
                (l.one, l.two) = (l.one & 1 << EXEC, l.two & 1 << EXEC);
            }
            self.tidy();
        }
    }

    /// What differs here and not in `claim`, if anything.
    pub fn beyond(&self, claim: &Pair) -> Option<String> {
        if let Some(n) = self.scalars.difference(&claim.scalars).next() {
            return Some(if *n == SCC { "SCC".into() } else { format!("scalar register {n}") });
        }
        let mut here = self.clone();
        // A mask that is claimed to be followed and is not: any bit it can have.
        if claim.followed & !self.followed != 0 {
            return Some("a mask that is not followed any more".into());
        }
        (0..64).filter(|&m| !claim.follows(m)).for_each(|m| here.drop_mask(m));
        for lane in &here.lanes {
            let Some(same) = claim.lanes.iter().find(|c| (c.one, c.two) == (lane.one, lane.two)) else {
                return Some("which lanes have their bits in which masks".into());
            };
            if let Some(v) = lane.differ.difference(&same.differ).next() {
                return Some(format!("vector register {v}"));
            }
        }
        None
    }
}
