//! Dual-path execution (mechanisms 9; Rhu and Erez, HPCA 2013): a stack whose entries have a left and a right path, and only the two
//! paths of the top can be scheduled. A branch of one of them pushes an entry: the other one is held until that entry is popped.

use super::forking::Rules;
use super::forks::Forks;
use super::mechanism::Standing;
use wb_hw::Mechanism;

#[derive(Debug)]
pub(super) struct Dpe;

impl Rules for Dpe {
    fn mechanism(&self) -> Mechanism {
        Mechanism::Dpe
    }

    /// An entry has two paths: a branch inside pushes another one, even if it meets at the same place.
    fn again(&self) -> bool {
        false
    }

    fn holds(&self) -> bool {
        true
    }

    fn held(&mut self, forks: &Forks, paths: &[Standing]) -> u64 {
        let top = paths.iter().map(|p| forks.number(p.id)).max().unwrap_or(0);
        paths.iter().filter(|p| forks.number(p.id) != top).fold(0, |m, p| m | 1 << p.id)
    }
}
