//! Launches by stub or by handle, with arguments one by one or in one buffer.

use super::work::submit;
use super::{Dim3, address, call, code, get, with};
use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;
use crate::state::{LaunchSpec, Node};
use std::ffi::{c_int, c_uint, c_void};

/// Markers in the `extra` list of a launch (`hip_runtime_api.h`).
const PARAM_BUFFER: u64 = 1;
const PARAM_SIZE: u64 = 2;
const PARAM_END: u64 = 3;

/// Copies the arguments a launch passes by a list of addresses, or by `extra`.
///
/// # Safety
/// As HIP demands: an address for every argument of the kernel, or a list that ends with the end marker.
unsafe fn arguments(
    rt: &mut Runtime,
    key: u64,
    list: *const *const c_void,
    extra: *const *const c_void,
) -> Outcome<Vec<Vec<u8>>> {
    let slots = rt.arguments(key)?;
    let mut out = Vec::with_capacity(slots.len());
    if !list.is_null() {
        for (i, &(_, size)) in slots.iter().enumerate() {
            // SAFETY: the caller promises an address for each argument, which has the size the compiler wrote down.
            out.push(unsafe { bytes(get(list.add(i))?, size) }?);
        }
        return Ok(out);
    }
    if slots.is_empty() {
        return Ok(out);
    }
    // SAFETY: the caller promises the markers; the buffer has as many bytes as it says.
    unsafe {
        let (mut buffer, mut size, mut at) = (0, 0usize, extra);
        if at.is_null() {
            return Err(Code::INVALID_VALUE.into());
        }
        loop {
            match address(get(at)?) {
                PARAM_BUFFER => buffer = address(get(at.add(1))?),
                PARAM_SIZE => size = get(get(at.add(1))?.cast::<usize>())?,
                PARAM_END => break,
                _ => return Err(Code::INVALID_VALUE.into()),
            }
            at = at.add(2);
        }
        for &(offset, bytes_of) in &slots {
            if offset as usize + bytes_of > size {
                return Err(Code::INVALID_VALUE.into());
            }
            out.push(bytes((buffer + offset) as *const c_void, bytes_of)?);
        }
    }
    Ok(out)
}

/// # Safety
/// `from` is null or points to `size` bytes.
unsafe fn bytes(from: *const c_void, size: usize) -> Outcome<Vec<u8>> {
    if from.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    // SAFETY: the caller promises the bytes.
    Ok(unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) }.to_vec())
}

/// What a launch is, with copies of its arguments.
///
/// # Safety
/// As [`arguments`].
pub(super) unsafe fn spec(
    rt: &mut Runtime,
    key: u64,
    grid: [u32; 3],
    block: [u32; 3],
    shared: u64,
    list: *const *const c_void,
    extra: *const *const c_void,
) -> Outcome<LaunchSpec> {
    let function = rt.function(key)?;
    // SAFETY: passed on.
    let args = unsafe { arguments(rt, key, list, extra) }?;
    let shared = u32::try_from(shared).map_err(|_| Code::INVALID_CONFIGURATION)?;
    Ok(LaunchSpec { function, grid, block, shared, args })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipLaunchKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *const *const c_void,
    shared: usize,
    stream: *mut c_void,
) -> c_int {
    call(|rt| {
        // SAFETY: the stub passes an address for each argument.
        let spec = unsafe {
            spec(rt, address(stub), grid.into(), block.into(), shared as u64, args, std::ptr::null())
        }?;
        submit(rt, address(stream), Node::Launch(spec))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipLaunchKernel_spt(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *const *const c_void,
    shared: usize,
    stream: *mut c_void,
) -> c_int {
    // SAFETY: the same interface.
    unsafe { wavebound_hipLaunchKernel(stub, grid, block, args, shared, stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipExtLaunchKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *const *const c_void,
    shared: usize,
    stream: *mut c_void,
    start: *mut c_void,
    stop: *mut c_void,
    _flags: c_int,
) -> c_int {
    call(|rt| {
        if !start.is_null() {
            rt.event_record(address(start), address(stream))?;
        }
        // SAFETY: an address for each argument, as for hipLaunchKernel.
        let spec = unsafe {
            spec(rt, address(stub), grid.into(), block.into(), shared as u64, args, std::ptr::null())
        }?;
        submit(rt, address(stream), Node::Launch(spec))?;
        if stop.is_null() { Ok(()) } else { rt.event_record(address(stop), address(stream)) }
    })
}

/// All groups must be resident at once: they may wait for each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipLaunchCooperativeKernel(
    stub: *const c_void,
    grid: Dim3,
    block: Dim3,
    args: *const *const c_void,
    shared: c_uint,
    stream: *mut c_void,
) -> c_int {
    call(|rt| {
        let function = rt.function(address(stub))?;
        let (_, kernel) = rt.kernel(&function)?;
        let machine = &rt.host.device.machine;
        let threads = block.x.saturating_mul(block.y).saturating_mul(block.z);
        let fit = crate::props::groups_per_core(machine, &kernel, threads, shared.into());
        let groups = u64::from(grid.x) * u64::from(grid.y) * u64::from(grid.z);
        if groups > u64::from(fit) * u64::from(machine.cores) {
            return Err(Code::COOPERATIVE_TOO_LARGE.into());
        }
        // SAFETY: an address for each argument, as for hipLaunchKernel.
        let spec = unsafe {
            spec(rt, address(stub), grid.into(), block.into(), shared.into(), args, std::ptr::null())
        }?;
        submit(rt, address(stream), Node::Launch(spec))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleLaunchKernel(
    function: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    shared: c_uint,
    stream: *mut c_void,
    params: *const *const c_void,
    extra: *const *const c_void,
) -> c_int {
    call(|rt| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        // SAFETY: the program passes arguments as HIP demands.
        let spec = unsafe { spec(rt, address(function), grid, block, shared.into(), params, extra) }?;
        submit(rt, address(stream), Node::Launch(spec))
    })
}

/// A stream that is not recorded, and there is something to call.
fn plain_stream(stream: *mut c_void, there: bool) -> Outcome {
    with(|rt| match &rt.stream(address(stream))?.capture {
        Some(_) => Err(Code::CAPTURE_UNSUPPORTED.into()),
        None if there => Ok(()),
        None => Err(Code::INVALID_VALUE.into()),
    })
}

/// `hipLaunchHostFunc` of HIP 6: all work before it is done, so it runs at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipLaunchHostFunc(
    stream: *mut c_void,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> c_int {
    let known = plain_stream(stream, function.is_some());
    if known.is_ok()
        && let Some(function) = function
    {
        // SAFETY: the program passed this function for this call; the runtime is free again.
        unsafe { function(data) };
    }
    call(|_| known)
}

/// `hipStreamAddCallback`: all work before it is done, so it runs at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamAddCallback(
    stream: *mut c_void,
    callback: Option<unsafe extern "C" fn(*mut c_void, c_int, *mut c_void)>,
    data: *mut c_void,
    _flags: c_uint,
) -> c_int {
    let known = plain_stream(stream, true);
    if known.is_ok()
        && let Some(callback) = callback
    {
        // SAFETY: the program passed this function for this call; the runtime is free again.
        unsafe { callback(stream, 0, data) };
    }
    code(known)
}
