//! How many waves and groups fit on a core at a time. One function for dispatcher and analyser, so that the
//! bound of a kernel assumes exactly what the machine does.

use crate::{Machine, SplitRegisters};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Slots,
    VectorRegisters,
    ScalarRegisters,
    LocalMemory,
    Barriers,
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
    pub fn occupancy(&self, needs: Needs) -> Occupancy {
        let core = &self.core;
        // Registers of its own for each context, reserved with the wave (THESIS 4.3.2).
        let sets = if self.splits() && self.split.registers == SplitRegisters::Own {
            1 + self.split.contexts
        } else {
            1
        };
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
