//! How many waves and groups fit on a core at a time. One function for dispatcher and analyser, so that the
//! bound of a kernel assumes exactly what the machine does.

use crate::{Machine, SplitRegisters};
use serde::{Deserialize, Serialize};

/// What a kernel needs of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    pub waves_per_group: u32,
    /// Vector registers per lane and scalar registers per wave.
    pub vgprs: u32,
    pub sgprs: u32,
    /// Local memory per group.
    pub lds_bytes: u32,
}

/// What limits how much of a kernel is resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    Slots,
    VectorRegisters,
    ScalarRegisters,
    LocalMemory,
    Barriers,
}

impl Limit {
    /// As a sentence has it.
    pub fn name(self) -> &'static str {
        match self {
            Limit::Slots => "wave slots",
            Limit::VectorRegisters => "vector registers",
            Limit::ScalarRegisters => "scalar registers",
            Limit::LocalMemory => "local memory",
            Limit::Barriers => "barriers",
        }
    }
}

/// How far one resource of a core goes for a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    pub resource: Limit,
    /// What a wave takes of a partition, or a group of a core (slots, local memory, barriers), and what there is.
    pub used: u32,
    pub of: u32,
    /// Groups for which it suffices on a core; None: it sets no limit.
    pub groups: Option<u32>,
    /// The most that `used` may be so that a core holds one group more than it does now. None: it need not change.
    pub for_one_more: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Waves a partition can hold of this kernel.
    pub waves_per_partition: u32,
    /// Groups a core can hold; 0 = the kernel does not fit at all.
    pub groups_per_core: u32,
    pub limit: Limit,
}

impl Machine {
    /// Sets of registers that are reserved with a wave: one of its own for each context (THESIS 4.3.2).
    fn register_sets(&self) -> u32 {
        let own = self.splits() && self.split.registers == SplitRegisters::Own;
        if own { 1 + self.split.contexts } else { 1 }
    }

    /// What each resource allows, and what it would have to be for one group more on a core.
    pub fn rooms(&self, needs: Needs) -> [Room; 5] {
        let core = &self.core;
        let now = self.occupancy(needs).groups_per_core;
        let (sets, more) = (self.register_sets(), now.saturating_add(1));
        let group = needs.waves_per_group.max(1);
        // Waves of a partition if the core held one group more.
        let waves = more.saturating_mul(group).div_ceil(core.partitions.max(1));
        let room = |resource, used: u32, of: u32, groups: Option<u32>, most: u32| {
            let for_one_more = (groups.is_some() && used > most).then_some(most);
            Room { resource, used, of, groups, for_one_more }
        };
        let by_wave = |resource, used: u32, of: u32| {
            let groups = (of > 0 && used > 0).then(|| of / used * core.partitions / group);
            room(resource, used, of, groups, of / waves.max(1) / sets * sets)
        };
        let by_group = |resource, used: u32, of: u32, limits: bool| {
            let groups = (limits && used > 0).then(|| of / used);
            room(resource, used, of, groups, of / more)
        };
        let slots = core.waves / core.partitions.max(1) * core.partitions;
        let waits = core.barriers > 0 && group > 1;
        [
            by_group(Limit::Slots, group, slots, true),
            by_wave(Limit::VectorRegisters, needs.vgprs.saturating_mul(sets), core.register_file),
            by_wave(Limit::ScalarRegisters, needs.sgprs.saturating_mul(sets), core.scalar_register_file),
            by_group(Limit::LocalMemory, needs.lds_bytes, core.lds_bytes, true),
            by_group(Limit::Barriers, u32::from(waits), core.barriers, waits),
        ]
    }

    pub fn occupancy(&self, needs: Needs) -> Occupancy {
        let core = &self.core;
        let sets = self.register_sets();
        let fit = |file: u32, need: u32| if file == 0 || need == 0 { u32::MAX } else { file / need };
        let mut waves = (core.waves / core.partitions, Limit::Slots);
        for (n, limit) in [
            (fit(core.register_file, needs.vgprs.saturating_mul(sets)), Limit::VectorRegisters),
            (fit(core.scalar_register_file, needs.sgprs.saturating_mul(sets)), Limit::ScalarRegisters),
        ] {
            if n < waves.0 {
                waves = (n, limit);
            }
        }
        let mut groups = (waves.0 * core.partitions / needs.waves_per_group.max(1), waves.1);
        let barriers =
            if core.barriers == 0 || needs.waves_per_group <= 1 { u32::MAX } else { core.barriers };
        for (n, limit) in
            [(fit(core.lds_bytes, needs.lds_bytes), Limit::LocalMemory), (barriers, Limit::Barriers)]
        {
            if n < groups.0 {
                groups = (n, limit);
            }
        }
        if core.lds_bytes == 0 && needs.lds_bytes > 0 {
            groups = (0, Limit::LocalMemory);
        }
        Occupancy { waves_per_partition: waves.0, groups_per_core: groups.0, limit: groups.1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let sets = [
            "core.waves=40",
            "core.partitions=4",
            "core.lds_bytes=65536",
            "core.lds_banks=32",
            "core.barriers=16",
        ]
        .map(|s| crate::parse_set(s).expect("set"));
        let mut m = crate::preset("harp").expect("preset").with_overrides(&sets).expect("machine");
        m.core.register_file = 256;
        m
    }

    #[test]
    fn each_limit_can_bind() {
        let m = machine();
        let of = |needs| {
            let o = m.occupancy(needs);
            (o.waves_per_partition, o.groups_per_core, o.limit)
        };
        let small = Needs { waves_per_group: 1, vgprs: 24, sgprs: 16, lds_bytes: 0 };
        assert_eq!(of(small), (10, 40, Limit::Slots));
        assert_eq!(of(Needs { vgprs: 64, ..small }), (4, 16, Limit::VectorRegisters));
        assert_eq!(of(Needs { lds_bytes: 20_000, ..small }), (10, 3, Limit::LocalMemory));
        assert_eq!(of(Needs { waves_per_group: 2, ..small }), (10, 16, Limit::Barriers));
        assert_eq!(of(Needs { lds_bytes: 70_000, ..small }).1, 0);
        assert_eq!(of(Needs { waves_per_group: 16, vgprs: 256, ..small }).1, 0);
    }

    /// 72 registers of 256 leave room for three waves in a partition; four have 64 each.
    #[test]
    fn one_more_group_needs_less() {
        let m = machine();
        let needs = Needs { waves_per_group: 4, vgprs: 72, sgprs: 16, lds_bytes: 20_000 };
        let [slots, vector, scalar, local, barriers] = m.rooms(needs);
        assert_eq!((vector.groups, vector.for_one_more), (Some(3), Some(64)));
        assert_eq!((slots.groups, slots.for_one_more), (Some(10), None));
        assert_eq!((local.groups, local.for_one_more), (Some(3), Some(16_384)));
        assert_eq!((barriers.groups, barriers.for_one_more, scalar.for_one_more), (Some(16), None, None));
        let least = m.rooms(needs).iter().filter_map(|r| r.groups).min();
        assert_eq!(least, Some(m.occupancy(needs).groups_per_core));
        // What is asked for is enough.
        let less = Needs { vgprs: 64, lds_bytes: 16_384, ..needs };
        assert_eq!(m.occupancy(less).groups_per_core, 4);
    }

    /// 24 registers for the wave and 24 for each of three contexts are 96: of 256, two waves have them. Mechanisms that do not split
    /// reserve nothing.
    #[test]
    fn contexts_with_registers_of_their_own_take_room() {
        let mut m = crate::preset("gcn3").expect("a preset");
        m.core.register_file = 256;
        (m.split.contexts, m.split.registers) = (3, SplitRegisters::Own);
        let needs = Needs { waves_per_group: 1, vgprs: 24, sgprs: 16, lds_bytes: 0 };
        let waves = |m: &Machine| m.occupancy(needs).waves_per_partition;
        m.divergence.mechanism = crate::Mechanism::Thesis;
        assert_eq!((waves(&m), m.occupancy(needs).limit), (2, Limit::VectorRegisters));
        m.split.registers = SplitRegisters::Shared;
        let shared = waves(&m);
        assert!(shared > 2);
        (m.split.registers, m.divergence.mechanism) = (SplitRegisters::Own, crate::Mechanism::ExecMask);
        assert_eq!(waves(&m), shared);
    }
}
