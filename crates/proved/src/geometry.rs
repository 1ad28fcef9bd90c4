//! Where the waves of a launch can be: groups, how many of them a core holds, and where the dispatcher puts the first ones.

use crate::refusal::Refusal;
use wb_hw::{Dispatch, Machine, Needs};

/// A launch on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub groups: u64,
    pub waves_per_group: u64,
    pub cores: u64,
    pub partitions: u64,
    /// Groups a core holds, waves a partition holds.
    pub groups_per_core: u64,
    pub waves_per_partition: u64,
    pub fill: bool,
}

impl Geometry {
    pub fn new(machine: &Machine, needs: Needs, groups: u64) -> Result<Geometry, Refusal> {
        let fit = machine.occupancy(needs);
        if fit.groups_per_core == 0 {
            return Err(Refusal::NoRoom);
        }
        Ok(Geometry {
            groups,
            waves_per_group: needs.waves_per_group.max(1).into(),
            cores: machine.cores.into(),
            partitions: machine.core.partitions.into(),
            groups_per_core: fit.groups_per_core.into(),
            waves_per_partition: fit.waves_per_partition.into(),
            fill: machine.dispatch == Dispatch::Fill,
        })
    }

    /// All groups are there from the first cycle on.
    pub fn at_once(&self) -> bool {
        self.groups <= self.cores.saturating_mul(self.groups_per_core)
    }

    /// If all are there at once: for each core, for each of its groups, the waves in each partition. A wave takes the free slot with the
    /// smallest number, slot s is in partition s mod partitions.
    pub fn placement(&self) -> Vec<Vec<Vec<u64>>> {
        let (cores, partitions) = (self.cores as usize, self.partitions as usize);
        let mut placed: Vec<Vec<Vec<u64>>> = vec![Vec::new(); cores];
        let mut taken = vec![vec![0u64; partitions]; cores];
        for g in 0..self.groups {
            let core =
                if self.fill { (g / self.groups_per_core) as usize } else { (g % self.cores) as usize };
            let mut group = vec![0; partitions];
            for _ in 0..self.waves_per_group {
                // Slots are never given back, so the smallest free one of a partition is as many rows down as it has waves.
                let free = (0..partitions).filter(|&p| taken[core][p] < self.waves_per_partition);
                let Some(p) = free.min_by_key(|&p| (taken[core][p], p)) else { break };
                taken[core][p] += 1;
                group[p] += 1;
            }
            placed[core].push(group);
        }
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_go_to_the_smallest_free_slot() {
        let g = Geometry {
            groups: 5,
            waves_per_group: 3,
            cores: 2,
            partitions: 4,
            groups_per_core: 4,
            waves_per_partition: 3,
            fill: false,
        };
        assert!(g.at_once());
        let placed = g.placement();
        assert_eq!(placed[0], [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1]]);
        assert_eq!(placed[1].len(), 2);
        assert_eq!(Geometry { fill: true, ..g }.placement()[1].len(), 1);
    }
}
