//! Kernels and their arguments.

use super::base::{address, answer, call, create, pointer, put, read_list, read_text, with};
use crate::codes::{Code, refuse};
use crate::objects::{Kernel, Program};
use std::ffi::{c_char, c_void};

pub(super) unsafe extern "C" fn clCreateKernel(
    program: *mut c_void,
    name: *const c_char,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a string, and room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Program>(address(program))?;
            let name = read_text(name).ok_or(Code::INVALID_VALUE)?;
            rt.create_kernel(address(program), &name)
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clCreateKernelsInProgram(
    program: *mut c_void,
    room: u32,
    list: *mut *mut c_void,
    found: *mut u32,
) -> i32 {
    call(|rt| {
        let names = rt.kernel_names(address(program))?;
        if !list.is_null() && (room as usize) < names.len() {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: room for as many handles, and for the number.
        unsafe {
            if !list.is_null() {
                for (i, name) in names.iter().enumerate() {
                    put(list.add(i), pointer(rt.create_kernel(address(program), name)?));
                }
            }
            put(found, names.len() as u32);
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clCloneKernel(kernel: *mut c_void, error: *mut i32) -> *mut c_void {
    // SAFETY: room for the code.
    unsafe { create(error, with(|rt| rt.clone_kernel(address(kernel)))) }
}

pub(super) unsafe extern "C" fn clRetainKernel(kernel: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Kernel>(address(kernel)))
}

pub(super) unsafe extern "C" fn clReleaseKernel(kernel: *mut c_void) -> i32 {
    call(|rt| rt.release::<Kernel>(address(kernel)))
}

pub(super) unsafe extern "C" fn clSetKernelArg(
    kernel: *mut c_void,
    index: u32,
    size: usize,
    value: *const c_void,
) -> i32 {
    call(|rt| {
        let bytes = rt.argument_bytes(address(kernel), index, size as u64) as usize;
        // SAFETY: the program passes `size` bytes, and no more are read.
        let value = (!value.is_null()).then(|| unsafe { read_list(bytes, value.cast::<u8>()) });
        rt.set_argument(address(kernel), index, size as u64, value)
    })
}

pub(super) unsafe extern "C" fn clSetKernelArgSVMPointer(
    kernel: *mut c_void,
    index: u32,
    value: *const c_void,
) -> i32 {
    call(|rt| rt.set_pointer(address(kernel), index, address(value)))
}

/// Kernels may use all shared memory anyway; fine-grained system memory is not there.
pub(super) unsafe extern "C" fn clSetKernelExecInfo(
    kernel: *mut c_void,
    name: u32,
    size: usize,
    value: *const c_void,
) -> i32 {
    const POINTERS: u32 = 0x11B6;
    const SYSTEM: u32 = 0x11B7;
    call(|rt| {
        rt.objects.get::<Kernel>(address(kernel))?;
        match name {
            _ if value.is_null() => refuse(Code::INVALID_VALUE),
            POINTERS if size > 0 && size.is_multiple_of(8) => Ok(()),
            SYSTEM if size == 4 => {
                // SAFETY: the program passes four bytes.
                let wanted = unsafe { value.cast::<u32>().read_unaligned() } != 0;
                if wanted { refuse(Code::INVALID_OPERATION) } else { Ok(()) }
            }
            _ => refuse(Code::INVALID_VALUE),
        }
    })
}

pub(super) unsafe extern "C" fn clGetKernelInfo(
    kernel: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    // SAFETY: the program passes room as it says.
    call(|rt| unsafe { answer(&rt.kernel_info(address(kernel), name)?, size, to, wanted) })
}

pub(super) unsafe extern "C" fn clGetKernelArgInfo(
    kernel: *mut c_void,
    index: u32,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    // SAFETY: the program passes room as it says.
    call(|rt| unsafe { answer(&rt.argument_info(address(kernel), index, name)?, size, to, wanted) })
}

pub(super) unsafe extern "C" fn clGetKernelWorkGroupInfo(
    kernel: *mut c_void,
    device: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Kernel>(address(kernel))?;
        if !device.is_null() {
            rt.objects.is_device(address(device))?;
        }
        // SAFETY: the program passes room as it says.
        unsafe { answer(&rt.group_info(address(kernel), name)?, size, to, wanted) }
    })
}

pub(super) unsafe extern "C" fn clGetKernelSubGroupInfo(
    kernel: *mut c_void,
    device: *mut c_void,
    name: u32,
    input_size: usize,
    input: *const c_void,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Kernel>(address(kernel))?;
        if !device.is_null() {
            rt.objects.is_device(address(device))?;
        }
        // SAFETY: the program passes input and room as it says.
        unsafe {
            let input: Vec<u64> = read_list(input_size / 8, input.cast());
            answer(&rt.sub_group_info(address(kernel), name, &input)?, size, to, wanted)
        }
    })
}
