//! How fast the simulator is: wave-instructions per second over fixed embedded programs, one thread,
//! no observer, timed and untimed.

use crate::job::{Job, JobSpec};
use miette::Report;
use serde::Serialize;
use std::time::Instant;
use wb_sim::RunOptions;

struct Bench {
    name: &'static str,
    isa: &'static str,
    machine: &'static str,
    text: &'static str,
    sets: &'static [&'static str],
    views: &'static [&'static str],
    /// Loop iterations of one run.
    iterations: u32,
}

const GUPPY: &[&str] = &["limits.cycles=1000000000", "limits.memory=1M"];
const HARP: &[&str] = &["core.lanes=32", "limits.cycles=1000000000", "limits.memory=1M"];

const BENCHES: &[Bench] = &[
    Bench {
        name: "guppy-alu",
        isa: "guppy",
        machine: "guppy",
        text: include_str!("../programs/bench-alu.guppy"),
        sets: GUPPY,
        views: &[],
        iterations: 20_000,
    },
    Bench {
        name: "guppy-diverge",
        isa: "guppy",
        machine: "guppy-fig1",
        text: include_str!("../programs/bench-diverge.guppy"),
        sets: GUPPY,
        views: &[],
        iterations: 20_000,
    },
    Bench {
        name: "guppy-memory",
        isa: "guppy",
        machine: "guppy",
        text: include_str!("../programs/bench-memory.guppy"),
        sets: GUPPY,
        views: &["u0=buf:u32:4096:iota", "t0=u0"],
        iterations: 10_000,
    },
    Bench {
        name: "harp-alu",
        isa: "harp",
        machine: "harp",
        text: include_str!("../programs/bench-alu.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
    Bench {
        name: "harp-diverge",
        isa: "harp",
        machine: "harp",
        text: include_str!("../programs/bench-diverge.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
    Bench {
        name: "harp-pipelined",
        isa: "harp",
        machine: "harp-pipelined",
        text: include_str!("../programs/bench-alu.harp"),
        sets: HARP,
        views: &[],
        iterations: 10_000,
    },
];

/// One measurement; the fields and their names are stable.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    pub name: String,
    pub isa: String,
    pub machine: String,
    pub timed: bool,
    pub wave_instructions: u64,
    pub seconds: f64,
    pub wave_instructions_per_second: f64,
}

/// Names of all benches.
pub fn names() -> impl Iterator<Item = &'static str> {
    BENCHES.iter().map(|b| b.name)
}

/// Runs the benches whose name contains `filter`, each for about `seconds`; the best run counts.
pub fn run(
    filter: &str,
    seconds: f64,
    mut done: impl FnMut(&Measurement),
) -> Result<Vec<Measurement>, Report> {
    let mut all = Vec::new();
    for bench in BENCHES.iter().filter(|b| b.name.contains(filter)) {
        for timed in [false, true] {
            let m = measure(bench, timed, seconds)?;
            done(&m);
            all.push(m);
        }
    }
    Ok(all)
}

fn measure(bench: &Bench, timed: bool, seconds: f64) -> Result<Measurement, Report> {
    let spec = JobSpec {
        isa: bench.isa.into(),
        machine: bench.machine.into(),
        sets: bench.sets.iter().map(|&s| s.into()).collect(),
        views: bench.views.iter().map(|&s| s.into()).collect(),
        grid: 32 * 4,
        ..JobSpec::default()
    };
    let machine = Job::machine(&spec)?;
    let text = bench
        .text
        .replace("ITERATIONS", &bench.iterations.to_string())
        .replace("WAVES", &machine.core.waves.to_string());
    let job = Job::from_source(bench.name, &text, &spec)?;
    let started = Instant::now();
    let mut best: Option<(u64, f64)> = None;
    loop {
        let run = Instant::now();
        let outcome = job.run(RunOptions { timed, ..RunOptions::default() }, None)?;
        let took = run.elapsed().as_secs_f64();
        if best.is_none_or(|b| took < b.1) {
            best = Some((outcome.wave_instructions, took));
        }
        if started.elapsed().as_secs_f64() >= seconds {
            break;
        }
    }
    let (wave_instructions, seconds) = best.unwrap_or((0, 1.0));
    Ok(Measurement {
        name: bench.name.into(),
        isa: bench.isa.into(),
        machine: bench.machine.into(),
        timed,
        wave_instructions,
        seconds,
        wave_instructions_per_second: wave_instructions as f64 / seconds,
    })
}
