//! `wavebound demo --teaching`: what divergence is, on the two small machines. A kernel on GUPPY whose lanes loop a
//! different number of times, plain branches on HARP under two mechanisms, pictures.

use crate::commands::{CommandResult, print, print_line};
use std::path::Path;
use std::process::ExitCode;
use wavebound::jobs::{Job, JobSpec};
use wavebound::report::{History, PictureOptions, draw};
use wavebound::sim::RunOptions;
use wavebound::trace::{Observers, Statistics};

const KERNEL: &str = include_str!("../../../programs/demo.guppy");
const PLAIN: &str = include_str!("../../../programs/demo.harp");

pub fn main(out: &Path) -> CommandResult {
    print_line("1. A kernel whose lanes loop a different number of times (GUPPY, mask stack)\n");
    print_line(KERNEL.trim_end());
    let guppy = JobSpec {
        isa: Some(wavebound::hw::InstructionSet::Guppy),
        grid: 128,
        views: vec!["t0=buf:u32:128:random=7".into(), "u0=buf:u32:128".into()],
        ..JobSpec::default()
    };
    let random = show("demo.guppy", KERNEL, &guppy, &out.join("random.png"), "u0:8")?;

    print_line("\n2. The same work with the trip counts sorted: similar lanes share a wave\n");
    let sorted = JobSpec { views: vec!["t0=buf:u32:128:iota".into(), "u0=buf:u32:128".into()], ..guppy };
    let sorted = show("demo.guppy", KERNEL, &sorted, &out.join("sorted.png"), "u0:8")?;
    print_line(&format!("random order takes {:.2} times as long as sorted\n", random as f64 / sorted as f64));

    print_line("3. Plain branches whose lanes disagree (HARP): an error under split/join rules, ...\n");
    let spec = JobSpec {
        isa: Some(wavebound::hw::InstructionSet::Harp),
        machine: "harp-pdom".into(),
        ..JobSpec::default()
    };
    match Job::from_source("demo.harp", PLAIN, &spec)?.run(RunOptions::default(), None) {
        Ok(_) => print_line("(no error: unexpected)"),
        Err(report) => print_line(&format!("{report:?}")),
    }
    print_line("... legal with a SIMT stack, which reconverges at the post-dominator\n");
    let spec = JobSpec { sets: vec!["divergence.mechanism=simt-stack".into()], ..spec };
    show("demo.harp", PLAIN, &spec, &out.join("simt-stack.png"), "out")?;

    print_line(
        "\nNext: wavebound demo · wavebound reproduce · wavebound machines · wavebound run FILE --picture history.png",
    );
    Ok(ExitCode::SUCCESS)
}

fn show(name: &str, text: &str, spec: &JobSpec, picture: &Path, memory: &str) -> miette::Result<u64> {
    let job = Job::from_source(name, text, spec)?;
    let mut statistics = Statistics::new();
    let mut history = History::new();
    let outcome = {
        let mut observers = Observers::new();
        observers.push(&mut statistics);
        observers.push(&mut history);
        job.run(RunOptions::default(), Some(&mut observers))?
    };
    print(&statistics.stats().table());
    let buffer = job.find_buffer(memory)?;
    print_line(&format!("{memory} = {}", job.values(&buffer, &outcome)?.join(" ")));
    let title = format!("{name} on {} ({})", job.machine.name, job.machine.divergence.mechanism);
    draw(&history, &PictureOptions { title, ..PictureOptions::default() }, picture)?;
    print_line(&format!("picture: {}", picture.display()));
    Ok(outcome.cycles)
}
