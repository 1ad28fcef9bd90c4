//! Streams and events.

use super::{address, call, pointer, put};
use crate::errors::{Code, Outcome};
use crate::runtime::Runtime;
use std::ffi::{c_int, c_uint, c_void};

/// # Safety
/// `to` is null or room for a handle.
unsafe fn new_stream(rt: &mut Runtime, to: *mut *mut c_void, flags: c_uint, priority: c_int) -> Outcome {
    if to.is_null() {
        return Err(Code::INVALID_VALUE.into());
    }
    // SAFETY: passed on.
    unsafe { put(to, pointer(rt.stream_create(flags, priority))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamCreate(to: *mut *mut c_void) -> c_int {
    // SAFETY: the program passes room for the result; so in all functions below.
    call(|rt| unsafe { new_stream(rt, to, 0, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamCreateWithFlags(to: *mut *mut c_void, flags: c_uint) -> c_int {
    // SAFETY: room for the handle.
    call(|rt| unsafe { new_stream(rt, to, flags, 0) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamCreateWithPriority(
    to: *mut *mut c_void,
    flags: c_uint,
    priority: c_int,
) -> c_int {
    // SAFETY: room for the handle.
    call(|rt| unsafe { new_stream(rt, to, flags, priority) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamDestroy(stream: *mut c_void) -> c_int {
    call(|rt| rt.stream_destroy(address(stream)))
}

/// Work is done when it is called, so nothing is ever outstanding; a stream that is being captured cannot be waited for.
fn done(rt: &mut Runtime, stream: *mut c_void) -> Outcome {
    match rt.stream(address(stream))?.capture {
        Some(_) => Err(Code::CAPTURE_UNSUPPORTED.into()),
        None => Ok(()),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamSynchronize(stream: *mut c_void) -> c_int {
    call(|rt| done(rt, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamSynchronize_spt(stream: *mut c_void) -> c_int {
    call(|rt| done(rt, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamQuery(stream: *mut c_void) -> c_int {
    call(|rt| done(rt, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamQuery_spt(stream: *mut c_void) -> c_int {
    call(|rt| done(rt, stream))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamWaitEvent(
    stream: *mut c_void,
    event: *mut c_void,
    _flags: c_uint,
) -> c_int {
    call(|rt| rt.stream_wait(address(stream), address(event)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamGetFlags(stream: *mut c_void, to: *mut c_uint) -> c_int {
    // SAFETY: room for the result.
    call(|rt| unsafe { put(to, rt.stream(address(stream))?.flags) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamGetPriority(stream: *mut c_void, to: *mut c_int) -> c_int {
    // SAFETY: room for the result.
    call(|rt| unsafe { put(to, rt.stream(address(stream))?.priority) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipStreamAttachMemAsync(
    stream: *mut c_void,
    _ptr: *mut c_void,
    _bytes: usize,
    _flags: c_uint,
) -> c_int {
    call(|rt| rt.stream(address(stream)).map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventCreate(to: *mut *mut c_void) -> c_int {
    // SAFETY: room for the handle.
    call(|rt| unsafe { put(to, pointer(rt.event_create(0))) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventCreateWithFlags(to: *mut *mut c_void, flags: c_uint) -> c_int {
    // SAFETY: room for the handle.
    call(|rt| unsafe { put(to, pointer(rt.event_create(flags))) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventDestroy(event: *mut c_void) -> c_int {
    call(|rt| rt.event_destroy(address(event)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    call(|rt| rt.event_record(address(event), address(stream)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventSynchronize(event: *mut c_void) -> c_int {
    call(|rt| rt.event(address(event)).map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventQuery(event: *mut c_void) -> c_int {
    call(|rt| rt.event(address(event)).map(drop))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavebound_hipEventElapsedTime(
    to: *mut f32,
    start: *mut c_void,
    stop: *mut c_void,
) -> c_int {
    // SAFETY: room for the result.
    call(|rt| unsafe { put(to, rt.elapsed(address(start), address(stop))?) })
}
