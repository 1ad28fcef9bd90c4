//! Subwarp interleaving (mechanisms 11; Damani, Stephenson et al., HPCA 2022): the sides of a branch are subwarps of a wave, at most
//! `split.contexts` + 1 of them. One is active; when its next instruction is not ready, another one that is takes its place in the
//! wave's slot. They meet at the post-dominator. Here every side may issue, and a wave stays with the side that issued last while that is
//! ready. The paper's trigger (a fraction of waves that stall) and its cost of switching are not modelled.

use super::forking::Rules;
use wb_hw::Mechanism;

#[derive(Debug)]
pub(super) struct Si;

impl Rules for Si {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Si
    }

    fn sticky(&self) -> bool {
        true
    }
}
