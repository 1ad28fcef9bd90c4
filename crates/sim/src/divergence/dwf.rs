//! Dynamic warp formation (mechanisms 12; Fung, Sham, Yuan and Aamodt, MICRO 2007), lane-aware: work-items stay on their home lanes, and
//! paths of all waves of a partition that stand at the pc of the one the scheduler picked issue with it as one warp, if their lanes are
//! free. Paths do not wait for each other: those of a wave at the same pc become one, as those of other waves do for an issue. The order is
//! that of the issue policy (design choice: the paper's majority policy counts work-items by pc, which needs a pool of formed warps).
//! A path joins a warp as a whole or not at all; the paper lets each of its lanes join (design choice).

use super::forking::{APART, Rules};
use super::forks::Forks;
use super::mechanism::{Context, Together, Waves};
use wb_hw::Mechanism;
use wb_isa::Pc;

#[derive(Debug)]
pub(super) struct Dwf;

impl Rules for Dwf {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Dwf
    }

    fn meeting(&self, _forks: &Forks, _rpc: Pc, _cx: &Context) -> Pc {
        APART
    }

    fn meets(&self) -> bool {
        true
    }

    fn together(&self) -> Together {
        Together::Fused { most: 64, waves: Waves::SamePc, slice: 1 }
    }
}
