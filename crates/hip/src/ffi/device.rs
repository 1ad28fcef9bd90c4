//! Devices, contexts, errors and versions. There is one device, and it is the simulated machine.

use super::{LAST, address, call, code, pointer, put};
use crate::errors::{Code, Outcome};
use crate::props::{self, Properties, Properties6};
use std::ffi::{c_char, c_int, c_uint, c_void};

/// The handle of the only context.
const CONTEXT: u64 = 0x20;
/// What programs are told the runtime's version is (HIP 5.2).
const VERSION: c_int = 50_221_153;

fn only(device: c_int) -> Outcome {
    if device == 0 { Ok(()) } else { Err(Code::INVALID_DEVICE.into()) }
}

/// # Safety
/// `to` is null or room for `len` bytes.
unsafe fn put_text(to: *mut c_char, len: c_int, text: &str) -> Outcome {
    let room = usize::try_from(len).ok().filter(|&n| n > 0 && !to.is_null()).ok_or(Code::INVALID_VALUE)?;
    let bytes = &text.as_bytes()[..text.len().min(room - 1)];
    // SAFETY: as many bytes as there is room for, and a zero byte.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast::<u8>(), bytes.len());
        to.add(bytes.len()).write(0);
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipInit(flags: c_uint) -> c_int {
    call(|_| if flags == 0 { Ok(()) } else { Err(Code::INVALID_VALUE.into()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetDeviceCount(to: *mut c_int) -> c_int {
    // SAFETY: the program passes room for the result; so in all functions below.
    call(|_| unsafe { put(to, 1) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetDevice(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipSetDevice(device: c_int) -> c_int {
    call(|_| only(device))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGet(to: *mut c_int, ordinal: c_int) -> c_int {
    call(|_| {
        only(ordinal)?;
        // SAFETY: room for the result.
        unsafe { put(to, 0) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipChooseDevice(to: *mut c_int, _wanted: *const Properties) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

/// Everything was done when it was called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceSynchronize() -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxSynchronize() -> c_int {
    call(|_| Ok(()))
}

/// Memory, streams and events of the program are gone; its code stays.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceReset() -> c_int {
    call(|rt| {
        rt.reset();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetDeviceProperties(to: *mut Properties, device: c_int) -> c_int {
    call(|rt| {
        only(device)?;
        // SAFETY: room for the result.
        unsafe { put(to, props::properties(&rt.host.device.machine, rt.host.device.heap().total())) }
    })
}

/// What programs for HIP 6 call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetDevicePropertiesR0600(to: *mut Properties6, device: c_int) -> c_int {
    call(|rt| {
        only(device)?;
        // SAFETY: room for the result.
        unsafe { put(to, props::properties6(&rt.host.device.machine, rt.host.device.heap().total())) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetAttribute(
    to: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> c_int {
    call(|rt| {
        only(device)?;
        let value = props::attribute(&rt.host.device.machine, rt.host.device.heap().total(), attribute);
        // SAFETY: room for the result.
        unsafe { put(to, value.ok_or(Code::INVALID_VALUE)?) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceTotalMem(to: *mut usize, device: c_int) -> c_int {
    call(|rt| {
        only(device)?;
        // SAFETY: room for the result.
        unsafe { put(to, rt.host.device.heap().total() as usize) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetName(to: *mut c_char, len: c_int, device: c_int) -> c_int {
    call(|rt| {
        only(device)?;
        // SAFETY: room for `len` bytes.
        unsafe { put_text(to, len, &props::name(&rt.host.device.machine)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetPCIBusId(to: *mut c_char, len: c_int, device: c_int) -> c_int {
    call(|_| {
        only(device)?;
        // SAFETY: room for `len` bytes.
        unsafe { put_text(to, len, "0000:01:00.0") }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: c_int,
) -> c_int {
    call(|rt| {
        only(device)?;
        let version = crate::props::version(crate::fatbin::target(&rt.host.device.machine));
        // SAFETY: room for both results.
        unsafe {
            put(major, version / 100)?;
            put(minor, version / 10 % 10)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDriverGetVersion(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, VERSION) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipRuntimeGetVersion(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, VERSION) })
}

/// Limits of the device: only the heap of device-side malloc has one worth telling.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetLimit(to: *mut usize, limit: c_int) -> c_int {
    const MALLOC_HEAP: c_int = 2;
    call(|rt| match limit {
        // SAFETY: room for the result.
        MALLOC_HEAP => unsafe { put(to, rt.host.device.heap().total() as usize) },
        _ => Err(Code::UNSUPPORTED_LIMIT.into()),
    })
}

/// Caches of the machine are as they are: preferences are accepted, as the stock library does on this hardware.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceSetCacheConfig(_config: c_int) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetCacheConfig(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceSetSharedMemConfig(_config: c_int) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetSharedMemConfig(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

/// How the host waits makes no difference: it never does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipSetDeviceFlags(_flags: c_uint) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetDeviceFlags(to: *mut c_uint) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceCanAccessPeer(
    to: *mut c_int,
    device: c_int,
    peer: c_int,
) -> c_int {
    call(|_| {
        only(device)?;
        only(peer)?;
        // SAFETY: room for the result. A device is no peer of its own.
        unsafe { put(to, 0) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceEnablePeerAccess(_peer: c_int, _flags: c_uint) -> c_int {
    call(|_| Err(Code::INVALID_DEVICE.into()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceDisablePeerAccess(_peer: c_int) -> c_int {
    call(|_| Err(Code::PEER_NOT_ENABLED.into()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    most: *mut c_int,
) -> c_int {
    call(|_| {
        // SAFETY: room for both results, or null.
        unsafe {
            if !least.is_null() {
                put(least, 1)?;
            }
            if most.is_null() { Ok(()) } else { put(most, -1) }
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxCreate(
    to: *mut *mut c_void,
    _flags: c_uint,
    device: c_int,
) -> c_int {
    call(|_| {
        only(device)?;
        // SAFETY: room for the handle.
        unsafe { put(to, pointer(CONTEXT)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxDestroy(_context: *mut c_void) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxGetCurrent(to: *mut *mut c_void) -> c_int {
    // SAFETY: room for the handle.
    call(|_| unsafe { put(to, pointer(CONTEXT)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxSetCurrent(_context: *mut c_void) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxPushCurrent(_context: *mut c_void) -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxPopCurrent(to: *mut *mut c_void) -> c_int {
    // SAFETY: room for the handle, or null.
    call(|_| if to.is_null() { Ok(()) } else { unsafe { put(to, pointer(CONTEXT)) } })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipCtxGetDevice(to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|_| unsafe { put(to, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDevicePrimaryCtxRetain(to: *mut *mut c_void, device: c_int) -> c_int {
    call(|_| {
        only(device)?;
        // SAFETY: room for the handle.
        unsafe { put(to, pointer(CONTEXT)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipDevicePrimaryCtxRelease(device: c_int) -> c_int {
    call(|_| only(device))
}

/// Nothing is profiled but by the command.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipProfilerStart() -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipProfilerStop() -> c_int {
    call(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetLastError() -> c_int {
    LAST.replace(Code::SUCCESS).0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipPeekAtLastError() -> c_int {
    LAST.get().0
}

/// Texts end with a zero byte and live as long as the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetErrorString(error: c_int) -> *const c_char {
    Code(error).text().as_ptr().cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetErrorName(error: c_int) -> *const c_char {
    Code(error).name().as_ptr().cast()
}

/// Names of calls are for profilers, which there are none of.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipApiName(_id: u32) -> *const c_char {
    c"unknown".as_ptr()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipGetStreamDeviceId(stream: *mut c_void) -> c_int {
    let known = super::with(|rt| rt.stream(address(stream)));
    match known {
        Ok(_) => 0,
        Err(e) => {
            let _ = code(Err(e));
            -1
        }
    }
}

/// Half precision for the host's own code, which finds these functions here.
#[unsafe(no_mangle)]
pub extern "C" fn wavebound___gnu_f2h_ieee(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

#[unsafe(no_mangle)]
pub extern "C" fn wavebound___gnu_h2f_ieee(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}
