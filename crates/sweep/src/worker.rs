//! The inner end of a worker: it reads tasks, a line of JSON each, measures, and answers with a line each. A process of its own,
//! so that whatever a point does to it ends no more than that point.

use crate::measure::{Measure, Outcome, Runner, Status};
use crate::point::Point;
use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Something to measure at a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub point: Point,
    pub measure: Measure,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub outcome: Outcome,
    pub seconds: f64,
}

/// What a worker is held to.
#[derive(Clone, Debug, Default)]
pub struct Serve {
    /// Bytes of memory.
    pub memory: Option<u64>,
    /// The command `wavebound`, for HIP programs.
    pub program: Option<PathBuf>,
}

/// Serves until there are no more tasks. The exit code of the process is whatever ended it.
pub fn serve(options: Serve, tasks: impl BufRead, mut answers: impl Write) -> std::io::Result<()> {
    // Whoever started it may be killed; then nobody wants the answer.
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    if let Some(bytes) = options.memory {
        setrlimit(Resource::As, Rlimit { current: Some(bytes), maximum: Some(bytes) })?;
    }
    // No dumps of memory: thousands of points may crash.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let mut runner = Runner::new(options.program);
    for line in tasks.lines() {
        let answer = match serde_json::from_str::<Task>(&line?) {
            Ok(task) => measure(&mut runner, &task),
            Err(e) => {
                Answer { outcome: Outcome::failed(Status::Killed, format!("no task: {e}")), seconds: 0.0 }
            }
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        answers.write_all(&line)?;
        answers.flush()?;
    }
    Ok(())
}

/// Measures in this process.
pub fn measure(runner: &mut Runner, task: &Task) -> Answer {
    let start = Instant::now();
    let outcome = runner.run(&task.point, &task.measure);
    Answer { outcome, seconds: start.elapsed().as_secs_f64() }
}
