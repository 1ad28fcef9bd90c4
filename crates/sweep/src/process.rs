//! The outer end of a worker: starts the process, gives it one task at a time, and finds out how it ended when it did.

use crate::error::SweepError;
use crate::measure::{Outcome, Status};
use crate::worker::{Answer, Task};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How to start workers, and what they are held to.
#[derive(Clone, Debug)]
pub struct Workers {
    /// The command, and its arguments that make it a worker.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Time for one point.
    pub time: Option<Duration>,
    /// Bytes of memory of a worker.
    pub memory: Option<u64>,
}

/// A worker is asked for so long at once; in between somebody may want to stop.
const PATIENCE: Duration = Duration::from_millis(100);
/// What a worker says last is kept.
const SAID: usize = 4096;
/// A task whose worker is killed from outside is tried so often.
const TRIES: u32 = 3;

const KILL: i32 = 9;
const TERM: i32 = 15;

/// A worker that runs.
struct Running {
    child: Child,
    tasks: ChildStdin,
    answers: Receiver<String>,
    said: Arc<Mutex<Vec<u8>>>,
    listeners: Vec<JoinHandle<()>>,
}

/// A worker, started again whenever it ends.
pub struct Process {
    workers: Workers,
    running: Option<Running>,
}

/// Nobody wants an answer any more.
#[derive(Debug)]
pub struct Stopped;

impl Process {
    pub fn new(workers: Workers) -> Process {
        Process { workers, running: None }
    }

    fn start(&self) -> Result<Running, SweepError> {
        let failed = |why: String| SweepError::Worker { program: self.workers.program.clone(), why };
        let mut command = Command::new(&self.workers.program);
        command.args(&self.workers.arguments);
        if let Some(bytes) = self.workers.memory {
            command.arg("--memory").arg(bytes.to_string());
        }
        // A group of its own: Ctrl-C at the terminal is for us.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| failed(wb_files::words(&e)))?;
        let (Some(tasks), Some(out), Some(err)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed("it has no pipes".to_owned()));
        };
        let (sender, answers) = sync_channel(1);
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = said.clone();
        let listeners = vec![
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            }),
            std::thread::spawn(move || {
                let (mut err, mut piece) = (err, [0; 1024]);
                while let Ok(count @ 1..) = err.read(&mut piece) {
                    let mut said = heard.lock().unwrap_or_else(PoisonError::into_inner);
                    said.extend_from_slice(&piece[..count]);
                    let extra = said.len().saturating_sub(SAID);
                    said.drain(..extra);
                }
            }),
        ];
        Ok(Running { child, tasks, answers, said, listeners })
    }

    /// Measures. An answer comes whatever happens to the worker; `Err(Stopped)` if nobody wants it any more.
    pub fn measure(
        &mut self,
        task: &Task,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Result<Answer, Stopped>, SweepError> {
        let begun = Instant::now();
        for attempt in 1.. {
            if self.running.is_none() {
                self.running = Some(self.start()?);
            }
            let Some(running) = &mut self.running else { continue };
            let mut line = serde_json::to_vec(task).unwrap_or_default();
            line.push(b'\n');
            let start = Instant::now();
            // A worker that ended before is found out below.
            let given = running.tasks.write_all(&line).and_then(|()| running.tasks.flush());
            let outcome = loop {
                match running.answers.recv_timeout(PATIENCE) {
                    Ok(line) => match serde_json::from_str::<Answer>(&line) {
                        Ok(answer) => return Ok(Ok(answer)),
                        Err(_) => break Outcome::failed(Status::Killed, "the worker gave no answer"),
                    },
                    Err(_) if !go_on() => {
                        self.end();
                        return Ok(Err(Stopped));
                    }
                    Err(RecvTimeoutError::Timeout) => match self.workers.time {
                        Some(limit) if start.elapsed() > limit => {
                            self.end();
                            let error = format!("it took longer than {} s", limit.as_secs_f64());
                            let (outcome, seconds) =
                                (Outcome::failed(Status::Time, error), start.elapsed().as_secs_f64());
                            return Ok(Ok(Answer { outcome, seconds }));
                        }
                        _ => {}
                    },
                    Err(RecvTimeoutError::Disconnected) => break self.ended(),
                }
            };
            let _ = given;
            self.end();
            if outcome.status != Status::Killed || attempt >= TRIES {
                return Ok(Ok(Answer { outcome, seconds: begun.elapsed().as_secs_f64() }));
            }
        }
        Ok(Err(Stopped))
    }

    /// How a worker ended that gave no answer.
    fn ended(&mut self) -> Outcome {
        let Some(mut running) = self.running.take() else {
            return Outcome::failed(Status::Killed, "there is no worker");
        };
        kill(&mut running.child);
        let status = running.child.wait();
        for listener in running.listeners.drain(..) {
            let _ = listener.join();
        }
        let said = running.said.lock().unwrap_or_else(PoisonError::into_inner);
        verdict(status.ok(), &String::from_utf8_lossy(&said))
    }

    /// Ends the worker.
    fn end(&mut self) {
        if let Some(mut running) = self.running.take() {
            kill(&mut running.child);
            let _ = running.child.wait();
        }
    }
}

/// A worker and what it has started.
fn kill(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.kill();
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// What an exit says.
fn verdict(status: Option<ExitStatus>, said: &str) -> Outcome {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    if lines.iter().any(|l| l.starts_with("memory allocation of")) || said.contains("capacity overflow") {
        let line =
            lines.iter().find(|l| l.starts_with("memory allocation of")).unwrap_or(&"memory is used up");
        return Outcome::failed(Status::Memory, *line);
    }
    let signal = status.and_then(|s| s.signal());
    if let Some(KILL | TERM) = signal {
        return Outcome::failed(Status::Killed, "the worker was killed from outside");
    }
    let how = match (status.and_then(|s| s.code()), signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "unknown".to_owned(),
    };
    // The message of a panic is in two lines; the first one begins with the number of a thread, which is another one each time.
    let panic = lines.iter().position(|l| l.contains("panicked at"));
    let message = match panic {
        Some(at) => {
            let text = lines[at..lines.len().min(at + 2)].join(" ");
            text[text.find("panicked at").unwrap_or(0)..].to_owned()
        }
        None => lines.last().copied().unwrap_or_default().to_owned(),
    };
    let error = format!("the worker ended with {how}: {message}");
    Outcome::failed(Status::Crashed, error.trim_end_matches([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_told_from_another() {
        let exit = |raw| Some(ExitStatus::from_raw(raw));
        assert_eq!(verdict(exit(9), "").status, Status::Killed);
        assert_eq!(verdict(exit(6), "memory allocation of 99 bytes failed\n").status, Status::Memory);
        let crash = verdict(exit(101 << 8), "\nthread 'main' panicked at x.rs:1:\nbad\nnote: …\n");
        assert_eq!(crash.status, Status::Crashed);
        let why = "the worker ended with exit code 101: panicked at x.rs:1: bad";
        assert_eq!(crash.error.as_deref(), Some(why));
        assert_eq!(verdict(exit(11), "").error.as_deref(), Some("the worker ended with signal 11"));
    }
}
