//! Runs a kernel: assembles it, launches it on a machine, reads its result and a few statistics.

use wavebound::{InstructionSet, Program, RunOptions, Statistics, machine, read};

/// `x[i] = a * x[i]`, one work-item per element.
const SCALE: &str = "
.kernel scale
.arg buf x
.arg u32 a
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword   s6, s[0:1], 0x8
  v_mov_b32      v1, 64
  v_mul_u32_u24  v1, s2, v1
  v_add_u32      v1, vcc, v1, v0
  v_lshlrev_b32  v1, 2, v1
  s_waitcnt      lgkmcnt(0)
  v_mov_b32      v3, s5
  v_add_u32      v2, vcc, s4, v1
  v_addc_u32     v3, vcc, 0, v3, vcc
  flat_load_dword v4, v[2:3]
  s_waitcnt      vmcnt(0) & lgkmcnt(0)
  v_mul_lo_u32   v4, v4, s6
  flat_store_dword v[2:3], v4
  s_endpgm
";

fn main() -> miette::Result<()> {
    let program = Program::from_source(InstructionSet::Gcn3, "scale.s", SCALE);
    let data: Vec<u32> = (0..256).collect();
    let job = program
        .launch("scale")
        .machine(machine("gcn3")?)
        .threads(256, 64)
        .buffer(&data)
        .value(7u32)
        .prepare()?;

    let mut statistics = Statistics::new();
    let outcome = job.run(RunOptions::default(), Some(&mut statistics))?;

    let result: Vec<u32> = read(&job, &outcome, "x")?;
    assert!(result.iter().zip(&data).all(|(r, d)| *r == 7 * d));
    let stats = statistics.stats();
    println!(
        "{} cycles, {} wave-instructions on {} waves",
        outcome.cycles, outcome.wave_instructions, outcome.waves
    );
    println!("{:.0} % of the lanes were on", 100.0 * stats.lane_utilisation);
    println!("x[0..4] = {:?}", &result[..4]);
    Ok(())
}
