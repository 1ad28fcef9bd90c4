//! Launches that can be run again when the program ends, to be bounded.

use wavebound::device::Prepared;
use wavebound::jobs::JobError;
use wavebound::objects::codeobject::KernelArg;
use wavebound::sim::{DeviceMemory, Outcome, RunOptions, Runnable};
use wavebound::trace::Observer;

/// A launch that can be run again: what was prepared, and device memory as it was before.
pub struct Recording {
    pub kernel: String,
    pub file: String,
    pub prepared: Prepared,
    pub args: Vec<KernelArg>,
    pub origin: u64,
    pub image: Vec<u8>,
}

impl Recording {
    /// Device memory as it was before the launch, with its address.
    pub fn memory(&self) -> (u64, &[u8]) {
        (self.origin, &self.image)
    }

    pub fn run(&self, options: RunOptions, observer: Option<&mut dyn Observer>) -> Result<Outcome, JobError> {
        // All that the launch could touch is in the image.
        let mut memory = DeviceMemory::placed(self.origin, self.image.len() as u64);
        memory.write(self.origin, &self.image)?;
        let (program, machine) = (&self.prepared.program, &self.prepared.machine);
        Ok(program.run(machine, self.prepared.launch, memory, options, observer)?)
    }
}
