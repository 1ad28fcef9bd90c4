//! A launch that can run, as often as one likes and always the same, and what came of a run.

use crate::error::{raise, refuse};
use crate::machine::Machine;
use crate::program::Program;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::Mutex;
use wavebound::hw::MarkStyle;
use wavebound::jobs::args::{ArgSpec, Argument, Value};
use wavebound::jobs::data::{Array, Element};
use wavebound::jobs::object::SplitSpec;
use wavebound::jobs::{self, JobSpec};
use wavebound::report::{History, PictureOptions, svg};
use wavebound::trace::{Event, Kind, Observer, Statistics};
use wavebound::{Outcome, RunOptions};

/// An argument: a type with bytes, text as on the command line, or bytes of local memory.
#[derive(FromPyObject)]
enum Given<'py> {
    Buffer(String, Vec<u64>, PyReadonlyArray1<'py, u8>),
    Value(String, Vec<u8>),
    Text(String),
    Local(u32),
}

#[pyclass(frozen, module = "wavebound._wavebound")]
pub struct Job {
    pub inner: jobs::Job,
    /// What it was prepared from: the analysis wants jobs of its own.
    name: String,
    bytes: Vec<u8>,
    spec: JobSpec,
}

#[pymethods]
impl Job {
    #[staticmethod]
    #[allow(clippy::too_many_arguments)]
    fn prepare(
        program: &Program,
        kernel: String,
        machine: Option<&Machine>,
        sets: Vec<String>,
        grid: [u32; 3],
        group: [u32; 3],
        args: Vec<Given<'_>>,
        views: Vec<String>,
        split_all: bool,
        split_at: Vec<String>,
        thesis_marks: bool,
        registers: u32,
        dynamic_lds: u32,
    ) -> PyResult<Job> {
        let style = if thesis_marks { MarkStyle::Thesis } else { MarkStyle::Pws };
        let spec = JobSpec {
            isa: Some(program.inner.instruction_set()),
            kernel,
            ready_machine: machine.map(|m| Box::new(m.inner.clone())),
            sets,
            grid3: grid,
            group3: group,
            grid: grid[0],
            group: group[0],
            args: args.into_iter().map(argument).collect::<PyResult<_>>()?,
            views,
            registers,
            dynamic_lds,
            split: SplitSpec { at: split_at, all: split_all, style },
            ..JobSpec::default()
        };
        let (name, bytes) = (program.inner.name().to_owned(), program.inner.bytes().to_vec());
        let inner = jobs::Job::from_bytes(&name, &bytes, &spec).map_err(raise)?;
        Ok(Job { inner, name, bytes, spec })
    }

    /// The machine with everything that was set.
    #[getter]
    fn machine(&self) -> Machine {
        Machine { inner: self.inner.machine.clone() }
    }

    /// Names, types and bytes of the buffers.
    #[getter]
    fn buffers(&self) -> Vec<(String, String, u64)> {
        self.inner.buffers.iter().map(|b| (b.name.clone(), b.element.name(), b.bytes)).collect()
    }

    /// Runs it. The interpreter is free meanwhile; an interrupt ends the run.
    fn run(&self, py: Python<'_>, timed: bool, statistics: bool) -> PyResult<Run> {
        let mut observer = Statistics::new();
        let outcome =
            self.watch(py, timed, statistics.then_some(&mut observer as &mut (dyn Observer + Send)))?;
        let stats = statistics.then(|| serde_json::to_string(&observer.stats())).transpose();
        Ok(Run { stats: stats.map_err(|e| refuse(e.to_string()))?, outcome: Mutex::new(outcome) })
    }

    /// Runs it and draws which lanes were on in which cycle, as SVG.
    fn picture(&self, py: Python<'_>, first: u64, last: Option<u64>) -> PyResult<String> {
        let mut history = History::range(first, last);
        self.watch(py, true, Some(&mut history))?;
        Ok(py.detach(|| svg(&history, &PictureOptions::default())))
    }

    /// Runs it and returns its events, column by column.
    fn events<'py>(&self, py: Python<'py>, timed: bool, most: usize) -> PyResult<Columns<'py>> {
        let mut events = Events { most, ..Events::default() };
        self.watch(py, timed, Some(&mut events))?;
        let left_out = events.left_out;
        let core = PyArray1::from_iter(py, events.list.iter().map(|e| e.core));
        let wave = PyArray1::from_iter(py, events.list.iter().map(|e| e.wave));
        let path = PyArray1::from_iter(py, events.list.iter().map(|e| e.path));
        let pc = PyArray1::from_iter(py, events.list.iter().map(|e| e.pc));
        let mask = PyArray1::from_iter(py, events.list.iter().map(|e| e.mask));
        let cycle = PyArray1::from_iter(py, events.list.iter().map(|e| e.cycle));
        let kind = PyArray1::from_iter(py, events.list.iter().map(|e| number(&e.kind)));
        let value = PyArray1::from_iter(py, events.list.iter().map(|e| value(&e.kind)));
        Ok((cycle, core, wave, path, pc, mask, kind, value, left_out))
    }
}

type Col<'py, T> = Bound<'py, PyArray1<T>>;
type Columns<'py> = (
    Col<'py, u64>,
    Col<'py, u16>,
    Col<'py, u32>,
    Col<'py, u16>,
    Col<'py, u32>,
    Col<'py, u64>,
    Col<'py, u8>,
    Col<'py, u64>,
    u64,
);

impl Job {
    /// The same launch once more.
    pub fn again(&self) -> PyResult<jobs::Job> {
        jobs::Job::from_bytes(&self.name, &self.bytes, &self.spec).map_err(raise)
    }

    fn watch(
        &self,
        py: Python<'_>,
        timed: bool,
        observer: Option<&mut (dyn Observer + Send)>,
    ) -> PyResult<Outcome> {
        let mut stopped = None;
        let result = py.detach(|| {
            let mut progress = |_: wavebound::sim::Sofar| match Python::attach(|py| py.check_signals()) {
                Ok(()) => ControlFlow::Continue(()),
                Err(e) => {
                    stopped = Some(e);
                    ControlFlow::Break(())
                }
            };
            let options = RunOptions { timed, progress: Some(&mut progress), ..RunOptions::default() };
            self.inner.run(options, observer.map(|o| o as &mut dyn Observer))
        });
        match (result, stopped) {
            (_, Some(e)) => Err(e),
            (Ok(outcome), None) => Ok(outcome),
            (Err(e), None) => Err(raise(e)),
        }
    }
}

fn argument(given: Given<'_>) -> PyResult<ArgSpec> {
    let element =
        |name: &str| Element::parse(name).ok_or_else(|| refuse(format!("no type is called {name:?}")));
    Ok(match given {
        Given::Buffer(name, shape, bytes) => {
            let array = Array { element: element(&name)?, shape, bytes: bytes.as_slice()?.to_vec() };
            ArgSpec::Ready(Argument::Buffer(array))
        }
        Given::Value(name, bytes) => {
            ArgSpec::Ready(Argument::Value(Value { bytes, element: Some(element(&name)?) }))
        }
        Given::Text(text) => ArgSpec::Text(text),
        Given::Local(bytes) => ArgSpec::Ready(Argument::Local(bytes)),
    })
}

/// Keeps events, the first so many.
#[derive(Default)]
struct Events {
    list: Vec<Event>,
    most: usize,
    left_out: u64,
}

impl Observer for Events {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        let room = self.most.saturating_sub(self.list.len()).min(batch.len());
        self.list.extend_from_slice(&batch[..room]);
        self.left_out += (batch.len() - room) as u64;
    }
}

/// Names of the numbers that [`number`] gives, in their order.
const KINDS: [&str; 14] = [
    "wave-start",
    "wave-end",
    "issue",
    "nop",
    "stall",
    "split",
    "mask",
    "path-new",
    "path-merge",
    "path-start",
    "path-end",
    "split-refused",
    "memory",
    "barrier",
];

fn number(kind: &Kind) -> u8 {
    match kind {
        Kind::WaveStart { .. } => 0,
        Kind::WaveEnd => 1,
        Kind::Issue { .. } => 2,
        Kind::Nop => 3,
        Kind::Stall { .. } => 4,
        Kind::Split { .. } => 5,
        Kind::Mask { .. } => 6,
        Kind::PathNew { .. } => 7,
        Kind::PathMerge { .. } => 8,
        Kind::PathStart { .. } => 9,
        Kind::PathEnd { .. } => 10,
        Kind::SplitRefused { .. } => 11,
        Kind::Memory { .. } => 12,
        Kind::Barrier { .. } => 13,
    }
}

/// The number that says most about an event: lanes, cycles, lines.
fn value(kind: &Kind) -> u64 {
    match *kind {
        Kind::WaveStart { lanes } | Kind::PathMerge { lanes } | Kind::PathStart { lanes } => lanes,
        Kind::PathNew { lanes, .. } | Kind::SplitRefused { lanes, .. } => lanes,
        Kind::WaveEnd | Kind::Nop => 0,
        Kind::Issue { busy, .. } => busy.into(),
        Kind::Stall { cycles, .. } => cycles.into(),
        Kind::Split { taken, .. } => taken,
        Kind::Mask { new, .. } => new,
        Kind::PathEnd { into } => into.into(),
        Kind::Memory { lines, .. } => lines.into(),
        Kind::Barrier { arrived, .. } => arrived.into(),
    }
}

/// What came of a run.
#[pyclass(frozen, module = "wavebound._wavebound")]
pub struct Run {
    outcome: Mutex<Outcome>,
    /// JSON, as in `wavebound run --json`.
    #[pyo3(get)]
    stats: Option<String>,
}

#[pymethods]
impl Run {
    /// Cycles, wave-instructions, lane-instructions, NOPs, waves.
    #[getter]
    fn totals(&self) -> (u64, u64, u64, u64, u32) {
        let o = self.outcome.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (o.cycles, o.wave_instructions, o.lane_instructions, o.nops, o.waves)
    }

    #[getter]
    fn console(&self) -> String {
        let o = self.outcome.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        String::from_utf8_lossy(&o.console).into_owned()
    }

    /// Type and bytes of a buffer after the run, by the name of its parameter or as `arg0`.
    fn buffer<'py>(&self, py: Python<'py>, job: &Job, name: &str) -> PyResult<(String, Col<'py, u8>)> {
        let buffer = job.inner.find_buffer(name).map_err(|e| PyKeyError::new_err(e.to_string()))?;
        let o = self.outcome.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let bytes = o.memory.read(buffer.addr, buffer.bytes).map_err(|e| raise(jobs::JobError::from(e)))?;
        Ok((buffer.element.name(), PyArray1::from_slice(py, bytes)))
    }
}

pub fn add(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("KINDS", KINDS.to_vec())?;
    m.add_class::<Job>()?;
    m.add_class::<Run>()
}
