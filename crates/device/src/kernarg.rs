//! The argument segment: explicit arguments at the offsets of the metadata, hidden ones filled in by name
//! (code objects 4 and 5).

use crate::DeviceError;
use crate::dispatch::{Arg, Dispatch};
use wb_isa::gcn3::state::{PRIVATE_APERTURE, SHARED_APERTURE};
use wb_objects::codeobject::{ArgKind, Kernel, KernelArg};

/// The explicit arguments of a kernel, in order.
pub fn explicit(kernel: &Kernel) -> impl Iterator<Item = &KernelArg> {
    kernel.args.iter().filter(|a| !matches!(a.kind, ArgKind::Hidden(_)))
}

/// More than any compiler lets a kernel have; beyond it, metadata is damaged.
const MAX_SEGMENT: u64 = 1 << 16;

/// What addresses look like to kernels.
#[derive(Clone, Copy, Debug)]
pub struct Pointers {
    pub bytes: u32,
    /// Where local memory begins.
    pub local: u32,
    /// Bytes that nobody has before each argument in local memory.
    pub gap: u32,
}

/// Where kernels reach the host; 0: they do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host {
    pub hostcall: u64,
    pub printf: u64,
}

/// The argument segment and the local memory the arguments ask for beyond the kernel's own.
pub fn build(
    kernel: &Kernel,
    dispatch: &Dispatch,
    pointers: Pointers,
    host: Host,
) -> Result<(Vec<u8>, u32), DeviceError> {
    let untold =
        if kernel.args.is_empty() { pack(kernel, &dispatch.args, pointers.bytes)? } else { Vec::new() };
    let wanted: Vec<&KernelArg> = explicit(kernel).chain(&untold).collect();
    if wanted.len() != dispatch.args.len() {
        let usage: Vec<String> = wanted.iter().map(|a| format!("{} {}", a.type_name, a.name)).collect();
        return Err(DeviceError::ArgumentCount {
            kernel: kernel.name.clone(),
            wanted: wanted.len(),
            given: dispatch.args.len(),
            usage: usage.join(", "),
        });
    }
    let end = kernel.args.iter().map(|a| u64::from(a.offset) + u64::from(a.size)).max().unwrap_or(0);
    if end.max(kernel.kernarg_size.into()) > MAX_SEGMENT {
        let what = format!("its arguments reach beyond {MAX_SEGMENT} bytes: the metadata is damaged");
        return Err(DeviceError::Launch { kernel: kernel.name.clone(), what });
    }
    let mut out = vec![0; (kernel.kernarg_size as usize).max(16)];
    let mut local = 0u32;
    for (index, (slot, arg)) in wanted.iter().zip(&dispatch.args).enumerate() {
        let wrong = |what: &str| DeviceError::Argument {
            kernel: kernel.name.clone(),
            index,
            name: slot.name.clone(),
            what: what.to_owned(),
        };
        let bytes = match (&slot.kind, arg) {
            (ArgKind::Buffer, Arg::Buffer(addr)) => addr.to_le_bytes()[..pointers.bytes as usize].to_vec(),
            (ArgKind::Value, Arg::Value(bytes)) if bytes.len() == slot.size as usize => bytes.clone(),
            (ArgKind::Value, Arg::Buffer(addr)) if slot.size == 8 => addr.to_le_bytes().to_vec(),
            (ArgKind::DynamicLds, Arg::Local(size)) => {
                let offset =
                    kernel.lds_bytes.saturating_add(local).saturating_add(pointers.gap).next_multiple_of(16);
                local = offset.saturating_add(*size).saturating_sub(kernel.lds_bytes);
                pointers.local.saturating_add(offset).to_le_bytes().to_vec()
            }
            (ArgKind::Buffer, _) => return Err(wrong("it is a buffer")),
            (ArgKind::DynamicLds, _) => return Err(wrong("it is local memory: give its size, local:BYTES")),
            (ArgKind::Value, Arg::Value(bytes)) => {
                return Err(wrong(&format!("it has {} bytes, {} were given", slot.size, bytes.len())));
            }
            (ArgKind::Value, _) => return Err(wrong("it is passed by value")),
            (ArgKind::Other(kind) | ArgKind::Hidden(kind), _) => {
                return Err(wrong(&format!("arguments of kind {kind} are not supported")));
            }
        };
        put(&mut out, slot, &bytes);
    }
    for slot in &kernel.args {
        if let ArgKind::Hidden(name) = &slot.kind
            && let Some(value) = hidden(name, dispatch, host)
        {
            put(&mut out, slot, &value.to_le_bytes()[..(slot.size as usize).min(8)]);
        }
    }
    Ok((out, local))
}

/// Kernels whose object says nothing about arguments (version 2, assembly without `.arg`): one after the other,
/// each at a multiple of its size, as C would lay them out.
fn pack(kernel: &Kernel, args: &[Arg], pointer: u32) -> Result<Vec<KernelArg>, DeviceError> {
    let mut end = 0u32;
    let mut slots = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let (kind, size) = match arg {
            Arg::Buffer(_) => (ArgKind::Buffer, pointer),
            Arg::Local(_) => (ArgKind::DynamicLds, 4),
            Arg::Value(bytes) => (ArgKind::Value, bytes.len() as u32),
        };
        let offset = end.next_multiple_of(size.max(1));
        end = offset + size;
        let name = format!("arg{index}");
        if end > kernel.kernarg_size {
            let what = format!("it ends at byte {end} of an argument segment of {}", kernel.kernarg_size);
            return Err(DeviceError::Argument { kernel: kernel.name.clone(), index, name, what });
        }
        slots.push(KernelArg {
            name,
            type_name: String::new(),
            offset,
            size,
            kind,
            qualifiers: Default::default(),
        });
    }
    Ok(slots)
}

fn put(out: &mut Vec<u8>, slot: &KernelArg, bytes: &[u8]) {
    let (from, to) = (slot.offset as usize, slot.offset as usize + bytes.len());
    if out.len() < to {
        out.resize(to, 0);
    }
    out[from..to].copy_from_slice(bytes);
}

/// Hidden arguments that have a value; the others (queues, …) stay zero.
fn hidden(name: &str, d: &Dispatch, host: Host) -> Option<u64> {
    let axis = match name.as_bytes().last()? {
        b'x' => 0,
        b'y' => 1,
        _ => 2,
    };
    // Only whole groups count; the remainder tells of the last, smaller one.
    let blocks = |i: usize| u64::from(d.grid[i] / d.group[i].max(1));
    Some(match name {
        "hidden_block_count_x" | "hidden_block_count_y" | "hidden_block_count_z" => blocks(axis),
        "hidden_group_size_x" | "hidden_group_size_y" | "hidden_group_size_z" => u64::from(d.group[axis]),
        "hidden_remainder_x" | "hidden_remainder_y" | "hidden_remainder_z" => {
            u64::from(d.grid[axis] % d.group[axis].max(1))
        }
        "hidden_hostcall_buffer" => host.hostcall,
        "hidden_printf_buffer" => host.printf,
        "hidden_global_offset_x" | "hidden_global_offset_y" | "hidden_global_offset_z" => {
            d.opencl.offset[axis]
        }
        "hidden_grid_dims" => u64::from(d.dimensions()),
        "hidden_private_base" => u64::from(PRIVATE_APERTURE),
        "hidden_shared_base" => u64::from(SHARED_APERTURE),
        _ => return None,
    })
}
