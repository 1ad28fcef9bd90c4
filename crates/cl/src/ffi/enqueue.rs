//! Commands that move bytes: reads, writes, copies, fills, maps.

use super::base::{address, code, create, read_list};
use super::work::{Ask, submit};
use crate::buffers::{HOST_NO_ACCESS, HOST_READ_ONLY, HOST_WRITE_ONLY, MAP_WRITE_ALL};
use crate::codes::{Code, Outcome, refuse};
use crate::objects::Buffer;
use crate::runtime::Runtime;
use crate::state::Work;
use std::ffi::c_void;

const READ: u32 = 0x11F3;
const WRITE: u32 = 0x11F4;
const COPY: u32 = 0x11F5;
const MAP: u32 = 0x11FB;
const UNMAP: u32 = 0x11FD;
const MIGRATE: u32 = 0x1206;
const FILL: u32 = 0x1207;

/// A buffer of the queue's context.
pub(super) fn in_context(rt: &Runtime, buffer: *mut c_void, context: u64) -> Outcome<u64> {
    let buffer = address(buffer);
    match rt.objects.get::<Buffer>(buffer)?.context == context {
        true => Ok(buffer),
        false => refuse(Code::INVALID_CONTEXT),
    }
}

pub(super) unsafe extern "C" fn clEnqueueReadBuffer(
    queue: *mut c_void,
    buffer: *mut c_void,
    blocking: u32,
    offset: usize,
    bytes: usize,
    to: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says, and memory that lasts until the command is done.
    code(unsafe {
        Ask::new(queue, READ, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let (bytes, dst) = (bytes as u64, address(to));
                let src = rt.part(buffer, offset as u64, bytes, HOST_WRITE_ONLY | HOST_NO_ACCESS)?;
                if dst == 0 {
                    return refuse(Code::INVALID_VALUE);
                }
                Ok((vec![buffer], Work::Copy { dst, src, bytes }, ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueWriteBuffer(
    queue: *mut c_void,
    buffer: *mut c_void,
    blocking: u32,
    offset: usize,
    bytes: usize,
    from: *const c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: as clEnqueueReadBuffer.
    code(unsafe {
        Ask::new(queue, WRITE, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let (bytes, src) = (bytes as u64, address(from));
                let dst = rt.part(buffer, offset as u64, bytes, HOST_READ_ONLY | HOST_NO_ACCESS)?;
                if src == 0 {
                    return refuse(Code::INVALID_VALUE);
                }
                Ok((vec![buffer], Work::Copy { dst, src, bytes }, ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueCopyBuffer(
    queue: *mut c_void,
    from: *mut c_void,
    to: *mut c_void,
    from_offset: usize,
    to_offset: usize,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says.
    code(unsafe {
        Ask::new(queue, COPY, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let (from, to) = (in_context(rt, from, context)?, in_context(rt, to, context)?);
                let bytes = bytes as u64;
                let src = rt.part(from, from_offset as u64, bytes, 0)?;
                let dst = rt.part(to, to_offset as u64, bytes, 0)?;
                if src.abs_diff(dst) < bytes {
                    return refuse(Code::MEM_COPY_OVERLAP);
                }
                Ok((vec![from, to], Work::Copy { dst, src, bytes }, ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueFillBuffer(
    queue: *mut c_void,
    buffer: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    offset: usize,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list and a pattern as it says.
    code(unsafe {
        Ask::new(queue, FILL, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let pattern = checked_pattern(pattern, pattern_size, bytes)?;
                if !offset.is_multiple_of(pattern_size) {
                    return refuse(Code::INVALID_VALUE);
                }
                let dst = rt.part(buffer, offset as u64, bytes as u64, 0)?;
                Ok((vec![buffer], Work::Fill { dst, pattern, bytes: bytes as u64 }, ()))
            })
        })
    })
}

/// A pattern of 1, 2, 4 … 128 bytes that fills a range.
///
/// # Safety
/// `pattern` is null or points to `size` bytes.
pub(super) unsafe fn checked_pattern(pattern: *const c_void, size: usize, bytes: usize) -> Outcome<Vec<u8>> {
    if pattern.is_null() || !size.is_power_of_two() || size > 128 || !bytes.is_multiple_of(size) {
        return refuse(Code::INVALID_VALUE);
    }
    // SAFETY: passed on.
    Ok(unsafe { read_list(size, pattern.cast()) })
}

pub(super) unsafe extern "C" fn clEnqueueMapBuffer(
    queue: *mut c_void,
    buffer: *mut c_void,
    blocking: u32,
    flags: u64,
    offset: usize,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a list as it says, and room for the code.
    unsafe {
        let mapped = Ask::new(queue, MAP, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let bytes = bytes as u64;
                let (dst, src) = rt.map(buffer, flags, offset as u64, bytes)?;
                rt.host.mapped(src, bytes);
                let work = match dst == src || flags & MAP_WRITE_ALL != 0 {
                    true => Work::Nothing,
                    false => Work::Copy { dst, src, bytes },
                };
                Ok((vec![buffer], work, dst))
            })
        });
        create(error, mapped)
    }
}

pub(super) unsafe extern "C" fn clEnqueueUnmapMemObject(
    queue: *mut c_void,
    buffer: *mut c_void,
    mapped: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says; memory that a buffer stands for lasts as long as the buffer.
    code(unsafe {
        Ask::new(queue, UNMAP, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let buffer = in_context(rt, buffer, context)?;
                let (map, dst) = rt.unmap(buffer, address(mapped))?;
                let written = map.flags & 6 != 0 && map.pointer != dst;
                let work = match written {
                    true => Work::Copy { dst, src: map.pointer, bytes: map.bytes },
                    false => Work::Nothing,
                };
                Ok((vec![buffer], work, ()))
            })
        })
    })
}

/// Memory is where it is needed.
pub(super) unsafe extern "C" fn clEnqueueMigrateMemObjects(
    queue: *mut c_void,
    buffers: u32,
    handles: *const *mut c_void,
    flags: u64,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says.
    code(unsafe {
        Ask::new(queue, MIGRATE, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let handles = read_list(buffers as usize, handles);
                if handles.is_empty() || flags & !3 != 0 {
                    return refuse(Code::INVALID_VALUE);
                }
                let holds = handles.into_iter().map(|b| in_context(rt, b, context));
                Ok((holds.collect::<Outcome<Vec<u64>>>()?, Work::Nothing, ()))
            })
        })
    })
}
