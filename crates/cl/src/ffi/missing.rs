//! What is not there: images, samplers, pipes, and objects of graphics interfaces. Every entry of the table is a function; these
//! answer with an error code, and those that would make an object write it where the program wants it.

use super::base::{address, call, code, create, put, with};
use crate::codes::{Code, refuse};
use crate::objects::{Context, Queue};
use std::ffi::c_void;

/// A function that is not supported, whatever its arguments.
pub(super) unsafe extern "C" fn unsupported() -> i32 {
    Code::INVALID_OPERATION.0
}

/// No handle is one of an image or a pipe.
pub(super) unsafe extern "C" fn no_image() -> i32 {
    Code::INVALID_MEM_OBJECT.0
}

pub(super) unsafe extern "C" fn no_sampler() -> i32 {
    Code::INVALID_SAMPLER.0
}

pub(super) unsafe extern "C" fn no_gl_object() -> i32 {
    Code::INVALID_GL_OBJECT.0
}

/// # Safety
/// `error` is null or room for a code.
unsafe fn nothing_made(context: *mut c_void, error: *mut i32) -> *mut c_void {
    // SAFETY: passed on.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Context>(address(context))?;
            refuse(Code::INVALID_OPERATION)
        });
        create(error, made)
    }
}

/// Functions that make an object in a context, by the number of arguments between the context and the place of the error code. Arguments
/// are numbers and addresses, and nobody reads them.
macro_rules! makers {
    ($($name:ident($($argument:ident),*);)*) => {
        $(pub(super) unsafe extern "C" fn $name(
            context: *mut c_void,
            $($argument: usize,)*
            error: *mut i32,
        ) -> *mut c_void {
            let _ = ($($argument,)*);
            // SAFETY: the program passes room for the code, or null.
            unsafe { nothing_made(context, error) }
        })*
    };
}

makers! {
    maker_of_one(_a);
    maker_of_two(_a, _b);
    maker_of_three(_a, _b, _c);
    maker_of_four(_a, _b, _c, _d);
    maker_of_five(_a, _b, _c, _d, _e);
    maker_of_six(_a, _b, _c, _d, _e, _f);
    maker_of_eight(_a, _b, _c, _d, _e, _f, _g, _h);
}

pub(super) unsafe extern "C" fn clEnqueueMapImage(
    queue: *mut c_void,
    _image: *mut c_void,
    _blocking: u32,
    _flags: u64,
    _origin: *const usize,
    _region: *const usize,
    _row: *mut usize,
    _slice: *mut usize,
    _count: u32,
    _list: *const *mut c_void,
    _event: *mut *mut c_void,
    error: *mut i32,
) -> *mut c_void {
    // SAFETY: the program passes room for the code, or null.
    unsafe {
        let made = with(|rt| {
            rt.objects.get::<Queue>(address(queue))?;
            refuse(Code::INVALID_MEM_OBJECT)
        });
        create(error, made)
    }
}

/// There are none.
pub(super) unsafe extern "C" fn clGetSupportedImageFormats(
    context: *mut c_void,
    _flags: u64,
    kind: u32,
    room: u32,
    list: *mut c_void,
    found: *mut u32,
) -> i32 {
    call(|rt| {
        rt.objects.get::<Context>(address(context))?;
        if !(0x10F1..=0x10F6).contains(&kind) || (room == 0 && !list.is_null()) {
            return refuse(Code::INVALID_VALUE);
        }
        // SAFETY: null or room for a number.
        unsafe { put(found, 0) };
        Ok(())
    })
}

/// Commands on images: a queue that is none is told first.
pub(super) unsafe extern "C" fn image_command(queue: *mut c_void) -> i32 {
    code(with(|rt| {
        rt.objects.get::<Queue>(address(queue))?;
        refuse(Code::INVALID_OPERATION)
    }))
}
