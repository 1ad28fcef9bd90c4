//! A launch: run on the machine at once, watched as the user wants, told to the command, captured, and kept if its kernel is to be
//! bounded.

use crate::counter::{Counter, Counts};
use crate::ffi::{self, signals};
use crate::pages::Watchers;
use crate::printf;
use crate::progress::Line;
use crate::recording::Recording;
use crate::records::{LaunchRecord, Record};
use crate::session::{Session, describe};
use miette::{Report, miette};
use std::time::Instant;
use wavebound::device::{Dispatch, Module, Prepared};
use wavebound::files::Output as OutputFile;
use wavebound::objects::codeobject::Kernel;
use wavebound::report::{History, PictureOptions};
use wavebound::sim::{Outcome as RunOutcome, RunOptions, Sofar};
use wavebound::trace::{Observers, TraceWriter};

/// What to run.
pub struct Work<'a> {
    pub module: &'a Module,
    /// The module's code object as a file, for captures.
    pub object: &'a [u8],
    pub kernel: &'a Kernel,
    pub dispatch: &'a Dispatch,
    /// What a fault's message says beside what happened.
    pub note: String,
}

/// What a launch did.
struct Ran {
    cycles: u64,
    wave_instructions: u64,
    lane_instructions: u64,
    waves: u32,
    counts: Option<Counts>,
    /// The program ends by this signal, which came during the launch.
    signal: Option<i32>,
    /// The signal came before the launch had ended.
    interrupted: bool,
}

impl Ran {
    /// A signal may have come too late to stop the run, and is not forgotten.
    fn of(outcome: &RunOutcome, counts: Option<Counts>, signal: Option<i32>) -> Ran {
        Ran {
            cycles: outcome.cycles,
            wave_instructions: outcome.wave_instructions,
            lane_instructions: outcome.lane_instructions,
            waves: outcome.waves,
            counts,
            signal,
            interrupted: false,
        }
    }

    /// Progress is told now and then: what was counted is newer.
    fn so_far(last: Sofar, counts: Option<Counts>, signal: i32) -> Ran {
        Ran {
            cycles: last.cycles,
            wave_instructions: counts.map_or(last.instructions, |c| c.instructions),
            lane_instructions: counts.map_or(0, |c| c.lanes),
            waves: last.ended as u32,
            counts,
            signal: Some(signal),
            interrupted: true,
        }
    }
}

impl Session {
    /// Runs a kernel to its end; returns its cycles. What a kernel does wrong is a message with which the program should end.
    pub fn launch(&mut self, work: &Work) -> Result<u64, String> {
        let Work { module, kernel, dispatch, .. } = *work;
        let number = self.launched + 1;
        let before = self.wants(&kernel.name).then(|| self.before());
        let prepared = self
            .device
            .prepare(module, dispatch)
            .map_err(|e| format!("launch {number}: {}", describe(&e.into())))?;
        let keep = self.options.wcet.is_some().then(|| self.snapshot());
        let started = Instant::now();
        let result = self.watched(number, &prepared);
        let seconds = started.elapsed().as_secs_f64();
        self.print_messages();
        self.tell_reports();
        match keep {
            Some((origin, image)) => self.keep(module, kernel, prepared, origin, image),
            None => self.device.finish(prepared),
        }
        if let Some(before) = before {
            let cycles = result.as_ref().ok().filter(|ran| !ran.interrupted).map(|ran| ran.cycles);
            if let Err(e) = self.capture(&before, work, cycles) {
                eprintln!("wavebound: launch {number} cannot be captured: {}", describe(&e));
            }
        }
        let ran = result.map_err(|report| format!("launch {number}: {}{}", describe(&report), work.note))?;
        self.launched = number;
        self.now += ran.cycles;
        let record = LaunchRecord {
            process: self.process,
            number,
            kernel: kernel.name.clone(),
            grid: std::array::from_fn(|d| dispatch.grid[d].div_ceil(dispatch.group[d].max(1))),
            block: dispatch.group,
            cycles: ran.cycles,
            wave_instructions: ran.wave_instructions,
            lane_instructions: ran.lane_instructions,
            waves: ran.waves,
            counts: ran.counts,
            seconds,
            interrupted: ran.interrupted,
        };
        self.record(&Record::Launch(record));
        if let Some(signal) = ran.signal {
            self.tell_parts();
            signals::end_by(signal);
        }
        Ok(ran.cycles)
    }

    /// What the kernel printed goes where the program's own output goes.
    fn print_messages(&mut self) {
        let Some(calls) = &mut self.device.memory_mut().hostcalls else { return };
        for message in std::mem::take(&mut calls.messages) {
            let (to, pieces) = printf::parse(&message);
            ffi::print(to, &pieces);
        }
    }

    /// One run, with everybody watching who should.
    fn watched(&mut self, number: usize, prepared: &Prepared) -> Result<Ran, Report> {
        let options = &self.options;
        let trace_path = options.trace_of(self.process, number);
        let picture_path = options.picture_of(self.process, number);
        let mut counter = (!options.no_stats).then(Counter::default);
        let trace = trace_path.as_deref().map(OutputFile::in_place).transpose()?;
        let mut trace = trace.map(|out| TraceWriter::with(out, options.trace_options.clone()));
        let mut history = picture_path.is_some().then(History::new);
        let mut page = options.page.then(Watchers::new);
        let watch = signals::Watch::new();
        let mut line = Line::new(options.progress, number, crate::short_name(&prepared.program.kernel));
        let mut last = Sofar::default();
        let mut progress = |sofar: Sofar| {
            last = sofar;
            line.show(sofar);
            watch.go_on()
        };
        let run = RunOptions {
            timed: !options.untimed,
            check: options.check,
            threads: wavebound::sim::threads(options.threads),
            progress: Some(&mut progress),
            ..RunOptions::default()
        };
        let outcome = {
            let mut observers = Observers::new();
            counter.iter_mut().for_each(|o| observers.push(o));
            trace.iter_mut().for_each(|o| observers.push(o));
            history.iter_mut().for_each(|o| observers.push(o));
            if let Some(page) = &mut page {
                page.join(&mut observers);
            }
            let silent = observers.is_empty();
            self.device.run(prepared, run, if silent { None } else { Some(&mut observers) })
        };
        if let Some(trace) = trace {
            let (_, file) = trace
                .finish_into()
                .map_err(|e| miette!("cannot write the trace: {}", wavebound::files::words(&e)))?;
            file.finish()?;
        }
        drop(line);
        let counts = counter.map(|c| c.counts);
        let ran = match (outcome, watch.came()) {
            (Ok(outcome), signal) => Ran::of(&outcome, counts, signal),
            (Err(_), Some(signal)) => Ran::so_far(last, counts, signal),
            (Err(e), None) => return Err(e.into()),
        };
        if let (Some(history), Some(path)) = (&history, &picture_path) {
            let machine = &self.device.machine;
            let title = format!(
                "{} on {} ({})",
                crate::short_name(&prepared.program.kernel),
                machine.name,
                machine.divergence.mechanism
            );
            wavebound::report::draw(history, &PictureOptions { title, ..PictureOptions::default() }, path)?;
        }
        if let Some(page) = page {
            self.add_to_page(number, prepared, page);
        }
        Ok(ran)
    }

    /// Device memory in use, and where it starts.
    fn snapshot(&self) -> (u64, Vec<u8>) {
        let memory = self.device.memory();
        let origin = memory.origin();
        let image = memory.read(origin, self.device.used() - origin).unwrap_or_default();
        (origin, image.to_vec())
    }

    fn keep(&mut self, module: &Module, kernel: &Kernel, prepared: Prepared, origin: u64, image: Vec<u8>) {
        self.recordings.push(Recording {
            kernel: kernel.name.clone(),
            file: module.name.clone(),
            args: kernel.args.clone(),
            prepared: self.device.keep(prepared),
            origin,
            image,
        });
    }
}
