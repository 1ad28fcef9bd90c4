//! Contexts and queues.

use super::base::{address, answer, call, code, create, put, read_list, read_properties, with};
use super::work::{drive, wait};
use crate::codes::{Code, Outcome, refuse};
use crate::info::{list, uint, ulong, unknown};
use crate::objects::{Context, OUT_OF_ORDER, Object, PROFILING, Queue};
use crate::runtime::Runtime;
use std::ffi::c_void;

/// `CL_CONTEXT_PLATFORM` and `CL_CONTEXT_INTEROP_USER_SYNC`.
const PLATFORM: isize = 0x1084;
const USER_SYNC: isize = 0x1085;

fn new_context(rt: &mut Runtime, properties: Vec<isize>) -> Outcome<u64> {
    let (pairs, _) = properties.as_chunks::<2>();
    for (at, [name, value]) in pairs.iter().enumerate() {
        match *name {
            PLATFORM if *value as u64 != rt.objects.platform => return refuse(Code::INVALID_PLATFORM),
            PLATFORM | USER_SYNC if pairs[..at].iter().all(|p| p[0] != *name) => {}
            _ => return refuse(Code::INVALID_PROPERTY),
        }
    }
    Ok(rt.objects.insert(Object::Context(Context { properties, destructors: Vec::new() })))
}

pub(super) unsafe extern "C" fn clCreateContext(
    properties: *const isize,
    count: u32,
    devices: *const *mut c_void,
    notify: *const c_void,
    data: *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes lists as it says, and room for the code.
    unsafe {
        let made = with(|rt| {
            let devices = read_list(count as usize, devices);
            if devices.is_empty() || (notify.is_null() && !data.is_null()) {
                return refuse(Code::INVALID_VALUE);
            }
            devices.iter().try_for_each(|d| rt.objects.is_device(address(*d)))?;
            new_context(rt, read_properties(properties))
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clCreateContextFromType(
    properties: *const isize,
    kind: u64,
    notify: *const c_void,
    data: *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a list that ends, and room for the code.
    unsafe {
        let made = with(|rt| {
            if notify.is_null() && !data.is_null() {
                return refuse(Code::INVALID_VALUE);
            }
            if kind == 0 || (kind != 0xffff_ffff && kind & !0x1f != 0) {
                return refuse(Code::INVALID_DEVICE_TYPE);
            }
            if kind & 5 == 0 {
                return refuse(Code::DEVICE_NOT_FOUND);
            }
            new_context(rt, read_properties(properties))
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clRetainContext(context: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Context>(address(context)))
}

pub(super) unsafe extern "C" fn clReleaseContext(context: *mut c_void) -> i32 {
    call(|rt| rt.release::<Context>(address(context)))
}

pub(super) unsafe extern "C" fn clSetContextDestructorCallback(
    context: *mut c_void,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| {
        let context = rt.objects.get_mut::<Context>(address(context))?;
        if function.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        context.destructors.push((address(function), address(data)));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clGetContextInfo(
    context: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        let of = rt.objects.get::<Context>(address(context))?;
        let bytes = match name {
            // CL_CONTEXT_REFERENCE_COUNT, _DEVICES, _PROPERTIES, _NUM_DEVICES
            0x1080 => uint(rt.objects.count(address(context))),
            0x1081 => ulong(rt.objects.device),
            0x1082 => list(&of.properties.iter().map(|p| *p as u64).collect::<Vec<_>>()),
            0x1083 => uint(1),
            _ => unknown(),
        }?;
        // SAFETY: the program passes room as it says.
        unsafe { answer(&bytes, size, to, wanted) }
    })
}

fn new_queue(
    rt: &mut Runtime,
    context: *mut c_void,
    device: *mut c_void,
    properties: u64,
    list: Option<Vec<u64>>,
) -> Outcome<u64> {
    let context = address(context);
    rt.objects.get::<Context>(context)?;
    rt.objects.is_device(address(device))?;
    // On the device there are no queues.
    const DEVICE: u64 = 4 | 8;
    if properties & !(OUT_OF_ORDER | PROFILING | DEVICE) != 0 {
        return refuse(Code::INVALID_VALUE);
    }
    if properties & DEVICE != 0 {
        return refuse(Code::INVALID_QUEUE_PROPERTIES);
    }
    rt.objects.retain(context);
    Ok(rt.objects.insert(Object::Queue(Queue { context, properties, list, last: None })))
}

pub(super) unsafe extern "C" fn clCreateCommandQueue(
    context: *mut c_void,
    device: *mut c_void,
    properties: u64,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: room for the code.
    unsafe { create(error, with(|rt| new_queue(rt, context, device, properties, None))) }
}

pub(super) unsafe extern "C" fn clCreateCommandQueueWithProperties(
    context: *mut c_void,
    device: *mut c_void,
    properties: *const u64,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a list that ends, and room for the code.
    unsafe {
        let made = with(|rt| {
            let list = read_properties(properties);
            let mut flags = 0;
            for [name, value] in list.as_chunks::<2>().0 {
                match name {
                    // CL_QUEUE_PROPERTIES; CL_QUEUE_SIZE is of queues on the device.
                    0x1093 => flags = *value,
                    0x1094 => return refuse(Code::INVALID_QUEUE_PROPERTIES),
                    _ => return refuse(Code::INVALID_VALUE),
                }
            }
            new_queue(rt, context, device, flags, Some(list))
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clRetainCommandQueue(queue: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Queue>(address(queue)))
}

pub(super) unsafe extern "C" fn clReleaseCommandQueue(queue: *mut c_void) -> i32 {
    call(|rt| rt.release::<Queue>(address(queue)))
}

pub(super) unsafe extern "C" fn clGetCommandQueueInfo(
    queue: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        let of = rt.objects.get::<Queue>(address(queue))?;
        let bytes = match name {
            // CL_QUEUE_CONTEXT, _DEVICE, _REFERENCE_COUNT, _PROPERTIES, _DEVICE_DEFAULT, _PROPERTIES_ARRAY
            0x1090 => ulong(of.context),
            0x1091 => ulong(rt.objects.device),
            0x1092 => uint(rt.objects.count(address(queue))),
            0x1093 => ulong(of.properties),
            // CL_QUEUE_SIZE is of queues on the device.
            0x1094 => return refuse(Code::INVALID_COMMAND_QUEUE),
            0x1095 => ulong(0),
            0x1098 => list(of.list.as_deref().unwrap_or_default()),
            _ => unknown(),
        }?;
        // SAFETY: the program passes room as it says.
        unsafe { answer(&bytes, size, to, wanted) }
    })
}

pub(super) unsafe extern "C" fn clSetCommandQueueProperty(
    queue: *mut c_void,
    properties: u64,
    enable: u32,
    old: *mut u64,
) -> i32 {
    call(|rt| {
        let queue = rt.objects.get_mut::<Queue>(address(queue))?;
        if properties & !(OUT_OF_ORDER | PROFILING) != 0 {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: null or room.
        unsafe { put(old, queue.properties) };
        match enable {
            0 => queue.properties &= !properties,
            _ => queue.properties |= properties,
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clSetDefaultDeviceCommandQueue(
    context: *mut c_void,
    device: *mut c_void,
    _queue: *mut c_void,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Context>(address(context))?;
        rt.objects.is_device(address(device))?;
        refuse(Code::INVALID_OPERATION)
    })
}

/// Work is done as soon as nothing is in its way.
pub(super) unsafe extern "C" fn clFlush(queue: *mut c_void) -> i32 {
    let known = with(|rt| rt.objects.get::<Queue>(address(queue)).map(drop));
    drive();
    code(known)
}

pub(super) unsafe extern "C" fn clFinish(queue: *mut c_void) -> i32 {
    let queue = address(queue);
    let left = with(|rt| {
        rt.objects.get::<Queue>(queue)?;
        Ok(rt.pending_of(queue))
    });
    code(left.map(|left| _ = wait(&left)))
}
