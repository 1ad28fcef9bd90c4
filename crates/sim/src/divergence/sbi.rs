//! Simultaneous branch interweaving (mechanisms 10; Brunie, Collange and Diamos, ISCA 2012): the two paths of a wave with the smallest
//! pcs are hot, the others wait in a table sorted by pc. Each cycle both hot paths can issue, on the disjoint lanes of one row. Paths at the
//! same pc become one, and wait at the reconvergence pc for those that are still inside. With `sbi-swi` the second instruction may as well
//! come from another wave, if its lanes are idle (simultaneous warp interweaving).

use super::forking::Rules;
use super::forks::Forks;
use super::mechanism::{Standing, Together, Waves};
use wb_hw::Mechanism;

#[derive(Debug)]
pub(super) struct Sbi {
    pub mechanism: Mechanism,
}

impl Rules for Sbi {
    fn mechanism(&self) -> Mechanism {
        self.mechanism
    }

    fn meets(&self) -> bool {
        true
    }

    fn holds(&self) -> bool {
        true
    }

    fn held(&mut self, _forks: &Forks, paths: &[Standing]) -> u64 {
        let mut order: Vec<_> = paths.iter().map(|p| (p.pc, p.id)).collect();
        order.sort_unstable();
        order.iter().skip(2).fold(0, |m, p| m | 1 << p.1)
    }

    fn together(&self) -> Together {
        let waves = if self.mechanism == Mechanism::SbiSwi { Waves::Any } else { Waves::Same };
        Together::Fused { most: 2, waves, slice: 1 }
    }
}
