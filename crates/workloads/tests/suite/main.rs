//! Every workload at its smallest size against its reference and PoCL: untimed and timed, without splitting and under
//! thesis, dws and pws with their default marks, S = 1 and 3, on 1 and 4 cores. All runs leave the same bits.
//! The same compiled for gfx900, gfx90a and gfx940, on their machines, and for lane-pc machines.

mod pocl;

use libtest_mimic::{Arguments, Failed, Trial};
use std::time::Instant;
use wb_hw::{InstructionSet, Machine, MarkStyle, Mechanism};
use wb_sim::RunOptions;
use wb_workloads::{Input, Marks, Simulation, Size, Workload};

fn machine(preset: &str, cores: u32, sets: &[String]) -> Result<Machine, Failed> {
    let cores = [format!("cores={cores}"), "limits.cycles=100000000".to_owned()];
    let sets = cores.iter().chain(sets).map(|s| wb_hw::parse_set(s)).collect::<Result<Vec<_>, _>>()?;
    Ok(wb_hw::preset(preset)?.with_overrides(&sets)?)
}

/// How waves run, with which marks.
fn mechanisms() -> Vec<(String, Vec<String>, Marks)> {
    let mut out = vec![("none".to_owned(), Vec::new(), Marks::None)];
    for s in [1, 3] {
        for (name, marks) in [
            ("thesis", Marks::Default(MarkStyle::Thesis)),
            ("dws", Marks::None),
            ("pws", Marks::Default(MarkStyle::Pws)),
        ] {
            let sets = vec![format!("divergence.mechanism={name}"), format!("split.contexts={s}")];
            out.push((format!("{name} S={s}"), sets, marks));
        }
    }
    out
}

fn check(w: &Workload) -> Result<(), Failed> {
    let size = Size::Tiny;
    let mut first: Option<Vec<Vec<u8>>> = None;
    let (mut problems, mut slowest) = (Vec::new(), 0.0f64);
    for (name, sets, marks) in mechanisms() {
        for cores in [1, 4] {
            for timed in [false, true] {
                let place = format!("{} {name}, {cores} cores, timed {timed}", w.name);
                let begin = Instant::now();
                let mut simulation = Simulation::new(w, size, machine("gcn3", cores, &sets)?, &marks)
                    .map_err(|e| format!("{place}: {e}"))?;
                simulation.run_all(timed).map_err(|e| format!("{place}: {e:?}"))?;
                slowest = slowest.max(begin.elapsed().as_secs_f64());
                let results = simulation.results()?;
                match &first {
                    // The bits are all the same, so one comparison with the reference is enough.
                    None => {
                        for v in simulation.verdicts()? {
                            if let Some(d) = v.difference {
                                problems.push(format!("{place}: {} is not the reference's: {d:?}", v.buffer));
                            }
                        }
                        first = Some(results);
                    }
                    Some(first) if *first != results => problems.push(format!("{place}: other results")),
                    Some(_) => {}
                }
            }
        }
    }
    println!("{}: slowest run {slowest:.2} s", w.name);
    compare_with_pocl(w, first.unwrap_or_default(), &mut problems)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// What PoCL computes is what the reference has, and what the simulated device left.
fn compare_with_pocl(w: &Workload, ours: Vec<Vec<u8>>, problems: &mut Vec<String>) -> Result<(), Failed> {
    let source = format!("{}/src/{}/kernel.cl", env!("CARGO_MANIFEST_DIR"), w.folder());
    let Some(mut witness) = pocl::Pocl::start(&source)? else { return Ok(()) };
    let run = (w.build)(Size::Tiny, Input::default());
    let theirs = witness.run((w.build)(Size::Tiny, Input::default()))?;
    for ((want, theirs), ours) in run.wants.iter().zip(theirs).zip(ours) {
        let (theirs, ours) = (want.data.like(&theirs), want.data.like(&ours));
        let name = run.buffers[want.buffer].name;
        for (who, other) in [("the reference", &want.data), ("the simulated device", &ours)] {
            if let Some(d) = theirs.compare(other, want.within) {
                problems.push(format!("{}: {name} on PoCL is not that of {who}: {d:?}", w.name));
            }
        }
    }
    Ok(())
}

/// The same compiled for a later GPU, on its machine with four cores: all runs leave the reference's results, and the same bits.
fn later(w: &Workload, preset: &str) -> Result<(), Failed> {
    let mut first: Option<Vec<Vec<u8>>> = None;
    let mut problems = Vec::new();
    for (name, sets, marks) in mechanisms() {
        for timed in [false, true] {
            let place = format!("{} on {preset}, {name}, timed {timed}", w.name);
            let machine = machine(preset, 4, &sets)?;
            let mut simulation =
                Simulation::new(w, Size::Tiny, machine, &marks).map_err(|e| format!("{place}: {e}"))?;
            simulation.run_all(timed).map_err(|e| format!("{place}: {e:?}"))?;
            let results = simulation.results()?;
            match &first {
                None => {
                    for v in simulation.verdicts()? {
                        if let Some(d) = v.difference {
                            problems.push(format!("{place}: {} is not the reference's: {d:?}", v.buffer));
                        }
                    }
                    first = Some(results);
                }
                Some(first) if *first != results => problems.push(format!("{place}: other results")),
                Some(_) => {}
            }
        }
    }
    compare_with_pocl(w, first.unwrap_or_default(), &mut problems)?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// The same for a lane-pc machine, under every mechanism that it has; larger sizes under the baseline only.
fn lanepc(w: &Workload, preset: &str, size: Size) -> Result<(), Failed> {
    let mut first: Option<Vec<Vec<u8>>> = None;
    let mut problems = Vec::new();
    for mechanism in Mechanism::of(InstructionSet::Riscv) {
        if size != Size::Tiny && mechanism != Mechanism::SimtStack {
            continue;
        }
        for timed in [false, true] {
            let place = format!("{} on {preset}, {mechanism}, timed {timed}", w.name);
            let machine = machine(preset, 4, &[format!("divergence.mechanism={mechanism}")])?;
            let mut simulation =
                Simulation::new(w, size, machine, &Marks::None).map_err(|e| format!("{place}: {e}"))?;
            if let Err(e) = simulation.run_all(timed) {
                problems.push(format!("{place}: {:?}", miette::Report::new(e)));
                continue;
            }
            let results = simulation.results()?;
            match &first {
                None => {
                    for v in simulation.verdicts()? {
                        if let Some(d) = v.difference {
                            problems.push(format!("{place}: {} is not the reference's: {d:?}", v.buffer));
                        }
                    }
                    first = Some(results);
                }
                Some(first) if *first != results => problems.push(format!("{place}: other results")),
                Some(_) => {}
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n").into()) }
}

/// Host threads change neither cycles nor bits: on machines whose cores do not all share a first-level cache.
fn threads(w: &Workload) -> Result<(), Failed> {
    for (preset, cores, mechanism) in
        [("gcn3", 9, "none"), ("mi300", 8, "none"), ("lanepc", 8, "simt-stack"), ("lanepc", 8, "swi")]
    {
        for timed in [false, true] {
            let run = |threads: usize| -> Result<_, Failed> {
                let sets = [format!("divergence.mechanism={mechanism}")];
                let machine = machine(preset, cores, &sets)?;
                let mut simulation = Simulation::new(w, Size::Tiny, machine, &Marks::None)?;
                let mut done = Vec::new();
                while let Some(launch) = simulation.next_launch()? {
                    let options =
                        RunOptions { timed, threads, always_threads: true, ..RunOptions::default() };
                    let outcome = simulation.run(&launch, options, None)?;
                    done.push((outcome.cycles, outcome.wave_instructions, outcome.lane_instructions));
                }
                Ok((done, simulation.results()?))
            };
            let one = run(1)?;
            for threads in [2, 3] {
                if run(threads)? != one {
                    return Err(format!(
                        "{} on {preset}, {mechanism}, timed {timed}: other on {threads} threads",
                        w.name
                    )
                    .into());
                }
            }
        }
    }
    Ok(())
}

/// The comparison can fail: a wrong reference is noticed.
fn a_wrong_result_is_noticed(w: &Workload) -> Result<(), Failed> {
    let mut run = (w.build)(Size::Tiny, Input::default());
    let (want, zeros) = (&run.wants[0], run.wants[0].data.zeros());
    if zeros.compare(&want.data, want.within).is_none() {
        return Err(format!("{}: a buffer of zeros passes for the result", w.name).into());
    }
    let buffer = want.buffer;
    if run.buffers[buffer].data.compare(&want.data, want.within).is_none() {
        return Err(format!("{}: the result is there before anything runs", w.name).into());
    }
    run.wants.clear();
    Ok(())
}

/// Marks, sizes, texts: what the command line shows and experiments rely on.
fn is_complete(w: &Workload) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for place in w.default_marks() {
        if let Err(e) = w.object("", &Marks::At(vec![place], MarkStyle::Pws)) {
            wrong.push(e.to_string());
        }
    }
    if !wrong.is_empty() {
        return Err(format!("{}:\n{}", w.name, wrong.join("\n")).into());
    }
    for style in [MarkStyle::Pws, MarkStyle::Thesis] {
        let marked = w.object("", &Marks::Default(style))?;
        if w.default_marks().is_empty() == (marked != w.code) {
            return Err(format!("{}: marks {:?} change nothing", w.name, w.default_marks()).into());
        }
    }
    let parts = ["# ", "## Kernels", "## Divergence", "## Sizes", "## What differs"];
    for part in parts.iter().chain(&w.sizes) {
        if !w.page.contains(part) {
            return Err(format!("docs/workloads/{}.md has no part `{part}`", w.folder()).into());
        }
    }
    let tiny = (w.build)(Size::Tiny, Input::default());
    let again = (w.build)(Size::Tiny, Input::default());
    if tiny.buffers.iter().zip(&again.buffers).any(|(a, b)| a.data != b.data) {
        return Err(format!("{}: two builds have different inputs", w.name).into());
    }
    Ok(())
}

fn main() {
    let mut args = Arguments::from_args();
    args.test_threads = args.test_threads.or(Some(2));
    let mut trials = Vec::new();
    for w in wb_workloads::all() {
        trials.push(Trial::test(w.name, move || check(w)));
        trials.push(Trial::test(format!("{}_threads", w.name), move || threads(w)));
        for preset in ["vega", "mi200", "mi300"] {
            trials.push(Trial::test(format!("{}_{preset}", w.name), move || later(w, preset)));
        }
        for preset in ["lanepc", "lanepc-64"] {
            trials.push(Trial::test(format!("{}_{preset}", w.name), move || lanepc(w, preset, Size::Tiny)));
        }
        // `-- --ignored lanepc_small`: minutes.
        for size in [Size::Small, Size::Medium] {
            let run = move || lanepc(w, "lanepc", size);
            let trial = Trial::test(format!("{}_lanepc_{size}", w.name), run).with_ignored_flag(true);
            trials.push(trial);
        }
        trials.push(Trial::test(format!("{}_can_fail", w.name), move || a_wrong_result_is_noticed(w)));
        trials.push(Trial::test(format!("{}_is_complete", w.name), move || is_complete(w)));
    }
    libtest_mimic::run(&args, trials).exit();
}
