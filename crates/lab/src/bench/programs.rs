//! Benches of HARP and GUPPY: embedded assembly programs with a loop.

use super::work::{Run, Work, timed_run};
use miette::Report;
use wb_hw::InstructionSet;
use wb_jobs::{Job, JobSpec};
use wb_sim::RunOptions;

pub(super) struct Program {
    pub name: &'static str,
    pub isa: InstructionSet,
    pub machine: &'static str,
    text: &'static str,
    sets: &'static [&'static str],
    views: &'static [&'static str],
    /// Loop iterations of one run.
    iterations: u32,
}

const GUPPY: &[&str] = &["limits.cycles=1000000000", "limits.memory=1M"];
const HARP: &[&str] = &["core.lanes=32", "limits.cycles=1000000000", "limits.memory=1M"];

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "guppy-alu",
        isa: InstructionSet::Guppy,
        machine: "guppy",
        text: include_str!("../../programs/bench-alu.guppy"),
        sets: GUPPY,
        views: &[],
        iterations: 20_000,
    },
    Program {
        name: "guppy-diverge",
        isa: InstructionSet::Guppy,
        machine: "guppy-fig1",
        text: include_str!("../../programs/bench-diverge.guppy"),
        sets: GUPPY,
        views: &[],
        iterations: 20_000,
    },
    Program {
        name: "guppy-memory",
        isa: InstructionSet::Guppy,
        machine: "guppy",
        text: include_str!("../../programs/bench-memory.guppy"),
        sets: GUPPY,
        views: &["u0=buf:u32:4096:iota", "t0=u0"],
        iterations: 10_000,
    },
    Program {
        name: "harp-alu",
        isa: InstructionSet::Harp,
        machine: "harp",
        text: include_str!("../../programs/bench-alu.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
    Program {
        name: "harp-diverge",
        isa: InstructionSet::Harp,
        machine: "harp",
        text: include_str!("../../programs/bench-diverge.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
    Program {
        name: "harp-pipelined",
        isa: InstructionSet::Harp,
        machine: "harp-pipelined",
        text: include_str!("../../programs/bench-alu.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
];

/// The program assembled, ready to be run again and again.
pub(super) fn prepare(bench: &Program) -> Result<Job, Report> {
    let spec = JobSpec {
        isa: Some(bench.isa),
        machine: bench.machine.into(),
        sets: bench.sets.iter().map(|&s| s.into()).collect(),
        views: bench.views.iter().map(|&s| s.into()).collect(),
        grid: 32 * 4,
        ..JobSpec::default()
    };
    let machine = spec.machine()?;
    let text = bench
        .text
        .replace("ITERATIONS", &bench.iterations.to_string())
        .replace("WAVES", &machine.core.waves.to_string());
    Ok(Job::from_source(bench.name, &text, &spec)?)
}

pub(super) fn run(job: &Job, timed: bool) -> Result<Run, Report> {
    timed_run(|| Ok(Work::of(&job.run(RunOptions { timed, ..RunOptions::default() }, None)?)))
}
