//! Launches, and functions of the program among the commands.

use super::base::{address, code, read_list};
use super::enqueue::in_context;
use super::work::{Ask, submit};
use crate::codes::{Code, refuse};
use crate::objects::{Buffer, Kernel};
use crate::range::Asked;
use crate::state::Work;
use std::ffi::c_void;

const LAUNCH: u32 = 0x11F0;
const TASK: u32 = 0x11F1;
const NATIVE: u32 = 0x11F2;

pub(super) unsafe extern "C" fn clEnqueueNDRangeKernel(
    queue: *mut c_void,
    kernel: *mut c_void,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists as it says, sizes for every dimension.
    code(unsafe {
        Ask::new(queue, LAUNCH, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                if rt.objects.get::<Kernel>(address(kernel))?.context != context {
                    return refuse(Code::INVALID_CONTEXT);
                }
                if !(1..=3).contains(&dimensions) {
                    return refuse(Code::INVALID_WORK_DIMENSION);
                }
                if global.is_null() {
                    return refuse(Code::INVALID_GLOBAL_WORK_SIZE);
                }
                let three = |from: *const usize, other: u64| {
                    let mut out = [other; 3];
                    let given = read_list(dimensions as usize, from);
                    out.iter_mut().zip(given).for_each(|(to, n)| *to = n as u64);
                    out
                };
                let asked = Asked {
                    dimensions,
                    offset: three(offset, 0),
                    global: three(global, 1),
                    local: (!local.is_null()).then(|| three(local, 1)),
                };
                let (spec, holds) = rt.launch_spec(address(kernel), &asked)?;
                Ok((holds, spec.map_or(Work::Nothing, |spec| Work::Launch(Box::new(spec))), ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueTask(
    queue: *mut c_void,
    kernel: *mut c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes a list as it says.
    code(unsafe {
        Ask::new(queue, TASK, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                if rt.objects.get::<Kernel>(address(kernel))?.context != context {
                    return refuse(Code::INVALID_CONTEXT);
                }
                let asked = Asked { dimensions: 1, offset: [0; 3], global: [1; 3], local: Some([1; 3]) };
                let (spec, holds) = rt.launch_spec(address(kernel), &asked)?;
                Ok((holds, spec.map_or(Work::Nothing, |spec| Work::Launch(Box::new(spec))), ()))
            })
        })
    })
}

pub(super) unsafe extern "C" fn clEnqueueNativeKernel(
    queue: *mut c_void,
    function: *const c_void,
    arguments: *const c_void,
    bytes: usize,
    buffers: u32,
    handles: *const *mut c_void,
    places: *const *const c_void,
    count: u32,
    list: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32 {
    // SAFETY: the program passes lists and bytes as it says.
    code(unsafe {
        Ask::new(queue, NATIVE, count, list, event).and_then(|ask| {
            submit(ask, |rt, context| {
                let uneven = (arguments.is_null()) != (bytes == 0)
                    || (buffers > 0) == handles.is_null()
                    || (buffers > 0) == places.is_null();
                if function.is_null() || uneven || (arguments.is_null() && buffers > 0) {
                    return refuse(Code::INVALID_VALUE);
                }
                let mut copy: Vec<u8> = read_list(bytes, arguments.cast());
                let handles = read_list(buffers as usize, handles);
                let places = read_list(buffers as usize, places);
                let mut holds = Vec::new();
                for (handle, place) in handles.into_iter().zip(places) {
                    let handle = in_context(rt, handle, context)?;
                    let addr = rt.objects.get::<Buffer>(handle)?.addr;
                    let at = address(place).checked_sub(address(arguments)).map(|at| at as usize);
                    let room =
                        at.and_then(|at| copy.get_mut(at..at.checked_add(8)?)).ok_or(Code::INVALID_VALUE)?;
                    room.copy_from_slice(&addr.to_le_bytes());
                    holds.push(handle);
                }
                Ok((holds, Work::Native { function: address(function), arguments: copy }, ()))
            })
        })
    })
}
