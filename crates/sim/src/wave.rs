//! A wave and its paths. A wave that is not split has one path, number 0; a split one has a path per context it
//! uses, each with scalar registers of its own. The lanes' registers exist once and are with the path that ran last.

use crate::divergence::Divergence;
use crate::origins::Origins;
use wb_isa::{Isa, Mask, Pc};

/// Lanes launched together: its paths, mechanism state, who is left. `X` is what a run keeps per path.
pub struct Wave<I: Isa, X> {
    pub id: u32,
    /// By context number; those not in `ids` are left over from earlier splits.
    pub paths: Vec<PathState<I, X>>,
    /// Paths that exist, that wait to merge, and that wait at a barrier, one bit each.
    pub ids: u64,
    pub parked: u64,
    pub at_barrier: u64,
    /// The barrier that lanes came to last, and which of them did.
    pub asked: (Pc, Mask),
    /// Paths that the mechanism does not let run now.
    pub held: u64,
    /// Id and count of the barrier a path waits at.
    pub barrier: (u64, u64),
    /// Barrier and size of the group, where waves come in groups of several.
    pub team: Option<(u64, u64)>,
    /// The path that has the lanes' registers.
    pub holder: usize,
    pub divergence: Box<dyn Divergence>,
    /// Its stack entries in use.
    pub depth: usize,
    /// Launched and not exited.
    pub live: Mask,
    /// Instructions issued by the wave.
    pub issued: u64,
    /// Most stack entries the wave ever had.
    pub max_depth: usize,
    pub interrupted: Interrupted,
    /// What the last instruction did to paths, for the machine to follow.
    pub changes: Vec<PathChange>,
    /// When each pair of paths parted, in instructions of the wave; by number, once the wave has split.
    pub parted_at: Vec<u64>,
    /// Entries that are free in the warp-split table of its partition (DWS as published).
    pub room: u32,
}

/// One path with what belongs to it alone.
pub struct PathState<I: Isa, X> {
    pub path: Path,
    pub regs: I::Regs,
    pub own: X,
    /// When each path register was written last, in instructions of the wave; once the wave has split.
    pub written: Vec<u64>,
    /// What made the masks around the present one, where the ISA has an execution mask of its own.
    pub origins: Origins,
    /// Its registers without regard to its lanes, once the wave has split and if somebody wants to know (THESIS 4.3.4).
    pub base: Base,
}

/// What a path keeps to know the base execution mask.
#[derive(Clone, Debug, Default)]
pub struct Base {
    pub registers: Vec<u32>,
    /// The last instruction changed the mask, and the mechanism has not heard of it.
    pub moved: bool,
}

/// Whether a handler runs on lane 0: then masks on the stack belong to what it interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    No,
    Handler,
    /// An interrupt inside a handler: the machine keeps one context, the first one is lost for good.
    Nested,
}

/// A schedulable (pc, lanes) of a wave.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    pub pc: Pc,
    pub mask: Mask,
    /// Where the mechanism wants to be asked before the path goes on.
    pub watch: Pc,
    /// What narrowed the mask.
    pub origin: Pc,
    /// The instruction executed last, for messages.
    pub from: Pc,
}

/// What happened to the paths of a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathChange {
    New {
        id: usize,
    },
    /// `from` is gone, `into` has its lanes.
    Merged {
        into: usize,
        from: usize,
    },
    /// Waits for a sibling.
    Parked {
        id: usize,
    },
    /// Waits no longer.
    Woken {
        id: usize,
    },
    /// Its last lane exited.
    Ended {
        id: usize,
    },
}

impl<I: Isa, X> Wave<I, X> {
    /// Paths that could run.
    pub fn runnable(&self) -> u64 {
        self.standing() & !self.held
    }

    /// Paths that wait neither for a sibling nor at a barrier.
    pub fn standing(&self) -> u64 {
        self.ids & !self.parked & !self.at_barrier
    }

    /// Every path waits, at least one of them at a barrier: the wave as a whole has arrived there.
    pub fn all_at_barrier(&self) -> bool {
        self.at_barrier != 0 && self.runnable() == 0
    }

    pub fn is_split(&self) -> bool {
        self.ids & (self.ids.wrapping_sub(1)) != 0
    }

    /// Entries of a warp-split table that it needs: one for each path once it is split.
    pub fn table_entries(&self) -> u32 {
        if self.is_split() { self.ids.count_ones() } else { 0 }
    }

    /// The registers with the lanes' part, to be used for another wave.
    pub fn into_regs(mut self) -> I::Regs {
        self.paths.swap_remove(self.holder).regs
    }

    pub fn regs(&self) -> &I::Regs {
        &self.paths[self.holder].regs
    }
}
