//! Watches a run: an observer of our own finds the instruction where most lanes sat out.

use std::collections::BTreeMap;
use wavebound::trace::TraceInfo;
use wavebound::{Event, EventKind, InstructionSet, Observer, Program, RunOptions};

/// Lanes that sat out, by the pc of the instruction.
#[derive(Default)]
struct Idle {
    lanes: u32,
    lost: BTreeMap<u32, u64>,
    code: BTreeMap<u32, String>,
}

impl Observer for Idle {
    fn begin(&mut self, info: &TraceInfo) {
        self.lanes = info.lanes;
        self.code = info.code.iter().map(|line| (line.pc, line.text.clone())).collect();
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            if let EventKind::Issue { .. } = event.kind {
                let idle = u64::from(self.lanes - event.mask.count_ones());
                *self.lost.entry(event.pc).or_default() += idle;
            }
        }
    }
}

fn main() -> miette::Result<()> {
    // Each lane leaves the loop when its counter is used up; the last one runs alone.
    let program = Program::from_source(
        InstructionSet::Gcn3,
        "countdown.s",
        ".kernel countdown
  v_mov_b32 v1, v0
  s_mov_b64 s[6:7], exec
AGAIN:
  v_cmp_lt_u32 vcc, 0, v1
  s_and_b64 exec, exec, vcc
  s_cbranch_execz DONE
  v_subrev_u32 v1, vcc, 1, v1
  s_branch AGAIN
DONE:
  s_mov_b64 exec, s[6:7]
  s_endpgm
",
    );
    let job = program.launch("countdown").threads(64, 64).prepare()?;
    let mut idle = Idle::default();
    let outcome = job.run(RunOptions::default(), Some(&mut idle))?;
    let (pc, lost) = idle.lost.iter().max_by_key(|(_, lost)| **lost).expect("something was issued");
    println!("{} cycles; most lanes sat out `{}`: {lost} lane-instructions", outcome.cycles, idle.code[pc]);
    assert!(*lost > 1000);
    Ok(())
}
