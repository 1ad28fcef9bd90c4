//! `gcn3-ops`: single ALU instructions of GCN3, executed again and again on one full wave. The time of one is
//! 1000 / (million per second) ns.

use super::work::{Run, Work, timed_run};
use miette::{Report, miette};
use wb_isa::gcn3::Repeated;

/// What stands for the machine of an operation.
pub(super) const NO_MACHINE: &str = "-";

/// Name of the bench and the instruction. Sources are in v0 to v5, s4 to s7 and vcc.
pub(super) const OPS: &[(&str, &str)] = &[
    ("gcn3-ops:s_add_u32", "s_add_u32 s8, s4, s5"),
    ("gcn3-ops:s_cbranch_scc1", "s_cbranch_scc1 4"),
    ("gcn3-ops:v_mov_b32", "v_mov_b32 v8, v0"),
    ("gcn3-ops:v_add_u32", "v_add_u32 v8, vcc, v0, v2"),
    ("gcn3-ops:v_addc_u32", "v_addc_u32 v8, vcc, v0, v2, vcc"),
    ("gcn3-ops:v_lshlrev_b32", "v_lshlrev_b32 v8, v0, v2"),
    ("gcn3-ops:v_mul_lo_u32", "v_mul_lo_u32 v8, v0, v2"),
    ("gcn3-ops:v_cndmask_b32", "v_cndmask_b32 v8, v0, v2, vcc"),
    ("gcn3-ops:v_cmp_lt_i32", "v_cmp_lt_i32 vcc, v0, v2"),
    ("gcn3-ops:v_cmp_lt_f32", "v_cmp_lt_f32 vcc, v0, v2"),
    ("gcn3-ops:v_add_f32", "v_add_f32 v8, v0, v2"),
    ("gcn3-ops:v_mac_f32", "v_mac_f32 v8, v0, v2"),
    ("gcn3-ops:v_fma_f32", "v_fma_f32 v8, v0, v2, v4"),
    ("gcn3-ops:v_cvt_i32_f32", "v_cvt_i32_f32 v8, v0"),
    ("gcn3-ops:v_rcp_f32", "v_rcp_f32 v8, v0"),
    ("gcn3-ops:v_sqrt_f32", "v_sqrt_f32 v8, v0"),
    ("gcn3-ops:v_exp_f32", "v_exp_f32 v8, v0"),
    ("gcn3-ops:v_log_f32", "v_log_f32 v8, v0"),
    ("gcn3-ops:v_sin_f32", "v_sin_f32 v8, v0"),
    ("gcn3-ops:v_div_scale_f32", "v_div_scale_f32 v8, vcc, v0, v0, v2"),
    ("gcn3-ops:v_lshlrev_b64", "v_lshlrev_b64 v[8:9], 2, v[0:1]"),
    ("gcn3-ops:v_add_f64", "v_add_f64 v[8:9], v[0:1], v[2:3]"),
    ("gcn3-ops:v_fma_f64", "v_fma_f64 v[8:9], v[0:1], v[2:3], v[4:5]"),
    ("gcn3-ops:v_rcp_f64", "v_rcp_f64 v[8:9], v[0:1]"),
    (
        "gcn3-ops:sdwa",
        "v_and_b32_sdwa v8, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD",
    ),
    ("gcn3-ops:dpp", "v_add_f32_dpp v8, v0, v2 row_shr:1 row_mask:0xf bank_mask:0xf"),
];

pub(super) fn run(text: &str) -> Result<Run, Report> {
    const ROUNDS: u64 = 20_000;
    let mut repeated = Repeated::new(text).map_err(|e| miette!("{text}: {e}"))?;
    timed_run(|| {
        repeated.run(ROUNDS).map_err(|e| miette!("{text}: {e}"))?;
        Ok(Work { wave_instructions: ROUNDS, cycles: ROUNDS })
    })
}
