//! Decoded instructions.

use wb_isa::{Pc, Waits};

/// One decoded instruction with what the pipeline asks about it.
#[derive(Clone, Debug)]
pub struct Op<T> {
    /// `None` where the program has data or nothing decodable: executing it is an error.
    pub inst: Option<T>,
    pub next: Pc,
    pub class: u8,
    pub waits_for_all: bool,
    pub waits: Waits,
    /// Locks of the registers read and written: `pool[start..split]` and `pool[split..end]`.
    pub(crate) start: u32,
    pub(crate) split: u32,
    pub(crate) end: u32,
}

/// An instruction as it is executed: [bound](wb_isa::Isa::bind), beside what comes next.
#[derive(Clone, Debug)]
pub struct Step<B> {
    pub next: Pc,
    /// `None` where there is no instruction.
    pub bound: Option<B>,
}
