//! A wave of an untimed run, in its slot.

use crate::residency::GroupPlace;
use crate::wave::Wave;
use wb_isa::{Isa, WaveStart};

pub(crate) struct Resident<I: Isa> {
    pub wave: Wave<I, ()>,
    /// The path whose turn it is.
    pub path: usize,
    pub place: GroupPlace,
    /// Who it is, and where its memories are.
    pub start: WaveStart,
    pub slot: u32,
}
