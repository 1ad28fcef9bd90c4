//! The theorem: a launch takes at most the longest own time plus all that shared resources can do for others
//! (docs/proved-bounds.md, "The theorem"). Here the numbers of waves that can be in the way are counted.

use crate::geometry::Geometry;
use crate::refusal::Refusal;

/// Times and demands of one wave, in parts of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveTerms {
    /// Longest own time with what the wave's own requests ask of memory, on one way through the kernel.
    pub own: u128,
    /// What of it is for other paths of the wave.
    pub paths: u128,
    /// Own time of a group whose waves need not pass the same barriers, in pieces; none if they do.
    pub pieces: Option<u128>,
    /// Waves that can end before others that then come to a barrier: how often such an end is in `own`.
    pub ends: u64,
    /// The kernel has barriers that hold waves.
    pub barriers: bool,
    /// Demand on a wave of the same partition, core, machine.
    pub partition: u128,
    pub core: u128,
    pub machine: u128,
    /// First touches of lines: what they ask of ports and DRAM, and by how much they are later than hits, each once in a launch (and
    /// once more where the timeline can be on two cores).
    pub fills: u128,
    pub cold: u128,
    pub cold_again: u128,
}

/// A part of a bound, in parts of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    pub own: u128,
    /// What of it is for other paths of the same wave.
    pub paths: u128,
    /// Other waves, by where they are.
    pub partition: u128,
    pub core: u128,
    pub machine: u128,
    /// First touches.
    pub fills: u128,
    pub cold: u128,
    /// How many waves each of the three is.
    pub waves: [u64; 3],
}

impl Parts {
    pub fn sum(&self) -> Option<u128> {
        [self.partition, self.core, self.machine, self.fills, self.cold]
            .into_iter()
            .try_fold(self.own, u128::checked_add)
    }
}

/// The parts of the bound of a launch.
pub fn compose(geometry: &Geometry, wave: &WaveTerms) -> Result<Parts, Refusal> {
    let over = Refusal::Overflow { what: "the bound of the launch" };
    if geometry.groups == 0 {
        return Ok(Parts::default());
    }
    let found = if geometry.at_once() { at_once(geometry, wave) } else { in_turn(geometry, wave) };
    found.filter(|parts| parts.sum().is_some()).ok_or(over)
}

/// Own time of a group: of one wave, or of pieces of its waves.
fn own_of_group(wave: &WaveTerms) -> u128 {
    wave.pieces.unwrap_or(wave.own)
}

/// All groups start at once, and it is known where.
fn at_once(geometry: &Geometry, wave: &WaveTerms) -> Option<Parts> {
    let placed = geometry.placement();
    let all: u64 = geometry.groups.checked_mul(geometry.waves_per_group)?;
    let mut worst: Option<Parts> = None;
    for groups in &placed {
        let in_core: u64 = groups.iter().flatten().sum();
        let in_partition = |p: usize| groups.iter().map(|g| g[p]).sum::<u64>();
        let mut seen: Vec<&Vec<u64>> = Vec::new();
        for group in groups {
            if seen.contains(&group) {
                continue;
            }
            seen.push(group);
            let candidates: Vec<[u64; 3]> = if !wave.barriers || geometry.waves_per_group == 1 {
                // The timeline stays with one wave.
                let homes = (0..group.len()).filter(|&p| group[p] > 0);
                homes.map(|p| [in_partition(p) - 1, in_core - in_partition(p), all - in_core]).collect()
            } else {
                // It hops at barriers, to waves of the group: waves of other groups are in its way wherever it visits. Groups at the
                // edge of a grid may have fewer waves, and the others then lie elsewhere: the worst of all numbers is taken.
                let fullest = (0..group.len()).map(in_partition).max().unwrap_or(1);
                let visits = |n: u64| {
                    let all = n.min(geometry.partitions) * fullest;
                    match wave.pieces {
                        // Of the group itself those that share a partition: pieces make one way.
                        None => (all - n.min(all) + n.div_ceil(geometry.partitions) - 1).min(in_core - 1),
                        Some(_) => all.min(in_core),
                    }
                };
                let near = (1..=geometry.waves_per_group).map(visits).max().unwrap_or(0);
                let rest = if wave.pieces.is_none() { in_core - 1 } else { in_core };
                vec![[near, rest - near, all - in_core]]
            };
            for waves in candidates {
                let parts = parts(wave, own_of_group(wave), waves)?;
                if worst.is_none_or(|w| w.sum() < parts.sum()) {
                    worst = Some(parts);
                }
            }
        }
    }
    worst
}

fn parts(wave: &WaveTerms, own: u128, waves: [u64; 3]) -> Option<Parts> {
    Some(Parts {
        own,
        paths: wave.paths,
        partition: wave.partition.checked_mul(waves[0].into())?,
        core: wave.core.checked_mul(waves[1].into())?,
        machine: wave.machine.checked_mul(waves[2].into())?,
        fills: wave.fills,
        cold: wave.cold,
        waves,
    })
}

/// More groups than fit: until the last is dispatched every core is full, so the mean of the groups' times on the core with the fewest
/// of them bounds that moment; then one more group's time follows.
fn in_turn(geometry: &Geometry, wave: &WaveTerms) -> Option<Parts> {
    let Geometry { groups, waves_per_group, cores, partitions, groups_per_core, waves_per_partition, .. } =
        *geometry;
    let n = (groups - 1) / cores;
    let all = groups.checked_mul(waves_per_group)?;
    let (share, seats, waves) = if waves_per_group == 1 && groups_per_core == waves_per_partition * partitions
    {
        // A partition is full as long as there are groups: it stands for a core.
        let mine = n / partitions;
        let near = mine + waves_per_partition - 1;
        let core = (n - mine) + (groups_per_core - waves_per_partition);
        (mine, waves_per_partition, [near, core, all.saturating_sub(n + groups_per_core)])
    } else {
        let near = n.checked_add(groups_per_core)?.checked_mul(waves_per_group)?;
        let near = if wave.pieces.is_none() { near - 1 } else { near };
        (n, groups_per_core, [near, 0, all.saturating_sub(near)])
    };
    let own = own_of_group(wave);
    let before = own.checked_mul(share.into())?.div_ceil(seats.into());
    let mut parts = parts(wave, own.checked_add(before)?, waves)?;
    // The rest of it, rounded, is the wave's own.
    parts.paths = wave.paths.checked_mul(share.into())? / u128::from(seats) + wave.paths;
    parts.cold = wave.cold.checked_add(wave.cold_again)?;
    Some(parts)
}
