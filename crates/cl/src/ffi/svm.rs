//! Shared virtual memory: device memory is the host's at the same addresses, so that a buffer of it is all there is to it.

use super::base::{address, call, code, pointer, read_list, with};
use super::enqueue::checked_pattern;
use super::work::{Ask, submit};
use crate::codes::{Code, Outcome, refuse};
use crate::objects::Context;
use crate::runtime::Runtime;
use crate::state::Work;
use std::ffi::c_void;

const FREE: u32 = 0x1209;
const MEMCPY: u32 = 0x120A;
const MEMFILL: u32 = 0x120B;
const MAP: u32 = 0x120C;
const UNMAP: u32 = 0x120D;
const MIGRATE: u32 = 0x120E;

pub(super) unsafe extern "C" fn clSVMAlloc(
    context: *mut c_void,
    flags: u64,
    bytes: usize,
    align: u32,
) -> *mut c_void {
    let made = with(|rt| {
        rt.objects.get::<Context>(address(context))?;
        // Fine grain and atomics of it are not there.
        let wrong =
            flags & !7 != 0 || (flags & 7).count_ones() > 1 || !(align == 0 || align.is_power_of_two());
        if wrong || align > 256 || bytes == 0 || bytes as u64 > rt.host.device.heap().total() / 4 {
            return refuse(Code::INVALID_VALUE);
        }
        let addr = rt.allocate(bytes as u64).ok_or(Code::MEM_OBJECT_ALLOCATION_FAILURE)?;
        rt.svm.insert(addr, bytes as u64);
        rt.host.filled(addr, bytes as u64);
        Ok(addr)
    });
    pointer(made.unwrap_or(0))
}

pub(super) unsafe extern "C" fn clSVMFree(context: *mut c_void, shared: *mut c_void) {
    let _ = call(|rt| {
        rt.objects.get::<Context>(address(context))?;
        rt.free_shared(address(shared));
        Ok(())
    });
}

pub(super) unsafe extern "C" fn clEnqueueSVMFree(
    queue: *mut c_void,
    pointers: u32,
    list_of: *mut *mut c_void,
    function: *const c_void,
    data: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says.
    code(unsafe {
        Ask::new(queue, FREE, count, list, event).and_then(|ask| {
            let queue = ask.queue;
            submit(ask, |_, _| {
                let pointers: Vec<u64> = read_list(pointers as usize, list_of.cast_const())
                    .into_iter()
                    .map(|p| address(p))
                    .collect();
                if pointers.is_empty() {
                    return refuse(Code::INVALID_VALUE);
                }
                let work = Work::Free { queue, pointers, function: address(function), data: address(data) };
                Ok((Vec::new(), work, ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueSVMMemcpy(
    queue: *mut c_void,
    blocking: u32,
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says, and memory that lasts until the command is done.
    code(unsafe {
        Ask::new(queue, MEMCPY, count, list, event).and_then(|ask| {
            submit(ask.blocking(blocking), |rt, _| {
                let (dst, src, bytes) = (address(to), address(from), bytes as u64);
                if dst == 0 || src == 0 {
                    return refuse(Code::INVALID_VALUE);
                }
                if bytes > 0 && dst.abs_diff(src) < bytes {
                    return refuse(Code::MEM_COPY_OVERLAP);
                }
                fits(rt, dst, bytes)?;
                fits(rt, src, bytes)?;
                Ok((Vec::new(), Work::Copy { dst, src, bytes }, ()))
            })
        })
    })
}

/// What begins in shared memory must end there; other memory is the program's own.
fn fits(rt: &Runtime, addr: u64, bytes: u64) -> Outcome {
    match rt.shared(addr) {
        Some((at, size)) if bytes > size - (addr - at) => refuse(Code::INVALID_VALUE),
        _ => Ok(()),
    }
}

pub(super) unsafe extern "C" fn clEnqueueSVMMemFill(
    queue: *mut c_void,
    to: *mut c_void,
    pattern: *const c_void,
    pattern_size: usize,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list and a pattern as it says.
    code(unsafe {
        Ask::new(queue, MEMFILL, count, list, event).and_then(|ask| {
            submit(ask, |rt, _| {
                let pattern = checked_pattern(pattern, pattern_size, bytes)?;
                let (dst, bytes) = (address(to), bytes as u64);
                if rt.shared(dst).is_none() || !dst.is_multiple_of(pattern_size as u64) {
                    return refuse(Code::INVALID_VALUE);
                }
                fits(rt, dst, bytes)?;
                Ok((Vec::new(), Work::Fill { dst, pattern, bytes }, ()))
            })
        })
    })
}

/// Both see the same memory; there is nothing to do but to wait.
///
/// # Safety
/// `list` is null or points to `count` handles, `event` is null or room for one.
unsafe fn synchronise(ask: Outcome<Ask>, shared: *const c_void, bytes: Option<usize>) -> Outcome {
    // SAFETY: passed on.
    unsafe {
        submit(ask?, |rt, _| {
            if rt.shared(address(shared)).is_none() || bytes == Some(0) {
                return refuse(Code::INVALID_VALUE);
            }
            Ok((Vec::new(), Work::Nothing, ()))
        })
    }
}

pub(super) unsafe extern "C" fn clEnqueueSVMMap(
    queue: *mut c_void,
    blocking: u32,
    flags: u64,
    shared: *mut c_void,
    bytes: usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    if flags & !7 != 0 || (flags & 4 != 0 && flags & 3 != 0) {
        return Code::INVALID_VALUE.0;
    }
    // SAFETY: the program passes a list as it says.
    code(unsafe {
        let ask = Ask::new(queue, MAP, count, list, event).map(|ask| ask.blocking(blocking));
        synchronise(ask, shared, Some(bytes))
    })
}

pub(super) unsafe extern "C" fn clEnqueueSVMUnmap(
    queue: *mut c_void,
    shared: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says.
    code(unsafe { synchronise(Ask::new(queue, UNMAP, count, list, event), shared, None) })
}

pub(super) unsafe extern "C" fn clEnqueueSVMMigrateMem(
    queue: *mut c_void,
    pointers: u32,
    list_of: *const *const c_void,
    _sizes: *const usize,
    flags: u64,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says.
    code(unsafe {
        Ask::new(queue, MIGRATE, count, list, event).and_then(|ask| {
            submit(ask, |rt, _| {
                let pointers = read_list(pointers as usize, list_of);
                if pointers.is_empty() || flags & !3 != 0 {
                    return refuse(Code::INVALID_VALUE);
                }
                if pointers.into_iter().any(|p| rt.shared(address(p)).is_none()) {
                    return refuse(Code::INVALID_VALUE);
                }
                Ok((Vec::new(), Work::Nothing, ()))
            })
        })
    })
}
