//! Which groups live on which core: local memory, private memory and group slots, by the rules of
//! [`wb_hw::Machine::occupancy`]. A launch without groups claims nothing and is limited by wave slots only.

use crate::launch::{Groups, Launch};
use crate::memory::DeviceMemory;
use wb_hw::{Machine, Occupancy};
use wb_isa::WaveStart;

/// Where the waves of one group live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupPlace {
    pub core: usize,
    slot: usize,
}

impl GroupPlace {
    /// On a core, in no group.
    pub fn on(core: usize) -> Self {
        GroupPlace { core, slot: usize::MAX }
    }
}

pub(crate) struct Residency {
    groups: Option<Groups>,
    /// Per core and group slot: waves that have not ended; 0 = free.
    waves_left: Vec<Vec<u32>>,
    /// Waves of the kernel a partition may hold.
    pub per_partition: u32,
}

/// What a launch needs of a core; zero for launches without groups.
pub(crate) fn occupancy(machine: &Machine, groups: &Groups) -> Occupancy {
    machine.occupancy(groups.needs(machine.core.lanes))
}

impl Residency {
    pub fn new(machine: &Machine, launch: Launch) -> Self {
        let cores = machine.cores as usize;
        let Launch::Groups(groups) = launch else {
            let per_partition = machine.core.waves / machine.core.partitions;
            return Residency { groups: None, waves_left: vec![Vec::new(); cores], per_partition };
        };
        let fit = occupancy(machine, &groups);
        Residency {
            groups: Some(groups),
            waves_left: vec![vec![0; fit.groups_per_core as usize]; cores],
            per_partition: fit.waves_per_partition,
        }
    }

    pub fn cores(&self) -> usize {
        self.waves_left.len()
    }

    /// Whether a core has room for a whole group, as far as group slots go.
    pub fn has_room(&self, core: usize) -> bool {
        self.groups.is_none() || self.waves_left[core].contains(&0)
    }

    /// Takes a group slot of a core for a group of `waves` waves and clears its local memory.
    pub fn claim(&mut self, core: usize, waves: u32, memory: &mut DeviceMemory) -> GroupPlace {
        let Some(groups) = self.groups else { return GroupPlace { core, slot: 0 } };
        let slot = self.waves_left[core].iter().position(|&w| w == 0).unwrap_or(0);
        let place = GroupPlace { core, slot };
        if let Some(left) = self.waves_left[core].get_mut(slot) {
            *left = waves;
        }
        memory.clear(self.lds_base(place), u64::from(groups.lds_bytes));
        place
    }

    /// A wave of the group ended; the last one frees the slot.
    pub fn wave_ended(&mut self, place: GroupPlace) {
        if let Some(left) = self.waves_left[place.core].get_mut(place.slot) {
            *left = left.saturating_sub(1);
        }
    }

    fn lds_base(&self, place: GroupPlace) -> u64 {
        let Some(groups) = self.groups else { return 0 };
        let index = place.core * self.waves_left[place.core].len() + place.slot;
        groups.lds_region + index as u64 * lds_stride(&groups)
    }

    /// Local memory of a wave's group and private memory of the wave.
    pub fn spaces(&self, start: &WaveStart) -> [std::ops::Range<u64>; 2] {
        let (local, private) =
            self.groups.map_or((0, 0), |groups| (groups.lds_bytes.into(), groups.scratch_per_wave));
        [start.lds_base..start.lds_base + local, start.scratch_base..start.scratch_base + private]
    }

    /// Tells the wave where its memories are. `slot` numbers the wave slots of the whole device.
    pub fn furnish(&self, start: WaveStart, place: GroupPlace, slot: usize) -> WaveStart {
        let Some(groups) = self.groups else { return start };
        WaveStart {
            lds_base: self.lds_base(place),
            scratch_base: groups.scratch_region + slot as u64 * groups.scratch_per_wave,
            ..start
        }
    }
}

fn lds_stride(groups: &Groups) -> u64 {
    u64::from(groups.lds_bytes).next_multiple_of(256)
}

impl Groups {
    /// Bytes of device memory for the local memories of all groups that can be resident.
    pub fn lds_region_bytes(&self, machine: &Machine) -> u64 {
        u64::from(occupancy(machine, self).groups_per_core) * u64::from(machine.cores) * lds_stride(self)
    }

    /// Bytes of device memory for the private memories of all wave slots.
    pub fn scratch_region_bytes(&self, machine: &Machine) -> u64 {
        u64::from(machine.cores) * u64::from(machine.core.waves) * self.scratch_per_wave
    }
}
