//! Platform and device.

use super::base::{ENTRY, address, answer, call, pointer, put, read_text, with};
use crate::codes::{Code, Outcome, refuse};
use std::ffi::{c_char, c_void};

/// A list of one.
///
/// # Safety
/// `list` is null or room for `room` handles, `found` null or room for a number.
unsafe fn only(handle: u64, room: u32, list: *mut *mut c_void, found: *mut u32) -> Outcome {
    if (list.is_null() && found.is_null()) || (room == 0 && !list.is_null()) {
        return refuse(Code::INVALID_VALUE);
    }
    // SAFETY: passed on.
    unsafe {
        put(list, pointer(handle));
        put(found, 1);
    }
    Ok(())
}

pub(super) unsafe extern "C" fn clGetPlatformIDs(room: u32, list: *mut *mut c_void, found: *mut u32) -> i32 {
    // SAFETY: the program passes room as it says.
    call(|rt| unsafe { only(rt.objects.platform, room, list, found) })
}

pub(super) unsafe extern "C" fn clGetPlatformInfo(
    platform: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        if !platform.is_null() && address(platform) != rt.objects.platform {
            return refuse(Code::INVALID_PLATFORM);
        }
        // SAFETY: the program passes room as it says.
        unsafe { answer(&rt.platform_info(name)?, size, to, wanted) }
    })
}

pub(super) unsafe extern "C" fn clGetDeviceIDs(
    platform: *mut c_void,
    kind: u64,
    room: u32,
    list: *mut *mut c_void,
    found: *mut u32,
) -> i32 {
    call(|rt| {
        if !platform.is_null() && address(platform) != rt.objects.platform {
            return refuse(Code::INVALID_PLATFORM);
        }
        // The default device, a GPU; CPU, accelerator and custom are others.
        const KINDS: u64 = 0x1f;
        if kind == 0 || (kind != 0xffff_ffff && kind & !KINDS != 0) {
            return refuse(Code::INVALID_DEVICE_TYPE);
        }
        // SAFETY: the program passes room as it says.
        unsafe {
            if kind & 5 == 0 {
                put(found, 0);
                return refuse(Code::DEVICE_NOT_FOUND);
            }
            only(rt.objects.device, room, list, found)
        }
    })
}

pub(super) unsafe extern "C" fn clGetDeviceInfo(
    device: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        rt.objects.is_device(address(device))?;
        // SAFETY: the program passes room as it says.
        unsafe { answer(&rt.device_info(name)?, size, to, wanted) }
    })
}

/// There is one device, which has no parts.
pub(super) unsafe extern "C" fn clCreateSubDevices(
    device: *mut c_void,
    _properties: *const isize,
    _room: u32,
    _list: *mut *mut c_void,
    _found: *mut u32,
) -> i32 {
    call(|rt| {
        rt.objects.is_device(address(device))?;
        refuse(Code::INVALID_VALUE)
    })
}

/// Devices that are no parts are not counted.
pub(super) unsafe extern "C" fn clRetainDevice(device: *mut c_void) -> i32 {
    call(|rt| rt.objects.is_device(address(device)))
}

pub(super) unsafe extern "C" fn clReleaseDevice(device: *mut c_void) -> i32 {
    call(|rt| rt.objects.is_device(address(device)))
}

/// Simulated time is the only one: both clocks show it.
pub(super) unsafe extern "C" fn clGetDeviceAndHostTimer(
    device: *mut c_void,
    ours: *mut u64,
    host: *mut u64,
) -> i32 {
    call(|rt| {
        rt.objects.is_device(address(device))?;
        if ours.is_null() || host.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        let now = rt.nanoseconds(rt.host.now);
        // SAFETY: room for both.
        unsafe {
            put(ours, now);
            put(host, now);
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clGetHostTimer(device: *mut c_void, host: *mut u64) -> i32 {
    call(|rt| {
        rt.objects.is_device(address(device))?;
        if host.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: room for the result.
        unsafe { put(host, rt.nanoseconds(rt.host.now)) };
        Ok(())
    })
}

/// A function by its name.
pub(super) unsafe extern "C" fn clGetExtensionFunctionAddress(name: *const c_char) -> *mut c_void {
    // SAFETY: the program passes a string.
    let name = unsafe { read_text(name) };
    match (ENTRY.get(), name) {
        (Some(entry), Some(name)) => (entry.function)(&name),
        _ => std::ptr::null_mut(),
    }
}

pub(super) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: *mut c_void,
    name: *const c_char,
) -> *mut c_void {
    let ours = with(|rt| Ok(address(platform) == rt.objects.platform));
    match ours {
        // SAFETY: passed on.
        Ok(true) => unsafe { clGetExtensionFunctionAddress(name) },
        _ => std::ptr::null_mut(),
    }
}
