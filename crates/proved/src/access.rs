//! What a memory instruction can touch, as the proof takes it.

/// Whether an access goes to local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Local {
    Never,
    Always,
    /// A flat access, whose address decides.
    Maybe,
}

/// The most that one execution of a memory instruction by one wave can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Lines of the first cache on its way, or of DRAM.
    pub lines: u64,
    /// Times the banks of local memory are used.
    pub passes: u64,
    pub local: Local,
    /// It can load, or store (atomics count as stores: they go through).
    pub loads: bool,
    pub stores: bool,
    /// Addresses of all its bytes, first and last, if they are known.
    pub range: Option<(u64, u64)>,
}

/// What memory is when the launch begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Lines are told by their distance from here.
    pub origin: u64,
    /// What programs may touch, first byte and the byte behind; everything else is a fault. In order, apart from each other.
    pub allowed: Vec<(u64, u64)>,
    /// What accesses whose addresses are not known are taken to touch: the same without instructions and local memories.
    pub open: Vec<(u64, u64)>,
    /// Instructions that can be fetched.
    pub code: Vec<(u64, u64)>,
}

impl Memory {
    /// What an access can touch without a fault.
    pub fn touched(&self, access: &Access) -> Vec<(u64, u64)> {
        let Some((first, last)) = access.range else { return self.open.clone() };
        let within = |&(from, to): &(u64, u64)| {
            let (from, to) = (from.max(first), to.min(last.saturating_add(1)));
            (from < to).then_some((from, to))
        };
        self.allowed.iter().filter_map(within).collect()
    }
}
