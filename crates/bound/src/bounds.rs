//! The bound that a user gets: exact where no contents can change the time, else proved where there is a proof, else what measured
//! times add up to.

use crate::analyse::{TraceFiles, analyse_with};
use crate::composed::OWN_TIME;
use crate::error::{BoundError, Lack, refused};
use crate::exact::{self, ExactCertificate, ExactKernel};
use crate::options::{Options, Progress};
use crate::proved::{ProvedKernel, assumptions, collect};
use crate::result::{CoverageRow, ExactRow, KernelBound, LaunchRow, ProvedRow, Status};
use crate::runs::Runs;
use crate::shape::Shape;
use crate::source::hash;
use wb_hw::Machine;
use wb_sim::RunOptions;

/// Bounds of every kernel that is launched, in the order of their first launch: exact where contents cannot change the time, proved
/// where there is a proof, else hybrid. With trace files nothing runs, so nothing can be exact.
pub fn bounds(
    runs: &Runs,
    options: &Options,
    files: TraceFiles,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    if !files.traces.is_empty() || options.hybrid {
        return hybrid(runs, options, files, progress);
    }
    let mut proved: Vec<ProvedKernel> = Vec::new();
    if options.proved {
        only_proved(runs, options, progress, &mut proved)?;
        return proved.iter().map(proved_only).collect();
    }
    let examined = exact::examine_with(runs, options, progress, &mut |launched| {
        collect(&mut proved, launched, options)
    })?;
    let sure = |k: &ExactKernel| {
        k.row.holds || proved.iter().any(|p| p.kernel == k.kernel && p.row().bound.is_some())
    };
    match hybrid(runs, options, files, progress) {
        Ok(found) => {
            let found = found.into_iter().map(|bound| with_proved(bound, &proved));
            Ok(found.map(|bound| with_exact(bound, &examined)).collect())
        }
        // Neither needs measured ways nor a graph of segments.
        Err(e) if !contradicts(&e) && examined.iter().all(sure) && !examined.is_empty() => examined
            .iter()
            .map(|k| match (k.row.holds, proved.iter().find(|p| p.kernel == k.kernel)) {
                (false, Some(proved)) => {
                    let mut proved = proved.clone();
                    proved.observed = k.cycles.iter().map(|(&n, c)| (n, (1, c.1))).collect();
                    let mut bound = proved_only(&proved)?;
                    bound.exact = k.row.clone();
                    Ok(bound)
                }
                _ => Ok(exact_only(k)),
            })
            .collect(),
        Err(e) => Err(e),
    }
}

/// Hybrid bounds of every kernel that is launched: by segments or by own time and waits, whichever is better. With trace files or
/// splits there are only segments.
pub fn hybrid(
    runs: &Runs,
    options: &Options,
    files: TraceFiles,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    let found = analyse_with(runs, options, files, progress)?;
    // These ask for segments of a certain kind.
    if options.segments || options.all_points || options.free_skips {
        return Ok(found);
    }
    Ok(found.into_iter().map(better).collect())
}

/// A bound by segments, or that by own time and waits beside it if it rests on less or is smaller.
pub fn better(mut bound: KernelBound) -> KernelBound {
    let (Some(cycles), Some(status)) = (bound.composed.bound, bound.composed.status) else { return bound };
    if (status, cycles) >= (bound.status, bound.bound) {
        return bound;
    }
    for launch in &mut bound.launches {
        launch.bound = bound.composed.launches.get(&launch.number).copied().unwrap_or(launch.bound);
    }
    (bound.bound, bound.status, bound.hybrid_by) = (cycles, status, OWN_TIME);
    bound.ratio = ratio(bound.bound, bound.observed);
    bound.assumptions.clone_from(&bound.composed.assumptions);
    bound.certificate.clone_from(&bound.composed.certificate);
    bound
}

/// What runs did is not what was said: then nothing that rests on it holds.
fn contradicts(error: &BoundError) -> bool {
    matches!(error, BoundError::Refused(r) if r.lack == Lack::Contradiction)
}

/// Proves every launch. A single launch does not run; several may depend on what those before leave in memory.
fn only_proved(
    runs: &Runs,
    options: &Options,
    progress: Progress,
    proved: &mut Vec<ProvedKernel>,
) -> Result<(), BoundError> {
    let single = matches!(runs, Runs::Jobs(jobs) if jobs.len() == 1);
    let mut count = 0;
    runs.each(&mut |launched, go| {
        progress("proving", count);
        count += 1;
        collect(proved, launched, options);
        if !single {
            let cycles = go(RunOptions::default(), None)?.cycles;
            let kernel = proved.iter_mut().find(|k| k.kernel == launched.kernel);
            if let Some(kernel) = kernel {
                let seen = kernel.observed.entry(launched.number).or_default();
                *seen = (seen.0 + 1, seen.1.max(cycles));
            }
        }
        Ok(())
    })
}

/// A hybrid bound with what follows without measurements.
fn with_proved(mut bound: KernelBound, proved: &[ProvedKernel]) -> KernelBound {
    let Some(kernel) = proved.iter().find(|k| k.kernel == bound.kernel) else { return bound };
    bound.proved = kernel.row();
    let Some(cycles) = bound.proved.bound else { return bound };
    bound.hybrid_bound = Some(bound.bound);
    for launch in &mut bound.launches {
        launch.bound = kernel.launch(launch.number).map_or(launch.bound, |l| l.1.found.cycles);
    }
    bound.bound = cycles;
    bound.ratio = ratio(bound.bound, bound.observed);
    bound.status = Status::Proved;
    bound.warnings.clear();
    bound.assumptions = assumptions(&bound.proved);
    bound.certificate = kernel.certificate();
    bound
}

fn ratio(bound: u64, observed: u64) -> f64 {
    if observed == 0 { 0.0 } else { bound as f64 / observed as f64 }
}

/// A proved bound where nothing else is known, or nothing else was asked for.
fn proved_only(kernel: &ProvedKernel) -> Result<KernelBound, BoundError> {
    let row = kernel.row();
    let Some(bound) = row.bound else {
        let why = row.why_not.unwrap_or_default();
        return Err(match row.help {
            Some(help) => refused!(Program, help = help, "{why}"),
            None => refused!(Program, "{why}"),
        });
    };
    let mut launches = Vec::new();
    for &number in kernel.numbers.keys() {
        let Some((shape, proved)) = kernel.launch(number) else { continue };
        let (runs, observed) = kernel.observed.get(&number).copied().unwrap_or_default();
        launches.push(LaunchRow { bound: proved.found.cycles, runs, ..launch_row(number, shape, observed) });
    }
    let observed = launches.iter().map(|l| l.observed).sum();
    let shapes: Vec<&Shape> = launches.iter().flat_map(|l| l.shapes.iter().map(|s| &s.0)).collect();
    let mut found = bare(&kernel.kernel, &kernel.file, &kernel.machine, &kernel.checksum, &shapes);
    found.assumptions = assumptions(&row);
    found.loops.clone_from(&row.loops);
    Ok(KernelBound {
        bound,
        observed,
        ratio: ratio(bound, observed),
        runs: launches.iter().map(|l| l.runs).max().unwrap_or(0),
        status: Status::Proved,
        launches,
        certificate: kernel.certificate(),
        proved: row,
        ..found
    })
}

/// A hybrid bound with what was found about contents.
fn with_exact(mut bound: KernelBound, examined: &[ExactKernel]) -> KernelBound {
    let Some(kernel) = examined.iter().find(|k| k.kernel == bound.kernel) else { return bound };
    bound.exact = kernel.row.clone();
    if !kernel.row.holds {
        return bound;
    }
    bound.hybrid_bound = bound.hybrid_bound.or(Some(bound.bound));
    for launch in &mut bound.launches {
        launch.bound = kernel.cycles.get(&launch.number).map_or(launch.observed, |c| c.1);
    }
    bound.bound = bound.launches.iter().map(|l| l.bound).sum();
    bound.ratio = ratio(bound.bound, bound.observed);
    bound.status = Status::Exact;
    // Measured with one input or many: it is the same.
    bound.warnings.clear();
    bound.assumptions = exact::assumptions();
    bound.certificate = ExactCertificate::of(kernel).text();
    bound
}

/// An exact bound where nothing else is known.
fn exact_only(kernel: &ExactKernel) -> KernelBound {
    let launches: Vec<LaunchRow> =
        kernel.cycles.iter().map(|(&number, (shape, cycles))| launch_row(number, shape, *cycles)).collect();
    let cycles = launches.iter().map(|l| l.bound).sum();
    let shapes: Vec<&Shape> = kernel.launches.iter().map(|l| &l.shape).collect();
    KernelBound {
        bound: cycles,
        observed: cycles,
        ratio: 1.0,
        runs: 1,
        distinct_inputs: Some(1),
        status: Status::Exact,
        exact: kernel.row.clone(),
        times: "measured",
        launches,
        assumptions: exact::assumptions(),
        certificate: ExactCertificate::of(kernel).text(),
        ..bare(&kernel.kernel, &kernel.file, &kernel.machine, &kernel.checksum, &shapes)
    }
}

/// A bound of a kernel of which nothing is known but what it is.
fn bare(kernel: &str, file: &str, machine: &Machine, checksum: &str, shapes: &[&Shape]) -> KernelBound {
    let mut inputs = vec![
        (format!("kernel {kernel} of {file}"), checksum.to_owned()),
        (format!("machine {}", machine.name), hash(machine.to_toml().as_bytes())),
    ];
    inputs.extend(shapes.iter().map(|s| ("launch: geometry and arguments".into(), s.hash())));
    KernelBound {
        kernel: kernel.to_owned(),
        file: file.to_owned(),
        machine: machine.name.clone(),
        clock_mhz: machine.clock_mhz,
        mechanism: machine.divergence.mechanism.name().to_owned(),
        contexts: machine.split.contexts,
        bound: 0,
        observed: 0,
        ratio: 0.0,
        runs: 0,
        distinct_inputs: None,
        status: Status::Observed,
        exact: ExactRow::default(),
        proved: ProvedRow::default(),
        hybrid_bound: None,
        hybrid_by: "",
        segment_bound: 0,
        composed: Default::default(),
        warnings: Vec::new(),
        times: "none",
        wave_bound: 0,
        wave_observed: 0,
        wave_bound_by_blocks: 0,
        bound_by_blocks: 0,
        start_delay: 0,
        launches: Vec::new(),
        loops: Vec::new(),
        never: Vec::new(),
        worst: Vec::new(),
        blocks: Vec::new(),
        edges: Vec::new(),
        sources: Vec::new(),
        branches: Vec::new(),
        splits: 0,
        refused: 0,
        most_paths: 1,
        coverage: CoverageRow::default(),
        paper: Vec::new(),
        assumptions: Vec::new(),
        inputs,
        certificate: String::new(),
        lp: String::new(),
    }
}

fn launch_row(number: usize, shape: &Shape, cycles: u64) -> LaunchRow {
    LaunchRow {
        number,
        groups: shape.groups,
        waves_per_group: shape.needs.waves_per_group,
        group_threads: shape.group.iter().product(),
        seats: shape.seats,
        at_once: shape.at_once(),
        limit: shape.limit.into(),
        rounds: shape.groups.div_ceil(shape.at_once().max(1)),
        bound: cycles,
        observed: cycles,
        runs: 1,
        shapes: vec![(shape.clone(), Vec::new())],
    }
}
