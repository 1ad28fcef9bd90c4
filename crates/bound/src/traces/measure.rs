//! Measurements from trace files instead of runs: the program is loaded and its launches are looked at, nothing runs. A
//! file with a point at every block is as good as the runs; of one with fewer, its points are those of the analysis.

use super::file::TraceFile;
use super::kernel_trace::KernelTrace;
use crate::error::{BoundError, refused};
use crate::kernel::AnalysedKernel;
use crate::launched::Launched;
use crate::launches;
use crate::measured::MeasuredKernel;
use crate::options::{Options, facts_for};
use crate::result::LaunchRow;
use crate::runs::Runs;
use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};
use wb_wcet::measure::{Plan, Points, Times, run_times};

/// The trace files of an analysis.
pub(crate) struct Traces<'a> {
    files: &'a [TraceFile],
    read: BTreeMap<String, Read<'a>>,
}

/// The rows of one kernel.
struct Read<'a> {
    rows: KernelTrace<'a>,
    /// There is a point at every block.
    exact: bool,
}

impl<'a> Traces<'a> {
    pub fn new(files: &'a [TraceFile]) -> Traces<'a> {
        Traces { files, read: BTreeMap::new() }
    }

    /// With all points of the files.
    pub fn first(&mut self, runs: &Runs, options: &Options) -> Result<Vec<MeasuredKernel>, BoundError> {
        let names = kernels(runs)?;
        for file in self.files {
            if let Some(kernel) = file.kernel.as_ref().filter(|k| !names.contains(*k)) {
                return Err(refused!(
                    Times,
                    help = "choose the kernel with --kernel, or the launch file that starts it",
                    "{}: the trace is of kernel {kernel}, which is not launched",
                    file.name
                ));
            }
        }
        let found = each_kernel(runs, &mut |launched| {
            let facts = || facts_for(options, launched.kernel);
            let whole = AnalysedKernel::new(launched, &Points::Blocks, facts())?;
            let rows = KernelTrace::new(&whole, self.files_of(launched.kernel, names.len())?)?;
            headers(&whole, &rows)?;
            let points = Points::At { points: rows.points.clone(), whole: BTreeSet::new() };
            let kernel = AnalysedKernel::new(launched, &points, facts())?;
            let exact = kernel.plan.pieces.iter().all(|p| p.node.is_some());
            let read = Read { rows, exact };
            let measured_kernel = from_rows(kernel, &read)?;
            self.read.insert(launched.kernel.to_owned(), read);
            Ok(measured_kernel)
        })?;
        found
            .into_iter()
            .map(|(measured_kernel, geometry)| self.with_launches(measured_kernel, &geometry))
            .collect()
    }

    /// Once more, with these points of each kernel.
    pub fn again(
        &self,
        runs: &Runs,
        options: &Options,
        points: &BTreeMap<String, Points>,
    ) -> Result<Vec<MeasuredKernel>, BoundError> {
        let found = each_kernel(runs, &mut |launched| {
            let read = self.read(launched.kernel)?;
            let points = points.get(launched.kernel).unwrap_or(&Points::Blocks);
            let kernel = AnalysedKernel::new(launched, points, facts_for(options, launched.kernel))?;
            if within(&kernel.plan, read) {
                return from_rows(kernel, read);
            }
            // Points that the trace does not have: all of its own have to do.
            let own = Points::At { points: read.rows.points.clone(), whole: BTreeSet::new() };
            from_rows(AnalysedKernel::new(launched, &own, facts_for(options, launched.kernel))?, read)
        })?;
        found
            .into_iter()
            .map(|(measured_kernel, geometry)| self.with_launches(measured_kernel, &geometry))
            .collect()
    }

    /// Points that must stay: those of the trace, unless it has one at every block.
    pub fn fixed_points(&self, kernel: &str) -> Option<Points> {
        let read = self.read.get(kernel).filter(|r| !r.exact)?;
        Some(Points::At { points: read.rows.points.clone(), whole: BTreeSet::new() })
    }

    fn read(&self, kernel: &str) -> Result<&Read<'a>, BoundError> {
        self.read.get(kernel).ok_or_else(|| refused!(Times, "there is no trace of kernel {kernel}"))
    }

    /// The files that name a kernel; those that name none are of the only one.
    fn files_of(&self, kernel: &str, kernels: usize) -> Result<Vec<&'a TraceFile>, BoundError> {
        let own = |f: &&TraceFile| f.kernel.as_deref().map_or(kernels == 1, |k| k == kernel);
        let files: Vec<&TraceFile> = self.files.iter().filter(own).collect();
        if files.is_empty() {
            return Err(refused!(
                Times,
                help =
                    "give a file for each kernel; its first line says which one it is of: `# kernel: NAME`",
                "there is no trace of kernel {kernel}"
            ));
        }
        Ok(files)
    }

    /// The runs of the trace are the launches, in order; of several traces, the launches come again.
    fn with_launches(
        &self,
        mut measured_kernel: MeasuredKernel,
        geometry: &[LaunchRow],
    ) -> Result<MeasuredKernel, BoundError> {
        let times = run_times(&self.read(&measured_kernel.kernel.name)?.rows.rows);
        if !times.len().is_multiple_of(geometry.len()) {
            return Err(refused!(
                Times,
                help = "a trace has a run for each launch of the kernel, numbered in order",
                "kernel {} is launched {} times, the trace has {} runs",
                measured_kernel.kernel.name,
                geometry.len(),
                times.len()
            ));
        }
        let runs = (times.len() / geometry.len()) as u32;
        measured_kernel.launches = geometry.iter().map(|g| LaunchRow { runs, ..g.clone() }).collect();
        let cycles = times.values().copied().collect::<Vec<u64>>();
        for run in cycles.chunks(geometry.len()) {
            for (row, &observed) in measured_kernel.launches.iter_mut().zip(run) {
                row.observed = row.observed.max(observed);
            }
        }
        Ok(measured_kernel)
    }
}

/// All points of the plan are in the trace.
fn within(plan: &Plan, read: &Read) -> bool {
    plan.nodes.iter().skip(2).all(|pc| read.rows.points.contains(pc) || !read.exact)
}

fn from_rows(kernel: AnalysedKernel, read: &Read) -> Result<MeasuredKernel, BoundError> {
    let times = Times::from_rows(&kernel.plan, &read.rows.rows, read.exact)
        .map_err(|e| read.rows.error(&kernel, e))?;
    let files = read.rows.files.iter().map(|f| (f.name.clone(), f.hash.clone())).collect();
    let source = Source::Trace { files, alike: times.alike };
    Ok(MeasuredKernel { kernel, times, launches: Vec::new(), source, composed: Default::default() })
}

/// Names of the kernels that are launched.
fn kernels(runs: &Runs) -> Result<BTreeSet<String>, BoundError> {
    let mut names = BTreeSet::new();
    runs.each(&mut |launched, _| {
        names.insert(launched.kernel.to_owned());
        Ok(())
    })?;
    Ok(names)
}

/// Looks at all launches: `new` begins a kernel, whose launches come with it.
pub(crate) fn each_kernel(
    runs: &Runs,
    new: &mut dyn FnMut(&Launched) -> Result<MeasuredKernel, BoundError>,
) -> Result<Vec<(MeasuredKernel, Vec<LaunchRow>)>, BoundError> {
    let mut found: Vec<(MeasuredKernel, Vec<LaunchRow>)> = Vec::new();
    runs.each(&mut |launched, _| {
        let at = match found.iter().position(|(s, _)| s.kernel.name == launched.kernel) {
            Some(at) => at,
            None => {
                found.push((new(launched)?, Vec::new()));
                found.len() - 1
            }
        };
        found[at].0.kernel.prove(launched);
        launches::add(&mut found[at].1, launched, 0);
        Ok(())
    })?;
    Ok(found)
}

/// Rounds of loops can be counted only if their headers are points.
fn headers(kernel: &AnalysedKernel, rows: &KernelTrace) -> Result<(), BoundError> {
    let missing: Vec<String> = kernel
        .plan
        .loops
        .iter()
        .filter(|l| !rows.points.contains(&l.header))
        .map(|l| kernel.place(l.header).to_string())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = rows.files.iter().map(|f| f.name.as_str()).collect();
    Err(refused!(
        Times,
        help = "every loop header must be instrumented; if it is, but no run got there, list it in the file: `# points: 0x2650 …`",
        "{}: the trace has no point at the header of {} of kernel {}: {}",
        names.join(", "),
        if missing.len() == 1 { "a loop" } else { "loops" },
        kernel.name,
        missing.join(", ")
    ))
}
