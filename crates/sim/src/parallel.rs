//! The untimed run on several host threads: each runs a fixed share of the groups on memory of its own (`memory/copies.rs`), and what
//! they wrote is put together afterwards. Results never depend on how fast the threads are. A program that is free of races between
//! groups leaves the same memory as on one thread.
//!
//! What cannot be run so is run on one thread: programs whose groups could communicate ([`Isa::shares`]), launches
//! observed by somebody to whom the order of all events matters, and, from the beginning, launches in which two threads wrote
//! different values to one byte, one read what another one wrote, or an error occurred.

use crate::error::SimError;
use crate::exec::Exec;
use crate::functional::{self, stopped};
use crate::launch::{Groups, Launch, Outcome, Part, RunOptions};
use crate::memory::{DeviceMemory, Written};
use crate::sink::Sink;
use crate::sofar::Sofar;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use wb_hw::Machine;
use wb_isa::{FlowKind, Isa, Pc};
use wb_trace::{Fork, Observer};

/// Waves from which on it pays to start threads.
const WAVES: u64 = 64;
/// How often progress is told.
const EVERY: Duration = Duration::from_millis(50);

/// What became of a launch.
pub(crate) enum Ran<'o> {
    Done(Box<Outcome>),
    /// It has to run on one thread; memory is as it was, nobody was told anything.
    Alone(DeviceMemory, Option<&'o mut dyn Observer>),
    /// The caller did not want it to go on.
    Stopped(Box<SimError>),
}

/// What the threads tell each other.
struct Running {
    stop: AtomicBool,
    /// Instructions and waves of each thread that are done.
    done: Vec<[AtomicU64; 2]>,
    waves: AtomicU64,
}

impl Running {
    /// A thread has come so far.
    fn go_on(&self, thread: u32, sofar: Sofar) -> ControlFlow<()> {
        let [instructions, ended] = &self.done[thread as usize];
        instructions.store(sofar.instructions, Ordering::Relaxed);
        ended.store(sofar.ended, Ordering::Relaxed);
        self.waves.store(sofar.waves, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn sofar(&self) -> Sofar {
        let sum = |i: usize| self.done.iter().map(|d| d[i].load(Ordering::Relaxed)).sum();
        let instructions = sum(0);
        let waves = self.waves.load(Ordering::Relaxed);
        Sofar { cycles: instructions, instructions, ended: sum(1), waves }
    }
}

/// Runs a launch on `options.threads` threads if it may.
pub(crate) fn run<'o, I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    mut memory: DeviceMemory,
    options: &mut RunOptions,
    mut observer: Option<&'o mut dyn Observer>,
) -> Ran<'o> {
    let Some((groups, threads)) = share(exec, machine, launch, &memory, options) else {
        return Ran::Alone(memory, observer);
    };
    // Contexts over time need one time.
    let forks = match &observer {
        Some(_) if exec.contexts > 0 => None,
        Some(observer) => (0..threads).map(|_| observer.fork().map(Some)).collect(),
        None => Some((0..threads).map(|_| None).collect::<Vec<Counted>>()),
    };
    let Some(forks) = forks else { return Ran::Alone(memory, observer) };
    let base = Arc::new(memory.take_bytes());
    let local = groups.lds_region..groups.lds_region.saturating_add(groups.lds_region_bytes(machine));
    let running = Running {
        stop: AtomicBool::new(false),
        done: (0..threads).map(|_| Default::default()).collect(),
        waves: AtomicU64::new(0),
    };
    let check = options.check;
    let (results, broken) = std::thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        for (number, mut fork) in (0..threads).zip(forks) {
            let own = memory.copied(Arc::clone(&base), local.clone());
            let (running, done) = (&running, done.clone());
            scope.spawn(move || {
                let mut progress = |sofar| running.go_on(number, sofar);
                let options = RunOptions {
                    timed: false,
                    check,
                    progress: Some(&mut progress),
                    ..RunOptions::default()
                };
                let part = Some(Part::Share { number, of: threads });
                let sink = Sink::new(fork.as_deref_mut().map(|fork| fork as &mut dyn Observer));
                let ran = functional::run(exec, machine, launch, part, own, options, sink);
                if ran.is_err() {
                    running.stop();
                }
                let written = ran.map(|outcome| {
                    let Outcome { memory, .. } = outcome;
                    let outcome = Outcome { memory: DeviceMemory::new(0), ..outcome };
                    (outcome, memory.into_written(), fork)
                });
                // Whoever waits for it has not gone: the thread is part of its scope.
                let _ = done.send((number, written.ok()));
            });
        }
        drop(done);
        listen(&finished, &running, options)
    });
    memory.give_bytes(base);
    if broken {
        return Ran::Stopped(
            Box::new(stopped(running.sofar().instructions, "wave-instructions")).with_memory(memory),
        );
    }
    let Some((outcome, forks)) = results.and_then(|all| join(all, &mut memory, machine, &groups)) else {
        return Ran::Alone(memory, observer);
    };
    if let Some(observer) = &mut observer {
        forks.into_iter().flatten().for_each(|fork| observer.join(fork));
        observer.end(outcome.cycles);
    }
    Ran::Done(Box::new(Outcome { memory, ..outcome }))
}

/// The groups of the launch and how many threads run them; none if one thread should.
fn share<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    memory: &DeviceMemory,
    options: &RunOptions,
) -> Option<(Groups, u32)> {
    let Launch::Groups(groups) = launch else { return None };
    let waves = u64::from(groups.count) * u64::from(groups.waves(machine.core.lanes));
    let threads = u32::try_from(options.threads).ok()?.min(groups.count);
    let watched = options.keep_registers || options.inspector.is_some();
    let few = waves < WAVES && !options.always_threads;
    if threads < 2 || few || watched || !memory.can_be_copied() {
        return None;
    }
    (!shares(exec)).then_some((groups, threads))
}

/// Whether groups could communicate by what the kernel can reach; if that calls or jumps to where a register says, by anything there.
pub(crate) fn shares<I: Isa>(exec: &Exec<I>) -> bool {
    let program = exec.program;
    let blocks = program.cfg.reachable(program.cfg.block_at(program.entry));
    let code: Vec<Pc> = blocks.iter().flat_map(|&b| program.cfg.pcs(b, &program.flow)).collect();
    let leaves = |pc: &Pc| {
        matches!(program.flow.kind[*pc as usize], FlowKind::Call { .. } | FlowKind::Indirect { .. })
    };
    let shares = |pc: Pc| program.ops[pc as usize].inst.as_ref().is_some_and(|inst| program.isa.shares(inst));
    match code.iter().any(leaves) {
        true => (0..program.ops.len() as Pc).any(shares),
        false => code.into_iter().any(shares),
    }
}

/// Who counted for a thread.
type Counted = Option<Box<dyn Fork>>;
/// Of one thread.
type Share = (Outcome, Written, Counted);

/// Waits for the threads and tells the caller how far they are. All results in the order of the threads, none if one of them
/// failed; and whether the caller wants to stop.
fn listen(
    finished: &mpsc::Receiver<(u32, Option<Share>)>,
    running: &Running,
    options: &mut RunOptions,
) -> (Option<Vec<Share>>, bool) {
    let mut results: Vec<(u32, Option<Share>)> = Vec::new();
    let (mut told, mut broken) = (0, false);
    loop {
        match finished.recv_timeout(EVERY) {
            Ok(result) => results.push(result),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
        let sofar = running.sofar();
        if sofar.instructions >= told + crate::PROGRESS_EVERY {
            told = sofar.instructions;
            if let Some(progress) = &mut options.progress
                && progress(sofar).is_break()
            {
                broken = true;
                running.stop();
            }
        }
    }
    results.sort_by_key(|r| r.0);
    (results.into_iter().map(|r| r.1).collect(), broken)
}

/// The launch as a whole; none if its threads disagree, or have done more together than they may.
fn join(
    all: Vec<Share>,
    memory: &mut DeviceMemory,
    machine: &Machine,
    groups: &Groups,
) -> Option<(Outcome, Vec<Counted>)> {
    let (outcomes, forks): (Vec<(Outcome, Written)>, Vec<Counted>) =
        all.into_iter().map(|(outcome, written, fork)| ((outcome, written), fork)).unzip();
    let instructions: u64 = outcomes.iter().map(|o| o.0.wave_instructions).sum();
    if instructions > machine.limits.cycles {
        return None;
    }
    let sum = join_outcomes(outcomes, memory, machine, groups)?;
    Some((Outcome { cycles: instructions, ..sum }, forks))
}

/// The launch as a whole, but for its cycles; none, and memory as it was, if the threads disagree about memory.
pub(crate) fn join_outcomes(
    all: Vec<(Outcome, Written)>,
    memory: &mut DeviceMemory,
    machine: &Machine,
    groups: &Groups,
) -> Option<Outcome> {
    let mut sum = Outcome::new(DeviceMemory::new(0));
    let mut written_by = Vec::new();
    for (outcome, written) in all {
        written_by.push(written);
        sum.wave_instructions += outcome.wave_instructions;
        sum.lane_instructions += outcome.lane_instructions;
        sum.nops += outcome.nops;
        sum.waves = sum.waves.max(outcome.waves);
        sum.max_stack_depth = sum.max_stack_depth.max(outcome.max_stack_depth);
        if !outcome.console.is_empty() {
            return None;
        }
    }
    sum.threads = written_by.len() as u32;
    let region = |from: u64, bytes: u64| from..from.saturating_add(bytes);
    // Local and private memory: every thread has its own there.
    let private: [Range<u64>; 2] = [
        region(groups.lds_region, groups.lds_region_bytes(machine)),
        region(groups.scratch_region, groups.scratch_region_bytes(machine)),
    ];
    memory.join(&written_by, &private).then_some(sum)
}
