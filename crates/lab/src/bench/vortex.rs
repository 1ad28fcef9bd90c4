//! Benches of Vortex: kernels of fixtures/vortex on the machine of SWAS, 32 waves of 32 lanes.

use super::{Run, Work, timed_run};
use crate::job::{Job, JobSpec};
use crate::kernels::{Kernel, sgemm, swas, trials};
use miette::Report;
use wb_sim::RunOptions;

pub(super) const MACHINE: &str = "vortex-swas";

/// Name of the bench, and the kernel.
pub(super) const KERNELS: &[(&str, fn() -> Option<Kernel>)] = &[
    ("vortex-sgemm", || Some(sgemm(1024, 5, 256, None))),
    ("vortex-psort", || swas().into_iter().find(|k| k.name == "psort")),
    ("vortex-blackscholes", || swas().into_iter().find(|k| k.name == "blackscholes")),
    ("vortex-diverge", || trials().into_iter().find(|k| k.name == "diverge")),
];

pub(super) fn prepare(kernel: &Kernel) -> Result<Job, Report> {
    let sets = vec!["limits.memory=4194304".to_owned()];
    kernel.job(&JobSpec { machine: MACHINE.into(), sets, ..JobSpec::default() })
}

pub(super) fn run(job: &Job, timed: bool) -> Result<Run, Report> {
    timed_run(|| Ok(Work::of(&job.run(RunOptions { timed, ..RunOptions::default() }, None)?)))
}
