//! What a scheduler sees and answers.

/// What a scheduler may look at in one cycle; one bit per slot of the partition.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Could go this cycle.
    pub ready: u64,
    /// Has something to do but waits for data, instructions, a barrier or a sibling.
    pub stalled: u64,
    /// Holds a wave.
    pub occupied: u64,
    /// Those of them that wait neither at a barrier nor for a sibling or last results; fetch: all of them.
    pub active: u64,
    /// Launch order per slot, smaller = older.
    pub age: &'a [u64],
    /// Fetch: instructions per slot that are fetched or under way and not issued.
    pub queued: &'a [u32],
    /// Instructions that the wave in each slot has issued so far; fetch: requested.
    pub progress: &'a [u32],
    pub slots: u32,
}

impl View<'_> {
    /// Whether the slot could go this cycle.
    pub fn is_ready(&self, slot: u32) -> bool {
        slot < 64 && self.ready >> slot & 1 == 1
    }

    /// The first ready slot after `slot`, going round.
    pub fn next_ready(&self, slot: u32) -> Option<u32> {
        next_behind(self.ready, slot)
    }

    /// The ready slot whose wave was launched first.
    pub fn oldest_ready(&self) -> Option<u32> {
        oldest(self.ready, self.age)
    }
}

/// The first slot of `ready` behind `slot`, or from the beginning.
#[inline(always)]
pub fn next_behind(ready: u64, slot: u32) -> Option<u32> {
    let after = if slot >= 63 { 0 } else { ready >> (slot + 1) << (slot + 1) };
    let pick = if after != 0 { after } else { ready };
    (pick != 0).then(|| pick.trailing_zeros())
}

/// The slot among `ready` whose wave was launched first.
#[inline(always)]
pub fn oldest(ready: u64, age: &[u64]) -> Option<u32> {
    if ready == 0 {
        return None;
    }
    let (mut best, mut rest) = (ready.trailing_zeros(), ready & (ready - 1));
    while rest != 0 {
        let slot = rest.trailing_zeros();
        best = if age[slot as usize] < age[best as usize] { slot } else { best };
        rest &= rest - 1;
    }
    Some(best)
}

/// Whether a policy has to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Always, and told of cycles in which nobody was ready: it may look at who stalls, let cycles pass, or remember them.
    Asked,
    /// In cycles in which somebody is ready. It looks at nobody else, and remembers at most who went last.
    AmongReady,
    /// Only where several are ready: it remembers nothing, and takes whoever is the only one.
    AmongSeveral,
    /// Never: it takes the ready slot whose wave was launched first.
    Oldest,
}

impl Choice {
    /// Whoever is the only one that is ready goes, and the policy need not know.
    #[inline(always)]
    pub fn takes_the_only_one(self) -> bool {
        match self {
            Choice::AmongSeveral | Choice::Oldest => true,
            Choice::Asked | Choice::AmongReady => false,
        }
    }
}

/// A scheduling policy with its memory.
pub trait Policy: Send {
    /// The slot that goes now; must be ready.
    fn pick(&mut self, view: &View) -> Option<u32>;
    /// `cycles` cycles pass in which no slot of the partition is ready and nothing changes.
    fn idle(&mut self, _view: &View, _cycles: u64) {}
    /// Whether it has to be asked.
    fn choice(&self) -> Choice {
        Choice::Asked
    }
    /// The wave in `slot` just issued its last instruction.
    fn ended(&mut self, _slot: u32, _slots: u32) {}
    /// What it remembers, and how another one of its kind goes on from there (SWAS section VI-A4: oracles).
    fn memory(&self) -> u64 {
        0
    }
    fn remember(&mut self, _memory: u64) {}
}
