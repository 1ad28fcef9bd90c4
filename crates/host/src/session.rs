//! One simulated device and the command that listens: what every runtime has, whatever its interface. Each process of a run has its
//! own; a forked child goes on with a copy.

use crate::checker;
use crate::options::Options;
use crate::recording::Recording;
use crate::records::Record;
use miette::{IntoDiagnostic, Report};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use wavebound::device::Device;
use wavebound::report::pages::run::Part;
use wavebound::sim::HostCalls;

pub struct Session {
    /// The command that runs such programs: `hip`, `cl`.
    pub(crate) command: &'static str,
    pub options: Options,
    pub device: Device,
    /// Simulated cycles so far.
    pub now: u64,
    /// Launches so far.
    pub(crate) launched: usize,
    /// Launches to be bounded at the end.
    pub(crate) recordings: Vec<Recording>,
    /// Launches of the kernel that is to be captured.
    pub(crate) capturing: usize,
    /// What a page says about kernels, by name.
    pub(crate) parts: BTreeMap<String, Part>,
    /// Sources that are in no file, by the names that code objects have: for pages.
    pub sources: BTreeMap<String, String>,
    /// The process that announced itself to the command, and its number in the run.
    pid: u32,
    pub(crate) process: u32,
    records: Option<File>,
    /// Allocations of the program so far, and reports that were told.
    pub(crate) allocations: u32,
    pub(crate) told: usize,
}

impl Session {
    pub fn new(command: &'static str, options: Options) -> Result<Session, Report> {
        let mut device = Device::mapped(options.affordable_machine()?);
        if let Some(wanted) = &options.sanitize {
            checker::prepare(&mut device, wanted)?;
        }
        listen(&mut device)?;
        let mut session = Session {
            command,
            options,
            device,
            now: 0,
            launched: 0,
            recordings: Vec::new(),
            capturing: 0,
            parts: BTreeMap::new(),
            sources: BTreeMap::new(),
            pid: std::process::id(),
            process: 1,
            records: None,
            allocations: 0,
            told: 0,
        };
        session.announce();
        Ok(session)
    }

    /// Whether this process is the one that announced itself: a forked child is not.
    pub fn is_at_home(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Called before all work: a forked child goes on with a copy of everything, and counts its launches apart.
    pub fn come_home(&mut self) {
        if !self.is_at_home() {
            self.pid = std::process::id();
            self.launched = 0;
            self.recordings.clear();
            self.parts.clear();
            self.announce();
        }
    }

    /// The program ends by itself: bounds are computed now, and the command learns that all is well. A forked child that never
    /// called us has nothing to tell.
    pub fn finish(&mut self) {
        if self.is_at_home() {
            self.tell_parts();
            self.tell_command();
            self.bound_all();
            self.record(&Record::End);
        }
    }

    /// Tells the command that another process of the run has come, and finds out its number: that of its line.
    fn announce(&mut self) {
        let open = |path: &PathBuf| OpenOptions::new().read(true).append(true).open(path).ok();
        self.records = self.options.records.as_ref().and_then(open);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (pid, token) = (self.pid, since.as_nanos() as u64);
        let machine = &self.device.machine;
        let start = Record::Start {
            pid,
            token,
            machine: machine.name.clone(),
            mechanism: machine.divergence.mechanism.name().to_owned(),
            lanes: machine.core.lanes,
            clock_mhz: machine.clock_mhz,
            timed: !self.options.untimed,
        };
        self.record(&start);
        let Some(mut file) = self.records.as_ref() else { return };
        if file.rewind().is_err() {
            return;
        }
        let starts =
            BufReader::new(file).lines().map_while(Result::ok).filter_map(|line| match serde_json::from_str(
                &line,
            ) {
                Ok(Record::Start { pid, token, .. }) => Some((pid, token)),
                _ => None,
            });
        if let Some(at) = starts.into_iter().position(|s| s == (pid, token)) {
            self.process = at as u32 + 1;
        }
    }

    /// Tells the command, if it listens.
    pub fn record(&mut self, record: &Record) {
        if let Some(file) = &mut self.records
            && let Ok(mut line) = serde_json::to_string(record)
        {
            line.push('\n');
            let _ = file.write_all(line.as_bytes());
        }
    }

    /// Milliseconds of simulated time between two moments.
    pub fn milliseconds(&self, from: u64, to: u64) -> f64 {
        (to as f64 - from as f64) / (f64::from(self.device.machine.clock_mhz.max(1)) * 1000.0)
    }
}

/// The whole report as text, for people.
pub fn describe(report: &Report) -> String {
    let mut text = report.chain().map(|e| e.to_string()).collect::<Vec<_>>().join(": ");
    if let Some(help) = report.help() {
        text += &format!("\n  help: {help}");
    }
    text
}

/// Lets kernels call the host: a packet for every path that can run at once.
fn listen(device: &mut Device) -> Result<(), Report> {
    let m = &device.machine;
    let paths = u64::from(m.cores) * u64::from(m.core.waves) * (u64::from(m.split.contexts) + 1);
    let packets = paths.next_power_of_two();
    let buffer = device.alloc(HostCalls::bytes(packets))?;
    device.own_block(buffer);
    let calls = HostCalls::new(device.memory_mut(), buffer, packets).into_diagnostic()?;
    device.memory_mut().hostcalls = Some(Box::new(calls));
    device.hostcall = buffer;
    Ok(())
}
