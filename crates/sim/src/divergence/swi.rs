//! Simultaneous warp interweaving (mechanisms 10; Brunie, Collange and Diamos, ISCA 2012): after the pick of the scheduler, a second
//! instruction of another wave issues in the same cycle if its lanes are idle. Divergence itself is a SIMT stack. The paper's lane shuffling
//! is not here: lanes are where work-items are.

use super::forking::Rules;
use super::forks::Forks;
use super::mechanism::{Context, Together, Waves};
use wb_hw::Mechanism;
use wb_isa::Pc;
use wb_trace::RefusedReason;

#[derive(Debug)]
pub(super) struct Swi;

impl Rules for Swi {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Swi
    }

    /// Sides of a branch run one after the other.
    fn refuses(&self, _forks: &Forks, _rpc: Pc, _cx: &Context) -> Option<RefusedReason> {
        Some(RefusedReason::NoContext)
    }

    fn together(&self) -> Together {
        Together::Fused { most: 2, waves: Waves::Other, slice: 1 }
    }
}
