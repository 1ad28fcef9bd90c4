//! Policies without memory: fixed priority, the fetch of the original Vortex (SWAS section V-B), and Icount, which
//! fetches for the wave with the fewest instructions fetched and not yet issued (SWAS section II-B).

use super::policy::{Choice, Policy, View};
use wb_isa::lanes::bits;

#[derive(Debug)]
pub struct FixedPriority;

impl Policy for FixedPriority {
    fn pick(&mut self, view: &View) -> Option<u32> {
        (view.ready != 0).then(|| view.ready.trailing_zeros())
    }

    fn choice(&self) -> Choice {
        Choice::AmongSeveral
    }
}

/// Equal counts: the smallest slot.
#[derive(Debug)]
pub struct Icount;

impl Policy for Icount {
    fn pick(&mut self, view: &View) -> Option<u32> {
        bits(view.ready).min_by_key(|&s| view.queued.get(s as usize).copied().unwrap_or(0))
    }

    fn choice(&self) -> Choice {
        Choice::AmongSeveral
    }
}
