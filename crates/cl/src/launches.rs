//! Launches: checked as OpenCL checks them when they come, and run when their turn has come.

use crate::codes::{Code, Failure, Outcome, refuse};
use crate::device::LARGEST_GROUP;
use crate::objects::{Buffer, Kernel, Value};
use crate::range::{Asked, shape};
use crate::runtime::Runtime;
use crate::state::LaunchSpec;
use wavebound::device::{Arg, Dispatch, OpenCl, explicit};
use wavebound::objects::codeobject;

/// Work-items of a group that a kernel can have.
pub fn largest_group(kernel: &codeobject::Kernel) -> u64 {
    match kernel.attributes.largest_group {
        0 => LARGEST_GROUP,
        n => u64::from(n.min(1024)),
    }
}

impl Runtime {
    /// What a launch is, and the handles that it needs until it is done; nothing to do if there are no work-items.
    pub fn launch_spec(&self, handle: u64, asked: &Asked) -> Outcome<(Option<LaunchSpec>, Vec<u64>)> {
        let Kernel { code, kernel, values, .. } = self.objects.get::<Kernel>(handle)?;
        let core = &self.host.device.machine.core;
        let mut holds = vec![handle];
        let mut args = Vec::with_capacity(values.len());
        let mut local = u64::from(kernel.lds_bytes);
        for value in values {
            args.push(match value {
                None => return refuse(Code::INVALID_KERNEL_ARGS),
                Some(Value::Buffer(buffer)) => {
                    let found = self.objects.get::<Buffer>(*buffer).map_err(|_| Code::INVALID_KERNEL_ARGS)?;
                    holds.push(*buffer);
                    Arg::Buffer(found.addr)
                }
                Some(Value::Pointer(addr)) => Arg::Buffer(*addr),
                Some(Value::Bytes(bytes)) => Arg::Value(bytes.clone()),
                Some(Value::Local(bytes)) => {
                    local = local.next_multiple_of(16) + u64::from(*bytes);
                    Arg::Local(*bytes)
                }
            });
        }
        let shape = shape(asked, kernel, largest_group(kernel), core.lanes)?;
        if local > u64::from(core.lds_bytes) {
            return refuse(Code::OUT_OF_RESOURCES);
        }
        let spec = shape.map(|shape| LaunchSpec {
            code: code.clone(),
            kernel: kernel.clone(),
            dispatch: Dispatch {
                kernel: kernel.name.clone(),
                grid: shape.grid,
                group: shape.group,
                args,
                dynamic_lds: 0,
                opencl: OpenCl { offset: asked.offset, dimensions: asked.dimensions },
            },
        });
        Ok((spec, holds))
    }

    /// Runs a kernel to its end. What a kernel does wrong ends the program.
    pub fn launch(&mut self, spec: &LaunchSpec) -> Outcome {
        self.before_printing(&spec.kernel)?;
        let work = wb_host::Work {
            module: &spec.code.module,
            object: &spec.code.bytes,
            kernel: &spec.kernel,
            dispatch: &spec.dispatch,
            note: self.note(),
        };
        let ran = self.host.launch(&work);
        if self.host.device.printf != 0 {
            self.print_all(&spec.code);
        }
        ran.map(drop).map_err(Failure::Fatal)
    }
}

/// Bytes of arguments that a kernel takes, as `clSetKernelArg` wants them.
pub fn slots(kernel: &codeobject::Kernel) -> Vec<&codeobject::KernelArg> {
    explicit(kernel).collect()
}
