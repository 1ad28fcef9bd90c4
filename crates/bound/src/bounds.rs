//! The bound that a user gets: exact where no contents can change the time, else what measured times add up to.

use crate::analyse::{TraceFiles, analyse_with};
use crate::error::BoundError;
use crate::exact::{self, ExactCertificate, ExactKernel};
use crate::options::{Options, Progress};
use crate::result::{CoverageRow, KernelBound, LaunchRow, Status};
use crate::runs::Runs;
use crate::shape::Shape;
use crate::source::hash;

/// Bounds of every kernel that is launched, in the order of their first launch. Launches are examined for exact bounds first;
/// with trace files nothing runs, so nothing can be exact.
pub fn bounds(
    runs: &Runs,
    options: &Options,
    files: TraceFiles,
    progress: Progress,
) -> Result<Vec<KernelBound>, BoundError> {
    if !files.traces.is_empty() || options.hybrid {
        return analyse_with(runs, options, files, progress);
    }
    let examined = exact::examine(runs, options, progress)?;
    match analyse_with(runs, options, files, progress) {
        Ok(found) => Ok(found.into_iter().map(|bound| with_exact(bound, &examined)).collect()),
        // An exact bound needs no limits of loops, no measured ways and no graph of segments.
        Err(_) if examined.iter().all(|k| k.row.holds) && !examined.is_empty() => {
            Ok(examined.iter().map(exact_only).collect())
        }
        Err(e) => Err(e),
    }
}

/// A hybrid bound with what was found about contents.
fn with_exact(mut bound: KernelBound, examined: &[ExactKernel]) -> KernelBound {
    let Some(kernel) = examined.iter().find(|k| k.kernel == bound.kernel) else { return bound };
    bound.exact = kernel.row.clone();
    if !kernel.row.holds {
        return bound;
    }
    bound.hybrid_bound = Some(bound.bound);
    for launch in &mut bound.launches {
        launch.bound = kernel.cycles.get(&launch.number).map_or(launch.observed, |c| c.1);
    }
    bound.bound = bound.launches.iter().map(|l| l.bound).sum();
    bound.ratio = if bound.observed == 0 { 0.0 } else { bound.bound as f64 / bound.observed as f64 };
    bound.status = Status::Exact;
    // Measured with one input or many: it is the same.
    bound.warnings.clear();
    bound.assumptions = exact::assumptions();
    bound.certificate = ExactCertificate::of(kernel).text();
    bound
}

/// An exact bound where nothing else is known.
fn exact_only(kernel: &ExactKernel) -> KernelBound {
    let machine = &kernel.machine;
    let launches: Vec<LaunchRow> =
        kernel.cycles.iter().map(|(&number, (shape, cycles))| launch_row(number, shape, *cycles)).collect();
    let cycles = launches.iter().map(|l| l.bound).sum();
    let mut inputs = vec![
        (format!("kernel {} of {}", kernel.kernel, kernel.file), kernel.checksum.clone()),
        (format!("machine {}", machine.name), hash(machine.to_toml().as_bytes())),
    ];
    inputs.extend(kernel.launches.iter().map(|l| ("launch: geometry and arguments".into(), l.shape.hash())));
    KernelBound {
        kernel: kernel.kernel.clone(),
        file: kernel.file.clone(),
        machine: machine.name.clone(),
        clock_mhz: machine.clock_mhz,
        mechanism: machine.divergence.mechanism.name().to_owned(),
        contexts: machine.split.contexts,
        bound: cycles,
        observed: cycles,
        ratio: 1.0,
        runs: 1,
        distinct_inputs: Some(1),
        status: Status::Exact,
        exact: kernel.row.clone(),
        hybrid_bound: None,
        warnings: Vec::new(),
        times: "measured",
        wave_bound: 0,
        wave_observed: 0,
        wave_bound_by_blocks: 0,
        bound_by_blocks: 0,
        start_delay: 0,
        launches,
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
        assumptions: exact::assumptions(),
        inputs,
        certificate: ExactCertificate::of(kernel).text(),
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
