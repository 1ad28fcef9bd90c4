//! Allocation in all of HIP's forms, and what pointers are.

use super::copy::{Extent, Pitched};
use super::{address, call, pointer, put};
use crate::errors::{Code, Failure, Outcome};
use crate::memory::PITCH;
use crate::runtime::Runtime;
use crate::state::Kind;
use std::ffi::{c_int, c_uint, c_void};

/// # Safety
/// `to` is null or room for a pointer.
unsafe fn allocate(
    rt: &mut Runtime,
    to: *mut *mut c_void,
    bytes: usize,
    kind: Kind,
    flags: c_uint,
) -> Outcome {
    if to.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    let addr = rt.malloc(bytes as u64, kind, flags)?;
    // SAFETY: passed on.
    unsafe { put(to, pointer(addr)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMalloc(to: *mut *mut c_void, bytes: usize) -> c_int {
    // SAFETY: the program passes room for a pointer; so in all functions below.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Device, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipExtMallocWithFlags(
    to: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Device, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMallocManaged(
    to: *mut *mut c_void,
    bytes: usize,
    flags: c_uint,
) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Managed, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostMalloc(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Host, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostAlloc(to: *mut *mut c_void, bytes: usize, flags: c_uint) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Host, flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMallocHost(to: *mut *mut c_void, bytes: usize) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Host, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemAllocHost(to: *mut *mut c_void, bytes: usize) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Host, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMallocAsync(
    to: *mut *mut c_void,
    bytes: usize,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Device, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMallocFromPoolAsync(
    to: *mut *mut c_void,
    bytes: usize,
    _pool: *mut c_void,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: as hipMalloc.
    call(|rt| unsafe { allocate(rt, to, bytes, Kind::Device, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFree(ptr: *mut c_void) -> c_int {
    call(|rt| rt.free(address(ptr)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFreeAsync(ptr: *mut c_void, _stream: *mut c_void) -> c_int {
    call(|rt| rt.free(address(ptr)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostFree(ptr: *mut c_void) -> c_int {
    call(|rt| rt.free(address(ptr)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipFreeHost(ptr: *mut c_void) -> c_int {
    call(|rt| rt.free(address(ptr)))
}

/// Rows at multiples of the pitch; returns it.
///
/// # Safety
/// `to` and `pitch` are null or room for their values.
unsafe fn pitched(
    rt: &mut Runtime,
    to: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    rows: usize,
) -> Outcome<usize> {
    let row = (width as u64).checked_next_multiple_of(PITCH).ok_or(Code::OUT_OF_MEMORY)? as usize;
    let bytes = row.checked_mul(rows).ok_or(Code::OUT_OF_MEMORY)?;
    // SAFETY: passed on.
    unsafe {
        allocate(rt, to, bytes, Kind::Device, 0)?;
        put(pitch, row)?;
    }
    Ok(row)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMallocPitch(
    to: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> c_int {
    // SAFETY: the program passes room for both.
    call(|rt| unsafe { pitched(rt, to, pitch, width, height) }.map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemAllocPitch(
    to: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
    _element: c_uint,
) -> c_int {
    // SAFETY: the program passes room for both.
    call(|rt| unsafe { pitched(rt, to, pitch, width, height) }.map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMalloc3D(to: *mut Pitched, extent: Extent) -> c_int {
    call(|rt| {
        let (mut at, mut pitch) = (std::ptr::null_mut(), 0);
        let rows = extent.height.checked_mul(extent.depth).ok_or(Code::OUT_OF_MEMORY)?;
        // SAFETY: our own variables, then the program's.
        unsafe {
            pitched(rt, &mut at, &mut pitch, extent.width, rows)?;
            put(to, Pitched { at, pitch, width: extent.width, height: extent.height })
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_int {
    call(|rt| {
        let heap = rt.host.device.heap();
        // SAFETY: the program passes room for both.
        unsafe {
            put(free, heap.available() as usize)?;
            put(total, heap.total() as usize)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemGetAddressRange(
    base: *mut *mut c_void,
    size: *mut usize,
    ptr: *mut c_void,
) -> c_int {
    call(|rt| {
        let (at, bytes, ..) = rt.allocation(address(ptr)).ok_or(Code::NOT_FOUND)?;
        // SAFETY: the program passes room for both.
        unsafe {
            put(base, pointer(at))?;
            put(size, bytes as usize)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemPtrGetInfo(ptr: *mut c_void, size: *mut usize) -> c_int {
    call(|rt| {
        let (_, bytes, ..) = rt.allocation(address(ptr)).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the program passes room for it.
        unsafe { put(size, bytes as usize) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostGetDevicePointer(
    to: *mut *mut c_void,
    host: *mut c_void,
    _flags: c_uint,
) -> c_int {
    call(|rt| {
        let addr = rt.device_view(address(host)).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the program passes room for a pointer.
        unsafe { put(to, pointer(addr)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostGetFlags(to: *mut c_uint, host: *mut c_void) -> c_int {
    call(|rt| {
        let (.., flags) = rt.allocation(address(host)).ok_or(Code::INVALID_VALUE)?;
        // SAFETY: the program passes room for a number.
        unsafe { put(to, flags) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostRegister(host: *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    call(|rt| rt.register(address(host), bytes as u64))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipHostUnregister(host: *mut c_void) -> c_int {
    call(|rt| rt.unregister(address(host)))
}

/// `hipPointerAttribute_t`.
#[repr(C)]
pub struct Attributes {
    memory_type: c_int,
    device: c_int,
    device_pointer: *mut c_void,
    host_pointer: *mut c_void,
    managed: c_int,
    flags: c_uint,
}

fn attributes(rt: &Runtime, ptr: *const c_void, types: [c_int; 3]) -> Result<Attributes, Failure> {
    let device = rt.device_view(address(ptr)).ok_or(Code::INVALID_VALUE)?;
    let (_, _, kind, flags) = rt.allocation(device).ok_or(Code::INVALID_VALUE)?;
    let [on_device, managed, on_host] = types;
    Ok(Attributes {
        memory_type: match kind {
            Kind::Device => on_device,
            Kind::Managed => managed,
            _ => on_host,
        },
        device: 0,
        device_pointer: pointer(device),
        host_pointer: if kind == Kind::Device { std::ptr::null_mut() } else { ptr.cast_mut() },
        managed: c_int::from(kind == Kind::Managed),
        flags,
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipPointerGetAttributes(to: *mut Attributes, ptr: *const c_void) -> c_int {
    // SAFETY: the program passes room for it.
    call(|rt| unsafe { put(to, attributes(rt, ptr, [1, 0, 0])?) })
}

/// The same for HIP 6, which has other numbers for kinds of memory, and one for what is none of ours.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipPointerGetAttributesR0600(
    to: *mut Attributes,
    ptr: *const c_void,
) -> c_int {
    let none = Attributes {
        memory_type: 0,
        device: -2,
        device_pointer: std::ptr::null_mut(),
        host_pointer: std::ptr::null_mut(),
        managed: 0,
        flags: 0,
    };
    // SAFETY: the program passes room for it.
    call(|rt| unsafe { put(to, attributes(rt, ptr, [2, 3, 1]).unwrap_or(none)) })
}

/// There is one pool, and it is the heap.
const POOL: u64 = 0x40;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetDefaultMemPool(to: *mut *mut c_void, device: c_int) -> c_int {
    call(|_| match device {
        // SAFETY: the program passes room for a handle.
        0 => unsafe { put(to, pointer(POOL)) },
        _ => Err(Code::INVALID_DEVICE.into()),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetMemPool(to: *mut *mut c_void, device: c_int) -> c_int {
    // SAFETY: the same interface.
    unsafe { wavebound_hipDeviceGetDefaultMemPool(to, device) }
}

fn pool(handle: *mut c_void) -> Outcome {
    if address(handle) == POOL { Ok(()) } else { Err(Code::INVALID_VALUE.into()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceSetMemPool(_device: c_int, handle: *mut c_void) -> c_int {
    call(|_| pool(handle))
}

/// Thresholds and reuse policies make no difference here.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemPoolSetAttribute(
    handle: *mut c_void,
    _attribute: c_int,
    _value: *mut c_void,
) -> c_int {
    call(|_| pool(handle))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipMemPoolTrimTo(handle: *mut c_void, _keep: usize) -> c_int {
    call(|_| pool(handle))
}
