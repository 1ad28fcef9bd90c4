//! What can be wrong, by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a checked run reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An access outside what was allocated, or outside the array that was meant.
    OutOfBounds,
    /// An access to memory that was given back.
    UseAfterFree,
    /// A branch, an address or a result depends on a value that nobody wrote.
    Uninitialised,
    /// Two accesses to the same place, one of them a write, that nothing orders.
    Race,
    /// Not all work-items of a group reach a barrier, or they reach different ones.
    BarrierDivergence,
    /// The value of a lane that is off.
    InactiveLane,
    /// `v_readfirstlane` of a value on which the lanes disagree.
    DivergentReadfirstlane,
    /// An address that is not a multiple of what it points to.
    Misaligned,
    /// An integer divided by zero.
    DivisionByZero,
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::OutOfBounds,
        Kind::UseAfterFree,
        Kind::Uninitialised,
        Kind::Race,
        Kind::BarrierDivergence,
        Kind::InactiveLane,
        Kind::DivergentReadfirstlane,
        Kind::Misaligned,
        Kind::DivisionByZero,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::UseAfterFree => "use-after-free",
            Kind::Uninitialised => "uninitialised",
            Kind::Race => "race",
            Kind::BarrierDivergence => "barrier-divergence",
            Kind::InactiveLane => "inactive-lane",
            Kind::DivergentReadfirstlane => "divergent-readfirstlane",
            Kind::Misaligned => "misaligned",
            Kind::DivisionByZero => "division-by-zero",
        }
    }

    pub fn of_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
