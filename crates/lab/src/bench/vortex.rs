//! Benches of Vortex: kernels of fixtures/vortex on the machine of SWAS, 32 waves of 32 lanes.

use super::work::{Run, Work, timed_run};
use crate::kernels::{VortexKernel, sgemm, swas, trials};
use miette::Report;
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;

pub(super) const MACHINE: &str = "vortex-swas";

/// Name of the bench, the kernel and the front end; a coordinated one is only timed.
pub(super) const KERNELS: &[(&str, MakeKernel, &str)] = &[
    ("vortex-sgemm", || Some(sgemm(1024, 5, 256, None)), "decoupled"),
    ("vortex-psort", || swas().into_iter().find(|k| k.name == "psort"), "decoupled"),
    ("vortex-blackscholes", || swas().into_iter().find(|k| k.name == "blackscholes"), "decoupled"),
    ("vortex-diverge", || trials().into_iter().find(|k| k.name == "diverge"), "decoupled"),
    ("vortex-sgemm-coordinated", || Some(sgemm(1024, 5, 256, None)), COORDINATED),
    ("vortex-psort-coordinated", || swas().into_iter().find(|k| k.name == "psort"), COORDINATED),
    ("vortex-diverge-coordinated", || trials().into_iter().find(|k| k.name == "diverge"), COORDINATED),
];
type MakeKernel = fn() -> Option<VortexKernel>;
pub(super) const COORDINATED: &str = "coordinated";

pub(super) fn prepare(kernel: &VortexKernel, frontend: &str) -> Result<Job, Report> {
    let sets = vec!["limits.memory=4194304".to_owned(), format!("frontend.kind={frontend}")];
    kernel.job(&JobSpec { machine: MACHINE.into(), sets, ..JobSpec::default() })
}

pub(super) fn run(job: &Job, timed: bool) -> Result<Run, Report> {
    timed_run(|| Ok(Work::of(&job.run(RunOptions { timed, ..RunOptions::default() }, None)?)))
}
