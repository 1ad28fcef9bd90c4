//! Runs a kernel whose lanes disagree about a branch, without and with the mechanisms that split waves there.

use wavebound::{InstructionSet, MarkStyle, Mechanism, Program, RunOptions, machine};

/// Odd lanes add up sixteen numbers, even lanes multiply as many; LLVM would write it like this.
fn two_sides() -> String {
    let odd = "  v_add_u32 v2, vcc, v2, v0\n".repeat(16);
    let even = "  v_mul_lo_u32 v2, v2, v0\n".repeat(16);
    format!(
        ".kernel sides
  v_mov_b32 v2, 1
  v_and_b32 v1, 1, v0
  v_cmp_ne_u32 vcc, 0, v1
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz ELSE
{odd}ELSE:
  s_andn2_saveexec_b64 s[6:7], s[6:7]
  s_cbranch_execz END
{even}END:
  s_or_b64 exec, exec, s[6:7]
  s_endpgm
"
    )
}

fn main() -> miette::Result<()> {
    let program = Program::from_source(InstructionSet::Gcn3, "sides.s", &two_sides());
    let mut serial = None;
    for mechanism in Mechanism::of(InstructionSet::Gcn3) {
        let contexts = u32::from(mechanism.info().splits);
        let mut launch =
            program.launch("sides").machine(machine("pws")?).mechanism(mechanism, contexts).threads(64, 64);
        if let Some(style) = mechanism.info().marks {
            launch = launch.split_everywhere(style);
        }
        let cycles = launch.prepare()?.run(RunOptions::default(), None)?.cycles;
        let serial = *serial.get_or_insert(cycles);
        println!("{mechanism:<8} {cycles:>5} cycles, {:.2} times as fast", serial as f64 / cycles as f64);
    }
    let marks = [MarkStyle::Pws, MarkStyle::Thesis].map(|s| s.mechanism().name());
    println!("{} read marks of their own", marks.join(" and "));
    Ok(())
}
