//! Launches of kernels on lane-pc machines (docs/riscv.md): arguments with pointers of four bytes, local memory at its window, private
//! memory for the stacks that the kernel's calls need.

use crate::dispatch::Dispatch;
use crate::kernarg::{self, Host, Pointers};
use crate::launch::{OnDevice, Prepared};
use crate::{Device, DeviceError, Module};
use std::collections::BTreeMap;
use wb_isa::riscv::{PRIVATE, PRIVATE_END, Riscv, Setup};
use wb_isa::vortex::LOCAL;
use wb_objects::riscv_program;
use wb_program::Program;
use wb_sim::{Groups, Launch, Runnable, Touchable};

/// Registers of a lane: general purpose and floating point.
const REGISTERS: u32 = 64;

impl OnDevice for Riscv {
    fn runnable(program: &Program<Riscv>) -> &dyn Runnable {
        program
    }

    fn programs(device: &mut Device) -> &mut BTreeMap<(u64, u64), Program<Riscv>> {
        &mut device.riscv_programs
    }

    fn prepare(
        device: &mut Device,
        module: &Module,
        dispatch: &Dispatch,
        reserved: &mut Vec<u64>,
    ) -> Result<Prepared<Riscv>, DeviceError> {
        let kernel = module.kernel(&dispatch.kernel)?;
        let wrong = |what: String| DeviceError::Launch { kernel: kernel.name.clone(), what };
        let (size, count) = device.shape(kernel, dispatch)?;
        let private = kernel.scratch_bytes.next_multiple_of(16);
        if private > PRIVATE_END - PRIVATE {
            return Err(wrong(format!("{private} bytes of private memory per work-item")));
        }
        let gap = device.local_gap(kernel, dispatch);
        let pointers = Pointers { bytes: 4, local: LOCAL, gap };
        let (args, local) = kernarg::build(kernel, dispatch, pointers, Host::default())?;
        let lds_bytes = kernel.lds_bytes.saturating_add(local).saturating_add(dispatch.dynamic_lds);
        if lds_bytes > u32::MAX - LOCAL {
            return Err(wrong(format!(
                "{lds_bytes} bytes of local memory; its window has {}",
                u32::MAX - LOCAL
            )));
        }
        let kernarg = device.reserve(args.len() as u64, reserved)?;
        device.write(kernarg, &args)?;
        let lanes = device.machine.core.lanes;
        let mut groups = Groups {
            count,
            size,
            grid: dispatch.grid,
            group: dispatch.group,
            vgprs: REGISTERS,
            sgprs: 0,
            lds_bytes,
            lds_region: 0,
            scratch_per_wave: u64::from(private) * u64::from(lanes),
            scratch_region: 0,
        };
        let kernarg = u32::try_from(kernarg)
            .map_err(|_| wrong("device memory reaches beyond 4 GB, pointers do not".into()))?;
        let setup = Setup {
            grid: dispatch.grid,
            group: dispatch.group,
            dimensions: dispatch.dimensions(),
            kernarg,
            local_bytes: lds_bytes,
            private_bytes: private,
        };
        let key = (module.base, kernel.entry);
        let mut program = match device.riscv_programs.remove(&key) {
            Some(program) => program,
            None => riscv_program(&module.object, kernel, setup, &module.name, module.source.clone())?,
        };
        program.isa.setup = setup;
        // The device has placed the object already; its data keeps what earlier launches left there.
        program.segments.clear();
        let machine = device.machine.clone();
        groups.lds_region = device.reserve(groups.lds_region_bytes(&machine), reserved)?;
        groups.scratch_region = device.reserve(groups.scratch_region_bytes(&machine), reserved)?;
        let launch = Launch::Groups(groups);
        Ok(Prepared {
            program,
            launch,
            machine,
            kernarg: args,
            touchable: Touchable::default(),
            checks: crate::checks::kernel(module, kernel, dispatch, gap),
            reserved: Vec::new(),
            key,
        })
    }
}
