//! Buffers.

use super::base::{address, answer, call, create, read_properties, with};
use crate::buffers::{COPY_HOST, USE_HOST};
use crate::codes::{Code, Outcome, refuse};
use crate::objects::Buffer;
use crate::runtime::Runtime;
use std::ffi::c_void;
use wb_host::ffi::move_bytes;

/// A buffer with what the program wants to be in it.
///
/// # Safety
/// `host` is null or points to `bytes` bytes.
unsafe fn new_buffer(
    rt: &mut Runtime,
    context: *mut c_void,
    properties: Vec<u64>,
    flags: u64,
    bytes: usize,
    host: *mut c_void,
) -> Outcome<u64> {
    let handle = rt.create_buffer(address(context), properties, flags, bytes as u64, address(host))?;
    let addr = rt.objects.get::<Buffer>(handle)?.addr;
    if flags & (USE_HOST | COPY_HOST) != 0 && addr != address(host) {
        // SAFETY: the buffer has that many bytes, and the program promises its own.
        unsafe { move_bytes(addr, address(host), bytes as u64) };
        rt.host.filled(addr, bytes as u64);
    }
    Ok(handle)
}

pub(super) unsafe extern "C" fn clCreateBuffer(
    context: *mut c_void,
    flags: u64,
    bytes: usize,
    host: *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes memory as it says, and room for the code.
    unsafe { create(error, with(|rt| new_buffer(rt, context, Vec::new(), flags, bytes, host))) }
}

pub(super) unsafe extern "C" fn clCreateBufferWithProperties(
    context: *mut c_void,
    properties: *const u64,
    flags: u64,
    bytes: usize,
    host: *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: as clCreateBuffer, and a list that ends.
    unsafe {
        let properties = read_properties(properties);
        create(error, with(|rt| new_buffer(rt, context, properties, flags, bytes, host)))
    }
}

/// `CL_BUFFER_CREATE_TYPE_REGION`.
const REGION: u32 = 0x1220;

pub(super) unsafe extern "C" fn clCreateSubBuffer(
    buffer: *mut c_void,
    flags: u64,
    kind: u32,
    region: *const [usize; 2],
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a region, and room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Buffer>(address(buffer))?;
            if kind != REGION || region.is_null() {
                return refuse(Code::INVALID_VALUE);
            }
            let [origin, bytes] = region.read_unaligned();
            rt.create_sub_buffer(address(buffer), flags, origin as u64, bytes as u64)
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clRetainMemObject(buffer: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Buffer>(address(buffer)))
}

pub(super) unsafe extern "C" fn clReleaseMemObject(buffer: *mut c_void) -> i32 {
    call(|rt| rt.release::<Buffer>(address(buffer)))
}

pub(super) unsafe extern "C" fn clGetMemObjectInfo(
    buffer: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    // SAFETY: the program passes room as it says.
    call(|rt| unsafe { answer(&rt.buffer_info(address(buffer), name)?, size, to, wanted) })
}

pub(super) unsafe extern "C" fn clSetMemObjectDestructorCallback(
    buffer: *mut c_void,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| {
        let buffer = rt.objects.get_mut::<Buffer>(address(buffer))?;
        if function.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        buffer.destructors.push((address(function), address(data)));
        Ok(())
    })
}
