//! What the oracles of SWAS section VI-A tell about a run: decisions of schedulers, and counts.

/// Cycles by why the oracle's wave did not issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes {
    /// Its queue is empty after a miss of the instruction cache.
    pub miss: u64,
    /// ... after a taken branch.
    pub branch: u64,
    /// ... because fetch and issue are not synchronised.
    pub synchronisation: u64,
    /// Its queue is not empty: the oracle's turn is another one since an earlier difference (loose round robin only).
    pub shifted: u64,
}

impl Causes {
    pub fn total(&self) -> u64 {
        self.miss + self.branch + self.synchronisation + self.shifted
    }

    pub(crate) fn count(&mut self, cause: Cause) {
        match cause {
            Cause::Miss => self.miss += 1,
            Cause::Branch => self.branch += 1,
            Cause::Synchronisation => self.synchronisation += 1,
            Cause::Shifted => self.shifted += 1,
        }
    }
}

/// Why the oracle's wave did not issue; see [`Causes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Miss,
    Branch,
    Synchronisation,
    Shifted,
}

/// What one issue scheduler did in a cycle, and what the oracles would have done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub cycle: u64,
    pub core: u32,
    pub scheduler: u32,
    /// Slot of the wave that issued; and whether it was a NOP.
    pub slot: Option<u32>,
    pub nop: bool,
    /// Slot of the wave the first oracle chose.
    pub wanted: Option<u32>,
    pub discrepancy: Option<Cause>,
    pub error: Option<Cause>,
}

/// The metrics of SWAS section VI-A5, of the kernel alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Cycles in which at least one wave is in the kernel.
    pub cycles: u64,
    /// Wave-instructions of waves in the kernel, and their active lanes added up.
    pub committed: u64,
    pub lane_instructions: u64,
    /// Issued NOPs, requests that missed the instruction cache, and times a wave did not go straight on.
    pub nops: u64,
    pub misses: u64,
    pub taken_branches: u64,
    /// What was fetched behind taken branches and thrown away.
    pub discarded: u64,
    /// Cycles in which the first oracle chose otherwise, and in which the second did.
    pub discrepancies: Causes,
    pub errors: Causes,
    /// Issue schedulers that were compared; cycles are counted for each.
    pub schedulers: u32,
}

impl Schedule {
    /// Instructions committed by threads per cycle.
    pub fn thread_ipc(&self) -> f64 {
        ratio(self.lane_instructions, self.cycles)
    }

    /// Share of the cycles (of each scheduler) with an error.
    pub fn error_rate(&self) -> f64 {
        ratio(self.errors.total(), self.cycles * u64::from(self.schedulers.max(1)))
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
