//! The state behind all calls: one simulated device, what the program registered, made and opened. Calls of several
//! host threads come one after the other.

use crate::ENVIRONMENT;
use crate::state::{Memory, Modules, Streams, Textures};
use miette::Report;
use wb_host::{Options, Session};

pub struct Runtime {
    pub host: Session,
    pub modules: Modules,
    pub memory: Memory,
    pub streams: Streams,
    pub textures: Textures,
}

impl Runtime {
    pub fn new() -> Result<Runtime, Report> {
        Runtime::with(Options::from_environment(ENVIRONMENT)?)
    }

    pub fn with(options: Options) -> Result<Runtime, Report> {
        Ok(Runtime {
            host: Session::new("hip", options)?,
            modules: Modules::default(),
            memory: Memory::default(),
            streams: Streams::default(),
            textures: Textures::default(),
        })
    }

    /// Forgets memory, streams and events of the program; its code stays on the device.
    pub fn reset(&mut self) {
        for addr in self.memory.allocations() {
            self.host.device.free(addr);
        }
        self.memory = Memory::default();
        self.streams = Streams::default();
        self.textures = Textures::default();
    }
}
