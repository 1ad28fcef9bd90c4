//! What may differ between two runs with different contents, at one point of the program.
//!
//! Lanes are told apart by their bits in the masks, in both runs: a *case*. So it is known that lanes which a branch on data
//! switched off are on again where its lanes meet, and that a register is the same in the lanes that will read it, whatever
//! older values the others hold. Masks that nobody reads again are forgotten, which keeps the cases few.

use std::collections::BTreeMap;
use wb_isa::Pc;

/// EXEC and VCC as pairs.
pub const EXEC: u8 = 63;
pub const VCC: u8 = 53;

/// More cases than this are not told apart.
const CASES: usize = 4096;

/// No origin.
pub const NOWHERE: Pc = Pc::MAX;

/// A lane's bits: of pair p in one run (bit 2p) and in the other (2p + 1).
pub type Case = u128;

/// A set of vector registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vectors([u64; 4]);

impl Vectors {
    pub fn has(&self, v: u8) -> bool {
        self.0[usize::from(v >> 6)] >> (v & 63) & 1 == 1
    }

    pub fn set(&mut self, v: u8, on: bool) {
        let bit = 1 << (v & 63);
        let word = &mut self.0[usize::from(v >> 6)];
        *word = if on { *word | bit } else { *word & !bit };
    }

    fn join(&mut self, other: &Vectors) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }

    pub fn list(&self) -> Vec<u8> {
        (0..=255).filter(|&v| self.has(v)).collect()
    }

    pub fn any(&self) -> bool {
        self.0 != [0; 4]
    }
}

/// The bits of a pair in a case.
pub fn bits(case: Case, pair: u8) -> (bool, bool) {
    (case >> (2 * pair) & 1 == 1, case >> (2 * pair + 1) & 1 == 1)
}

pub fn with_bits(case: Case, pair: u8, (a, b): (bool, bool)) -> Case {
    case & !(3 << (2 * pair)) | u128::from(a) << (2 * pair) | u128::from(b) << (2 * pair + 1)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Scalar registers that may differ.
    pub scalars: u128,
    pub scc: bool,
    /// Pairs that are followed lane by lane.
    pub masks: u64,
    pub lanes: BTreeMap<Case, Vectors>,
    /// A load that a difference comes from, for advice only: vector registers, scalar registers, SCC.
    origins: Box<[Pc; 256 + 128 + 1]>,
}

impl State {
    /// As a wave begins: the launch decides all registers.
    pub fn start() -> State {
        let both = [(false, false), (true, true)];
        State {
            scalars: 0,
            scc: false,
            masks: 1 << EXEC,
            lanes: both.map(|b| (with_bits(0, EXEC, b), Vectors::default())).into_iter().collect(),
            origins: Box::new([NOWHERE; 385]),
        }
    }

    pub fn scalar(&self, n: u8) -> bool {
        self.scalars >> (n & 127) & 1 == 1
    }

    pub fn tracked(&self, pair: u8) -> bool {
        self.masks >> pair & 1 == 1
    }

    /// EXEC may differ in some lane.
    pub fn exec_differs(&self) -> bool {
        self.scalar(126) || self.scalar(127)
    }

    pub fn origin_of_vector(&self, v: u8) -> Pc {
        self.origins[usize::from(v)]
    }

    pub fn origin_of_scalar(&self, n: u8) -> Pc {
        self.origins[256 + usize::from(n & 127)]
    }

    pub fn origin_of_scc(&self) -> Pc {
        self.origins[384]
    }

    pub fn set_origin_of_vector(&mut self, v: u8, from: Pc) {
        self.origins[usize::from(v)] = from;
    }

    pub fn set_origin_of_scalar(&mut self, n: u8, from: Pc) {
        self.origins[256 + usize::from(n & 127)] = from;
    }

    pub fn set_scc(&mut self, differs: bool, from: Pc) {
        self.scc = differs;
        self.origins[384] = if differs { from } else { NOWHERE };
    }

    /// A scalar register is written with something that is no mask.
    pub fn write_scalar(&mut self, n: u8, differs: bool, from: Pc) {
        let pair = (n & 127) >> 1;
        if pair == EXEC {
            let all = [(false, false), (true, true), (true, false), (false, true)];
            let differs = differs || self.exec_differs();
            self.assign(&[EXEC], |_| all[..if differs { 4 } else { 2 }].iter().map(|&b| [b; 1]).collect());
            (0..2).for_each(|i| self.set_origin_of_scalar(126 + i, from));
            return;
        }
        self.forget(pair);
        let bit = 1 << (n & 127);
        self.scalars = if differs { self.scalars | bit } else { self.scalars & !bit };
        self.set_origin_of_scalar(n, if differs { from } else { NOWHERE });
    }

    /// The pair is no longer followed lane by lane; whether it may differ stays known.
    pub fn forget(&mut self, pair: u8) {
        if !self.tracked(pair) || pair == EXEC {
            return;
        }
        self.masks &= !(1 << pair);
        self.change(|case, vectors| vec![(case & !(3 << (2 * pair)), *vectors)]);
    }

    /// Every case becomes those that `f` says.
    pub fn change(&mut self, f: impl Fn(Case, &Vectors) -> Vec<(Case, Vectors)>) {
        self.replace(f);
        self.limit();
    }

    fn replace(&mut self, f: impl Fn(Case, &Vectors) -> Vec<(Case, Vectors)>) {
        let mut lanes: BTreeMap<Case, Vectors> = BTreeMap::new();
        for (&case, vectors) in &self.lanes {
            for (case, vectors) in f(case, vectors) {
                lanes.entry(case).or_default().join(&vectors);
            }
        }
        self.lanes = lanes;
    }

    /// Gives up cases that are too many. Whether pairs may differ must be known by then: their bits are lost.
    fn limit(&mut self) {
        if self.lanes.len() > CASES {
            (0..64).for_each(|pair| self.forget(pair));
        }
    }

    /// Pairs get new bits: `f` says which ones a case can have then.
    pub fn assign<const N: usize>(&mut self, pairs: &[u8; N], f: impl Fn(Case) -> Vec<[(bool, bool); N]>) {
        pairs.iter().for_each(|pair| self.masks |= 1 << pair);
        self.replace(|case, vectors| {
            let put = |new: [(bool, bool); N]| {
                let case = pairs.iter().zip(new).fold(case, |case, (&pair, b)| with_bits(case, pair, b));
                (case, *vectors)
            };
            f(case).into_iter().map(put).collect()
        });
        for &pair in pairs {
            let differs = self.lanes.keys().any(|&case| {
                let (a, b) = bits(case, pair);
                a != b
            });
            let both = 3 << (2 * pair);
            self.scalars = if differs { self.scalars | both } else { self.scalars & !both };
        }
        self.limit();
    }

    /// What holds on both ways. True if `self` became weaker.
    pub fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let mut other = other.clone();
        for pair in 0..64 {
            if self.tracked(pair) != other.tracked(pair) {
                self.forget(pair);
                other.forget(pair);
            }
        }
        self.scalars |= other.scalars;
        self.scc |= other.scc;
        for (case, vectors) in other.lanes {
            self.lanes.entry(case).or_default().join(&vectors);
        }
        self.origins.iter_mut().zip(*other.origins).for_each(|(a, b)| *a = b.min(*a));
        *self != before
    }
}
