//! What a bench ran, and how long it took.

use miette::Report;
use std::time::Instant;
use wb_sim::Outcome;

/// What was simulated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    pub wave_instructions: u64,
    pub cycles: u64,
}

impl Work {
    pub fn of(outcome: &Outcome) -> Work {
        Work { wave_instructions: outcome.wave_instructions, cycles: outcome.cycles }
    }

    pub fn add(&mut self, more: Work) {
        self.wave_instructions += more.wave_instructions;
        self.cycles += more.cycles;
    }
}

/// What one run did and how long it took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub work: Work,
    pub seconds: f64,
}

pub(super) fn timed_run(run: impl FnOnce() -> Result<Work, Report>) -> Result<Run, Report> {
    let started = Instant::now();
    let work = run()?;
    Ok(Run { work, seconds: started.elapsed().as_secs_f64() })
}
