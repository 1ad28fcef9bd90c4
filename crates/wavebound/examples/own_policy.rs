//! Schedules with a policy of our own, without a change to Wavebound: the youngest ready wave goes first.

use wavebound::{InstructionSet, IssuePolicy, IssueView, Policy, Program, RunOptions, machine};

/// The ready slot whose wave was launched last.
struct YoungestFirst;

impl IssuePolicy for YoungestFirst {
    fn pick(&mut self, view: &IssueView) -> Option<u32> {
        let ready = (0..view.slots).filter(|&slot| view.is_ready(slot));
        ready.max_by_key(|&slot| view.age[slot as usize])
    }
}

fn main() -> miette::Result<()> {
    // Waves that load, wait and add: who goes first decides how well the waiting is hidden.
    let round =
        "  flat_load_dword v3, v[1:2]\n  s_waitcnt vmcnt(0) & lgkmcnt(0)\n  v_add_u32 v4, vcc, v4, v3\n";
    let text = format!(
        ".kernel loads
.arg buf x
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s4
  v_mov_b32 v2, s5
{}  s_endpgm
",
        round.repeat(8)
    );
    let program = Program::from_source(InstructionSet::Gcn3, "loads.s", &text);
    let launch =
        program.launch("loads").machine(machine("gcn3")?).set("cores=1").threads(2048, 256).buffer(&[1u32]);

    for policy in Policy::ISSUE {
        let job = launch.clone().set(&format!("issue.policy={}", policy.name())).prepare()?;
        println!("{:<26} {:>6} cycles", policy.name(), job.run(RunOptions::default(), None)?.cycles);
    }
    let job = launch.prepare()?;
    let make = || Box::new(YoungestFirst) as Box<dyn IssuePolicy>;
    let own = job.run(RunOptions { issue: Some(&make), ..RunOptions::default() }, None)?;
    println!("{:<26} {:>6} cycles", "youngest-first (ours)", own.cycles);
    Ok(())
}
