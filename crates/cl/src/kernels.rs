//! Kernel objects: a kernel of an executable with values of its arguments, and what programs ask about it.

use crate::codes::{Code, Outcome, refuse};
use crate::info::{list, text, uint, ulong, unknown};
use crate::launches::{largest_group, slots};
use crate::objects::{Buffer, Kernel, Object, Program, Value};
use crate::runtime::Runtime;
use std::sync::Arc;
use wavebound::objects::codeobject::{ArgKind, Attributes};

impl Runtime {
    pub fn create_kernel(&mut self, handle: u64, name: &str) -> Outcome<u64> {
        let program = self.objects.get_mut::<Program>(handle)?;
        if !program.linked {
            return refuse(Code::INVALID_PROGRAM_EXECUTABLE);
        }
        let code = program.code.clone().ok_or(Code::INVALID_KERNEL_NAME)?;
        // An empty name is nobody's here.
        let found = code.module.object.kernels.iter().find(|k| k.name == name);
        let kernel = Arc::new(found.cloned().ok_or(Code::INVALID_KERNEL_NAME)?);
        program.kernels += 1;
        let context = program.context;
        let values = vec![None; slots(&kernel).len()];
        self.objects.retain(handle);
        let kernel = Kernel { context, program: handle, code, kernel, values };
        Ok(self.objects.insert(Object::Kernel(kernel)))
    }

    /// The same kernel with the same values.
    pub fn clone_kernel(&mut self, handle: u64) -> Outcome<u64> {
        let kernel = self.objects.get::<Kernel>(handle)?.clone();
        self.objects.get_mut::<Program>(kernel.program)?.kernels += 1;
        self.objects.retain(kernel.program);
        Ok(self.objects.insert(Object::Kernel(kernel)))
    }

    /// Names of a program's kernels.
    pub fn kernel_names(&self, handle: u64) -> Outcome<Vec<String>> {
        let program = self.objects.get::<Program>(handle)?;
        if !program.linked {
            return refuse(Code::INVALID_PROGRAM_EXECUTABLE);
        }
        let kernels = program.code.iter().flat_map(|code| &code.module.object.kernels);
        Ok(kernels.map(|k| k.name.clone()).collect())
    }

    /// Sets an argument: `size` as the program gives it, `bytes` what is there, if anything.
    pub fn set_argument(&mut self, handle: u64, index: u32, size: u64, bytes: Option<Vec<u8>>) -> Outcome {
        let kernel = self.objects.get::<Kernel>(handle)?;
        let slots = slots(&kernel.kernel);
        let slot = *slots.get(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        let value = match (&slot.kind, bytes) {
            (ArgKind::DynamicLds, None) if size > 0 => {
                Value::Local(u32::try_from(size).map_err(|_| Code::INVALID_ARG_SIZE)?)
            }
            (ArgKind::DynamicLds, None) => return refuse(Code::INVALID_ARG_SIZE),
            (ArgKind::DynamicLds, Some(_)) => return refuse(Code::INVALID_ARG_VALUE),
            (ArgKind::Other(_) | ArgKind::Hidden(_), _) => return refuse(Code::INVALID_ARG_VALUE),
            (ArgKind::Buffer, _) if size != 8 => return refuse(Code::INVALID_ARG_SIZE),
            (ArgKind::Value, _) if size != u64::from(slot.size) => return refuse(Code::INVALID_ARG_SIZE),
            (ArgKind::Buffer, None) => Value::Pointer(0),
            (ArgKind::Value, None) => return refuse(Code::INVALID_ARG_VALUE),
            (ArgKind::Value, Some(bytes)) => Value::Bytes(bytes),
            (ArgKind::Buffer, Some(bytes)) => {
                match bytes.as_slice().try_into().map_or(0, u64::from_le_bytes) {
                    0 => Value::Pointer(0),
                    buffer => {
                        let context = self.objects.get::<Buffer>(buffer)?.context;
                        if context != kernel.context {
                            return refuse(Code::INVALID_MEM_OBJECT);
                        }
                        Value::Buffer(buffer)
                    }
                }
            }
        };
        self.set_value(handle, index, value)
    }

    /// Sets an argument to an address in shared memory.
    pub fn set_pointer(&mut self, handle: u64, index: u32, pointer: u64) -> Outcome {
        let kernel = self.objects.get::<Kernel>(handle)?;
        let slots = slots(&kernel.kernel);
        let slot = slots.get(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        if slot.kind != ArgKind::Buffer || (pointer != 0 && self.shared(pointer).is_none()) {
            return refuse(Code::INVALID_ARG_VALUE);
        }
        self.set_value(handle, index, Value::Pointer(pointer))
    }

    fn set_value(&mut self, handle: u64, index: u32, value: Value) -> Outcome {
        let values = &mut self.objects.get_mut::<Kernel>(handle)?.values;
        *values.get_mut(index as usize).ok_or(Code::INVALID_ARG_INDEX)? = Some(value);
        Ok(())
    }

    /// Bytes to read of an argument's value: what the kernel has room for, never more than the program says.
    pub fn argument_bytes(&self, handle: u64, index: u32, size: u64) -> u64 {
        let Ok(kernel) = self.objects.get::<Kernel>(handle) else { return 0 };
        slots(&kernel.kernel).get(index as usize).map_or(0, |slot| size.min(slot.size.into()))
    }

    pub fn kernel_info(&self, handle: u64, name: u32) -> Outcome<Vec<u8>> {
        let kernel = self.objects.get::<Kernel>(handle)?;
        match name {
            // CL_KERNEL_FUNCTION_NAME, _NUM_ARGS, _REFERENCE_COUNT, _CONTEXT, _PROGRAM, _ATTRIBUTES
            0x1190 => text(&kernel.kernel.name),
            0x1191 => uint(kernel.values.len() as u32),
            0x1192 => uint(self.objects.count(handle)),
            0x1193 => ulong(kernel.context),
            0x1194 => ulong(kernel.program),
            0x1195 => text(&attributes(&kernel.kernel.attributes)),
            _ => unknown(),
        }
    }

    pub fn group_info(&self, handle: u64, name: u32) -> Outcome<Vec<u8>> {
        let kernel = &self.objects.get::<Kernel>(handle)?.kernel;
        match name {
            // CL_KERNEL_WORK_GROUP_SIZE, _COMPILE_WORK_GROUP_SIZE, _LOCAL_MEM_SIZE
            0x11B0 => ulong(largest_group(kernel)),
            0x11B1 => list(&kernel.attributes.required_group.unwrap_or_default().map(u64::from)),
            0x11B2 => {
                let dynamic = |value: &Option<Value>| match value {
                    Some(Value::Local(bytes)) => u64::from(*bytes),
                    _ => 0,
                };
                let values = &self.objects.get::<Kernel>(handle)?.values;
                ulong(u64::from(kernel.lds_bytes) + values.iter().map(dynamic).sum::<u64>())
            }
            // CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, _PRIVATE_MEM_SIZE; _GLOBAL_WORK_SIZE is for built-in kernels.
            0x11B3 => ulong(self.host.device.machine.core.lanes.into()),
            0x11B4 => ulong(kernel.scratch_bytes.into()),
            _ => unknown(),
        }
    }

    /// Sub-groups are waves.
    pub fn sub_group_info(&self, handle: u64, name: u32, input: &[u64]) -> Outcome<Vec<u8>> {
        let kernel = &self.objects.get::<Kernel>(handle)?.kernel;
        let lanes = u64::from(self.host.device.machine.core.lanes.max(1));
        let largest = largest_group(kernel);
        match name {
            // CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, _SUB_GROUP_COUNT_FOR_NDRANGE: of a group as given.
            0x2033 | 0x2034 => {
                let items = input.iter().try_fold(1u64, |n, &m| n.checked_mul(m));
                let items = items.filter(|n| !input.is_empty() && *n > 0).ok_or(Code::INVALID_VALUE)?;
                ulong(if name == 0x2033 { items.min(lanes) } else { items.div_ceil(lanes) })
            }
            // CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: a group of so many waves.
            0x11B8 => {
                let waves = *input.first().ok_or(Code::INVALID_VALUE)?;
                let items = waves.checked_mul(lanes).filter(|n| *n <= largest).unwrap_or(0);
                list(&[items, items.min(1), items.min(1)])
            }
            // CL_KERNEL_MAX_NUM_SUB_GROUPS, _COMPILE_NUM_SUB_GROUPS
            0x11B9 => ulong(largest.div_ceil(lanes)),
            0x11BA => ulong(0),
            _ => unknown(),
        }
    }

    pub fn argument_info(&self, handle: u64, index: u32, name: u32) -> Outcome<Vec<u8>> {
        let kernel = self.objects.get::<Kernel>(handle)?;
        let slots = slots(&kernel.kernel);
        let slot = *slots.get(index as usize).ok_or(Code::INVALID_ARG_INDEX)?;
        let q = &slot.qualifiers;
        let is_image = matches!(&slot.kind, ArgKind::Other(kind) if kind == "image");
        match name {
            // CL_KERNEL_ARG_ADDRESS_QUALIFIER: global, local, constant, private.
            0x1196 => uint(match q.address_space.as_str() {
                "local" => 0x119C,
                "constant" => 0x119D,
                "global" | "generic" => 0x119B,
                _ if is_image => 0x119B,
                _ => 0x119E,
            }),
            // CL_KERNEL_ARG_ACCESS_QUALIFIER: of images.
            0x1197 => uint(match q.access.as_str() {
                "read_only" => 0x11A0,
                "write_only" => 0x11A1,
                "read_write" => 0x11A2,
                _ => 0x11A3,
            }),
            0x1198 => text(&slot.type_name),
            0x1199 => {
                ulong(u64::from(q.is_const) | u64::from(q.is_restrict) << 1 | u64::from(q.is_volatile) << 2)
            }
            0x119A => text(&slot.name),
            _ => unknown(),
        }
    }
}

/// As the source has them.
fn attributes(a: &Attributes) -> String {
    let size = |name: &str, [x, y, z]: [u32; 3]| format!("{name}({x},{y},{z})");
    let required = a.required_group.map(|n| size("reqd_work_group_size", n));
    let hint = a.group_hint.map(|n| size("work_group_size_hint", n));
    let vector = (!a.vector_hint.is_empty()).then(|| format!("vec_type_hint({})", a.vector_hint));
    required.into_iter().chain(hint).chain(vector).collect::<Vec<_>>().join(" ")
}
