//! Modules, functions and their attributes, variables, occupancy.

use super::{address, call, pointer, put, text};
use crate::errors::{Code, Outcome};
use crate::fatbin;
use crate::props;
use crate::runtime::Runtime;
use std::ffi::{c_char, c_int, c_uint, c_void};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleLoad(to: *mut *mut c_void, file: *const c_char) -> c_int {
    call(|rt| {
        // SAFETY: the program passes a string and room for the handle.
        unsafe {
            let name = text(file)?;
            let bytes = wavebound::files::read(name.as_ref(), wavebound::files::Kind::Program)
                .map_err(|_| Code::FILE_NOT_FOUND)?;
            put(to, pointer(rt.load_module(&name, &bytes)?))
        }
    })
}

/// # Safety
/// `image` points to an offload bundle or a code object; `to` is null or room for a handle.
unsafe fn load_data(rt: &mut Runtime, to: *mut *mut c_void, image: *const c_void) -> Outcome {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let end = fatbin::readable(&maps, address(image)).ok_or(Code::INVALID_VALUE)?;
    // SAFETY: all these bytes are mapped and readable; the program leaves its image alone during the call.
    let bytes = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), (end - address(image)) as usize) };
    let handle = rt.load_module("module", bytes)?;
    // SAFETY: passed on.
    unsafe { put(to, pointer(handle)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleLoadData(to: *mut *mut c_void, image: *const c_void) -> c_int {
    // SAFETY: the program passes an image and room for the handle.
    call(|rt| unsafe { load_data(rt, to, image) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleLoadDataEx(
    to: *mut *mut c_void,
    image: *const c_void,
    _count: c_uint,
    _options: *mut c_int,
    _values: *mut *mut c_void,
) -> c_int {
    // SAFETY: the program passes an image and room for the handle.
    call(|rt| unsafe { load_data(rt, to, image) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleUnload(module: *mut c_void) -> c_int {
    call(|rt| rt.unload_module(address(module)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleGetFunction(
    to: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    call(|rt| {
        // SAFETY: the program passes a string and room for the handle.
        unsafe {
            let name = text(name)?;
            put(to, pointer(rt.module_function(address(module), &name)?))
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleGetGlobal(
    to: *mut *mut c_void,
    size: *mut usize,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    call(|rt| {
        // SAFETY: the program passes a string and room for the results, either of which may be left out.
        unsafe {
            let name = text(name)?;
            let (addr, bytes) = rt.module_variable(address(module), &name)?;
            if !size.is_null() {
                put(size, bytes as usize)?;
            }
            if to.is_null() { Ok(()) } else { put(to, pointer(addr)) }
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetSymbolAddress(to: *mut *mut c_void, symbol: *const c_void) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, pointer(rt.symbol(address(symbol))?.0)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetSymbolSize(to: *mut usize, symbol: *const c_void) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, rt.symbol(address(symbol))?.1 as usize) })
}

/// `hipFuncAttributes`.
#[repr(C)]
pub struct Attributes {
    binary_version: c_int,
    cache_mode: c_int,
    const_bytes: usize,
    local_bytes: usize,
    max_dynamic_shared: c_int,
    max_threads: c_int,
    registers: c_int,
    carveout: c_int,
    ptx_version: c_int,
    shared_bytes: usize,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFuncGetAttributes(
    to: *mut Attributes,
    function: *const c_void,
) -> c_int {
    call(|rt| {
        let function = rt.function(address(function))?;
        let (_, kernel) = rt.kernel(&function)?;
        let attributes = Attributes {
            binary_version: 80,
            cache_mode: 0,
            const_bytes: 0,
            local_bytes: kernel.scratch_bytes as usize,
            max_dynamic_shared: rt.host.device.machine.core.lds_bytes.saturating_sub(kernel.lds_bytes)
                as c_int,
            max_threads: props::MAX_BLOCK,
            registers: kernel.descriptor.vgprs() as c_int,
            carveout: 0,
            ptx_version: 80,
            shared_bytes: kernel.lds_bytes as usize,
        };
        // SAFETY: the program passes room for the result.
        unsafe { put(to, attributes) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFuncGetAttribute(
    to: *mut c_int,
    attribute: c_int,
    function: *const c_void,
) -> c_int {
    call(|rt| {
        let function = rt.function(address(function))?;
        let (_, kernel) = rt.kernel(&function)?;
        let dynamic = rt.host.device.machine.core.lds_bytes.saturating_sub(kernel.lds_bytes);
        // HIP_FUNC_ATTRIBUTE_…, one after the other.
        let value = match attribute {
            0 => props::MAX_BLOCK,
            1 => kernel.lds_bytes as c_int,
            2 => 0,
            3 => kernel.scratch_bytes as c_int,
            4 => kernel.descriptor.vgprs() as c_int,
            5 | 6 => 80,
            7 => 0,
            8 => dynamic as c_int,
            9 => 0,
            _ => return Err(Code::INVALID_VALUE.into()),
        };
        // SAFETY: the program passes room for the result.
        unsafe { put(to, value) }
    })
}

/// Preferences change nothing on this machine; all of local memory can always be used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFuncSetAttribute(
    function: *const c_void,
    _attribute: c_int,
    _value: c_int,
) -> c_int {
    call(|rt| rt.function(address(function)).map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFuncSetCacheConfig(_function: *const c_void, _config: c_int) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFuncSetSharedMemConfig(
    _function: *const c_void,
    _config: c_int,
) -> c_int {
    call(|_| Ok(()))
}

fn resident(rt: &mut Runtime, function: *const c_void, threads: c_int, shared: usize) -> Outcome<c_int> {
    let function = rt.function(address(function))?;
    let (_, kernel) = rt.kernel(&function)?;
    let threads = u32::try_from(threads).ok().filter(|&n| n > 0).ok_or(Code::INVALID_VALUE)?;
    Ok(props::groups_per_core(&rt.host.device.machine, &kernel, threads, shared as u64) as c_int)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipOccupancyMaxActiveBlocksPerMultiprocessor(
    to: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, resident(rt, function, threads, shared)?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    to: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
    _flags: c_uint,
) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, resident(rt, function, threads, shared)?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    to: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, resident(rt, function, threads, shared)?) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    to: *mut c_int,
    function: *const c_void,
    threads: c_int,
    shared: usize,
    _flags: c_uint,
) -> c_int {
    // SAFETY: the program passes room for the result.
    call(|rt| unsafe { put(to, resident(rt, function, threads, shared)?) })
}

/// # Safety
/// `grid` and `block` are null or room for a number.
unsafe fn best(
    rt: &mut Runtime,
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared: usize,
    limit: c_int,
) -> Outcome {
    let function = rt.function(address(function))?;
    let (_, kernel) = rt.kernel(&function)?;
    let limit = u32::try_from(limit).map_err(|_| Code::INVALID_VALUE)?;
    let (groups, threads) = props::best_group(&rt.host.device.machine, &kernel, shared as u64, limit);
    // SAFETY: passed on.
    unsafe {
        put(grid, groups as c_int)?;
        put(block, threads as c_int)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared: usize,
    limit: c_int,
) -> c_int {
    // SAFETY: the program passes room for both results.
    call(|rt| unsafe { best(rt, grid, block, function, shared, limit) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared: usize,
    limit: c_int,
) -> c_int {
    // SAFETY: the program passes room for both results.
    call(|rt| unsafe { best(rt, grid, block, function, shared, limit) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid: *mut c_int,
    block: *mut c_int,
    function: *const c_void,
    shared: usize,
    limit: c_int,
    _flags: c_uint,
) -> c_int {
    // SAFETY: the program passes room for both results.
    call(|rt| unsafe { best(rt, grid, block, function, shared, limit) })
}
