//! A row of a trace file (docs/wcet-traces.md): a point that a path passed.

use wb_isa::Pc;

/// What a path passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The wave took its slot.
    Start,
    /// The wave, or this path of it, is done.
    End,
    Pc(Pc),
}

/// A point that a path passed. Numbers of paths are not used twice in a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub run: u32,
    pub group: u32,
    pub wave: u32,
    pub path: u32,
    pub at: At,
    /// When it got there, and when it went on: later, if it had to wait for another path to merge with.
    pub cycle: u64,
    pub leave: u64,
    /// The path it goes on as, if this is its last row.
    pub into: Option<u32>,
}
