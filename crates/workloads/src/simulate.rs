//! A workload on the simulated device, a launch at a time: the caller decides how each runs and who watches it.

use crate::data::Difference;
use crate::error::WorkloadError;
use crate::run::{self, Memory, Player};
use crate::{Input, Marks, Size, Workload};
use wb_device::{Arg, Device, Dispatch, Module};
use wb_hw::Machine;
use wb_sim::{Outcome, RunOptions};
use wb_trace::Observer;

/// What a buffer held in the end, compared with the reference.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub buffer: &'static str,
    pub elements: u64,
    /// None: as wanted.
    pub difference: Option<Difference>,
}

/// Buffers of a run in device memory.
pub struct OnDevice<'a> {
    pub device: &'a mut Device,
    /// Address and bytes of each.
    pub buffers: &'a [(u64, u64)],
}

impl Memory for OnDevice<'_> {
    fn read(&mut self, buffer: usize) -> Result<Vec<u8>, WorkloadError> {
        let (addr, bytes) = self.buffers[buffer];
        Ok(self.device.read(addr, bytes)?.to_vec())
    }

    fn write(&mut self, buffer: usize, bytes: &[u8]) -> Result<(), WorkloadError> {
        let (addr, size) = self.buffers[buffer];
        if bytes.len() as u64 > size {
            let what = format!("{} bytes for a buffer of {size}", bytes.len());
            return Err(WorkloadError::Host { what });
        }
        Ok(self.device.write(addr, bytes)?)
    }
}

/// Places the buffers of a run; address and bytes of each.
pub fn place(device: &mut Device, run: &run::Run) -> Result<Vec<(u64, u64)>, WorkloadError> {
    let mut placed = Vec::new();
    for buffer in &run.buffers {
        let bytes = buffer.data.bytes();
        let addr = device.alloc(bytes.len() as u64)?;
        device.write(addr, &bytes)?;
        placed.push((addr, bytes.len() as u64));
    }
    Ok(placed)
}

/// A launch for the device.
pub fn dispatch(launch: &run::Launch, buffers: &[(u64, u64)]) -> Dispatch {
    let arg = |a: &run::Arg| match a {
        run::Arg::Buffer(i) => Arg::Buffer(buffers[*i].0),
        run::Arg::Value(bytes) => Arg::Value(bytes.clone()),
        run::Arg::Local(bytes) => Arg::Local(*bytes),
    };
    Dispatch {
        kernel: launch.kernel.to_owned(),
        grid: launch.grid,
        group: launch.group,
        args: launch.args.iter().map(arg).collect(),
        dynamic_lds: 0,
        opencl: Default::default(),
    }
}

/// Compares what a run wants with what its buffers hold.
pub fn verdicts(
    run: &run::Run,
    read: impl Fn(usize) -> Result<Vec<u8>, WorkloadError>,
) -> Result<Vec<Verdict>, WorkloadError> {
    let one = |want: &run::Want| {
        let got = want.data.like(&read(want.buffer)?);
        Ok(Verdict {
            buffer: run.buffers[want.buffer].name,
            elements: want.data.len() as u64,
            difference: got.compare(&want.data, want.within),
        })
    };
    run.wants.iter().map(one).collect()
}

/// A workload on its way.
pub struct Simulation {
    pub device: Device,
    pub module: Module,
    player: Player,
    buffers: Vec<(u64, u64)>,
}

impl Simulation {
    pub fn new(
        workload: &Workload,
        size: Size,
        machine: Machine,
        marks: &Marks,
    ) -> Result<Simulation, WorkloadError> {
        let object = workload.object(&machine.arch, marks)?;
        let mut device = Device::new(machine);
        let module = device.load(workload.name, &object)?;
        let run = (workload.build)(size, Input::default());
        let buffers = place(&mut device, &run)?;
        Ok(Simulation { device, module, player: Player::new(run), buffers })
    }

    /// The next launch; `None` when the workload is done.
    pub fn next_launch(&mut self) -> Result<Option<Dispatch>, WorkloadError> {
        let mut memory = OnDevice { device: &mut self.device, buffers: &self.buffers };
        Ok(self.player.next(&mut memory)?.map(|l| dispatch(&l, &self.buffers)))
    }

    /// Runs a launch; its effects stay in device memory.
    pub fn run(
        &mut self,
        dispatch: &Dispatch,
        options: RunOptions,
        observer: Option<&mut dyn Observer>,
    ) -> Result<Outcome, WorkloadError> {
        Ok(self.device.launch(&self.module, dispatch, options, observer)?)
    }

    /// Runs all launches that are left; cycles (wave-instructions if untimed), launches.
    pub fn run_all(&mut self, timed: bool) -> Result<(u64, u64), WorkloadError> {
        let (mut cycles, mut launches) = (0, 0);
        while let Some(dispatch) = self.next_launch()? {
            let options = RunOptions { timed, ..RunOptions::default() };
            cycles += self.run(&dispatch, options, None)?.cycles;
            launches += 1;
        }
        Ok((cycles, launches))
    }

    pub fn verdicts(&self) -> Result<Vec<Verdict>, WorkloadError> {
        verdicts(&self.player.run, |b| self.bytes(b))
    }

    fn bytes(&self, buffer: usize) -> Result<Vec<u8>, WorkloadError> {
        let (addr, bytes) = self.buffers[buffer];
        Ok(self.device.read(addr, bytes)?.to_vec())
    }

    /// Bytes of the wanted buffers as they are now.
    pub fn results(&self) -> Result<Vec<Vec<u8>>, WorkloadError> {
        self.player.run.wants.iter().map(|w| self.bytes(w.buffer)).collect()
    }
}
