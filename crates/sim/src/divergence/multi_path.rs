//! Multi-path execution (mechanisms 16; ElTantawy, Ma, O'Connor and Aamodt, HPCA 2014): the split table holds all sides of divergent
//! branches, each of which can be scheduled; the reconvergence table holds what waits at a post-dominator, with a bit for each lane that
//! has not come. An entry of the one is a path here, an entry of the other a fork ([`super::forks`]).

use super::forking::Rules;
use wb_hw::Mechanism;

/// Every branch forks, and paths meet at its immediate post-dominator.
#[derive(Debug)]
pub(super) struct MultiPath;

impl Rules for MultiPath {
    fn mechanism(&self) -> Mechanism {
        Mechanism::MultiPath
    }
}
