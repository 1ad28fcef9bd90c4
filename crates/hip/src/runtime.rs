//! The state behind all calls: one simulated device, what the program registered, made and opened. Calls of several
//! host threads come one after the other.

use crate::errors::{Failure, Outcome};
use crate::launches::Recording;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::options::Options;
use crate::records::Record;
use crate::streams::Streams;
use crate::textures::Textures;
use miette::{IntoDiagnostic, Report};
use std::fs::{File, OpenOptions};
use std::io::Write;
use wb_device::Device;
use wb_sim::HostCalls;

pub struct Runtime {
    pub options: Options,
    pub device: Device,
    pub modules: Modules,
    pub memory: Memory,
    pub streams: Streams,
    pub textures: Textures,
    /// Simulated cycles so far.
    pub now: u64,
    /// Launches so far.
    pub launched: usize,
    /// Launches to be bounded at the end.
    pub recordings: Vec<Recording>,
    records: Option<File>,
}

/// The whole report as text, for people.
pub fn describe(report: &Report) -> String {
    let mut text = report.chain().map(|e| e.to_string()).collect::<Vec<_>>().join(": ");
    if let Some(help) = report.help() {
        text += &format!("\n  help: {help}");
    }
    text
}

impl Runtime {
    pub fn new() -> Result<Runtime, Report> {
        let options = Options::from_environment()?;
        let records =
            options.records.as_ref().and_then(|path| OpenOptions::new().append(true).open(path).ok());
        if let Some(folder) = &options.folder {
            // Everything in it is open by now; so nothing stays behind, however the program ends.
            let _ = std::fs::remove_dir_all(folder);
        }
        let machine = options.machine()?;
        machine.validate()?;
        let size = machine.limits.memory;
        if Vec::<u8>::new().try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX)).is_err() {
            return Err(miette::miette!(
                help = "give the device less: --set limits.memory=268435456",
                "the host has no {size} bytes for device memory"
            ));
        }
        let mut device = Device::mapped(machine);
        listen(&mut device)?;
        let mut runtime = Runtime {
            options,
            device,
            modules: Modules::default(),
            memory: Memory::default(),
            streams: Streams::default(),
            textures: Textures::default(),
            now: 0,
            launched: 0,
            recordings: Vec::new(),
            records,
        };
        let machine = &runtime.device.machine;
        let start = Record::Start {
            machine: machine.name.clone(),
            mechanism: machine.divergence.mechanism.clone(),
            lanes: machine.core.lanes,
            clock_mhz: machine.clock_mhz,
            timed: !runtime.options.untimed,
        };
        runtime.record(&start);
        Ok(runtime)
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

    /// Forgets memory, streams and events of the program; its code stays on the device.
    pub fn reset(&mut self) {
        for addr in self.memory.allocations() {
            self.device.free(addr);
        }
        self.memory = Memory::default();
        self.streams = Streams::default();
        self.textures = Textures::default();
    }

    /// Milliseconds of simulated time between two moments.
    pub fn milliseconds(&self, from: u64, to: u64) -> f64 {
        (to as f64 - from as f64) / (f64::from(self.device.machine.clock_mhz.max(1)) * 1000.0)
    }
}

/// Lets kernels call the host: a packet for every path that can run at once.
fn listen(device: &mut Device) -> Result<(), Report> {
    let m = &device.machine;
    let paths = u64::from(m.cores) * u64::from(m.core.waves) * (u64::from(m.split.contexts) + 1);
    let packets = paths.next_power_of_two();
    let buffer = device.alloc(HostCalls::bytes(packets))?;
    let calls = HostCalls::new(device.memory_mut(), buffer, packets).into_diagnostic()?;
    device.memory_mut().hostcalls = Some(Box::new(calls));
    device.hostcall = buffer;
    Ok(())
}

/// A failure that ends the program.
pub fn fatal<T>(text: impl Into<String>) -> Outcome<T> {
    Err(Failure::Fatal(text.into()))
}
