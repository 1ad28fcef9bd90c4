//! The timed run on several host threads, cycle for cycle as on one. Each thread has some of the cores, with the caches that only they
//! use, and a copy of memory (`memory/copies.rs`). It runs on its own for fewer cycles than the fastest answer takes from the levels
//! that all cores share: when a request to them is done is not known meanwhile (`memory/ahead.rs`), and nothing can depend on it yet.
//! Then the threads meet, the requests of all are served in the order of one thread (cycle, core, sequence), and each is told.
//!
//! Groups are given out in the order of cycles: a thread with room waits until no other one can have room earlier. What groups could
//! tell each other through memory in another way than on one thread shows afterwards; such a launch runs again on one thread, as do
//! those that end with an error.

use super::Timed;
use super::issuer::Unsettled;
use crate::error::SimError;
use crate::exec::Exec;
use crate::functional::stopped;
use crate::launch::{Groups, Launch, Launcher, Outcome, RunOptions};
use crate::memory::{DeviceMemory, Hierarchy, Request, Written};
use crate::parallel::{self, Ran};
use crate::sink::Sink;
use crate::sofar::Sofar;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wb_hw::{Machine, MemorySplits};
use wb_isa::Isa;

/// Waves from which on it pays to start threads.
const WAVES: u64 = 64;
/// Cycles that a thread should be able to run on its own.
const CYCLES: u64 = 4;
/// Latencies that unknown times can be moved by.
const LATENCY: u32 = 1 << 20;
/// After so many stretches it shows whether it pays: so many instructions must have issued in each.
const TRIED: u64 = 64;
const INSTRUCTIONS: u64 = 40;
/// Looks at what others do before the host may do something else.
const LOOKS: u32 = 300;

/// Who has room for a group in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bid {
    cycle: u64,
    turn: u64,
    /// How many cores are asked before the first one with room; none has any.
    distance: Option<usize>,
}

/// Gives out groups.
struct Dispatcher {
    launcher: Launcher,
    next_core: usize,
    launched: u64,
    /// Groups that were given out by threads.
    turn: u64,
    bids: Vec<Option<Bid>>,
}

/// What a thread leaves for the others when they meet.
#[derive(Default)]
struct Mail {
    requests: Vec<Request>,
    done: Vec<u64>,
    /// The next cycle in which something can happen.
    next: u64,
    resident: u32,
    instructions: u64,
}

/// What the threads have in common.
struct Shared {
    /// By thread, the cycle before which it takes no group any more.
    clocks: Vec<AtomicU64>,
    dispatcher: Mutex<Dispatcher>,
    mail: Vec<Mutex<Mail>>,
    levels: Mutex<Hierarchy>,
    /// Who waits for the others, and how often all have met.
    here: AtomicUsize,
    met: AtomicUsize,
    /// The run cannot go on like this; and it is over.
    stop: AtomicBool,
    over: AtomicBool,
    /// Where the next stretch begins; and whether that shows only when all have been told what they wait for.
    start: AtomicU64,
    undecided: AtomicBool,
    limit: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks again and again, until the host has something better to do.
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        if self.0 < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}

/// If its thread ends early, the others do not wait for it.
struct Present<'a>(&'a Shared);

impl Drop for Present<'_> {
    fn drop(&mut self) {
        if !self.0.over.load(Ordering::Acquire) {
            self.0.stop.store(true, Ordering::Release);
        }
    }
}

impl Shared {
    fn stops(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Waits until all threads are here; the last one does something for all of them. None: the run stops.
    fn meet(&self, last: impl FnOnce()) -> Option<()> {
        let met = self.met.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.mail.len() {
            last();
            self.here.store(0, Ordering::Relaxed);
            self.met.store(met + 1, Ordering::Release);
        }
        let mut patience = Patience(0);
        while self.met.load(Ordering::Acquire) == met {
            if self.stops() {
                return None;
            }
            patience.wait();
        }
        (!self.stops()).then_some(())
    }

    /// Serves the requests of all threads, in the order in which one thread would have made them. They go on at once if one of them
    /// has something to do in cycle `now`.
    fn serve(&self, now: u64) {
        let mut levels = lock(&self.levels);
        let mut mail: Vec<MutexGuard<Mail>> = self.mail.iter().map(lock).collect();
        let decided = now < self.limit && mail.iter().any(|mail| mail.next <= now);
        self.undecided.store(!decided, Ordering::Relaxed);
        self.start.store(now, Ordering::Relaxed);
        mail.iter_mut().for_each(|mail| mail.done.clear());
        loop {
            let ahead = mail.iter().enumerate().filter_map(|(thread, mail)| {
                let request = mail.requests.get(mail.done.len())?;
                Some(((request.cycle, request.core), thread))
            });
            let Some((_, thread)) = ahead.min() else { return };
            let mail = &mut *mail[thread];
            mail.done.push(levels.serve(&mail.requests[mail.done.len()]));
        }
    }

    /// How far the threads are.
    fn sofar(&self, cycles: u64) -> Sofar {
        let (mut instructions, mut resident) = (0, 0);
        for mail in &self.mail {
            let mail = lock(mail);
            (instructions, resident) =
                (instructions + mail.instructions, resident + u64::from(mail.resident));
        }
        let dispatcher = lock(&self.dispatcher);
        let (ended, waves) = (dispatcher.launched.saturating_sub(resident), dispatcher.launcher.waves());
        Sofar { cycles, instructions, ended, waves }
    }

    /// Where to go on.
    fn plan(&self) {
        let mail: Vec<MutexGuard<Mail>> = self.mail.iter().map(lock).collect();
        let start = mail.iter().map(|mail| mail.next).min().unwrap_or(u64::MAX);
        if mail.iter().all(|mail| mail.resident == 0) && lock(&self.dispatcher).launcher.is_done() {
            self.over.store(true, Ordering::Release);
        } else if start >= self.limit {
            // Nothing can happen any more, or not in time: one thread finds the words.
            self.stop.store(true, Ordering::Release);
        }
        self.start.store(start, Ordering::Release);
    }
}

/// Cores by thread, and for how many cycles each may run on its own; none if one thread should run the launch.
fn share<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    memory: &DeviceMemory,
    options: &RunOptions,
) -> Option<(Groups, Vec<Range<usize>>, u64)> {
    let Launch::Groups(groups) = launch else { return None };
    let waves = u64::from(groups.count) * u64::from(groups.waves(machine.core.lanes));
    let watched = options.keep_registers || options.watch.is_some() || options.every_cycle;
    let own_policy = options.issue.is_some() || options.inspector.is_some();
    let plain = exec.contexts == 0 && !exec.blocks && machine.divergence.memory == MemorySplits::Never;
    let coordinated = machine.frontend.kind == wb_hw::FrontEndKind::Coordinated;
    let few = waves < WAVES && !options.always_threads;
    if options.threads < 2 || few || watched || own_policy || !plain || coordinated {
        return None;
    }
    let front = &machine.frontend;
    let moved = [machine.memory.response_latency, front.fetch_latency, front.decode_latency];
    if moved.iter().any(|&latency| latency >= LATENCY) || !memory.can_be_copied() {
        return None;
    }
    let ranges = clusters(machine, options.threads)?;
    let ends: Vec<usize> = ranges.iter().map(|range| range.end).collect();
    let cycles = Hierarchy::new(machine, 0).run_ahead(machine, &ends).unwrap_or(u64::from(LATENCY));
    let least = if options.always_threads { 1 } else { CYCLES };
    (cycles >= least && !parallel::shares(exec)).then_some((groups, ranges, cycles))
}

/// Cores that share a first-level cache stay together; as many threads as that leaves, at most `threads`.
fn clusters(machine: &Machine, threads: usize) -> Option<Vec<Range<usize>>> {
    let ports =
        [&machine.memory.data, &machine.memory.sampler, &machine.memory.scalar, &machine.memory.instruction];
    let first = machine.caches.iter().filter(|cache| ports.contains(&&cache.name));
    let cores = machine.cores as usize;
    let sharing = first.map(|cache| cache.shared_by as usize).filter(|&by| by > 0 && by < cores);
    let together = sharing.clone().max().unwrap_or(1);
    if sharing.into_iter().any(|by| !together.is_multiple_of(by)) {
        return None;
    }
    let clusters = cores.div_ceil(together);
    let threads = threads.min(clusters);
    let end = |thread: usize| (clusters * thread / threads * together).min(cores);
    (threads > 1).then(|| (0..threads).map(|thread| end(thread)..end(thread + 1)).collect())
}

/// Runs a launch on several threads if it may.
pub(crate) fn run<I: Isa>(
    exec: &Exec<I>,
    machine: &Machine,
    launch: Launch,
    mut memory: DeviceMemory,
    options: &mut RunOptions,
) -> Ran<'static> {
    let Some((groups, ranges, cycles)) = share(exec, machine, launch, &memory, options) else {
        return Ran::Alone(memory, None);
    };
    let shared = Shared {
        clocks: ranges.iter().map(|_| AtomicU64::new(0)).collect(),
        dispatcher: Mutex::new(Dispatcher {
            launcher: Launcher::new(launch, machine.core.lanes),
            next_core: 0,
            launched: 0,
            turn: 0,
            bids: vec![None; ranges.len()],
        }),
        mail: ranges.iter().map(|_| Mutex::default()).collect(),
        levels: Mutex::new(Hierarchy::new(machine, memory.first_line())),
        here: AtomicUsize::new(0),
        met: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        over: AtomicBool::new(false),
        start: AtomicU64::new(0),
        undecided: AtomicBool::new(false),
        limit: machine.limits.cycles,
    };
    let base = Arc::new(memory.take_bytes());
    let local = groups.lds_region..groups.lds_region.saturating_add(groups.lds_region_bytes(machine));
    let ends: Vec<usize> = ranges.iter().map(|range| range.end).collect();
    let check = options.check;
    let mut wants_stop = false;
    let work = |me: usize, own: DeviceMemory, tell: &mut dyn FnMut(Sofar) -> bool| {
        let _present = Present(&shared);
        let options = RunOptions { check, ..RunOptions::default() };
        let mut run = Timed::new(exec, machine, launch, None, own, &options, Sink::new(None));
        run.hierarchy.run_ahead(machine, &ends);
        run.own = ranges[me].clone();
        run.beside(me, cycles, &shared, tell)?;
        let console = run.outcome.printed.text();
        let Outcome { memory, .. } = run.outcome;
        let outcome = Outcome { cycles: run.end, console, memory: DeviceMemory::new(0), ..run.outcome };
        Some((outcome, memory.into_written()))
    };
    let results: Option<Vec<(Outcome, Written)>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..ranges.len())
            .map(|me| {
                let own = memory.copied(Arc::clone(&base), local.clone());
                let work = &work;
                scope.spawn(move || work(me, own, &mut |_| true))
            })
            .collect();
        let own = memory.copied(Arc::clone(&base), local.clone());
        let (mut report_at, mut stretches) = (crate::PROGRESS_EVERY, 0);
        let first = work(0, own, &mut |sofar| {
            stretches += 1;
            if stretches == TRIED && sofar.instructions < TRIED * INSTRUCTIONS && !options.always_threads {
                return false;
            }
            if sofar.instructions < report_at {
                return true;
            }
            report_at += crate::PROGRESS_EVERY;
            wants_stop = options.progress.as_mut().is_some_and(|progress| progress(sofar).is_break());
            !wants_stop
        });
        let others = others.into_iter().map(|thread| thread.join().ok().flatten());
        std::iter::once(first).chain(others).collect()
    });
    memory.give_bytes(base);
    if wants_stop {
        let error: Box<SimError> = Box::new(stopped(shared.start.into_inner(), "cycles"));
        return Ran::Stopped(error.with_memory(memory));
    }
    let joined = results.and_then(|all| {
        let cycles = all.iter().map(|(outcome, _)| outcome.cycles).max().unwrap_or(0);
        let outcome = parallel::join_outcomes(all, &mut memory, machine, &groups)?;
        Some(Outcome { cycles, ..outcome })
    });
    match joined {
        Some(outcome) => Ran::Done(Box::new(Outcome { memory, ..outcome })),
        None => Ran::Alone(memory, None),
    }
}

impl<I: Isa> Timed<'_, '_, I> {
    /// Runs the thread's cores beside others. None: the launch has to run on one thread.
    fn beside(
        &mut self,
        me: usize,
        cycles: u64,
        shared: &Shared,
        tell: &mut dyn FnMut(Sofar) -> bool,
    ) -> Option<()> {
        loop {
            self.horizon = self.now + cycles;
            self.hierarchy.run_to(self.horizon);
            self.stretch(me, shared)?;
            {
                let mut mail = lock(&shared.mail[me]);
                std::mem::swap(self.hierarchy.requests(), &mut mail.requests);
                mail.next = self.next_event();
                mail.instructions = self.outcome.wave_instructions;
            }
            shared.meet(|| shared.serve(self.now))?;
            {
                let mut mail = lock(&shared.mail[me]);
                std::mem::swap(self.hierarchy.requests(), &mut mail.requests);
                self.tell(&mail.done);
                (mail.next, mail.resident) = (self.next_event(), self.resident);
            }
            if shared.undecided.load(Ordering::Relaxed) {
                shared.meet(|| shared.plan())?;
                if shared.over.load(Ordering::Acquire) {
                    return Some(());
                }
            }
            self.now = shared.start.load(Ordering::Acquire);
            if me == 0 && !tell(shared.sofar(self.now)) {
                return None;
            }
        }
    }

    /// Cycle after cycle up to the horizon.
    fn stretch(&mut self, me: usize, shared: &Shared) -> Option<()> {
        loop {
            shared.clocks[me].store(self.now, Ordering::Release);
            if self.now >= self.horizon {
                return Some(());
            }
            self.retire();
            if self.may_dispatch && !self.launcher.is_done() {
                self.dispatch_beside(me, shared)?;
            }
            if self.now >= shared.limit || self.cycle(u64::MAX).is_err() {
                return None;
            }
        }
    }

    /// Takes groups for the cores of this thread, when no other thread can have room in an earlier cycle; of those that have room in
    /// this one the core that one thread would have chosen takes the next group.
    fn dispatch_beside(&mut self, me: usize, shared: &Shared) -> Option<()> {
        let mut patience = Patience(0);
        let mut mine: Option<(Bid, Vec<usize>)> = None;
        while !shared.stops() {
            let mut dispatcher = lock(&shared.dispatcher);
            let turn = dispatcher.turn;
            let (bid, slots) = match mine.take().filter(|(bid, _)| bid.turn == turn) {
                Some(mine) => mine,
                None => {
                    (self.launcher, self.next_core) = (dispatcher.launcher.clone(), dispatcher.next_core);
                    if self.launcher.is_done() {
                        dispatcher.bids[me] = None;
                        self.may_dispatch = false;
                        return Some(());
                    }
                    let (core, slots) = self.room().unzip();
                    let distance = core.map(|core| self.distance(core));
                    (Bid { cycle: self.now, turn, distance }, slots.unwrap_or_default())
                }
            };
            dispatcher.bids[me] = Some(bid);
            let clocks = shared.clocks.iter().map(|clock| clock.load(Ordering::Acquire));
            // Whoever may still have room in this cycle has to say so first.
            let others = clocks.enumerate().filter(|&(other, clock)| other != me && clock <= self.now);
            let bids: Option<Vec<Option<usize>>> = others
                .map(|(other, _)| {
                    let same = |bid: &Bid| (bid.cycle, bid.turn) == (self.now, turn);
                    Some(dispatcher.bids[other].filter(same)?.distance)
                })
                .collect();
            let best = bids.map(|bids| bids.into_iter().flatten().chain(bid.distance).min());
            match best {
                Some(None) => {
                    dispatcher.bids[me] = None;
                    self.may_dispatch = false;
                    return Some(());
                }
                Some(best) if best == bid.distance => {
                    self.launched = dispatcher.launched;
                    let core = (self.first_core() + best.unwrap_or(0)) % self.cores.len();
                    self.next_core = (core + 1) % self.cores.len();
                    self.start_group(core, slots);
                    dispatcher.launcher = self.launcher.clone();
                    (dispatcher.next_core, dispatcher.launched) = (self.next_core, self.launched);
                    dispatcher.turn += 1;
                }
                Some(_) | None => {
                    drop(dispatcher);
                    mine = Some((bid, slots));
                    patience.wait();
                }
            }
        }
        None
    }

    /// How many cores are asked for room before this one.
    fn distance(&self, core: usize) -> usize {
        (core + self.cores.len() - self.first_core()) % self.cores.len()
    }

    /// It is known when the requests are done: whatever waits for that is settled.
    fn tell(&mut self, done: &[u64]) {
        let times = self.hierarchy.tell(done);
        for (core, slot) in std::mem::take(&mut self.open) {
            if let Some(r) = &mut self.cores[core].waves[slot] {
                r.wave.paths.iter_mut().for_each(|path| path.own.board.tell(&times));
            }
            self.cores[core].learn(slot);
        }
        for Unsettled { core, issuer, seat, from } in std::mem::take(&mut self.unsettled) {
            let (slot, k) = (self.cores[core].slot_number(issuer, seat), self.cores[core].context(issuer));
            let Some(mut r) = self.cores[core].waves[slot].take() else { continue };
            if r.wave.ids >> k & 1 == 1 {
                let wake = self.cores[core].wakes_again(self.exec.program, (issuer, seat), &mut r, k, from);
                let goes = self.cores[core].settled(issuer, seat, wake);
                self.due[core] = self.due[core].min(goes);
            }
            self.cores[core].waves[slot] = Some(r);
        }
        for (until, core, slot) in &mut self.draining {
            if crate::memory::is_known(*until) {
                continue;
            }
            let ends = self.cores[*core].waves[*slot].as_ref().map(|r| {
                let boards = r.wave.paths.iter().map(|path| path.own.board.all_done());
                boards.fold(r.drained, u64::max)
            });
            *until = ends.unwrap_or(0).max(self.horizon);
        }
        self.drained = self.draining.iter().map(|d| d.0).min().unwrap_or(u64::MAX);
        for core in self.own.clone() {
            if let Some(due) = self.cores[core].fetches(&times, self.horizon) {
                self.due[core] = self.due[core].min(due);
            }
        }
    }

    /// The next cycle in which something can happen to the thread's cores.
    fn next_event(&self) -> u64 {
        if self.may_dispatch && !self.launcher.is_done() {
            return self.now;
        }
        let due = self.own.clone().map(|core| self.due[core]);
        due.fold(self.drained, u64::min).max(self.now)
    }
}
