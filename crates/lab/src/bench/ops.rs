//! `gcn3-ops`: single ALU instructions of GCN3, executed again and again on one full wave. The time of one is
//! 1000 / (million per second) ns.

use super::work::{Run, Work, timed_run};
use miette::{Report, miette};
use wb_isa::gcn3::isa::Gcn3;
use wb_isa::gcn3::{assemble_line, decode};
use wb_isa::{At, Bus, Isa, Mask, MemFault};

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

/// These instructions have no business with memory.
struct NoMemory;

impl Bus for NoMemory {
    fn load(&mut self, addr: u64, bytes: u32) -> Result<u64, MemFault> {
        Err(MemFault { what: "load", addr, bytes, why: "there is no memory".into() })
    }

    fn store(&mut self, addr: u64, bytes: u32, _value: u64) -> Result<(), MemFault> {
        Err(MemFault { what: "store", addr, bytes, why: "there is no memory".into() })
    }

    fn console(&mut self, _byte: u8) {}
}

pub(super) fn run(text: &str) -> Result<Run, Report> {
    const ROUNDS: u64 = 20_000;
    let words = assemble_line(text).map_err(|e| miette!("{text}: {e}"))?;
    let inst = decode(&words).map_err(|e| miette!("{text}: {e}"))?;
    let mut isa = Gcn3::default();
    isa.setup.vgprs = 16;
    let mut regs = isa.registers(64);
    // As compiled kernels have it: f32 denormals flushed, f64 kept, IEEE and DX10_CLAMP on.
    regs.mode = 0x3c0;
    regs.set_pair(126, Mask::MAX);
    regs.set_pair(106, 0x0f0f_3333_5555_00ff);
    for row in 0..6u32 {
        for lane in 0..64 {
            let value = 1.0 + f64::from(lane) * 0.37 + f64::from(row);
            let bits = if row % 2 == 0 { (value as f32).to_bits() } else { (value.to_bits() >> 32) as u32 };
            regs.v.set(row as usize, lane, bits);
        }
    }
    let at = At {
        pc: 0,
        next: 1,
        mask: Mask::MAX,
        live: Mask::MAX,
        clock: 0,
        core: 0,
        depth: 0,
        waves: 1,
        may_diverge: false,
        whole: true,
    };
    timed_run(|| {
        for _ in 0..ROUNDS {
            isa.exec(std::hint::black_box(&inst), &at, &mut regs, &mut NoMemory)
                .map_err(|e| miette!("{text}: {e}"))?;
        }
        Ok(Work { wave_instructions: ROUNDS, cycles: ROUNDS })
    })
}
