//! Programs: sources, binaries, builds, and what is known about them.

use super::base::{address, answer, call, code, create, pointer, put, read_list, read_text, with};
use crate::codes::{Code, Outcome, refuse};
use crate::objects::{Context, Program};
use crate::runtime::Runtime;
use crate::state::Call;
use std::ffi::{c_char, c_void};

pub(super) unsafe extern "C" fn clCreateProgramWithSource(
    context: *mut c_void,
    count: u32,
    texts: *const *const c_char,
    lengths: *const usize,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes as many texts and lengths as it says, and room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            let texts = read_list(count as usize, texts);
            if texts.is_empty() || texts.iter().any(|t| t.is_null()) {
                return refuse(Code::INVALID_VALUE);
            }
            let lengths = read_list(count as usize, lengths);
            let mut source = Vec::new();
            for (i, text) in texts.into_iter().enumerate() {
                match lengths.get(i) {
                    // No length: up to its zero byte.
                    None | Some(0) => source.extend(std::ffi::CStr::from_ptr(text).to_bytes()),
                    Some(n) => source.extend(std::slice::from_raw_parts(text.cast::<u8>(), *n)),
                }
            }
            // Lengths may count the zero byte at the end.
            while source.last() == Some(&0) {
                source.pop();
            }
            rt.program_from_source(address(context), source)
        });
        create(error, made)
    }
}

/// The only device, if any is named.
///
/// # Safety
/// `devices` is null or points to `count` handles.
unsafe fn check_devices(rt: &Runtime, count: u32, devices: *const *mut c_void) -> Outcome {
    if (count == 0) != devices.is_null() {
        return refuse(Code::INVALID_VALUE);
    }
    // SAFETY: passed on.
    let devices = unsafe { read_list(count as usize, devices) };
    devices.into_iter().try_for_each(|d| rt.objects.is_device(address(d)))
}

pub(super) unsafe extern "C" fn clCreateProgramWithBinary(
    context: *mut c_void,
    count: u32,
    devices: *const *mut c_void,
    lengths: *const usize,
    binaries: *const *const u8,
    status: *mut i32,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes a length and a binary for each device, and room for codes.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            check_devices(rt, count, devices)?;
            let (lengths, binaries) =
                (read_list(count as usize, lengths), read_list(count as usize, binaries));
            let (Some(&length), Some(&binary)) = (lengths.first(), binaries.first()) else {
                return refuse(Code::INVALID_VALUE);
            };
            if length == 0 || binary.is_null() {
                put(status, Code::INVALID_VALUE.0);
                return refuse(Code::INVALID_VALUE);
            }
            let bytes = std::slice::from_raw_parts(binary, length).to_vec();
            let made = rt.program_from_binary(address(context), bytes);
            put(status, code(made.clone().map(drop)));
            made
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clCreateProgramWithBuiltInKernels(
    context: *mut c_void,
    count: u32,
    devices: *const *mut c_void,
    _names: *const c_char,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes devices as it says, and room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            check_devices(rt, count, devices)?;
            // No kernel is built in.
            refuse(Code::INVALID_VALUE)
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clCreateProgramWithIL(
    context: *mut c_void,
    _bytes: *const c_void,
    _length: usize,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            refuse(Code::INVALID_OPERATION)
        });
        create(error, made)
    }
}

pub(super) unsafe extern "C" fn clRetainProgram(program: *mut c_void) -> i32 {
    call(|rt| rt.retain::<Program>(address(program)))
}

pub(super) unsafe extern "C" fn clReleaseProgram(program: *mut c_void) -> i32 {
    call(|rt| rt.release::<Program>(address(program)))
}

pub(super) unsafe extern "C" fn clSetProgramReleaseCallback(
    program: *mut c_void,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| {
        let program = rt.objects.get_mut::<Program>(address(program))?;
        if function.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        program.destructors.push((address(function), address(data)));
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clSetProgramSpecializationConstant(
    program: *mut c_void,
    _id: u32,
    _size: usize,
    _value: *const c_void,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Program>(address(program))?;
        refuse(Code::INVALID_PROGRAM)
    })
}

/// Tells the program that a build is over, if it wants to know.
fn notify(rt: &mut Runtime, function: *const c_void, program: u64, data: *mut c_void) {
    if !function.is_null() {
        rt.calls.push(Call {
            function: address(function),
            handle: program,
            status: None,
            data: address(data),
        });
    }
}

pub(super) unsafe extern "C" fn clBuildProgram(
    program: *mut c_void,
    count: u32,
    devices: *const *mut c_void,
    options: *const c_char,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Program>(address(program))?;
        if function.is_null() && !data.is_null() {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: the program passes devices as it says, and a string.
        let options = unsafe {
            check_devices(rt, count, devices)?;
            read_text(options).unwrap_or_default()
        };
        let built = rt.build(address(program), &options);
        notify(rt, function, address(program), data);
        built
    })
}

pub(super) unsafe extern "C" fn clCompileProgram(
    program: *mut c_void,
    count: u32,
    devices: *const *mut c_void,
    options: *const c_char,
    headers: u32,
    sources: *const *mut c_void,
    names: *const *const c_char,
    function: *const c_void,
    data: *mut c_void,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Program>(address(program))?;
        let uneven = sources.is_null() != names.is_null() || (headers == 0) != names.is_null();
        if uneven || (function.is_null() && !data.is_null()) {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: the program passes devices, headers and their names as it says, and strings.
        let (options, headers) = unsafe {
            check_devices(rt, count, devices)?;
            let sources = read_list(headers as usize, sources);
            let names =
                read_list(headers as usize, names).into_iter().map(|n| read_text(n).unwrap_or_default());
            let headers: Vec<(String, u64)> = names.zip(sources.into_iter().map(|p| address(p))).collect();
            (read_text(options).unwrap_or_default(), headers)
        };
        let built = rt.compile(address(program), &options, &headers);
        notify(rt, function, address(program), data);
        built
    })
}

pub(super) unsafe extern "C" fn clLinkProgram(
    context: *mut c_void,
    count: u32,
    devices: *const *mut c_void,
    options: *const c_char,
    parts: u32,
    programs: *const *mut c_void,
    function: *const c_void,
    data: *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes devices and programs as it says, a string, and room for the code.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            check_devices(rt, count, devices)?;
            let programs: Vec<u64> =
                read_list(parts as usize, programs).into_iter().map(|p| address(p)).collect();
            if programs.is_empty() || (function.is_null() && !data.is_null()) {
                return refuse(Code::INVALID_VALUE);
            }
            let options = read_text(options).unwrap_or_default();
            let (handle, linked) = rt.link(address(context), &options, &programs)?;
            notify(rt, function, handle, data);
            Ok((handle, linked))
        });
        match made {
            // A program that could not be linked has the log.
            Ok((handle, linked)) => {
                put(error, code(linked));
                pointer(handle)
            }
            Err(failure) => create(error, Err(failure)),
        }
    }
}

pub(super) unsafe extern "C" fn clUnloadCompiler() -> i32 {
    0
}

pub(super) unsafe extern "C" fn clUnloadPlatformCompiler(platform: *mut c_void) -> i32 {
    call(|rt| match address(platform) == rt.objects.platform {
        true => Ok(()),
        false => refuse(Code::INVALID_PLATFORM),
    })
}

/// `CL_PROGRAM_BINARIES`.
const BINARIES: u32 = 0x1166;

pub(super) unsafe extern "C" fn clGetProgramInfo(
    program: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        if name != BINARIES {
            // SAFETY: the program passes room as it says.
            return unsafe { answer(&rt.program_info(address(program), name)?, size, to, wanted) };
        }
        let binary = rt.binary(address(program))?;
        // SAFETY: the program passes a list of one address, which is null or has room for the binary.
        unsafe {
            put(wanted, size_of::<*mut u8>());
            if !to.is_null() {
                if size < size_of::<*mut u8>() {
                    return refuse(Code::INVALID_VALUE);
                }
                let room = to.cast::<*mut u8>().read_unaligned();
                if !room.is_null() {
                    std::ptr::copy_nonoverlapping(binary.as_ptr(), room, binary.len());
                }
            }
        }
        Ok(())
    })
}

pub(super) unsafe extern "C" fn clGetProgramBuildInfo(
    program: *mut c_void,
    device: *mut c_void,
    name: u32,
    size: usize,
    to: *mut c_void,
    wanted: *mut usize,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Program>(address(program))?;
        rt.objects.is_device(address(device))?;
        // SAFETY: the program passes room as it says.
        unsafe { answer(&rt.build_info(address(program), name)?, size, to, wanted) }
    })
}
