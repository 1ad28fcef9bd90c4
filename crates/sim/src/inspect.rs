//! Looking at an untimed run between its instructions: what a debugger needs. Everything is read from the run itself, nothing is
//! copied beforehand, and nothing of the run can be changed. So a run that is looked at does what any other does.

use crate::error::SimError;
use crate::memory::{DeviceMemory, Exact};
use std::ops::ControlFlow;
use wb_isa::{Mask, Pc};

/// Somebody who looks at an untimed run between its instructions.
pub trait Inspector {
    /// Nothing has to be asked before the run has executed so many instructions; until then it is as fast as any.
    fn quiet_until(&self) -> u64;
    /// Whether [`Did::written`] is wanted; asked before every instruction.
    fn wants_accesses(&self) -> bool;
    /// Before an instruction. Break: the run ends here, with an error of the kind [`crate::ErrorKind::Stopped`].
    fn before(&mut self, now: &dyn Inspected) -> ControlFlow<()>;
    /// After it.
    fn after(&mut self, did: &Did);
    /// The run is over, by itself or because of an error; then what failed is still there to be looked at.
    fn over(&mut self, now: &dyn Inspected, error: Option<&SimError>);
}

/// A run that stands between two instructions.
pub trait Inspected {
    /// Instructions of waves that were executed so far.
    fn executed(&self) -> u64;
    /// The wave and its path whose instruction comes next, or failed; none once the run is over.
    fn current(&self) -> Option<(u32, usize)>;
    /// Waves that have started and not ended, by number.
    fn waves(&self) -> Vec<WaveSeen>;
    fn wave(&self, wave: u32) -> Option<WaveSeen>;
    /// Paths of a wave that exist.
    fn paths(&self, wave: u32) -> Vec<PathSeen>;
    fn path(&self, wave: u32, path: usize) -> Option<PathSeen>;
    /// Registers of one lane of a path, with the path's own, in the order of the instruction set.
    fn registers(&self, wave: u32, path: usize, lane: u32) -> Vec<(String, u64)>;
    fn memory(&self) -> &DeviceMemory;
    /// What the program has printed.
    fn printed(&self) -> Vec<u8>;
}

/// A wave as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveSeen {
    pub wave: u32,
    pub core: u32,
    pub slot: u32,
    pub group: u32,
    pub wave_in_group: u32,
    /// Lanes that have not exited.
    pub live: Mask,
    /// Instructions it has executed.
    pub issued: u64,
    /// Entries of its divergence stack.
    pub depth: usize,
    pub at_barrier: bool,
    /// Where the local memory of its group and its private memory are.
    pub lds_base: u64,
    pub scratch_base: u64,
}

/// Whether a path can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    Runs,
    /// Waits to merge.
    Parked,
    AtBarrier,
    /// The mechanism does not let it run now.
    Held,
}

impl PathState {
    pub fn words(self) -> &'static str {
        match self {
            PathState::Runs => "runs",
            PathState::Parked => "waits to merge",
            PathState::AtBarrier => "waits at a barrier",
            PathState::Held => "is held back",
        }
    }
}

/// A path as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSeen {
    pub path: usize,
    pub pc: Pc,
    /// The instruction it executed last.
    pub from: Pc,
    pub mask: Mask,
    /// Lanes of the mask that the next instruction works on.
    pub active: Mask,
    pub state: PathState,
}

/// What an instruction did.
#[derive(Clone, Copy, Debug)]
pub struct Did<'a> {
    pub wave: u32,
    pub path: usize,
    pub pc: Pc,
    /// Lanes of the path before.
    pub mask: Mask,
    /// Lanes that were on before, and that are on after it; none if the path has gone.
    pub active: Mask,
    pub then: Mask,
    /// Where the path goes on, if it exists.
    pub to: Option<Pc>,
    /// Lanes of the wave that have not exited.
    pub live: Mask,
    /// It is a barrier.
    pub barrier: bool,
    /// The wave has ended.
    pub ended: bool,
    /// Memory that it wrote, if somebody wants to know.
    pub written: &'a [Exact],
}

impl Did<'_> {
    /// Lanes that were together before it and are not any more, though none of them has ended: those that went on together, and the
    /// others.
    pub fn parted(&self) -> Option<(Mask, Mask)> {
        let left = self.active & !self.then & self.live;
        let within = self.then != 0 && self.then & !self.active == 0;
        (within && left != 0).then_some((self.then, left))
    }
}
