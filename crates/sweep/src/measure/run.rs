//! Measures points, one after the other. Programs stay in memory between points.

use super::totals::{Failure, Totals};
use super::{Measure, Outcome, STATS, Status, hip};
use crate::point::{Point, Program, Target};
use crate::value::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wb_bound::worst::{Effort, Subject, search};
use wb_bound::{Options, Runs, TraceFiles, bounds};
use wb_hw::InstructionSet;
use wb_jobs::launch::{Launches, Session, Verdict, WorkloadSession, WorkloadSpec};
use wb_jobs::object::CompileOptions;
use wb_jobs::{Job, JobError, JobSpec, object, required_isa};
use wb_sim::RunOptions;
use wb_trace::{Observer, StallReason, Statistics, Stats};
use wb_wcet::measure::Unmeasured;

/// Programs are dropped from memory beyond so many bytes.
const KEPT: usize = 256 << 20;

/// Who measures.
#[derive(Default)]
pub struct Runner {
    /// The command `wavebound`, for HIP programs.
    pub program: Option<PathBuf>,
    programs: BTreeMap<String, (InstructionSet, Vec<u8>)>,
}

impl Runner {
    pub fn new(program: Option<PathBuf>) -> Runner {
        Runner { program, programs: BTreeMap::new() }
    }

    /// Measures; what goes wrong is part of the outcome.
    pub fn run(&mut self, point: &Point, measure: &Measure) -> Outcome {
        match self.measure(point, measure) {
            Ok(values) => Outcome { status: Status::Ok, error: None, values },
            Err(failure) => failure.outcome(),
        }
    }

    fn measure(&mut self, point: &Point, measure: &Measure) -> Result<Vec<Value>, Failure> {
        if let Target::Hip { path, args, .. } = &point.target {
            return hip::measure(self.program.as_deref(), Path::new(path), args, point, measure);
        }
        match measure {
            Measure::Cycles => Ok(self.play(point, false)?.0.values()),
            Measure::Stats => {
                let (totals, stats) = self.play(point, true)?;
                let mut values = totals.values();
                values.extend(stats_values(&stats.unwrap_or_default()));
                Ok(values)
            }
            Measure::Bound { runs, unmeasured, facts_from_trace, hybrid } => {
                let unmeasured = match unmeasured.as_str() {
                    "error" => Unmeasured::Error,
                    "exclude" => Unmeasured::Exclude,
                    n => Unmeasured::Cost(n.parse().unwrap_or(u64::MAX)),
                };
                let options = Options {
                    unmeasured,
                    facts_from_trace: *facts_from_trace,
                    hybrid: *hybrid,
                    ..Options::default()
                };
                let found = self.bounds(point, *runs, options)?;
                let status = found.iter().map(|k| k.status).max();
                let status = status.and_then(|s| serde_json::to_value(s).ok());
                let status = status.and_then(|s| s.as_str().map(str::to_owned)).unwrap_or_default();
                let sum =
                    |of: fn(&wb_bound::KernelBound) -> u64| Value::from(found.iter().map(of).sum::<u64>());
                Ok(vec![sum(|k| k.bound), sum(|k| k.observed), Value::Text(status)])
            }
            Measure::Proved => {
                let options = Options { proved: true, ..Options::default() };
                let found = self.bounds(point, 1, options)?;
                Ok(vec![Value::from(found.iter().map(|k| k.bound).sum::<u64>())])
            }
            Measure::Worst { tries, seed } => self.worst(point, *tries, *seed),
        }
    }

    /// A program of a file, with its instruction set.
    fn load(&mut self, program: &Program) -> Result<(InstructionSet, &[u8]), JobError> {
        if !self.programs.contains_key(&program.path) {
            if self.programs.values().map(|p| p.1.len()).sum::<usize>() > KEPT {
                self.programs.clear();
            }
            let path = Path::new(&program.path);
            let bytes = object::read(path, &CompileOptions::default())?;
            let isa = required_isa(path, &bytes, InstructionSet::parse(&program.isa))?;
            self.programs.insert(program.path.clone(), (isa, bytes));
        }
        let (isa, bytes) = &self.programs[&program.path];
        Ok((InstructionSet::parse(&program.isa).unwrap_or(*isa), bytes))
    }

    fn job(&mut self, program: &Program, point: &Point, more: u32) -> Result<Job, JobError> {
        let spec = point.spec();
        let run = spec.run.saturating_add(more);
        let (isa, bytes) = self.load(program)?;
        Job::from_bytes(&program.path, bytes, &JobSpec { isa: Some(isa), run, ..spec })
    }

    fn workload(point: &Point) -> Result<WorkloadSpec, Failure> {
        point.workload().ok_or_else(|| Failure::Text("there is no such workload or size".to_owned()))
    }

    /// Runs everything and compares results with what is expected.
    fn play(&mut self, point: &Point, stats: bool) -> Result<(Totals, Option<Stats>), Failure> {
        let spec = point.spec();
        let mut session: Box<dyn Launches> = match &point.target {
            Target::Program(program) => {
                let job = self.job(program, point, 0)?;
                let mut totals = Totals::default();
                let mut counting = stats.then(Statistics::new);
                let observer = counting.as_mut().map(|s| s as &mut dyn Observer);
                totals.add(&job.run(RunOptions::default(), observer)?);
                return Ok((totals, counting.map(|s| s.stats())));
            }
            Target::Workload { .. } => {
                let which = Runner::workload(point)?;
                Box::new(WorkloadSession::open_input(&which, &spec, point.seed.into())?)
            }
            Target::Launch { path } => Box::new(Session::open(Path::new(path), &spec)?),
            Target::Hip { .. } => return Err(Failure::Text("a HIP program has no session".to_owned())),
        };
        let (mut totals, mut sum) = (Totals::default(), None::<Stats>);
        while let Some(step) = session.next_step()? {
            let mut counting = stats.then(Statistics::new);
            let observer = counting.as_mut().map(|s| s as &mut dyn Observer);
            totals.add(&session.run(&step, RunOptions::default(), observer)?);
            match (&mut sum, counting.map(|s| s.stats())) {
                (Some(sum), Some(more)) => sum.add(&more),
                (sum @ None, more) => *sum = more,
                _ => {}
            }
        }
        match session.verdicts()?.iter().find(|v| v.difference.is_some()) {
            None => Ok((totals, sum)),
            Some(Verdict { buffer, .. }) => Err(Failure::Text(format!("buffer {buffer} is not as expected"))),
        }
    }

    fn bounds(
        &mut self,
        point: &Point,
        runs: u32,
        mut options: Options,
    ) -> Result<Vec<wb_bound::KernelBound>, Failure> {
        let spec = JobSpec { run: 0, ..point.spec() };
        let runs = match &point.target {
            Target::Program(program) => {
                let jobs = (0..runs.max(1)).map(|i| self.job(program, point, i));
                Runs::Jobs(jobs.collect::<Result<_, _>>()?)
            }
            Target::Launch { path } => {
                Runs::File { path: path.into(), spec: Box::new(spec), runs: runs.max(1) }
            }
            Target::Workload { .. } => {
                let which = WorkloadSpec { runs: runs.max(1), ..Runner::workload(point)? };
                options = wb_bound::workload_options(&which, &spec, &options)?;
                Runs::Workload { which, spec: Box::new(spec) }
            }
            Target::Hip { .. } => return Err(Failure::Text("this measure does not go with HIP".to_owned())),
        };
        Ok(bounds(&runs, &options, TraceFiles::default(), &mut |_, _| ())?)
    }

    fn worst(&mut self, point: &Point, tries: u64, seed: u64) -> Result<Vec<Value>, Failure> {
        let spec = Box::new(point.spec());
        let subject = match &point.target {
            Target::Program(program) => Subject::Job(Box::new(RefCell::new(self.job(program, point, 0)?))),
            Target::Launch { path } => Subject::File { path: path.into(), spec },
            Target::Workload { .. } => Subject::Workload { which: Runner::workload(point)?, spec },
            Target::Hip { .. } => return Err(Failure::Text("this measure does not go with HIP".to_owned())),
        };
        // By tries, not by time: the same everywhere.
        let effort = Effort { seed, tries, time: Duration::from_secs(u64::MAX >> 20) };
        let found = search(&subject, &[], &effort, &mut |_, _| ())?;
        Ok([found.worst.cycles, found.start, found.failed].into_iter().map(Value::from).collect())
    }
}

/// In the order of the columns.
fn stats_values(stats: &Stats) -> Vec<Value> {
    let sum = |of: fn(&wb_trace::PortStats) -> u64| stats.memory.iter().map(of).sum::<u64>();
    let mut values: Vec<Value> = vec![
        Value::Float(stats.ipc),
        Value::Float(stats.lane_utilisation),
        stats.lane_cycles_lost.into(),
        stats.splits.into(),
        stats.merges.into(),
        u64::from(stats.max_paths).into(),
        sum(|p| p.hits).into(),
        sum(|p| p.misses).into(),
    ];
    debug_assert_eq!(values.len(), STATS.len());
    values.extend(StallReason::ALL.map(|r| Value::from(stats.stall_cycles.get(r))));
    values
}
