//! How fast the simulator is: wave-instructions per second over fixed embedded programs, one thread,
//! no observer, timed and untimed.

mod kernels;
mod operations;
mod ops;
mod programs;
mod vortex;
mod work;

pub use operations::{LIMIT, Operation, UNIT, operations};

use miette::Report;
use serde::Serialize;
use work::Run;

/// One measurement; the fields and their names are stable.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Measurement {
    pub name: String,
    pub isa: String,
    pub machine: String,
    pub timed: bool,
    pub wave_instructions: u64,
    /// Simulated cycles; of an untimed run its wave-instructions.
    pub cycles: u64,
    pub seconds: f64,
    pub wave_instructions_per_second: f64,
}

/// How fast the benches of a machine are on the whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Mean {
    pub machine: String,
    pub timed: bool,
    pub benches: usize,
    /// Geometric mean of million wave-instructions per second.
    pub millions: f64,
}

/// Means over the benches of each machine, untimed and timed, where there are several. Single operations, which have no machine, are left
/// out.
pub fn means(all: &[Measurement]) -> Vec<Mean> {
    let mut means: Vec<Mean> = Vec::new();
    for m in all.iter().filter(|m| m.machine != ops::NO_MACHINE) {
        let log = (m.wave_instructions_per_second / 1e6).ln();
        match means.iter_mut().find(|mean| (&mean.machine, mean.timed) == (&m.machine, m.timed)) {
            Some(mean) => (mean.millions, mean.benches) = (mean.millions + log, mean.benches + 1),
            None => {
                means.push(Mean { machine: m.machine.clone(), timed: m.timed, benches: 1, millions: log });
            }
        }
    }
    means.retain(|mean| mean.benches > 1);
    for mean in &mut means {
        mean.millions = (mean.millions / mean.benches as f64).exp();
    }
    means
}

/// Names of all benches.
pub fn names() -> impl Iterator<Item = &'static str> {
    let kernels = kernels::KERNELS.iter().map(|k| k.name);
    let vortex = vortex::KERNELS.iter().map(|k| k.0);
    let programs = programs::PROGRAMS.iter().map(|p| p.name);
    programs.chain(kernels).chain(vortex).chain(ops::OPS.iter().map(|o| o.0))
}

/// Runs the benches whose name contains `filter`, each for about `seconds`; the best run counts. `only`: only timed or only untimed runs.
pub fn run(
    filter: &str,
    seconds: f64,
    only: Option<bool>,
    mut done: impl FnMut(&Measurement),
) -> Result<Vec<Measurement>, Report> {
    let mut all = Vec::new();
    let wanted = |timed: &bool| only.is_none_or(|only| only == *timed);
    let mut measured = |name: &str, isa: &str, machine: &str, timed: bool, best: Run| {
        let m = Measurement {
            name: name.into(),
            isa: isa.into(),
            machine: machine.into(),
            timed,
            wave_instructions: best.work.wave_instructions,
            cycles: best.work.cycles,
            seconds: best.seconds,
            wave_instructions_per_second: best.work.wave_instructions as f64 / best.seconds,
        };
        done(&m);
        all.push(m);
    };
    for program in programs::PROGRAMS.iter().filter(|p| p.name.contains(filter)) {
        let job = programs::prepare(program)?;
        for timed in [false, true].into_iter().filter(wanted) {
            let best = best_of(seconds, || programs::run(&job, timed))?;
            measured(program.name, program.isa.name(), program.machine, timed, best);
        }
    }
    for kernel in kernels::KERNELS.iter().filter(|k| k.name.contains(filter)) {
        for timed in [false, true].into_iter().filter(wanted) {
            let best = best_of(seconds, || (kernel.run)(timed))?;
            measured(kernel.name, "gcn3", kernels::MACHINE, timed, best);
        }
    }
    for (name, kernel, frontend) in vortex::KERNELS.iter().filter(|k| k.0.contains(filter)) {
        let Some(kernel) = kernel() else { continue };
        let job = vortex::prepare(&kernel, frontend)?;
        // The coordinated front end makes no difference to an untimed run.
        let runs = [false, true].into_iter().filter(|&timed| timed || *frontend != vortex::COORDINATED);
        for timed in runs.filter(wanted) {
            let best = best_of(seconds, || vortex::run(&job, timed))?;
            measured(name, "vortex", vortex::MACHINE, timed, best);
        }
    }
    for (name, text) in ops::OPS.iter().filter(|o| o.0.contains(filter) && wanted(&false)) {
        let best = best_of(seconds / 20.0, || ops::run(text))?;
        measured(name, "gcn3", ops::NO_MACHINE, false, best);
    }
    Ok(all)
}

/// The fastest of the runs that fit into about `seconds`, at least one.
fn best_of(seconds: f64, mut run: impl FnMut() -> Result<Run, Report>) -> Result<Run, Report> {
    let mut best = run()?;
    let mut spent = best.seconds;
    while spent < seconds {
        let next = run()?;
        spent += next.seconds;
        if next.seconds < best.seconds {
            best = next;
        }
    }
    Ok(best)
}
