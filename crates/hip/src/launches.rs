//! Launches: checked as HIP checks them, and run at once.

use crate::errors::{Code, Failure, Outcome};
use crate::runtime::Runtime;
use crate::state::LaunchSpec;
use wavebound::device::explicit;
use wavebound::device::{Arg, Dispatch};
use wavebound::objects::codeobject::{ArgKind, Kernel, KernelArg};
use wb_host::Work;

/// Bytes of local memory that are given out together.
const LDS_GRANULE: u64 = 512;

impl Runtime {
    /// Runs a kernel to its end. What a kernel does wrong ends the program.
    pub fn launch(&mut self, spec: &LaunchSpec) -> Outcome {
        let (module, kernel) = self.kernel(&spec.function)?;
        let dispatch = self.dispatch(spec, &kernel)?;
        let note = self.memory.refusal(self.host.device.heap().total());
        let object = self.modules.sources.get(spec.function.source).map(|s| &s.object);
        let object = object.and_then(|o| o.as_deref().ok()).unwrap_or_default();
        let work = Work { module: &module, object, kernel: &kernel, dispatch: &dispatch, note };
        self.host.launch(&work).map(drop).map_err(Failure::Fatal)
    }

    /// Checks sizes as HIP does, and turns groups into work-items.
    fn dispatch(&self, spec: &LaunchSpec, kernel: &Kernel) -> Outcome<Dispatch> {
        let core = &self.host.device.machine.core;
        let threads: u64 = spec.block.iter().map(|&n| u64::from(n)).product();
        if threads == 0 || threads > 1024 || spec.grid.contains(&0) {
            return Err(Code::INVALID_CONFIGURATION.into());
        }
        let shared = u64::from(spec.shared) + u64::from(kernel.lds_bytes);
        if shared > u64::from(core.lds_bytes) {
            return Err(Code::INVALID_VALUE.into());
        }
        // Local memory is given out in granules (GCN3 manual, LDS_SIZE): programs may use what is left of the last one.
        let granted = shared.next_multiple_of(LDS_GRANULE).min(core.lds_bytes.into());
        let mut items = [0; 3];
        for (d, items) in items.iter_mut().enumerate() {
            *items = spec.grid[d].checked_mul(spec.block[d]).ok_or(Code::INVALID_CONFIGURATION)?;
        }
        // A pointer to registered memory means the device's copy of it.
        let view = |addr: u64| self.device_view(addr).unwrap_or(addr);
        let arg = |(slot, bytes): (&KernelArg, &Vec<u8>)| match (&slot.kind, bytes.as_slice().try_into()) {
            (ArgKind::Buffer, Ok(raw)) => Arg::Buffer(view(u64::from_le_bytes(raw))),
            _ => Arg::Value(bytes.clone()),
        };
        Ok(Dispatch {
            kernel: kernel.name.clone(),
            grid: items,
            group: spec.block,
            args: explicit(kernel).zip(&spec.args).map(arg).collect(),
            dynamic_lds: (granted - u64::from(kernel.lds_bytes)) as u32,
            opencl: Default::default(),
        })
    }
}
