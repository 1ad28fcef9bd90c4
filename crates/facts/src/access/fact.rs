//! What is asked and what is answered: the machine as far as it matters, and what one execution of an instruction can touch.

use std::fmt;
use wb_isa::Pc;

/// What matters of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessShape {
    /// Bytes of a line, a power of two: of vector memory and of scalar memory.
    pub data_line: u32,
    pub scalar_line: u32,
    /// Banks of local memory; 0: it has none to wait for.
    pub banks: u32,
    /// Lanes of a wave.
    pub lanes: u32,
    /// Paths of a wave can run apart and meet again: then only what is the same for all paths is shared by their lanes.
    pub apart: bool,
}

/// Whether an access goes to local memory (LDS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    Never,
    Always,
    /// A flat access whose address is not known.
    Maybe,
}

/// Why nothing is known about the addresses of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    Memory,
    Operation,
    Start,
    Flow,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Why::Memory => "index comes from memory",
            Why::Operation => "index is computed in a way that is not followed",
            Why::Start => "index comes from a register that is not followed",
            Why::Flow => "the flow of the kernel is not known, or never gets there",
        })
    }
}

/// What one execution of an instruction by one wave can touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFact {
    pub pc: Pc,
    /// Different cache lines at most: of the scalar port for scalar loads and stores, of the data port for all others.
    pub lines: u32,
    /// Bank passes at most, if it goes to local memory.
    pub passes: u32,
    pub local: Local,
    pub write: bool,
    /// The first and the last byte it can touch, if known: device addresses, never of local memory.
    pub range: Option<(u64, u64)>,
    /// Why its addresses are no function of the lane; none if they are.
    pub why: Option<Why>,
}

impl AccessFact {
    /// What holds if this or that does.
    pub(super) fn or(&mut self, other: AccessFact) {
        let hull = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.min(c), b.max(d));
        self.lines = self.lines.max(other.lines);
        self.passes = self.passes.max(other.passes);
        self.range = self.range.zip(other.range).map(|(a, b)| hull(a, b));
        self.why = self.why.or(other.why);
        if self.local != other.local {
            self.local = Local::Maybe;
        }
    }

    /// What holds if both do.
    pub(super) fn and(self, other: AccessFact) -> AccessFact {
        let meet = |(a, b): (u64, u64), (c, d): (u64, u64)| (a.max(c), b.min(d));
        let range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some(meet(a, b)).filter(|r| r.0 <= r.1).or(Some(a)),
            (a, b) => a.or(b),
        };
        AccessFact {
            lines: self.lines.min(other.lines),
            passes: self.passes.min(other.passes),
            local: if self.local == Local::Maybe { other.local } else { self.local },
            range,
            why: self.why.and(other.why),
            ..self
        }
    }
}
