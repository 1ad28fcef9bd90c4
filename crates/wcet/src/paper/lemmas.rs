//! Equations 2 to 9 and lemmas 5.1 to 5.8 of PWS as functions of plain numbers. `None` = out of range or a division by
//! zero: a group that does not fit.

/// Equation 2: SIMD units of a core after re-provisioning, N + ⌊(S − |S_B|) N / (|S_B| + 1)⌋. |S_B| counts splits in
/// sequence that share a context, so it may exceed S; then the formula takes units away (repair 9).
pub fn simd_units(units: u64, slots: u64, selected: u64) -> Option<i128> {
    let (units, slots, selected) = (i128::from(units), i128::from(slots), i128::from(selected));
    let spare = (slots - selected).checked_mul(units)?;
    units.checked_add(spare.div_euclid(selected + 1))
}

/// Lemma 5.1, equation 3: E_WF = IPET(C_out) + |S_B| (e_s + e_m).
pub fn wave(ipet: u64, selected: u64, split_cost: u64, merge_cost: u64) -> Option<u64> {
    ipet.checked_add(selected.checked_mul(split_cost.checked_add(merge_cost)?)?)
}

/// E_WF under DWS: all blocks one after the other and S splits and merges (section 5.1, text before table 2).
pub fn wave_dws(serial: u64, slots: u64, split_cost: u64, merge_cost: u64) -> Option<u64> {
    wave(serial, slots, split_cost, merge_cost)
}

/// Definition 5.2, equation 4: groups at once, ⌊N_CU · N_SIMD · N_WFC · N_WIWF / N_WIWG⌋ over the whole machine, although a
/// group can neither span cores nor use half a wave (repair 6).
pub fn groups_at_once(cores: u64, units: u64, slots: u64, wave_lanes: u64, group_lanes: u64) -> Option<u64> {
    let lanes = cores.checked_mul(units)?.checked_mul(slots)?.checked_mul(wave_lanes)?;
    lanes.checked_div(group_lanes)
}

/// Definition 5.3, equation 5: D_S = ⌈G / G_parallel⌉.
pub fn dispatches(groups: u64, at_once: u64) -> Option<u64> {
    (at_once > 0).then(|| groups.div_ceil(at_once))
}

/// Lemma 5.5, equation 6: E_kernel = D_S (d + E_WF). Without splitting the same, with that E_WF.
pub fn kernel_pws(dispatches: u64, delay: u64, wave: u64) -> Option<u64> {
    delay.checked_add(wave)?.checked_mul(dispatches)
}

/// Lemma 5.7, equation 8: E_kernel = D_S (d + (S + 1) E_WF).
pub fn kernel_dws(dispatches: u64, delay: u64, slots: u64, wave: u64) -> Option<u64> {
    let paths = slots.checked_add(1)?.checked_mul(wave)?;
    delay.checked_add(paths)?.checked_mul(dispatches)
}

/// Lemmas 5.6 and 5.8, equations 7 and 9: PWS is never worse than DWS. What they claim, for tests to check.
pub fn pws_at_most_dws(pws: u64, dws: u64) -> bool {
    pws <= dws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_equation_2() {
        // Four units with three split units each, one in use: eight units.
        assert_eq!(simd_units(4, 3, 1), Some(8));
        assert_eq!(simd_units(4, 3, 0), Some(16));
        assert_eq!(simd_units(4, 3, 2), Some(5));
        assert_eq!(simd_units(4, 3, 3), Some(4));
    }

    #[test]
    fn equation_2_is_that_of_the_machine() {
        let mut machine = wb_hw::preset("pws").expect("a preset");
        for slots in 0..8 {
            machine.split.contexts = slots;
            for used in 0..=slots {
                let units = machine.reprovisioned(used).core.partitions;
                let formula = simd_units(machine.core.partitions.into(), slots.into(), used.into());
                assert_eq!(formula, Some(units.into()), "S {slots}, used {used}");
            }
        }
    }

    #[test]
    fn kernels() {
        assert_eq!(groups_at_once(4, 1, 4, 64, 192), Some(5));
        assert_eq!(dispatches(11, 5), Some(3));
        assert_eq!(dispatches(1, 0), None);
        assert_eq!(kernel_pws(3, 10, 90), Some(300));
        assert_eq!(kernel_dws(3, 10, 2, 90), Some(840));
        assert_eq!(kernel_dws(1, 0, u64::MAX, 1), None);
        assert_eq!(groups_at_once(1, 1, 1, 64, 0), None);
    }
}
