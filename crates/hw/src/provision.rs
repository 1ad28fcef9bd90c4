//! Re-provisioning (PWS section 4.2): split units that a kernel has no use for serve as ordinary partitions. One
//! function for dispatcher and analyser.

use crate::{Machine, SplitUnits};

impl Machine {
    /// The machine as a kernel finds it that uses at most `used` split contexts at a time. Of the S split units of each
    /// partition, those it does not use make further partitions, each with `used` split units of its own:
    /// N + floor((S - n) N / (n + 1)). Wave slots and register files come with the partitions; what belongs to the
    /// core (scalar unit, local memory, caches) stays.
    pub fn reprovisioned(&self, used: u32) -> Machine {
        let s = self.split.contexts;
        let n = used.min(s);
        let partitions = self.core.partitions;
        let total = partitions + (s - n) * partitions / (n + 1);
        let mut machine = self.clone();
        machine.core.waves = self.core.waves / partitions.max(1) * total;
        machine.core.partitions = total;
        machine.split.contexts = n;
        machine.split.units = SplitUnits::Extra;
        machine
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_pws_figure_12() {
        let mut machine = crate::preset("pws").expect("a preset");
        machine.split.contexts = 3;
        machine.split.units = SplitUnits::Reprovisioned;
        let with = |used| {
            let m = machine.reprovisioned(used);
            assert!(m.validate().is_ok());
            assert_eq!(m.split.units, SplitUnits::Extra);
            (m.core.partitions, m.core.waves, m.split.contexts)
        };
        assert_eq!([0, 1, 2, 3, 9].map(with), [(16, 160, 0), (8, 80, 1), (5, 50, 2), (4, 40, 3), (4, 40, 3)]);
    }
}
