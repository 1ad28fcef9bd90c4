//! What is known about the flow of a kernel, as data: limits of loops, linear facts and homogeneous masks, each with its origin.

use std::collections::BTreeMap;
use wb_isa::Pc;

/// Where a limit comes from; a bound that rests on anything but proofs says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Follows from the code and the launch.
    Proved,
    /// The user says so.
    User,
    /// Seen in runs, not proven.
    Observed,
    /// An FFX file says so.
    Ffx,
}

impl Origin {
    pub fn name(self) -> &'static str {
        match self {
            Origin::Proved => "proved",
            Origin::User => "user",
            Origin::Observed => "observed",
            Origin::Ffx => "ffx",
        }
    }
}

/// The edges back to the loop's header are taken at most `max` times for each time the loop is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFact {
    /// First instruction of the header.
    pub header: Pc,
    pub max: u64,
    pub origin: Origin,
    /// The proof, or the reason the user gave.
    pub why: String,
}

/// What a linear fact counts in one execution of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// How often the block that begins with this pc runs.
    Block(Pc),
    /// How often the loop with this header goes round, over all times it is entered.
    Rounds(Pc),
}

/// Σ factor · count ≤ limit, for every execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearFact {
    pub name: String,
    pub terms: Vec<(i64, Counted)>,
    pub limit: i64,
    pub origin: Origin,
}

/// A side of a branch on the mask: for lanes that are on behind it, and for those that are off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BranchSide {
    First,
    Second,
}

impl BranchSide {
    pub fn name(self) -> &'static str {
        match self {
            BranchSide::First => "first",
            BranchSide::Second => "second",
        }
    }
}

/// The mask at a branch is homogeneous (THESIS 5.2.4): of a path's lanes all go into the first side, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomogeneousFact {
    /// The branch in front of the first side.
    pub branch: Pc,
    /// The only side that any path takes, if that is known.
    pub side: Option<BranchSide>,
    /// The reason the user gave.
    pub why: String,
}

/// Everything known about the flow of one kernel; loops by header and branches, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFacts {
    pub loops: Vec<LoopFact>,
    pub facts: Vec<LinearFact>,
    pub homogeneous: Vec<HomogeneousFact>,
}

impl FlowFacts {
    /// The limit of the loop with this header.
    pub fn bound(&self, header: Pc) -> Option<&LoopFact> {
        self.loops.iter().find(|l| l.header == header)
    }

    /// Adds limits; of two for the same loop the smaller one stays, both being true.
    pub fn add(&mut self, more: impl IntoIterator<Item = LoopFact>) {
        let mut best: BTreeMap<Pc, LoopFact> = BTreeMap::new();
        for fact in std::mem::take(&mut self.loops).into_iter().chain(more) {
            match best.get(&fact.header) {
                Some(known) if (known.max, known.origin) <= (fact.max, fact.origin) => {}
                _ => _ = best.insert(fact.header, fact),
            }
        }
        self.loops = best.into_values().collect();
    }
}
