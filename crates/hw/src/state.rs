//! What a mechanism costs: bits that a core keeps for it beside registers, computed from its parameters (`wavebound compare`). A machine
//! without the mechanism has one pc and one mask for each wave, or a SIMT stack on machines with plain branches. Only state is counted, no
//! wires, comparators, crossbars or execution units.

use crate::machine::Machine;
use crate::mechanism::{InstructionSet, Mechanism};

/// Bits of a pc.
const PC: u64 = 32;

/// Bits that tell `n` things apart.
fn index(n: u64) -> u64 {
    u64::from(n.max(1).next_power_of_two().trailing_zeros())
}

impl Machine {
    /// Bits of state that the mechanism adds to a core (docs/mechanisms.md, cost).
    pub fn extra_state_bits(&self) -> u64 {
        let (waves, lanes) = (u64::from(self.core.waves), u64::from(self.core.lanes));
        let contexts = if self.splits() { u64::from(self.split.contexts) } else { 0 };
        let depth = u64::from(self.limits.stack_depth);
        let d = &self.divergence;
        let paths = waves * contexts * (PC + lanes);
        let plain = self.isa == InstructionSet::Riscv;
        match d.mechanism {
            Mechanism::ExecMask => 0,
            Mechanism::SimtStack if plain => 0,
            // Stacks of masks with a pc each, where nothing else keeps them.
            Mechanism::Pdom | Mechanism::Harptool | Mechanism::MaskStack => waves * depth * (PC + lanes),
            Mechanism::SimtStack => waves * depth * (2 * PC + lanes),
            Mechanism::VortexV2 => waves * 2 * lanes.saturating_sub(1) * (PC + lanes),
            Mechanism::Vortex => waves * lanes.saturating_sub(1) * (PC + lanes),
            // A path has a pc and lanes; a place in the stack of children under pws.
            Mechanism::Thesis => paths,
            Mechanism::Pws => paths + waves * contexts * index(contexts + 1),
            Mechanism::Dws => paths,
            Mechanism::DwsMeng => {
                let entries = if d.table == 0 { waves * contexts } else { d.table.into() };
                u64::from(self.core.partitions) * entries * (2 * PC + lanes + index(waves))
            }
            // A second pc and mask in every entry of the stack, and a second scoreboard.
            Mechanism::Dpe => waves * (depth * (PC + lanes) + u64::from(self.core.registers)),
            // The second hot context and the cold ones.
            Mechanism::Sbi | Mechanism::SbiSwi => paths,
            Mechanism::Swi => 0,
            // Five states of a lane, and a pc for each subwarp that is not the active one.
            Mechanism::Si => waves * (lanes * 3 + contexts * PC),
            // The pool: a pc for each warp, and for each of its lanes the wave that the work-item is of.
            Mechanism::Dwf => waves * (PC + lanes * index(waves)),
            // Which lanes of a row have issued, and a row for each lane of the sub-warp.
            Mechanism::Lwm => waves * lanes + waves.div_ceil(d.rows.into()) * lanes * index(d.rows.into()),
            // A warp has for each lane the wave of its work-item, and a pc.
            Mechanism::Tbc => waves * (PC + lanes * index(waves)),
            // A stack for each slice instead of one for the wave.
            Mechanism::Vws => {
                let slices = lanes.div_ceil(d.slice.into());
                waves * depth * (slices * 2 * PC + lanes) - waves * depth * (2 * PC + lanes)
            }
            // Split table and reconvergence table instead of the stack.
            Mechanism::MultiPath => {
                waves * contexts * (2 * PC + lanes + index(depth)) + waves * depth * lanes
            }
            Mechanism::MinPc => waves * lanes * PC,
            // A pc for each lane, and the lanes of sixteen barriers.
            Mechanism::ConvBarrier => waves * lanes * (PC + 16),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(mechanism: &str, sets: &[&str]) -> u64 {
        let mut all = vec![crate::parse_set(&format!("divergence.mechanism={mechanism}")).unwrap()];
        all.extend(sets.iter().map(|s| crate::parse_set(s).unwrap()));
        crate::preset("lanepc").unwrap().with_overrides(&all).unwrap().extra_state_bits()
    }

    #[test]
    fn parameters_are_what_is_paid_for() {
        assert_eq!(bits("simt-stack", &[]), 0);
        // 16 entries of two pcs, 32 lanes and a wave of 32.
        assert_eq!(bits("dws-meng", &[]), 16 * (64 + 32 + 5));
        assert_eq!(bits("dws-meng", &["divergence.table=32"]), 2 * bits("dws-meng", &[]));
        assert_eq!(bits("thesis", &["split.contexts=1"]), 32 * (32 + 32));
        assert_eq!(bits("tbc", &[]), 32 * (32 + 32 * 5));
        // Eight slices of four lanes: seven more pcs and rpcs in every entry.
        assert_eq!(bits("vws", &[]), 32 * 64 * 7 * 64);
        assert_eq!(bits("vws", &["divergence.slice=32"]), 0);
        for m in Mechanism::of(InstructionSet::Riscv) {
            let free = matches!(m, Mechanism::SimtStack | Mechanism::Swi);
            assert_eq!(bits(m.name(), &[]) == 0, free, "{m}");
        }
    }
}
