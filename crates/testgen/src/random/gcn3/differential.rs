//! One kernel on one machine: what the reference says must be what the untimed and the timed run leave in memory, with
//! the mask invariants asserted after every instruction. Without contexts the run must be that of `none`, cycle by cycle.

use super::super::interpret::table;
use super::super::later::renamed;
use super::super::loops::Noise;
use super::super::setup::mix;
use super::ast::Kernel;
use super::interpret::{Memory, run};
use super::setup::Setup;
use super::{WORD, emit};
use wb_device::{Arg, Device, DeviceError, Dispatch, Module};
use wb_hw::{FrontEndKind, Machine};
use wb_jobs::Job;
use wb_jobs::object::ObjectFile;
use wb_sim::{Outcome, RunOptions};
use wb_trace::{Event, HashObserver, Kind, NO_PC, Observer};

/// What a case that passed did.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    pub wave_instructions: u64,
    pub cycles: u64,
    /// Paths born and merged in the timed run.
    pub splits: u64,
    pub merges: u64,
}

#[derive(Clone, Debug)]
pub struct Failure {
    pub what: String,
    pub source: String,
}

/// A kernel on its machine, to be run by whoever asks. `input` 0 is what [`check`] runs; others change what the kernel
/// reads, so that its lanes go other ways.
pub fn job(kernel: &Kernel, setup: &Setup, input: u64) -> Result<Job, String> {
    let source = emit::source(kernel, setup);
    let object = ObjectFile::from_bytes("random.s", source.as_bytes())
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let mut launched = Launched::new(&object, setup, setup.machine(), true)?;
    if input > 0 {
        let Arg::Buffer(words) = launched.dispatch.args[0] else { return Err("no input".into()) };
        let other: Vec<u8> =
            (0..table(WORD).len() as u64).flat_map(|i| (mix(input ^ i << 20) as u32).to_le_bytes()).collect();
        launched.device.write(words, &other).map_err(told)?;
    }
    Job::from_device(&mut launched.device, &launched.module, &launched.dispatch, Vec::new())
        .map_err(|e| format!("{e:?}"))
}

/// Runs a kernel both ways; an error describes the first difference.
pub fn check(kernel: &Kernel, setup: &Setup) -> Result<Checked, Failure> {
    let source = emit::source(kernel, setup);
    check_source(kernel, setup, &source).map_err(|what| Failure { what, source })
}

/// The same kernel in the words of a later generation; what it must leave in memory is the same.
pub fn check_later(kernel: &Kernel, setup: &Setup, seed: u64) -> Result<Checked, Failure> {
    let source = renamed(&emit::source(kernel, setup), &mut Noise::new(seed));
    check_source(kernel, setup, &source).map_err(|what| Failure { what, source })
}

fn check_source(kernel: &Kernel, setup: &Setup, source: &str) -> Result<Checked, String> {
    check_text(&run(kernel, setup.threads(), setup.group()), setup, source)
}

/// Assembly that must leave `wanted` in memory.
pub(super) fn check_text(wanted: &Memory, setup: &Setup, source: &str) -> Result<Checked, String> {
    let object = ObjectFile::from_bytes("random.s", source.as_bytes())
        .map_err(|e| format!("{:?}", miette::Report::new(e)))?;
    let machine = setup.machine();
    let case = |machine: Machine, timed| Launched::new(&object, setup, machine, timed);
    let mut none = Watcher::default();
    let untimed = case(machine.clone(), false)?.run(None)?;
    compare("untimed", wanted, &untimed.1)?;
    let mut seen = Watcher::default();
    let timed = case(machine.clone(), true)?.run(Some(&mut seen))?;
    compare("timed", wanted, &timed.1)?;
    let plain = case(machine, true)?.run_plainly()?;
    compare("timed, unchecked", wanted, &plain.1)?;
    same_counts(&timed.0, &plain.0)?;
    every_cycle(&object, setup)?;
    if setup.contexts == 0 {
        let plain = case(setup.plain(), true)?.run(Some(&mut none))?;
        let (a, b) = ((plain.0.cycles, none.hash.hash()), (timed.0.cycles, seen.hash.hash()));
        if a != b {
            return Err(format!("S = 0 is not as none: cycles and hash of issues {a:x?} and {b:x?}"));
        }
    }
    Ok(Checked {
        wave_instructions: timed.0.wave_instructions,
        cycles: timed.0.cycles,
        splits: seen.splits,
        merges: seen.merges,
    })
}

/// A run that nobody looks at and that checks nothing counts what others count.
fn same_counts(checked: &Outcome, plain: &Outcome) -> Result<(), String> {
    let counts = |o: &Outcome| (o.cycles, o.wave_instructions, o.lane_instructions, o.nops);
    let (want, got) = (counts(checked), counts(plain));
    if want == got {
        return Ok(());
    }
    Err(format!("cycles, instructions, lanes, NOPs {want:?} observed, {got:?} unobserved and unchecked"))
}

/// Cycles that are skipped change nothing: the events are those of a run that looks at every cycle, and so are the cycles if nobody
/// observes, when more of them are skipped.
fn every_cycle(object: &ObjectFile, setup: &Setup) -> Result<(), String> {
    let cycles = |every_cycle: bool, observer: Option<&mut dyn Observer>| -> Result<u64, String> {
        let mut launched = Launched::new(object, setup, setup.machine(), true)?;
        let options = RunOptions { timed: true, check: true, every_cycle, ..RunOptions::default() };
        let ran = launched.device.launch(&launched.module, &launched.dispatch, options, observer);
        Ok(ran.map_err(|e| format!("every cycle: {}", told(e)))?.cycles)
    };
    let events = |every_cycle: bool| -> Result<(u64, u64), String> {
        let mut hash = HashObserver::new();
        Ok((cycles(every_cycle, Some(&mut hash))?, hash.hash()))
    };
    let (skipping, every, unobserved) = (events(false)?, events(true)?, cycles(false, None)?);
    if skipping != every {
        return Err(format!("cycles and events {skipping:x?}, but {every:x?} if every cycle is looked at"));
    }
    if unobserved != every.0 {
        return Err(format!("{unobserved} cycles unobserved, {} observed", every.0));
    }
    Ok(())
}

/// Counts splits and hashes what issued, when, where and with which lanes.
#[derive(Default)]
struct Watcher {
    hash: HashObserver,
    splits: u64,
    merges: u64,
}

impl Observer for Watcher {
    fn events(&mut self, batch: &[Event]) {
        for event in batch {
            match event.kind {
                Kind::Issue { .. } | Kind::Memory { .. } => self.hash.events(std::slice::from_ref(event)),
                Kind::PathStart { .. } => self.splits += 1,
                Kind::PathMerge { .. } => self.merges += 1,
                _ => {}
            }
        }
    }

    fn end(&mut self, cycles: u64) {
        self.hash.end(cycles);
    }
}

/// A device with everything in place.
pub(super) struct Launched {
    device: Device,
    module: Module,
    dispatch: Dispatch,
    slots: (u64, u64),
    shared: u64,
    timed: bool,
    coordinated: bool,
}

fn told(error: DeviceError) -> String {
    match error {
        DeviceError::Run(e) => format!("{e:?}"),
        e => format!("{e:?}"),
    }
}

impl Launched {
    fn new(object: &ObjectFile, setup: &Setup, machine: Machine, timed: bool) -> Result<Launched, String> {
        Launched::sized(object, setup.threads(), setup, machine, timed)
    }

    /// With so many threads.
    pub(super) fn sized(
        object: &ObjectFile,
        threads: u32,
        setup: &Setup,
        machine: Machine,
        timed: bool,
    ) -> Result<Launched, String> {
        let coordinated = machine.frontend.kind == FrontEndKind::Coordinated;
        let mut device = Device::new(machine);
        let module = device.place("random.s", object.object.clone(), object.source.clone()).map_err(told)?;
        let words: Vec<u8> = table(WORD).iter().flat_map(|&w| (w as u32).to_le_bytes()).collect();
        let input = device.alloc(words.len() as u64).map_err(told)?;
        device.write(input, &words).map_err(told)?;
        let bytes = 4 * super::super::SLOT as u64 * u64::from(threads);
        let slots = device.alloc(bytes).map_err(told)?;
        let shared = device.alloc(16).map_err(told)?;
        let dispatch = Dispatch {
            kernel: String::new(),
            grid: [threads, 1, 1],
            group: [setup.group(), 1, 1],
            args: vec![
                Arg::Buffer(input),
                Arg::Buffer(slots),
                Arg::Buffer(shared),
                Arg::Value(threads.to_le_bytes().to_vec()),
            ],
            dynamic_lds: 0,
            opencl: Default::default(),
        };
        Ok(Launched { device, module, dispatch, slots: (slots, bytes), shared, timed, coordinated })
    }

    /// Unobserved on so many host threads: what became of it, and what all threads left.
    pub(super) fn run_on(mut self, threads: usize) -> Result<(Outcome, Vec<u8>), String> {
        let options =
            RunOptions { timed: self.timed, threads, always_threads: true, ..RunOptions::default() };
        let ran = self.device.launch(&self.module, &self.dispatch, options, None);
        let outcome = ran.map_err(|e| format!("on {threads} threads: {}", told(e)))?;
        let bytes = self.device.read(self.slots.0, self.slots.1).map_err(told)?.to_vec();
        Ok((outcome, bytes))
    }

    fn run(self, watcher: Option<&mut Watcher>) -> Result<(Outcome, Memory), String> {
        let watch = (self.timed && self.coordinated).then_some(NO_PC);
        let options = RunOptions { timed: self.timed, check: true, watch, ..RunOptions::default() };
        self.run_as(options, watcher.map(|w| w as &mut dyn Observer))
    }

    /// As users run it: nobody looks on, nothing is checked, and the usual instructions take short ways.
    fn run_plainly(self) -> Result<(Outcome, Memory), String> {
        let options = RunOptions { timed: self.timed, threads: 1, ..RunOptions::default() };
        self.run_as(options, None)
    }

    fn run_as(
        mut self,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<(Outcome, Memory), String> {
        let which = if self.timed { "timed" } else { "untimed" };
        let outcome = self
            .device
            .launch(&self.module, &self.dispatch, options, observer)
            .map_err(|e| format!("the {which} run fails: {}", told(e)))?;
        if let Some(s) = outcome.schedule.filter(|s| s.errors.total() > 0) {
            return Err(format!("the coordinated scheduler makes errors: {:?}", s.errors));
        }
        let words = |addr: u64, bytes: u64| -> Result<Vec<u32>, String> {
            let bytes = self.device.read(addr, bytes).map_err(told)?;
            Ok(bytes.as_chunks::<4>().0.iter().map(|&c| u32::from_le_bytes(c)).collect())
        };
        let slots = words(self.slots.0, self.slots.1)?;
        let shared = words(self.shared, 12)?;
        Ok((outcome, Memory { slots, shared: [shared[0], shared[1], shared[2]] }))
    }
}

fn compare(which: &str, wanted: &Memory, found: &Memory) -> Result<(), String> {
    if wanted.shared != found.shared {
        let (wanted, found) = (wanted.shared, found.shared);
        return Err(format!("{which}: shared words {found:x?}, expected {wanted:x?}"));
    }
    let differs = |(_, (w, f)): &(usize, (&u32, &u32))| w != f;
    match wanted.slots.iter().zip(&found.slots).enumerate().find(differs) {
        None => Ok(()),
        Some((at, (wanted, found))) => {
            let slot = super::super::SLOT;
            Err(format!(
                "{which}: word {} of thread {} is {found:#x}, expected {wanted:#x}",
                at % slot,
                at / slot
            ))
        }
    }
}
