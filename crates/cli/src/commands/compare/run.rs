//! One variant: all launches, their statistics added up, and what memory holds in the end.

use super::args::CompareArgs;
use super::result::{Contents, Outcome, Ran};
use super::variants::Variant;
use crate::commands::interrupt::Watch;
use crate::commands::target::Target;
use miette::{IntoDiagnostic, Report};
use wavebound::jobs::data::{Buffer, Element};
use wavebound::jobs::launch::Launches;
use wavebound::jobs::{Job, with_program};
use wavebound::sim::RunOptions;
use wavebound::trace::{Statistics, Stats};

pub fn run(args: &CompareArgs, variant: &Variant, watch: &Watch) -> Outcome {
    let target = variant.target(&args.target);
    let mut waves = 0;
    let ran = match target.launches() {
        Ok(Some(mut session)) => run_launches(session.as_mut(), args.untimed, watch, &mut waves),
        Ok(None) => run_job(&target, args.untimed, watch, &mut waves),
        Err(e) => Err(e),
    };
    match ran {
        Ok(ran) => Outcome::Ran(Box::new(ran)),
        // Before the first wave it is the machine that says no.
        Err(e) if waves == 0 => Outcome::Refused(words(&e)),
        Err(e) => Outcome::Failed(words(&e)),
    }
}

/// An error in one line.
fn words(report: &Report) -> String {
    report.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn run_job(target: &Target, untimed: bool, watch: &Watch, waves: &mut u64) -> Result<Ran, Report> {
    let job = target.job()?;
    let mut statistics = Statistics::new();
    let mut progress = |_| watch.go_on();
    let options = RunOptions { timed: !untimed, progress: Some(&mut progress), ..RunOptions::default() };
    let outcome = job.run(options, Some(&mut statistics));
    let stats = statistics.stats();
    *waves = stats.waves;
    let outcome = outcome?;
    let mut contents = Vec::new();
    for buffer in watched(&job) {
        let bytes = outcome.memory.read(buffer.addr, buffer.bytes).into_diagnostic()?.to_vec();
        contents.push(Contents { name: buffer.name, element: buffer.element, bytes });
    }
    if !outcome.console.is_empty() {
        let (name, element) = ("what it printed".to_owned(), Element::Word(1));
        contents.push(Contents { name, element, bytes: outcome.console.clone() });
    }
    let kernel = job.program.borrow().kernel().to_owned();
    let (file, source) = (job.file.clone(), job.source().cloned());
    let state_bits = job.machine.extra_state_bits();
    Ok(Ran { kernel, file, source, stats, contents, state_bits, expected: None })
}

/// What is compared: buffers; of programs without, their data. Code of a GCN3 program differs where it is marked.
fn watched(job: &Job) -> Vec<Buffer> {
    if !job.buffers.is_empty() {
        return job.buffers.clone();
    }
    let program = job.program.borrow();
    if program.gcn3().is_some() {
        return Vec::new();
    }
    let parts: Vec<(u64, u64)> =
        with_program!(program, p => p.segments.iter().map(|s| (s.addr, s.bytes.len() as u64)).collect());
    let word = program.word().max(1);
    let whole = |bytes: u64| bytes / u64::from(word) * u64::from(word);
    let buffer = |(addr, bytes): (u64, u64)| Buffer {
        name: format!("data at {addr:#x}"),
        addr,
        bytes: whole(bytes),
        element: Element::Word(word),
    };
    parts.into_iter().filter(|p| whole(p.1) > 0).map(buffer).collect()
}

fn run_launches(
    session: &mut dyn Launches,
    untimed: bool,
    watch: &Watch,
    waves: &mut u64,
) -> Result<Ran, Report> {
    let mut sum: Option<Stats> = None;
    let mut kernel = String::new();
    while let Some(step) = session.next_step()? {
        let mut statistics = Statistics::new();
        let mut progress = |_| watch.go_on();
        let options = RunOptions { timed: !untimed, progress: Some(&mut progress), ..RunOptions::default() };
        let outcome = session.run(&step, options, Some(&mut statistics));
        let stats = statistics.stats();
        *waves += stats.waves;
        outcome?;
        if kernel.is_empty() {
            kernel.clone_from(&step.dispatch.kernel);
        }
        match &mut sum {
            Some(sum) => sum.add(&stats),
            None => sum = Some(stats),
        }
    }
    let stage = session.stage();
    let mut contents = Vec::new();
    for b in &stage.buffers {
        let bytes = stage.device.read(b.addr, b.bytes).into_diagnostic()?.to_vec();
        contents.push(Contents { name: b.name.clone(), element: b.element, bytes });
    }
    let wrong = session.verdicts()?.into_iter().find_map(|v| Some((v.buffer, v.difference?)));
    let expected = wrong.map(|(buffer, d)| {
        format!(
            "{buffer}[{}] is {}, expected {}; {} of {} elements differ",
            d.index, d.got, d.expected, d.count, d.of
        )
    });
    let file = stage.program_file().to_owned();
    let (stats, state_bits) = (sum.unwrap_or_default(), stage.machine().extra_state_bits());
    Ok(Ran { kernel, file, source: None, stats, contents, state_bits, expected })
}
