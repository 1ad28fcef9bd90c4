//! Events, markers and barriers.

use super::base::{address, answer, call, code, create, read_list, with};
use super::work::{Ask, drive, submit, wait};
use crate::codes::{Code, Outcome, refuse};
use crate::commands::{BARRIER, MARKER};
use crate::info::{uint, ulong, unknown};
use crate::objects::{COMPLETE, Event, PROFILING, Queue};
use crate::state::Work;
use std::ffi::c_void;

pub(super) unsafe extern "C" fn clWaitForEvents(count: u32, list: *const *mut c_void) -> i32 {
    // SAFETY: the program passes a list as it says.
    let events: Vec<u64> =
        unsafe { read_list(count as usize, list) }.into_iter().map(|p| address(p)).collect();
    let known = with(|rt| {
        if events.is_empty() {
            return refuse(Code::INVALID_VALUE);
        }
        let mut first = None;
        for event in &events {
            let context = rt.objects.get::<Event>(*event)?.context;
            if *first.get_or_insert(context) != context {
                return refuse(Code::INVALID_CONTEXT);
            }
        }
        Ok(())
    });
    code(known.and_then(|()| match wait(&events) {
        0 => Ok(()),
        _ => refuse(Code::EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    }))
}

pub(super) unsafe extern "C" fn clGetEventInfo(
    event: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        let of = rt.objects.get::<Event>(address(event))?;
        let bytes = match name {
            // CL_EVENT_COMMAND_QUEUE, _COMMAND_TYPE, _REFERENCE_COUNT, _COMMAND_EXECUTION_STATUS, _CONTEXT
            0x11D0 => ulong(of.queue.unwrap_or(0)),
            0x11D1 => uint(of.kind),
            0x11D2 => uint(rt.objects.count(address(event))),
            0x11D3 => uint(of.status as u32),
            0x11D4 => ulong(of.context),
            _ => unknown(),
        }?;
        // SAFETY: the program passes room as it says.
        unsafe { answer(&bytes, size, to, wanted) }
    })
}

pub(super) unsafe extern "C" fn clGetEventProfilingInfo(
    event: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        let of = rt.objects.get::<Event>(address(event))?;
        let profiled =
            |queue: u64| rt.objects.get::<Queue>(queue).is_ok_and(|q| q.properties & PROFILING != 0);
        if of.status != COMPLETE || !of.queue.is_some_and(profiled) {
            return refuse(Code::PROFILING_INFO_NOT_AVAILABLE);
        }
        let time = match name {
            // CL_PROFILING_COMMAND_QUEUED, _SUBMIT, _START, _END, _COMPLETE
            0x1280..=0x1283 => of.times[(name - 0x1280) as usize],
            0x1284 => of.times[3],
            _ => return unknown().map(drop),
        };
        // SAFETY: the program passes room as it says.
        unsafe { answer(&rt.nanoseconds(time).to_le_bytes(), size, to, wanted) }
    })
}

pub(super) unsafe extern "C" fn clRetainEvent(event: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Event>(address(event)))
}

pub(super) unsafe extern "C" fn clReleaseEvent(event: *mut c_void) -> i32 {
    call(|rt| rt.release::<Event>(address(event)))
}

pub(super) unsafe extern "C" fn clCreateUserEvent(context: *mut c_void, error: *mut i32) -> *mut c_void {
    // SAFETY: room for the code.
    unsafe { create(error, with(|rt| rt.create_user_event(address(context)))) }
}

pub(super) unsafe extern "C" fn clSetUserEventStatus(event: *mut c_void, status: i32) -> i32 {
    let set = with(|rt| rt.set_user_status(address(event), status));
    drive();
    code(set)
}

pub(super) unsafe extern "C" fn clSetEventCallback(
    event: *mut c_void,
    at: i32,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| rt.set_callback(address(event), at, address(function), address(data)))
}

/// # Safety
/// `list` is null or points to `count` handles, `event` is null or room for one.
unsafe fn nothing(
    queue: *mut c_void,
    kind: u32,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> Outcome {
    // SAFETY: passed on.
    unsafe { submit(Ask::new(queue, kind, count, list, event)?, |_, _| Ok((Vec::new(), Work::Nothing, ()))) }
}

pub(super) unsafe extern "C" fn clEnqueueMarkerWithWaitList(
    queue: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says.
    code(unsafe { nothing(queue, MARKER, count, list, event) })
}

pub(super) unsafe extern "C" fn clEnqueueBarrierWithWaitList(
    queue: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says.
    code(unsafe { nothing(queue, BARRIER, count, list, event) })
}

pub(super) unsafe extern "C" fn clEnqueueMarker(queue: *mut c_void, event: *mut *mut c_void) -> i32 {
    if event.is_null() {
        return Code::INVALID_VALUE.0;
    }
    // SAFETY: there is no list.
    code(unsafe { nothing(queue, MARKER, 0, std::ptr::null(), event) })
}

pub(super) unsafe extern "C" fn clEnqueueBarrier(queue: *mut c_void) -> i32 {
    // SAFETY: there is no list.
    code(unsafe { nothing(queue, BARRIER, 0, std::ptr::null(), std::ptr::null_mut()) })
}

/// Later work of the queue waits for these events.
pub(super) unsafe extern "C" fn clEnqueueWaitForEvents(
    queue: *mut c_void,
    count: u32,
    list: *const *mut c_void,
) -> i32 {
    if count == 0 || list.is_null() {
        return Code::INVALID_VALUE.0;
    }
    // SAFETY: the program passes a list as it says.
    match code(unsafe { nothing(queue, BARRIER, count, list, std::ptr::null_mut()) }) {
        // The older function has a name of its own for this.
        wrong if wrong == Code::INVALID_EVENT_WAIT_LIST.0 => Code::INVALID_EVENT.0,
        other => other,
    }
}
