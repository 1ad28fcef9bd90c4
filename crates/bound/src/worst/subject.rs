//! What is searched: a launch, a launch file or a workload whose buffers get other contents.

use crate::error::BoundError;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use wb_jobs::data::{Buffer, Element};
use wb_jobs::launch::{Launches, Session, WorkloadSession, WorkloadSpec};
use wb_jobs::{Job, JobError, JobSpec};
use wb_sim::RunOptions;
use wb_trace::{Event, Kind, Observer};

/// What is run again and again.
pub enum Subject {
    Job(Box<RefCell<Job>>),
    File { path: PathBuf, spec: Box<JobSpec> },
    Workload { which: WorkloadSpec, spec: Box<JobSpec> },
}

/// A buffer as the launch was given.
#[derive(Clone, Debug)]
pub struct SubjectBuffer {
    pub name: String,
    pub element: Element,
    pub contents: Vec<u8>,
}

impl Subject {
    /// The buffers with their first contents.
    pub fn buffers(&self) -> Result<Vec<SubjectBuffer>, BoundError> {
        let of = |b: &Buffer, contents: Vec<u8>| SubjectBuffer {
            name: b.name.clone(),
            element: b.element,
            contents,
        };
        match self {
            Subject::Job(job) => {
                let job = job.borrow();
                let memory = job.memory()?;
                let read =
                    |b: &Buffer| Ok(of(b, memory.read(b.addr, b.bytes).map_err(JobError::from)?.to_vec()));
                job.buffers.iter().map(read).collect()
            }
            Subject::File { .. } | Subject::Workload { .. } => {
                let session = self.session()?;
                let stage = session.stage();
                let read = |b: &Buffer| {
                    Ok(of(b, stage.device.read(b.addr, b.bytes).map_err(JobError::from)?.to_vec()))
                };
                stage.buffers.iter().map(read).collect()
            }
        }
    }

    fn session(&self) -> Result<Box<dyn Launches>, BoundError> {
        Ok(match self {
            Subject::File { path, spec } => Box::new(Session::open(path, spec)?),
            Subject::Workload { which, spec } => Box::new(WorkloadSession::open(which, spec)?),
            Subject::Job(_) => return Err(crate::error::refused!(Launch, "a single launch has no session")),
        })
    }

    /// Cycles of all launches with these contents, and the ways that were gone.
    pub fn run(&self, contents: &[Vec<u8>]) -> Result<(u64, Vec<u64>), BoundError> {
        let mut ways = Ways::default();
        match self {
            Subject::Job(job) => {
                let mut job = job.borrow_mut();
                let buffers = job.buffers.clone();
                for (b, bytes) in buffers.iter().zip(contents) {
                    job.set_contents(b, bytes);
                }
                let cycles = job.run(RunOptions::default(), Some(&mut ways))?.cycles;
                Ok((cycles, ways.numbers()))
            }
            Subject::File { .. } | Subject::Workload { .. } => {
                let mut session = self.session()?;
                let stage = session.stage_mut();
                for (b, bytes) in stage.buffers.iter().zip(contents) {
                    stage.device.write(b.addr, bytes).map_err(JobError::from)?;
                }
                let mut cycles = 0;
                while let Some(step) = session.next_step()? {
                    cycles += session.run(&step, RunOptions::default(), Some(&mut ways))?.cycles;
                }
                Ok((cycles, ways.numbers()))
            }
        }
    }
}

/// Which instructions ran with how many lanes, roughly: a new combination is a new way.
#[derive(Default)]
struct Ways {
    seen: BTreeSet<(u32, u32)>,
}

impl Ways {
    fn numbers(self) -> Vec<u64> {
        self.seen.into_iter().map(|(pc, lanes)| u64::from(pc) << 8 | u64::from(lanes)).collect()
    }
}

impl Observer for Ways {
    fn wants_code(&self) -> bool {
        false
    }

    fn events(&mut self, batch: &[Event]) {
        for event in batch.iter().filter(|e| matches!(e.kind, Kind::Issue { .. })) {
            let lanes = event.mask.count_ones();
            // None, one, two to three, four to seven, …
            self.seen.insert((event.pc, 32 - lanes.leading_zeros()));
        }
    }
}
