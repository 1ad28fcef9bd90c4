//! What is debugged: one launch, or the launches of a launch file or workload one after the other. A launch starts again from a copy
//! of the memory it found, if there is one; otherwise everything is opened anew and the launches before it run first.

use crate::code::Code;
use crate::engine::{Engine, Mode, Next, Watcher};
use crate::error::DebugError;
use crate::goal::Reason;
use crate::launch::LaunchInfo;
use wb_jobs::data::Buffer;
use wb_jobs::launch::{Launches, Step};
use wb_jobs::{Job, JobError};
use wb_sim::{DeviceMemory, RunOptions};

/// Opens launches from the beginning.
pub type Open = dyn Fn() -> Result<Box<dyn Launches>, JobError>;

/// Something to debug.
pub enum Target {
    Job(Box<Job>),
    Launches(Box<Open>),
}

impl Target {
    /// Runs it until the user has seen enough. An error is one that kept it from running at all; a launch that fails is something
    /// to look at, and told by [`Engine::failed`].
    pub fn debug(&self, engine: &mut Engine) -> Result<(), JobError> {
        match self {
            Target::Job(job) => debug_job(job, engine),
            Target::Launches(open) => debug_launches(open, engine),
        }
    }
}

fn options<'a>(watcher: &'a mut Watcher) -> RunOptions<'a> {
    RunOptions { timed: false, inspector: Some(watcher), ..RunOptions::default() }
}

fn debug_job(job: &Job, engine: &mut Engine) -> Result<(), JobError> {
    let code = Code::of(job.program.borrow(), &job.machine);
    let find = |name: &str| job.find_buffer(name).map_err(|e| DebugError::from(&e));
    let info = LaunchInfo {
        number: 1,
        several: false,
        code: &code,
        machine: job.machine.name.clone(),
        mechanism: job.machine.divergence.mechanism.to_string(),
        launch: job.launch,
        buffers: job.buffers.clone(),
        kernarg: job.kernarg.clone(),
        args: job.args.clone(),
        find: &find,
    };
    loop {
        engine.enter(&code);
        let ran = job.run(options(&mut Watcher { engine, info: &info }), None);
        if let (Err(error), false) = (ran, engine.asked) {
            return Err(error);
        }
        match engine.next {
            Next::Launch | Next::Quit => return Ok(()),
            Next::Again | Next::First => {}
            Next::Before => engine.mode = Mode::To(0, Reason::Beginning),
        }
    }
}

/// The launch that is debugged: its number, what it is, and the memory that it finds.
struct Place {
    launches: Box<dyn Launches>,
    number: usize,
    step: Step,
    /// Only where it may be needed again: copies of a whole memory take time.
    memory: Option<DeviceMemory>,
}

/// The launch with a number, after those before it have run; none if there are not so many.
fn seek(open: &Open, number: usize) -> Result<Option<Place>, JobError> {
    let mut launches = open()?;
    for _ in 1..number {
        let Some(step) = launches.next_step()? else { return Ok(None) };
        launches.run(&step, RunOptions { timed: false, ..RunOptions::default() }, None)?;
    }
    next(launches, number)
}

fn next(mut launches: Box<dyn Launches>, number: usize) -> Result<Option<Place>, JobError> {
    let Some(step) = launches.next_step()? else { return Ok(None) };
    Ok(Some(Place { launches, number, step, memory: None }))
}

fn debug_launches(open: &Open, engine: &mut Engine) -> Result<(), JobError> {
    engine.several = true;
    let Some(mut at) = seek(open, 1)? else { return Ok(()) };
    loop {
        engine.seen_end = false;
        if at.memory.is_none() && engine.may_stop() {
            at.memory = Some(at.launches.stage().device.memory().clone());
        }
        debug_launch(&mut at, engine)?;
        let number = at.number;
        let to = match engine.next {
            Next::Quit => return Ok(()),
            Next::Launch if engine.failed().is_some() => return Ok(()),
            Next::Launch => match next(at.launches, number + 1)? {
                Some(place) => {
                    at = place;
                    continue;
                }
                None if engine.seen_end => return Ok(()),
                // It was the last one: its end is worth a look.
                None => {
                    engine.mode = Mode::To(u64::MAX, Reason::Ended);
                    number
                }
            },
            Next::Again => match &at.memory {
                Some(memory) => {
                    at.launches.stage_mut().device.memory_mut().clone_from(memory);
                    continue;
                }
                None => number,
            },
            Next::First => 1,
            Next::Before if number == 1 => {
                engine.mode = Mode::To(0, Reason::Beginning);
                1
            }
            Next::Before => {
                if let Mode::Search(search) = std::mem::replace(&mut engine.mode, Mode::To(0, Reason::Entry))
                {
                    engine.mode = Mode::Search(search.whole());
                }
                number - 1
            }
        };
        match seek(open, to)? {
            Some(place) => at = place,
            None => return Ok(()),
        }
    }
}

fn debug_launch(at: &mut Place, engine: &mut Engine) -> Result<(), JobError> {
    let buffers = at.launches.stage().buffers.clone();
    let (number, step) = (at.number, at.step.clone());
    let find = |what: &str| -> Result<Buffer, DebugError> {
        let names: Vec<&str> = buffers.iter().map(|b| b.name.as_str()).collect();
        Err(DebugError::new(format!("there is no buffer `{what}`"))
            .hint(format!("buffers: {}", names.join(" "))))
    };
    at.launches.with_prepared(&step, &mut |due, args, run| {
        let code = Code::of(due.program, due.machine);
        let info = LaunchInfo {
            number,
            several: true,
            code: &code,
            machine: due.machine.name.clone(),
            mechanism: due.machine.divergence.mechanism.to_string(),
            launch: due.launch,
            buffers: buffers.clone(),
            kernarg: due.kernarg.to_vec(),
            args: args.to_vec(),
            find: &find,
        };
        engine.enter(&code);
        match run(options(&mut Watcher { engine, info: &info }), None) {
            Err(error) if !engine.asked => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    })
}
