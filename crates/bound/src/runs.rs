//! Launches that can be run again and again, always the same: what a bound is measured on.

use crate::error::BoundError;
use crate::launched::{Launched, PlacedBuffer};
use crate::options::Options;
use crate::shape::{Shape, data_hash};
use crate::source::hash;
use crate::workload_options::workload_options;
use std::collections::BTreeMap;
use std::path::PathBuf;
use wb_jobs::data::Buffer;
use wb_jobs::launch::{Launches, RunLaunch, Session, WorkloadSession, WorkloadSpec};
use wb_jobs::{Job, JobError, JobSpec};

/// Where the launches come from.
pub enum Runs {
    /// One launch with different inputs, one of them each time.
    Jobs(Vec<Job>),
    /// Every launch of a launch file, so many times with other seeds.
    File { path: PathBuf, spec: Box<JobSpec>, runs: u32 },
    /// Every launch of a workload of the benchmark suite, with as many inputs as it says.
    Workload { which: WorkloadSpec, spec: Box<JobSpec> },
    /// Launches somebody else keeps.
    Replay(Box<dyn Replay>),
}

/// Launches that were kept with the memory they found.
pub trait Replay {
    /// Shows every launch in order, each with a way to run it again.
    fn each(
        &self,
        look: &mut dyn FnMut(&Launched, &mut RunLaunch) -> Result<(), BoundError>,
    ) -> Result<(), BoundError>;
}

impl Runs {
    /// What the analyser is told about a workload, marked as it is, besides `options`.
    pub fn workload_options(&self, options: &Options) -> Result<Options, BoundError> {
        match self {
            Runs::Workload { which, spec } => workload_options(which, spec, options),
            _ => Ok(options.clone()),
        }
    }

    /// Shows every launch in order; whoever looks may run it, and must if later ones need what it leaves in memory.
    pub fn each(
        &self,
        look: &mut dyn FnMut(&Launched, &mut RunLaunch) -> Result<(), BoundError>,
    ) -> Result<(), BoundError> {
        self.each_hashed(false, look)
    }

    /// The same; `hashed`: with hashes of the contents of buffers.
    pub fn each_hashed(
        &self,
        hashed: bool,
        look: &mut dyn FnMut(&Launched, &mut RunLaunch) -> Result<(), BoundError>,
    ) -> Result<(), BoundError> {
        match self {
            Runs::Replay(kept) => kept.each(look),
            Runs::Jobs(jobs) => {
                for job in jobs {
                    let data = data_hash(job.initial());
                    let contents = |b: &Buffer| {
                        let at = |(addr, bytes): (u64, &'_ [u8])| {
                            let from = usize::try_from(b.addr.checked_sub(addr)?).ok()?;
                            bytes.get(from..from.checked_add(usize::try_from(b.bytes).ok()?)?).map(hash)
                        };
                        job.initial().find_map(at)
                    };
                    let buffers = placed(&job.buffers, hashed, contents);
                    let launched = Launched { data: &data, buffers: &buffers, ..Launched::of(job)? };
                    look(&launched, &mut |options, observer| job.run(options, observer))?;
                }
                Ok(())
            }
            Runs::File { path, spec, runs } => {
                let mut numbers = Numbers::default();
                for run in 0..(*runs).max(1) {
                    let spec = JobSpec { run, ..(**spec).clone() };
                    all(&mut Session::open(path, &spec)?, &mut numbers, hashed, look)?;
                }
                Ok(())
            }
            Runs::Workload { which, spec } => {
                let mut numbers = Numbers::default();
                for input in 0..which.runs.max(1) {
                    let mut session = WorkloadSession::open_input(which, spec, input.into())?;
                    all(&mut session, &mut numbers, hashed, look)?;
                }
                Ok(())
            }
        }
    }
}

/// Numbers of launches. The n-th launch of the same kernel with the same geometry and arguments is the same launch in every
/// run; data may decide how many there are.
#[derive(Default)]
struct Numbers {
    known: BTreeMap<(String, String, usize), usize>,
    /// How often each came up in the run at hand.
    seen: BTreeMap<(String, String), usize>,
}

impl Numbers {
    fn of(&mut self, kernel: &str, shape: &Shape) -> usize {
        let name = (kernel.to_owned(), shape.hash());
        let times = self.seen.entry(name.clone()).or_default();
        let next = self.known.len();
        let number = *self.known.entry((name.0, name.1, *times)).or_insert(next);
        *times += 1;
        number
    }
}

/// Shows every launch of one who hands them out.
fn all(
    launches: &mut dyn Launches,
    numbers: &mut Numbers,
    hashed: bool,
    look: &mut dyn FnMut(&Launched, &mut RunLaunch) -> Result<(), BoundError>,
) -> Result<(), BoundError> {
    let file = launches.stage().program_file().to_owned();
    let device = &launches.stage().device;
    // What was captured begins elsewhere.
    let origin = device.memory().origin();
    let contents = device.read(origin, device.used().saturating_sub(origin)).map_err(JobError::from)?;
    let data = data_hash([(origin, contents)]);
    numbers.seen.clear();
    while let Some(step) = launches.next_step()? {
        let stage = launches.stage();
        let contents = |b: &Buffer| stage.device.read(b.addr, b.bytes).ok().map(hash);
        let buffers = placed(&stage.buffers, hashed, contents);
        launches.with_prepared(&step, &mut |due, args, go| {
            let mut launched = Launched {
                kernel: &step.dispatch.kernel,
                file: &file,
                program: due.program,
                machine: due.machine,
                launch: due.launch,
                kernarg: due.kernarg,
                args,
                number: 0,
                data: &data,
                buffers: &buffers,
                touchable: due.touchable.clone(),
            };
            launched.number = numbers.of(launched.kernel, &Shape::of(&launched));
            look(&launched, go).map_err(JobError::stopped)
        })?;
    }
    Ok(())
}

/// Buffers as a launch finds them.
fn placed(
    buffers: &[Buffer],
    hashed: bool,
    contents: impl Fn(&Buffer) -> Option<String>,
) -> Vec<PlacedBuffer> {
    let one = |b: &Buffer| PlacedBuffer {
        name: b.name.clone(),
        addr: b.addr,
        bytes: b.bytes,
        hash: if hashed { contents(b).unwrap_or_default() } else { String::new() },
    };
    buffers.iter().map(one).collect()
}
